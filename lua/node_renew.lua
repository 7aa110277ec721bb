-- Renew the lease of a node number, or take one that is free again. It lasts so much longer as the
-- owner has minted ahead of the server's clock: a number that is free was never minted under at
-- the present instant or a later one.
-- keys: lease
-- args: owner ttl_ms last_ms
-- (last_ms: the greatest instant that was minted under the number, 0 for none)
-- replies: {ok, now_ms} | {moved} another has it
-- uses: now
local held = redis.call('GET', lease)
if held and held ~= owner then return {'moved'} end
local now = now_ms()
redis.call('SET', lease, owner, 'PX',
  string.format('%.0f', ttl_ms + math.max(0, tonumber(last_ms) - now)))
return {'ok', now}
