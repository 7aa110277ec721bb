-- OFFER (protocol, conventions): put a lane into the ring where it may be served and is not in
-- it yet, and wake one parked consumer. Depth is the caller's to know.
local function offer(base, lane_name, in_flight)
  if redis.call('SISMEMBER', base .. 'paused', lane_name) == 1 then return end
  local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
  if ceiling and in_flight >= ceiling then return end
  if redis.call('LPOS', base .. 'ring', lane_name) then return end
  redis.call('RPUSH', base .. 'ring', lane_name)
  redis.call('LPUSH', base .. 'wake', '1')
  redis.call('LTRIM', base .. 'wake', 0, 63)
end
