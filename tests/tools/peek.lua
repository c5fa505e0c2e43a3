-- peek.lua -- run by build/mutants/program: what scripts with planted memory errors reach, in the curator's process and in their
-- own, as a table of lines "name value".  Usage: program peek.lua PROGRAM LEDGER KEY, with bytes of the ledger's key, masked.
-- Depends on: tools/peek.c.
-- Used by: tests/bindings/curator/curator_process_spec.lua.
local pn = require "penumbra"
local program, path, key = arg[1], arg[2], arg[3]

-- Bytes as the scripts are given them, who must not have them in memory themselves.
local function masked(bytes)
  return (bytes:gsub(".", function(c) return ("\\x%02x"):format(c:byte() ~ 0x5a) end))
end

local cell = 0.1728354690127 -- of every record
local X, y = {}, {}
for i = 1, 600 do
  X[i], y[i] = { cell, -cell, cell / 2 }, i % 2 == 0 and 1 or -1
end
local d = pn.data.from(X, y):clip_rows("l2", 1)
local ledger = pn.ledger { epsilon = 4, delta = 1e-6, path = path }

local function curator(process)
  return pn.curator { data = { d = d }, ledger = ledger, process = process, program = program, threads = 1, memory = 256,
    seconds = 60 }
end

local function show(name, value) print(name, (tostring(value):gsub("\n", " "))) end

-- An answer of another script, which its curator's process has in memory.
local other = curator(true):run("return 'an answer ' .. 7 * 1234567, 'of another script'").answer

local secrets = {
  record = string.pack("d", cell),
  answer = other,
  environment = os.getenv "PN_TEST_SECRET",
  own = "a text of its own 8641969",
}

for _, process in ipairs { false, true } do
  local c, where = curator(process), process and "own " or "shared "
  local patterns = { key = key }
  for name, bytes in pairs(secrets) do
    patterns[name] = masked(bytes)
  end
  for name, pattern in pairs(patterns) do
    local r = c:run(([[
      local mine = 'a text of its own ' .. 7 * 1234567
      local found, read = pn.peek.find("%s")
      return found, read > 1000, #mine]]):format(pattern))
    show(where .. name, r.answer or r.error)
  end
  for _, name in ipairs { "open", "socket", "signal", "execute", "fork" } do
    local r = c:run(("return pn.peek.call '%s'"):format(name))
    show(where .. name, r.answer or r.error)
  end
end

-- At the very place of the records.
local c = curator(true)
local before = ledger.spent
for name, code in pairs {
  read = "return pn.peek.read(pn.peek.records(1), 64)",
  write = "pn.peek.write(pn.peek.records(1), 0) return 'written'",
  copy = "local mine = data.d:take(500) return pn.peek.find('" .. masked(secrets.record) .. "')",
  wild = "print 'hello' return pn.peek.read(4096, 8)",
} do
  local r = c:run(code)
  show("at " .. name, r.answer or r.status .. " " .. r.error .. r.output)
end
show("spent by errors", ledger.spent - before)

-- A script that goes on while another one's process dies.
local obj = "pn.objective{data=data.d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=3, radius=1}}"
show("after", c:run("return #pn.solve.sgd(" .. obj .. ", {epsilon=1, delta=1e-7, iterations=5}).theta").answer)

-- After work on records the vault is locked again, also where the work failed.
show("after work", c:run(([[
  local o = %s
  pn.solve.sgd(o, {epsilon=0.5, delta=1e-7, iterations=5})
  pcall(pn.query.mean, {data=data.d, columns={1}, low={1}, high={0}, epsilon=1})
  pcall(data.d.clip_rows, data.d, "l2", -1)
  return pn.peek.find("%s")]]):format(obj, masked(secrets.record))).answer)

-- A function of the steps is called in the middle of planning.
show("in a schedule", c:run(([[
  local found
  pn.solve.sgd.plan(%s, {epsilon=0.5, delta=1e-7, iterations=1, step=function()
    found = pn.peek.find("%s")
    return 1
  end})
  return found]]):format(obj, masked(secrets.record))).answer)

-- The step of a user's solver is called while it is planned, and between answers.
show("in a step", c:run(([[
  local found, calls = 0, 0
  local own = pn.solver{name="own", step=function(s, ask)
    s.x = s.set:project(s.x - ask:gradient(s.x) - ask:moment(pn.tanh, s.x))
    found, calls = found + pn.peek.find("%%s"), calls + 1
  end}
  own(%s, {epsilon=0.5, delta=1e-7, iterations=2})
  return calls == 3 and found or -1]]):format(obj):format(masked(secrets.record))).answer)
