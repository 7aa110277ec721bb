-- Set how many jobs of a lane may be in flight at once, or lift that (protocol part 4.8).
-- Where `expected` is not empty, only while that limit still stands. The lane leaves the ring when it is at its new ceiling and is offered when it is not.
-- keys: glimit lane gactive ring
-- args: base lane_name ceiling expected
-- (ceiling: a count from 1, or empty to lift it; expected: a count, none, or empty)
-- replies: {ok} | {noop} was so already | {moved} it is another one
-- builds: base..paused base..wake
-- flags: allow-oom
-- uses: record offer as_seen
local before = redis.call('HGET', glimit, lane_name)
if expected ~= '' and (before or '') ~= ceiling and not as_seen(before, expected) then
  return {'moved'}
end
local in_flight = tonumber(redis.call('HGET', gactive, lane_name)) or 0
if ceiling == '' then
  redis.call('HDEL', glimit, lane_name)
else
  redis.call('HSET', glimit, lane_name, ceiling)
end
if ceiling ~= '' and in_flight >= tonumber(ceiling) then
  redis.call('LREM', ring, 0, lane_name)
elseif redis.call('EXISTS', lane) == 1 then
  offer(base, lane_name, in_flight)
end
if (before or '') == ceiling then return {'noop'} end
record('lane_limit', lane_name)
return {'ok'}
