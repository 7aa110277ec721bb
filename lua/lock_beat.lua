-- Extend the leases of held jobs and the life of their markers (protocol part 4.9). Only a job
-- that still is active is extended (part 10, row 4).
-- keys: active
-- args: base lease_ms life_ms pairs...
-- (pairs: id, token)
-- replies: {ok, id, ...} with the ids that were not extended
-- builds: base..job:<id> base..job:<id>:lock
-- flags: allow-oom
-- uses: record now mark
local answer = {'ok'}
local deadline_ms = now_ms() + lease_ms
for at = pairs_at, #ARGV, 2 do
  local id, token = ARGV[at], ARGV[at + 1]
  local row = base .. 'job:' .. id
  if redis.pcall('HGET', row, 'attempts') == token and redis.call('ZSCORE', active, id) then
    redis.call('ZADD', active, deadline_ms, id)
    redis.call('PEXPIRE', row .. ':lock', life_ms)
    if redis.call('HEXISTS', row, 'lock') == 1 then mark(row, token, life_ms) end
    record('lock_beat', id)
  else
    answer[#answer + 1] = id
  end
end
return answer
