-- Move a job that is in no other set to the dead, with the reason.
local function bury(base, id, reason)
  redis.call('HSET', base .. 'job:' .. id, 'state', 'dead', 'last_error', reason)
  redis.call('ZADD', base .. 'dead', 0, id)
  redis.call('HINCRBY', base .. 'metrics:failed', 'count', 1)
end
