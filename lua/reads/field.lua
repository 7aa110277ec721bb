-- One field of a row, whole, where it is not longer than `most` bytes.
-- keys: row
-- args: field most
-- replies: {now_ms, size, value}
-- uses: now
-- flags: no-writes
local size = redis.call('HSTRLEN', row, field)
if size > tonumber(most) then return {now_ms(), size, false} end
return {now_ms(), size, redis.call('HGET', row, field)}
