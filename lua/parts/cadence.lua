-- When a repeat runs next, and where a repeat that must not run is kept.

-- Beyond every clock, yet exact as a double: no engine finds it due.
local PARKED = '9007199254740991'

-- The first slot of the cadence after `at_ms`, counted from `slot_ms`, so that a late pump does
-- not shift the later runs; a slot that makes no sense starts the count anew.
local function next_slot(slot_ms, every_ms, at_ms)
  if not slot_ms or slot_ms <= 0 or slot_ms > at_ms + every_ms then return at_ms + every_ms end
  if slot_ms > at_ms then return slot_ms end
  return slot_ms + every_ms * (math.floor((at_ms - slot_ms) / every_ms) + 1)
end

-- A cadence in whole ms, or nil for text that is none.
local function cadence(text)
  if not text or not string.match(text, '^[1-9]%d*$') or #text > 15 then return nil end
  return tonumber(text)
end

-- Take a repeat out of the schedule without losing when it would have run.
local function park(repeat_set, record_key, name, score, at_ms, by)
  redis.call('HSET', record_key, 'py_paused_at', string.format('%.0f', at_ms), 'py_paused_by', by)
  if score and score ~= PARKED then redis.call('HSET', record_key, 'py_next', score) end
  redis.call('ZADD', repeat_set, PARKED, name)
end
