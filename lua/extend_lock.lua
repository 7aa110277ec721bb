-- Renew the lease of a held job from now (protocol part 4.3). A job that is not held any more is
-- not brought back by it (part 10, row 4).
-- keys: row active
-- args: base id token lease_ms
-- replies: {ok} | {gone} no row | {stale} claimed again since | {not_held} taken from its holder
-- uses: record now
-- flags: allow-oom
local attempts = redis.call('HGET', row, 'attempts')
if not attempts then return {'gone'} end
if attempts ~= token then return {'stale'} end
if not redis.call('ZSCORE', active, id) then return {'not_held'} end
redis.call('ZADD', active, 'XX', now_ms() + lease_ms, id)
record('extend_lock', id)
return {'ok'}
