-- ltree_spec.lua -- pn.tree as scripts see it: options, what is paid when, what comes out, what is refused and how it says so.
-- Depends on: penumbra.  The laws are tested in tests/runtime/continual; files in tree_checkpoint_spec.lua.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function with(more, base)
  local options = {}
  for k, v in pairs(base or { dim = 2, horizon = 8, sensitivity = 1, rho = 0.5, factorization = "binary" }) do options[k] = v end
  for k, v in pairs(more or {}) do options[k] = v end
  return options
end

local function tree(more) return pn.tree(with(more)) end
local function seeded(more) return tree(with(more, { rng = pn.rng.seeded(5) })) end
local function teaching(rho) return pn.ledger { rho = rho or 10, teaching = true } end

local function identity(n)
  local C = pn.mat.zeros(n, n)
  for i = 1, n do C:set(i, i, 1) end
  return C
end

describe("pn.tree", function()
  it("releases sums that are near, and the same for the same seed", function()
    local one, two = seeded(), seeded()
    local first = {}
    for i = 1, 8 do
      local a, b = one:push { i, -1 }, two:push(pn.vec { i, -1 })
      first[i] = a
      assert.equal(2, #a)
      assert.is_true(a[1] == b[1] and a[2] == b[2])
      assert.is_true(math.abs(a[2] + i) < 14 * math.sqrt(one:variance(i))) -- the sampler ends at 13 sigma
    end
    assert.equal(8, one.count)
    assert.is_true(one:value()[1] == first[8][1])
  end)

  it("takes a number where dim is 1", function()
    local t = seeded { dim = 1 }
    local a = t:push(3)
    assert.equal(1, #a)
    assert.is_true(t:value()[1] == a[1])
  end)

  it("knows its noise: a horizon of 100 has 7 layers, and the price is one record's", function()
    local t = tree { horizon = 100 } -- tree-mechanism.md, section 9, item 4: s = 1, mu = 1
    assert.is_true(math.abs(t.sigma - 2.6458) < 1e-4)
    assert.is_true(math.abs(math.sqrt(t:variance(63)) - 6.4807) < 1e-3)
    assert.is_true(math.abs(math.sqrt(t:variance(95)) - 6.4807) < 1e-3)
    assert.is_true(t.rho <= 0.5 and t.rho > 0.4999999)
    assert.is_true(math.abs(t.event.rho - t.rho) < 1e-9)
    local all = t:variances()
    assert.equal(100, #all)
    for i = 1, 100 do assert.is_true(math.abs(all[i] - t:variance(i)) <= 1e-12 * all[i]) end
    assert.equal(7, #t:variances(7))
  end)

  it("has the noise that can be drawn for budgets of any size, and stays within them", function()
    for _, budget in ipairs { { 1e-9, 1e-6 }, { 64, 2.5e-7 }, { 1000, 1e-6 } } do
      local t = pn.tree { dim = 25, horizon = 32, sensitivity = 1, epsilon = budget[1], delta = budget[2] }
      local price = pn.ledger { epsilon = budget[1], delta = budget[2] }:price(t.event)
      assert.is_true(price <= budget[1] and price > math.min(0.9 * budget[1], 50))
    end
  end)

  it("has noise by epsilon and delta as well as by sigma", function()
    -- last section, 10: rho = 1 (mu) costs epsilon 4.886554 at delta 1e-6
    local t = pn.tree { dim = 1, horizon = 8, sensitivity = 1, epsilon = 4.886554, delta = 1e-6, factorization = "binary" }
    assert.is_true(math.abs(2 * t.rho - 1) < 1e-5)
    assert.is_true(t.event:epsilon(1e-6) <= 4.886554)
    t:push(0)
    local s = pn.tree { dim = 1, horizon = 8, sensitivity = 1, sigma = 3, factorization = "binary" }
    assert.equal(3, s.sigma)
    assert.is_true(math.abs(s.rho - 3 / 9 / 2) < 1e-9) -- 3 layers: mu^2 = 3 / sigma^2
    s:push(0)
  end)

  it("takes a sensitivity for each leaf, whose number is the horizon", function()
    local t = pn.tree { dim = 1, sensitivity = { 1, 0.5, 2, 1 }, rho = 0.5, factorization = "binary", scale = "node" }
    assert.equal(4, t.horizon)
    refused("sensitivity has 3 entries and the horizon is 4", tree, { horizon = 4, sensitivity = { 1, 1, 1 } })
    refused("sensitivity is an empty vector", tree, { sensitivity = {} })
    refused("sensitivities must be numbers >= 0, got -1 for leaf 2", tree, { horizon = 2, sensitivity = { 1, -1 } })
  end)

  it("serves every factorization and an unknown horizon", function()
    for _, name in ipairs { "binary", "sqrt", "banded", "blt", "matrix" } do
      local t = seeded { factorization = name, matrix = name == "matrix" and identity(8) or nil }
      assert.equal(name, t.factorization)
      for i = 1, 8 do assert.is_true(math.abs(t:push { 1, 0 }[1] - i) < 14 * math.sqrt(t:variance(i))) end
    end
    local t = pn.tree { dim = 1, sensitivity = 1, rho = 0.5, rng = pn.rng.seeded(1) }
    assert.is_nil(t.horizon)
    for _ = 1, 20 do t:push(1) end
    assert.equal(20, t.count)
    refused("n is missing", t.variances, t)
    assert.equal(30, #t:variances(30))
  end)

  it("tells its memory, which for a tree grows with the layers and not the leaves", function()
    assert.is_true(tree { dim = 100, horizon = 1024 }.memory <= 100 * 30)
    assert.is_true(tree { dim = 100, horizon = 1024, factorization = "blt" }.memory <= 100 * 30)
  end)

  it("completes a stream early where the root is kept", function()
    local t = seeded { keep_root = true }
    refused("nothing has been pushed yet", t.complete, t)
    for _ = 1, 3 do t:push { 1, 1 } end
    local total, variance = t:complete()
    assert.equal(2, #total)
    assert.is_true(math.abs(variance / t.sigma ^ 2 - 1) < 1e-9) -- one node
    assert.is_true(math.abs(total[1] - 3) < 14 * t.sigma)
    refused("was completed after 3 leaves", t.push, t, { 1, 1 })
    refused("keep_root", function() local s = seeded(); s:push { 1, 1 }; s:complete() end)
  end)

  it("estimates all prefixes after the last leaf", function()
    local t = seeded { estimator = "full" }
    for i = 1, 8 do
      refused(("last leaf, 8; there are %d"):format(i - 1), t.all, t)
      t:push { 1, 2 }
    end
    local all = t:all()
    assert.equal(8, all.rows)
    for i = 1, 8 do assert.is_true(math.abs(all[i][2] - 2 * i) < 14 * math.sqrt(t:variance(i))) end
    refused('estimator = "full"', function() local s = seeded(); s:all() end)
  end)
end)

describe("the payment of a tree", function()
  it("is charged once, under its label, at the first push", function()
    local ledger = teaching()
    local t = seeded { ledger = ledger }
    assert.is_false(t.paid)
    assert.equal(0, ledger.spent)
    t:push { 1, 2 }
    assert.is_true(t.paid)
    for _ = 2, 8 do t:push { 1, 2 } end
    local report = ledger:report()
    assert.equal(1, #report)
    assert.equal("tree", report[1].label)
    assert.is_true(math.abs(ledger.spent - t.rho) < 1e-12)
  end)

  it("is not made for a leaf that is refused", function()
    local ledger = teaching()
    local t = seeded { ledger = ledger, bound = 4, strict = true }
    refused("the leaf has 3 entries and the tree was made with dim = 2", t.push, t, { 1, 2, 3 })
    refused("leaf 1 is not finite at entry 2", t.push, t, { 1, 0 / 0 })
    refused("leaf 1 is not finite at entry 1", t.push, t, { math.huge, 0 })
    local message = refused("leaf 1 is beyond the bound 4 at entry 2", t.push, t, { 1, -4.125 })
    assert.is_nil(message:match "125")
    message = refused("the leaf must be a number, a vector or a table of numbers", t.push, t, { 1, "77" })
    assert.is_nil(message:match "77")
    refused("got nil", t.push, t)
    refused("got string", t.push, t, "x")
    assert.equal(0, ledger.spent)
    assert.equal(0, t.count)
    t:push { 4, -4 }
  end)

  it("is refused whole when the ledger does not cover it", function()
    local ledger = pn.ledger { rho = 0.4 }
    local t = tree { ledger = ledger }
    refused("Requested", t.push, t, { 1, 2 })
    assert.equal(0, ledger.spent)
    assert.is_false(t.paid)
    assert.equal(0, t.count)
    refused("nothing has been pushed yet", t.value, t)
  end)

  it("is a budget of exactly what was asked for, without a ledger", function()
    for _, price in ipairs { { rho = 0.1 }, { epsilon = 0.5, delta = 1e-6 }, { epsilon = 8, delta = 1e-9 }, { sigma = 7 } } do
      for _, method in ipairs { "binary", "sqrt", "blt" } do
        local t = pn.tree(with(price, { dim = 3, horizon = 20, sensitivity = 2, factorization = method }))
        t:push { 1, 2, 3 }
        assert.is_true(t.paid)
      end
    end
  end)

  it("follows the ledger's relation, and refuses another", function()
    local ledger = pn.ledger { rho = 1, neighbours = "zero_out" }
    local t = tree { ledger = ledger }
    assert.equal("zero_out", t.neighbours)
    t:push { 0, 0 }
    refused('the ledger is for "zero_out" neighbours, the tree for "replace_one"', tree,
      { ledger = ledger, neighbours = "replace_one" })
    refused("add_remove", tree, { ledger = pn.ledger { rho = 1, neighbours = "add_remove" } })
  end)

  it("takes no seeded noise for a real budget, and says so of a teaching one", function()
    refused("seeded (simulated noise, no privacy)", seeded, { ledger = pn.ledger { rho = 1 } })
    local t = seeded { ledger = teaching() }
    assert.is_true(t.simulated)
    assert.matches("simulated: no privacy", tostring(t), 1, true)
    assert.is_false(tree().simulated)
    assert.is_nil(tostring(tree()):match "simulated")
    assert.matches("simulated: no privacy", tostring(seeded()), 1, true)
  end)

  it("fails when the ledger was closed", function()
    local ledger = teaching()
    local t = seeded { ledger = ledger }
    ledger:close()
    refused("closed", t.push, t, { 1, 2 })
    refused("ledger must be an open pn.ledger", tree, { ledger = 3 })
  end)
end)

describe("what a tree refuses", function()
  it("is a push past the horizon, with the horizon, and then reads on", function()
    local t = seeded { horizon = 2 }
    t:push { 1, 1 }
    local last = t:push { 1, 1 }
    refused("tree: all 2 leaves of the horizon have been pushed", t.push, t, { 1, 1 })
    assert.is_true(t:value()[1] == last[1])
    assert.equal(2, t.count)
  end)

  it("is reading before the first push", function()
    local t = seeded()
    refused("tree: nothing has been pushed yet", t.value, t)
  end)

  it("is a change of what was declared", function()
    local t = seeded()
    for _, name in ipairs { "sensitivity", "sigma", "dim", "count" } do
      assert.is_false(pcall(function() t[name] = 1 end))
    end
    refused("pn.tree has no field 'sensitivity'", function() return t.sensitivity end)
  end)

  it("is a variance that there is not", function()
    local t = seeded()
    refused("i must be at most the horizon, 8, got 9", t.variance, t, 9)
    refused("i must be a whole number from 1, got 0", t.variance, t, 0)
    refused("n must be at most the horizon, 8, got 9", t.variances, t, 9)
  end)

  it("are options that are missing, unknown or wrong", function()
    refused("expected a table of options", pn.tree)
    refused("expected a table of options", pn.tree, 3)
    refused("unknown option 'horizont'", tree, { horizont = 3 })
    refused("dim", pn.tree, { horizon = 8, sensitivity = 1, rho = 1 })
    refused("sensitivity must be a positive number, or a vector with one for each leaf, got nothing", pn.tree,
      { dim = 1, horizon = 8, rho = 1 })
    refused("sensitivity must be a positive number, got -1", tree, { sensitivity = -1 })
    refused("sensitivity must be a positive number, got nan", tree, { sensitivity = 0 / 0 })
    refused("tree: sensitivity", tree, { sensitivity = math.huge })
    refused("by rho, by epsilon with delta, or by sigma; got none of them", pn.tree, { dim = 1, horizon = 8, sensitivity = 1 })
    refused("got more than one of them", tree, { sigma = 1 })
    refused("got epsilon without delta", pn.tree, { dim = 1, horizon = 8, sensitivity = 1, epsilon = 1 })
    refused("got delta without epsilon", pn.tree, { dim = 1, horizon = 8, sensitivity = 1, delta = 1e-6 })
    refused("rho must be a positive number, got 0", tree, { rho = 0 })
    refused("horizon must be a whole number from 1, got 2.5", tree, { horizon = 2.5 })
    refused('factorization must be "binary", "sqrt", "banded", "blt" or "matrix"', tree, { factorization = "oak" })
    refused("bound must be a positive number, got 0", tree, { bound = 0 })
    refused("rng must be an open pn.rng", tree, { rng = 4 })
    refused("path must be a string", tree, { path = 4 })
    refused("path must not have a zero byte", tree, { path = "a\0b" })
  end)

  it("are combinations without a proof, each with what there is", function()
    refused('needs estimator "plain"', tree, { memory = "regenerate", estimator = "honaker" })
    refused("horizon", tree, { estimator = "full", horizon = 7 })
    refused("give those too", tree, { separation = 3 })
    refused("need a horizon", pn.tree, { dim = 1, sensitivity = 1, rho = 1, participations = 2 })
    refused('growth "endless" is for an unknown horizon', tree, { growth = "endless" })
    refused("has a horizon", pn.tree, { dim = 1, sensitivity = 1, rho = 1, growth = "endless", factorization = "sqrt" })
    refused("theta", tree, { factorization = "blt", theta = { 0.5 }, omega = { 0.1, 0.2 } })
    refused("buffers must be a whole number from 1 to 8, got 9", tree, { factorization = "blt", buffers = 9 })
    refused("coefficients", tree, { factorization = "banded", coefficients = { 2, 1 } })
  end)

  it("is everything once it is closed", function()
    local t = seeded()
    t:push { 1, 1 }
    t:close()
    refused("tree: this tree was closed", t.push, t, { 1, 1 })
    refused("this tree was closed", t.value, t)
    assert.equal("pn.tree: closed", tostring(t))
    t:close()
    do
      local s <close> = seeded()
      s:push { 1, 1 }
    end
  end)
end)

describe("a factorization of one's own", function()
  local rows = { { 2, 0, 0, 0 }, { 1, 1, 0, 0 }, { 0, -0.5, 1, 0 }, { 0, 0, 0.5, 4 } }
  local function given(more)
    local options = with(more, { dim = 2, sensitivity = 1, matrix = rows, rng = pn.rng.seeded(5) })
    options.rho = not options.sigma and 0.5 or nil
    return pn.tree(options)
  end

  it("says how long the stream is, and which factorization it has", function()
    local t = given()
    assert.equal("matrix", t.factorization)
    assert.equal(4, t.horizon)
    assert.matches("given matrix, 2 bands, sensitivity exact, horizon 4", tostring(t), 1, true)
    assert.is_true(math.abs(t.sigma - math.sqrt(16)) < 1e-6) -- the largest column is the last
    for i = 1, 4 do assert.is_true(math.abs(t:push { 1, 0 }[1] - i) < 14 * math.sqrt(t:variance(i))) end
    assert.equal(4, t.memory) -- the release and one increment
    refused("all 4 leaves", t.push, t, { 1, 1 })
  end)

  it("has the variances of its inverse", function()
    local t, C = given { sigma = 3 }, pn.mat(rows)
    for i = 1, 4 do
      local ones = {}
      for j = 1, 4 do ones[j] = j <= i and 1 or 0 end
      local x = C:t():solve(ones)
      assert.is_true(math.abs(t:variance(i) - 9 * x:dot(x)) < 1e-12 * t:variance(i))
    end
  end)

  it("is the library's where its matrix is, to the last bit", function()
    local C = pn.mat.zeros(8, 8)
    for i = 1, 8 do
      for j = math.max(1, i - 2), i do C:set(i, j, ({ 1, 1 / 2, 3 / 8 })[i - j + 1]) end
    end
    local own = given { matrix = C, sigma = 2 }
    local banded = pn.tree { dim = 2, horizon = 8, sensitivity = 1, sigma = 2, bands = 3, rng = pn.rng.seeded(5) }
    for i = 1, 8 do assert.equal(banded:push { i, 1 }[1], own:push { i, 1 }[1]) end
    assert.is_true(math.abs(own.rho / banded.rho - 1) < 1e-9)
  end)

  it("charges a record for all leaves that it is in, and says whether that is exact", function()
    local function says(more) return (tostring(given(more)):gsub("%s+", " ")) end
    local function rho(more) return given(with(more, { sigma = 1 })).rho end
    -- columns (2, 1, 0, 0), (0, 1, -.5, 0), (0, 0, 1, .5), (0, 0, 0, 4): rho is half of what they add up to, squared
    assert.is_true(math.abs(rho() - 8) < 1e-6)
    assert.is_true(math.abs(rho { participations = 2, separation = 3 } - (5 + 16) / 2) < 1e-6)
    assert.is_true(math.abs(rho { participations = 2, separation = 2 } - (5 + 16) / 2) < 1e-6)
    assert.is_true(math.abs(rho { participations = 2 } - (1.25 + 16 + 2 * 2) / 2) < 1e-6)
    assert.matches("sensitivity exact", says { participations = 2 })
    local dense, rng = pn.mat.zeros(8, 8), pn.rng.seeded(1)
    for i = 1, 8 do
      for j = 1, i do dense:set(i, j, i == j and 1 or rng:uniform() - 0.5) end
    end
    assert.matches("sensitivity an upper bound, at most %d", says { matrix = dense, participations = 4 })
  end)

  it("goes on after a resume with the same numbers", function()
    local path = os.tmpname()
    os.remove(path)
    local whole, parts = given { participations = 2 }, given { participations = 2 }
    for i = 1, 4 do
      local want, got = whole:push { i, 1 }, parts:push { i, 1 }
      assert.is_true(want[1] == got[1] and want[2] == got[2])
      parts:save(path)
      parts = pn.tree.resume(path)
      assert.equal(tostring(whole), tostring(parts))
    end
    os.remove(path)
  end)

  it("is refused where it is none, with the place", function()
    local function wrong(i, j, x)
      local C = pn.mat(rows)
      C:set(i, j, x)
      return { matrix = C }
    end
    refused("tree: matrix must be lower triangular, got 0.25 at row 1, column 3", given, wrong(1, 3, 0.25))
    refused("tree: the diagonal of matrix must be positive (2^-64 to 2^64), got 0 at row 2", given, wrong(2, 2, 0))
    refused("got -1 at row 2", given, wrong(2, 2, -1))
    refused("makes noise larger, by up to 301 (at most 128 is supported): smaller entries below the diagonal do not", given,
      wrong(2, 1, 600))
    refused("tree: matrix must be 5 x 5, a row and a column for each leaf of the horizon, got 4 x 4", given, { horizon = 5 })
    refused("got 1 x 2", given, { matrix = { { 1, 2 } } })
    refused("matrix", given, { matrix = 3 })
    refused("finite", given, { matrix = { { 1, 0 }, { 0 / 0, 1 } } })
    refused('tree: matrix belongs to factorization "matrix", got "sqrt"', given, { factorization = "sqrt" })
    refused('needs a matrix of 8 x 8', tree, { factorization = "matrix" })
  end)
end)

describe("an option of one method", function()
  it("is refused with another, which would pass over it", function()
    refused('tree: keep_root belongs to factorization "binary", got "sqrt"', tree, { factorization = "sqrt", keep_root = true })
    refused('tree: estimator belongs to factorization "binary", got "blt"', tree, { factorization = "blt", estimator = "full" })
    refused('tree: bands belongs to factorization "banded", got "binary"', tree, { bands = 3 })
    refused('tree: theta belongs to factorization "blt", got "banded"', tree,
      { factorization = "banded", theta = { 0.5 }, omega = { 0.1 } })
    refused('tree: fit belongs to factorization "banded", got "sqrt"', tree, { factorization = "sqrt", fit = "optimal" })
    refused("tree: coefficients: entry 2 must be a number, got string", tree,
      { factorization = "banded", coefficients = { 1, "a" } })
    refused("tree: sensitivity: entry 2 must be a finite number, got nan", tree, { horizon = 2, sensitivity = { 1, 0 / 0 } })
    refused('tree: coefficients is an empty vector', tree, { factorization = "banded", coefficients = {} })
    tree { factorization = "blt", fit = "optimal", buffers = 2 }
    tree { factorization = "banded", fit = "optimal", bands = 2 }
    tree { factorization = "sqrt", estimator = "plain", memory = "keep", scale = "equal", fit = "sqrt" } -- what it does anyway
  end)

  it("chooses the method where no factorization is given, and two of them are a contradiction", function()
    local function free(more)
      more.dim, more.horizon, more.sensitivity, more.rho = 2, 8, 1, 0.5
      return pn.tree(more)
    end
    assert.equal("sqrt", free({}).factorization)
    assert.equal("binary", free({ keep_root = true }).factorization)
    assert.equal("banded", free({ bands = 3 }).factorization)
    assert.equal("blt", free({ buffers = 2, fit = "optimal" }).factorization)
    refused('tree: keep_root belongs to factorization "binary", bands to "banded"; give options of one', free,
      { bands = 2, keep_root = true })
    refused('tree: bands belongs to factorization "banded", buffers to "blt"; give options of one',
      free, { bands = 2, buffers = 2 })
  end)
end)

describe("the sensitivity that a leaf was clipped to", function()
  it("is refused when it is more than the noise was made for, with both numbers, and nothing is paid", function()
    local ledger = teaching()
    local t = seeded { dim = 1, ledger = ledger }
    refused("tree:push: leaf 1 is clipped to sensitivity 2 and the noise was made for 1", t.push, t, 0, { sensitivity = 2 })
    refused("noise was made for 1;", t.push, t, 0, { sensitivity = 1 + 2 ^ -52 })
    assert.equal(0, t.count)
    assert.is_false(t.paid)
    assert.equal(10, ledger.remaining)
    t:push(0, { sensitivity = 1 })
    t:push(0, { sensitivity = 0 }) -- a leaf of no record
    t:push(0, {})
    assert.equal(3, t.count)
  end)

  it("is held against the leaf's own where each leaf has one, also after a resume", function()
    local path = os.tmpname()
    os.remove(path)
    local t = seeded { dim = 1, horizon = 4, sensitivity = { 1, 0.5, 2, 1 } }
    t:push(0, { sensitivity = 1 })
    refused("leaf 2 is clipped to sensitivity 0.75 and the noise was made for 0.5", t.push, t, 0, { sensitivity = 0.75 })
    t:push(0, { sensitivity = 0.5 })
    t:save(path)
    t = pn.tree.resume(path)
    os.remove(path)
    t:push(0, { sensitivity = 2 })
    refused("leaf 4 is clipped to sensitivity 2 and the noise was made for 1", t.push, t, 0, { sensitivity = 2 })
    t:push(0, { sensitivity = 1 })
    refused("all 4 leaves of the horizon have been pushed", t.push, t, 0, { sensitivity = 1 })
  end)

  it("is a number >= 0, and all that a push has options for", function()
    local t = seeded { dim = 1 }
    refused("tree:push: sensitivity must be a number >= 0, got -1", t.push, t, 0, { sensitivity = -1 })
    refused("tree:push: sensitivity must be a number >= 0, got nan", t.push, t, 0, { sensitivity = 0 / 0 })
    refused("tree:push: sensitivity must be a number >= 0, got inf", t.push, t, 0, { sensitivity = 1 / 0 })
    refused("tree:push: sensitivity must be a number >= 0, got the string \"1\"", t.push, t, 0, { sensitivity = "1" })
    refused("tree:push: unknown option 'sensitivty'; it takes sensitivity", t.push, t, 0, { sensitivty = 1 })
    refused("tree:push: expected one table of options, got 7", t.push, t, 0, 7)
    assert.equal(0, t.count)
  end)
end)

describe("what is known about pn.tree", function()
  it("says of each member what it reveals", function()
    local reference = pn.reference()
    for _, name in ipairs { "push", "value", "complete", "all" } do
      assert.equal("paid", reference["pn.tree:" .. name].reveals)
    end
    for _, name in ipairs { "count", "sigma", "rho", "event", "memory", "simulated" } do
      assert.equal("nothing", reference["pn.tree." .. name].reveals)
    end
    assert.equal("raw", reference["pn.tree:save"].reveals)
  end)

  it("is offered by completion and help", function()
    local complete = require "penumbra.prompt.complete"
    _G.pn = pn
    assert.matches("sensitivity=", complete "pn.tree{se", 1, true)
    assert.matches("factorization=", complete "pn.tree{dim = 1, fact", 1, true)
    assert.matches("resume", complete "pn.tree.", 1, true)
    _G.pn = nil
    local options = {}
    for _, param in ipairs(pn.reference().tree.params) do options[param.name] = param end
    assert.is_nil(options.factorization.default) -- chosen by horizon and dim
    assert.is_nil(options.estimator.default)
    assert.equal("keep", options.memory.default)
    for name in pn.reference().tree.signature:gmatch "([%a_]+)=" do
      assert.is_true(options[name] ~= nil, name)
    end
  end)
end)
