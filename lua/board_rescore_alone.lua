-- The board's half of a re-score, for a Cluster, where the best totals are on another slot.
-- keys: board
-- args: base player wanted expected
-- replies: {ok, held} | {noop, held} | {moved, held} | {gone}
-- flags: allow-oom
-- uses: record rescore
local verdict, held = rescore(board, player, wanted, expected)
if verdict == 'ok' then record('board_rescore', player) end
return {verdict, held}
