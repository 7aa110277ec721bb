-- Where one job is: the sets decide, the row's own word only where no set names it (protocol part
-- 5.1). A job that waits in its lane is told apart (part 10, row 30).
-- keys: row pending active schedule dead
-- args: base id
-- replies: {now_ms, state} pending | active | scheduled | dead | in_lane | awaiting_children
--   | unknown | absent
-- builds: lane of the job
-- flags: no-writes
-- uses: now
local at = now_ms()
if redis.call('ZSCORE', pending, id) then return {at, 'pending'} end
if redis.call('ZSCORE', active, id) then return {at, 'active'} end
if redis.call('ZSCORE', schedule, id) then return {at, 'scheduled'} end
if redis.call('ZSCORE', dead, id) then return {at, 'dead'} end
local held = redis.call('HMGET', row, 'state', 'group')
if held[1] == 'awaiting_children' then return {at, 'awaiting_children'} end
if held[2] and redis.call('ZSCORE', base .. 'g:' .. held[2] .. ':pending', id) then
  return {at, 'in_lane'}
end
if redis.call('EXISTS', row) == 1 then return {at, 'unknown'} end
return {at, 'absent'}
