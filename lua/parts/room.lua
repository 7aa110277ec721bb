-- How many of `wanted` jobs a claim may take now: none while the queue is paused. Where
-- `meta.py_enforce` is set, also no more than `meta.concurrency` leaves free, and no more than
-- `meta.max` in each window of `meta.py_window_ms` (protocol part 10, rows 21 and 22). The second
-- answer is that window where claims must be counted against it with `spend`.
local function room(base, wanted)
  local meta = redis.call('HMGET', base .. 'meta', 'paused', 'py_enforce', 'concurrency', 'max',
    'py_window_ms')
  if meta[1] then return 0 end
  if not meta[2] then return wanted end
  local ceiling, most, window = tonumber(meta[3]), tonumber(meta[4]), tonumber(meta[5])
  if ceiling and ceiling > 0 then
    wanted = math.min(wanted, ceiling - redis.call('ZCARD', base .. 'active'))
  end
  if not (most and most > 0 and window and window > 0) then return math.floor(wanted) end
  -- A count without an end is nobody's window, here as upstream: it binds nothing.
  local limiter = base .. 'limiter'
  local spent = tonumber(redis.pcall('GET', limiter)) or 0
  if spent > 0 and redis.call('PTTL', limiter) < 0 then spent = 0 end
  return math.floor(math.min(wanted, most - spent)), window
end

local function spend(base, count, window)
  if not window or count == 0 then return end
  local limiter = base .. 'limiter'
  if redis.call('PTTL', limiter) > 0
    and type(redis.pcall('INCRBY', limiter, count)) == 'number' then return end
  redis.call('SET', limiter, count, 'PX', string.format('%.0f', math.ceil(window)))
end
