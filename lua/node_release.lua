-- Give a node number back, where it is still the owner's; nobody gets it before the server's clock
-- is past what was minted under it.
-- keys: lease
-- args: owner last_ms
-- (last_ms: the greatest instant that was minted under the number, 0 for none)
-- replies: {ok} | {moved}
-- flags: allow-oom
-- uses: now
if redis.call('GET', lease) ~= owner then return {'moved'} end
local ahead = tonumber(last_ms) - now_ms()
if ahead >= 0 then
  redis.call('SET', lease, 'given back', 'PX', string.format('%.0f', ahead + 1))
else
  redis.call('DEL', lease)
end
return {'ok'}
