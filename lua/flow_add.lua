-- Write jobs of a flow that live in one queue: all of them, or none (protocol part 7.1; part 10,
-- rows 31 and 32). A job with children is held, a leaf is admitted into flat pending.
-- keys: pending
-- args: base nodes...
-- (nodes: id, payload, parent, parent_queue, policy, children; parent is empty for a root,
--  parent_queue where it is this one, policy is fp or id, children counts the direct ones)
-- replies: {ok} | {kind, id} | {duplicate, id}
-- builds: base..job:<id> and its flow keys
-- uses: record
for at = nodes_at, #ARGV, 6 do
  if string.sub(ARGV[at], 1, 3) ~= 'JOB' then return {'kind', ARGV[at]} end
  if redis.call('EXISTS', base .. 'job:' .. ARGV[at]) == 1 then return {'duplicate', ARGV[at]} end
end
redis.call('ZCARD', pending) -- a key of another type admits nothing
for at = nodes_at, #ARGV, 6 do
  local id, parent, parent_queue, children = ARGV[at], ARGV[at + 2], ARGV[at + 3], ARGV[at + 5]
  local row = base .. 'job:' .. id
  redis.call('HSET', row, 'attempts', '0', 'payload', ARGV[at + 1],
    'state', children == '0' and 'pending' or 'awaiting_children')
  if parent ~= '' then
    redis.call('HSET', row, 'parent', parent, 'parent_policy', ARGV[at + 4])
    if parent_queue ~= '' then redis.call('HSET', row, 'parent_queue', parent_queue) end
  end
  if children == '0' then
    redis.call('ZADD', pending, 0, id)
  else
    -- what an earlier job of the same id left would count its children as done already
    redis.call('DEL', row .. ':processed', row .. ':failed', row .. ':unsuccessful')
    redis.call('SET', row .. ':dependencies', children)
  end
  record('flow_add', id)
end
return {'ok'}
