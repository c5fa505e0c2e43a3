-- lesson_judge.lua -- whether what was typed passes a step: names of the right kind for code, a step's check for an exercise.
-- Depends on: penumbra.lesson.code, penumbra.lesson.world.  Used by: penumbra.lesson.course.
local code = require "penumbra.lesson.code"
local world = require "penumbra.lesson.world"

local judge = {}

local function kind_of(value)
  return world.class(value) or type(value)
end

-- What the step's own code makes, as kinds by name; run on copies.
local function reference_kinds(self, step)
  local env, kinds = self:try_code(step.code), {}
  for _, name in ipairs(code.asked_for(step)) do kinds[name] = kind_of(rawget(env, name)) end
  return kinds
end

local function squeeze(text)
  return (text:gsub("[%s;]+", ""))
end

-- The lines of a text, trimmed; what is no statement by itself is marked as going on.
local function shortened(line)
  line = line:match "^%s*(.-)%s*$"
  return load(line) and line or load("return " .. line) and line or line .. " ..."
end

-- Where a text that is typed line by line may be broken off: what comes next, by the squeezed length of what stands before.
local function beginnings(text)
  local next_lines, length = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if length > 0 then next_lines[length] = next_lines[length] or shortened(line) end
    length = length + #squeeze(line)
  end
  next_lines[length] = false
  return next_lines
end

-- The next line, while the code of a step is being typed line by line and is not at its end.  self.followed is how much of it there
-- is.
local function on_the_way(self, step, entry)
  local whole, next_lines = squeeze(step.code), beginnings(step.code)
  for _, start in ipairs { self.followed, "" } do
    local followed = start .. squeeze(entry)
    local next_line = next_lines[#followed]
    if next_line ~= nil and whole:sub(1, #followed) == followed then
      self.followed = followed
      return next_line
    end
  end
end

-- Names and their fields, calls of help and print, the prompt's own %words and questions: an entry that only looks.
local function looks(entry)
  local called = entry:match "^%s*(%a+)%f[%W]"
  return called == "help" or called == "print" or entry:match "^%s*[%a_][%w_.,%s%[%]]*$" ~= nil
    or entry:find "^%s*[%%?]" ~= nil or entry:find "%?%s*$" ~= nil
end

-- Whether an entry made or changed one of these names.
local function changed(self, names)
  for _, name in ipairs(names) do
    if not rawequal(rawget(self.env, name), self.judged[name]) then return true end
  end
  return false
end

local function last_line(text)
  return shortened(text:match "([^\n]*)%s*$")
end

-- The last line of a code whose point is what it shows, and which is not this entry's.
local function unshown(self, step, entry, values)
  local last = last_line(step.code)
  local value = load("return " .. step.code) or load("return " .. last) and not load(last) -- a call at the end of several is silent
  if not value and not step.code:find "print%(" then return nil end
  local shown = self.wrote or values.n > 0 and (looks(last) or not looks(entry))
  return not shown and "still to come: " .. (value and last or "what this prints") or nil
end

-- Whether a code step's names are there and of the right kind; what is missing, when this entry made one of them.
local function judge_defines(self, step)
  local missing, made = {}, false
  for _, name in ipairs(code.asked_for(step)) do
    local value = rawget(self.env, name)
    if value == nil or rawequal(value, self.begun.names[name]) then
      missing[#missing + 1] = name
    elseif not rawequal(value, self.judged[name]) then
      made = true
    end
  end
  if #missing > 0 then
    return false, made and ("still to come: " .. table.concat(missing, ", ")) or nil
  end
  for name, kind in pairs(reference_kinds(self, step)) do
    local got = kind_of(rawget(self.env, name))
    if got ~= kind then
      return false, ("%s should be a %s, it is a %s"):format(name, kind, got)
    end
  end
  return true
end

-- true, or false and why; a check that raises has met something of a kind that it did not expect.  `instead`: values by name to be
-- judged in place of the learner's.
local function judge_check(self, step, values, instead)
  local view = world.view(self.env, self.originals, self.lessons_world)
  local value = world.copy(values[1], {}, self.originals, true)
  for name, other in pairs(instead or {}) do view[name] = other end
  local fine, passed, why = pcall(step.check, view, value)
  if not fine then
    if require "penumbra.stopped"(passed) then error(passed, 0) end
    local reason = tostring(passed):gsub("^[^\n]-:%d+: ", "")
    return false, "that is not of the kind that is asked for (" .. reason .. ")"
  end
  return passed == true, type(why) == "string" and why or "not what is asked for"
end

function judge.check(self, values)
  return judge_check(self, self:step(), values)
end

-- What no exercise takes for what it asks: nan, and anything but a function where a function is to be written.
local function unfit(self, step, wanted)
  for _, name in ipairs(wanted) do
    local value = rawget(self.env, name)
    if value ~= value then
      return ("%s is nan, not a number: somewhere it was 0/0 or the like"):format(name)
    elseif value ~= nil and type(value) ~= "function" and step.answer:find("function " .. name .. "%s*%(") then
      return ("%s should be a function, it is a %s"):format(name, kind_of(value))
    end
  end
end

-- Whether an entry sets one of the wanted names, or a place in one: lines on the way to an answer, and looks at it, are not judged.
local function is_attempt(self, entry, wanted)
  if #wanted == 0 then return true end
  if changed(self, wanted) then return true end
  for _, name in ipairs(wanted) do
    for _, set in ipairs { "%s*=[^=]", "%s*,[%s%w_,]*=[^=]", "%s*%b[]%s*=[^=]" } do
      if entry:find("%f[%w_]" .. name .. set) then return true end
    end
  end
  return false
end

-- For a value that would be right and was not kept: what to do with it.
local function unkept(self, step, wanted, values)
  if values.n == 0 or values.n ~= #wanted then return nil end
  local instead = {}
  for i, name in ipairs(wanted) do
    if values[i] == nil or values[i] ~= values[i] then return nil end
    instead[name] = world.copy(values[i], {}, self.originals, true)
  end
  if judge_check(self, step, values, instead) then
    return ("the value is right, and kept nowhere: set %s to it"):format(table.concat(wanted, ", "))
  end
end

-- An exercise by the names as they are: true, or false, why not, and what is to be done where a value alone is right.
-- `self` has env, originals and lessons_world.
function judge.exercise(self, step, values)
  local wanted = code.wanted(step)
  local passed, why = false, unfit(self, step, wanted)
  if not why then passed, why = judge_check(self, step, values) end
  return passed, why, not passed and unkept(self, step, wanted, values) or nil
end

local function judge_exercise(self, step, entry, values)
  local passed, reason, remedy = judge.exercise(self, step, values)
  if passed or is_attempt(self, entry, code.wanted(step)) then
    return passed, reason
  end
  return false, remedy
end

-- Looking at something is no attempt, unless a value is what is asked for.
local function only_looks(step, entry)
  return step.ask and looks(entry) and not load("return " .. step.answer, "=answer", "t", {})
end

local function judge_code(self, step, entry, values)
  if step.check then
    local passed, why = judge_check(self, step, values)
    local names = code.asked_for(step)
    if not passed then return false, #names > 0 and is_attempt(self, entry, names) and why or nil end
  elseif self.followed ~= squeeze(step.code) and #code.asked_for(step) > 0 then
    local passed, why = judge_defines(self, step)
    if not passed then return false, why end
  end
  local missing = unshown(self, step, entry, values)
  return not missing, missing
end

-- Whether an entry that ran passes the step: true, or false and why not, nil where there is nothing to say.
local function judge_entry(self, entry, values)
  local step = self:step()
  local next_line = step.code and on_the_way(self, step, entry)
  if next_line then
    return false, "still to come: " .. next_line
  elseif only_looks(step, entry) then
    return false
  elseif step.ask then
    return judge_exercise(self, step, entry, values)
  end
  return judge_code(self, step, entry, values)
end

-- Whether an exercise is done though its last entry ended in an error, as a loop that spends until it is refused.
function judge.despite_error(self)
  local step = self:step()
  if not step.ask then return false end
  local wanted = code.wanted(step)
  if #wanted > 0 and not changed(self, wanted) or unfit(self, step, wanted) then return false end
  return (judge_check(self, step, { n = 0 }))
end

return setmetatable(judge, { __call = function(_, ...) return judge_entry(...) end })
