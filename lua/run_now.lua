-- Move one scheduled job to where claims find it, as promote would if it were due: its lane and
-- the lane's offer included.
-- keys: row schedule pending active
-- args: base member
-- replies: {ok} | {noop} it waits or runs already | {gone} no row with a payload
--   | {not_scheduled} dead, or held for its children
-- builds: lane of the job, base..ring base..paused base..glimit base..gactive base..wake
-- uses: record offer place ghost
-- flags: allow-oom
if not is_job(row) then return {'gone'} end
local lane_name = redis.call('HGET', row, 'group')
if not redis.call('ZSCORE', schedule, member) then
  if redis.call('ZSCORE', pending, member) or redis.call('ZSCORE', active, member)
    or (lane_name and redis.call('ZSCORE', base .. 'g:' .. lane_name .. ':pending', member)) then
    return {'noop'}
  end
  return {'not_scheduled'}
end
place(base, member, lane_name)
redis.call('ZREM', schedule, member)
redis.call('HSET', row, 'state', 'pending')
record('run_now', member)
return {'ok'}
