-- End a lease that has run out and let the job wait again; attempts stay, so the next claim
-- fences the old holder. Its lease ends last: where it cannot wait, it stays. Answers whether there
-- was a job to return.
local function give_back(base, id)
  local row_key = base .. 'job:' .. id
  local job = is_job(row_key)
  if not job then
    let_go(base, id)
    drop_ghost(row_key, id)
    return false
  end
  local lane_name = redis.call('HGET', row_key, 'group')
  redis.call('ZADD', base .. (lane_name and 'g:' .. lane_name .. ':pending' or 'pending'), 0, id)
  let_go(base, id, lane_name)
  redis.call('HSET', row_key, 'state', 'pending')
  record('reap', id)
  return true
end
