-- Delete jobs that wait in a lane, oldest first, at most `budget` of them (protocol part 4.8).
-- Counters, ceiling and weight of the lane stay.
-- keys: lane ring
-- args: base lane_name budget
-- replies: {ok, removed, 0} the lane is empty | {more, removed, left}
-- builds: base..job:<id> and what hangs on it
-- uses: record erase
local ids = redis.call('ZRANGE', lane, 0, budget - 1)
for _, id in ipairs(ids) do
  redis.call('ZREM', lane, id)
  erase(base, id)
  record('lane_drain', id)
end
local left = redis.call('ZCARD', lane)
if left > 0 then return {'more', #ids, left} end
redis.call('LREM', ring, 0, lane_name)
return {'ok', #ids, 0}
