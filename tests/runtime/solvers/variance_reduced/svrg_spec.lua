-- svrg_spec.lua -- svrg and svrg_pp: the steps of the articles, their prices, and what they refuse.
-- Numbers: variance-reduced.md section 9; the steps are compared with a few lines of Lua below, which
-- reproduce the published toy run.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- ---- the published toy problem ----

local function toy()
  local X, y = {}, {}
  for i = 1, 8 do
    X[i] = {}
    for j = 1, 3 do
      X[i][j] = ((37 * (3 * (i - 1) + j)) % 101) / 101 - 0.5
    end
    y[i] = ((53 * i) % 97) / 97 - 0.5
  end
  return X, y
end

local function dot(a, b)
  local sum = 0
  for j = 1, #a do sum = sum + a[j] * b[j] end
  return sum
end

local function soft(x, t)
  return x > t and x - t or x < -t and x + t or 0
end

-- Algorithms 1 and 2 of the article on squared losses, batch 1, noise-free; `draw` gives the record of each inner step.
local function reference(X, y, how, draw)
  local n, p = #X, #X[1]
  local answer, x = {table.unpack(how.start)}, {table.unpack(how.start)}
  for s = 1, how.epochs do
    local snapshot, v, sum = answer, {}, {}
    local steps = how.doubling and how.inner << s or how.inner
    for j = 1, p do v[j], sum[j] = 0, 0 end
    for i = 1, n do
      for j = 1, p do v[j] = v[j] + (dot(X[i], snapshot) - y[i]) * X[i][j] / n end
    end
    if not how.doubling then x = {table.unpack(snapshot)} end
    for _ = 1, steps do
      local i = draw()
      local change = dot(X[i], x) - dot(X[i], snapshot)
      for j = 1, p do
        x[j] = soft(x[j] - how.step * (change * X[i][j] + v[j]), how.step * (how.l1 or 0))
        sum[j] = sum[j] + x[j]
      end
    end
    answer = {}
    for j = 1, p do answer[j] = sum[j] / steps end
  end
  return answer
end

local function published_indices()
  local state = 12345
  return function()
    state = (1103515245 * state + 12345) % (1 << 31)
    return (state >> 8) % 8 + 1
  end
end

local start = {0.5, -0.25, 0.1}
local plain = {epochs = 2, inner = 5, step = 0.2, start = start}
local doubling = {epochs = 2, inner = 3, step = 0.2, start = start, doubling = true, l1 = 0.02}

local function near(expected, got, tolerance)
  for j = 1, #expected do
    assert.is_true(math.abs(expected[j] - got[j]) <= tolerance, ("entry %d: %.10g, not %.10g"):format(j, got[j], expected[j]))
  end
end

describe("the reference of these tests", function()
  it("reproduces the published toy runs", function()
    local X, y = toy()
    near({0.46453657, -0.19188230, 0.09729319}, reference(X, y, plain, published_indices()), 6e-9)
    near({0.38858201, -0.09899536, 0.05111882}, reference(X, y, doubling, published_indices()), 6e-9)
  end)
end)

-- ---- the steps ----

local function toy_objective(reg)
  local X, y = toy()
  local data = pn.data.from(pn.mat(X), pn.vec(y)):clip_rows("l2", 10):clip_labels(-1, 1)
  return pn.objective{data = data, loss = pn.loss.squared(), reg = reg}
end

-- The records that a run with this seed draws: its batches are the first thing that it takes from its stream.
local function drawn_by(seed)
  local sampler, rng = pn.sampler.fixed{n = 8, batch = 1}, pn.rng.seeded(seed)
  return function() return sampler:draw(rng)[1] end
end

local function as_published(obj, name, how, seed, changes)
  local options = {privacy = false, epochs = how.epochs, inner = how.inner, batch = 1, step = how.step, tail = 0,
    start = pn.vec(how.start)}
  for k, v in pairs(changes or {}) do options[k] = v end
  return pn.solve[name].plan(obj, options):run{rng = pn.rng.seeded(seed)}
end

describe("svrg and svrg_pp without noise", function()
  it("make the steps of Algorithm 1", function()
    local X, y = toy()
    local obj = toy_objective()
    for seed = 1, 5 do
      local fit = as_published(obj, "svrg", plain, seed)
      near(reference(X, y, plain, drawn_by(seed)), fit.theta:table(), 1e-12)
      assert.are.equal(2 * (8 + 2 * 5), fit.gradients)
      assert.are.equal(fit.gradients, fit.plan.gradients)
    end
  end)

  it("make the steps of Algorithm 2, with a proximal step", function()
    local X, y = toy()
    for _, option in ipairs{"reg", "prox"} do
      local obj = toy_objective(option == "reg" and pn.reg.l1(0.02) or nil)
      local fit = as_published(obj, "svrg_pp", doubling, 3, option == "prox" and {prox = pn.prox.l1(0.02)} or nil)
      near(reference(X, y, doubling, drawn_by(3)), fit.theta:table(), 1e-12)
      assert.are.equal(2 * 8 + 2 * 3 * (2 + 4), fit.gradients)
    end
  end)

  it("weigh iterates as tail says", function()
    local obj = toy_objective()
    -- one epoch of two steps: weights 1 and (a + 1)/(a + 2) of the second
    local first = as_published(obj, "svrg", {epochs = 1, inner = 1, step = 0.2, start = start}, 7).theta
    local both = as_published(obj, "svrg", {epochs = 1, inner = 2, step = 0.2, start = start}, 7).theta
    local second = 2 * both - first
    local fit = as_published(obj, "svrg", {epochs = 1, inner = 2, step = 0.2, start = start}, 7, {tail = 3})
    near((0.2 * first + 0.8 * second):table(), fit.theta:table(), 1e-14)
  end)
end)

-- ---- convergence ----

describe("svrg with preset = \"theory\"", function()
  it("takes the least m above 192 kappa + 2/3, at eta = 1/(48 L)", function()
    for _, case in ipairs{{1, 193}, {10, 1921}, {100, 19201}, {10000, 1920001}} do
      -- A logistic loss on unit rows has L = 1/4; strong convexity L/kappa is claimed.
      local data = pn.data.synthetic.logistic{n = 50, p = 3, seed = 1}:clip_rows("l2", 1)
      local obj = pn.objective{data = data, loss = pn.loss.logistic()}
      local L = obj.bounds.smoothness
      local plan = pn.solve.svrg.plan(obj, {privacy = false, preset = "theory", strong_convexity = L / case[1]})
      assert.are.equal(case[2], plan.lines["inner steps m"])
      assert.is_near(1 / (48 * L), plan.lines["step eta"], 1e-15)
    end
  end)

  it("halves the gap of a strongly convex lasso in every epoch, down to exact zeros", function()
    local data = pn.data.synthetic.lasso{n = 200, p = 10, sparsity = 2, noise = 0.1, seed = 4}:clip_rows("l2", 1)
      :clip_labels(-1, 1)
    local obj = pn.objective{data = data, loss = pn.loss.squared(), reg = pn.reg.elastic_net{l1 = 0.01, l2 = 0.2},
      set = pn.set.l2_ball{dim = 10, radius = 20}}
    local best = pn.solve.exact(obj, {tol = 1e-13})
    local plan = pn.solve.svrg.plan(obj, {privacy = false, preset = "theory", epochs = 12})
    local last
    for state in plan:steps{rng = pn.rng.seeded(9)} do
      local gap = obj:value(state.theta) - best.value
      if last and last > 1e-11 then
        assert.is_true(gap <= last / 2, ("epoch %d: %g after %g"):format(state.step, gap, last))
      end
      last = gap
    end
    assert.is_true(last < 1e-4 * plan.lines["excess risk bound"] or last < 1e-11)
    local zeros = 0
    for j = 1, 10 do
      assert.are.equal(best.theta[j] == 0, math.abs(best.theta[j]) < 1e-12)
      if best.theta[j] == 0 then zeros = zeros + 1 end
    end
    assert.is_true(zeros > 0)
  end)

  law("states a bound that holds, without noise and with it", function()
    local data = pn.data.synthetic.logistic{n = 20000, p = 5, seed = 5}:clip_rows("l2", 1)
    local obj = pn.objective{data = data, loss = pn.loss.logistic(), reg = pn.reg.l2(0.25),
      set = pn.set.l2_ball{dim = 5, radius = 4}}
    local best = pn.solve.exact(obj, {tol = 1e-12})
    for _, options in ipairs{
      {privacy = false}, {epsilon = 2, delta = 1e-8}, {epsilon = 2, delta = 1e-8, form = "printed"},
    } do
      options.preset, options.epochs, options.batch = "theory", 4, 200
      local plan = pn.solve.svrg.plan(obj, options)
      assert.is_true(plan.bound > 0 and plan.bound < plan.lines["gradient bound G"] * 8)
      local sum = 0
      for seed = 1, 10 do
        sum = sum + obj:value(plan:run{rng = pn.rng.seeded(seed)}.theta) - best.value
      end
      assert.is_true(sum / 10 <= plan.bound)
    end
  end)
end)

-- ---- privacy ----

local function private_objective(n, p, lambda)
  local data = pn.data.synthetic.logistic{n = n or 2000, p = p or 4, seed = 6}:clip_rows("l2", 1)
  return pn.objective{data = data, loss = pn.loss.logistic(), reg = pn.reg.l2(lambda or 0.05)}
end

describe("a private svrg", function()
  it("needs the noise that the joint curve gives", function()
    -- n = 10^4, G = 1, T = 10, m = 1921, epsilon = 1, delta = 10^-6.  The published sigmas come from a coarser grid of orders:
    -- up to 4 % above ours, never below.
    local obj = private_objective(10000, 3)
    local share = 1 / obj.bounds.lipschitz.l2
    local function sigma(form, batch)
      return pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-6, form = form, epochs = 10, inner = 1921, batch = batch,
        anchor_share = form == "anchored" and 0.5 or nil, accountant = "rdp"}).sigma * share
    end
    local published = {printed = {[1] = 3.288, [20] = 0.4509, [100] = 0.3916, [500] = 0.3807},
      anchored = {[1] = 3.491, [100] = 0.3166}}
    for form, row in pairs(published) do
      for batch, expected in pairs(row) do
        local got = sigma(form, batch)
        assert.is_true(got <= expected * 1.0005 and got >= expected / 1.045,
          ("%s, batch %d: %g, not %g"):format(form, batch, got, expected))
      end
    end
    local plan = pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-6, epochs = 10, inner = 1921, anchor_share = 0.5})
    assert.is_near(0.00527994, plan.lines["snapshot noise"] * share, 1e-8)
  end)

  it("sets the article's count of gradients beside one that a guarantee allows", function()
    -- n = 10^4, T m = 19210, epsilon = 1, delta = 10^-6: the batch is 10^4 / sqrt(19210 ln 10^6) = 19.4
    local plan = pn.solve.svrg.plan(private_objective(10000, 3), {epsilon = 1, delta = 1e-6, epochs = 10, inner = 1921,
      batch = 100, accountant = "rdp"})
    assert.are.equal(10 * (10000 + 2 * 1921 * 19), plan.lines["valid count"])
    assert.matches("the article counts 1.384e+05, b = 1", (tostring(plan):gsub("%s+", " ")), 1, true)
    assert.are.equal(10 * (10000 + 2 * 1921 * 100), plan.gradients)
  end)

  it("is charged what its plan says, epoch by epoch", function()
    for _, name in ipairs{"svrg", "svrg_pp"} do
      for _, form in ipairs{"anchored", "printed"} do
        local obj = private_objective()
        local plan = pn.solve[name].plan(obj, {epsilon = 1, delta = 1e-7, form = form, epochs = 3, inner = 10, batch = 50,
          accountant = "rdp"})
        local ledger = pn.ledger{epsilon = 1, delta = 1e-7}
        local fit = plan:run{ledger = ledger}
        assert.is_near(plan.epsilon, fit.privacy.epsilon, 1e-12)
        assert.is_true(fit.privacy.epsilon <= 1 and fit.privacy.epsilon > 0.999)
        assert.are.equal("rdp", fit.privacy.accountant)
        assert.is_true(ledger.remaining < 0.2)
        assert.has_error(function() plan:run{ledger = ledger} end)
        assert.are.equal(plan.gradients, fit.gradients)
        local acc = pn.accountant.rdp{}
        acc:add(plan.event, 1)
        assert.is_near(plan.epsilon, acc:epsilon(1e-7), 1e-6)
      end
    end
  end)

  it("is priced under zero_out as its coins and its snapshots are", function()
    local n = 2000
    local obj = private_objective(n, 3)
    local G = obj.bounds.lipschitz.l2
    for _, name in ipairs{"svrg", "svrg_pp"} do
      for _, batch in ipairs{50, n} do
        for _, accountant in ipairs{"rdp", "pld"} do
          local plan = pn.solve[name].plan(obj, {epsilon = 1, delta = 1e-7, neighbours = "zero_out", epochs = 3, inner = 10,
            batch = batch, accountant = accountant, anchor_share = 0.5})
          local z, anchor = plan.lines["multiplier z"], plan.lines["snapshot noise"]
          local steps = name == "svrg" and 30 or 140
          -- The same from the public events: snapshots move by G/n, a coin decides about one difference of size tau.  What
          -- rounding to the lattice and in the sums adds is below 1e-6 of either.
          local acc = pn.accountant[accountant]{}
          acc:add(pn.event.gaussian{sigma = anchor, sensitivity = G / n, neighbours = "zero_out"}, 3)
          acc:add(pn.event.poisson_sampled{q = batch / n, event = pn.event.gaussian{sigma = z, sensitivity = 1,
            neighbours = "zero_out"}, neighbours = "zero_out"}, steps)
          assert.is_near(acc:epsilon(1e-7), plan.epsilon, accountant == "pld" and 2e-4 or 1e-6)
          assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999)
          if batch == n and accountant == "rdp" then -- no coin: a composition of Gaussians, in closed form
            local mu = math.sqrt(3 * (G / n / anchor) ^ 2 + steps / z ^ 2)
            local one = pn.accountant.pld{}
            one:add(pn.event.gaussian{sigma = 1 / mu, sensitivity = 1, neighbours = "zero_out"}, 1)
            assert.is_true(one:epsilon(1e-7) <= 1 and one:epsilon(1e-7) > 0.9)
          end
          local ledger = pn.ledger{epsilon = 1, delta = 1e-7, neighbours = "zero_out"}
          local fit = plan:run{ledger = ledger}
          assert.is_near(plan.epsilon, fit.privacy.epsilon, 1e-12)
          assert.has_error(function() plan:run{ledger = ledger} end)
          assert.are.equal(plan.gradients, fit.gradients)
        end
      end
    end
    -- Half the sensitivity for the same share: half the noise of the snapshots, but for their rounding.
    local options = {epsilon = 1, delta = 1e-7, epochs = 3, inner = 10, batch = 50, accountant = "rdp", anchor_share = 0.5}
    local replace = pn.solve.svrg.plan(obj, options)
    options.neighbours = "zero_out"
    local zero = pn.solve.svrg.plan(obj, options)
    assert.is_near(2, replace.lines["snapshot noise"] / zero.lines["snapshot noise"], 1e-6)
    assert.is_true(zero.sigma < 0.6 * replace.sigma)
    assert.matches("by coins of rate b/n", (tostring(zero):gsub("%s+", " ")), 1, true)
    assert.matches("poisson_sampled", tostring(zero.event), 1, true)
  end)

  it("releases v once an epoch when anchored, T m times when printed", function()
    local obj = private_objective()
    local function charges(form)
      local ledger = pn.ledger{epsilon = 2, delta = 1e-7, teaching = true}
      pn.solve.svrg(obj, {epsilon = 1, delta = 1e-7, form = form, epochs = 3, inner = 10, batch = 1, ledger = ledger,
        rng = pn.rng.seeded(1)})
      local counts = {}
      for _, entry in ipairs(ledger:report()) do
        counts[entry.label] = (counts[entry.label] or 0) + entry.count
      end
      return counts
    end
    assert.are.same({["svrg snapshot"] = 3, ["svrg steps"] = 30}, charges("anchored"))
    assert.are.same({["svrg steps"] = 30}, charges("printed"))
  end)

  it("says what a part of a run has cost", function()
    local obj = private_objective()
    local plan = pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-7, epochs = 4, inner = 10, batch = 50, accountant = "rdp"})
    local walk = plan:steps{rng = pn.rng.seeded(2)}
    assert.are.equal(0, walk:fit().privacy.nominal_epsilon)
    walk()
    walk()
    local half = walk:fit().privacy.charged_epsilon
    assert.are.equal(plan.epsilon, walk:fit().privacy.nominal_epsilon) -- wherever the walk is left
    assert.is_true(half > 0.5 and half < 0.95)
    walk()
    walk()
    assert.are.equal(plan.epsilon, walk:fit().privacy.nominal_epsilon)
    assert.is_nil(walk:fit().privacy.charged_epsilon)
  end)

  it("pays once and beforehand by the loss distribution", function()
    local obj = private_objective()
    local options = {epsilon = 1, delta = 1e-7, epochs = 4, inner = 100, batch = 50}
    local pld = pn.solve.svrg.plan(obj, options)
    options.accountant = "rdp"
    local rdp = pn.solve.svrg.plan(obj, options)
    assert.is_true(pld.sigma < rdp.sigma and pld.sigma > 0.5 * rdp.sigma)
    local ledger = pn.ledger{epsilon = 1, delta = 1e-7, teaching = true}
    local walk = pld:steps{ledger = ledger, rng = pn.rng.seeded(3)}
    walk()
    assert.are.equal(1, #ledger:report())
    assert.are.equal("pld", walk:fit().privacy.accountant)
    assert.are.equal(pld.epsilon, walk:fit().privacy.nominal_epsilon)
    for _ = 1, 3 do walk() end
    assert.are.equal(1, #ledger:report())
  end)

  it("says what to do when a budget with other charges cannot take it as a whole", function()
    local obj = private_objective()
    local ledger = pn.ledger{epsilon = 3, delta = 1e-7, teaching = true}
    pn.solve.gradient_descent(obj, {epsilon = 0.5, delta = 1e-7, ledger = ledger, rng = pn.rng.seeded(1)})
    local plan = pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-7})
    local ok, err = pcall(plan.run, plan, {ledger = ledger, rng = pn.rng.seeded(1)})
    assert.is_false(ok)
    assert.matches('accountant="rdp" adds up with other charges', tostring(err), 1, true)
    plan:with{accountant = "rdp"}:run{ledger = ledger, rng = pn.rng.seeded(1)}
  end)

  it("calls the article's noise unproven and charges what it costs", function()
    local obj = private_objective(10000, 3)
    local options = {epsilon = 1, delta = 1e-6, calibration = "paper", epochs = 10, inner = 1921, batch = 1}
    local plan = pn.solve.svrg.plan(obj, options)
    assert.is_near(0.0515166, plan.sigma / obj.bounds.lipschitz.l2, 1e-7)
    assert.is_false(plan.proven)
    assert.is_true(plan.epsilon > 1e3)
    assert.has_error(function() plan:run{ledger = pn.ledger{epsilon = 1, delta = 1e-6}} end)
    options.batch, options.c = 500, 60
    plan = pn.solve.svrg.plan(obj, options)
    assert.is_true(plan.epsilon > 0.5 and plan.epsilon < 1.5)
  end)

  it("draws nothing twice when a step fails in an epoch", function()
    local trouble = {calls = 0}
    local prox = pn.prox.custom{prox = function(v)
      trouble.calls = trouble.calls + 1
      if trouble.calls == trouble.at then error("troubled", 0) end
      return v
    end}
    local obj = private_objective()
    local plan = pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-7, epochs = 2, inner = 5, batch = 50, prox = prox})
    local function walk_to_end(at)
      local ledger = pn.ledger{epsilon = 1, delta = 1e-7, teaching = true}
      local walk, failures = plan:steps{ledger = ledger, rng = pn.rng.seeded(8)}, 0
      trouble.calls, trouble.at = 0, at
      repeat
        local ok, state = pcall(walk)
        if not ok then failures = failures + 1 end
      until ok and state == nil
      return walk:fit(), failures, ledger.remaining
    end
    local smooth, none, left = walk_to_end(nil)
    assert.are.equal(0, none)
    for at = 1, 10 do
      local fit, failures, remaining = walk_to_end(at)
      assert.are.equal(1, failures)
      assert.is_true(fit.theta == smooth.theta)
      assert.are.equal(left, remaining)
      assert.are.equal(smooth.gradients, fit.gradients)
    end
  end)

  law("halves its noise by a reach of a half, which rows that point one way do not break", function()
    local n, dim, rng = 20000, 30, pn.rng.seeded(2)
    local X, y = pn.mat.zeros(n, dim), pn.vec.zeros(n)
    for i = 1, n do
      local row = pn.vec.normal(dim, rng)
      row = 0.4 / row:norm() * row
      row[1] = row[1] + 0.9
      X[i]:axpy(1 / math.max(1, row:norm()), row)
      y[i] = rng:uniform() < 0.7 and 1 or -1
    end
    local obj = pn.objective{data = pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1), loss = pn.loss.squared(),
      set = pn.set.l2_ball{dim = dim, radius = 2}}
    local best = pn.solve.exact(obj, {tol = 1e-7}).value
    local function excess(reach)
      local plan = pn.solve.svrg.plan(obj, {epsilon = 1, delta = 1e-9, reach = reach})
      local sum = 0
      for seed = 1, 3 do sum = sum + obj:value(plan:run{rng = pn.rng.seeded(seed)}.theta) - best end
      return sum / 3, plan
    end
    local default, plan = excess(nil)
    local whole, other = excess(1)
    assert.is_true(default < 1.2 * whole and default < 0.02)
    assert.is_true(excess(0.2) > 5 * default) -- why it is no smaller
    assert.is_near(other.sigma, plan.sigma, 1e-3 * plan.sigma) -- at the largest tau; before that the noise is half
  end)

  it("shows the objective's value only where noise is simulated", function()
    local plan = pn.solve.svrg.plan(private_objective(), {epsilon = 1, delta = 1e-7, epochs = 2, inner = 5, batch = 50})
    assert.is_nil(plan:run{}.trace[1].value)
    assert.is_number(plan:run{rng = pn.rng.seeded(1)}.trace[1].value)
  end)
end)

-- ---- refusals ----

describe("svrg and svrg_pp at a budget that pays for nothing", function()
  law("stay near the start, where steps of the usual number end at up to 15 times its value", function()
    local function logistic(n, p)
      local records = pn.data.synthetic.logistic { n = n, p = p, seed = 2 }:clip_rows("l2", 1)
      return pn.objective { data = records, loss = pn.loss.logistic() }
    end
    local obj, wide = logistic(1000, 500), logistic(500, 3000)
    for _, of in ipairs {
      { "svrg", obj, 0.05 }, { "svrg", obj, 0.2 }, { "svrg", obj, 1 }, { "svrg_pp", obj, 0.05 }, { "svrg_pp", obj, 1 },
      { "svrg_pp", wide, 0.05 }, { "svrg_pp", wide, 0.5 }, -- 1.09 of the start's value with steps as long as svrg's
    } do
      local name, on, epsilon = table.unpack(of)
      local plan, mean = pn.solve[name].plan(on, { epsilon = epsilon, delta = 1e-6 }), 0
      for seed = 1, 10 do mean = mean + on:value(plan:run { rng = pn.rng.seeded(seed) }.theta) / 10 end
      assert.is_true(mean < 1.05 * math.log(2), name .. " " .. epsilon .. " " .. mean)
    end
    -- What a user chose stays as it was chosen.
    local plan = pn.solve.svrg.plan(obj, { epsilon = 0.05, delta = 1e-6, iterations = 5, inner = 3, step = 1 })
    assert.same({ 5, 3, 1 }, { plan.lines["epochs T"], plan.lines["inner steps m"], plan.lines["step eta"] })
  end)
end)

describe("svrg refuses", function()
  local function no_plan(text, obj, options)
    refused(text, pn.solve.svrg.plan, obj, options)
  end

  local function on(loss, extra)
    local parts = {data = pn.data.synthetic.logistic{n = 100, p = 3, seed = 1}:clip_rows("l2", 1), loss = loss}
    for k, v in pairs(extra or {}) do parts[k] = v end
    return pn.objective(parts)
  end

  it("losses whose slope jumps, and says which are smooth", function()
    no_plan("smooth_hinge", on(pn.loss.hinge()), {privacy = false})
  end)

  it("a batch larger than the data", function()
    no_plan("batch = 101 is larger than the 100 records", on(pn.loss.logistic()), {privacy = false, batch = 101})
  end)

  it("epochs that double beyond what an int can count", function()
    for _, epochs in ipairs {41, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 48} do
      local ok, err = pcall(pn.solve.svrg_pp.plan, on(pn.loss.logistic()), {privacy = false, epochs = epochs})
      assert.is_false(ok)
      assert.matches("epochs must be at most 40, got " .. epochs, tostring(err), 1, true)
    end
  end)

  it("steps beyond the theory's, and theory without strong convexity", function()
    local obj = on(pn.loss.logistic())
    local limit = 1 / (24 * obj.bounds.smoothness)
    no_plan("1/(24 L)", obj, {privacy = false, preset = "theory", strong_convexity = 0.1, step = limit})
    pn.solve.svrg.plan(obj, {privacy = false, preset = "theory", strong_convexity = 0.1, step = limit * 0.99})
    no_plan("strong convexity", obj, {privacy = false, preset = "theory"})
  end)

  it("relations without a price, no delta, and budgets that pay for nothing", function()
    local obj = on(pn.loss.logistic())
    no_plan('use form="anchored"', obj, {epsilon = 1, delta = 1e-6, neighbours = "zero_out", form = "printed"})
    no_plan('use form="anchored"', obj, {epsilon = 1, delta = 1e-6, neighbours = "zero_out", calibration = "paper"})
    no_plan("makes n secret", obj, {epsilon = 1, delta = 1e-6, neighbours = "add_remove"})
    no_plan("delta", obj, {epsilon = 1})
    no_plan("least epsilon", obj, {epsilon = 1e-30, delta = 1e-6})
  end)

  it("two names for the same number", function()
    no_plan("not both", on(pn.loss.logistic()), {privacy = false, epochs = 2, iterations = 2})
  end)
end)

describe("svrg warns", function()
  it("of steps beyond 1/L and of strong convexity that is only claimed", function()
    local data = pn.data.synthetic.logistic{n = 100, p = 3, seed = 1}:clip_rows("l2", 1)
    local obj = pn.objective{data = data, loss = pn.loss.logistic()}
    local text = tostring(pn.solve.svrg.plan(obj, {privacy = false, step = 100, strong_convexity = 0.1}))
    assert.matches("may diverge", text, 1, true)
    assert.matches("is claimed", text, 1, true)
  end)

  it("by stopping when the run has diverged, with what was spent", function()
    local data = pn.data.synthetic.lasso{n = 100, p = 3, sparsity = 1, noise = 0.1, seed = 1}:clip_rows("l2", 1)
    local obj = pn.objective{data = data, loss = pn.loss.squared(), clip = 1e100}
    local fit = pn.solve.svrg(obj, {privacy = false, step = 1e6, epochs = 1000, inner = 50, rng = pn.rng.seeded(1)})
    assert.are.equal("diverged", fit.stopped)
    assert.is_true(fit.steps < 1000)
  end)
end)
