-- Arm a repeat's next run one period from now (protocol part 4.7). A paused one stays parked.
-- keys: repeat_set record_key
-- args: base name every_ms at_ms
-- (at_ms: the caller's clock, or empty for the server's)
-- replies: {advanced} | {paused} | {absent} no record; a stray member is removed
-- flags: allow-oom
-- uses: record now
if redis.call('EXISTS', record_key) == 0 then
  if redis.call('ZREM', repeat_set, name) == 1 then record('repeat_advance', name) end
  return {'absent'}
end
if redis.call('HEXISTS', record_key, 'py_paused_at') == 1 then return {'paused'} end
local from_ms = at_ms == '' and now_ms() or tonumber(at_ms)
redis.call('ZADD', repeat_set, from_ms + every_ms, name)
record('repeat_advance', name)
return {'advanced'}
