-- Admit one run of a repeat, paused or not, and leave its next run where it is.
-- keys: record_key row pending runs
-- args: base name id
-- replies: {enqueued} | {duplicate} | {kind} | {absent} no template to run
-- uses: record now repeat_admit
if string.sub(id, 1, 3) ~= 'JOB' then return {'kind'} end
if redis.call('EXISTS', row) == 1 then return {'duplicate'} end
local template = redis.call('HGET', record_key, 'template')
if not template then return {'absent'} end
repeat_admit(base, row, runs, id, name, template, '-', now_ms())
record('repeat_run_now', id)
return {'enqueued'}
