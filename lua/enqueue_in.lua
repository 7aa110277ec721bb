-- Admit one job into the schedule, a delay from now on the server's clock (protocol part 4.1).
-- keys: row schedule
-- args: base id payload delay_ms
-- replies: {scheduled} | {duplicate} the id has a row | {kind} not a JOB id
-- uses: record now refuse
local refusal = refuse(row, id)
if refusal then return refusal end
redis.call('ZADD', schedule, now_ms() + delay_ms, id)
redis.call('HSET', row, 'state', 'scheduled', 'attempts', '0', 'payload', payload)
record('enqueue_in', id)
return {'scheduled'}
