-- The newest waiting ids of flat pending, newest first (protocol part 5.1).
-- keys: pending
-- args: most
-- replies: {now_ms, size, {id...}}
-- flags: no-writes
-- uses: now
return {now_ms(), redis.call('ZCARD', pending),
  redis.call('ZRANGE', pending, '+', '-', 'BYLEX', 'REV', 'LIMIT', 0, most)}
