-- Remove a job from every set, with its row and its log; a held lane place is freed (protocol
-- part 4.5, part 10 row 10). Another job's claim on the dedup id is left alone.
-- keys: row logs lock
-- args: base id dedup_id
-- replies: {ok} | {gone} no row | {locked} a worker marked it as in its hands
-- builds: base..pending base..active base..schedule base..dead base..de:<dedup id>, lane and
--   ring of the job
-- uses: record offer release let_go withdraw
-- flags: allow-oom
if redis.call('EXISTS', row) == 0 then return {'gone'} end
if redis.call('EXISTS', lock) == 1 or redis.call('HEXISTS', row, 'lock') == 1 then
  return {'locked'}
end
withdraw(base, id, redis.call('HGET', row, 'group'))
local owner = base .. 'de:' .. dedup_id
if dedup_id ~= '' and redis.call('GET', owner) == id then redis.call('DEL', owner) end
redis.call('DEL', row, logs)
record('remove_job', id)
return {'ok'}
