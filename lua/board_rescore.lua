-- Set a player's total to what an operator wants, if it still is what he saw; never bring a
-- player back who has left the board.
-- keys: board best
-- args: base player wanted expected
-- replies: {ok, held} | {noop, held} it was so already | {moved, held} | {gone}
-- flags: allow-oom
-- uses: record rescore
local verdict, held = rescore(board, player, wanted, expected)
if verdict == 'ok' or verdict == 'noop' then redis.call('HSET', best, player, held) end
if verdict == 'ok' then record('board_rescore', player) end
return {verdict, held}
