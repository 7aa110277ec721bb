-- Return expired jobs of one lane, looked for among the first `limit` expired of all (protocol
-- part 4.4).
-- keys: active lane
-- args: base lane_name limit
-- replies: {ok, returned}
-- builds: base..job:<id> base..ring base..paused base..glimit base..gactive base..wake
-- uses: record now offer release let_go ghost give_back each
-- flags: allow-oom
local expired = redis.call('ZRANGEBYSCORE', active, '-inf', now_ms(), 'LIMIT', 0, limit)
return {'ok', each(expired, function(id)
  return redis.pcall('HGET', base .. 'job:' .. id, 'group') == lane_name and give_back(base, id)
end)}
