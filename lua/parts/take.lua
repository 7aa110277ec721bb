-- A lane was left with an id whose row names another lane or none, as a removal that knows no lanes
-- leaves it (protocol part 10, row 10) and the id came in again: claimed under this lane, its place
-- would never be freed. It goes to where its row says, unless it stands somewhere already.
local function put_right(base, id, group)
  for _, set in ipairs({'pending', 'active', 'schedule', 'dead'}) do
    if redis.call('ZSCORE', base .. set, id) then return end
  end
  if redis.call('HGET', base .. 'job:' .. id, 'state') == 'awaiting_children' then return end
  place(base, id, group)
  record('put_right', id)
end

-- Claim the popped id: one attempt more, and `py_held` where the worker told its name. Answers
-- {id, payload, attempts[, lane]}; nil for a ghost, which is dropped, for an id that another lane
-- owns, and for a row whose attempts are no number, which goes to the dead for an operator; false
-- where only a job that was never tried is wanted and this one was.
local function take(base, id, lane_name, now, worker, fresh)
  local row_key = base .. 'job:' .. id
  local found = redis.pcall('HMGET', row_key, 'payload', 'group', 'attempts')
  if found.err or not found[1] then
    drop_ghost(row_key, id)
    return nil
  end
  if lane_name and found[2] ~= lane_name then
    put_right(base, id, found[2])
    return nil
  end
  if fresh and found[3] ~= '0' then return false end
  local attempts, words = 1, {'state', 'active'}
  if found[3] == '0' then
    words = {'attempts', '1', 'state', 'active'}
  else
    attempts = redis.pcall('HINCRBY', row_key, 'attempts', 1)
    if type(attempts) ~= 'number' then
      bury(base, id, 'attempts is not a number')
      record('bury', id)
      return nil
    end
  end
  if worker ~= '' then
    words[#words + 1] = 'py_held'
    words[#words + 1] = worker .. ':' .. string.format('%.0f:%.0f', attempts, now)
  end
  redis.call('HSET', row_key, unpack(words))
  if found[2] and not lane_name then count_in(base, found[2], 1) end
  record('claim', id)
  return {id, found[1], attempts, lane_name}
end

-- Bytes of payload with which a claim has enough, and with which it takes no more jobs ahead of its
-- `sure` ones: a reply must be made, sent and read while a command's time runs, or its jobs are
-- leased and nobody knows.
local ENOUGH, ENOUGH_AHEAD = 16777216, 1048576

local function laden(taken, sure)
  return (taken.bytes or 0) >= (#taken < sure and ENOUGH or ENOUGH_AHEAD)
end

-- What `take_into` does. `popped` holds, id to score, what is out of the waiting set and in no
-- other yet.
local function lease_out(popped, taken, base, waiting, lane_name, wanted, sure, now, deadline,
  worker)
  local goal, tries, why = #taken + wanted, wanted + 100, nil
  local leased = {}
  if laden(taken, sure) then return 'kept' end
  while #taken < goal and tries > 0 and not why do
    local heads = redis.call('ZPOPMIN', waiting, math.min(goal - #taken, tries))
    if #heads == 0 then why = 'dry' end
    for at = 1, #heads, 2 do popped[heads[at]] = heads[at + 1] end
    for at = 1, #heads, 2 do
      local id = heads[at]
      local one = not why and take(base, id, lane_name, now, worker, #taken >= sure)
      if one == false then
        redis.call('ZADD', waiting, heads[at + 1], id)
        why = 'kept'
      elseif one then
        taken[#taken + 1] = one
        leased[#leased + 1] = deadline
        leased[#leased + 1] = id
        taken.bytes = (taken.bytes or 0) + #one[2]
        if #taken < goal and laden(taken, sure) then why = 'kept' end
      else
        popped[id] = nil
      end
      tries = tries - 1
    end
  end
  if #leased > 0 then redis.call('ZADD', base .. 'active', unpack(leased)) end
  return why
end

-- Claim up to `wanted` from the head of a waiting set and add them to `taken`, leased until
-- `deadline`. Once `taken` holds `sure`, a job that was tried before is put back and ends it; so
-- does a payload that makes it laden, which is taken. Up to
-- a hundred ghosts are passed over in one call. Answers why it took no more: dry, kept, or nil
-- where it has all that was wanted or gave up among ghosts. Where a key of another type is in the
-- way, what was popped goes back before that is told, or it would be lost.
local function take_into(taken, base, waiting, ...)
  local popped = {}
  local went, why = pcall(lease_out, popped, taken, base, waiting, ...)
  if went then return why end
  for id, score in pairs(popped) do redis.call('ZADD', waiting, score, id) end
  error({err = type(why) == 'table' and why.err or why})
end

-- Claim up to `wanted` of one waiting set as a reply. The second answer is whether only ghosts
-- were met, so that there is more to try.
local function take_from(base, waiting, lane_name, wanted, lease_ms, worker)
  local now = now_ms()
  local reply, deadline = {}, now + lease_ms
  local why = take_into(reply, base, waiting, lane_name, wanted, wanted, now, deadline, worker)
  local ghosts = #reply == 0 and not why
  table.insert(reply, 1, 'claimed')
  table.insert(reply, 2, deadline)
  return reply, ghosts
end
