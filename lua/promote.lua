-- Move due jobs to where claims find them, earliest first (protocol part 4.4).
-- keys: schedule pending
-- args: base batch
-- replies: {ok, moved}
-- builds: base..job:<id>; of a grouped id its lane, base..ring base..paused base..glimit
--   base..gactive base..wake
-- uses: record now offer place ghost
-- flags: allow-oom
local due = redis.call('ZRANGEBYSCORE', schedule, '-inf', now_ms(), 'LIMIT', 0, batch)
local moved = 0
for _, id in ipairs(due) do
  local row_key = base .. 'job:' .. id
  redis.call('ZREM', schedule, id)
  if is_job(row_key) then
    place(base, id, redis.call('HGET', row_key, 'group'))
    redis.call('HSET', row_key, 'state', 'pending')
    record('promote', id)
    moved = moved + 1
  else
    drop_ghost(row_key, id)
  end
end
return {'ok', moved}
