-- Let a dead job wait again, in its lane where it has one. Attempts stay as they are, or an old
-- holder's token would be valid again (protocol part 4.5, part 10 row 11).
-- keys: row dead pending
-- args: base id
-- replies: {ok} | {gone} no row, or none with a payload | {not_dead}
-- builds: lane of the job, base..ring base..paused base..glimit base..gactive base..wake
-- uses: record offer place ghost
-- flags: allow-oom
if not is_job(row) then return {'gone'} end
if not redis.call('ZSCORE', dead, id) then return {'not_dead'} end
place(base, id, redis.call('HGET', row, 'group'))
redis.call('ZREM', dead, id)
redis.call('HDEL', row, 'last_error')
redis.call('HSET', row, 'state', 'pending')
record('reprocess_job', id)
return {'ok'}
