-- When time next has work: a line that tracks what it reads hears when that changes.
-- keys: schedule repeats outbox
-- args: base
-- replies: {now_ms, scheduled, repeated, delivered, past_us} the earliest score of each set as text,
--   nil where it is empty, how many deliveries wait, and the us since that ms began
-- flags: no-writes
local function head(key) return redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or false end
local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000), head(schedule), head(repeats),
  redis.call('LLEN', outbox), clock[2] % 1000}
