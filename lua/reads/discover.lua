-- One step of a scan for queues on one primary: it walks at most `rounds` pages of `page` keys.
-- A name is taken from a key emq:{NAME}:SUFFIX only where SUFFIX is one of `suffixes` and the
-- key holds that suffix's type.
-- keys:
-- args: cursor page rounds suffixes...
-- replies: {cursor, name, ...}
-- flags: no-writes allow-cross-slot-keys
--
-- `suffixes` are pairs of suffix and type. A name that itself holds "}:" is taken from no key:
-- it could be a job, lane or repeat of another queue whose id ends like a suffix.
local types, longest = {}, 0
for at = suffixes_at, #ARGV, 2 do
  types[ARGV[at]] = ARGV[at + 1]
  longest = math.max(longest, #ARGV[at])
end
local found, order = {}, {}
local at = cursor
for _ = 1, rounds do
  local page_of = redis.call('SCAN', at, 'MATCH', 'emq:{*}:*', 'COUNT', page)
  at = page_of[1]
  for _, key in ipairs(page_of[2]) do
    local edge = string.find(key, '}:', 6, true)
    -- Nearly all are rows, whose ends are longer: no string is made of those.
    local suffix = edge and #key - edge - 1 <= longest and string.sub(key, edge + 2)
    if suffix and types[suffix] and redis.call('TYPE', key).ok == types[suffix] then
      local name = string.sub(key, 6, edge - 1)
      if not found[name] then
        found[name] = true
        order[#order + 1] = name
      end
    end
  end
  if at == '0' then break end
end
table.insert(order, 1, at)
return order
