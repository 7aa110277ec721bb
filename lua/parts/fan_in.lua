-- A child of a flow is done (protocol part 7.2). A parent is only ever released from
-- awaiting_children, and a removed parent is not made anew (part 10, rows 33 and 34).
local function release_parent(base, parent)
  local row_key = base .. 'job:' .. parent
  if redis.pcall('HGET', row_key, 'state') ~= 'awaiting_children' then return end
  redis.call('ZADD', base .. 'pending', 0, parent)
  redis.call('HSET', row_key, 'state', 'pending')
  record('release_parent', parent)
end

-- Note the result at a parent of this slot, and count the child once, whether it is told twice
-- or was counted before as a failure that the parent ignores.
local function fan_in(base, parent, child, result)
  local row_key = base .. 'job:' .. parent
  if redis.call('EXISTS', row_key) == 0 then return end
  if redis.call('HSETNX', row_key .. ':processed', child, result) == 0 then return end
  if redis.call('HEXISTS', row_key .. ':unsuccessful', child) == 1 then return end
  if redis.call('DECR', row_key .. ':dependencies') <= 0 then release_parent(base, parent) end
end

-- Tell the parent, at once or through the outbox where it lives in another queue.
local function child_done(base, child, parent, parent_queue, result)
  if parent_queue and 'emq:{' .. parent_queue .. '}:' ~= base then
    redis.call('RPUSH', base .. 'flow:outbox',
      parent_queue .. '\0' .. parent .. '\0' .. child .. '\0' .. result)
  else
    fan_in(base, parent, child, result)
  end
end
