-- tour.lua -- a tester at an 80-column terminal: types each feature of the prompt and waits for what the screen shows.
-- Usage: lua tests/tools/tour.lua, in the tree's root; prints a line for each feature.  PENUMBRA names another program.
-- Depends on: tmux, tests.tools.program.  Used by: tests/bindings/prompt/repl_tour_spec.lua.
local program = require "tests.tools.program"

local PATIENCE = 1200 -- looks at the screen, 0.1 s apart: a guard against hanging, not a measure

local tour = {}

local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  pipe:close()
  return text
end

function tour.available()
  return shell "command -v tmux" ~= ""
end

local Screen = {}
Screen.__index = Screen

-- A terminal with the prompt in it: `settings` are words for env, as "NO_COLOR=1".
function tour.open(settings, folder)
  local name = os.tmpname()
  os.remove(name)
  local self = setmetatable({ socket = name, history = name .. ".history" }, Screen)
  local path = program.path:find "^/" and program.path or shell("pwd"):gsub("\n", "") .. "/" .. program.path
  local command = ("cd %s && exec env INPUTRC=/dev/null PENUMBRA_HISTORY=%s %s %s"):format(
    program.quote(folder or "."), self.history, settings or "", program.quote(path))
  self:tmux("-f /dev/null new-session -d -x 80 -y 24 " .. program.quote(command))
  self:expect "pn> $"
  return self
end

function Screen:tmux(words)
  return shell(("env -u TMUX tmux -S %s %s"):format(self.socket, words))
end

-- What stands on the screen; `escapes`: with colours.
function Screen:text(escapes)
  local text = self:tmux("capture-pane -p " .. (escapes and "-e" or ""))
  return (text:gsub("%s*$", ""):gsub("pn>$", "pn> "))
end

-- Wait until the screen shows a pattern.
function Screen:expect(pattern, escapes)
  local text
  for _ = 1, PATIENCE do
    text = self:text(escapes)
    if text:find(pattern) then return text end
    shell "sleep 0.1"
  end
  error(("the screen does not show %q:\n%s"):format(pattern, text), 2)
end

function Screen:type(text)
  self:tmux("send-keys -l -- " .. program.quote((text:gsub(";$", "\\;")))) -- a last ";" would be tmux's own
end

-- Paste, as a terminal does: several lines are one entry.
function Screen:paste(text)
  local path = os.tmpname()
  program.write_all(path, text)
  self:tmux("load-buffer " .. path)
  self:tmux "paste-buffer -p"
  os.remove(path)
end

function Screen:press(...)
  self:tmux("send-keys " .. table.concat({ ... }, " "))
end

-- A fresh screen, then an entry and Enter; waits for the prompt after it and for the pattern.
function Screen:enter(text, pattern)
  self:press "C-l"
  self:expect "^pn> $"
  self:type(text)
  self:press "Enter"
  local shown = self:expect "\npn> $"
  if pattern and not shown:find(pattern) then
    error(("%s does not show %q:\n%s"):format(text, pattern, shown), 2)
  end
  for line in self:tmux("capture-pane -pJ"):gmatch "[^\n]+" do -- wrapped lines as one
    line = line:gsub("%s+$", "")
    if (utf8.len(line) or #line) > 80 then
      error(("%s shows a line that is too wide:\n%s"):format(text, line), 2)
    end
  end
  return shown
end

-- A fresh screen, what is typed and Tab; waits for the pattern, and drops the line.
function Screen:tab(text, pattern)
  self:press "C-l"
  self:expect "^pn> $"
  self:type(text)
  self:press "Tab"
  local shown = self:expect(pattern)
  self:press("C-e", "C-u")
  return shown
end

function Screen:close()
  self:tmux "kill-server"
  os.remove(self.history)
  os.remove(self.socket)
end

-- ---- the features ----

local features = {}
tour.features = features

local function feature(name, play)
  features[#features + 1] = { name = name, play = play }
end

feature("numbers results, keeps them, and is silent at a semicolon", function(s)
  s:enter("6 * 7", "_1 = 42\n")
  s:enter("x = 5", "x = 5\npn> $")
  s:enter("_1 + x", "_2 = 47\n")
  s:enter("_ + 1;", "_ %+ 1;\npn> $")
  s:enter("_3", "_4 = 48\n")
end)

feature("edits an entry of several lines as a whole", function(s)
  s:press "C-l"
  s:type "for i = 1, 2 do"
  s:press "Enter"
  s:expect "%.%.>"
  s:type "print(i * 111)"
  s:press "Enter"
  s:expect "%.%.>   print%(i %* 111%)\n%.%.>"
  s:type "end"
  s:press "Enter"
  s:expect "%.%.> end\n111\n222\npn> $"
  s:press "Up"
  s:expect "222\npn> for i = 1, 2 do\n%.%.>   print%(i %* 111%)\n%.%.> end$"
  s:press("Up", "C-e", "BSpace")
  s:type " + 1)"
  s:expect "111 %+ 1%)"
  s:press "Enter"
  s:expect "112\n223\npn> $"
end)

feature("breaks a line at Alt-Enter and takes a paste as one entry", function(s)
  s:press "C-l"
  s:type "a = 20"
  s:press "M-Enter"
  s:expect "%.%.>"
  s:type "a + 1"
  s:press "Enter"
  s:expect "= 21\npn> $"
  s:tmux("set-buffer " .. program.quote "b = 30\nb + 3")
  s:tmux "paste-buffer -p"
  s:expect "b = 30\n%.%.> b %+ 3"
  s:press "Enter"
  s:expect "= 33\npn> $"
end)

feature("shows the part around the cursor of an entry that is higher than the screen", function(s)
  local lines = { "function tall(n)" }
  for i = 1, 60 do lines[#lines + 1] = ("  local a%d = n + %d"):format(i, i) end
  s:press "C-l"
  s:tmux("set-buffer " .. program.quote(table.concat(lines, "\n") .. "\n  return a60\nend\ntall(7)"))
  s:tmux "paste-buffer -p"
  s:expect "^pn> %(%d+ lines above%)\n.-a60 = n %+ 60\n%.%.>   return a60\n%.%.> end\n%.%.> tall%(7%)$"
  s:press("C-a", "C-a")
  s:expect "^pn> function tall%(n%)\n.-\n%(%d+ lines below%)$"
  s:press "Enter"
  s:expect "a60 = n %+ 60\n.-= 67\npn> $"
  s:press "Up"
  s:expect "%.%.> tall%(7%)$"
  s:press "C-c"
  s:expect "\npn> $"
end)

feature("draws the line anew where the window has another size", function(s)
  s:enter("1 + 1", "= 2\n") -- above the line, so that it stays on the screen
  s:type "narrow = {epsilon = 1, delta = 1e-6, iterations = 40}"
  s:expect "40}$"
  s:tmux "resize-window -x 40 -y 24"
  s:expect "= 2\npn> narrow = {epsilon = 1, delta = 1e%-6,\n iterations = 40}$"
  s:type " -- x"
  s:expect "= 2\npn> narrow = {epsilon = 1, delta = 1e%-6,\n iterations = 40} %-%- x$"
  s:tmux "resize-window -x 80 -y 24"
  s:expect "= 2\npn> narrow = {epsilon = 1, delta = 1e%-6, iterations = 40} %-%- x$"
  s:press "Enter"
  s:expect "x\npn> $"
end)

feature("shows the line again when it goes on after it was stopped", function(s)
  s:press "C-l"
  s:expect "^pn> $"
  s:type "x = 12 +"
  s:expect "12 %+$"
  local process = s:tmux("display-message -p '#{pane_pid}'"):match "%d+"
  shell("kill -STOP " .. process)
  shell("kill -CONT " .. process)
  s:expect "x = 12 %+%s*pn> x = 12 %+$"
  s:press "C-c"
  s:expect "\npn> $"
end)

feature("searches the history by what is typed, and with Ctrl-R", function(s)
  s:enter "first_name = 1"
  s:enter "second_name = 2"
  s:press "C-l"
  s:expect "^pn> $"
  s:type "fir"
  s:press "Up"
  s:expect "pn> first_name = 1$"
  s:press "C-c"
  s:expect "\npn> $"
  s:press "C-r"
  s:expect "search"
  s:type "cond"
  s:expect "second_name = 2$"
  s:press "C-c"
  s:expect "\npn> $"
end)

feature("completes names, fields, options, values, files, and its own words", function(s)
  s:tab("pn.vers", "pn> pn%.version$")
  s:tab("solve.frank_wolfe_c", "frank_wolfe_convex$")
  s:tab("solve.svrg(obj, {ep", "epochs=%s+epsilon=")
  s:tab("solve.svrg(obj, {epsilon = 1, del", "delta=$")
  s:tab('solve.svrg(obj, {neighbours = "add', '"add_remove"$')
  s:tab("%hist", "pn> %%history$")
  s:tab("?frank_wolfe_c", "frank_wolfe_convex$")
  s:tab('x = "/etc/pass', "/etc/passwd")
  s:tab('lesson "gau', 'lesson "gaussian"$')
  s:tab('help "frank_wolfe_c', 'frank_wolfe_convex"$')
end)

feature("helps: signature, options, example, paper; and the nearest name", function(s)
  s:enter("?rng.seeded", "pn%.rng%.seeded%(seed%)")
  s:enter("rng.seeded?", "pn%.rng%.seeded%(seed%)")
  s:enter("help rng.seeded", "Reveals")
  s:enter("?frank_wolfe_convex", "Example\n.*Source: Talwar")
  s:enter("?frank_wofle", "Near it:\n%s+solve%.frank_wolfe")
end)

feature("inspects values and the user's functions", function(s)
  s:enter "v = vec{1, 2, 3}"
  s:enter("v?", "type   pn%.vec\nvalue  vec%(3%): 1 2 3\nmemory 24 B\n")
  s:enter "function twice(a) return 2 * a end"
  s:enter("?twice", "function%(a%)  defined in %[%d+%], line 1\nfunction twice%(a%) return 2 %* a end\n")
end)

feature("has words of its own", function(s)
  s:enter "L = ledger{epsilon = 1, delta = 1e-6}"
  s:enter("%time 1 + 1", "wall [%d.]+ %a+, cpu [%d.]+ %a+\n_%d+ = 2\n")
  s:enter("%bench 1 + 1", "median [%d.]+ %a+, least .-%d+ runs")
  s:enter("%who", "name.-\nL +pn%.ledger")
  s:enter("%ledger", "L: ledger%(epsilon=1.-spent 0, remaining 1")
  s:enter("%history 2", "%d+  %%who\n +%d+  %%ledger\n")
  s:enter("%tiem 1", "did you mean `%%time`%?")
  s:enter("%help", "%%bench CODE.-%%save FILE")
end)

feature("marks the user's line in errors and names the nearest", function(s)
  s:enter("solv.svrg(1)", "%[%d+%]:1: attempt to index a nil value %(global 'solv'%)\n"
    .. "> solv%.svrg%(1%)\n  ^^^^\ndid you mean `solve`%?\n")
  s:enter("set.l1_ball{dimm = 3}", "> set%.l1_ball{dimm = 3}\n              ^^^^\ndid you mean `dim`%?\n")
  s:enter("solve.svrgg(1)", "did you mean `svrg`%?")
  s:enter("wihle true do end", "> wihle true do end\n        ^^^^\ndid you mean `while`%?\n")
  s:enter("slove", "nil\n%(there is no `slove`; did you mean `solve`%?%)\n")
end)

feature("returns at once from a loop that swallows errors when Ctrl-C comes twice", function(s)
  s:enter "function f() while true do end end"
  s:press "C-l"
  s:type "print 'go' while true do pcall(f) print 'again' end"
  s:press "Enter"
  s:expect "\ngo$"
  s:press "C-c"
  s:expect "again$"
  s:press "C-c"
  s:expect "interrupted.-\npn> $"
end)

feature("runs a benchmark until Ctrl-C, and an editor's answer", function(s)
  s:press "C-l"
  s:type "%bench (function() for i = 1, 3e8 do end end)()"
  s:press "Enter"
  s:expect "%)%(%)$"
  s:press "C-c"
  s:expect "\npn> $" -- with or without a first measurement
  s:enter "y = 1"
  s:enter("%edit", "y = 7\npn> $")
  s:enter("y", "= 7\n")
end)

feature("stops at Ctrl-C, and says how to leave", function(s)
  s:press "C-l"
  s:type "print 'go' while true do end"
  s:press "Enter"
  s:expect "\ngo$"
  s:press "C-c"
  s:expect "interrupted.-\npn> $"
  s:press "C-l"
  s:expect "^pn> $"
  s:press "C-c"
  s:expect "%^C\npn> $"
  s:press "C-c"
  s:expect "%(Ctrl%-D or exit%(%) leaves%)\npn> $"
end)

tour.settings = "NO_COLOR=1 VISUAL= EDITOR='sed -i s/1/7/'"

-- Play all; the number of features that failed.
function tour.run()
  local failed = 0
  for _, each in ipairs(features) do
    local screen = tour.open(tour.settings)
    local fine, message = pcall(each.play, screen)
    screen:close()
    print((fine and "ok    " or "FAILED ") .. each.name)
    if not fine then
      failed = failed + 1
      print(message)
    end
  end
  return failed
end

if arg and arg[0] and arg[0]:find "tour%.lua$" then
  os.exit(tour.run() == 0)
end

return tour
