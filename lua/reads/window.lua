-- A page of pending, a lane, active or dead: what each row shows, and what keeps it from being
-- served. `where` is first, after or before the cursor (score, member), which may have left the
-- set; a page before it that would not be full is the first. `newest` turns the set round, so
-- that ranks count from its end.
-- keys: members meta workers
-- args: base where newest score member size error_bytes payload_bytes
-- replies: {now_ms, total, first_rank, {{member, score, glance, heartbeat}...}, paused}
-- builds: row
-- uses: now glance seek
-- flags: no-writes
local many = tonumber(size)
local total = redis.call('ZCARD', members)
local first = 0
if where == 'after' and newest == '1' then
  first = total - seek(members, score, member, true)
elseif where == 'after' then
  first = seek(members, score, member, false)
elseif where == 'before' and newest == '1' then
  first = total - seek(members, score, member, false) - many
elseif where == 'before' then
  first = seek(members, score, member, true) - many
end
first = math.max(0, first)
local flat
if newest == '1' then
  flat = redis.call('ZRANGE', members, first, first + many - 1, 'REV', 'WITHSCORES')
else
  flat = redis.call('ZRANGE', members, first, first + many - 1, 'WITHSCORES')
end
local rows = {}
for at = 1, #flat, 2 do
  local seen = glance(base .. 'job:' .. flat[at], tonumber(error_bytes), tonumber(payload_bytes))
  local worker = seen[7] and string.match(seen[7], '^(.*):%d+:%d+$')
  rows[#rows + 1] = {flat[at], flat[at + 1], seen, worker and redis.call('ZSCORE', workers, worker) or false}
end
local parked = redis.pcall('HGET', meta, 'paused')
return {now_ms(), total, first, rows, type(parked) == 'string' and 1 or 0}
