-- fingerprint_spec.lua -- the lower-bound instance: its construction, the loss at theta*, the lemma and the attack.
-- Numbers: frank-wolfe.md section 7.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local function ridge_instance(seed)
  return pn.data.synthetic.fingerprint {users = 127, p = 128, informative = 4, ridge = 128, seed = seed}
end

local function tracing_instance(seed)
  return pn.data.synthetic.fingerprint {users = 8, p = 1024, informative = 900, ridge = 1024, seed = seed}
end

local function minimiser(f, user)
  local obj = pn.objective {data = f:dataset(user), loss = pn.loss.squared(), set = pn.set.l1_ball {dim = f.p, radius = 1}}
  return pn.solve.exact(obj, {tol = 1e-7}).theta, obj
end

describe("the fingerprinting instance", function()
  it("has k Hadamard records with label 0 and one record with label 1 for every user but one", function()
    local f = ridge_instance(3)
    local d = f:dataset(5)
    assert.equal(255, d.n)
    assert.is_near(0.00787402, f.tau, 1e-8)
    local Z = d.X
    for i = 1, 128, 9 do -- orthogonal columns: Z^T Z = k I
      for j = i, 128, 7 do
        local sum = 0
        for r = 1, 128 do sum = sum + Z:get(r, i) * Z:get(r, j) end
        assert.equal(i == j and 128 or 0, sum)
      end
    end
    local row = 128
    for user = 1, 128 do
      if user ~= 5 then
        row = row + 1
        assert.is_true(Z[row] == f.code[user])
        assert.equal(1, d.y[row])
      end
    end
    assert.equal(0, d.y[128])
    assert.equal(1, d.bounds.linf)
  end)

  it("gives neighbours: two of its data sets differ in one record", function()
    local f = pn.data.synthetic.fingerprint {users = 5, p = 16, informative = 16, ridge = 16, seed = 1}
    local a, b = f:dataset(2), f:dataset(3)
    local different = 0
    for i = 1, a.n do
      if not (a.X[i] == b.X[i]) then different = different + 1 end
    end
    assert.equal(1, different)
  end)

  it("pads with constant columns, half of them +1", function()
    local f = ridge_instance(4)
    local plus, minus, mixed = 0, 0, 0
    for j = 1, f.p do
      local sum = 0
      for u = 1, 128 do sum = sum + f.code:get(u, j) end
      if f.biases[j] ~= f.biases[j] then -- NaN: a constant column
        plus, minus = plus + (sum == 128 and 1 or 0), minus + (sum == -128 and 1 or 0)
      else
        mixed = mixed + 1
      end
    end
    assert.same({62, 62, 4}, {plus, minus, mixed})
    for k = 1, 4 do
      local q = f.biases[f.permutation[k]]
      assert.is_true(q > 1 / (300 * 128) and q < 1 - 1 / (300 * 128))
    end
  end)

  it("has the loss of theta* in closed form, and k/p = 1 under full consensus", function()
    for seed = 1, 5 do
      local f = ridge_instance(seed)
      local s, disagreed = f:consensus(1)
      local lemma = f:lemma(f:theta(1), 1)
      assert.is_near((f.tau * (1 - disagreed) + disagreed ^ 2) * 127, lemma.loss, 1e-9)
      assert.is_near(1 - disagreed, lemma.l1, 1e-12)
      assert.is_near(1 - disagreed, lemma.agreed, 1e-12)
      local obj = pn.objective {data = f:dataset(1), loss = pn.loss.squared(), set = pn.set.l1_ball {dim = 128}}
      assert.is_near(lemma.loss, 2 * 255 * obj:value(f:theta(1)), 1e-9)
      assert.equal(128, #s)
    end
    local constant = pn.data.synthetic.fingerprint {users = 1, p = 128, informative = 1, ridge = 128, seed = 1}
    -- One user: every column has a consensus, so tau' = 0 and the loss is tau w = k/p.
    assert.is_near(1, constant:lemma(constant:theta(1), 1).loss, 1e-12)
  end)

  it("never has fewer consensus columns without a user than with all", function()
    local f = tracing_instance(2)
    local function everybody(j)
      local sum = 0
      for u = 1, f.users + 1 do sum = sum + f.code:get(u, j) end
      return math.abs(sum) == f.users + 1
    end
    for user = 1, f.users + 1 do
      local s = f:consensus(user)
      for j = 1, f.p, 5 do
        assert.is_true(not everybody(j) or s[j] ~= 0)
      end
    end
  end)

  it("satisfies the lemma at the minimiser, with room", function()
    local f = ridge_instance(3)
    local theta = minimiser(f, 1)
    local lemma = f:lemma(theta, 1)
    assert.is_true(lemma.l1 <= 1 + 1e-9 and lemma.holds)
    assert.is_true(lemma.guaranteed > 0.3)
    assert.is_near(1 - lemma.disagreed, lemma.agreed, 1e-12)
    -- kappa = loss / (tau w), q = (1 - sqrt(kappa tau') - sqrt(kappa tau))^2 / kappa
    local kappa = lemma.loss / (f.tau * 127)
    local q = (1 - math.sqrt(kappa * lemma.disagreed) - math.sqrt(kappa * f.tau)) ^ 2 / kappa
    assert.is_near(q, lemma.guaranteed, 1e-12)
  end)

  law("traces the users of a non-private minimiser: the one left out scores below all others", function()
    for seed = 1, 3 do
      local f = tracing_instance(seed)
      local scores = f:trace((minimiser(f, 1)))
      for user = 2, 9 do
        assert.is_true(scores[1] < scores[user])
      end
      local sum = 0
      for user = 2, 9 do sum = sum + scores[user] end
      assert.is_true(sum / 8 > 45 and scores[1] < 30)
    end
  end)

  it("does not trace a private run", function()
    local f = tracing_instance(1)
    local _, obj = minimiser(f, 1)
    local fit = pn.solve.frank_wolfe(obj, {epsilon = 0.1, delta = 1e-7, rng = pn.rng.seeded(1)})
    local scores, above = f:trace(fit.theta), 0
    for user = 2, 9 do above = above + (scores[user] > scores[1] and 1 or 0) end
    assert.is_true(above < 8)
  end)

  it("repeats with its seed and differs with another", function()
    assert.is_true(ridge_instance(3).biases[1] == ridge_instance(3).biases[1] or ridge_instance(3).biases[1] ~= 0)
    local a, b, c = tracing_instance(1).code:vec(), tracing_instance(1).code:vec(), tracing_instance(2).code:vec()
    assert.is_true(a == b)
    assert.is_false(a == c)
  end)

  it("refuses sizes that do not fit together, and says which", function()
    local make = pn.data.synthetic.fingerprint
    local cases = {
      {{m = 2}, "m must be from 3 to 40, got 2"},
      {{users = 2}, "p is missing"},
      {{users = 2, p = 4, informative = 5, ridge = 4}, "informative must be from 1 to p = 4, got 5"},
      {{users = 2, p = 4, informative = 1, ridge = 6}, "power of two"},
      {{users = 2, p = 40, informative = 1, ridge = 32}, "from p = 40"},
      {{users = 2, p = 262144, informative = 1, ridge = 1048576}, "more than"},
    }
    for _, case in ipairs(cases) do
      local ok, message = pcall(make, case[1])
      assert.is_false(ok)
      assert.truthy(message:find(case[2], 1, true), message)
    end
    local f = make {users = 2, p = 4, informative = 1, ridge = 4}
    assert.error_matches(function() f:dataset(4) end, "from 1 to 3, got 4")
    assert.error_matches(function() f:trace({1, 2}) end, "theta has 2 entries, the code has 4 columns")
  end)
end)
