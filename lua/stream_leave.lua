-- Forget a consumer that holds nothing; one that holds records stays, or they would be lost to the
-- group (protocol part 7.4).
-- keys: stream
-- args: base group consumer
-- replies: {ok} | {noop} it holds records
-- flags: allow-oom
if #redis.call('XPENDING', stream, group, '-', '+', 1, consumer) > 0 then return {'noop'} end
redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer)
return {'ok'}
