-- Remove one member of one set, whatever it is called and whether or not a job stands behind it.
-- Where a job does (a row with state and payload) and no other set names it, row and log go too.
-- keys: set row logs lock
-- args: base member lane_name
-- replies: {ok} | {gone} not in the set | {locked} a worker marked it as in its hands
-- builds: base..pending base..active base..schedule base..dead, lane and ring of the job
-- uses: record offer release let_go ghost withdraw
-- flags: allow-oom
if not redis.call('ZSCORE', set, member) then return {'gone'} end
local job = is_job(row) and redis.call('HEXISTS', row, 'state') == 1
if job and (redis.call('EXISTS', lock) == 1 or redis.call('HEXISTS', row, 'lock') == 1) then
  return {'locked'}
end
local group = job and redis.call('HGET', row, 'group')
if set == base .. 'active' then let_go(base, member, group) else redis.call('ZREM', set, member) end
if lane_name ~= '' and redis.call('EXISTS', set) == 0 then
  redis.call('LREM', base .. 'ring', 0, lane_name)
end
record('remove_member', member)
if not job then return {'ok'} end
for _, name in ipairs({'pending', 'active', 'schedule', 'dead'}) do
  if redis.call('ZSCORE', base .. name, member) then return {'ok'} end
end
if group and redis.call('ZSCORE', base .. 'g:' .. group .. ':pending', member) then
  return {'ok'}
end
redis.call('DEL', row, logs)
return {'ok'}
