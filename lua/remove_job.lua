-- Remove a job from every set, with its row and its log; a held lane place is freed (protocol
-- part 4.5, part 10 row 10). Another job's claim on the dedup id is left alone.
-- Where `expected` is not empty, only a job that no set and no lane names, and of that state.
-- keys: row logs lock
-- args: base id dedup_id expected
-- (expected: awaiting_children, unknown for any other of which no set knows, or empty)
-- replies: {ok} | {gone} no row | {locked} a worker marked it as in its hands
--   | {moved} a set names it, or it is of another state
-- builds: base..pending base..active base..schedule base..dead base..de:<dedup id>, lane and
--   ring of the job
-- uses: record offer release let_go withdraw
-- flags: allow-oom
local function apart_as(state, group)
  for _, name in ipairs({'pending', 'active', 'schedule', 'dead'}) do
    if redis.call('ZSCORE', base .. name, id) then return false end
  end
  if group and redis.call('ZSCORE', base .. 'g:' .. group .. ':pending', id) then return false end
  local awaits = redis.call('HGET', row, 'state') == 'awaiting_children'
  return awaits == (state == 'awaiting_children')
end
if redis.call('EXISTS', row) == 0 then return {'gone'} end
if redis.call('EXISTS', lock) == 1 or redis.call('HEXISTS', row, 'lock') == 1 then
  return {'locked'}
end
local group = redis.call('HGET', row, 'group')
if expected ~= '' and not apart_as(expected, group) then return {'moved'} end
withdraw(base, id, group)
local owner = base .. 'de:' .. dedup_id
if dedup_id ~= '' and redis.call('GET', owner) == id then redis.call('DEL', owner) end
redis.call('DEL', row, logs)
record('remove_job', id)
return {'ok'}
