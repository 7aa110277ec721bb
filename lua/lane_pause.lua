-- Park one lane; what is in flight goes on (protocol part 4.8).
-- keys: paused ring
-- args: base lane_name
-- replies: {ok} | {noop} already parked
-- flags: allow-oom
-- uses: record
local fresh = redis.call('SADD', paused, lane_name)
redis.call('LREM', ring, 0, lane_name)
if fresh == 0 then return {'noop'} end
record('lane_pause', lane_name)
return {'ok'}
