-- tune_spec.lua -- plan:tune: the best predicted plan of a grid, at no cost.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function objective()
  local data = pn.data.synthetic.logistic{n = 5000, p = 5, seed = 3}:clip_rows("l2", 1)
  return pn.objective{data = data, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1), set = pn.set.l2_ball{dim = 5, radius = 10}}
end

local function plan(options)
  options = options or {}
  options.epsilon, options.delta, options.accountant, options.preset = 1, 1e-8, "rdp", "theory"
  return pn.solve.svrg.plan(objective(), options)
end

local function risk(made) return made.predicted or made.bound end

describe("plan:tune", function()
  it("returns the plan of the least predicted risk, and all rows in order", function()
    local best, tried = plan():tune{batch = {10, 100, 1000}, epochs = {2, 4}, within = 1}
    assert.are.equal(6, #tried)
    local least = math.huge
    for _, row in ipairs(tried) do least = math.min(least, row.predicted) end
    assert.are.equal(least, risk(best))
    assert.are.equal(tried[1].plan, best)
    for i = 3, #tried do assert.is_true(tried[i].predicted >= tried[i - 1].predicted) end
    -- its options are those of the row, the rest those of the first plan
    assert.are.equal(tried[1].options.batch, best.settings.batch)
    assert.are.equal(tried[1].options.epochs, best.settings.epochs)
    assert.are.equal(plan().settings.inner, best.settings.inner)
  end)

  it("takes the cheapest of those within a factor of the best", function()
    local grid = {batch = {10, 100, 1000}, epochs = {2, 4, 8}}
    grid.within = 1
    local best = plan():tune(grid)
    grid.within = 1.5
    local cheap, tried = plan():tune(grid)
    assert.is_true(cheap.gradients < best.gradients)
    assert.is_true(risk(cheap) <= 1.5 * risk(best))
    for _, row in ipairs(tried) do
      assert.is_true(row.predicted > 1.5 * risk(best) or row.gradients >= cheap.gradients)
    end
  end)

  it("looks around the plan's own numbers when nothing is named", function()
    local made = plan{epochs = 4, batch = 100}
    local best, tried = made:tune()
    assert.are.equal(81, #tried) -- epochs, inner, batch, step
    assert.is_true(risk(best) <= 1.02 * risk(made))
  end)

  it("lists combinations that cannot be, with their reason, last", function()
    local _, tried = plan():tune{batch = {100, 1000000}}
    assert.is_nil(tried[2].plan)
    assert.matches("larger than the 5000 records", tried[2].reason, 1, true)
    assert.matches("larger than the 5000 records", (tostring(tried):gsub("%s+", " ")), 1, true)
  end)

  it("says what is wrong with a grid", function()
    local made = plan()
    local function no_grid(text, grid)
      refused(text, made.tune, made, grid)
    end
    no_grid("batch has no values", {batch = {}})
    no_grid("bath", {bath = {1, 2}})
    no_grid("got number", 3)
    no_grid("the key 1", {{1, 2}})
    no_grid("within must be a number >= 1", {batch = {1}, within = 0.5})
    no_grid("at most 10000", {batch = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, epochs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
      inner = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, step = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}})
    no_grid("none of 1 plans predicts a risk", {batch = 1000000})
  end)

  it("says so where a solver predicts no risk at all", function()
    local d = pn.data.synthetic.logistic{n = 300, p = 3, seed = 1}:clip_rows("l2", 1)
    local f = pn.objective{data = d, loss = pn.loss.logistic()}
    for _, name in ipairs{"second_order", "trust_region", "newton"} do
      local made = pn.solve[name].plan(f, {rho = 0.5})
      local ok, err = pcall(made.tune, made)
      assert.is_false(ok)
      assert.equal(("plan:tune: plans of %s predict no risk; compare those that plan:with{...} returns by their lines, or pay for "
        .. "a choice by the records: pn.tune{...}"):format(name), err)
    end
  end)

  it("prices the chosen plan as the first one was, whatever priced the others", function()
    local made = pn.solve.svrg.plan(objective(), {epsilon = 1, delta = 1e-8, epochs = 2, inner = 20})
    assert.are.equal("pld", made.accountant)
    local best, tried = made:tune{batch = {50, 100, 200}}
    assert.are.equal("pld", best.accountant)
    assert.are.equal("rdp", tried[2].plan.accountant)
    assert.are.equal(made:with{batch = best.settings.batch}.sigma, best.sigma)
  end)

  it("spends nothing", function()
    local ledger = pn.ledger{epsilon = 1, delta = 1e-8}
    local made = pn.solve.svrg.plan(objective(), {epsilon = 1, delta = 1e-8, ledger = ledger, preset = "theory"})
    made:tune{batch = {1000, 2000}}
    assert.are.equal(0, #ledger:report())
  end)
end)
