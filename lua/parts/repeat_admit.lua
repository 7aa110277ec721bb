-- Admit one run of a repeat into flat pending and note it among the last fifty. `due` is the
-- score that was met, or '-' for a run that an operator asked for.
local function repeat_admit(base, row, runs, id, name, template, due, at_ms)
  redis.call('ZADD', base .. 'pending', 0, id)
  redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', template,
    'py_repeat', name)
  if due ~= '-' then redis.call('HSET', row, 'py_due', due) end
  redis.call('LPUSH', runs, due .. ' ' .. string.format('%.0f', at_ms) .. ' ' .. id)
  redis.call('LTRIM', runs, 0, 49)
end
