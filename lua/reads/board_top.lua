-- The first players of a board, best first, as the server orders them (protocol part 8.3).
-- keys: board
-- args: base size
-- replies: [now_ms, players, player, score, ...]
-- flags: no-writes
-- uses: now
local answer = {now_ms(), redis.call('ZCARD', board)}
local top = redis.call('ZREVRANGE', board, 0, size - 1, 'WITHSCORES')
for at = 1, #top do answer[#answer + 1] = top[at] end
return answer
