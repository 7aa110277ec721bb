-- Settle many jobs as done, each under its own token and by itself, count them, and say so on the
-- channel of events where that is allowed (protocol parts 4.3, 6.6 and 7.2).
-- keys: active pending
-- args: base events items...
-- replies: {done, verdict...} in the order of the (id, token, result) items, each verdict ok, or
--   gone: no row, or stale: claimed again since, or the error that it met
-- builds: base..job:<id> lane and ring of the job, base..job:<parent> and its :processed and
--   :dependencies, base..flow:outbox base..metrics:completed
--   base..meta
-- uses: record offer release let_go withdraw fan_in log_life done done_flat
-- flags: allow-oom
local reply, count, keep_ms = {'done'}, 0, log_life(base)

local function note(place, id, went, verdict)
  if went and verdict == 'ok' then
    count = count + 1
    redis.pcall('PUBLISH', events, '{"event":"completed","job":"' .. id .. '"}')
  elseif not went then
    verdict = '-' .. (type(verdict) == 'table' and verdict.err or tostring(verdict))
  end
  reply[place] = verdict
end

-- Jobs of no lane and no flow, each once, and their places in the reply.
local flat, places, named = {}, {}, {}

local function settle_flat()
  if #flat == 0 then return end
  local went, verdict = pcall(done_flat, base, flat, keep_ms)
  for at, id in ipairs(flat) do note(places[at], id, went, went and 'ok' or verdict) end
  flat, places, named = {}, {}, {}
end

for at = items_at, #ARGV, 3 do
  local id, token, place = ARGV[at], ARGV[at + 1], #reply + 1
  if named[id] then settle_flat() end
  local held = redis.pcall('HMGET', base .. 'job:' .. id, 'attempts', 'group', 'parent',
    'parent_queue')
  if held[1] == token and not held[2] and not held[3] then
    named[id] = true
    flat[#flat + 1] = id
    places[#flat] = place
    reply[place] = 'ok' -- or what it meets
  else
    settle_flat() -- what comes next may ask for their rows
    note(place, id, pcall(done, base, id, token, ARGV[at + 2], keep_ms, not held.err and held))
  end
end
settle_flat()
if count > 0 then redis.pcall('HINCRBY', base .. 'metrics:completed', 'count', count) end
return reply
