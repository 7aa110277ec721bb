-- Make a consumer group, and the stream where there is none (protocol part 7.4).
-- keys: stream
-- args: base group from
-- (from: `$` for what comes, `0` for all that is there)
-- replies: {ok} | {exists}
local made = redis.pcall('XGROUP', 'CREATE', stream, group, from, 'MKSTREAM')
if made.err then
  if string.find(made.err, 'BUSYGROUP', 1, true) then return {'exists'} end
  return made
end
return {'ok'}
