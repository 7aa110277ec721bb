-- What bounds a queue, and how far it is used (protocol part 4.10).
-- keys: meta limiter active
-- args: base
-- replies: [now_ms, max | nil, concurrency | nil, spent | nil, resets_in_ms, active]
-- flags: no-writes
-- uses: now
local bounds = redis.call('HMGET', meta, 'max', 'concurrency')
return {now_ms(), bounds[1], bounds[2], redis.call('GET', limiter), redis.call('PTTL', limiter),
  redis.call('ZCARD', active)}
