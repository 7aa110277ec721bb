-- The repeats due at `at_ms`, soonest first, each with its record (protocol part 4.7).
-- keys: repeat_set
-- args: base at_ms limit
-- (at_ms: the caller's clock, or empty for the server's)
-- replies: [now_ms, [name, score, every_ms | nil, template | nil], ...]
-- builds: base..repeat:<name>
-- flags: no-writes
-- uses: now
local clock_ms = now_ms()
local upto = at_ms == '' and clock_ms or at_ms
local due = redis.call('ZRANGEBYSCORE', repeat_set, '-inf', upto, 'WITHSCORES', 'LIMIT', 0, limit)
local answer = {clock_ms}
for at = 1, #due, 2 do
  local fields = redis.call('HMGET', base .. 'repeat:' .. due[at], 'every_ms', 'template')
  answer[#answer + 1] = {due[at], due[at + 1], fields[1], fields[2]}
end
return answer
