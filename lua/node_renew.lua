-- Renew the lease of a node number, or take one that is free again.
-- keys: lease
-- args: owner ttl_ms
-- replies: {ok} | {moved} another has it
local held = redis.call('GET', lease)
if held and held ~= owner then return {'moved'} end
redis.call('SET', lease, owner, 'PX', ttl_ms)
return {'ok'}
