-- Claim flat pending jobs in mint order, all under one deadline (protocol part 4.2).
-- keys: pending active
-- args: base size lease_ms worker
-- replies: {claimed, deadline_ms, {id, payload, attempts}...} | {empty} nothing waits, or paused
--   | {again} only ghosts were met, and dropped
-- builds: base..job:<id>; of a grouped id base..gactive base..glimit base..ring
-- uses: record now offer place ghost bury room count_in take
-- flags: allow-oom
local wanted, window = room(base, tonumber(size))
if wanted < 1 then return {'empty'} end
local reply, ghosts = take_from(base, pending, nil, wanted, lease_ms, worker)
if ghosts then return {'again'} end
if #reply == 2 then return {'empty'} end
spend(base, #reply - 2, window)
return reply
