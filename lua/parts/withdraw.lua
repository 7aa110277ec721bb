-- Take a job out of every set, so that it never stands in two (protocol part 4.3 steps 2 and 3,
-- part 10 rows 3, 5 and 10). Answers where it was: active, waiting, scheduled, dead or nowhere.
local function withdraw(base, id, lane_name)
  local held = let_go(base, id, lane_name)
  local waited = redis.call('ZREM', base .. 'pending', id)
  if lane_name then
    local lane_key = base .. 'g:' .. lane_name .. ':pending'
    local left_lane = redis.call('ZREM', lane_key, id)
    if (not held or left_lane == 1) and redis.call('EXISTS', lane_key) == 0 then
      redis.call('LREM', base .. 'ring', 0, lane_name)
    end
    waited = waited + left_lane
  end
  local scheduled = redis.call('ZREM', base .. 'schedule', id)
  local buried = redis.call('ZREM', base .. 'dead', id)
  if held then return 'active' end
  if waited > 0 then return 'waiting' end
  if scheduled == 1 then return 'scheduled' end
  if buried == 1 then return 'dead' end
  return 'nowhere'
end
