-- A child of a flow died (protocol part 7.3).

-- The failure at a parent of this slot. Under `id` the child is counted as finished, once; else
-- the parent dies too, unless it already runs, waits for another try or is gone. A parent has no
-- lane: a job that has one took a removed parent's id and is left alone.
local function fail_parent(base, parent, child, policy, reason)
  local row_key = base .. 'job:' .. parent
  local found = redis.pcall('HMGET', row_key, 'state', 'group')
  local state = found[1]
  if not state or found[2] then return end
  if policy == 'id' then
    local fresh = redis.call('HSET', row_key .. ':unsuccessful', child, reason) == 1
    if fresh and redis.call('HEXISTS', row_key .. ':processed', child) == 0
      and redis.call('DECR', row_key .. ':dependencies') <= 0 then
      release_parent(base, parent)
    end
    return
  end
  redis.call('HSET', row_key .. ':failed', child, reason)
  if state == 'awaiting_children' or state == 'pending' or state == 'dead' then
    redis.call('ZADD', base .. 'dead', 0, parent)
    redis.call('ZREM', base .. 'pending', parent)
    redis.call('HSET', row_key, 'state', 'dead')
    record('fail_parent', parent)
  end
end

-- An outbox entry that tells the death of `child` to its parent; anything but `id` means that
-- the parent fails with it.
local function report_death(base, child, parent, parent_queue, policy, reason)
  if policy ~= 'id' then policy = 'fp' end
  redis.call('RPUSH', base .. 'flow:outbox', '\0fail\0' .. parent_queue .. '\0' .. parent .. '\0'
    .. child .. '\0' .. policy .. '\0' .. reason)
end

-- Where the parent is dead and has a parent itself, the death climbs one level by the outbox.
local function climb(base, parent, reason)
  local up = redis.pcall('HMGET', base .. 'job:' .. parent,
    'state', 'parent', 'parent_queue', 'parent_policy')
  if up[1] == 'dead' and up[2] then
    report_death(base, parent, up[2], up[3] or string.sub(base, 6, -3), up[4], reason)
  end
end

-- Tell the parent of a job that is now dead, if it has one.
local function child_died(base, child, reason)
  local flow = redis.call('HMGET', base .. 'job:' .. child,
    'parent', 'parent_queue', 'parent_policy')
  if not flow[1] then return end
  if flow[2] and 'emq:{' .. flow[2] .. '}:' ~= base then
    report_death(base, child, flow[1], flow[2], flow[3], reason)
  else
    fail_parent(base, flow[1], child, flow[3], reason)
    climb(base, flow[1], reason)
  end
end
