-- Tell a parent that a child in another queue, or one level below, died (protocol part 7.3).
-- Where that kills the parent, its own parent is told in turn through this queue's outbox; a
-- death that the parent ignores climbs no further.
-- keys: row pending dead
-- args: base parent child policy reason
-- replies: {ok} | {noop} told before
-- builds: row..:failed row..:unsuccessful row..:processed row..:dependencies base..flow:outbox
-- flags: allow-oom
-- uses: record fan_in fail_parent
local told = row .. (policy == 'id' and ':unsuccessful' or ':failed')
if redis.call('HEXISTS', told, child) == 1 then return {'noop'} end
local was_dead = redis.call('HGET', row, 'state') == 'dead'
fail_parent(base, parent, child, policy, reason)
if not was_dead then climb(base, parent, reason) end
record('flow_fail', parent)
return {'ok'}
