-- Delete the first `budget` jobs of a waiting set; answers how many, and how many are left.
local function drain_oldest(base, set, budget, verb)
  local ids = redis.call('ZRANGE', set, 0, budget - 1)
  for _, id in ipairs(ids) do
    redis.call('ZREM', set, id)
    erase(base, id)
    record(verb, id)
  end
  return #ids, redis.call('ZCARD', set)
end
