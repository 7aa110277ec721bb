-- Return jobs whose lease has run out, a hundred at most (protocol part 4.4).
-- keys: active pending
-- args: base limit
-- replies: {ok, returned}
-- builds: base..job:<id>; of a grouped id its lane, base..ring base..paused base..glimit
--   base..gactive base..wake
-- uses: record now offer release let_go ghost give_back each
-- flags: allow-oom
local expired = redis.call('ZRANGEBYSCORE', active, '-inf', now_ms(), 'LIMIT', 0, limit)
return {'ok', each(expired, function(id) return give_back(base, id) end)}
