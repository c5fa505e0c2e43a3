-- What every kind of object prints: lines of at most 80 columns, no escapes, no addresses, no newline at the end, and the facts
-- that people look for.
local pn = require "penumbra"
local program = require "tests.tools.program"
local law = require("tests.tools.tier").law(it)

local noise = pn.rng.seeded(1)
local data = pn.data.synthetic.lasso { n = 500, p = 20, sparsity = 3, noise = 0.1, seed = 1 }
local ball = pn.set.l1_ball { dim = 20 }
local objective = pn.objective { data = data, loss = pn.loss.squared(), set = ball }
local budget = { epsilon = 1, delta = 1e-6 }
local gaussian = pn.event.gaussian { sigma = 20, sensitivity = 1 }
local S = pn.sparse { rows = 3, cols = 4, i = { 1, 2, 3 }, j = { 1, 2, 3 }, x = { 1, 2, 3 } }
local long = ball
for k = 1, 6 do long = (long + pn.set.l2_ball { dim = 20, radius = k }):intersect(3 * pn.set.linf_ball { dim = 20 }) end

local function charged()
  local L = pn.ledger(budget)
  L:spend(gaussian, ("a long label, "):rep(20)):spend(gaussian, "\27[31mred\nsecond line", 3)
  pn.ledger { epsilon = 0.5, delta = 1e-7, parent = L, name = "a slice" }:spend(pn.event.laplace { scale = 50, sensitivity = 1 })
  return L
end

local function seeded() return { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(3), iterations = 40 } end

-- What to print, and what its text must say.
local objects = {
  ["a vector"] = { pn.vec.normal(10000, noise), "vec of 10000" },
  ["a matrix"] = { pn.vec.normal(5000, noise):reshape(50, 100), "mat of 50 x 100" },
  ["a sparse matrix"] = { S, "sparse(3 x 4): 3 entries" },
  ["a set"] = { ball, "l1_ball(dim=20, radius=1)", "l2 radius 1", "diameter 2", "width 2.167" },
  ["a set of sets"] = { long, "intersection(", "l2 radius" },
  ["a norm"] = { pn.norm.minkowski(long), "minkowski(intersection(" },
  ["a potential"] = { (pn.potential.for_set(ball)), "20" },
  ["a proximal operator"] = { pn.prox.indicator(long), "indicator(" },
  ["a loss"] = { pn.loss.logistic(), "logistic loss" },
  ["a regulariser"] = { pn.reg.l2(0.1), "regulariser" },
  ["a data set"] = { data, "500 x 20, dense", "l1 <= 20" },
  ["a summary"] = { data:summary(), "500 records", "not private" },
  ["an objective"] = { objective, "squared loss", "500 x 20 records" },
  ["an objective over a long set"] = { pn.objective { data = data, loss = pn.loss.squared(), set = long }, "500 x 20 records" },
  ["a plan"] = { pn.solve.frank_wolfe.plan(objective, budget), "epsilon = ", "events", "Talwar" },
  ["a walk"] = { pn.solve.frank_wolfe.plan(objective, budget):steps {}, "walk: frank_wolfe" },
  ["a private fit"] = { pn.solve.frank_wolfe(objective, budget), "epsilon = 1, delta = 1e-06, replace_one: holds (rdp)",
    "risk     not released", "of 20 coordinates used" },
  ["a simulated fit"] = { pn.solve.frank_wolfe(objective, seeded()), "seeded noise: no privacy", "not for publication",
    "trace    ", "value" },
  ["a fit without privacy"] = { pn.solve.frank_wolfe(objective, { privacy = false, iterations = 100 }),
    "none: fitted on the exact data", "not for publication", "trace    " },
  ["a ledger"] = { pn.ledger(budget), "spent 0, remaining 1" },
  ["a ledger with charges"] = { charged(), "spent ", "largest", "a slice" },
  ["a report"] = { charged():report(), "label", "price", "budget" },
  ["an odometer"] = { charged():odometer(), "wherever the analyst stops" },
  ["an accountant"] = { pn.accountant.rdp():add(gaussian, 10), "rdp" },
  ["an event"] = { gaussian, "gaussian(sigma=20" },
  ["an rng"] = { noise, "simulated" },
  ["a tree"] = { pn.tree { dim = 3, rho = 1, sensitivity = 1, horizon = 100, ledger = pn.ledger { rho = 1, teaching = true },
    rng = noise }, "dim 3" },
  ["a sampler"] = { pn.sampler.fixed { n = 1000, batch = 10 }, "n=1000" },
  ["a block sampling"] = { pn.sampling.nice { blocks = 10, tau = 2 }, "blocks=10" },
  ["an expression"] = { pn.trace(function(t) return pn.exp(-t) / (1 + pn.exp(-t)) ^ 2 + pn.where(t - 3, t, -t) end), "exp" },
  ["advice"] = { pn.advise(data, pn.loss.squared(), budget), "risk <=" },
  ["a check"] = { pn.check(ball, { probes = 5 }), "l1_ball(dim=20, radius=1)\n" },
  ["a library"] = { pn.set, "library set" },
}

local function looks_right(text, ...)
  assert.equal("string", type(text))
  assert.is_true(#text > 0)
  assert.is_nil(text:find "\27", text)
  assert.is_nil(text:find "\n$", text)
  assert.is_nil(text:find "0x%x%x%x%x", text)
  for line in text:gmatch "[^\n]+" do
    assert.is_true((utf8.len(line) or math.huge) <= 80, line)
    assert.is_nil(line:find "%c", line)
  end
  for _, fact in ipairs { ... } do assert.truthy(text:find(fact, 1, true), text) end
end

describe("the text of", function()
  for name, row in pairs(objects) do
    it(name .. " fits 80 columns and says what it is", function()
      looks_right(tostring(row[1]), table.unpack(row, 2))
    end)
  end

  law("a plan of any solver fits 80 columns, with formulas below each other", function()
    local logistic = pn.data.synthetic.logistic { n = 5000, p = 20, seed = 1 }:clip_rows("l2", 1)
    local parts = {
      { data = data, loss = pn.loss.squared(), set = ball },
      { data = logistic, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 20 } },
      { data = logistic, loss = pn.loss.logistic() },
    }
    local options, planned = { budget, { privacy = false } }, 0
    for entry in pairs(pn.reference()) do
      local solver, made = entry:match "^solve%.([%w_]+)%.plan$", false
      for _, part in ipairs(solver and parts or {}) do
        for _, option in ipairs(options) do
          local ok, plan = pcall(pn.solve[solver].plan, pn.objective(part), option)
          if ok then
            looks_right(tostring(plan), "plan: " .. (solver == "auto" and plan.solver or solver), "source")
            made = true
          end
        end
      end
      planned = planned + (made and 1 or 0)
    end
    assert.is_true(planned >= 14, planned)
  end)
end)

describe("pictures", function()
  local code = [[
    local d = pn.data.synthetic.lasso{n = 500, p = 20, sparsity = 3, noise = 0.1, seed = 1}
    local obj = pn.objective{data = d, loss = pn.loss.squared(), set = pn.set.l1_ball{dim = 20}}
    print(pn.solve.frank_wolfe(obj, {privacy = false, iterations = 100}))
    print(pn.ledger{epsilon = 1}:spend(pn.event.laplace{scale = 2, sensitivity = 1}))]]

  local function run(environment)
    local words = environment .. " " .. program.path .. " -e " .. program.quote(code)
    local out = program.shell("env -u LC_ALL -u LC_CTYPE -u LANG " .. words)
    return out:match "trace    (%S+)", out:match "budget   (%S+)"
  end

  it("are made of blocks where the locale has UTF-8", function()
    for _, environment in ipairs { "LANG=C.UTF-8", "LC_ALL=de_DE.utf8 LANG=C" } do
      local trace, bar = run(environment)
      assert.equal(32, utf8.len(trace))
      assert.matches("^█▆", trace) -- it falls
      assert.equal(("█"):rep(20) .. ("░"):rep(20), bar)
    end
  end)

  it("are made of ASCII elsewhere", function()
    for _, environment in ipairs { "", "LANG=C", "LC_ALL=POSIX LANG=C.UTF-8" } do
      local trace, bar = run(environment)
      assert.matches("^#[-_.:=+*#]+$", trace)
      assert.equal(32, #trace)
      assert.equal(("#"):rep(20) .. ("."):rep(20), bar)
    end
  end)
end)
