-- Delete jobs of flat pending or of the schedule, first ones first, at most `budget` of them
-- (protocol part 4.6; part 10, row 25). Lanes, held and dead jobs, repeats and counters stay.
-- keys: waiting
-- args: base budget
-- replies: {ok, removed, 0} the set is empty | {more, removed, left}
-- builds: base..job:<id> and what hangs on it
-- flags: allow-oom
-- uses: record erase drain_oldest
local removed, left = drain_oldest(base, waiting, budget, 'queue_drain')
return {left > 0 and 'more' or 'ok', removed, left}
