-- How many ms the log of a job stays once it is completed; nil where logs stay for ever, as they
-- do unless an operator says otherwise (protocol part 10, row 27).
local function log_life(base)
  local keep_ms = tonumber(redis.pcall('HGET', base .. 'meta', 'py_logs_ms'))
  return keep_ms and keep_ms >= 1 and string.format('%.0f', keep_ms)
end
