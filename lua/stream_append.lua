-- Append one record to a stream under the id that its branded id gives (protocol part 7.4).
-- keys: stream
-- args: base id entry_id pairs...
-- (pairs: field, value; the branded id stands before them as the field `id`)
-- replies: {ok} | {nonmonotonic} the stream holds a younger record; nothing written
-- uses: record
local words = {}
for at = pairs_at, #ARGV do words[#words + 1] = ARGV[at] end
local added = redis.pcall('XADD', stream, entry_id, 'id', id, unpack(words))
if type(added) == 'table' and added.err then
  if string.find(added.err, 'equal or smaller', 1, true) then return {'nonmonotonic'} end
  return added
end
record('stream_append', id)
return {'ok'}
