-- A worker says that it lives and how it fares (keys of our own, docs/wire.md). Workers that were
-- not heard of for a day leave the registry, a hundred at most in one call.
-- keys: workers presence
-- args: base worker ttl_ms fields...
-- replies: {ok, now_ms}
-- uses: now
-- flags: allow-oom
local now = now_ms()
redis.call('ZADD', workers, string.format('%.0f', now), worker)
local gone = redis.call('ZRANGEBYSCORE', workers, '-inf',
  string.format('%.0f', now - 86400000), 'LIMIT', 0, 100)
if #gone > 0 then redis.call('ZREM', workers, unpack(gone)) end
for at = fields_at, #ARGV, 2 do redis.call('HSET', presence, ARGV[at], ARGV[at + 1]) end
redis.call('PEXPIRE', presence, ttl_ms)
return {'ok', now}
