-- Set how long the log of a job stays once the job is completed, or keep logs for ever (protocol
-- part 10, row 27).
-- keys: meta
-- args: base keep_ms
-- (keep_ms: ms from 1, or empty for ever)
-- replies: {ok} | {noop} was so already
-- flags: allow-oom
-- uses: record
if (redis.call('HGET', meta, 'py_logs_ms') or '') == keep_ms then return {'noop'} end
if keep_ms == '' then
  redis.call('HDEL', meta, 'py_logs_ms')
else
  redis.call('HSET', meta, 'py_logs_ms', keep_ms)
end
record('queue_logs')
return {'ok'}
