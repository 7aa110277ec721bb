-- Stop claims on a queue; what is held goes on (protocol part 4.6).
-- keys: meta
-- args: base
-- replies: {ok} | {noop} already paused
-- flags: allow-oom
-- uses: record
if redis.call('HEXISTS', meta, 'paused') == 1 then return {'noop'} end
redis.call('HSET', meta, 'paused', '1')
record('queue_pause')
return {'ok'}
