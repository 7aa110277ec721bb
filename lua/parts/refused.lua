-- Which of the commands that our transitions write with the server's access list refuses whoever
-- asks, on a key like this one. Nothing is tried.
local function refused_on(key)
  local refused = {}
  for _, words in ipairs({
    {'EVALSHA', '', 1, key}, {'ZADD', key, 0, ''}, {'ZREM', key, ''}, {'HSET', key, '', ''},
    {'HDEL', key, ''}, {'HINCRBY', key, '', 1}, {'SADD', key, ''}, {'SREM', key, ''},
    {'RPUSH', key, ''}, {'LREM', key, 0, ''}, {'SET', key, ''}, {'DEL', key},
  }) do
    if not redis.acl_check_cmd(unpack(words)) then refused[#refused + 1] = words[1] end
  end
  return refused
end
