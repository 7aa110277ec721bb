-- Register a repeat unless one of that name has a record (protocol part 4.7).
-- keys: repeat_set record_key
-- args: base name every_ms template first_in_ms
-- replies: {registered} | {exists}
-- uses: record now
if redis.call('EXISTS', record_key) == 1 then return {'exists'} end
redis.call('HSET', record_key, 'every_ms', every_ms, 'template', template)
redis.call('ZADD', repeat_set, now_ms() + first_in_ms, name)
record('repeat_register', name)
return {'registered'}
