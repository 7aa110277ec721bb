-- Admit many jobs into flat pending, each by itself (protocol part 4.1).
-- keys: pending
-- args: base items...
-- replies: {done, verdict...} in the order of the (id, payload) items, each verdict enqueued, or
--   duplicate: the id has a row, or kind: not a JOB id, or the error that it met
-- builds: base..job:<id>
-- uses: record refuse
local clash = redis.pcall('ZCARD', pending)
clash = type(clash) == 'table' and '-' .. clash.err -- a key of another type admits nothing
local reply, waiting = {'done'}, {}
for at = items_at, #ARGV, 2 do
  local id = ARGV[at]
  local row = base .. 'job:' .. id
  local refusal = refuse(row, id)
  if refusal then
    reply[#reply + 1] = refusal[1]
  elseif clash then
    reply[#reply + 1] = clash
  else
    redis.call('HSET', row, 'state', 'pending', 'attempts', '0', 'payload', ARGV[at + 1])
    waiting[#waiting + 1] = '0'
    waiting[#waiting + 1] = id
    record('enqueue', id)
    reply[#reply + 1] = 'enqueued'
  end
end
if #waiting > 0 then redis.call('ZADD', pending, unpack(waiting)) end
return reply
