-- Tell a parent that a child in another queue completed (protocol part 7.2). Telling it twice
-- counts once.
-- keys: row pending
-- args: base parent child result
-- replies: {ok}
-- builds: row..:processed row..:unsuccessful row..:dependencies
-- flags: allow-oom
-- uses: record fan_in
fan_in(base, parent, child, result)
record('flow_deliver', parent)
return {'ok'}
