-- Park a repeat where no engine finds it due, and note who did and when it would have run.
-- keys: repeat_set record_key
-- args: base name by
-- replies: {ok} | {noop} already parked | {absent} no record
-- flags: allow-oom
-- uses: record now cadence
if redis.call('EXISTS', record_key) == 0 then return {'absent'} end
local score = redis.call('ZSCORE', repeat_set, name)
if redis.call('HEXISTS', record_key, 'py_paused_at') == 1 then
  if score == PARKED then return {'noop'} end
  redis.call('ZADD', repeat_set, PARKED, name)
else
  park(repeat_set, record_key, name, score, now_ms(), by)
end
record('repeat_pause', name)
return {'ok'}
