-- Delete one job's row and all that hangs on it.
local function erase(base, id)
  local row = base .. 'job:' .. id
  redis.call('DEL', row, row .. ':logs', row .. ':lock', row .. ':dependencies',
    row .. ':processed', row .. ':failed', row .. ':unsuccessful')
end
