-- Let claims on a queue go on (protocol part 4.6).
-- keys: meta
-- args: base
-- replies: {ok} | {noop} was not paused
-- flags: allow-oom
-- uses: record
if redis.call('HDEL', meta, 'paused') == 0 then return {'noop'} end
record('queue_resume')
return {'ok'}
