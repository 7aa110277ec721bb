-- Move one job that waits in a lane into another lane (protocol part 4.8); where an expected lane is
-- given, only out of that one.
-- The lane it leaves is the row's own word, read here so that no race can separate the two.
-- keys: row lane ring gactive
-- args: base id lane_name expected_lane
-- replies: {reassigned} | {noop} same lane | {not_found} no row or no lane | {not_pending}
--   | {moved} it is of another lane than the expected one
-- builds: base..g:<lane>:pending base..paused base..glimit base..wake
-- flags: allow-oom
-- uses: record offer
local source = redis.call('HGET', row, 'group')
if not source then return {'not_found'} end
if source == lane_name then return {'noop'} end
if expected_lane ~= '' and source ~= expected_lane then return {'moved'} end
local source_lane = base .. 'g:' .. source .. ':pending'
if not redis.call('ZSCORE', source_lane, id) then return {'not_pending'} end
redis.call('ZADD', lane, 0, id)
redis.call('ZREM', source_lane, id)
redis.call('HSET', row, 'group', lane_name)
offer(base, lane_name, tonumber(redis.call('HGET', gactive, lane_name)) or 0)
if redis.call('EXISTS', source_lane) == 0 then redis.call('LREM', ring, 0, source) end
record('lane_reassign', id)
return {'reassigned'}
