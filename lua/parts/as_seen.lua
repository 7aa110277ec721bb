-- Whether a number that is set still is the one that was seen; `none` where none was set. Text that
-- is no number binds nobody, and counts as none.
local function as_seen(held, expected)
  local number = tonumber(held)
  if expected == 'none' then return not number end
  return number ~= nil and number == tonumber(expected)
end
