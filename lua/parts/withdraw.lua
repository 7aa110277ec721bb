-- Take a job out of every set but the one named `keep`, where it has just been put, so that it
-- never stands in two (protocol part 4.3 steps 2 and 3, part 10 rows 3, 5 and 10). The lease ends
-- last: where a key of another type is in the way, the job is still held and comes back.
local function withdraw(base, id, lane_name, keep)
  if keep ~= 'schedule' then redis.call('ZREM', base .. 'schedule', id) end
  if keep ~= 'dead' then redis.call('ZREM', base .. 'dead', id) end
  redis.call('ZREM', base .. 'pending', id)
  if not lane_name then
    let_go(base, id)
    return
  end
  local lane_key = base .. 'g:' .. lane_name .. ':pending'
  local left_lane = redis.call('ZREM', lane_key, id)
  local held = let_go(base, id, lane_name)
  if (not held or left_lane == 1) and redis.call('EXISTS', lane_key) == 0 then
    redis.pcall('LREM', base .. 'ring', 0, lane_name)
    if in_ring then in_ring[lane_name] = nil end
  end
end
