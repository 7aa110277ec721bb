-- Admit one job into a lane and offer the lane (protocol part 4.1).
-- keys: row lane
-- args: base id payload lane_name
-- replies: {enqueued} | {duplicate} the id has a row | {kind} not a JOB id
-- builds: base..ring base..paused base..glimit base..gactive base..wake
-- uses: record offer place refuse
local refusal = refuse(row, id)
if refusal then return refusal end
place(base, id, lane_name)
redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', payload,
  'group', lane_name)
record('lane_enqueue', id)
return {'enqueued'}
