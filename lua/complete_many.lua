-- Settle many jobs as done, each under its own token and by itself, count them, and say so on the
-- channel of events where that is allowed (protocol parts 4.3, 6.6 and 7.2).
-- keys: active pending
-- args: base events items...
-- replies: {done, verdict...} in the order of the (id, token, result) items, each verdict ok, or
--   gone: no row, or stale: claimed again since, or the error that it met
-- builds: base..job:<id> lane and ring of the job, base..job:<parent> and its :processed and
--   :dependencies, base..flow:outbox base..metrics:completed
--   base..meta
-- uses: record offer release let_go withdraw fan_in log_life done
-- flags: allow-oom
local reply, count, keep_ms = {'done'}, 0, log_life(base)
for at = items_at, #ARGV, 3 do
  local id = ARGV[at]
  local went, verdict = pcall(done, base, id, ARGV[at + 1], ARGV[at + 2], keep_ms)
  if went and verdict == 'ok' then
    count = count + 1
    redis.pcall('PUBLISH', events, '{"event":"completed","job":"' .. id .. '"}')
  elseif not went then
    verdict = '-' .. (type(verdict) == 'table' and verdict.err or tostring(verdict))
  end
  reply[#reply + 1] = verdict
end
if count > 0 then redis.pcall('HINCRBY', base .. 'metrics:completed', 'count', count) end
return reply
