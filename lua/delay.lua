-- Put a claimed job back into the schedule without using up an attempt; it keeps its lane, whose
-- place it frees (protocol part 4.3, part 10 rows 2 and 3).
-- keys: row active schedule
-- args: base id token ms mode
-- replies: {ok} | {kind} not a JOB id | {gone} no row | {stale} claimed again since
-- builds: lane and ring of the job, base..pending base..dead
-- uses: record now offer release let_go withdraw
-- flags: allow-oom
if string.sub(id, 1, 3) ~= 'JOB' then return {'kind'} end
local held = redis.call('HMGET', row, 'attempts', 'group')
if not held[1] then return {'gone'} end
if held[1] ~= token then return {'stale'} end
if mode == 'in' then ms = now_ms() + ms end
redis.call('ZADD', schedule, ms, id)
withdraw(base, id, held[2], 'schedule')
redis.call('HSET', row, 'state', 'scheduled')
record('delay', id)
return {'ok'}
