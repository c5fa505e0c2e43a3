-- lask_spec.lua -- pn.oracle at the prompt: each answer is priced, charged and drawn; what cannot be is refused and costs nothing.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local data = pn.data.synthetic.logistic { n = 500, p = 3, seed = 4 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 3, radius = 1 } }
local x, v = { 0.1, 0.2, 0 }, { 0, 1, 0 }

-- Every question, with its name, as an asker of (oracle, options).
local questions = {
  gradient = function(ask, o) return ask:gradient(x, o) end,
  moment = function(ask, o) return ask:moment(pn.tanh, x, o) end,
  difference = function(ask, o) return ask:difference(x, v, o) end,
  hessian = function(ask, o) return ask:hessian(x, o) end,
  hvp = function(ask, o) return ask:hvp(x, v, o) end,
  mean = function(ask, o) return ask:mean(pn.tanh, x, o) end,
  value = function(ask, o) return ask:value(x, o) end,
  values = function(ask, o) return ask:values({ x, v }, o) end,
  differences = function(ask, o)
    local all = { radius = 0.1 }
    for name, value in pairs(o or {}) do all[name] = value end
    return ask:differences(x, { v }, all)
  end,
  vertex = function(ask, o) return ask:vertex(x, o) end,
  choose = function(ask, o) return ask:choose({ x, v }, o) end,
}
local choices = { vertex = true, choose = true }

for name, question in pairs(questions) do
  describe("ask:" .. name, function()
    it("costs what it was told to: rho, epsilon and delta, or sigma", function()
      local ledger = pn.ledger { rho = 1 }
      question(pn.oracle { objective = obj, ledger = ledger }, { rho = 0.01 })
      assert.is_true(ledger.spent <= 0.01 and ledger.spent > 0.00999)
      local other = pn.ledger { epsilon = 1, delta = 1e-6 }
      question(pn.oracle { objective = obj, ledger = other }, { epsilon = 0.3, delta = 1e-6 })
      assert.is_true(other.spent <= 0.3 + 1e-9 and other.spent > 0.2)
      if choices[name] then
        refused("oracle: a choice has no sigma; give rho=, or epsilon=", question, pn.oracle { objective = obj, ledger = ledger },
          { sigma = 1 })
      else
        local third = pn.ledger { rho = 100 }
        question(pn.oracle { objective = obj, ledger = third }, { sigma = 0.05 })
        local once = third.spent
        question(pn.oracle { objective = obj, ledger = third }, { sigma = 0.1 })
        assert.near(once / 4, third.spent - once, once * 1e-6)
      end
    end)

    it("refuses what has no price, or two, and what the ledger cannot pay, for nothing", function()
      local ledger = pn.ledger { rho = 0.01 }
      local ask = pn.oracle { objective = obj, ledger = ledger }
      for _, options in ipairs { {}, { rho = 0.001, epsilon = 1, delta = 1e-6 } } do
        refused("oracle: say what this answer may cost: sigma=, or rho=, or epsilon= and delta=", question, ask, options)
      end
      refused("rho must be a positive number", question, ask, { rho = -1 })
      refused("unknown option 'foo'", question, ask, { rho = 0.001, foo = 1 })
      refused("Requested rho", question, ask, { rho = 0.02 })
      assert.equal(0, ledger.spent)
    end)

    it("takes a seeded stream with a teaching ledger alone, and then repeats itself", function()
      local real, answers = pn.ledger { rho = 1 }, {}
      local ask = pn.oracle { objective = obj, ledger = real, rng = pn.rng.seeded(1) }
      refused("seeded", question, ask, { rho = 0.01 })
      assert.equal(0, real.spent)
      for turn = 1, 2 do
        local mine = pn.oracle { objective = obj, ledger = pn.ledger { rho = 1, teaching = true }, rng = pn.rng.seeded(1) }
        answers[turn] = tostring((question(mine, { rho = 0.01 })))
      end
      assert.equal(answers[1], answers[2])
    end)

    it("has no relation that makes the number of records a secret", function()
      local ledger = pn.ledger { rho = 1, neighbours = "add_remove" }
      refused("neighbours=\"add_remove\" makes n secret", question, pn.oracle { objective = obj, ledger = ledger }, { rho = 0.01 })
      assert.equal(0, ledger.spent)
    end)
  end)
end

describe("an oracle", function()
  local ledger = pn.ledger { rho = 1 }
  local ask = pn.oracle { objective = obj, ledger = ledger }

  it("needs an objective and a ledger", function()
    refused("oracle: ledger must be a pn.ledger", pn.oracle, { objective = obj })
    refused("oracle: objective", pn.oracle, { ledger = ledger })
    refused("unknown option 'foo'", pn.oracle, { objective = obj, ledger = ledger, foo = 1 })
    refused("oracle: a batch has 1 to 500 records, got 501", pn.oracle, { objective = obj, ledger = ledger, batch = 501 })
    refused("oracle: batch.scheme must be \"fixed\", \"poisson\" or \"shuffled\", got \"x\"", pn.oracle,
      { objective = obj, ledger = ledger, batch = { scheme = "x", size = 3 } })
    refused("oracle: a batch needs size=", pn.oracle, { objective = obj, ledger = ledger, batch = { scheme = "fixed" } })
    refused("oracle: unknown option 'batch.sice'; batch takes scheme, size, rate", pn.oracle,
      { objective = obj, ledger = ledger, batch = { sice = 3 } })
    refused("oracle: a batch needs size=, a number of records, or rate=, above 0 and at most 1, not both", pn.oracle,
      { objective = obj, ledger = ledger, batch = { size = 3, rate = 0.1 } })
    refused("oracle: batch.rate must be a number above 0, at most 1, got 2", pn.oracle,
      { objective = obj, ledger = ledger, batch = { rate = 2 } })
    for _, batch in ipairs { "ten", {} } do
      refused("oracle: batch must be a number or a table of options, as batch={scheme=, size=, rate=}, got", pn.oracle,
        { objective = obj, ledger = ledger, batch = batch })
    end
  end)

  it("refuses points, directions and batches that cannot be, for nothing", function()
    local before = ledger.spent
    for _, bad in ipairs { { 1, 2 }, { 0 / 0, 0, 0 }, { 1 / 0, 0, 0 }, 3, "x", {} } do
      for _, name in ipairs { "gradient", "hessian", "value", "vertex" } do
        assert.is_false((pcall(ask[name], ask, bad, { rho = 0.01 })))
      end
      assert.is_false((pcall(ask.hvp, ask, x, bad, { rho = 0.01 })))
      assert.is_false((pcall(ask.difference, ask, bad, x, { rho = 0.01 })))
      assert.is_false((pcall(ask.values, ask, { bad }, { rho = 0.01 })))
    end
    refused("has length", ask.hvp, ask, x, { 1e300, 0, 0 }, { rho = 0.01 })
    refused("differences: radius must be a positive number, got 0", ask.differences, ask, x, { v }, { rho = 0.01 })
    refused("value: the question is asked of all records; leave batch out", ask.value, ask, x, { rho = 0.01, batch = 10 })
    refused("hessian: batches must have a fixed size", ask.hessian, ask, x,
      { rho = 0.01, batch = { scheme = "poisson", size = 9 } })
    refused("oracle: hvp does not take clip=; leave it out, or give clip= to pn.objective", ask.hvp, ask, x, v,
      { rho = 0.01, clip = 1 })
    refused("oracle: value does not take radius=", ask.value, ask, x, { rho = 0.01, radius = 1 })
    refused("oracle: hvp does not take reach=", ask.hvp, ask, x, v, { rho = 0.01, reach = 1 })
    refused("oracle: clip must be a positive number or {low, high}", ask.value, ask, x, { rho = 0.01, clip = { 1, 0 } })
    assert.equal(before, ledger.spent)
  end)

  it("refuses what nothing bounds with the interval that failed, for nothing", function()
    local open = pn.objective { data = data, loss = pn.loss.squared() }
    local own = pn.oracle { objective = open, ledger = ledger }
    local before = ledger.spent
    local function exp(z) return pn.exp(z) end
    refused("oracle: value: the loss is not bounded: for margins in [-inf, inf] it is in", own.value, own, x, { rho = 0.01 })
    refused("oracle: mean: phi is not bounded: for margins in [-inf, inf] it is in [0, inf]", own.mean, own, exp, x, { rho = 0.01 })
    refused("oracle: moment: phi is not bounded: for margins in [-inf, inf]", own.moment, own, exp, x, { rho = 0.01 })
    refused("oracle: gradient: the gradient of a record is not bounded", own.gradient, own, x, { rho = 0.01 })
    refused("vertex: private choice needs a polytope with vertices", own.vertex, own, x, { rho = 0.01 })
    local kinked = pn.oracle { objective = pn.objective { data = data, loss = pn.loss.hinge() }, ledger = ledger }
    refused("hvp: every record's loss must be smooth", kinked.hvp, kinked, x, v, { rho = 0.01 })
    local rough = pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.nuclear { lambda = 1, rows = 3, cols = 1 } }
    local ranked = pn.oracle { objective = rough, ledger = ledger }
    refused("oracle: reg.nuclear: there are no Hessian-vector products", ranked.hvp, ranked, x, v, { rho = 0.01 })
    refused("oracle: the function returned a table", ask.moment, ask, function() return {} end, x, { rho = 0.01 })
    refused("oracle", ask.mean, ask, 3, x, { rho = 0.01 })
    assert.equal(before, ledger.spent)
    own:value(x, { rho = 0.001, clip = 5 })
    own:mean(exp, x, { rho = 0.001, clip = { 0, 9 } })
  end)

  it("takes no choice that costs more than it was told to", function()
    local small = pn.ledger { rho = 1 }
    local own = pn.oracle { objective = obj, ledger = small }
    refused("oracle: rho = 1e-30 does not pay for 1 choice: give ", own.vertex, own, x, { rho = 1e-30 })
    refused("oracle: no noise that can be drawn makes gradient cost as little as rho 1e-30; give more rho", own.gradient, own, x,
      { rho = 1e-30 })
    refused("oracle: no noise that can be drawn makes value cost as little as epsilon 1e-300; give more epsilon or delta",
      own.value, own, x, { epsilon = 1e-300, delta = 1e-300 })
    assert.equal(0, small.spent)
  end)

  it("has a running sum of a given sigma, on the last sum, at a quarter of the price for twice as much", function()
    local own = pn.oracle { objective = obj, ledger = pn.ledger { rho = 10 } }
    local spent = 0
    for turn = 1, 2 do
      own:prefix { factorization = "sqrt", horizon = 3, sigma = turn }:push(x)
      local cost = own.spent - spent
      spent = own.spent
      assert.near(spent / (turn == 1 and 1 or 5), cost, 1e-6 * cost)
    end
    refused("oracle: a watch has no sigma; give rho=, or epsilon=", own.watch, own, { threshold = 0.5, sigma = 1 })
  end)

  it("names the questions that there are where it is asked for the noise of another", function()
    refused("oracle: noise: there is no question the string \"gradiant\"; there are gradient, moment,", ask.noise, ask, "gradiant")
    refused("oracle: noise: there is no question a table; there are gradient, moment,", ask.noise, ask, {})
    refused("oracle: noise: there is no question the string \"point\"", ask.noise, ask, "point")
    refused("oracle: rng must be a pn.rng, got 3", pn.oracle, { objective = obj, ledger = ledger, rng = 3 })
  end)

  it("is asked of batches, which are cheaper", function()
    for _, name in ipairs { "gradient", "difference", "hvp", "moment", "hessian" } do
      local costs = {}
      for _, batch in ipairs { false, 25 } do
        local own = pn.ledger { rho = 1e6 }
        questions[name](pn.oracle { objective = obj, ledger = own }, { sigma = 0.05, batch = batch or nil })
        costs[#costs + 1] = own.spent
      end
      assert.is_true(costs[1] > 0 and costs[2] > 0)
    end
    local own = pn.ledger { rho = 1e6 }
    local by_default = pn.oracle { objective = obj, ledger = own, batch = 25 }
    by_default:gradient(x, { sigma = 0.5 })
    local sampled = own.spent
    by_default:gradient(x, { sigma = 0.5, batch = false })
    assert.is_true(sampled ~= own.spent - sampled)
    by_default:value(x, { rho = 0.01 })
  end)

  it("prices coins about a replaced record as whole contributions, for a convex Hessian too", function()
    -- A record whose Hessian has norm L against one without curvature: under either relation at least as bad as leaving it out.
    local spent = {}
    for _, relation in ipairs { "replace_one", "zero_out" } do
      local own = pn.ledger { epsilon = 100, delta = 1e-6, neighbours = relation }
      pn.oracle { objective = obj, ledger = own }:hvp(x, v, { sigma = 0.005, batch = { scheme = "poisson", size = 50 } })
      spent[relation] = own.spent
    end
    assert.is_true(spent.replace_one >= spent.zero_out)
  end)

  it("outlives what it was made of", function()
    local own = pn.oracle { objective = pn.objective { data = data, loss = pn.loss.logistic() }, ledger = pn.ledger { rho = 1 } }
    collectgarbage()
    collectgarbage()
    own:gradient(x, { rho = 0.01 })
    assert.near(0.99, own.left, 1e-6)
    local closed = pn.objective { data = data, loss = pn.loss.logistic() }
    local late = pn.oracle { objective = closed, ledger = pn.ledger { rho = 1 } }
    do local _ <close> = closed end
    late:gradient(x, { rho = 0.01 })
    assert.near(0.01, late.spent, 1e-6)
  end)
end)
