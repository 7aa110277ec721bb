-- Whether an id may be admitted: nil, or the refusal to answer with. Kind is tested before
-- existence, and a row in any state makes the id taken (protocol part 4.1).
local function refuse(row_key, id)
  if string.sub(id, 1, 3) ~= 'JOB' then return {'kind'} end
  if redis.call('EXISTS', row_key) == 1 then return {'duplicate'} end
end
