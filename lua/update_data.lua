-- Replace a job's payload, in whatever state it is (protocol part 4.5).
-- keys: row
-- args: base id payload
-- replies: {ok} | {gone} no row
-- uses: record
if redis.call('EXISTS', row) == 0 then return {'gone'} end
redis.call('HSET', row, 'payload', payload)
record('update_data', id)
return {'ok'}
