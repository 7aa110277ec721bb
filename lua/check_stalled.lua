-- Return jobs whose lease has run out, counting it on each; one that stalled `max_stalled` times
-- dies, frees its lane and tells its parent (protocol part 4.4, part 10 row 13).
-- keys: active pending dead
-- args: base max_stalled limit
-- replies: {ok, {recovered id...}, {dead id...}}
-- builds: base..job:<id>; lane and ring of a grouped id; parent and outbox of a flow's child;
--   base..metrics:failed
-- uses: record now offer release let_go ghost give_back withdraw bury fan_in fail_parent each
-- flags: allow-oom
local expired = redis.call('ZRANGEBYSCORE', active, '-inf', now_ms(), 'LIMIT', 0, limit)
local recovered, buried = {}, {}
each(expired, function(id)
  local row_key = base .. 'job:' .. id
  -- A count that is no number counts as used up, so that one broken row stops no sweep.
  local stalls = is_job(row_key) and redis.pcall('HINCRBY', row_key, 'stalled', 1)
  if not stalls or (type(stalls) == 'number' and stalls < tonumber(max_stalled)) then
    if not give_back(base, id) then return false end
    recovered[#recovered + 1] = id
  else
    bury(base, id, 'stalled')
    withdraw(base, id, redis.call('HGET', row_key, 'group'), 'dead')
    child_died(base, id, 'stalled')
    record('check_stalled', id)
    buried[#buried + 1] = id
  end
  return true
end)
return {'ok', recovered, buried}
