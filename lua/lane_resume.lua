-- Unpark one lane and offer it where jobs wait in it (protocol part 4.8).
-- keys: paused lane gactive
-- args: base lane_name
-- replies: {ok} | {noop} was not parked
-- builds: base..ring base..glimit base..wake
-- flags: allow-oom
-- uses: record offer
local was_parked = redis.call('SREM', paused, lane_name)
if redis.call('EXISTS', lane) == 1 then
  offer(base, lane_name, tonumber(redis.call('HGET', gactive, lane_name)) or 0)
end
if was_parked == 0 then return {'noop'} end
record('lane_resume', lane_name)
return {'ok'}
