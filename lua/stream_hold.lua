-- Go on holding records that a consumer has in hand, so that no other takes them over as idle
-- (protocol part 7.4). What another has taken meanwhile is not taken back.
-- keys: stream
-- args: base group consumer entries...
-- (entries: ids of entries)
-- replies: {ok, entry_id...} those that the consumer holds no more
-- flags: allow-oom
local reply = {'ok'}
for at = entries_at, #ARGV do
  local entry_id = ARGV[at]
  if #redis.call('XPENDING', stream, group, entry_id, entry_id, 1, consumer) == 0 then
    reply[#reply + 1] = entry_id
  else
    redis.call('XCLAIM', stream, group, consumer, 0, entry_id, 'JUSTID')
  end
end
return reply
