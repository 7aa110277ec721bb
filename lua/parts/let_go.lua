-- End the lease of a job, held or not. Where it was held, its lane has one place more, and is
-- offered if somebody waits in it. Answers whether it was held. A ring or counter of another type
-- hinders nobody here: the job is in no set by now.
local function let_go(base, id, lane_name)
  if redis.call('ZREM', base .. 'active', id) == 0 then return false end
  if lane_name then
    local in_flight = release(base, lane_name)
    if redis.call('EXISTS', base .. 'g:' .. lane_name .. ':pending') == 1 then
      pcall(offer, base, lane_name, in_flight)
    end
  end
  return true
end
