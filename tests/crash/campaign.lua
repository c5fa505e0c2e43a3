-- campaign.lua -- every row of writers.lua, killed at and failed at each of its system calls, and what is there afterwards.
-- What must hold, whatever happened where:
--   * the file has what was told last (what put returned for, or told), or the step after it: never half, never less;
--   * a failure is an error, or a message and a status, that names the file and the system's reason;
--   * nothing is beside the files unless the process was killed or the disk refuses to remove it, and then until the next writing;
--   * the next writing goes on from there;
--   * no file gets its name before its bytes are durable.
-- Depends on: the table `crash` of crash_test.c, writers.lua.  Used by: crash_test.c.
local writers = dofile "tests/crash/writers.lua"

local POINTS, FEW, MANY = 2, 1, 40 -- of each row and beginning in the fast tier; of a dear row; of that in the thorough tier
local REASONS = { "Input/output error", "No space left on device", "File too large" }

local only = os.getenv "CRASH_WRITER" -- to look at one
local findings, tries = 0, 0

local function find(row, where, format, ...)
  findings = findings + 1
  if findings <= 100 then io.stderr:write(("    %s, %s: %s\n"):format(row.name, where, format:format(...))) end
end

-- ---- judging ----

local function contains(list, word)
  for _, one in ipairs(list) do
    if one == word then return true end
  end
end

local function strangers(row)
  local others = {}
  for name in pairs(crash.files()) do
    if not contains(row.files, name) then others[#others + 1] = name end
  end
  return others
end

local function well_said(row, text)
  local reason, name = false, false
  for _, word in ipairs(REASONS) do reason = reason or text:find(word, 1, true) ~= nil end
  for _, word in ipairs(row.enough or {}) do
    if text:find(word, 1, true) then return true end
  end
  for _, word in ipairs(row.says or row.files) do name = name or text:find(word, 1, true) ~= nil end
  return reason and name
end

local function put(row, made, n, tell)
  local _, why = row.put(made, n, tell or function() end)
  if why then error(why, 0) end
end

-- What is there has moved on from `told` by as much as it may; then the next writing.  nil, or what is wrong.
local function look(row, made, told, most)
  local got = row.get(made)
  if math.type(got) ~= "integer" or got < told or got > most then
    return ("%d steps were told, and %s are there"):format(told, tostring(got))
  end
  if row.exclusive and got > 0 then return end
  put(row, made, got + 1)
  local after = row.get(made)
  local wanted = got + (row.steps or 1)
  if after ~= wanted then return ("the next writing leaves %s, not %d"):format(tostring(after), wanted) end
end

local function judge(row, made, start, where, options, outcome)
  local steps = row.steps or 1
  local told = start * steps + (row.steps and outcome.told or outcome.ended == "done" and 1 or 0)
  local text = outcome.text .. outcome.shown
  if outcome.ended == "broken" then return find(row, where, "it ended by itself: %s", text) end
  if outcome.ended == "failed" and not well_said(row, text) then
    find(row, where, "the failure does not name file and reason: %s", text)
  end
  if outcome.ended == "done" and outcome.lost and outcome.lost ~= row.hints then
    find(row, where, "what was not made durable is called done")
  end
  if outcome.ended ~= "killed" and options.fate ~= "dead" and not (options.call or ""):find "unlink" then
    local others = strangers(row)
    table.move(outcome.strays or {}, 1, #(outcome.strays or {}), #others + 1, others)
    if #others > 0 then find(row, where, "%s stays behind", table.concat(others, ", ")) end
  end
  local after = crash.try { body = function() return look(row, made, told, outcome.ended == "done" and told or told + 1) end }
  if after.ended ~= "done" or after.text ~= "" then find(row, where, "%s%s", after.text, after.shown) end
  local others = strangers(row)
  if #others > 0 then find(row, where, "%s is there after the next writing", table.concat(others, ", ")) end
end

-- ---- tries ----

local function try(row, made, start, options)
  crash.empty()
  tries = tries + 1
  options.before = function()
    if row.before then row.before(made) end
    for n = 1, start do put(row, made, n) end
  end
  options.body = function(tell) put(row, made, start + 1, tell) end
  return crash.try(options)
end

local function attempt(row, made, start, options)
  local where = ("%s%s%s from %d"):format(options.fate or "limit", options.at and " at call " .. options.at or "",
    options.limit and " " .. options.limit or " (" .. (options.call or "") .. ")", start)
  judge(row, made, start, where, options, try(row, made, start, options))
end

-- What can be done to each call of a row, and the limits on the sizes of its files.
local function plans(calls, sizes)
  local list = {}
  for at, call in ipairs(calls) do
    local name, changes, grows = call:match "^%w+", call:find "changes", call:find "grows"
    local ends = name == "fsync" or name == "fdatasync" or name == "close"
    local can = { kill = changes and not ends, tear = name == "write" or name == "pwrite", fail = true,
      full = grows or ends, dead = changes }
    for _, fate in ipairs { "kill", "tear", "fail", "full", "dead" } do
      if can[fate] then list[#list + 1] = { fate = fate, at = at, call = call } end
    end
  end
  for _, size in ipairs(sizes) do list[#list + 1] = { limit = size } end
  return list
end

local function largest()
  local most = 0
  for _, size in pairs(crash.files()) do most = math.max(most, size) end
  return most
end

local function run(row, made, start, shift)
  local outcome = try(row, made, start, { fate = "count" })
  local where = ("undisturbed from %d"):format(start)
  local calls, most = outcome.calls or {}, largest()
  judge(row, made, start, where, { fate = "count" }, outcome)
  for _, name in ipairs(outcome.hasty or {}) do find(row, where, "%s gets its name before its bytes are durable", name) end
  if outcome.ended ~= "done" or #calls == 0 then
    return find(row, where, "%s, with %d calls: %s%s", outcome.ended, #calls, outcome.text, outcome.shown)
  end
  local list = plans(calls, { 0, most // 2, most - 1 })
  local points = crash.thorough and (row.dear and MANY or #list) or row.dear and FEW or POINTS
  local stride = only and 1 or math.max(1, #list // points)
  for i = 1 + shift % stride, #list, stride do attempt(row, made, start, list[i]) end
  return #calls, #list
end

-- What cannot be read is said to be so, and not to be damaged, empty or not there.
local function run_reads(row, made)
  local function reading(options)
    tries = tries + 1
    crash.empty()
    options.before = function()
      if row.before then row.before(made) end
      put(row, made, 1)
    end
    options.body = function() return row.get(made) end
    return crash.try(options)
  end
  local counted = reading { fate = "count" }
  for at, call in ipairs(counted.calls or {}) do
    if (call:find "^p?read" or call == "openat") and (crash.thorough or only) then
      local outcome = reading { fate = "dead", at = at }
      local text = outcome.text .. outcome.shown
      local same = outcome.ended == "done" and outcome.text == counted.text
      if not same and not (outcome.ended == "failed" and well_said(row, text)) then
        find(row, ("reading, dead at call %d (%s)"):format(at, call), "%s: %s", outcome.ended, text)
      end
    end
  end
end

for i, row in ipairs(writers) do
  if row.put and (not only or row.name:find(only, 1, true)) then
    local made, first, points = row.make and row.make(), tries, {}
    for start = 0, row.exclusive and 0 or 1 do
      local calls, all = run(row, made, start, i + start)
      points[#points + 1] = ("%s/%s"):format(calls, all)
    end
    run_reads(row, made)
    print(("    %-28s calls/points %-16s %5d tries"):format(row.name, table.concat(points, " "), tries - first))
  end
end
print(("    %d tries, %d findings"):format(tries, findings))
return findings
