-- advise_probe_spec.lua -- pn.advise{probe=}: what it charges and when, the question that it releases, and which set it stars.
local pn = require "penumbra"

local folder = os.getenv "PENUMBRA_DATA"
local n = 20000

-- Two classes that a model of norm 4 parts, or labels that no feature tells.
local function data(random)
  local d = (pn.data.synthetic.logistic { n = n, p = 4, seed = 1 }):clip_rows("l2", 1)
  if not random then return d end
  local rng, y = pn.rng.seeded(2), {}
  for i = 1, n do y[i] = rng:uniform() < 0.5 and -1 or 1 end
  return d:with_labels(y)
end

local function balls(...)
  local out = {}
  for k, radius in ipairs { ... } do out[k] = pn.set.l2_ball { dim = 4, radius = radius } end
  return out
end

-- Plans of one cheap solver over two balls, with these options besides.
local function advice(options, d)
  local all = { sets = balls(1, 8), solvers = { "gradient_descent" }, iterations = 20, probe = 0.1, progress = false }
  for name, value in pairs(options) do all[name] = value end
  all.loss = nil
  return pn.advise(d or data(), options.loss or pn.loss.logistic(), all)
end

local function flat(text) return (tostring(text):gsub("%s+", " ")) end

local budget = { epsilon = 1, delta = 1e-8 }
local rho = pn.calibrate.gaussian(budget) ^ -2 / 2

-- The first Gaussian of the event: sigma, sensitivity and draws of the question of the losses.
local function question(ranking)
  local text = flat(ranking.probe.event)
  local sigma, sensitivity, draws = text:match "gaussian%(sigma=([%d.e-]+), sensitivity=([%d.e-]+), draws=(%d+)"
  return tonumber(sigma), tonumber(sensitivity), tonumber(draws)
end

describe("pn.advise with a probe", function()
  it("charges once, before any noise is drawn, what its share of the budget is", function()
    local L, seen = pn.ledger { rho = 1 }, nil
    local ranking = advice { rho = 0.5, probe = 0.2, ledger = L, progress = function(done, _, label)
      if label == "advise: probe" and done == 0 then seen = seen or L.spent end
    end }
    assert.is_near(0.2 * 0.5, L.spent, 1e-9)
    assert.is_true(L.spent <= 0.2 * 0.5 * (1 + 1e-12))
    assert.equal(L.spent, seen) -- when the first fit begins
    local report = L:report()
    assert.equal(1, #report)
    assert.truthy(report[1].label:find("advise: probe", 1, true))
    assert.equal(1, report[1].count)
    assert.is_near(0.5 - L.spent, ranking.ledger.remaining, 1e-9)
  end)

  it("releases M + 1 losses with the noise of a fifth of it, each clipped to its range", function()
    local low, high = math.log(1 + math.exp(-8)), math.log(1 + math.exp(8))
    for relation, moved in pairs { replace_one = high - low, zero_out = high } do
      local ranking = advice { epsilon = 1, delta = 1e-8, neighbours = relation }
      local sigma, sensitivity, draws = question(ranking)
      assert.equal(3, draws)
      assert.is_near(1, sensitivity / (moved * math.sqrt(3) / n), 1e-6)
      assert.is_near(1, sigma / (sensitivity / math.sqrt(2 * 0.1 * rho / 5)), 1e-6)
      assert.equal(sigma, ranking.probe.sd)
      assert.is_near(low, ranking.probe.clip[1], 1e-6)
      assert.is_near(high, ranking.probe.clip[2], 1e-6)
      assert.equal(relation, ranking.ledger.neighbours)
      -- The fits have the rest in equal parts: what the whole event costs is the share.
      local cost = pn.ledger { rho = 1, neighbours = relation }:price(ranking.probe.event)
      assert.is_true(cost <= 0.1 * rho * (1 + 1e-12) and cost >= 0.1 * rho * (1 - 1e-6))
    end
  end)

  -- The loss at theta = 0 is ln 2 whatever the records are.  Of 12 standard normals one beyond 6 has a chance of 2.4e-8; all
  -- within 0.1 one of 6.6e-14.
  it("tells the loss at the start with noise of that deviation", function()
    local largest = 0
    for seed = 1, 12 do
      local ranking = advice { epsilon = 1, delta = 1e-8, rng = pn.rng.seeded(seed) }
      largest = math.max(largest, math.abs(ranking.probe.start - math.log(2)) / ranking.probe.sd)
    end
    assert.is_true(largest < 6 and largest > 0.1, tostring(largest))
  end)

  it("stars the set that is clearly below the start, and plans it with what is left", function()
    local d, L = data(), pn.ledger { epsilon = 2, delta = 1e-8, teaching = true }
    local ranking = advice({ epsilon = 1, delta = 1e-8, ledger = L, rng = pn.rng.seeded(1) }, d)
    local best = ranking.best
    assert.equal(8, best.set.radius)
    assert.equal(best.set, ranking.probe.set)
    for _, group in ipairs(ranking.sets) do assert.is_true(group.probe_loss >= ranking.sets[2].probe_loss) end
    assert.truthy(flat(ranking):find("* recommended: solve.gradient_descent over l2_ball(dim=4, radius=8)", 1, true))
    for line in (tostring(ranking) .. "\n"):gmatch "(.-)\n" do assert.is_true(#line <= 80, line) end
    local fit = best.plan:run { rng = pn.rng.seeded(7) }
    local most = 0
    for _, entry in ipairs(d:summary().label_counts) do most = math.max(most, entry.count) end
    assert.is_true(pn.objective({ data = d, loss = pn.loss.logistic() }):accuracy(fit.theta) > most / n + 0.1)
    assert.is_true(pn.event.compose { ranking.probe.event, best.plan.event }:epsilon(1e-8) <= 1 + 1e-9)
    assert.is_true(best.plan.epsilon > 0.6) -- rho, not epsilon, is what adds up
    assert.is_false((pcall(best.plan.run, best.plan, { rng = pn.rng.seeded(8) }))) -- the budget is the one of the call, not L's
    assert.is_true(L.remaining > 0.9)
  end)

  it("says so where no set beats the start", function()
    local ranking = advice({ epsilon = 1, delta = 1e-8, rng = pn.rng.seeded(1) }, data(true))
    assert.is_nil(ranking.best)
    assert.is_nil(ranking.probe.set)
    assert.truthy(flat(ranking):find("no set beats the start by more than the noise of the probe", 1, true))
    assert.truthy(flat(ranking):find("left for the final fit: epsilon", 1, true))
  end)

  it("takes as the start what is two deviations of a difference above the best, and nothing nearer", function()
    for seed = 1, 20 do
      local ranking = advice { epsilon = 0.35, delta = 1e-8, rng = pn.rng.seeded(seed) }
      local least = math.min(ranking.sets[1].probe_loss, ranking.sets[2].probe_loss)
      assert.equal(least < ranking.probe.start - 2 * math.sqrt(2) * ranking.probe.sd, ranking.probe.set ~= nil)
    end
  end)

  it("is marked as a simulation under a seeded stream, which a real ledger refuses", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-8 }
    local ok, message = pcall(advice, { epsilon = 1, delta = 1e-8, ledger = L, rng = pn.rng.seeded(1) })
    assert.is_false(ok)
    assert.truthy(message:find("advise: seeded noise", 1, true), message)
    assert.equal(0, L.spent)
    local ranking = advice { epsilon = 1, delta = 1e-8, rng = pn.rng.seeded(1) }
    assert.is_true(ranking.probe.simulated)
    assert.truthy(flat(ranking):find("a simulation with seeded noise", 1, true))
    assert.is_false(advice({ epsilon = 1, delta = 1e-8 }).probe.simulated)
  end)

  it("counts as one release of the session, and of the data set's budget", function()
    local X, y, rng = {}, {}, pn.rng.seeded(9)
    for i = 1, 397 do -- of no other spec
      X[i], y[i] = { rng:uniform(), rng:uniform(), 0, 1 }, i % 2 * 2 - 1
    end
    local d = pn.data.from(X, y):clip_rows("l2", 1)
    local function row()
      for _, each in ipairs(pn.session()) do
        if each.records == 397 then return each end
      end
    end
    local limit = pn.budget { data = d, rho = 1 }
    advice({ rho = 0.5, sets = balls(4, 8) }, d)
    assert.equal(1, row().releases)
    assert.is_near(0.05, row().rho, 1e-9)
    assert.is_near(0.05, limit.spent, 1e-9)
    advice({ rho = 0.5, sets = balls(4, 8), rng = pn.rng.seeded(1) }, d)
    assert.same({ 1, limit.spent }, { row().releases, row().rho })
    local ok, message = pcall(advice, { rho = 0.5, sets = balls(4, 8), ledger = pn.ledger { rho = 1 } }, d)
    assert.is_false(ok, "a ledger beside the data set's budget")
    assert.truthy(message:find("budget", 1, true), message)
    ok, message = pcall(advice, { rho = 20, sets = balls(4, 8) }, d)
    assert.is_false(ok)
    assert.truthy(message:find("Requested", 1, true), message)
    assert.is_nil(message:find("probe.lua", 1, true), message)
    assert.is_near(0.05, limit.spent, 1e-9)
  end)

  it("keeps the price where it is stopped after the charge, and tells nothing", function()
    local L = pn.ledger { rho = 1 }
    local ok, message = pcall(advice, { rho = 0.5, ledger = L, progress = function(_, _, label)
      if label == "advise: probe" then error("enough", 0) end
    end })
    assert.is_false(ok)
    assert.equal("enough", message)
    assert.is_near(0.05, L.spent, 1e-9)
  end)

  it("probes losses of several margins and of labels in a range", function()
    local classes = {}
    for i = 1, n do classes[i] = i % 3 + 1 end
    local ranking = advice({ rho = 100, loss = pn.loss.softmax { classes = 3 },
      sets = { pn.set.l2_ball { dim = 12, radius = 4 } } }, data():with_labels(classes))
    assert.is_near(math.log(3), ranking.probe.start, 6 * ranking.probe.sd)
    ranking = advice({ rho = 100, loss = pn.loss.squared(), sets = balls(1) }, data():clip_labels(-1, 1))
    assert.is_near(0.5, ranking.probe.start, 6 * ranking.probe.sd)
  end)

  it("is clear about what it cannot do, before anything is spent", function()
    local L = pn.ledger { epsilon = 1, delta = 1e-8 }
    local cases = {
      { { probe = 2 }, "probe must be true or a share of the budget between 0 and 1, got 2" },
      { { probe = "much" }, "probe must be true or a share" },
      { { probe = false, rng = pn.rng.seeded(1) }, "rng= belongs to the probe" },
      { { epsilon = 1, delta = 1e-8, neighbours = "add_remove", ledger = pn.ledger { epsilon = 1, delta = 1e-8,
        neighbours = "add_remove" } }, "makes n secret" },
      { { epsilon = 1, delta = 1e-8, ledger = L, sets = balls(0.01) }, "nothing was spent: no set has a star" },
      { { ledger = pn.ledger { epsilon = 1 }, solvers = { "frank_wolfe" }, sets = { pn.set.l1_ball { dim = 4 } } },
        "needs a delta > 0" },
    }
    for _, case in ipairs(cases) do
      local options = case[1]
      if not (options.epsilon or options.ledger) then options.epsilon, options.delta, options.ledger = 1, 1e-8, L end
      local ok, message = pcall(advice, options)
      assert.is_false(ok, case[2])
      assert.truthy(tostring(message):find(case[2], 1, true), tostring(message))
      assert.truthy(message:find("^advise: "), message)
    end
    assert.equal(0, L.spent)
  end)

  if folder and folder ~= "" then
    -- The majority class of Adult's test file is .7638 of it, of its training file .7592.
    it("is better than the majority class on Adult, or says that no set beats the start", function()
      local d = pn.data.libsvm(folder .. "/a9a.gz"):clip_rows("l2", 1)
      local price = { epsilon = 1, delta = 1 / d.n ^ 2 }
      local plain = pn.advise(d, pn.loss.logistic(), price)
      assert.is_nil(plain.best)
      for _, row in ipairs(plain) do assert.is_nil(row.set.name:find "simplex") end
      price.probe, price.radii = 0.1, { 1, 4, 16 }
      local ranking = pn.advise(d, pn.loss.logistic(), price)
      if ranking.best then
        local objective = pn.objective { data = d, loss = pn.loss.logistic() }
        assert.is_true(objective:accuracy(ranking.best.plan:run().theta) > 0.7592)
      else
        assert.truthy(flat(ranking):find("no set beats the start", 1, true))
      end
    end)
  end
end)
