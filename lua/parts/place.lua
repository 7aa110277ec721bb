-- Put a job where claims find it: into its lane, offering the lane, or into flat pending.
local function place(base, id, lane_name)
  if lane_name then
    redis.call('ZADD', base .. 'g:' .. lane_name .. ':pending', 0, id)
    offer(base, lane_name, tonumber(redis.call('HGET', base .. 'gactive', lane_name)) or 0)
  else
    redis.call('ZADD', base .. 'pending', 0, id)
  end
end
