-- Who works on the queue, the last heard of first: heartbeat and what each says of itself. A
-- worker whose presence has expired stays listed with no words of its own.
-- keys: workers meta
-- args: base alive_ms size value_bytes
-- replies: {now_ms, total, alive, {{id, heartbeat, ttl_ms, {field, value...}}...}, paused}
-- builds: worker:*
-- uses: now
-- flags: no-writes
local now = now_ms()
local rows = {}
local flat = redis.call('ZRANGE', workers, 0, size - 1, 'REV', 'WITHSCORES')
for at = 1, #flat, 2 do
  local presence = base .. 'worker:' .. flat[at]
  local many = redis.pcall('HLEN', presence)
  local said = {}
  if type(many) == 'number' and many > 0 and many <= 512 then
    local all = redis.call('HSCAN', presence, 0, 'COUNT', 1024)[2]
    for field = 1, #all, 2 do
      said[field] = string.sub(all[field], 1, 256)
      said[field + 1] = string.sub(all[field + 1], 1, tonumber(value_bytes))
    end
  end
  rows[#rows + 1] = {flat[at], flat[at + 1], redis.call('PTTL', presence), said}
end
return {now, redis.call('ZCARD', workers), redis.call('ZCOUNT', workers, now - alive_ms, '+inf'), rows,
  redis.call('HEXISTS', meta, 'paused')}
