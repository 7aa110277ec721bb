-- Settle one job as done; answers the verdict. The token must be the present one; being held still
-- is not required. A child of a flow tells its parent. Its log goes after `keep_ms`, where there is
-- such a number. Counting it is the caller's, who may have read already what is `held`.
local function done(base, id, token, result, keep_ms, held)
  local row_key = base .. 'job:' .. id
  held = held or redis.call('HMGET', row_key, 'attempts', 'group', 'parent', 'parent_queue')
  if not held[1] then return 'gone' end
  if held[1] ~= token then return 'stale' end
  -- A dead child has reported its death already.
  if held[3] and not redis.call('ZSCORE', base .. 'dead', id) then
    child_done(base, id, held[3], held[4], result)
  end
  withdraw(base, id, held[2])
  redis.call('DEL', row_key)
  if keep_ms then redis.pcall('PEXPIRE', row_key .. ':logs', keep_ms) end
  record('complete', id)
  return 'ok'
end
