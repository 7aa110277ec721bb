-- Give a held job's row its marker field and the field a life of its own. Where the server
-- cannot expire a field it goes without: a marker for ever would refuse every removal.
local function mark(row, token, life_ms)
  redis.call('HSET', row, 'lock', token)
  local expiry = redis.pcall('HPEXPIRE', row, life_ms, 'FIELDS', 1, 'lock')
  if expiry.err then redis.call('HDEL', row, 'lock') end
end
