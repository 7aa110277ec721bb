-- Compare and set one member's score: the verdict and the score that the board then holds, as
-- the server prints it. Scores are compared as numbers: a board that holds minus zero is shown
-- as holding zero.
local function rescore(board, player, wanted, expected)
  local held = redis.call('ZSCORE', board, player)
  if not held then return 'gone', nil end
  if held == wanted then return 'noop', held end
  if held ~= expected and tonumber(held) ~= tonumber(expected) then return 'moved', held end
  redis.call('ZADD', board, 'XX', wanted, player)
  return 'ok', redis.call('ZSCORE', board, player)
end
