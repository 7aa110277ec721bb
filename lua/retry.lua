-- Settle a job as failed: to be tried again after a delay, or dead once `max_attempts` are used
-- up; a dead child of a flow tells its parent (protocol parts 4.3 and 7.3).
-- keys: row active schedule dead
-- args: base id token delay_ms max_attempts reason
-- replies: {scheduled} | {dead} | {gone} no row | {stale} claimed again since
-- builds: lane and ring of the job, base..job:<parent> and its :failed, :unsuccessful and
--   :dependencies, base..flow:outbox base..metrics:failed
-- uses: record now offer release let_go withdraw bury fan_in fail_parent
-- flags: allow-oom
local held = redis.call('HMGET', row, 'attempts', 'group')
if not held[1] then return {'gone'} end
if held[1] ~= token then return {'stale'} end
if (tonumber(token) or 0) >= tonumber(max_attempts) then
  bury(base, id, reason)
  withdraw(base, id, held[2], 'dead')
  child_died(base, id, reason)
  record('retry', id)
  return {'dead'}
end
redis.call('ZADD', schedule, now_ms() + delay_ms, id)
withdraw(base, id, held[2], 'schedule')
redis.call('HSET', row, 'last_error', reason, 'state', 'scheduled')
record('retry', id)
return {'scheduled'}
