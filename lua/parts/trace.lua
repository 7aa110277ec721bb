-- The least that tells a mark of one job, since a fence has hundreds: how its row was found (row,
-- orphan or wrongtype), attempts, whether one of them failed, the repeat that fired it.
local function trace(row)
  local field = redis.pcall('HMGET', row, 'attempts', 'state', 'py_repeat')
  if field.err then return {'wrongtype', false, 0, false} end
  local found, failed = 'row', 0
  if not field[1] and not field[2] and redis.call('EXISTS', row) == 0 then found = 'orphan' end
  if field[1] and field[1] ~= '0' then failed = redis.call('HEXISTS', row, 'last_error') end
  local function short(value, most) return value and string.sub(value, 1, most) end
  return {found, short(field[1], 64), failed, short(field[3], 512)}
end
