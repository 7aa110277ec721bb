-- Hand records to one consumer of a group: new ones, or those it holds already after a given one
-- (protocol part 7.4). Does not wait.
-- keys: stream
-- args: base group consumer size after
-- (after: `>` for new records, else the entry id after which the consumer's own are read again)
-- replies: {ok, entry, ...} an entry is {entry_id, {field, value, ...} | nil}
local found = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', size,
  'STREAMS', stream, after)
local answer = {'ok'}
for _, entry in ipairs(found and found[1] and found[1][2] or {}) do answer[#answer + 1] = entry end
return answer
