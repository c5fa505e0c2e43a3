-- sensitivity_spec.lua -- the certified sensitivity of every question against neighbours built so that one record makes it tight:
-- their exact answers are never further apart, and on the worst pair by more than half of it.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local asking = require "tests.tools.asking"

local n = 12

-- Records of zeros but for the first, (x, y); under zero_out the neighbour's is a row of zeros, too.
local function neighbours(loss, x1, y1, x2, y2, rest)
  local function of(x, label)
    local rows, labels = {}, {}
    for i = 1, n do rows[i], labels[i] = { 0, 0, 0 }, i % 2 * 2 - 1 end
    rows[1], labels[1] = x, label
    local data = pn.data.from(rows, labels):clip_rows("l2", 1):clip_labels(-1, 1)
    local parts = { data = data, loss = loss }
    for name, value in pairs(rest or {}) do parts[name] = value end
    return pn.objective(parts)
  end
  return of(x1, y1), of(x2, y2)
end

local null = { { 0, 0, 0 }, -1 }

-- A kind, how it is asked, the worst pair under each relation; `length` is what the noise is multiplied with.
local e, zero = { 1, 0, 0 }, { 0, 0, 0 }
local ball = { set = pn.set.l2_ball { dim = 3, radius = 1 } }
local cross = { set = pn.set.l1_ball { dim = 3, radius = 1 } }
local half, mirrored = { 0.6, 0.8, 0 }, { 0.6, -0.8, 0 }
local sixty, minus_sixty = { 0.5, math.sqrt(0.75), 0 }, { 0.5, -math.sqrt(0.75), 0 }
local function phi(z, y) return pn.clamp(y + 0 * z, -1, 1) end
local function far(ask) return ask:gradient { 50, 0, 0 } end
local cases = {
  { "gradient", function(ask) return ask:gradient(zero) end, pn.loss.hinge(), { e, 1, e, -1 }, { e, 1 }, ball },
  { "gradient", far, pn.loss.logistic(), { e, -1, { 0, 1, 0 }, -1 }, { e, -1 }, nil, "without a set" },
  { "gradient", far, pn.loss.squared(), { half, 1, mirrored, 1 }, { half, 1 }, ball, "outside of the set that bounds it" },
  { "gradient", far, pn.loss.squared(), { half, 1, mirrored, 1 }, { half, 1 }, { clip = 0.3 }, "clipped" },
  { "moment", function(ask) return ask:moment(phi, zero) end, pn.loss.logistic(), { e, 1, e, -1 }, { e, 1 }, ball },
  { "moment", function(ask) return ask:moment(function(z) return z end, { 70, 0, 0 }) end, pn.loss.logistic(),
    { half, 1, mirrored, 1 }, { half, 1 }, ball, "outside of the set that bounds it" },
  { "difference", function(ask) return ask:difference(e, zero, { reach = 0.5 }) end, pn.loss.squared(),
    { sixty, 1, minus_sixty, 1 }, { sixty, 1 }, ball, "clipped", length = 0.5 },
  { "hessian", function(ask) return ask:hessian(zero) end, pn.loss.squared(), { e, 1, { 0, 1, 0 }, 1 }, { e, 1 }, ball },
  { "hessian", function(ask) return ask:hessian { 1e3, 0, 0 } end, pn.loss.squared(), { e, 1, half, 1 }, { half, 1 }, ball,
    "outside of the set" },
  { "hvp", function(ask) return ask:hvp(zero, e) end, pn.loss.squared(), { e, 1, { 0, 1, 0 }, 1 }, { e, 1 }, ball },
  { "hvp", function(ask) return ask:hvp(e, e) end, pn.loss.sigmoid(), { e, 1, e, -1 }, { e, 1 }, ball, "nonconvex" },
  { "mean", function(ask) return ask:mean(phi, zero) end, pn.loss.logistic(), { e, 1, e, -1 }, { e, 1 }, ball },
  { "mean", function(ask) return ask:mean(function(z) return z end, { 70, 0, 0 }, { clip = { -1, 1 } }) end, pn.loss.logistic(),
    { e, 1, { -1, 0, 0 }, 1 }, { e, 1 }, ball, "clipped", zero_least = 0.49 },
  { "value", function(ask) return ask:value(e) end, pn.loss.hinge(), { e, 1, e, -1 }, { { -1, 0, 0 }, 1 }, ball,
    zero_least = 0.49 },
  { "values", function(ask) return ask:values { e, e, e, e } end, pn.loss.hinge(), { e, 1, e, -1 }, { { -1, 0, 0 }, 1 }, ball,
    zero_least = 0.49 },
  { "differences", function(ask) return ask:differences(zero, { e, e }, { radius = 0.5 }) end, pn.loss.hinge(), { e, 1, e, -1 },
    { e, 1 }, ball },
  { "differences", function(ask) return ask:differences(zero, { { 7, 0, 0 } }, { radius = 0.5 }) end, pn.loss.hinge(),
    { e, 1, e, -1 }, { e, 1 }, ball, "longer than 1" },
}

-- An answer of a private run, clipped and clamped as those are, of so large a budget that its noise is below 1e-9 of a unit.
local function nearly_exact(objective, ask)
  local answer
  local options = { rho = 1e21, iterations = 1, rng = pn.rng.seeded(1), ledger = pn.ledger { rho = 1e22, teaching = true },
    progress = false }
  pn.solver { name = "near", step = function(_, oracle) answer = ask(oracle) end }(objective, options)
  return answer
end

for _, case in ipairs(cases) do
  local name, ask, loss, pair, out, rest, what = table.unpack(case, 1, 7)
  local title = "the sensitivity of " .. name .. (what and ", " .. what or "")

  it(title .. ": two records", function()
    local a, b = neighbours(loss, pair[1], pair[2], pair[3], pair[4], rest)
    local certified = (case.length or 1) * asking.sensitivity(a, name, ask)
    local moved = asking.distance(nearly_exact(a, ask), nearly_exact(b, ask))
    assert.is_true(moved <= certified * (1 + 1e-6), ("%g moved, %g certified"):format(moved, certified))
    assert.is_true(moved > (case.least or 0.5) * certified, ("%g moved, %g certified"):format(moved, certified))
    if not what then assert.near(asking.distance(asking.exact(a, ask), asking.exact(b, ask)), moved, 1e-6) end
  end)

  it(title .. ": a record and none", function()
    local a, b = neighbours(loss, out[1], out[2], null[1], null[2], rest)
    local certified = (case.length or 1) * asking.sensitivity(a, name, ask, "zero_out")
    local moved = asking.distance(nearly_exact(a, ask), nearly_exact(b, ask))
    assert.is_true(moved <= certified * (1 + 1e-6), ("%g moved, %g certified"):format(moved, certified))
    assert.is_true(moved > (case.least or case.zero_least or 0.5) * certified, ("%g moved, %g certified"):format(moved, certified))
  end)
end

describe("the sensitivity of a choice", function()
  local function scores_of(name, objective, points)
    local scores = {}
    if name == "choose" then
      for k, point in ipairs(points) do scores[k] = -objective:value(point) end
    else
      local gradient = objective:gradient(zero)
      for j = 1, 3 do scores[2 * j - 1], scores[2 * j] = -gradient[j], gradient[j] end
    end
    return scores
  end

  for _, relation in ipairs { "replace_one", "zero_out" } do
    for _, name in ipairs { "vertex", "choose" } do
      it("bounds what moves any score: " .. name .. ", " .. relation, function()
        local points = { e, { -1, 0, 0 } }
        local b = relation == "zero_out" and null or { e, -1 }
        local first, second = neighbours(pn.loss.hinge(), e, 1, b[1], b[2], cross)
        local certified = asking.sensitivity(first, name, function(ask)
          return name == "vertex" and ask:vertex(zero) or ask:choose(points)
        end, relation)
        local one, other, moved = scores_of(name, first, points), scores_of(name, second, points), 0
        for k = 1, #one do moved = math.max(moved, math.abs(one[k] - other[k])) end
        assert.is_true(moved <= certified * (1 + 1e-6), ("%g moved, %g certified"):format(moved, certified))
        assert.is_true(moved > 0.49 * certified, ("%g moved, %g certified"):format(moved, certified))
      end)
    end
  end
end)

describe("any two records", function()
  -- The certified bounds hold for all pairs, not only for those that were thought of.
  local function random_record(rng)
    local x = rng:uniform() < 0.5 and rng:sphere(3) or rng:ball(3)
    return { x[1], x[2], x[3] }, rng:uniform() < 0.5 and 1 or -1
  end

  it("never move an answer by more than is certified", function()
    local rng = pn.rng.seeded(9)
    local v = pn.vec { 0.6, 0, 0.8 }
    local questions = {
      gradient = function(ask, x) return ask:gradient(x) end,
      difference = function(ask, x) return ask:difference(x, x - 1.5 * v) end,
      hessian = function(ask, x) return ask:hessian(x) end,
      hvp = function(ask, x) return ask:hvp(x, v) end,
      values = function(ask, x) return ask:values { x, v } end,
      differences = function(ask, x) return ask:differences(x, { v, -v }, { radius = 0.3 }) end,
      moment = function(ask, x) return ask:moment(function(z, y) return pn.tanh(z * y) end, x) end,
      mean = function(ask, x) return ask:mean(function(z, y) return pn.tanh(z * y) end, x) end,
    }
    for _, loss in ipairs { pn.loss.logistic(), pn.loss.squared(), pn.loss.sigmoid(), pn.loss.cauchy() } do
      for name, question in pairs(questions) do
        for _ = 1, tier.draws(12, 3) do
          local x1, y1 = random_record(rng)
          local x2, y2 = random_record(rng)
          local x = 4 * rng:ball(3)
          local a, b = neighbours(loss, x1, y1, x2, y2, ball)
          local function ask(oracle) return question(oracle, x) end
          local length = name == "difference" and 1.5 or 1 -- noise is for length 1; reach: smoothness times it, at most 2 L
          local certified, sigma = asking.sensitivity(a, name, ask)
          if name == "difference" then
            local bounds = a.bounds
            length = math.min(bounds.smoothness * 1.5, 2 * bounds.lipschitz.l2)
          end
          assert.is_true(sigma > 0)
          local moved = asking.distance(nearly_exact(a, ask), nearly_exact(b, ask))
          assert.is_true(moved <= certified * length * (1 + 1e-6), ("%s of %s: %g moved, %g certified"):format(name, loss.name,
            moved, certified * length))
        end
      end
    end
  end)
end)
