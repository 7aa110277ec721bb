-- The authority's half of a fold, for a Cluster, where the board is on another slot.
-- keys: best
-- args: base player score
-- replies: {ok, held} | {noop, held} | {invalid, held}
-- uses: record better
local verdict, held = better(best, player, score)
if verdict == 'ok' then record('board_fold', player) end
return {verdict, held}
