-- What waits for a worker that takes batches, lane by lane: a line that tracks what it reads hears
-- when that changes. Of the ring its first 64 lanes are looked into.
-- keys: pending ring meta
-- args: base least
-- replies: {now_ms, flat, lanes, paused, full} counts, 1 where the queue is paused, and how many
--   of those lanes have a full batch: `least` jobs, or all that their ceiling allows
-- builds: base..g:<lane>:pending base..glimit base..gactive base..active base..limiter
-- uses: now lane_ready see_bounds
-- flags: no-writes
see_bounds(base)
local full = 0
for _, lane_name in ipairs(redis.call('LRANGE', ring, 0, 63)) do
  local ready, enough = lane_ready(base, lane_name, tonumber(least))
  if ready > 0 and enough then full = full + 1 end
end
return {now_ms(), redis.call('ZCARD', pending), redis.call('LLEN', ring),
  redis.call('HEXISTS', meta, 'paused'), full}
