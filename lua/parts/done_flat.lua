-- Settle jobs of no lane and no flow as done, as `done` does with one of them: all go by one command
-- for each set, since a call costs more than what it does for one job more.
local function done_flat(base, ids, keep_ms)
  local rows = {}
  for at, id in ipairs(ids) do rows[at] = base .. 'job:' .. id end
  for _, set in ipairs({'schedule', 'dead', 'pending', 'active'}) do -- the lease last: `withdraw`
    redis.call('ZREM', base .. set, unpack(ids))
  end
  redis.call('DEL', unpack(rows))
  for at, id in ipairs(ids) do
    if keep_ms then redis.pcall('PEXPIRE', rows[at] .. ':logs', keep_ms) end
    record('complete', id)
  end
end
