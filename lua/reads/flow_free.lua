-- Whether jobs of a flow may be written: their kind, and that no id has a row yet.
-- keys: pending
-- args: base ids...
-- replies: {ok} | {kind, id} | {duplicate, id}
-- builds: base..job:<id>
-- flags: no-writes
for at = ids_at, #ARGV do
  if string.sub(ARGV[at], 1, 3) ~= 'JOB' then return {'kind', ARGV[at]} end
  if redis.call('EXISTS', base .. 'job:' .. ARGV[at]) == 1 then return {'duplicate', ARGV[at]} end
end
return {'ok'}
