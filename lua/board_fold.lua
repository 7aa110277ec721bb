-- Keep the better of a player's held and new total, on the board and beside it (protocol part
-- 8.3; part 10, row 51).
-- keys: best board
-- args: base player score
-- (base: `cm:<game>:`; best is the authority, an absent player holds 0)
-- replies: {ok, held} it rose or was new | {noop, held} | {invalid, held} what is held is no number
-- uses: record better
local verdict, held = better(best, player, score)
if verdict ~= 'invalid' then redis.call('ZADD', board, held, player) end
if verdict == 'ok' then record('board_fold', player) end
return {verdict, held}
