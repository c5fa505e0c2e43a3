-- programs_alloc.lua -- what the prompt, notebooks and programs do in programs_alloc_test.c: names() and prepare(name), as
-- fail_scripts.h has them.  What they start from is made once.
-- Depends on: penumbra, penumbra.kernel, penumbra.prompt, penumbra.programs; ask, hang_up, press, type_in (the test's).
-- luacheck: globals names prepare done ask hang_up press type_in
local pn = require "penumbra"
_G.pn = pn
local kernel = require "penumbra.kernel"
local prompt = require "penumbra.prompt"
local errors = require "penumbra.errors"

local scripts = {}

local function quiet(streams)
  function streams:write(...) self[#self + 1] = table.concat { ... } return self end
  function streams:flush() return self end
  return streams
end

-- f(...) with nothing on the streams: what it returns, and what it wrote.
local function silently(f, ...)
  local out, err, before_out, before_err = quiet {}, quiet {}, io.stdout, io.stderr
  rawset(io, "stdout", out)
  rawset(io, "stderr", err)
  local fine, result, more = pcall(f, ...)
  rawset(io, "stdout", before_out)
  rawset(io, "stderr", before_err)
  if not fine then error(result, 0) end
  return result, more, table.concat(err)
end

-- ---- the prompt ----

prompt.opened(false)
_G.d = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, -1 })

local function looks(entry)
  scripts["look at " .. entry:sub(1, 30)] = function()
    prompt.complete(entry)
    prompt.indent(entry)
    prompt.ready(entry)
    prompt.as_statement(entry, 3)
    require "penumbra.prompt.magic".read(entry)
    require "penumbra.prompt.tokens"(entry)
    local run, message = prompt.compile(entry, prompt.env())
    if not run and message then errors.syntax(message) end
    require "penumbra.prompt.habits".unknown(entry, _G)
  end
end

for _, entry in ipairs { "pn.solve.gra", "for i = 1, 3 do\n  print(i", "d.", "pn.set.l2_ball{dim = 3, rad", "x = = 1", "?pn.vec",
  "%time 1 + 1", "import numpy as np", "return 'a" } do
  looks(entry)
end

local function types(name, text)
  scripts["type " .. name] = function() type_in(text) end
end

types("values", "1 + 1\n{ a = 1, b = { 2, 3 } }\nd\nprint(pn.vec { 1, 2, 3 })\nx = 3\nx\n_\n")
types("a block", "for i = 1, 2 do\n  x = i\nend\nfunction f(a)\n  return a\nend\nf(2)\n")
types("what is wrong", "x = = 1\nerror 'e'\npn.set.l2_bal{}\nnil + 1\n")
types("questions", "?pn.vec\nhelp 'set'\n%time 1\n%who\n")

-- With one entry in the history.
local function presses(name, becomes, ...)
  local words = { ... }
  scripts["press " .. name] = function()
    assert(io.open("history", "w")):write("x = 1\n"):close()
    local entry = press(table.unpack(words))
    if entry ~= becomes then error("with memory for all it is not " .. entry, 0) end
  end
end

presses("Tab", "pn.solve.gradient_descent", "pn.solve.gradient_des", "penumbra-complete")
presses("Tab for several", "pn.set.l", "pn.set.l", "penumbra-complete")
presses("Enter in a block", "for i = 1, 3 do\n  ", "for i = 1, 3 do", "penumbra-enter")
presses("Up", "x = 1", "x", "penumbra-up")
presses("Down", "x", "x", "penumbra-up", "penumbra-down")
presses("Enter after a screen of lines", ("x = 1\n"):rep(12) .. "y", ("x = 1\n"):rep(12) .. "y", "penumbra-enter")

-- ---- notebooks ----

local function served(body)
  return function()
    local link = kernel.open { transport = "ipc", ip = "k", key = "a key", shell_port = 1, control_port = 2, stdin_port = 3,
      iopub_port = 4, hb_port = 5 }
    local fine, wrong = pcall(body, link)
    link:close()
    if not fine then error(wrong, 0) end
  end
end

scripts["kernel link"] = served(function(link)
  local client = ask("ipc://k-1", "kernel_info_request", "{}", "complete_request", '{"code":"pn.","cursor_pos":3}')
  local fine, wrong = pcall(function()
    link:bar(function() end)
    link:receive()
    link:answers()
    print "printed"
    io.stderr:write "said"
    link:publish("status", kernel.encode { execution_state = "busy" })
    link:reply("kernel_info_reply", kernel.encode { status = "ok", none = kernel.none })
    link:hold(100)
  end)
  hang_up(client)
  if not fine then error(wrong, 0) end
end)

-- The Lua half, which no request may end.
local notebook, messages
local real_open = kernel.open

local function begin()
  local function nothing() end
  local link = { answers = nothing, hold = nothing, bar = nothing, close = nothing }
  function link.publish(_, kind, content) messages[#messages + 1] = kind .. " " .. content end
  function link.reply(_, kind, content) messages[#messages + 1] = kind .. " " .. content end
  function link.receive() return coroutine.yield() end
  kernel.open = function() return link end
  package.loaded["penumbra.notebook"] = nil
  notebook = coroutine.create(require "penumbra.notebook".serve)
  assert(coroutine.resume(notebook, {}))
  kernel.open = real_open
  prompt.opened(false)
end

local function notebooks(name, kind, content)
  local header, body = kernel.encode { msg_type = kind }, kernel.encode(content)
  scripts["notebook " .. name] = function()
    messages = {}
    local fine, wrong = silently(coroutine.resume, notebook, header, body, false)
    -- Without memory for a call it may end.
    if not fine and pcall(string.rep, "x", 1000) then
      error("the notebook ended: " .. tostring(wrong):gsub("memory", "room"), 0)
    end
  end
end

notebooks("information", "kernel_info_request", {})
notebooks("completion", "complete_request", { code = "pn.solve.gra", cursor_pos = 12 })
notebooks("inspection", "inspect_request", { code = "pn.vec", cursor_pos = 6, detail_level = 1 })
notebooks("a block", "is_complete_request", { code = "for i = 1, 2 do" })
notebooks("history", "history_request", { hist_access_type = "search", pattern = "*", unique = true, n = 3 })
notebooks("a value", "execute_request", { code = "{ a = 1, d }", user_expressions = { a = "2", b = "nil + 1" } })
notebooks("an error", "execute_request", { code = "error { 1 }" })
notebooks("a syntax error", "execute_request", { code = "x = = 1" })

-- ---- programs ----

scripts["confined"] = function() require "penumbra.confined".run(function(tell) tell "done" end, 5, 500) end

-- A program says what went wrong and gives a status; here it is raised.
local function program(name, word, ...)
  local words = { ... }
  local main = require("penumbra.programs." .. word)
  if word ~= "federated" then table.insert(words, 1, word) end
  scripts["program " .. name] = function()
    local status, _, said = silently(main, table.unpack(words))
    if status ~= 0 then error(said, 0) end
  end
end

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))

local function at(name) return folder .. "/" .. name end

local function write(name, text)
  local file = assert(io.open(at(name), "wb"))
  file:write(text)
  file:close()
end

write("people.csv", "x,y\n" .. ("1,0\n2,1\n3,0\n4,1\n"):rep(10))
do
  local recipe = pn.recipe { label = { y = { 0, 1 } }, features = { x = { 0, 100 } } }
  local objective = pn.objective { data = recipe:data(at "people.csv"), loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 2 } }
  local fit = pn.solve.gradient_descent(objective, { epsilon = 4, delta = 1e-6, iterations = 2 })
  fit:export(at "model.json")
  local ledger = pn.ledger { path = at "l.ledger", rho = 1 }
  ledger:spend(pn.event.gaussian { sigma = 20, sensitivity = 1 }, "one")
  ledger:close()
end

program("receipt", "receipt", at "l.ledger")
program("receipt in words", "receipt", at "l.ledger", "--words")
program("predict", "predict", at "model.json", at "people.csv", "-o", "out.csv")
program("kernel", "kernel", "--install", "--prefix", ".", "--program", "p")
program("lesson export", "lesson", "export", "1", "--html", "-o", "lesson.html")
program("course", "course", "new", "course")

write("r.lua", "label = { y = { count = 3 } }\nfeatures = { x = { 0, 100 } }\n")
program("train", "train", "poisson", at "people.csv", "--recipe", at "r.lua", "-e", "4", "--test", "0", "-o", "m.model")

write("course.lua", [[
  title, id, lessons = "one", "ab", { { "one.lua", due = "2026-12-08" } }
  budget = { epsilon = 3, slice = 1 }]])
write("one.lua", [[
  return { name = "one", steps = { { id = "pay", text = "Pay.", ask = "Pay.", answer = "slice:spend(event.pure { epsilon = 0.5 })",
    check = function(env) return env.slice.spent > 0 end } } }]])
do
  local submission = require "penumbra.course.submission"
  local text = submission.begun("ab", "Ada")
  local head = submission.parse(text)
  write("ada.txt", text .. submission.line(head, head.tag, "right", "one", "pay", "slice:spend(event.pure { epsilon = 0.5 })", 1))
end
program("course check", "course", "check", folder)
program("course grade", "course", "grade", folder, at "ada.txt")

local clinic, server = pn.federated.keygen(at "clinic.key"), pn.federated.keygen(at "server.key")
write("clinic.csv", "x,y\n1,0.5\n2,1\n3,0\n")
write("clinic.lua", ([[
  connect, server, keys, name = "tcp://127.0.0.1:1", %q, "clinic.key", "clinic"
  data = { csv = "clinic.csv", options = { label = "y" } }
  clip = { features = 1, labels = { -1, 1 } }
  alignment = { key = "shared.key", column = "x" }
  ledger = { path = "clinic.ledger", epsilon = 2, delta = 1e-6 }
  checkpoint, model = "clinic.state", "clinic.npy"]]):format(server))
write("server.lua", ([[
  return { listen = "tcp://127.0.0.1:*", keys = "server.key", parties = { { name = "clinic", key = %q } }, radius = 1, epsilon = 1,
    delta = 1e-6, iterations = 2, sketch = { kind = "gaussian", m = 4, seed = 3 }, ledger = { path = "s.ledger", epsilon = 2 } }
]]):format(clinic))
program("party", "federated", "party", "--check", at "clinic.lua")
program("server", "federated", "server", "--check", at "server.lua")

done = setmetatable({}, { __gc = function() os.execute("rm -r " .. folder) end }) -- when the state is closed

function names()
  local list = {}
  for name in pairs(scripts) do list[#list + 1] = name end
  table.sort(list)
  return list
end

function prepare(name)
  if not notebook or coroutine.status(notebook) == "dead" then begin() end
  return scripts[name]
end
