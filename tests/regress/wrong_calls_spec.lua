-- wrong_calls_spec.lua -- what a wrong call says, one or more of each module: what was wrong, the value, what would be right.
-- Messages used to be Lua's own ("bad argument #2 to '?' (pn.vec expected, got number)") or to name another function than the one
-- that was called.
local pn = require "penumbra"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"

local data = pn.data.synthetic.logistic { n = 50, p = 3, seed = 1 }:clip_rows("l2", 1)
local ball = pn.set.l1_ball { dim = 3 }
local world = setmetatable({ pn = pn, d = data, C = ball, v = pn.vec { 1, 2 }, L = pn.ledger { epsilon = 1, delta = 1e-6 },
  N = pn.norm.l2(), e = pn.event.pure { epsilon = 1 },
  obj = pn.objective { data = data, loss = pn.loss.logistic(), set = ball } }, { __index = _G })

local wrong = {
  ["v + pn.vec{1}"] = "vec + vec: the vectors have 2 and 1 entries",
  ["v[5]"] = "vec: index must be a whole number from 1 to 2, got 5",
  ["v:save(3)"] = "save: argument 1 must be the path of a file, got 3",
  ["v:save('a\\0b')"] = 'save: argument 1 must be a path without zero bytes, got the string "a"',
  ["v:dot('x')"] = 'dot: argument 1 must be a vector or a list of numbers, got the string "x"',
  ["v.norm()"] = "norm is a method of pn.vec: call it with a colon, as in x:norm(...)",
  ["pn.mat{{1, 2}, {3}}"] = "mat: row 2 has 1 entries, row 1 has 2",
  ["pn.load(3)"] = "load: argument 1 must be the path of a file, got 3",
  ["pn.load('.')"] = ".: Is a directory",
  ["pn.clamp(1, 2)"] = "clamp: expected clamp(x, low, high) of numbers or vectors, got nil as high",
  ["pn.exp('x')"] = "exp takes a number or a vector, got string",
  ["pn.rng.seeded(0.5)"] = "rng.seeded: the seed must be a whole number, got 0.5",
  ["pn.data.csv('no.csv')"] = "no.csv: cannot be opened: No such file or directory",
  ["pn.data.from(pn.mat{{1}})"] = "from: argument 2 must be a vector or a list of numbers, got nil",
  ["pn.data.from(pn.mat{{1}}, {1, 2})"] = "data.from: X has 1 rows, y has 2 labels",
  ["d:split(0.5, 7)"] = "split: argument 2 must be a pn.rng, got 7",
  ["d.take(3)"] = "take is a method of pn.dataset: call it with a colon, as in x:take(...)",
  ["d:take(51)"] = "take: n must be at most 50, the number of records, got 51",
  ["d:clip_rows('l2', 0/0)"] = "clip_rows: bound must be a finite number, got nan",
  ["pn.set.l1_ball{dim=3, radius=-1}"] = "set.l1_ball: radius must be a positive number, got -1",
  ["C:project(3)"] = "project: argument 1 must be a vector or a list of numbers, got 3",
  ["C:project{1, 2}"] = "C:project: v has 2 entries, the set has 3",
  ["C:sample('x')"] = 'sample: argument 1 must be a pn.rng, got the string "x"',
  ["N(3)"] = "N: argument 1 must be a vector or a list of numbers, got 3",
  ["pn.prox.l1(1)({1, 2}, -1)"] = "prox: step must be a positive number, got -1",
  ["pn.loss.huber{delta=-1}"] = "loss.huber: delta must be a positive number, got -1",
  ["pn.bound(3)"] = "bound: expected a function, got 3",
  ["pn.objective{data=d}"] = "objective: loss is missing; give a pn.loss (loss of one record, l(<x, theta>, y))",
  ["obj:value{1, 2, 0/0}"] = "objective:value: theta: entry 3 must be a finite number, got nan",
  ["pn.event.compose{}"] = "event.compose: expected a list of events, {e1, e2, ...}, got a table without any",
  ["pn.event.repeated(3, 4)"] = "repeated: argument 1 must be a pn.event, got 3",
  ["pn.accountant.rdp():add()"] = "add: argument 1 must be a pn.event, got nothing",
  ["L:spend()"] = "spend: argument 1 must be a pn.event, got nothing",
  ["pn.ledger{epsilon=-1}"] = "ledger: epsilon must be a positive number, got -1",
  ["pn.tree{dim=1, horizon=2, sensitivity=1, rho=1}:push{1, 2}"] =
    "tree:push: the leaf has 2 entries and the tree was made with dim = 1",
  ["pn.query.count(d)"] =
    'query.count: columns is missing; give a vector (names or numbers of columns, from 1; "label" or 0 is the label)',
  ["pn.query.count(obj)"] = "query.count: expected one table of options, got a pn.objective",
  ["pn.solve.sgd(obj, {epsilon=1, delta=1e-6, batch=51})"] = "solve.sgd: batch = 51 is larger than the number of records n = 50",
  ["pn.solve.sgd.plan(obj, {epsilon=1, delta=1e-6}):with(3)"] = "with: argument 1 must be a table of options, got 3",
  ["pn.solve.exact(3)"] = "exact: argument 1 must be a pn.objective, got 3",
  ["pn.curvature(3)"] = "curvature: argument 1 must be a pn.objective, got 3",
  ["pn.advise(3)"] = "advise: data must be a pn.dataset, got 3",
  ["pn.federated.in_process{parties=0}"] = "federated.in_process: parties must be a whole number from 1, got 0",
  ["pn.plot.trace(3)"] = "plot.trace: argument 1 must be a fit, got 3",
  ["pn.experiment{grid={}, run=3}"] = "experiment: run must be a function(row, rng), got number",
}

describe("a wrong call", function()
  for code, message in pairs(wrong) do
    it(("as %s says what is wrong"):format(code), function()
      local fine, said = pcall(assert(load("local _ = " .. code, "=here", "t", world)))
      assert.is_false(fine)
      assert.equal(message, (said:gsub("^here:1: ", "")))
    end)
  end

  it("of a closed object says so", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-6 }
    do local _ <close> = L end
    assert.matches("got a closed pn.ledger$", select(2, pcall(pn.mechanism.laplace { scale = 1, sensitivity = 1 }.release,
      pn.mechanism.laplace { scale = 1, sensitivity = 1 }, 1, { ledger = L })))
    assert.matches("expected an open pn.ledger, got a closed pn.ledger$", select(2, pcall(L.price, L, world.e)))
  end)

  it("in a script names its line, whichever half of the library refused it", function()
    for _, code in ipairs { "pn.advise(3)", "pn.plot.line(3)", "pn.vec{1}[2]", "pn.vec(3)" } do
      local path = os.tmpname()
      program.write_all(path, 'local pn = require "penumbra"\n\nprint(' .. code .. ")\n")
      local _, said = program.shell(program.quote(program.path) .. " " .. path)
      assert.equal(("penumbra: %s:3: "):format(path), said:sub(1, #path + 14), said)
      os.remove(path)
    end
  end)

  it("by a script's own error without a place stays without one", function()
    local path = os.tmpname()
    program.write_all(path, 'error("usage: such and such", 0)\n')
    local _, said = program.shell(program.quote(program.path) .. " " .. path)
    assert.matches("^penumbra: usage: such and such\n", said)
    os.remove(path)
  end)
end)

-- Every function of the reference with every option of it wrong in several ways, and its first two arguments.  Plots, lessons and
-- what opens sockets are left out, and of solvers the runs: plans read the same options.
describe("no wrong option", function()
  local values = { "x", 0 / 0, {}, -1, 1e300, { { 0 / 0 } }, true, function() end, data }
  local elsewhere = { "^plot%.", "^lesson$", "^help$", "^ranks$", "^curator$", "^federated%.server$", "^federated%.party$",
    "^federated%.keygen$", "^federated%.mpi$", "^experiment$", "^accountant%.selftest$", "^version$" }
  local words = { "0x%x%x%x%x", "bad argument", "attempt to", "stack traceback", "%.lua:%d", "%f[%a]luaL?_%a" }

  local function is_here(name)
    for _, pattern in ipairs(elsewhere) do
      if name:find(pattern) then return false end
    end
    return not name:find "^solve%." or name:find "%.plan$" or name == "solve.exact"
  end

  local function of(name)
    local value = pn
    for part in name:gmatch "[^.]+" do value = type(value) == "table" and value[part] or nil end
    return value
  end

  local function options(name, value)
    local out = {}
    local group, inner = name:match "^([^.]+)%.(.+)$"
    if group then
      out[group] = { [inner] = value }
    else
      out[name] = value
    end
    return out
  end

  it("is answered with an address, in Lua's own words or with a place inside the library", function()
    local calls, found = 0, {}
    local function try(name, f, ...)
      calls = calls + 1
      local fine, said = pcall(f, ...)
      said = tostring(said):gsub("%S*wrong_calls_spec%.lua:%d+", "here") -- where a function of ours stands
      for _, pattern in ipairs(words) do
        if not fine and said:find(pattern) then found[#found + 1] = ("%s: %s"):format(name, said) end
      end
    end
    for name, row in pairs(pn.reference()) do
      local f = row.kind == "function" and is_here(name) and of(name)
      for _, value in ipairs(f and { table.unpack(values, 1, tier.times(3, #values)) } or {}) do
        try(name, f, value)
        try(name, f, world.obj, value)
        for _, param in ipairs(row.params or {}) do
          local given = options(param.name, value)
          if name:find "^solve%." then
            given.epsilon, given.delta = given.epsilon or 1, given.delta or 1e-6
            try(name, f, world.obj, given)
          else
            try(name, f, given)
          end
        end
      end
    end
    assert.is_true(calls > tier.times(1600, 5000), calls)
    assert.equal("", table.concat(found, "\n"))
  end)
end)
