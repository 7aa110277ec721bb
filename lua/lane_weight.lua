-- Set a lane's share of a weighted claim, or put it back to one (protocol part 4.8); where
-- `expected` is not empty, only while that share still stands.
-- keys: gweight
-- args: base lane_name share expected
-- (share: a count from 1, or empty to remove it; expected: a count, none, or empty)
-- replies: {ok} | {noop} was so already | {moved} it is another one
-- flags: allow-oom
-- uses: record as_seen
local before = redis.call('HGET', gweight, lane_name)
if (before or '') == share then return {'noop'} end
if expected ~= '' and not as_seen(before, expected) then return {'moved'} end
if share == '' then
  redis.call('HDEL', gweight, lane_name)
else
  redis.call('HSET', gweight, lane_name, share)
end
record('lane_weight', lane_name)
return {'ok'}
