-- One step of a scan for boards on one primary: at most `page` keys are walked; a game is taken
-- from a sorted set named cm:GAME:board, whatever colons the game holds.
-- keys:
-- args: cursor page
-- replies: {cursor, game, ...}
-- flags: no-writes
local step = redis.call('SCAN', cursor, 'MATCH', 'cm:*:board', 'COUNT', page, 'TYPE', 'zset')
local found = {step[1]}
for _, key in ipairs(step[2]) do found[#found + 1] = string.sub(key, 4, -7) end
return found
