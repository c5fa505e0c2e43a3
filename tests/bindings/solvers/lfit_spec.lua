-- lfit_spec.lua -- fit:predict, of one margin and of several.
local pn = require "penumbra"
local refused_with = require("tests.tools.refusal").refused_with

local rows = { { 1, 0.5 }, { 0, 1 }, { -1, 1 }, { 0.5, 0.25 }, { -0.25, -1 } }

local function fit_of(loss, labels)
  local data = pn.data.from(rows, labels):clip_rows("linf", 1)
  local set = pn.set.l1_ball { dim = 2 * math.max(loss.margins, 1), radius = 2 }
  local objective = pn.objective { data = data, loss = loss, set = set }
  return pn.solve.frank_wolfe(objective, { privacy = false, iterations = 25 }), data, objective
end

-- <x, theta> of class k from 1, added up here.
local function margin(fit, x, k)
  local sum = 0
  for j = 1, #x do sum = sum + x[j] * fit.theta[(k - 1) * #x + j] end
  return sum
end

local function sparse_of(list)
  local i, j, x = {}, {}, {}
  for r, row in ipairs(list) do
    for c, value in ipairs(row) do i[#i + 1], j[#j + 1], x[#x + 1] = r, c, value end
  end
  return pn.sparse { rows = #list, cols = #list[1], i = i, j = j, x = x }
end

describe("fit:predict", function()
  it("gives the margin of every row of whatever holds rows", function()
    local fit, data = fit_of(pn.loss.squared(), { 1, -1, 0, 0.5, 1 })
    for _, X in ipairs { data, data.X, rows, sparse_of(rows), data:float32() } do
      local z = fit:predict(X)
      assert.equal(#rows, #z)
      for i, x in ipairs(rows) do assert.near(margin(fit, x, 1), z[i], 1e-14) end
    end
    assert.near(margin(fit, rows[3], 1), fit:predict(pn.vec(rows[3])), 1e-14)
  end)

  it("gives a row of class margins for every record under softmax", function()
    local fit, data, objective = fit_of(pn.loss.softmax { classes = 3 }, { 1, 2, 3, 1, 3 })
    local used = 0
    for k = 1, 3 do used = used + (margin(fit, { 1, 1 }, k) ~= 0 and 1 or 0) end
    assert.is_true(used >= 2, "the model must tell classes apart for this test to mean anything")
    for _, X in ipairs { data, data.X, rows, sparse_of(rows), data:float32() } do
      local z = fit:predict(X)
      assert.equal(#rows, z.rows)
      assert.equal(3, z.cols)
      for i, x in ipairs(rows) do
        for k = 1, 3 do assert.near(margin(fit, x, k), z[i][k], 1e-14) end
      end
    end
    local one = fit:predict(pn.vec(rows[3]))
    assert.equal(3, #one)
    for k = 1, 3 do assert.near(margin(fit, rows[3], k), one[k], 1e-14) end

    local right, z = 0, fit:predict(data)
    for i = 1, #rows do
      local best = 1
      for k = 2, 3 do best = z[i][k] > z[i][best] and k or best end
      right = right + (best == data.y[i] and 1 or 0)
    end
    assert.near(objective:accuracy(fit.theta), right / #rows, 1e-15)
  end)

  it("refuses rows of another length and what holds no rows", function()
    local fit = fit_of(pn.loss.softmax { classes = 3 }, { 1, 2, 3, 1, 3 })
    local wrong = "fit:predict: the rows have 3 features, the model has 2"
    refused_with(wrong, fit.predict, fit, { { 1, 2, 3 } })
    refused_with(wrong, fit.predict, fit, pn.vec { 1, 2, 3 })
    refused_with(wrong, fit.predict, fit, sparse_of { { 1, 2, 3 } })
    refused_with(wrong, fit.predict, fit, pn.data.from({ { 1, 2, 3 } }, { 1 }))
    refused_with("fit:predict: X must be a data set, a matrix, a sparse matrix, a list of rows or a vector, or, for a fit of a "
      .. "recipe, the path of a file or a table of columns, got 3", fit.predict, fit, 3)
    refused_with("fit:predict: the fit has no recipe, which says what the columns of a file mean; fit a data set of "
      .. "pn.recipe", fit.predict, fit, "rows")
    assert.is_false((pcall(fit.predict, fit)))
  end)
end)

describe("a fit in print", function()
  local data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 1 }:clip_rows("l2", 1)
  local obj = pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1) }
  -- The same noise each time: what is tested is what is printed of it.
  local function solved(name, options)
    options.rng = options.privacy ~= false and pn.rng.seeded(1) or nil
    return pn.solve[name](obj, options)
  end
  local function printed(name, options) return tostring(solved(name, options)) end

  it("says what its certificate proves, in its numbers", function()
    local fit = solved("second_order", { rho = 2 })
    local c = fit.certificate
    assert.equal("certified", c.status)
    assert.matches(("\n  certified: gradient <= %.3g, least eigenvalue >= %.3g, with probability 0.9"):format(
      c.gradient_norm, c.eigenvalue), tostring(fit), 1, true)
    assert.matches("eigenvalue >= [^,]+$", printed("second_order", { privacy = false })) -- for sure
  end)

  it("says why there is none, or how a run ended that did not pass its own test", function()
    assert.matches("\n  no certificate: budget$",
      printed("second_order", { rho = 2, iterations = 1, tolerance = { gradient = 1e-6 } }))
    assert.matches("\n  budget: gradient <= %S+, least eigenvalue >= %S+, with probability 0.9$",
      printed("trust_region", { rho = 2, iterations = 1, tolerance = { gradient = 1e-6 } }))
  end)

  it("says that a certificate does not exclude a saddle, where none does", function()
    local points = pn.data.synthetic.lasso { n = 2000, p = 2, sparsity = 1, noise = 0.1, seed = 3 }:clip_rows("l2", 1)
    local z = points.X * pn.vec { 1, -0.5 }
    local even = pn.objective { data = pn.data.from(points.X, z * z):clip_rows("l2", 1):clip_labels(0, 4),
      loss = pn.loss.glm(function(s, y) return (s ^ 2 - y) ^ 2 / (1 + (s ^ 2 - y) ^ 2) end) }
    local coarse = { privacy = false, tolerance = { gradient = 0.1, hessian = 5 } } -- 0 is a saddle, and passes
    assert.matches("\n  no minimum: the released eigenvalue, %-0%.%d+, is within the tolerance; a\n    smaller one would go on$",
      tostring(pn.solve.second_order(even, coarse)))
    coarse.tolerance = { gradient = 0.01, hessian = 0.1 }
    assert.is_nil(tostring(pn.solve.second_order(even, coarse)):find "minimum")
    local fit = pn.solve.second_order(even, { epsilon = 1, delta = 1e-8, rng = pn.rng.seeded(1) })
    assert.matches("\n  may be a saddle: ", tostring(fit), 1, true)
  end)

  it("certifies no negative eigenvalue where the objective is convex, whatever the noise", function()
    local fit = solved("second_order", { epsilon = 0.5, delta = 1e-6 }) -- r has 0.1, the loss none below 0
    assert.is_true(fit.certificate.released_eigenvalue - fit.certificate.hessian_error < 0.1)
    assert.is_near(0.1, fit.certificate.eigenvalue, 1e-12)
    assert.is_nil(tostring(fit):find "saddle")
  end)

  it("speaks of no certificate where the solver gives none", function()
    assert.is_nil(printed("newton", { rho = 2 }):find("certif", 1, true))
    assert.is_nil(printed("gradient_descent", { rho = 2 }):find("certif", 1, true))
  end)
end)

describe("a trace", function()
  it("is a table that prints itself, the middle left out where it is long", function()
    local data = pn.data.synthetic.lasso { n = 200, p = 5, seed = 1 }
    local obj = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 5 } }
    local trace = pn.solve.frank_wolfe(obj, { privacy = false, iterations = 30 }).trace
    local text = tostring(trace)
    assert.equal("table", type(trace))
    assert.equal(30, #trace)
    assert.truthy(text:find("^trace: 30 rows\n  step  step_size +value +gap +gradients\n +1 +1 "))
    assert.truthy(text:find(("\n +2 +0.6667 +%.4g +%.4g +400\n"):format(trace[2].value, trace[2].gap)))
    assert.truthy(text:find "\n +5 [^\n]*\n  %.%.%.\n +26 " and text:find "\n +30 [^\n]*6000$")
    text = tostring(pn.solve.frank_wolfe(obj, { privacy = false, iterations = 10 }).trace)
    assert.is_nil(text:find("...", 1, true))
    assert.equal(12, select(2, text:gsub("[^\n]+", "")))
  end)
end)
