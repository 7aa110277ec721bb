-- Count claimed jobs of a lane as in flight; the lane leaves the ring at its ceiling and when
-- nobody waits in it any more. A counter that is no number starts anew, as in `release`.
local function count_in(base, lane_name, count)
  local in_flight = redis.pcall('HINCRBY', base .. 'gactive', lane_name, count)
  if type(in_flight) ~= 'number' then
    in_flight = count
    redis.call('HSET', base .. 'gactive', lane_name, count)
  end
  local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
  if (ceiling and in_flight >= ceiling)
    or redis.call('EXISTS', base .. 'g:' .. lane_name .. ':pending') == 0 then
    redis.call('LREM', base .. 'ring', -1, lane_name) -- from the end, where a claim turns it to
    if in_ring then in_ring[lane_name] = nil end
  end
end
