-- How many jobs wait in each of the named lanes (protocol part 4.8).
-- keys: ring
-- args: base names...
-- replies: [now_ms, depth, ...] in the order of the names
-- builds: base..g:<lane>:pending
-- flags: no-writes
-- uses: now
local answer = {now_ms()}
for at = names_at, #ARGV do
  answer[#answer + 1] = redis.call('ZCARD', base .. 'g:' .. ARGV[at] .. ':pending')
end
return answer
