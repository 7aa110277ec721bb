-- Take a record that a group cannot deal with out of its way: acknowledge it, and keep what it
-- was, with who failed at it and why, in a stream beside (protocol part 10, row 48).
-- keys: stream parked
-- args: base group consumer entry_id deliveries reason most
-- (most: about how many are kept)
-- replies: {ok} | {gone} the consumer does not hold it
-- uses: record
if #redis.call('XPENDING', stream, group, entry_id, entry_id, 1, consumer) == 0 then
  return {'gone'}
end
local entry = redis.call('XRANGE', stream, entry_id, entry_id)[1]
local fields = entry and entry[2] or {}
-- Of a record that one command of a script cannot carry, the id alone: the rest is in the stream.
if #fields > 7000 then fields = {fields[1], fields[2], 'py_fields', #fields / 2} end
redis.call('XADD', parked, 'MAXLEN', '~', most, '*', 'py_place', entry_id, 'py_group', group,
  'py_deliveries', deliveries, 'py_reason', reason, unpack(fields))
redis.call('XACK', stream, group, entry_id)
record('stream_park', entry_id)
return {'ok'}
