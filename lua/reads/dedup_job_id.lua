-- The job id that owns a dedup id (protocol part 4.10).
-- keys: owner
-- args:
-- replies: {now_ms, id} nil where nobody does
-- flags: no-writes
-- uses: now
return {now_ms(), redis.call('GET', owner)}
