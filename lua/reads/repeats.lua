-- A page of the repeat registry in order of the next run: each record with the last of its runs,
-- as far as our own pump wrote them. A name in the set without a record has no cadence; a key of
-- another type is told by its name alone.
-- keys: registry
-- args: base score member size runs
-- replies: {now_ms, total, first_rank, records}
-- builds: repeat:<name> py:runs:<name>
-- uses: now seek
-- flags: no-writes
local now = now_ms()
local total = redis.call('ZCARD', registry)
local first = member == '' and 0 or seek(registry, score, member, false)
local flat = redis.call('ZRANGE', registry, first, first + size - 1, 'WITHSCORES')
local records = {}
for at = 1, #flat, 2 do
  local name = flat[at]
  local key = base .. 'repeat:' .. name
  local field = redis.pcall('HMGET', key, 'every_ms', 'py_paused_at', 'py_paused_by', 'py_next')
  local found, length, head = 'record', 0, ''
  if field.err then
    found, field = 'wrongtype', {false, false, false, false}
  elseif redis.call('EXISTS', key) == 0 then
    found = 'absent'
  else
    length = redis.call('HSTRLEN', key, 'template')
    if length > 0 and length <= 65536 then
      head = string.sub(redis.call('HGET', key, 'template') or '', 1, 160)
    end
  end
  local last = redis.pcall('LRANGE', base .. 'py:runs:' .. name, 0, runs - 1)
  if last.err then last = {} end
  records[#records + 1] = {name, flat[at + 1], found, field[1], field[2], field[3], field[4], length, head, last}
end
return {now, total, first, records}
