-- Take one due occurrence of a repeat: admit its template and arm the next run, both or neither
-- (protocol part 10, row 39). Of several pumps only the one that saw the present score fires.
-- keys: repeat_set record_key row pending runs
-- args: base name expected_score id
-- replies: {fired} | {absent} no record or in no schedule | {moved} another score, or not due
--   | {duplicate} | {kind} | {paused} parked again | {invalid} no usable cadence: parked
-- uses: record now cadence repeat_admit
if string.sub(id, 1, 3) ~= 'JOB' then return {'kind'} end
local score = redis.call('ZSCORE', repeat_set, name)
if not score then return {'absent'} end
local fields = redis.call('HMGET', record_key, 'every_ms', 'template', 'py_paused_at')
if not (fields[1] or fields[2]) then
  redis.call('ZREM', repeat_set, name)
  record('repeat_fire', name)
  return {'absent'}
end
local at_ms = now_ms()
if fields[3] then
  if score ~= PARKED then
    redis.call('ZADD', repeat_set, PARKED, name)
    record('repeat_fire', name)
  end
  return {'paused'}
end
if score ~= expected_score or tonumber(score) > at_ms then return {'moved'} end
local every_ms = cadence(fields[1])
if not every_ms or not fields[2] then
  park(repeat_set, record_key, name, score, at_ms, 'pump')
  record('repeat_fire', name)
  return {'invalid'}
end
if redis.call('EXISTS', row) == 1 then return {'duplicate'} end
repeat_admit(base, row, runs, id, name, fields[2], score, at_ms)
redis.call('ZADD', repeat_set, next_slot(tonumber(score), every_ms, at_ms), name)
record('repeat_fire', id)
return {'fired'}
