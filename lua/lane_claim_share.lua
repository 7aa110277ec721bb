-- Turn the ring and claim the share of the lane at its head: its weight where `weighted` is 1,
-- else all that wait; never more than its ceiling leaves free, nor than `most` (protocol part
-- 4.2, weighted and grouped batch claims).
-- keys: ring active
-- args: base weighted most lease_ms worker
-- replies: {claimed, deadline_ms, {id, payload, attempts, lane}...} | {empty} no lane, an empty
--   lane, no room, or paused | {again} only ghosts were met, and dropped
-- builds: base..g:<lane>:pending base..job:<id> base..gactive base..glimit base..gweight
-- uses: record now offer place ghost bury room count_in take take_lane
-- flags: allow-oom
local wanted, window = room(base, tonumber(most))
if wanted < 1 then return {'empty'} end
local lane_name = redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
if not lane_name then return {'empty'} end
wanted = math.min(wanted, redis.call('ZCARD', base .. 'g:' .. lane_name .. ':pending'))
if weighted == '1' then
  local weight = tonumber(redis.call('HGET', base .. 'gweight', lane_name)) or 1
  wanted = math.min(wanted, math.max(1, math.floor(weight)))
end
local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
if ceiling then
  local in_flight = tonumber(redis.call('HGET', base .. 'gactive', lane_name)) or 0
  wanted = math.min(wanted, ceiling - in_flight)
end
if wanted < 1 then
  redis.call('LREM', ring, -1, lane_name)
  return {'empty'}
end
return take_lane(base, lane_name, wanted, lease_ms, worker, window)
