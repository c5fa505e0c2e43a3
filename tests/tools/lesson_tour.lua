-- lesson_tour.lua -- a learner at a terminal of 80 columns and 24 lines, who plays a lesson entry by entry: play(lesson).
-- Depends on: luassert, tests.tools.tour.  Used by: tests/bindings/prompt/repl_tour_spec.lua.
local assert = require "luassert"
local tour = require "tests.tools.tour"

local LINES, WIDTH = 24, 80
local ABOVE = 2 -- lines of an entry's own answer that the next step may push off the screen

local function lines_of(text)
  local list = {}
  for line in (text:gsub("%s+$", "") .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = line:gsub("%s+$", "") end
  return list
end

-- What the terminal has shown since it was cleared, lines that were wider than it as one.
local function shown(screen)
  return lines_of(screen:tmux "capture-pane -pJ -S -")
end

-- What a learner enters at a step: its code, an answer to its question, or Enter.
local function entry_of(step)
  return (step.code or step.answer or ""):gsub("%s+$", "")
end

-- Enter it and wait for the next prompt.  What came after the entry must be narrow, and on the screen but for a line or two.
local function enter(screen, entry, prompt, where)
  screen:press "C-l"
  screen:expect "^[%w_]+ %d+/%d+> *$"
  screen:tmux "clear-history"
  if entry:find "%S" then screen:paste(entry) end
  screen:press "Enter"
  screen:expect(prompt)
  local typed = #lines_of(entry)
  local lines = shown(screen)
  for i = typed + 1, #lines do
    assert.is_true((utf8.len(lines[i]) or #lines[i]) <= WIDTH, where .. " is too wide: " .. lines[i])
  end
  assert.is_true(#lines - typed <= LINES + ABOVE, where .. " scrolls away:\n" .. table.concat(lines, "\n"))
end

local function play(screen, one)
  local count = #one.steps
  screen:type(("lesson %q"):format(one.name))
  screen:press "Enter"
  screen:expect(("%s 1/%d> *$"):format(one.name, count))
  for i, step in ipairs(one.steps) do
    local where = ("%s, step %d (%s)"):format(one.name, i, step.id)
    assert.matches(("-- %d of %d: %s"):format(i, count, step.id), screen:text(), 1, true)
    enter(screen, entry_of(step), i < count and ("\n%s %d/%d> *$"):format(one.name, i + 1, count) or "\npn> *$", where)
  end
end

return function(one)
  local progress = os.tmpname()
  local screen = tour.open("NO_COLOR=1 PENUMBRA_STARTUP= PENUMBRA_PROGRESS=" .. progress)
  local fine, message = pcall(play, screen, one)
  screen:close()
  os.remove(progress)
  if not fine then error(message, 0) end
end
