-- When time next has work: a line that tracks what it reads hears when that changes.
-- keys: schedule repeats outbox
-- args: base
-- replies: {now_ms, scheduled, repeated, delivered} the earliest score of each set as text, nil
--   where it is empty, and how many deliveries wait
-- uses: now
-- flags: no-writes
local function head(key) return redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or false end
return {now_ms(), head(schedule), head(repeats), redis.call('LLEN', outbox)}
