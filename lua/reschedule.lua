-- Give a scheduled job another instant, if it still is scheduled and, where `expected_score` is
-- not empty, still at that score. Scores are compared as the server prints them.
-- keys: row schedule
-- args: base member run_at_ms expected_score
-- replies: {ok} | {noop} it is at that instant already | {gone} no row with a payload
--   | {not_scheduled} | {moved} to another score meanwhile
-- uses: record ghost
-- flags: allow-oom
local score = redis.call('ZSCORE', schedule, member)
if not is_job(row) then return {'gone'} end
if not score then return {'not_scheduled'} end
if tonumber(score) == tonumber(run_at_ms) then return {'noop'} end
if expected_score ~= '' and score ~= expected_score then return {'moved'} end
redis.call('ZADD', schedule, 'XX', run_at_ms, member)
record('reschedule', member)
return {'ok'}
