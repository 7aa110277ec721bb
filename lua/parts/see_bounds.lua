-- Read what ends a bound of claims, where claims keep to one: a line that tracks what it reads then
-- hears of a place that is free again and of a window that is over (protocol part 10, row 22).
local function see_bounds(base)
  local meta = redis.call('HMGET', base .. 'meta', 'py_enforce', 'concurrency', 'max')
  if not meta[1] then return end
  if meta[2] then redis.call('ZCARD', base .. 'active') end
  if meta[3] then redis.pcall('GET', base .. 'limiter') end
end
