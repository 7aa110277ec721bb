-- Turn the ring and claim one job of the lane at its head (protocol part 4.2).
-- keys: ring active
-- args: base lease_ms worker
-- replies: {claimed, deadline_ms, {id, payload, attempts, lane}} | {empty} no lane, an empty
--   lane, or paused | {again} only ghosts were met, and dropped
-- builds: base..g:<lane>:pending base..job:<id> base..gactive base..glimit
-- uses: record now offer place ghost bury room count_in take take_lane
-- flags: allow-oom
local wanted, window = room(base, 1)
if wanted < 1 then return {'empty'} end
local lane_name = redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
if not lane_name then return {'empty'} end
return take_lane(base, lane_name, 1, lease_ms, worker, window)
