-- Set a lane's share of a weighted claim, or put it back to one (protocol part 4.8).
-- keys: gweight
-- args: base lane_name share
-- (share: a count from 1, or empty to remove it)
-- replies: {ok} | {noop} was so already
-- flags: allow-oom
-- uses: record
local before = redis.call('HGET', gweight, lane_name)
if (before or '') == share then return {'noop'} end
if share == '' then
  redis.call('HDEL', gweight, lane_name)
else
  redis.call('HSET', gweight, lane_name, share)
end
record('lane_weight', lane_name)
return {'ok'}
