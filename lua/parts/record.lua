-- Where a transition changes a job, the durable floor will write its record here.
local function record() end
