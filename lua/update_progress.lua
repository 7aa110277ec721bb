-- Note a job's progress and publish it (protocol parts 4.5 and 5.2).
-- keys: row
-- args: base id progress
-- replies: {ok} | {gone} no row
-- builds: channel base..events
-- uses: record
if redis.call('EXISTS', row) == 0 then return {'gone'} end
redis.call('HSET', row, 'progress', progress)
redis.call('PUBLISH', base .. 'events',
  cjson.encode({event = 'progress', job = id, progress = progress}))
record('update_progress', id)
return {'ok'}
