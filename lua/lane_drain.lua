-- Delete jobs that wait in a lane, oldest first, at most `budget` of them (protocol part 4.8).
-- Counters, ceiling and weight of the lane stay.
-- keys: lane ring
-- args: base lane_name budget
-- replies: {ok, removed, 0} the lane is empty | {more, removed, left}
-- builds: base..job:<id> and what hangs on it
-- flags: allow-oom
-- uses: record erase drain_oldest
local removed, left = drain_oldest(base, lane, budget, 'lane_drain')
if left > 0 then return {'more', removed, left} end
redis.call('LREM', ring, 0, lane_name)
return {'ok', removed, 0}
