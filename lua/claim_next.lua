-- Claim up to `size` jobs of both waiting sets, all under one deadline: of the one named `first`
-- (ring or flat) as many as there are, of the other the rest (protocol part 4.2). The ring turns
-- once for each job, or, where `weighted` is 1, for each lane's weight of jobs. Beyond `sure` jobs
-- only such are taken as were never tried, so that a job that ends its workers never waits in
-- hand behind others, nor others behind it.
-- keys: pending ring active
-- args: base size sure first weighted lease_ms worker
-- replies: {claimed, deadline_ms, {id, payload, attempts[, lane]}...} | {empty} nothing that may be
--   claimed waits, or paused | {again} only ghosts and empty lanes were met, and dropped
-- builds: base..g:<lane>:pending base..job:<id> base..gactive base..glimit base..gweight
-- uses: record now offer place ghost bury room count_in take
-- flags: allow-oom
local wanted, window = room(base, tonumber(size))
if wanted < 1 then return {'empty'} end
sure = tonumber(sure)
local now = now_ms()
local deadline = now + lease_ms
local taken, over = {}, false

local function share_of(lane_name)
  if weighted ~= '1' then return 1 end
  local weight = tonumber(redis.call('HGET', base .. 'gweight', lane_name)) or 1
  local share = math.min(wanted - #taken, math.max(1, math.floor(weight)))
  local ceiling = tonumber(redis.call('HGET', base .. 'glimit', lane_name))
  if not ceiling then return share end
  local in_flight = tonumber(redis.call('HGET', base .. 'gactive', lane_name)) or 0
  return math.max(1, math.min(share, ceiling - in_flight))
end

local function of_ring()
  local turns = 64
  while #taken < wanted and turns > 0 do
    local lane_name = redis.call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
    if not lane_name then return end
    local before = #taken
    local why = take_into(taken, base, base .. 'g:' .. lane_name .. ':pending', lane_name,
      share_of(lane_name), sure, now, deadline, worker)
    if #taken > before then
      count_in(base, lane_name, #taken - before)
    elseif why == 'dry' then
      redis.call('LREM', ring, -1, lane_name)
      turns = turns - 1
    else
      turns = turns - 1
    end
    if why == 'kept' then
      -- It is this lane's turn next time, when there is a place that is sure.
      if redis.call('LINDEX', ring, -1) == lane_name then
        redis.call('LMOVE', ring, ring, 'RIGHT', 'LEFT')
      end
      return
    end
  end
  over = over or turns == 0
end

local function of_flat()
  if #taken >= wanted then return end
  local why = take_into(taken, base, pending, nil, wanted - #taken, sure, now, deadline, worker)
  over = over or not why
end

if first == 'ring' then of_ring() of_flat() else of_flat() of_ring() end
if #taken == 0 then return {over and 'again' or 'empty'} end
spend(base, #taken, window)
table.insert(taken, 1, 'claimed')
table.insert(taken, 2, deadline)
return taken
