-- Destroy a paused queue, at most `budget` jobs and repeats a call (protocol part 4.6; part 10,
-- rows 25 and 26). The pause goes last, so nothing is claimed in between.
-- keys: meta active pending schedule dead ring paused glimit gactive gweight repeat_set
-- args: base force budget
-- (force: 1 to destroy held jobs too, else 0)
-- replies: {ok, removed} it is gone | {more, removed} call again | {not_paused} | {active}
-- builds: base..job:<id> and what hangs on it, base..g:<lane>:pending, base..repeat:<name>,
--   base..py:runs:<name>, base..metrics:*, base..wake, base..limiter, base..flow:outbox
-- flags: allow-oom
-- uses: record erase
local LANES_A_CALL = 1000
local removed, lanes_seen = 0, 0
budget = tonumber(budget)

-- A flow parent that only waits for jobs of this queue is in no set: it is found by its child.
local function wipe(id)
  local row = base .. 'job:' .. id
  local up = redis.call('HMGET', row, 'parent', 'parent_queue')
  erase(base, id)
  record('queue_obliterate', id)
  if up[1] and not up[2]
    and redis.call('HGET', base .. 'job:' .. up[1], 'state') == 'awaiting_children' then
    wipe(up[1])
  end
end

-- True once the set is empty; false when the budget was spent first, or just now.
local function clear(set)
  local ids = redis.call('ZRANGE', set, 0, budget - removed - 1)
  for _, id in ipairs(ids) do
    redis.call('ZREM', set, id)
    wipe(id)
  end
  removed = removed + #ids
  return removed < budget
end

local function clear_lane(lane_name)
  lanes_seen = lanes_seen + 1
  return clear(base .. 'g:' .. lane_name .. ':pending') and lanes_seen < LANES_A_CALL
end

-- A lane's name leaves the key that holds it only when its jobs are gone, so that the next call
-- finds the rest. A lane at its ceiling or idle is in neither ring nor paused.
local function clear_lanes()
  while redis.call('EXISTS', ring) == 1 do
    if not clear_lane(redis.call('LINDEX', ring, 0)) then return false end
    redis.call('LPOP', ring)
  end
  while redis.call('EXISTS', paused) == 1 do
    local lane_name = redis.call('SRANDMEMBER', paused)
    if not clear_lane(lane_name) then return false end
    redis.call('SREM', paused, lane_name)
  end
  for _, names in ipairs({glimit, gactive, gweight}) do
    while redis.call('EXISTS', names) == 1 do
      local lane_name = redis.call('HRANDFIELD', names)
      if not clear_lane(lane_name) then return false end
      redis.call('HDEL', names, lane_name)
    end
  end
  return true
end

local function clear_repeats()
  local names = redis.call('ZRANGE', repeat_set, 0, budget - removed - 1)
  for _, name in ipairs(names) do
    redis.call('DEL', base .. 'repeat:' .. name, base .. 'py:runs:' .. name)
    redis.call('ZREM', repeat_set, name)
  end
  removed = removed + #names
  return redis.call('EXISTS', repeat_set) == 0
end

if redis.call('HEXISTS', meta, 'paused') == 0 then return {'not_paused'} end
if force ~= '1' and redis.call('EXISTS', active) == 1 then return {'active'} end
for _, set in ipairs({active, pending, schedule, dead}) do
  if not clear(set) then return {'more', removed} end
end
if not (clear_lanes() and clear_repeats()) then return {'more', removed} end
redis.call('UNLINK', base .. 'metrics:completed', base .. 'metrics:completed:data',
  base .. 'metrics:failed', base .. 'metrics:failed:data', base .. 'wake', base .. 'limiter',
  base .. 'flow:outbox', meta)
record('queue_obliterate')
return {'ok', removed}
