-- Mark a claimed job as held (protocol part 4.9; part 10, row 28).
-- keys: row lock
-- args: base token life_ms
-- replies: {ok} | {gone} no row, nothing written
-- flags: allow-oom
-- uses: mark
if redis.call('EXISTS', row) == 0 then return {'gone'} end
redis.call('SET', lock, token, 'PX', life_ms)
mark(row, token, life_ms)
return {'ok'}
