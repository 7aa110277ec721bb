-- Settle a job as done and count it; a child of a flow tells its parent (protocol parts 4.3 and
-- 7.2). The token must be the present one; being held still is not required.
-- keys: row active pending
-- args: base id token result
-- replies: {ok} | {gone} no row | {stale} claimed again since
-- builds: lane and ring of the job, base..job:<parent> and its :processed and :dependencies,
--   base..flow:outbox base..metrics:completed base..meta
-- uses: record offer release let_go withdraw fan_in log_life done
-- flags: allow-oom
local verdict = done(base, id, token, result, log_life(base))
if verdict == 'ok' then redis.pcall('HINCRBY', base .. 'metrics:completed', 'count', 1) end
return {verdict}
