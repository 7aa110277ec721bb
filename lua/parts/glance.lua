-- What a list shows of one job without opening it: how its row was found (row, orphan or
-- wrongtype), attempts, state, lane, last error, the repeat that fired it, who holds it, the
-- payload's length and its first bytes, the error's length. Either over 64 KiB is measured and not
-- read.
local function glance(row, error_bytes, payload_bytes)
  local field = redis.pcall('HMGET', row, 'attempts', 'state', 'group', 'py_repeat', 'py_held')
  if field.err then return {'wrongtype', false, false, false, false, false, false, 0, '', 0} end
  local size = redis.call('HSTRLEN', row, 'payload')
  local long = redis.call('HSTRLEN', row, 'last_error')
  local wrong = long > 0 and long <= 65536 and redis.call('HGET', row, 'last_error')
  local found = 'row'
  if not field[1] and not field[2] and redis.call('EXISTS', row) == 0 then found = 'orphan' end
  local head = ''
  if payload_bytes > 0 and size > 0 and size <= 65536 then
    head = string.sub(redis.call('HGET', row, 'payload') or '', 1, payload_bytes)
  end
  local function short(value, most) return value and string.sub(value, 1, most) end
  return {found, short(field[1], 64), short(field[2], 64), short(field[3], 512),
    short(wrong, error_bytes), short(field[4], 512), short(field[5], 256), size, head, long}
end
