-- Everything that decides where one job stands and what comes next: its row, its place in each
-- set, its lane, who works and what holds it up. Long fields are measured and not read, lists
-- and maps are read to a bound.
-- keys: row logs lock dependencies pending active schedule dead ring paused glimit gactive gweight meta workers
-- args: base id lane payload_bytes field_bytes names log_lines log_bytes alive_ms
-- replies: {now_ms, row, places, lane, queue, flow, logs, lock_ms}
-- builds: g:*:pending
-- uses: now
-- flags: no-writes
--
-- row is false where there is none, the type's name where it is no hash, else {{field, size,
-- value or false}..., fields in all}. A place is {score, rank, total}, false where it is not in.
-- A negative count stands for "not read".
local now = now_ms()

local function fields()
  local kind = redis.call('TYPE', row).ok
  if kind == 'none' then return false end
  if kind ~= 'hash' then return kind end
  local many = redis.call('HLEN', row)
  local read = {}
  local named = many <= tonumber(names) and redis.call('HKEYS', row)
    or {'state', 'attempts', 'payload', 'group', 'last_error', 'progress', 'stalled', 'parent',
      'parent_queue', 'parent_policy', 'lock', 'py_held', 'py_repeat', 'py_due'}
  for _, name in ipairs(named) do
    local size = redis.call('HSTRLEN', row, name)
    local most = name == 'payload' and tonumber(payload_bytes) or tonumber(field_bytes)
    local value = false
    if size <= most then value = redis.call('HGET', row, name) end
    if size > 0 or value then read[#read + 1] = {string.sub(name, 1, 256), size, value} end
  end
  return {read, many}
end

local function place(key)
  local score = redis.pcall('ZSCORE', key, id)
  if type(score) ~= 'string' then return false end
  return {score, redis.call('ZRANK', key, id), redis.call('ZCARD', key)}
end

-- A part that the server refuses or that is of another type is false, and the rest stands.
local function ask(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then return false end
  return reply
end

local found = fields()
local group = lane
local holder = false
if type(found) == 'table' then
  for _, field in ipairs(found[1]) do
    if field[1] == 'group' and field[3] then group = field[3] end
    if field[1] == 'py_held' and field[3] then
      holder = string.match(field[3], '^(.*):%d+:%d+$') or false
    end
  end
end

local function lane_facts()
  if group == '' then return false end
  return {group, place(base .. 'g:' .. group .. ':pending'),
    ask('LPOS', ring, group, 'MAXLEN', 10000) or -1, ask('LLEN', ring) or -1,
    ask('SISMEMBER', paused, group) or -1, ask('HGET', glimit, group), ask('HGET', gactive, group),
    ask('HGET', gweight, group)}
end

local function queue_facts()
  local worst = ask('ZRANGE', schedule, 0, 0, 'WITHSCORES')
  return {ask('HGET', meta, 'paused'), ask('ZCOUNT', workers, now - alive_ms, '+inf') or -1,
    ask('ZCOUNT', schedule, '-inf', now) or -1, worst and worst[2] or false,
    ask('ZCARD', active) or -1,
    holder and ask('ZSCORE', workers, holder) or false}
end

-- MEMORY USAGE looks at a few nodes only; it is the one way to measure a list without reading it.
local function log_facts()
  local lines = ask('LLEN', logs)
  if not lines then return {-1, {}, -1} end
  if lines == 0 then return {0, {}, 0} end
  local size = ask('MEMORY', 'USAGE', logs)
  if not size or size > tonumber(log_bytes) then return {lines, {}, size or -1} end
  return {lines, redis.call('LRANGE', logs, -log_lines, -1), size}
end

local function flow_facts()
  local left = ask('GET', dependencies)
  return {left and string.sub(left, 1, 32), ask('HLEN', row .. ':processed') or -1,
    ask('HLEN', row .. ':failed') or -1, ask('HLEN', row .. ':unsuccessful') or -1}
end

return {now, found, {place(pending), place(active), place(schedule), place(dead)},
  lane_facts(), queue_facts(), flow_facts(), log_facts(), ask('PTTL', lock)}
