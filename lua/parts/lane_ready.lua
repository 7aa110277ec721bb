-- How many jobs of a lane may be claimed now, and whether that is a full batch: `least` of them,
-- or as many as its ceiling leaves room for, so that waiting would not make it fuller.
local function lane_ready(base, lane_name, least)
  local ready = redis.call('ZCARD', base .. 'g:' .. lane_name .. ':pending')
  local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
  if not ceiling then return ready, ready >= least end
  local free = ceiling - (tonumber(redis.call('HGET', base .. 'gactive', lane_name)) or 0)
  return math.min(ready, free), ready >= math.min(least, free)
end
