-- zeroth_order_spec.lua -- zeroth_order and zeroth_order_naive: what their plans compute, what runs cost, that each record is
-- used once a pass, where they end up, and what they refuse.
-- Numbers are those of zeroth-order.md unless another source stands beside them.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)
local thorough_it = tier.it(it)

-- n records of p standard normal numbers.
local function normal_data(n, p, seed)
  local rng = pn.rng.seeded(seed or 1)
  local X = pn.mat.zeros(n, p)
  for i = 1, n do
    local row = pn.vec.normal(p, rng)
    for j = 1, p do X:set(i, j, row[j]) end
  end
  return pn.data.from(X, pn.vec.zeros(n))
end

local zeros = {}
local function blank_data(n, p) -- records of which only the number matters
  local key = n .. "x" .. p
  zeros[key] = zeros[key] or pn.data.from(pn.mat.zeros(n, p), pn.vec.zeros(n))
  return zeros[key]
end

local function black_box(data, value, parts)
  parts = parts or {}
  return pn.objective {data = data, set = parts.set, reg = parts.reg,
    loss = pn.loss.black_box {value = value, lipschitz = parts.lipschitz}}
end

-- d numbers in theta, |theta_1|: 1-Lipschitz.
local function absolute(n, d, parts)
  parts = parts or {}
  parts.lipschitz = parts.lipschitz or 1
  return black_box(blank_data(n, d), function(theta) return math.abs(theta[1]) end, parts)
end

local tree = {factorization = "binary", estimator = "plain", keep_root = true}

describe("the plan of zeroth_order", function()
  it("has the sensitivities and the noise of the proof", function()
    local sizes = {rho = 0.5, first_batch = 64, batch = 2, smoothing = 0.05, radius = 0.001, rounds = 128, epochs = 1,
      prefix = tree} -- the article's rho is 1
    local want = {iid = {.3125, .4, 1.131371}, orthogonal = {.098821, .126491, .357771}}
    for directions, numbers in pairs(want) do
      sizes.directions = directions
      local plan = pn.solve.zeroth_order.plan(absolute(400, 10), sizes)
      assert.is_near(numbers[1], plan.lines["sensitivity s1"], 1e-6)
      assert.is_near(numbers[2], plan.lines["sensitivity s2"], 1e-6)
      assert.is_near(numbers[3], plan.lines["noise sigma"], 2e-6)
      -- the mean of popcount(t) over t = 1 .. 128 is (7 x 64 + 1)/128
      assert.is_near(numbers[3] * math.sqrt(449 / 128), plan.sigma, 1e-5)
      assert.is_near(plan.sigma * math.sqrt(10), plan.lines["noise of a round"], 1e-9)
    end
  end)

  it("asks half the noise of a record that may only be left out", function()
    local obj, sizes = absolute(400, 10), {rho = 0.5, first_batch = 64, batch = 2, smoothing = 0.05, radius = 0.001,
      rounds = 128, epochs = 1, directions = "iid", prefix = tree}
    local replace = pn.solve.zeroth_order.plan(obj, sizes)
    local out = replace:with {neighbours = "zero_out"}
    assert.is_near(0.5, out.lines["noise sigma"] / replace.lines["noise sigma"], 1e-6)
  end)

  it("is made for several passes whatever the budget", function()
    for _, epsilon in ipairs {1e3, 1e5, 1e9} do
      local plan = pn.solve.zeroth_order.plan(absolute(400, 10), {epsilon = epsilon, delta = 1e-6, passes = 2})
      assert.is_true(plan.sigma > 0 and plan.epsilon <= epsilon, tostring(plan))
    end
  end)

  law("finds the sizes with the least bound", function()
    -- M = 10^6, d = 10, article's rho 1, by an independent search with errors that count once (the published bounds are
    -- tested beside the search); the gap of section 5 has L mu d/(d + 1) in it already
    local plan = pn.solve.zeroth_order.plan(absolute(1000000, 10), {rho = 0.5, stationarity = 0.5,
      gap = 1 - 0.25 * 10 / 11, directions = "iid", prefix = tree})
    assert.equal(24, plan.lines["epochs K"])
    assert.equal(4096, plan.lines["rounds T"])
    assert.equal(8192, plan.lines["first batch B1"])
    assert.equal(8, plan.lines["batch B2"])
    assert.is_near(.213348, plan.bound, 2e-6)
    assert.is_near(.0088026, plan.lines["noise sigma"], 1e-6)
    assert.is_nil(plan.lines["held back, s"]) -- 98,304 rounds, whose sums share their noise
    local orthogonal = plan:with {directions = "orthogonal", batch = 1}
    assert.equal(16384, orthogonal.lines["rounds T"])
    assert.is_near(.149369, orthogonal.bound, 2e-6)
    -- by default in a fourth of the rounds, for the time they take
    local limited = plan:with {directions = "orthogonal"}
    assert.equal(4096, limited.lines["rounds T"])
    assert.equal(4, limited.lines["batch B2"])
    assert.equal("held back, s", limited.lines[1].name)
    assert.is_true(limited.seconds <= 4 and limited.bound < 1.02 * orthogonal.bound)
    -- without a wish the best of all methods is taken, and every other bound is shown beside it
    local free = pn.solve.zeroth_order.plan(absolute(1000000, 10), {rho = 0.5, stationarity = 0.5,
      gap = 1 - 0.25 * 10 / 11})
    local least = math.huge
    for _, name in ipairs {"VR orth tree", "VR orth honaker", "VR orth sqrt", "VR iid tree", "VR iid honaker",
      "VR iid sqrt", "naive one", "naive orth"} do
      least = math.min(least, free.lines[name])
    end
    assert.is_true(free.bound <= least * 1.01 and free.bound < orthogonal.bound)
    assert.is_near(.213348, free.lines["VR iid tree"], 2e-6)
    -- a record that is only left out moves half as far: the same noise at a fourth of rho, so the same sizes and bounds
    local left_out = free:with {rho = 0.125, neighbours = "zero_out"}
    for _, name in ipairs {"epochs K", "rounds T", "first batch B1", "batch B2"} do
      assert.equal(free.lines[name], left_out.lines[name])
    end
    for _, name in ipairs {"VR orth tree", "VR iid honaker", "VR iid tree", "naive one", "naive orth"} do
      assert.is_near(1, left_out.lines[name] / free.lines[name], 1e-9)
    end
  end)

  it("has the article's sizes when they are asked for", function()
    local plan = pn.solve.zeroth_order.plan(absolute(20000, 2), {rho = 0.5, stationarity = 0.5, gap = 1,
      calibration = "paper", rounds = 64})
    assert.equal(64, plan.lines["first batch B1"])
    assert.equal(1, plan.lines["batch B2"])
    assert.is_near(0.25, plan.lines["smoothing mu"], 0)
    assert.is_near(0.5 / 128, plan.lines["ball D"], 1e-15)
    assert.equal(20000 // 127, plan.lines["epochs K"])
    -- 2 d L/B1 = 1/16 and 2 d L 2 D/mu = 1/8: sigma = sqrt(7) of that, root included
    assert.is_near(math.sqrt(7) / 8, plan.lines["noise sigma"], 1e-6)
    assert.error_matches(function() plan:with {directions = "orthogonal"} end, "paper.*iid.*orthogonal")
    assert.error_matches(function() plan:with {oracle = "naive"} end, "paper.*variance_reduced.*naive.*zeroth_order_naive")
  end)

  it("takes the sums whose options were given", function()
    local function noise(prefix)
      local plan = pn.solve.zeroth_order.plan(absolute(200, 2), {rho = 0.5, gap = 1, prefix = prefix, rounds = 8})
      return tostring(plan):gsub("%s+", " "):match "noise sigma (.-) noise of a round"
    end
    assert.truthy(noise {keep_root = true}:find("binary tree", 1, true))
    assert.truthy(noise {memory = "regenerate"}:find("noise drawn again", 1, true))
    assert.truthy(noise {bands = 3}:find("banded, 3 bands", 1, true))
    assert.truthy(noise {buffers = 2}:find("buffered, 2 buffers", 1, true))
    assert.truthy(noise {fit = "optimal", buffers = 2}:find("buffered, 2 buffers, optimal", 1, true))
    assert.error_matches(function() noise {factorization = "sqrt", keep_root = true} end,
      "zeroth_order.plan: keep_root belongs to factorization \"binary\", got \"sqrt\"")
  end)

  it("says what sizes cannot be, and which do nothing", function()
    local function plan(n, options)
      options.rho, options.gap = 0.5, 1
      return tostring(pn.solve.zeroth_order.plan(absolute(n, 2), options)):gsub("%s+", " ")
    end
    assert.truthy(plan(1000000, {radius = 0.001, stationarity = 0.5, rounds = 256}):find("what the ball leaves of delta", 1, true))
    assert.truthy(plan(1000000, {stationarity = 0.5}):find("half of delta", 1, true))
    assert.truthy(plan(200, {rounds = 1}):find("nothing moves; give at least 2", 1, true))
    assert.falsy(plan(200, {rounds = 2}):find("nothing moves", 1, true))
    assert.truthy(plan(200, {target = 1e-9}):find("no number of records promises target = 1e-09; there are 200", 1, true))
    assert.error_matches(function() plan(1, {rounds = 2}) end, "1 record is too few")
    assert.error_matches(function() plan(200, {batch = 201}) end, "200 records are too few for")
    assert.error_matches(function() plan(200, {prefix = {factorisation = "sqrt"}}) end,
      "unknown option 'prefix.factorisation'; prefix takes factorization, estimator, memory,")
  end)

  it("says when its bound promises nothing, and then takes what does well in practice", function()
    local options = {rho = 0.5, gap = 1, stationarity = 0.5}
    local plan = pn.solve.zeroth_order.plan(absolute(500, 5), options)
    assert.is_nil(plan.bound) -- it returns the last epoch's mean, for which nothing is proved
    assert.equal("last", plan.lines.output)
    options.output = "random"
    assert.is_true(pn.solve.zeroth_order.plan(absolute(500, 5), options).bound >= 1)
    assert.truthy(tostring(plan):gsub("%s+", " "):find("promises nothing", 1, true))
    assert.truthy(tostring(plan):find("practice", 1, true))
    local good = pn.solve.zeroth_order.plan(absolute(1000000, 2), {rho = 0.5, gap = 1, stationarity = 0.5})
    assert.is_true(good.bound < 1)
    assert.falsy(tostring(good):find("promises nothing", 1, true))
  end)

  it("gives no bound where none is proved", function()
    local obj = absolute(100000, 2)
    local function bound(options)
      options.rho, options.stationarity = 0.5, 0.5
      return pn.solve.zeroth_order.plan(obj, options).bound
    end
    assert.is_true(bound {gap = 1} > 0)
    assert.is_nil(bound {}) -- of a black box nothing says what the least value is
    assert.is_nil(bound {gap = 1, passes = 2})
    assert.is_nil(bound {gap = 1, output = "best"})
    assert.is_nil(bound {gap = 1, rounds = 32, epochs = 2, iterations = 40})
  end)

  it("uses no more records than a target needs", function()
    local plan = pn.solve.zeroth_order.plan(absolute(1000000, 2), {rho = 0.5, stationarity = 0.5, gap = 1, target = 0.9})
    assert.is_true(plan.lines["records M"] < 1000000 and plan.bound <= 0.9)
    local far = pn.solve.zeroth_order.plan(absolute(1000, 2), {rho = 0.5, stationarity = 0.5, gap = 1, target = 0.01})
    assert.equal(1000, far.lines["records M"])
    assert.truthy(tostring(far):gsub("%s+", " "):find("target = 0.01 would need", 1, true))
  end)

  it("refuses what it cannot do, in words", function()
    local obj = absolute(1000, 3)
    local function refuses(pattern, options, of)
      assert.error_matches(function() pn.solve.zeroth_order.plan(of or obj, options) end, pattern)
    end
    refuses("without constraints.*l2_ball", {rho = 1}, absolute(1000, 3, {set = pn.set.l2_ball {dim = 3}}))
    refuses("add_remove", {rho = 1, neighbours = "add_remove"})
    refuses("needs a delta", {epsilon = 1})
    refuses("give lipschitz=", {rho = 1}, black_box(blank_data(1000, 3), function() return 0 end))
    refuses("too few", {rho = 1, rounds = 64, epochs = 20, batch = 1, first_batch = 1})
    refuses("do not go together", {rho = 1, directions = "one", first_batch = 3})
    refuses("do not go together", {rho = 1, directions = "orthogonal", level = 2})
    refuses("level must be above 1", {rho = 1, directions = "iid", level = 0.5})
    refuses("iterations = 5000 is more than the", {rho = 1, rounds = 8, iterations = 5000})
    refuses("prefix.factorization", {rho = 1, prefix = {factorization = "cholesky"}})
    refuses("later.*honaker", {rho = 1, prefix = {estimator = "full"}})
    refuses("do not go together", {rho = 1, oracle = "naive", prefix = {keep_root = true}})
    refuses("prefix.bandz", {rho = 1, prefix = {bandz = 3}})
    refuses("lipschitz must be", {rho = 1, lipschitz = -1})
    assert.error_matches(function() pn.solve.zeroth_order_naive.plan(obj, {rho = 1, prefix = {}}) end, "prefix")
    assert.truthy(pn.solve.zeroth_order.plan(absolute(1000, 3, {set = pn.set.free {dim = 3}}), {rho = 1}))
  end)
end)

describe("the price of zeroth_order", function()
  it("is one stream's for a pass, whatever the number of epochs", function()
    local obj = absolute(2000, 3)
    for _, epochs in ipairs {1, 4, 16} do
      local plan = pn.solve.zeroth_order.plan(obj, {rho = 0.3, rounds = 16, first_batch = 8, batch = 4, epochs = epochs})
      local ledger = pn.ledger {rho = 0.3, teaching = true}
      local fit = plan:run {ledger = ledger, rng = pn.rng.seeded(1)}
      assert.equal(16 * epochs, #fit.trace)
      assert.is_true(plan.rho <= 0.3 and plan.rho > 0.2999)
      assert.is_near(plan.rho, ledger.spent, 1e-12)
      assert.is_near(plan.rho, plan:run().privacy.rho, 1e-12)
    end
  end)

  it("is paid pass by pass, and an interrupted run pays for those that began", function()
    local obj = absolute(200, 2)
    for _, budget in ipairs {{rho = 0.3}, {epsilon = 1, delta = 1e-5}} do
      budget.rounds, budget.first_batch, budget.batch, budget.epochs, budget.passes = 8, 8, 4, 2, 3
      local plan = pn.solve.zeroth_order.plan(obj, budget)
      assert.equal(48, plan.iterations)
      local function spend(steps)
        local ledger = pn.ledger {rho = budget.rho, epsilon = budget.epsilon, delta = budget.delta, teaching = true}
        plan:run {ledger = ledger, rng = pn.rng.seeded(1), on_step = function(state) return state.step < steps end}
        return ledger.spent
      end
      local all = spend(48)
      assert.is_near(plan.rho and budget.rho and plan.rho or plan.epsilon, all, 1e-9)
      if budget.rho then
        assert.is_true(plan.rho <= 0.3 and plan.rho > 0.2999)
        assert.is_near(all / 3, (spend(1)), 1e-12)
        assert.is_near(all / 3, (spend(16)), 1e-12)
        assert.is_near(all * 2 / 3, (spend(17)), 1e-12)
        local fit = plan:run {on_step = function(state) return state.step < 17 end}
        assert.is_near(all * 2 / 3, fit.privacy.charged_rho, 1e-12)
        assert.equal(plan.rho, fit.privacy.rho)
      else
        assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999)
        assert.is_true(spend(16) < spend(17) and spend(17) < all)
      end
    end
  end)

  it("is what was asked for, of any size and beside other charges", function()
    local obj = absolute(200, 2)
    local sizes = {delta = 1e-6, rounds = 8, first_batch = 8, batch = 4}
    for _, epsilon in ipairs {1e-2, 1, 20, 60} do -- beyond, tails of drawn noise allow less
      for passes = 1, 3, 2 do
        sizes.epsilon, sizes.passes = epsilon, passes
        local plan = pn.solve.zeroth_order.plan(obj, sizes)
        assert.is_true(plan.epsilon <= epsilon and plan.epsilon > 0.9 * epsilon)
      end
    end
    local ledger = pn.ledger {epsilon = 2, delta = 1e-5, teaching = true}
    ledger:spend(pn.event.laplace {scale = 4, sensitivity = 1}, "before")
    pn.solve.zeroth_order(obj, {ledger = ledger, rng = pn.rng.seeded(1)})
    assert.is_true(ledger.remaining >= 0 and ledger.remaining < 0.2)
  end)

  it("is charged before a record is looked at", function()
    local ledger, seen = pn.ledger {rho = 1, teaching = true}, nil
    local obj = black_box(blank_data(100, 2), function(theta)
      seen = seen or ledger.spent
      return theta[1]
    end, {lipschitz = 1})
    pn.solve.zeroth_order(obj, {rho = 0.25, ledger = ledger, rng = pn.rng.seeded(2), rounds = 4, batch = 1, first_batch = 4})
    assert.is_near(0.25, seen, 1e-4)
    local poor = pn.ledger {rho = 0.1}
    seen = nil
    assert.error_matches(function() pn.solve.zeroth_order(obj, {rho = 0.25, ledger = poor}) end, "ledger: Requested rho 0.25")
    assert.is_nil(seen)
  end)

  it("is exact after a black box has raised, and the step may be made again", function()
    local boom, calls, broken = {"boom"}, 0, false
    local obj = black_box(normal_data(60, 2), function(theta, x)
      calls = calls + 1
      if broken and calls == 41 then error(boom) end
      return math.abs(theta[1] - 0.1 * x[1])
    end, {lipschitz = 1})
    local plan = pn.solve.zeroth_order.plan(obj, {rho = 0.5, rounds = 4, batch = 3, first_batch = 6, epochs = 2,
      output = "last"})
    local smooth = plan:run {rng = pn.rng.seeded(7), ledger = pn.ledger {rho = 0.5, teaching = true}}
    calls, broken = 0, true
    local ledger = pn.ledger {rho = 0.5, teaching = true}
    local walk, failures = plan:steps {rng = pn.rng.seeded(7), ledger = ledger}, 0
    while true do
      local ok, state = pcall(walk.step, walk)
      if not ok then
        assert.equal(boom, state)
        failures = failures + 1
      elseif not state then
        break
      end
    end
    assert.equal(1, failures)
    assert.is_near(plan.rho, ledger.spent, 1e-12)
    assert.is_near(0, (walk:fit().theta - smooth.theta):norm(), 0)
  end)
end)

describe("a run of zeroth_order", function()
  it("uses each record at most once a pass", function()
    local times, obj
    obj = black_box(pn.data.from((function()
      local X = pn.mat.zeros(120, 1)
      for i = 1, 120 do X:set(i, 1, i) end
      return X
    end)(), pn.vec.zeros(120)), function(theta, x)
      times[x[1]] = (times[x[1]] or 0) + 1
      return theta[1]
    end, {lipschitz = 1})
    for _, case in ipairs {{"zeroth_order", {first_batch = 10, batch = 5, rounds = 4, epochs = 4}, {[2] = 40, [4] = 60}},
      {"zeroth_order_naive", {batch = 10, rounds = 4, epochs = 3}, {[2] = 120}}} do
      local options = case[2]
      options.rho, options.rng, options.ledger = 1, pn.rng.seeded(1), pn.ledger {rho = 1, teaching = true}
      times = {}
      local fit = pn.solve[case[1]](obj, options)
      local tally, total = {}, 0
      for _, count in pairs(times) do
        tally[count] = (tally[count] or 0) + 1
        total = total + count
      end
      for count, records in pairs(case[3]) do assert.equal(records, tally[count]) end -- 2 d values, or 4 d; d = 1
      assert.equal(total, fit.gradients)
      assert.equal(total, fit.plan.gradients)
      -- twice as often with a second pass
      times, options.passes, options.ledger = {}, 2, pn.ledger {rho = 1, teaching = true}
      pn.solve[case[1]](obj, options)
      local again = 0
      for _, count in pairs(times) do again = again + count end
      assert.equal(2 * total, again)
    end
  end)

  -- f(x, z) = sum_i min(|x_i - x*_i - .1 z_i|, 1)/sqrt 5
  local goal, start = pn.vec {1, -1, .5, 0, 2}, pn.vec {1.6, -.4, -.1, .6, 1.4}
  local function capped(theta, x)
    local sum = 0
    for i = 1, 5 do sum = sum + math.min(math.abs(theta[i] - goal[i] - (x and .1 * x[i] or 0)), 1) end
    return sum / math.sqrt(5)
  end
  local function end_to_end(options)
    options.rounds, options.first_batch, options.batch, options.epochs = 32, 64, 4, 60
    options.smoothing, options.radius, options.step = .1, .01, .01 / (1.5 * math.sqrt(32))
    options.start, options.output, options.rng, options.prefix = start, "last", pn.rng.seeded(5), tree
    options.privacy = options.rho ~= nil
    options.ledger = options.rho and pn.ledger {rho = options.rho, teaching = true}
    local obj = black_box(normal_data(11280, 5, 3), capped, {lipschitz = 1})
    local fit = pn.solve.zeroth_order(obj, options)
    local certificates = {}
    for _, row in ipairs(fit.trace) do certificates[#certificates + 1] = row.certificate end
    return capped(fit.theta), fit, certificates
  end
  local function mean(list, from, to)
    local sum = 0
    for i = from, to do sum = sum + list[i] end
    return sum / (to - from + 1)
  end

  it("goes on in the stream that it is given: a second run has other noise, an equal seed the same", function()
    local plan = pn.solve.zeroth_order.plan(absolute(500, 3), {rho = 0.5})
    local rng = pn.rng.seeded(3)
    local first, second = plan:run {rng = rng}.theta, plan:run {rng = rng}.theta
    assert.is_true(first ~= second)
    assert.is_true(first == plan:run {rng = pn.rng.seeded(3)}.theta)
  end)

  -- means and standard deviations over seeds, zeroth-order.md section 9, item 8; five of them
  thorough_it("ends where the specification's runs end", function()
    assert.is_near(1.3416, capped(start), 5e-5)
    assert.is_near(.021, (end_to_end {directions = "orthogonal"}), 5 * .006)
    local value, fit, certificates = end_to_end {directions = "orthogonal", rho = 2}
    assert.is_near(.273861, fit.plan.lines["noise sigma"], 1e-6)
    assert.is_near(.058, value, 5 * .019)
    assert.equal(60, #certificates) -- one an epoch
    assert.is_near(1.1, mean(certificates, 1, 3), .3)
    assert.is_near(.41, mean(certificates, 41, 60), .15)
    value, fit, certificates = end_to_end {directions = "iid", rho = 2}
    assert.is_near(.612372, fit.plan.lines["noise sigma"], 1e-6)
    assert.is_near(.114, value, 5 * .046)
    assert.is_near(1.4, mean(certificates, 1, 3), .5)
    assert.is_near(.90, mean(certificates, 41, 60), .3)
  end)

  it("shows where each gradient was taken and what was released of it", function()
    local seen
    local obj = black_box(blank_data(100, 2), function(theta)
      seen = seen or theta:copy()
      return 0.6 * theta[1] - 0.8 * theta[2]
    end, {lipschitz = 1})
    local plan = pn.solve.zeroth_order.plan(obj, {privacy = false, rounds = 4, batch = 1, first_batch = 1, epochs = 1,
      directions = "orthogonal", smoothing = 0.1, radius = 0.1, step = 0.01})
    local sum = pn.vec.zeros(2)
    for state in plan:steps {rng = pn.rng.seeded(1)} do -- of a linear loss both are exact
      assert.is_near(0.1, (seen - state.point):norm(), 1e-12) -- the first value is taken mu away
      assert.is_near(0, (state.estimate - pn.vec {0.6, -0.8}):norm(), 1e-12)
      sum, seen = sum + state.point, nil
      assert.is_near(0, (sum / state.step - state.theta):norm(), 1e-12) -- the mean of the first epoch's points so far
    end
    assert.is_nil(plan:run {rng = pn.rng.seeded(1)}.trace[1].point)
  end)

  it("adds the gradient of a regulariser, which is public", function()
    local obj = black_box(blank_data(100, 3), function() return 0 end, {lipschitz = 1, reg = pn.reg.l2(0.5)})
    local fit = pn.solve.zeroth_order(obj, {privacy = false, rounds = 4, batch = 1, first_batch = 1, epochs = 1,
      smoothing = 0.1, radius = 0.1, step = 0.01, start = {2, 0, 0}, rng = pn.rng.seeded(1)})
    -- g_1 = 0.5 (2, 0, 0), Delta_2 = -0.01 g_1
    assert.is_near(0.01, fit.trace[1].step_size, 1e-12)
    assert.is_true(fit.theta[1] < 2 and fit.theta[2] == 0)
  end)

  it("takes the losses of the table, with and without a bound on their records", function()
    local labels = {}
    for i = 1, 400 do labels[i] = i % 2 == 0 and 1 or -1 end
    local data = normal_data(400, 3):with_labels(pn.vec(labels))
    local clipped = pn.objective {data = data:clip_rows("l2", 1), loss = pn.loss.hinge()}
    local raw = pn.objective {data = data, loss = pn.loss.hinge()}
    local fit = pn.solve.zeroth_order(clipped, {rho = 1})
    assert.equal(3, #fit.theta)
    assert.error_matches(function() pn.solve.zeroth_order(raw, {rho = 1}) end, "give lipschitz=.*clip the rows")
    assert.equal(3, #pn.solve.zeroth_order(raw, {rho = 1, lipschitz = 1}).theta)
    assert.equal(3, #pn.solve.zeroth_order(raw, {privacy = false}).theta)
  end)

  it("counts what is no number as nothing in private runs, and stops there in others", function()
    local obj = black_box(blank_data(100, 2), function() return 0 / 0 end, {lipschitz = 1})
    local sizes = {rounds = 4, batch = 1, first_batch = 1, epochs = 2, output = "last"}
    sizes.rho, sizes.rng, sizes.ledger = 1, pn.rng.seeded(1), pn.ledger {rho = 1, teaching = true}
    assert.equal(8, #pn.solve.zeroth_order(obj, sizes).trace)
    sizes.rho, sizes.ledger, sizes.privacy = nil, nil, false
    assert.error_matches(function() pn.solve.zeroth_order(obj, sizes) end, "is NaN at this point")
    sizes.strict = false
    local fit = pn.solve.zeroth_order(obj, sizes)
    assert.is_near(0, fit.theta:norm(), 0)
  end)

  it("is the same for the same seed and follows the rule for its answer", function()
    local obj = black_box(normal_data(600, 2), function(theta, x) return math.abs(theta[1] - x[1]) end, {lipschitz = 1})
    local function run(output, seed)
      return pn.solve.zeroth_order(obj, {rho = 5, rounds = 8, batch = 4, first_batch = 8, epochs = 15, output = output,
        rng = pn.rng.seeded(seed or 3), ledger = pn.ledger {rho = 5, teaching = true}})
    end
    assert.is_near(0, (run("last").theta - run("last").theta):norm(), 0)
    assert.is_true((run("last").theta - run("last", 4).theta):norm() > 0)
    -- the mean points of the epochs, from the running means of a walk that is never past an epoch
    local fit = run("best")
    local best, at = math.huge, nil
    for _, row in ipairs(fit.trace) do
      if row.certificate and row.certificate < best then best, at = row.certificate, row.step // 8 end
    end
    local short = pn.solve.zeroth_order(obj, {rho = 5, rounds = 8, batch = 4, first_batch = 8, epochs = 15, output = "last",
      rng = pn.rng.seeded(3), ledger = pn.ledger {rho = 5, teaching = true}, iterations = 8 * at})
    assert.is_near(0, (short.theta - fit.theta):norm(), 0)
  end)
end)

describe("zeroth_order_naive", function()
  it("has the noise of a fresh batch in every round", function()
    -- one direction: 2 d L/(B rho); d orthonormal ones: 2 sqrt(d) L/(B rho); the article's rho is 1
    local obj = absolute(4000, 9)
    local one = pn.solve.zeroth_order_naive.plan(obj, {rho = 0.5, batch = 20, rounds = 10, epochs = 4})
    assert.is_near(2 * 9 / 20, one.sigma, 1e-6)
    assert.equal(one.sigma, one:with({directions = "iid"}).sigma)
    assert.is_near(2 * 3 / 20, one:with({directions = "orthogonal"}).sigma, 1e-6)
    assert.equal(40 * 20 * 2, one.gradients)
    local fit = one:run {rng = pn.rng.seeded(1), ledger = pn.ledger {rho = 0.5, teaching = true}}
    assert.equal(40, #fit.trace)
    assert.is_true(one.rho <= 0.5 and one.rho > 0.4999)
  end)

  it("chooses its batch by its bound", function()
    -- M = 10^5, d = 10, article's rho .1, by an independent search
    local plan = pn.solve.zeroth_order_naive.plan(absolute(100000, 10), {rho = 0.005, stationarity = 0.5,
      gap = 1 - 0.25 * 10 / 11})
    assert.is_near(.80575, plan.bound, 2e-5)
    assert.is_near(.53510, plan:with({directions = "orthogonal"}).bound, 2e-5)
  end)
end)
