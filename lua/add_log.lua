-- Append one line to a job's log, keeping the last `keep` lines, 0 for all (protocol part 4.5).
-- keys: row logs
-- args: base id line keep
-- replies: {ok, lines} | {gone} no row
-- uses: record
if redis.call('EXISTS', row) == 0 then return {'gone'} end
local lines = redis.call('RPUSH', logs, line)
redis.call('PERSIST', logs) -- an earlier job of this id may have left a log that ends
keep = tonumber(keep)
if keep > 0 then
  redis.call('LTRIM', logs, -keep, -1)
  lines = math.min(keep, lines)
end
record('add_log', id)
return {'ok', lines}
