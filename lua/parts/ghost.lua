-- An id may stand in a set without a job behind it: no row, a row of another type, or a row
-- without a payload (protocol part 10, row 6). Such a ghost is never handed to anybody.
local function is_job(row_key) return redis.pcall('HEXISTS', row_key, 'payload') == 1 end

-- Forget a ghost that was taken out of its set. What is left of a row goes too where it is a
-- job's bookkeeping (it has a state); any other key is somebody else's and stays.
local function drop_ghost(row_key, id)
  if redis.pcall('HEXISTS', row_key, 'state') == 1 then redis.call('DEL', row_key) end
  record('drop_ghost', id)
end
