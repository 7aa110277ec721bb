-- Whether a lane is in the ring. A script that asks for many lanes reads the ring once, rather than
-- searching all of it for each: that takes as long as reading it for some two dozen.
local SEARCHES = 24
local searches, in_ring = 0, nil
local function stands_in_ring(base, lane_name)
  searches = searches + 1
  if searches <= SEARCHES then return redis.call('LPOS', base .. 'ring', lane_name) end
  if not in_ring then
    in_ring = {}
    for _, name in ipairs(redis.call('LRANGE', base .. 'ring', 0, -1)) do in_ring[name] = true end
  end
  return in_ring[lane_name]
end

-- OFFER (protocol, conventions): put a lane into the ring where it may be served and is not in
-- it yet, and wake one parked consumer. Depth is the caller's to know.
local function offer(base, lane_name, in_flight)
  if redis.call('SISMEMBER', base .. 'paused', lane_name) == 1 then return end
  local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
  if ceiling and in_flight >= ceiling then return end
  if stands_in_ring(base, lane_name) then return end
  redis.call('RPUSH', base .. 'ring', lane_name)
  if in_ring then in_ring[lane_name] = true end
  redis.call('LPUSH', base .. 'wake', '1')
  redis.call('LTRIM', base .. 'wake', 0, 63)
end
