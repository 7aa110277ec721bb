-- One page of a board in rank order, from the place `first` on, counted from 0. Equal scores stand in
-- reverse byte order of the player and share a rank (protocol part 8.3).
-- keys: board
-- args: first size
-- replies: {now_ms, players, rank of the first, {player, score, ...}}
-- uses: now
-- flags: no-writes
local page = redis.call('ZRANGE', board, first, first + size - 1, 'REV', 'WITHSCORES')
local rank = #page > 0 and redis.call('ZCOUNT', board, '(' .. page[2], '+inf') + 1 or 0
return {now_ms(), redis.call('ZCARD', board), rank, page}
