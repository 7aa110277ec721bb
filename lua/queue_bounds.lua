-- Bound how many jobs of a queue may be held at once, and how many are claimed in each window
-- (protocol part 4.10). The numbers stand where every engine reads them; our claims keep to them
-- where `enforce` is set (part 10, row 22).
-- keys: meta limiter
-- args: base concurrency rate window_ms enforce
-- (each a count from 1, or empty to lift it; enforce is 1 or empty)
-- replies: {ok} | {noop} was so already
-- flags: allow-oom
-- uses: record
local changed = false
for name, wanted in pairs({
  concurrency = concurrency, max = rate, py_window_ms = window_ms, py_enforce = enforce,
}) do
  if (redis.call('HGET', meta, name) or '') ~= wanted then
    changed = true
    if wanted == '' then
      redis.call('HDEL', meta, name)
    else
      redis.call('HSET', meta, name, wanted)
    end
  end
end
if not changed then return {'noop'} end
-- What was spent under the bounds before binds no longer than the new window.
if window_ms == '' then
  redis.call('DEL', limiter)
elseif redis.call('PTTL', limiter) > tonumber(window_ms) then
  redis.call('PEXPIRE', limiter, window_ms)
end
record('queue_bounds')
return {'ok'}
