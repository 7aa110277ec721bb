-- Put a job among the dead, with the reason. A counter that cannot be raised hinders nobody.
local function bury(base, id, reason)
  redis.call('ZADD', base .. 'dead', 0, id)
  redis.call('HSET', base .. 'job:' .. id, 'state', 'dead', 'last_error', reason)
  redis.pcall('HINCRBY', base .. 'metrics:failed', 'count', 1)
end
