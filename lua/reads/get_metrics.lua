-- One of a queue's two counters, and how many data points lie beside it (protocol part 5.1).
-- keys: counter points
-- args: base
-- replies: [now_ms, count, data_points]
-- flags: no-writes
-- uses: now
local count = tonumber(redis.call('HGET', counter, 'count')) or 0
return {now_ms(), count, redis.call('LLEN', points)}
