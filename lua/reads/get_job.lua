-- All fields of one job's row (protocol part 5.1). A row with more fields than any engine writes
-- answers with the known ones alone.
-- keys: row
-- args: most known...
-- replies: {now_ms, fields_in_all, {field, value...}} empty where there is no row
-- flags: no-writes
-- uses: now
local fields = redis.call('HLEN', row)
if fields <= tonumber(most) then return {now_ms(), fields, redis.call('HGETALL', row)} end
local found = {}
for at = known_at, #ARGV do
  local value = redis.call('HGET', row, ARGV[at])
  if value then
    found[#found + 1] = ARGV[at]
    found[#found + 1] = value
  end
end
return {now_ms(), fields, found}
