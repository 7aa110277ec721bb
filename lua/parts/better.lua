-- Fold a score into the hash of best totals: the verdict and the text that is held after it.
local function better(best, player, score)
  local held = redis.call('HGET', best, player)
  if held and not tonumber(held) then return 'invalid', held end
  if held and tonumber(held) >= tonumber(score) then return 'noop', held end
  if not held and tonumber(score) < 0 then score = '0' end
  redis.call('HSET', best, player, score)
  return 'ok', score
end
