-- A board: its head in rank order and the neighbours of one player. Equal scores stand in reverse
-- byte order of the player and share a rank, which is one more than the players above them.
-- keys: board
-- args: top player around
-- replies: {absent, now_ms} | {board, now_ms, players, top, rank, first, first_rank, neighbours, refused}
-- uses: now refused
-- flags: no-writes
local now = now_ms()
local players = redis.call('ZCARD', board)
if players == 0 then return {'absent', now} end
local first = redis.call('ZRANGE', board, 0, top - 1, 'REV', 'WITHSCORES')
local place = player ~= '' and redis.call('ZREVRANK', board, player)
if not place then return {'board', now, players, first, false, 0, 0, {}, refused_on(board)} end
local from = math.max(0, place - around)
local beside = redis.call('ZRANGE', board, from, from + 2 * around, 'REV', 'WITHSCORES')
local shared = redis.call('ZCOUNT', board, '(' .. redis.call('ZSCORE', board, player), '+inf') + 1
local opening = redis.call('ZCOUNT', board, '(' .. beside[2], '+inf') + 1
return {'board', now, players, first, shared, from, opening, beside, refused_on(board)}
