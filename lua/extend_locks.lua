-- Renew the leases of many held jobs to one deadline (protocol part 4.3).
-- keys: active
-- args: base lease_ms held...
-- replies: {ok, {id...}} the ids that were not extended: gone, stale or not held
-- builds: base..job:<id>
-- uses: record now
-- flags: allow-oom
local deadline = now_ms() + lease_ms
local failed = {}
for at = held_at, #ARGV, 2 do
  local id, token = ARGV[at], ARGV[at + 1]
  if redis.pcall('HGET', base .. 'job:' .. id, 'attempts') == token
    and redis.call('ZSCORE', active, id) then
    redis.call('ZADD', active, 'XX', deadline, id)
    record('extend_lock', id)
  else
    failed[#failed + 1] = id
  end
end
return {'ok', failed}
