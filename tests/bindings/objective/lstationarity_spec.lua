-- lstationarity_spec.lua -- pn.stationarity: fields, words, options, refusals, progress; numbers: zeroth-order.md, item 7.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

-- |x1| + 2 |x2|, as the mean of |2 x1| and |4 x2|
local function bent(loss, options)
  local parts = {data = pn.data.from({{2, 0}, {0, 4}}, {0, 0}), loss = loss or pn.loss.absolute()}
  for name, value in pairs(options or {}) do parts[name] = value end
  return pn.objective(parts)
end

local function black_box(value)
  return pn.loss.black_box {lipschitz = 4,
    value = value or function(theta, x) return math.abs(theta[1] * x[1] + theta[2] * x[2]) end}
end

local function measure(obj, theta, options)
  options.rng = options.rng or pn.rng.seeded(3)
  return pn.stationarity(obj, theta, options)
end

describe("pn.stationarity", function()
  it("measures a kink, a corner and a smooth point, for built-in and typed losses and black boxes", function()
    local typed = pn.loss.glm(function(z) return pn.abs(z) end)
    for _, loss in ipairs {pn.loss.absolute(), typed, black_box()} do
      local obj = bent(loss)
      for _, case in ipairs {{{0.05, 0.3}, 2, 2.0907}, {{0.05, 0.05}, 0, 1.3618}, {{0.2, 0.3}, math.sqrt(5), math.sqrt(5)}} do
        local s = measure(obj, case[1], {radius = 0.1, samples = 1000})
        assert.is_near(case[2], s.hull, 1e-9)
        assert.is_near(case[3], s.mean, 0.31) -- 5.5 standard deviations of 0.056
        assert.is_true(s.hull <= s.mean and s.low <= s.mean and s.gap <= s.hull)
        assert.equal(obj.loss.name ~= "black_box", s.exact)
        assert.is_false(s.private)
      end
    end
  end)

  it("takes differences of a loss that jumps", function()
    local jumps = pn.loss.glm(function(z) return pn.where(pn.le(z, 1), 0, 3) end)
    local s = measure(bent(jumps), {0, 0}, {radius = 0.01})
    assert.is_false(s.exact or s.guaranteed)
    assert.equal(1e-4, s.smoothing)
    assert.equal(0, s.mean) -- flat around 0
    local bounded = pn.data.from({{2, 0}, {0, 4}}, {0, 0}):clip_rows("l2", 4):clip_labels(-1, 1)
    s = measure(bent(jumps, {data = bounded}), {0, 0}, {radius = 0.01})
    assert.is_true(s.exact and s.guaranteed and s.high == 0) -- where it is certified not to
    s = measure(bent(jumps, {data = bounded}), {0, 0}, {radius = 0.3}) -- its slope 0 bounds nothing
    assert.is_false(s.exact or s.guaranteed)
    assert.is_true(measure(bent(jumps), {0.5, 0}, {radius = 0.01}).largest > 100) -- 3 / 2 over twice 1e-4
  end)

  it("calls nothing exact when the regulariser jumps", function()
    local step = pn.reg.separable(function(w) return pn.where(pn.le(w, 0.2), 0, 1) end)
    local d = pn.data.from({{2, 0}, {0, 4}}, {0, 0}):clip_rows("l2", 4):clip_labels(-1, 1)
    local s = measure(bent(nil, {data = d, reg = step}), {0.2, 0.3}, {radius = 0.1})
    assert.is_false(s.exact or s.guaranteed)
    assert.is_true(measure(bent(nil, {data = d, reg = step}), {0.05, 0.05}, {radius = 0.05}).exact)
  end)

  it("has fields that say what was done", function()
    local s = measure(bent(), pn.vec {0.2, 0.3}, {radius = 0.1})
    assert.equal(100, s.samples)
    assert.equal(0.1, s.radius)
    assert.equal(0.95, s.confidence)
    assert.is_nil(s.batch)
    assert.is_nil(s.smoothing)
    assert.is_false(s.guaranteed) -- the records are not bounded
    assert.is_near(math.sqrt(5), s.largest, 1e-12)
    s = measure(bent(), {0.2, 0.3}, {radius = 0.1, batch = 1, samples = 7, confidence = 0.5})
    assert.equal(1, s.batch)
    assert.equal(7, s.samples)
    assert.is_false(s.exact)
    local d = pn.data.from({{2, 0}, {0, 4}}, {0, 0}):clip_rows("l2", 4):clip_labels(-1, 1)
    local bounded = pn.objective {data = d, loss = pn.loss.absolute()}
    assert.is_true(measure(bounded, {0.2, 0.3}, {radius = 0.1}).guaranteed)
  end)

  it("takes a point of several classes as a matrix", function()
    local d = pn.data.from({{1, 0}, {0, 1}, {1, 1}}, {1, 2, 3}):clip_rows("l2", 1)
    local obj = pn.objective {data = d, loss = pn.loss.softmax {classes = 3}, reg = pn.reg.l1 {lambda = 0.1}}
    local theta = pn.mat {{0, 0}, {1, 0}, {0, 1}}
    local s = measure(obj, theta, {radius = 1e-6})
    assert.is_true(s.exact and s.guaranteed)
    -- at the kinks of r the mixtures choose any slope in [-0.1, 0.1]; the mean takes the middle of it
    assert.is_true(s.hull < s.mean and s.mean <= obj:gradient(theta):norm() + 0.25)
  end)

  it("says in words what it means, what it does not, and that it is raw", function()
    local text = tostring(measure(bent(), {0.05, 0.3}, {radius = 0.1}))
    assert.truthy(text:find("a mixture of gradients within 0.1 of theta has norm 2 (100 drawn)", 1, true))
    assert.truthy(text:find("hull    2, an upper bound of the Goldstein measure; no lower bound", 1, true))
    assert.truthy(text:find("with confidence 0.95", 1, true))
    assert.truthy(text:find("not guaranteed", 1, true))
    assert.truthy(text:find("NOT private", 1, true))
    text = tostring(measure(bent(black_box()), {0.05, 0.3}, {radius = 0.1}))
    assert.truthy(text:find("a mixture of differences", 1, true))
    assert.truthy(text:find("about an upper bound", 1, true))
    assert.is_nil(text:find("guaranteed", 1, true))
    text = tostring(measure(bent(), {0.05, 0.3}, {radius = 0.1, batch = 1}))
    assert.truthy(text:find("a mixture of batch gradients", 1, true))
    assert.truthy(text:find("may be far below the Goldstein measure", 1, true))
    text = tostring(measure(bent(), {0.05, 0.05}, {radius = 0.1, confidence = 1 - 1e-9}))
    assert.truthy(text:find("has norm 0 (", 1, true) and text:find("with confidence 0.999999999,", 1, true))
  end)

  it("is entered as raw", function()
    assert.equal("raw", pn.reference().stationarity.reveals)
    for _, name in ipairs {"mean", "low", "high", "hull", "gap", "largest"} do
      assert.equal("raw", pn.reference()["pn.stationarity." .. name].reveals)
    end
  end)

  it("gives the same numbers for the same seed, and others without one", function()
    local function mean(rng) return pn.stationarity(bent(), {0.05, 0.05}, {radius = 0.1, rng = rng}).mean end
    assert.equal(mean(pn.rng.seeded(5)), mean(pn.rng.seeded(5)))
    assert.not_equal(mean(pn.rng.seeded(5)), mean(pn.rng.seeded(6)))
    -- How many of a hundred points lie beyond a kink: one count has a chance below 0.1, twelve equal ones below 1e-11.
    local seen = {}
    for _ = 1, 12 do seen[mean()] = true end
    assert.truthy(next(seen, next(seen)))
  end)

  it("goes on with the stream of the rng that it is given", function()
    local obj, rng = bent(), pn.rng.seeded(1)
    local before = pn.stationarity(obj, {0.05, 0.05}, {radius = 0.1, rng = rng}).mean
    assert.not_equal(before, pn.stationarity(obj, {0.05, 0.05}, {radius = 0.1, rng = rng}).mean)
  end)

  it("refuses what it cannot do and says what it can", function()
    local function no_gap(text, ...)
      refused(text, pn.stationarity, ...)
    end
    local obj, theta = bent(), {0.1, 0.2}
    no_gap("expected a pn.objective, got a table", {}, theta, {radius = 1})
    no_gap("theta has 3 entries, the data has 2 features", obj, {1, 2, 3}, {radius = 1})
    no_gap("entry 2 must be a finite number", obj, {1, 0 / 0}, {radius = 1})
    no_gap("radius", obj, theta)
    no_gap("radius", obj, theta, {})
    no_gap("radius", obj, theta, {radius = 0})
    no_gap("radius", obj, theta, {radius = -1})
    no_gap("radius", obj, theta, {radius = 1 / 0})
    no_gap("cannot be told from rounding", obj, {1, 1}, {radius = 1e-15})
    no_gap("samples", obj, theta, {radius = 1, samples = 0})
    no_gap("at most 134217728", obj, theta, {radius = 1, samples = 1 << 40})
    no_gap("confidence", obj, theta, {radius = 1, confidence = 1})
    no_gap("confidence", obj, theta, {radius = 1, confidence = 0})
    no_gap("smoothing", obj, theta, {radius = 1, smoothing = 0})
    no_gap("batch = 3 records of 2", obj, theta, {radius = 1, batch = 3})
    no_gap("unknown option 'sample'", obj, theta, {radius = 1, sample = 7})
    no_gap("rng must be a pn.rng, got 7", obj, theta, {radius = 1, rng = 7})
    no_gap("progress must be", obj, theta, {radius = 1, progress = 3})
    no_gap("without clip=", bent(pn.loss.squared(), {clip = 1}), theta, {radius = 1})
    no_gap("is NaN at this point", bent(pn.loss.glm(function(z) return pn.log(z) end)), theta, {radius = 1})
  end)

  it("tells how far it is, and hands on what that function or the loss raises", function()
    local calls, mine, labels = 0, {}, {}
    measure(bent(black_box()), {0.1, 0.2}, {radius = 1, samples = 2000, progress = function(done, total, label)
      calls = calls + 1
      labels[label] = true
      assert.is_true(total == nil or done <= total)
    end})
    assert.is_true(calls > 0 and labels.stationarity)
    local ok, got = pcall(measure, bent(black_box()), {0.1, 0.2},
      {radius = 1, samples = 100000, progress = function() error(mine) end})
    assert.is_false(ok)
    assert.equal(mine, got)
    ok, got = pcall(measure, bent(black_box(function() error(mine) end)), {0.1, 0.2}, {radius = 1})
    assert.is_false(ok)
    assert.equal(mine, got)
  end)

  it("survives a loss that closes what is in use", function()
    local obj, theta, rng
    obj = bent(black_box(function()
      for _, used in ipairs {obj, theta, rng} do local _ <close> = used end
      return 0
    end))
    theta, rng = pn.vec {0.1, 0.2}, pn.rng.seeded(1)
    assert.equal(0, pn.stationarity(obj, theta, {radius = 1, rng = rng}).mean)
  end)
end)
