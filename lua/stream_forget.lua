-- Forget records that were parked beside a stream, and the place where they were with the last one
-- (protocol part 10, row 48).
-- keys: parked
-- args: base notes...
-- (notes: ids of the entries that tell of them)
-- replies: {ok, forgotten}
-- flags: allow-oom
-- uses: record
local forgotten = 0
for at = notes_at, #ARGV do
  forgotten = forgotten + redis.call('XDEL', parked, ARGV[at])
  record('stream_forget', ARGV[at])
end
if #redis.call('XRANGE', parked, '-', '+', 'COUNT', 1) == 0 then redis.call('DEL', parked) end
return {'ok', forgotten}
