-- Claim up to `wanted` of one lane and answer for the script.
local function take_lane(base, lane_name, wanted, lease_ms, worker, window)
  local waiting = base .. 'g:' .. lane_name .. ':pending'
  local reply, ghosts = take_from(base, waiting, lane_name, wanted, lease_ms, worker)
  if #reply > 2 then
    count_in(base, lane_name, #reply - 2)
    spend(base, #reply - 2, window)
    return reply
  end
  if ghosts then return {'again'} end
  redis.call('LREM', base .. 'ring', -1, lane_name)
  return {'empty'}
end
