-- How many jobs each named set holds, and how many were completed and failed, at one moment
-- (protocol part 5.1). Jobs that wait in lanes are in no set of these.
-- keys: pending active schedule dead metrics_completed metrics_failed
-- args: names...
-- replies: {now_ms, count...} in the order of the names
-- flags: no-writes
-- uses: now
local sets = {pending = pending, active = active, schedule = schedule, dead = dead}
local reply = {now_ms()}
for at = names_at, #ARGV do
  local name = ARGV[at]
  local count
  if sets[name] then
    count = redis.call('ZCARD', sets[name])
  elseif name == 'completed' then
    count = redis.call('HGET', metrics_completed, 'count')
  elseif name == 'failed' then
    count = redis.call('HGET', metrics_failed, 'count')
  end
  reply[#reply + 1] = count or 0
end
return reply
