-- The rank at which a page begins in a sorted set's own order: of the first member behind
-- (score, member), or from it on when `from` is set. The member may have left meanwhile. Bytes
-- are compared one by one, since Lua's `<` on strings follows the server's locale.
local function byte_before(left, right)
  for at = 1, math.min(#left, #right) do
    local a, b = string.byte(left, at), string.byte(right, at)
    if a ~= b then return a < b end
  end
  return #left < #right
end
local function seek(key, score, member, from)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local there = redis.call('ZRANGE', key, middle, middle)[1]
    if byte_before(there, member) or (there == member and not from) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
