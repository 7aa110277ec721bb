-- Admit one job that enters its lane at an instant of the caller's clock: every engine promotes
-- a scheduled row with a group into that lane (protocol part 10, row 24).
-- keys: row schedule
-- args: base id payload lane_name run_at_ms
-- replies: {scheduled} | {duplicate} the id has a row | {kind} not a JOB id
-- uses: record refuse
local refusal = refuse(row, id)
if refusal then return refusal end
redis.call('ZADD', schedule, run_at_ms, id)
redis.call('HSET', row, 'state', 'scheduled', 'attempts', '0', 'payload', payload,
  'group', lane_name)
record('lane_enqueue_at', id)
return {'scheduled'}
