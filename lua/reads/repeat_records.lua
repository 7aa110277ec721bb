-- One step of a scan for repeat records that no member of the registry names: at most `page` keys
-- are walked. The script runs on the node of the queue, so the scan sees its slot.
-- keys: registry
-- args: base cursor page
-- replies: {cursor, name, ...}
-- flags: no-writes
local prefix = base .. 'repeat:'
local pattern = string.gsub(prefix, '[%*%?%[%]\\]', '\\%0') .. '*'
local step = redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', page, 'TYPE', 'hash')
local found = {step[1]}
for _, key in ipairs(step[2]) do
  local name = string.sub(key, #prefix + 1)
  if not redis.call('ZSCORE', registry, name) then found[#found + 1] = name end
end
return found
