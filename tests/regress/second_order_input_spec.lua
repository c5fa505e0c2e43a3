-- second_order_input_spec.lua -- what pn.second_order_gap and ledgers of the second-order solvers are given: random kinds of
-- data, losses, points and budgets, right and wrong.  An error in words that names its owner, or numbers that are finite; a
-- ledger never pays more than it had, and a closed or small one refuses before anything runs.  Seeded; CASES=n, SEED=s.
local pn = require "penumbra"

local CASES, SEED = tonumber(os.getenv "CASES") or 200, tonumber(os.getenv "SEED") or 1
local state
local function dice(k)
  state = (1103515245 * state + 12345) % 2147483648
  return (state >> 8) % k + 1
end
local function pick(list) return list[dice(#list)] end

local function data(n, p)
  local rows, y = {}, {}
  for i = 1, n do
    rows[i], y[i] = {}, 2 * dice(2) - 3
    for j = 1, p do rows[i][j] = pick { 0, 1, -1, (dice(2001) - 1001) / 500, 1e-300, 1e150 } end
  end
  local d = pn.data.from(rows, y)
  if dice(5) > 1 then d = d:clip_rows("l2", pick { 1e-3, 1, 50 }) end
  return dice(4) == 1 and d:float32() or d
end

local losses = {
  pn.loss.logistic, pn.loss.logistic, pn.loss.sigmoid, pn.loss.squared, pn.loss.hinge, pn.loss.smooth_hinge,
  function() return pn.loss.softmax { classes = 2 } end,
  function() return pn.loss.black_box { value = function() return 0 end, lipschitz = 1 } end,
  function() return pn.loss.glm(function(z, y) return (z - y) ^ 2 / (1 + (z - y) ^ 2) end) end,
}

local function objective(n, p)
  return pn.objective { data = data(n, p), loss = pick(losses)(), clip = dice(8) == 1 and 0.5 or nil,
    reg = pick { function() end, function() return pn.reg.l2(0.1) end, function() return pn.reg.nonconvex(0.1) end,
      function() return pn.reg.l1(0.1) end } (),
    set = dice(6) == 1 and pn.set.l2_ball { dim = p } or nil }
end

local function in_words(message)
  assert.equal("string", type(message))
  local words = message:gsub("^[^:]*_spec%.lua:%d+: ", ""):gsub("^slice \"[^\"]*\": ", "")
  assert.matches("^[%a_][%w_.:]*: %S", words)
  assert.is_nil(words:find("(null)", 1, true), words)
  assert.is_nil(words:gsub("got %-?nan", ""):find "%f[%a]nan%f[%A]", words)
end

local function finite(x) return x == x and math.abs(x) < 1 / 0 end

describe("pn.second_order_gap", function()
  it("answers with finite numbers or refuses in words", function()
    local answered, refused = 0, 0
    for number = 1, CASES do
      state = (SEED * 7919 + number * 104729) % 2147483648
      local n, p = pick { 1, 2, 3, 20 }, pick { 1, 2, 5 }
      local ok, f = pcall(objective, n, p)
      if ok then
        local theta = pick { pn.vec.zeros(p), pn.vec.ones(p), 1e3 * pn.vec.ones(p), 1e200 * pn.vec.ones(p), pn.vec.ones(p + 1),
          "x", {}, 3, pn.vec.zeros(2 * p), f }
        local fine, gap = pcall(pn.second_order_gap, f, theta)
        if fine then
          answered = answered + 1
          assert.is_true(finite(gap.value) and gap.gradient_norm >= 0 and finite(gap.gradient_norm), tostring(theta))
          assert.is_true(finite(gap.eigenvalue) and gap.error >= 0)
          assert.is_near(1, gap.direction:norm(), 1e-9)
        else
          refused = refused + 1
          in_words(gap)
        end
      else
        in_words(f)
      end
    end
    assert.is_true(answered >= CASES // 10 and refused >= CASES // 10)
  end)
end)

describe("the ledger of a second-order solver", function()
  local d = pn.data.synthetic.logistic { n = 300, p = 3, seed = 2 }:clip_rows("l2", 1)
  local f = pn.objective { data = d, loss = pn.loss.logistic(), reg = pn.reg.l2(0.01) }

  for _, name in ipairs { "second_order", "trust_region", "newton" } do
    it("never pays more than it has, and refuses what it cannot pay before anything runs: " .. name, function()
      for number = 1, CASES // 10 do
        state = (SEED * 7919 + number * 104729) % 2147483648
        local budget = pick { { epsilon = 1, delta = 1e-6 }, { rho = 0.1 }, { epsilon = 0.05, delta = 1e-9 }, { rho = 1e-6 },
          { epsilon = 1 } }
        local ledger = pn.ledger(budget)
        local whole = ledger
        if dice(3) == 1 then ledger = ledger:split(2) end
        if dice(6) == 1 then whole:close() end
        local options = pick { { rho = 0.05 }, { epsilon = 0.5, delta = 1e-7 }, { rho = 1e-7 }, {} }
        options.ledger, options.iterations = ledger, dice(4)
        local before, spent = ledger.remaining, 0
        local ok, plan = pcall(pn.solve[name].plan, f, options)
        if not ok then
          in_words(plan)
          assert.equal(before, ledger.remaining)
        else
          local ran, fit = pcall(plan.run, plan)
          if not ran then in_words(fit) else assert.is_true(fit.privacy.private) end
          assert.is_true(ledger.remaining >= 0 and ledger.remaining <= before + 1e-12)
          assert.is_true(not ran or ledger.remaining < before)
          while ran and spent < 50 do -- again until it refuses
            ran, fit = pcall(plan.run, plan)
            spent = spent + 1
          end
          if not ran then in_words(fit) end
          assert.is_true(ledger.remaining >= 0)
        end
      end
    end)
  end
end)
