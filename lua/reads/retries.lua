-- Jobs that wait for another try, among the next of the schedule to run: at most `most` members
-- are looked at, those that failed before are answered.
-- keys: schedule
-- args: base most
-- replies: {now_ms, total, late, looked, jobs}
-- builds: row
-- uses: now glance
-- flags: no-writes
local now = now_ms()
local late = redis.call('ZCOUNT', schedule, '-inf', string.format('%.0f', now))
local flat = redis.call('ZRANGE', schedule, late, late + most - 1, 'WITHSCORES')
local jobs = {}
for at = 1, #flat, 2 do
  local job = glance(base .. 'job:' .. flat[at], 160, 0)
  if job[2] and job[2] ~= '0' and job[5] then jobs[#jobs + 1] = {flat[at], flat[at + 1], job} end
end
return {now, redis.call('ZCARD', schedule), late, #flat / 2, jobs}
