-- Let a job that was claimed and never started wait again, at once: as a reap would, for its
-- holder (protocol part 4.4). Its attempts stay, so that a later claim fences this one.
-- keys: row active pending
-- args: base id token
-- replies: {ok} | {gone} no row, or it is held by nobody | {stale} claimed again since
-- builds: lane and ring of the job, base..paused base..glimit base..gactive base..wake
-- uses: record offer release let_go ghost give_back
-- flags: allow-oom
local attempts = redis.call('HGET', row, 'attempts')
if not attempts then return {'gone'} end
if attempts ~= token then return {'stale'} end
if not redis.call('ZSCORE', active, id) then return {'gone'} end
give_back(base, id)
return {'ok'}
