-- Forget a repeat, its record and its runs (protocol part 4.7).
-- keys: repeat_set record_key runs
-- args: base name
-- replies: {cancelled} | {absent} it was in no schedule (a bare record is removed all the same)
-- flags: allow-oom
-- uses: record
local removed = redis.call('ZREM', repeat_set, name)
redis.call('DEL', record_key, runs)
record('repeat_cancel', name)
return {removed == 1 and 'cancelled' or 'absent'}
