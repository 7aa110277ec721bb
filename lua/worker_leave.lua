-- A worker ends in order: its presence goes with it.
-- keys: workers presence
-- args: base worker
-- replies: {ok}
-- flags: allow-oom
redis.call('ZREM', workers, worker)
redis.call('DEL', presence)
return {'ok'}
