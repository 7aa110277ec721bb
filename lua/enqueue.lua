-- Admit one job into flat pending (protocol part 4.1).
-- keys: row pending
-- args: base id payload
-- replies: {enqueued} | {duplicate} the id has a row | {kind} not a JOB id
-- uses: record refuse
local refusal = refuse(row, id)
if refusal then return refusal end
redis.call('ZADD', pending, 0, id)
redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', payload)
record('enqueue', id)
return {'enqueued'}
