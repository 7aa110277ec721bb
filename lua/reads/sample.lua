-- One look at a whole queue, its cost bounded by the windows and never by the queue: the six
-- counts, what waits in lanes, how late the schedule is, who works, what comes next.
-- keys: pending active schedule dead ring paused glimit gactive meta completed failed registry workers
-- args: base window alive_ms silent_ms forgotten_ms edges...
-- replies: {now_ms, faults, counts, meta, pending_head, schedule, lanes, repeats, workers, refused}
-- builds: g:*:pending
-- uses: now refused
-- flags: no-writes
--
-- A fault is {command, part, the server's words}; its numbers are nil and the rest stands.
-- `refused` are the writing commands that whoever asks may not use on the queue.
-- `window` bounds every walk over lanes. `edges` are ms from now, rising; schedule answers how
-- many jobs lie below each. workers answers {all in the registry, heard of within `alive_ms`,
-- silent for longer but heard of within `silent_ms`, last heartbeat of the silent within
-- `forgotten_ms`}. Ids are compared byte by byte: the server's string order follows its locale.
local now = now_ms()
local faults = {}

local function ask(part, command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    faults[#faults + 1] = {command, part, reply.err}
    return false
  end
  return reply
end

local function below(left, right)
  for at = 1, math.min(#left, #right) do
    local a, b = string.byte(left, at), string.byte(right, at)
    if a ~= b then return a < b end
  end
  return #left < #right
end

local function schedule_facts(size)
  if not size or size == 0 then return {} end
  local first = ask('schedule', 'ZRANGE', schedule, 0, 0, 'WITHSCORES') or {}
  local coming = ask('schedule', 'ZRANGE', schedule, '(' .. now, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES') or {}
  local under = {}
  for at = edges_at, #ARGV do
    under[#under + 1] = ask('schedule', 'ZCOUNT', schedule, '-inf', '(' .. string.format('%.0f', now + ARGV[at]))
  end
  return {ask('schedule', 'ZCOUNT', schedule, '-inf', now), first[1] or false, first[2] or false, coming[2] or false, under}
end

-- Lanes are named by the ring, the parked, the limited and those with work in flight; a lane in
-- none of these holds nothing. Each name is looked at once.
local function lanes_facts()
  local seen, names, limits, whole = {}, {}, {}, true
  local function note(name)
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  local ring_size = ask('ring', 'LLEN', ring)
  local turns = ask('ring', 'LRANGE', ring, 0, window - 1) or {}
  for _, name in ipairs(turns) do note(name) end
  whole = ring_size and ring_size == #turns
  local parked = ask('paused', 'SSCAN', paused, 0, 'COUNT', window) or {'?', {}}
  for _, name in ipairs(parked[2]) do note(name) end
  local limited = ask('glimit', 'HSCAN', glimit, 0, 'COUNT', window) or {'?', {}}
  for at = 1, #limited[2], 2 do
    note(limited[2][at])
    limits[limited[2][at]] = tonumber(limited[2][at + 1])
  end
  local busy = ask('gactive', 'HSCAN', gactive, 0, 'COUNT', window) or {'?', {}}
  for at = 1, #busy[2], 2 do note(busy[2][at]) end
  whole = whole and parked[1] == '0' and limited[1] == '0' and busy[1] == '0'

  local jobs, waiting, at_limit, head = 0, 0, 0, false
  for _, name in ipairs(names) do
    local lane = base .. 'g:' .. name .. ':pending'
    local depth = ask('lane', 'ZCARD', lane)
    if not depth then whole = false end
    if depth and depth > 0 then
      jobs = jobs + depth
      waiting = waiting + 1
      local oldest = (ask('lane', 'ZRANGE', lane, 0, 0) or {})[1]
      if oldest and (not head or below(oldest, head)) then head = oldest end
    end
    local in_flight = limits[name] and ask('gactive', 'HGET', gactive, name)
    if limits[name] and (tonumber(in_flight or 0) or 0) >= limits[name] then at_limit = at_limit + 1 end
  end
  return {jobs, waiting, at_limit, head, whole and 1 or 0, ring_size}
end

local alive_from = string.format('%.0f', now - alive_ms)
local counts = {
  ask('pending', 'ZCARD', pending), ask('active', 'ZCARD', active),
  ask('schedule', 'ZCARD', schedule), ask('dead', 'ZCARD', dead),
  ask('metrics:completed', 'HMGET', completed, 'count'), ask('metrics:failed', 'HMGET', failed, 'count'),
}
return {
  now, faults, counts,
  ask('meta', 'HMGET', meta, 'paused', 'concurrency', 'max'),
  (ask('pending', 'ZRANGE', pending, 0, 0) or {})[1] or false,
  schedule_facts(counts[3]),
  lanes_facts(),
  {ask('repeat', 'ZCARD', registry), ask('repeat', 'ZRANGE', registry, 0, 0, 'WITHSCORES')},
  {ask('workers', 'ZCARD', workers), ask('workers', 'ZCOUNT', workers, alive_from, '+inf'),
    ask('workers', 'ZCOUNT', workers, string.format('%.0f', now - silent_ms), '(' .. alive_from),
    (ask('workers', 'ZRANGE', workers, '(' .. alive_from, string.format('%.0f', now - forgotten_ms), 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES') or {})[2] or false},
  refused_on(pending),
}
