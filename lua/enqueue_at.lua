-- Admit one job into the schedule at an instant of the caller's clock (protocol part 4.1).
-- keys: row schedule
-- args: base id payload run_at_ms
-- replies: {scheduled} | {duplicate} the id has a row | {kind} not a JOB id
-- uses: record refuse
local refusal = refuse(row, id)
if refusal then return refusal end
redis.call('ZADD', schedule, run_at_ms, id)
redis.call('HSET', row, 'state', 'scheduled', 'attempts', '0', 'payload', payload)
record('enqueue_at', id)
return {'scheduled'}
