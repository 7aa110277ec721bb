-- Trim records that were minted over `keep_ms` ago, by the server's clock (protocol part 7.4).
-- keys: stream
-- args: base keep_ms how
-- (how: `~` for roughly, `=` for exactly)
-- replies: {ok, removed}
-- flags: allow-oom
-- uses: record now
local floor = string.format('%.0f-0', math.max(0, now_ms() - keep_ms))
local removed = redis.call('XTRIM', stream, 'MINID', how, floor)
if removed > 0 then record('stream_trim', floor) end
return {'ok', removed}
