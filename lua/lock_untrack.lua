-- Take a job's markers away (protocol part 4.9).
-- keys: row lock
-- args: base
-- replies: {ok} | {noop} there were none
-- flags: allow-oom
local removed = redis.call('DEL', lock) + redis.call('HDEL', row, 'lock')
return {removed > 0 and 'ok' or 'noop'}
