-- federated_frank_wolfe over products of sets: each party moves in its factor, which is made of its own choices.
-- Without noise the steps are those of solve.frank_wolfe over the whole product.
local pn = require "penumbra"
local S = pn.set

local function problem(set, n, loss)
  local data
  if loss == "logistic" then
    data = pn.data.synthetic.logistic { n = n or 300, p = set.dim, seed = 1 }:clip_rows("linf", 1)
  else
    data = pn.data.synthetic.lasso { n = n or 300, p = set.dim, sparsity = 3, seed = 1 }:clip_rows("linf", 1)
    data = data:clip_labels(-1, 1)
  end
  return pn.objective { data = data, loss = pn.loss[loss or "squared"](), set = set }
end

local corners = { { 0, 0, 0 }, { 0.5, 0, 0 }, { 0, -0.5, 0.25 }, { 0, 0, 1 } }

-- Sets of a party with 3 columns.
local factors = {
  ["an l1 ball"] = function() return S.l1_ball { dim = 3, radius = 0.5 } end,
  ["a simplex"] = function() return S.simplex { dim = 3, radius = 0.5 } end,
  ["a box"] = function() return S.box { lower = { -1, 0, 0.1 }, upper = { 0.5, 0.25, 0.2 } } end,
  ["a cube"] = function() return S.linf_ball { dim = 3, radius = 0.2 } end,
  ["a hypersimplex"] = function() return S.hypersimplex { dim = 3, k = 2, radius = 0.3 } end,
  ["a filled hypersimplex"] = function() return S.unit_hypersimplex { dim = 3, k = 2, radius = 0.3 } end,
  ["sparse signs"] = function() return S.ksparse_polytope { dim = 3, k = 2, radius = 0.3 } end,
  ["vertices of a user's"] = function() return S.polytope { vertices = corners } end,
  ["a sum"] = function() return S.simplex { dim = 3, radius = 0.2 } + S.linf_ball { dim = 3, radius = 0.1 } end,
  ["an image of a square"] = function()
    return S.linf_ball { dim = 2, radius = 0.2 }:image { { 1, 0.5 }, { 0, -1 }, { 1, 1 } }
  end,
  ["a product"] = function()
    return S.l1_ball { dim = 1, radius = 0.5 }:product(S.simplex { dim = 2, radius = 0.4 })
  end,
  ["a simplex that is turned over and shifted"] = function()
    return S.simplex { dim = 3, radius = 0.5 } * -1 + pn.vec { 0.1, 0, 0.2 }
  end,
}

local function federated(obj, columns, options)
  options.transport = pn.federated.in_process { columns = columns }
  return pn.solve.federated_frank_wolfe(obj, options), options.transport
end

-- Parties begin at 0, which may not be in the set; from their first vertex on steps are those of frank_wolfe.
local function agrees(obj, columns, iterations)
  local function after(count)
    return federated(obj, columns, { privacy = false, iterations = count, sketch = { kind = "identity" } }).theta
  end
  local many = after(iterations)
  local one = pn.solve.frank_wolfe(obj, { privacy = false, iterations = iterations - 1, start = after(1),
    step = function(t) return 2 / (t + 2) end }).theta
  for j = 1, obj.set.dim do assert.is_true(math.abs(one[j] - many[j]) < 1e-10, tostring(one) .. tostring(many)) end
  assert.is_true(obj.set:contains(many, 1e-9))
end

describe("federated_frank_wolfe over a product", function()
  for name, factor in pairs(factors) do
    for _, loss in ipairs { "squared", "logistic" } do
      it("moves as frank_wolfe does without noise: " .. name .. ", " .. loss, function()
        local obj = problem(factor():product(S.simplex { dim = 2, radius = 0.5 }), 200, loss)
        agrees(obj, { 3, 2 }, 60)
      end)
    end
  end

  it("runs privately over every kind of set, and stays inside", function()
    for name, factor in pairs(factors) do
      local obj = problem(S.linf_ball { dim = 2, radius = 0.1 }:product(factor()))
      local ledger = pn.ledger { rho = 2, teaching = true }
      local fit, transport = federated(obj, { 2, 3 }, { rho = 1, iterations = 8, ledger = ledger, rng = pn.rng.seeded(4) })
      local plan = pn.solve.federated_frank_wolfe.plan(obj, { transport = transport, rho = 1, iterations = 8 })
      assert.is_true(obj.set:contains(fit.theta, 1e-9), name)
      assert.is_true(plan.rho <= 1 and plan.rho > 0.999)
      assert.is_true(ledger.spent <= plan.rho * (1 + 1e-12))
      for _, row in ipairs(transport:report()) do
        assert.is_true(row.features <= 3)
      end
    end
  end)

  it("cuts boxes between parties, and no other factor", function()
    local set = S.box { lower = { -1, 0, -2, 0 }, upper = { 1, 0.5, 2, 0.25 } }:product(S.simplex { dim = 3 }) * 0.5
    local obj = problem(set)
    agrees(obj, { 1, 2, 4 }, 20)
    assert.has_error(function() federated(obj, { 5, 2 }, { privacy = false }) end,
      "solve.federated_frank_wolfe: the set must be a product of one set for each party; of party 1, coordinates 5 to 5 "
      .. "cut through the simplex of coordinates 5 to 7; use A:product(B) of sets of the parties' columns, or an l1_ball")
  end)

  it("takes a product of l1 balls for what radii= says of one", function()
    local product = S.l1_ball { dim = 3, radius = 0.75 }:product(S.l1_ball { dim = 3, radius = 0.25 })
    local ball = S.l1_ball { dim = 6 }
    local options = { privacy = false, iterations = 30, sampled = 2, sketch = { kind = "identity" } }
    local split = federated(problem(product), { 3, 3 }, options)
    options.radii = { 0.75, 0.25 }
    local one = federated(problem(ball), { 3, 3 }, options)
    for j = 1, 6 do assert.equal(one.theta[j], split.theta[j]) end
  end)

  it("moves the best party over one simplex in mode ball", function()
    local obj = problem(S.simplex { dim = 5, radius = 0.8 })
    local function after(count)
      return federated(obj, { 3, 2 }, { mode = "ball", privacy = false, iterations = count, sketch = { kind = "identity" } })
    end
    local one = pn.solve.frank_wolfe(obj, { privacy = false, iterations = 39, start = after(1).theta,
      step = function(t) return 2 / (t + 2) end }).theta
    local many = after(40).theta
    for j = 1, 5 do assert.is_true(math.abs(one[j] - many[j]) < 1e-10) end
    local transport = pn.federated.in_process { columns = { 3, 2 } }
    local fit = pn.solve.federated_frank_wolfe(obj, { mode = "ball", transport = transport, rho = 5, iterations = 20 })
    assert.is_true(obj.set:contains(fit.theta, 1e-9))
    local plan = pn.solve.federated_frank_wolfe.plan(obj, { mode = "ball", transport = transport, rho = 5, iterations = 20 })
    assert.truthy(tostring(plan):find("within the simplex", 1, true))
    for _, options in ipairs { { sampled = 1 }, { stay = true } } do
      options.mode, options.privacy = "ball", false
      assert.is_false(pcall(federated, obj, { 3, 2 }, options))
    end
  end)

  it("refuses what only l1 balls have", function()
    local obj = problem(S.simplex { dim = 3 }:product(S.simplex { dim = 3 }))
    local function refuses(words, options)
      options.privacy = false
      local ok, message = pcall(federated, obj, { 3, 3 }, options)
      assert.is_false(ok)
      assert.truthy(tostring(message):find(words, 1, true), tostring(message))
    end
    refuses("radii are for an l1_ball that is split; the factors of product have their own", { radii = { 1, 1 } })
    refuses("sampled applies to l1 balls, whose vertices are single columns; over product leave it out", { sampled = 1 })
    refuses("stay is for l1 balls", { stay = true })
    refuses("in mode=\"ball\" parties move along single columns, so the set must be an l1_ball about 0 or a simplex",
      { mode = "ball" })
    local round = problem(S.l2_ball { dim = 3 }:product(S.simplex { dim = 3 }))
    local ok, message = pcall(federated, round, { 3, 3 }, { privacy = false })
    assert.is_false(ok)
    assert.truthy(tostring(message):find("party 1 would move over l2_ball; parties know l1 balls", 1, true), tostring(message))
  end)

  -- Of cubes of half side h all d choices lose W(1/e) each: with rho of a vertex, party k of c columns has the scale
  -- b = Delta h sqrt(c)/sqrt(2 rho), and loses c b W(1/e), W(1/e) = 0.278464542761.
  it("prints the price and the loss of its choices", function()
    local h, n = 0.25, 4000
    local obj = problem(S.linf_ball { dim = 4, radius = h }:product(S.linf_ball { dim = 1, radius = h }), n)
    local plan = pn.solve.federated_frank_wolfe.plan(obj, { transport = pn.federated.in_process { columns = { 4, 1 } },
      rho = 2, iterations = 10, clip = 3 })
    local lines = plan.lines
    local rho, delta = lines["rho a vertex"], lines["sensitivity Delta"]
    assert.is_true(math.abs(delta - 2 * (3 + 1) / n) < 1e-12)
    assert.is_true(math.abs(lines["Gumbel scale"] - delta * h * 2 / math.sqrt(2 * rho)) < 1e-12)
    assert.is_true(math.abs(lines["e of choices"] - 0.278464542761 * delta * h * (8 + 1) / math.sqrt(2 * rho)) < 1e-9)
    assert.equal(5, lines["choices a round"])
    assert.equal(50, lines["uplink codes"])
    assert.equal(5, lines["features F"])
    assert.is_true(math.abs(rho * 20 - 1) < 1e-4)    -- half of the budget, over two parties and ten rounds
  end)

  it("finds the minimum of many records as frank_wolfe does", function()
    local set = S.simplex { dim = 4, radius = 1 }:product(S.linf_ball { dim = 2, radius = 0.2 })
    local obj = problem(set, 20000)
    local options = { epsilon = 20, delta = 1e-6, iterations = 60, sketch = { kind = "identity" } }
    options.ledger, options.rng = pn.ledger { epsilon = 21, delta = 1e-6, teaching = true }, pn.rng.seeded(2)
    local fit = federated(obj, { 4, 2 }, options)
    local best = pn.solve.frank_wolfe(obj, { privacy = false, iterations = 2000 })
    local start = obj:value(pn.vec { 0.25, 0.25, 0.25, 0.25, 0, 0 })
    assert.is_true(obj:value(fit.theta) - best.value < 0.3 * (start - best.value))
  end)
end)
