-- Give a node number back, where it is still the owner's.
-- keys: lease
-- args: owner
-- replies: {ok} | {moved}
-- flags: allow-oom
if redis.call('GET', lease) ~= owner then return {'moved'} end
redis.call('DEL', lease)
return {'ok'}
