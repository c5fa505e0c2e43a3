-- curator_solver_spec.lua -- analysts' own solvers: they run on the curator's budget, see released numbers alone, and keep to the
-- limits, whatever their steps do.
local pn = require "penumbra"
local tier = require "tests.tools.tier"

local data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 3 }:clip_rows("l2", 1)

local function run(code, options)
  local ledger = pn.ledger { rho = 1 }
  local curator = pn.curator { data = { people = data }, ledger = ledger, memory = options.memory or 64, seconds = 20,
    instructions = options.instructions or 20000000, threads = 1, process = options.process }
  return curator:run([[
    local obj = pn.objective{data=data.people, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=3, radius=1}}
    local function solver(step, more)
      local parts = {name="mine", step=step}
      for k, v in pairs(more or {}) do parts[k] = v end
      return pn.solver(parts)
    end
    local function descend(s, ask) s.x = s.set:project(s.x - ask:gradient(s.x)) end
    local asked = {rho=0.1, iterations=5}
  ]] .. code, "a"), ledger
end

for _, process in ipairs { false, true } do
  describe(("a curator %s a process of its own"):format(process and "with" or "without"), function()
    local how = { process = process }
    -- What refuses and what ends a script is the same in both, and a process takes five times as long.
    local often_it = tier.it(it, not process)

    it("runs a script's solver, and asks a script's questions, on its own budget", function()
      local result, ledger = run([[
        local fit = solver(descend)(obj, asked)
        local ask = pn.oracle{objective=obj}
        local g = ask:gradient({0, 0, 0}, {rho=0.2})
        assert(#g == 3 and ask.spent > 0.29)
        return fit.steps, fit.privacy.rho]], how)
      assert.is_true(result.ok, result.error)
      assert.equal("5\t0.1", result.answer)
      assert.near(0.3, ledger.spent, 1e-5)
    end)

    often_it("refuses raw numbers, runs without privacy and other ledgers, and charges nothing for them", function()
      for code, words in pairs {
        ["solver(function(s, ask) ask:gradient(s.x) obj:gradient(s.x) end)(obj, asked)"] = "pn.objective:gradient is not available",
        ["solver(function(s, ask) return data.people.X end)(obj, asked)"] = "pn.dataset.X is not available",
        ["solver(descend)(obj, {privacy=false, iterations=2})"] = "privacy = false shows values that were not released",
        ["solver(function(s, ask) solver(descend)(obj, {privacy=false, iterations=2}) end, {queries={gradient=1}})(obj, asked)"] =
          "raw numbers inside a private step",
        ["pn.oracle{objective=obj, ledger=pn.ledger{rho=9}}"] = "is not available",
        ["pn.oracle{objective=obj, rng=pn.rng.seeded(1)}"] = "is not available",
        ["solver(descend)(obj, {iterations=3})"] = "say what it may cost",
        ["solver(descend)(obj, {rho=3, iterations=3})"] = "Requested rho",
        ["pn.oracle{objective=obj}:gradient({0,0,0}, {rho=3})"] = "Requested rho",
        ["pn.solve.exact(obj)"] = "solve.exact is not available",
      } do
        local result, ledger = run("return " .. code, how)
        assert.is_false(result.ok, code)
        assert.truthy(result.error:find(words, 1, true), code .. " says: " .. result.error)
        assert.equal(0, ledger.spent, code)
        assert.is_nil(result.error:find "0x%x+")
      end
    end)

    it("pays for the steps before a step that fails, and no more", function()
      local result, ledger = run([[
        return solver(function(s, ask) descend(s, ask) if s.step == 3 then error "stop here" end end)(obj, asked)]], how)
      assert.is_false(result.ok)
      assert.matches("stop here", result.error)
      assert.near(0.06, ledger.spent, 1e-5)
    end)

    often_it("ends a step that does not end, in planning and in a run, and one that calls itself for ever", function()
      for _, code in ipairs {
        "solver(function(s, ask) while true do end end)(obj, asked)",
        "local function ever() while true do end end "
          .. "solver(function(s, ask) ask:gradient(s.x) while s.step > 1 do pcall(ever) end end)(obj, asked)",
        "local function d(n) return 1 + d(n + 1) end solver(function(s, ask) ask:gradient(s.x) d(1) end)(obj, asked)",
        "solver(function(s, ask) for i = 1, 1e9 do ask:gradient(s.x) end end)(obj, asked)",
        "solver(descend, {start=function(s) local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end end})(obj, asked)",
      } do
        local result, ledger = run(code, { process = process, instructions = 2000000, memory = 24 })
        assert.is_false(result.ok, code)
        assert.is_true(ledger.spent <= 0.1 + 1e-9, code)
      end
    end)

    it("shows nothing through what a step catches", function()
      local result, ledger = run([[
        local said, kept = {}, nil
        local fit = solver(function(s, ask)
          kept = ask
          descend(s, ask)
          for _, f in ipairs{function() return ask:gradient(s.x) end, function() return obj:value(s.x) end,
            function() return fit.value end, function() return pn.stationarity(obj, s.x) end} do
            said[#said + 1] = pcall(f)
          end
        end, {queries={gradient=1}})(obj, asked)
        said[#said + 1] = pcall(kept.gradient, kept, {0, 0, 0})
        said[#said + 1] = pcall(function() return fit.value end)
        for i, ok in ipairs(said) do if ok then return "one was answered" end end
        return #said]], how)
      assert.is_true(result.ok, result.error)
      assert.equal("22", result.answer)
      assert.near(0.1, ledger.spent, 1e-5)
    end)
  end)
end
