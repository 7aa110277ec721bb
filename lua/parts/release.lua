-- RELEASE (protocol, conventions): one job of the lane is no longer in flight. Answers how many
-- still are; the counter's field never stays at zero, and one that is no number starts anew.
local function release(base, lane_name)
  local in_flight = redis.pcall('HINCRBY', base .. 'gactive', lane_name, -1)
  if type(in_flight) ~= 'number' then in_flight = 0 end
  if in_flight <= 0 then redis.pcall('HDEL', base .. 'gactive', lane_name) end
  return in_flight
end
