-- What bounds a queue, and how far it is used (protocol part 4.10).
-- keys: meta limiter active
-- args: base
-- replies: [now_ms, [max | nil, concurrency | nil, window_ms | nil, enforce | nil], spent | nil,
--   resets_in_ms, active]
-- flags: no-writes
-- uses: now
local bounds = redis.call('HMGET', meta, 'max', 'concurrency', 'py_window_ms', 'py_enforce')
return {now_ms(), bounds, redis.call('GET', limiter), redis.call('PTTL', limiter),
  redis.call('ZCARD', active)}
