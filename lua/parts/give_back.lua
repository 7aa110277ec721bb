-- End a lease that has run out and let the job wait again; attempts stay, so the next claim
-- fences the old holder. Answers whether there was a job to return.
local function give_back(base, id)
  local row_key = base .. 'job:' .. id
  local job = is_job(row_key)
  local lane_name = job and redis.call('HGET', row_key, 'group')
  let_go(base, id, lane_name)
  if not job then
    drop_ghost(row_key, id)
    return false
  end
  place(base, id, lane_name)
  redis.call('HSET', row_key, 'state', 'pending')
  record('reap', id)
  return true
end
