-- The last lines of one job's log, in the order they were written (protocol part 4.5).
-- keys: row logs
-- args: most
-- replies: {now_ms, ok, {line...}} | {now_ms, gone} no row
-- flags: no-writes
-- uses: now
if redis.call('EXISTS', row) == 0 then return {now_ms(), 'gone'} end
return {now_ms(), 'ok', redis.call('LRANGE', logs, -most, -1)}
