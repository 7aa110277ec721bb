-- Admit one job into flat pending (protocol part 4.1).
-- keys: row pending
-- args: base id payload
-- replies: {enqueued} | {duplicate} | {kind}
-- uses: record
if string.sub(id, 1, 3) ~= 'JOB' then return {'kind'} end
if redis.call('EXISTS', row) == 1 then return {'duplicate'} end
redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', payload)
redis.call('ZADD', pending, 0, id)
record('enqueue', id)
return {'enqueued'}
