-- Move due jobs to where claims find them, earliest first (protocol part 4.4).
-- keys: schedule pending
-- args: base batch
-- replies: {ok, moved}
-- builds: base..job:<id>; of a grouped id its lane, base..ring base..paused base..glimit
--   base..gactive base..wake
-- uses: record now offer place ghost each
-- flags: allow-oom
local due = redis.call('ZRANGEBYSCORE', schedule, '-inf', now_ms(), 'LIMIT', 0, batch)
return {'ok', each(due, function(id)
  local row_key = base .. 'job:' .. id
  local job = is_job(row_key)
  if job then place(base, id, redis.call('HGET', row_key, 'group')) end
  redis.call('ZREM', schedule, id)
  if not job then
    drop_ghost(row_key, id)
    return false
  end
  redis.call('HSET', row_key, 'state', 'pending')
  record('promote', id)
  return true
end)}
