-- Replace a job's payload, in whatever state it is (protocol part 4.5); where a digest is given, only
-- while the payload is the one that was seen, and not by itself. Hashing costs time, so a long one
-- is not compared.
-- keys: row
-- args: base id payload expected_sha1
-- replies: {ok} | {noop} it carries that payload already | {gone} no row | {moved} another payload
--   | {invalid} too long to be compared
-- uses: record
if redis.call('EXISTS', row) == 0 then return {'gone'} end
if expected_sha1 ~= '' then
  if redis.call('HSTRLEN', row, 'payload') > 1048576 then return {'invalid'} end
  local held = redis.call('HGET', row, 'payload') or ''
  if held == payload then return {'noop'} end
  if redis.sha1hex(held) ~= expected_sha1 then return {'moved'} end
end
redis.call('HSET', row, 'payload', payload)
record('update_data', id)
return {'ok'}
