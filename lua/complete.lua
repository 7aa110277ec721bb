-- Settle a job as done and count it; a child of a flow tells its parent (protocol parts 4.3 and
-- 7.2). The token must be the present one; being held still is not required.
-- keys: row active pending
-- args: base id token result
-- replies: {ok} | {gone} no row | {stale} claimed again since
-- builds: lane and ring of the job, base..job:<parent> and its :processed and :dependencies,
--   base..flow:outbox base..metrics:completed
-- uses: record offer release let_go withdraw fan_in
-- flags: allow-oom
local held = redis.call('HMGET', row, 'attempts', 'group', 'parent', 'parent_queue')
if not held[1] then return {'gone'} end
if held[1] ~= token then return {'stale'} end
local from = withdraw(base, id, held[2])
-- A dead child has reported its death already.
if held[3] and from ~= 'dead' then child_done(base, id, held[3], held[4], result) end
redis.call('DEL', row)
redis.call('HINCRBY', base .. 'metrics:completed', 'count', 1)
record('complete', id)
return {'ok'}
