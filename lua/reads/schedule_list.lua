-- A page of the schedule in score order with what each row shows. `where` says which page:
-- `fence` the worst late jobs and then the next to run, `after` and `before` the rows on that
-- side of the cursor (score, member), which may have left the set.
-- keys: schedule
-- args: base where score member size late_rows error_bytes payload_bytes
-- replies: {now_ms, total, late, first_rank, jobs, more_before, more_after}
-- builds: row
-- uses: now glance seek
-- flags: no-writes
local now = now_ms()
local many = tonumber(size)
local total = redis.call('ZCARD', schedule)
local late = redis.call('ZCOUNT', schedule, '-inf', string.format('%.0f', now))
local jobs = {}
local function read(from, to)
  if to < from then return end
  local flat = redis.call('ZRANGE', schedule, from, to, 'WITHSCORES')
  for at = 1, #flat, 2 do
    jobs[#jobs + 1] = {from + (at - 1) / 2, flat[at], flat[at + 1],
      glance(base .. 'job:' .. flat[at], tonumber(error_bytes), tonumber(payload_bytes))}
  end
end
local first, last
if where == 'fence' then
  first = 0
  local shown = math.min(late, math.max(tonumber(late_rows), many - (total - late)))
  read(0, shown - 1)
  last = late + many - shown - 1
  read(late, last)
elseif where == 'after' then
  first = seek(schedule, score, member, false)
  last = first + many - 1
  read(first, last)
else
  last = seek(schedule, score, member, true) - 1
  first = math.max(0, last - many + 1)
  read(first, last)
end
return {now, total, late, first, jobs, first > 0 and 1 or 0, last + 1 < total and 1 or 0}
