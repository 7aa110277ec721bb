-- Claim what waits in the first lane of the ring that has a full batch, `least` jobs or all that
-- its ceiling allows: up to `most`. Lanes passed over keep their turn; of the ring its first 64
-- are looked at (protocol part 4.2, grouped batch claims; part 10, row 16).
-- keys: ring active
-- args: base least most lease_ms worker
-- replies: {claimed, deadline_ms, {id, payload, attempts, lane}...} | {empty} no lane has as much,
--   no room, or paused | {again} only ghosts were met, and dropped
-- builds: base..g:<lane>:pending base..job:<id> base..gactive base..glimit
-- uses: record now offer place ghost bury room count_in take take_lane lane_ready
-- flags: allow-oom
local wanted, window = room(base, tonumber(most))
if wanted < 1 then return {'empty'} end
for _, lane_name in ipairs(redis.call('LRANGE', ring, 0, 63)) do
  local ready, full = lane_ready(base, lane_name, tonumber(least))
  if ready < 1 then
    redis.call('LREM', ring, 1, lane_name)
  elseif full then
    redis.call('LREM', ring, 1, lane_name)
    redis.call('RPUSH', ring, lane_name)
    return take_lane(base, lane_name, math.min(wanted, ready), lease_ms, worker, window)
  end
end
return {'empty'}
