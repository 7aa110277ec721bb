-- Claim the popped id: one attempt more, a lease until `deadline`, and `py_held` where the
-- worker told its name. Answers {id, payload, attempts[, lane]}, or nil for a ghost, which is
-- dropped, and for a row whose attempts are no number, which goes to the dead for an operator.
local function take(base, id, lane_name, now, deadline, worker)
  local row_key = base .. 'job:' .. id
  local found = redis.pcall('HMGET', row_key, 'payload', 'group')
  if found.err or not found[1] then
    drop_ghost(row_key, id)
    return nil
  end
  local attempts = redis.pcall('HINCRBY', row_key, 'attempts', 1)
  if type(attempts) ~= 'number' then
    bury(base, id, 'attempts is not a number')
    record('bury', id)
    return nil
  end
  redis.call('HSET', row_key, 'state', 'active')
  if worker ~= '' then
    redis.call('HSET', row_key, 'py_held',
      worker .. ':' .. string.format('%.0f:%.0f', attempts, now))
  end
  redis.call('ZADD', base .. 'active', deadline, id)
  if found[2] and not lane_name then count_in(base, found[2], 1) end
  record('claim', id)
  return {id, found[1], attempts, lane_name}
end

-- Claim up to `wanted` from the head of a waiting set. Up to a hundred ghosts are passed over in
-- one call; the second answer is whether only ghosts were met, so that there is more to try.
local function take_from(base, waiting, lane_name, wanted, lease_ms, worker)
  local now = now_ms()
  local deadline = now + lease_ms
  local reply, tries = {'claimed', deadline}, wanted + 100
  while #reply - 2 < wanted and tries > 0 do
    local popped = redis.call('ZPOPMIN', waiting, math.min(wanted - #reply + 2, tries))
    if #popped == 0 then return reply, false end
    for at = 1, #popped, 2 do
      tries = tries - 1
      reply[#reply + 1] = take(base, popped[at], lane_name, now, deadline, worker)
    end
  end
  return reply, #reply == 2
end
