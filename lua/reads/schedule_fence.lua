-- The schedule as its fence shows it: the worst late jobs and the next to run as single marks,
-- the rest counted into bars whose edges are even on the axis x = log10(1 + t / 5 s), or on a
-- linear one. Cost follows marks and bars, never the size of the set.
-- keys: schedule
-- args: base span_ms scale late_marks next_marks bars
-- replies: {now_ms, total, late, oldest, span_ms, beyond, late_marks, next_marks, late_bars, bars}
-- builds: row
-- uses: now trace
-- flags: no-writes
local now = now_ms()
local function number(value) return string.format('%.0f', value) end
local total = redis.call('ZCARD', schedule)
-- How many are due until a moment. The edges of bars are counted so, too, each once: a count looks
-- for both of its ends, and the beginning is no search.
local function due_until(at) return redis.call('ZCOUNT', schedule, '-inf', number(at)) end
local late = due_until(now)

local function marks(from, to)
  local found = {}
  if to < from then return found end
  local flat = redis.call('ZRANGE', schedule, from, to, 'WITHSCORES')
  for at = 1, #flat, 2 do
    found[#found + 1] = {flat[at], flat[at + 1], trace(base .. 'job:' .. flat[at])}
  end
  return found
end
local worst = marks(0, math.min(late, tonumber(late_marks)) - 1)
local coming = marks(late, late + tonumber(next_marks) - 1)

-- A lateness of more than 30 days is drawn at the edge and does not stretch the axis.
local month = 2592000000
local sane = redis.call('ZRANGEBYSCORE', schedule, number(now - month), number(now), 'WITHSCORES', 'LIMIT', 0, 1)
local oldest = sane[2] or false

-- Edges stand on a grid of two seconds, so that a schedule at rest answers the same again.
local grid = now - now % 2000
local most = 315360000000
local span = tonumber(span_ms)
if span <= 0 then
  local last = redis.call('ZREVRANGEBYSCORE', schedule, number(now + most), number(now), 'WITHSCORES', 'LIMIT', 0, 1)
  span = last[2] and math.max(60000, math.ceil(tonumber(last[2]) - grid)) or 60000
end

local knee = 5000
local function edge(part, reach)
  if scale == 'linear' then return reach * part end
  return knee * ((1 + reach / knee) ^ part - 1)
end
-- Bars of one side: `sign` is 1 ahead of now and -1 behind it; `skip` lies where marks end.
local function count(reach, skip, sign)
  local found, many, near, before = {}, tonumber(bars), skip, due_until(grid + sign * skip)
  for at = 1, many do
    local far = math.floor(edge(at / many, reach))
    if far > near then
      local here = due_until(grid + sign * far)
      local n = sign * (here - before)
      if n > 0 then found[#found + 1] = {number(grid + sign * near), number(grid + sign * far), n} end
      near, before = far, here
    end
  end
  return found
end
local ahead, behind = {}, {}
if total > late + #coming then
  ahead = count(span, math.max(0, math.floor(tonumber(coming[#coming][2]) - grid)), 1)
end
if late > #worst and oldest then
  -- Marks hold the oldest; what is younger than the last of them is counted.
  local reach = grid - math.max(tonumber(worst[#worst][2]), grid - month)
  behind = count(reach, 0, -1)
end
local beyond = redis.call('ZCOUNT', schedule, '(' .. number(grid + span), '+inf')
return {now, total, late, oldest, number(span), beyond, worst, coming, behind, ahead}
