-- Put a parked repeat back: at the run it was parked before while that lies ahead, else at the
-- next slot of its cadence. Runs that passed meanwhile are not made up for.
-- keys: repeat_set record_key
-- args: base name
-- replies: {ok, next_ms} | {noop} not parked | {absent} no record | {invalid} no usable cadence
-- flags: allow-oom
-- uses: record now cadence
local fields = redis.call('HMGET', record_key, 'every_ms', 'py_paused_at', 'py_next')
if not (fields[1] or fields[2]) then return {'absent'} end
if not fields[2] then return {'noop'} end
local every_ms = cadence(fields[1])
if not every_ms then return {'invalid'} end
local at_ms = now_ms()
local planned = tonumber(fields[3] or '')
local next_ms = planned and planned > at_ms and planned < tonumber(PARKED) and planned
  or next_slot(planned, every_ms, at_ms)
redis.call('ZADD', repeat_set, next_ms, name)
redis.call('HDEL', record_key, 'py_paused_at', 'py_paused_by', 'py_next')
record('repeat_resume', name)
return {'ok', next_ms}
