-- Whether anything waits for a worker: a line that tracks what it reads hears when that changes.
-- keys: pending ring meta
-- args: base
-- replies: {now_ms, flat, lanes, paused} counts, and 1 where the queue is paused
-- builds: base..active base..limiter
-- uses: now see_bounds
-- flags: no-writes
see_bounds(base)
return {now_ms(), redis.call('ZCARD', pending), redis.call('LLEN', ring),
  redis.call('HEXISTS', meta, 'paused')}
