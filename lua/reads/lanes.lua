-- The ring in order of turns and the lanes beside it, each with what decides about its next
-- turn. At most `window` lanes are looked at, those of the ring first; a lane is known outside
-- the ring by being paused, limited, or busy. `focus` is looked at in any case unless empty.
-- keys: ring paused glimit gactive gweight meta
-- args: base window focus
-- replies: {now_ms, sizes, whole, paused, {{name, turn, depth, in_flight, limit, weight, parked, oldest}...}}
-- builds: g:*:pending
-- uses: now
-- flags: no-writes
local most = tonumber(window)
local sizes = {redis.call('LLEN', ring), redis.call('SCARD', paused), redis.call('HLEN', glimit),
  redis.call('HLEN', gactive), redis.call('HLEN', gweight)}
local names, seen, whole = {}, {}, 1
local function note(name, turn)
  if seen[name] then return end
  if #names >= most and name ~= focus then
    whole = 0
    return
  end
  seen[name] = turn
  names[#names + 1] = name
end
if focus ~= '' then
  note(focus, redis.call('LPOS', ring, focus, 'MAXLEN', 10 * most) or -1)
end
for at, name in ipairs(redis.call('LRANGE', ring, 0, most - 1)) do note(name, at - 1) end
if sizes[1] > most then whole = 0 end
local page = redis.call('SSCAN', paused, 0, 'COUNT', most)
if page[1] ~= '0' then whole = 0 end
for _, name in ipairs(page[2]) do note(name, -1) end
for _, key in ipairs({gactive, glimit}) do
  page = redis.call('HSCAN', key, 0, 'COUNT', most)
  if page[1] ~= '0' then whole = 0 end
  for at = 1, #page[2], 2 do note(page[2][at], -1) end
end
local function short(value) return value and string.sub(value, 1, 32) end
local lanes = {}
for at, name in ipairs(names) do
  local lane = base .. 'g:' .. name .. ':pending'
  local depth = redis.pcall('ZCARD', lane)
  local oldest = false
  if type(depth) ~= 'number' then
    depth, whole = false, 0
  elseif depth > 0 then
    oldest = redis.call('ZRANGE', lane, 0, 0)[1]
  end
  lanes[at] = {name, seen[name], depth, short(redis.call('HGET', gactive, name)) or false,
    short(redis.call('HGET', glimit, name)) or false, short(redis.call('HGET', gweight, name)) or false,
    redis.call('SISMEMBER', paused, name), oldest}
end
return {now_ms(), sizes, whole, redis.call('HEXISTS', meta, 'paused'), lanes}
