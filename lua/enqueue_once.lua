-- Admit one job under a dedup id, which keeps every other job out for `ttl_ms`, whatever becomes
-- of this one (protocol part 4.10; part 10, row 23). It waits flat or in a lane, at once or after
-- a delay on the server's clock.
-- keys: row owner
-- args: base id payload ttl_ms lane_name delay_ms
-- (lane_name is empty for a flat job, delay_ms for one that waits for no time)
-- replies: {enqueued, id} | {scheduled, id} | {exists, owner} the dedup id is taken
--   | {duplicate, id} the id has a row | {kind, id} not a JOB id
-- builds: base..pending base..schedule; lane of the job, base..ring base..paused base..glimit
--   base..gactive base..wake
-- uses: record now offer place refuse
local held = string.sub(id, 1, 3) == 'JOB' and redis.call('GET', owner)
if held then return {'exists', held} end
local refusal = refuse(row, id)
if refusal then return {refusal[1], id} end
local lane = lane_name ~= '' and lane_name
if delay_ms ~= '' then
  redis.call('ZADD', base .. 'schedule', now_ms() + delay_ms, id)
else
  place(base, id, lane)
end
redis.call('SET', owner, id, 'PX', ttl_ms)
redis.call('HSET', row, 'state', delay_ms == '' and 'pending' or 'scheduled', 'attempts', '0',
  'payload', payload)
if lane then redis.call('HSET', row, 'group', lane) end
record('enqueue_once', id)
return {delay_ms ~= '' and 'scheduled' or 'enqueued', id}
