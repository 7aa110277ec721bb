-- Do something with each of many jobs. One that a key of another type hinders stays where it is and
-- holds up none behind it; where all of them are hindered, that is told. Answers how many it was
-- done with and said yes.
local function each(ids, act, ...)
  local count, trouble = 0, nil
  for _, id in ipairs(ids) do
    local went, answer = pcall(act, id, ...)
    if not went then
      trouble = type(answer) == 'table' and answer.err or answer
    elseif answer then
      count = count + 1
    end
  end
  if trouble and count == 0 then error({err = trouble}) end
  return count
end
