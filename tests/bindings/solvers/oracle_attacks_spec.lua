-- oracle_attacks_spec.lua -- programs that try for an answer that nobody has paid for, or for more than was planned: all are
-- refused in words, draw nothing, and leave in the ledger exactly what the answered questions cost.
local pn = require "penumbra"
local refusal = require "tests.tools.refusal"

local data = pn.data.synthetic.logistic { n = 300, p = 3, seed = 2 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 3, radius = 1 } }
local other = pn.objective { data = data:take(100), loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 3, radius = 1 } }
local zero = { 0, 0, 0 }

local STEPS = 4

-- The plan of a step that asks as it does, for 4 steps.
local function plan_of(step, more, options)
  local parts, request = { name = "attack", step = step }, { rho = 0.04, iterations = STEPS, progress = false }
  for name, value in pairs(more or {}) do parts[name] = value end
  for name, value in pairs(options or {}) do request[name] = value end
  return pn.solver(parts).plan(obj, request)
end

-- Runs it; the price of one honest step, and how far the stream of the noise has come, tell what was drawn and paid.
local honest = plan_of(function(_, ask) ask:gradient(zero) end)
local one_step = honest:steps { ledger = pn.ledger { rho = 1 } } and (function()
  local ledger = pn.ledger { rho = 1 }
  honest:steps { ledger = ledger }:step()
  return ledger.spent
end)()

local function drawn_by(plan, steps)
  local rng = pn.rng.seeded(3)
  local walk = plan:steps { ledger = pn.ledger { rho = 1, teaching = true }, rng = rng }
  for _ = 1, steps do walk:step() end
  return rng:uniform()
end

-- The run of `plan` must fail with those words after `paid` honest steps, and nothing beyond them is drawn.
local function refused_after(paid, words, plan)
  local ledger, rng = pn.ledger { rho = 1, teaching = true }, pn.rng.seeded(3)
  local message = refusal.refusal(plan.run, plan, { ledger = ledger, rng = rng, progress = false })
  assert.truthy(message:find(words, 1, true), message)
  assert.near(paid * one_step, ledger.spent, 1e-12)
  if paid == math.floor(paid) then assert.equal(drawn_by(honest, paid), rng:uniform()) end
  return message
end

local unplanned = "which the plan does not have"

describe("a step that asks what was not planned", function()
  -- From its second step on a real one does otherwise; the step that is tried when it is planned is the first call.
  local function turning(before, after)
    local calls = 0
    return plan_of(function(s, ask)
      calls = calls + 1
      if calls <= 2 then before(ask, s) else after(ask, s) end
    end)
  end

  local function gradient(ask) ask:gradient(zero) end

  local changed = {
    ["another kind"] = { function(ask) ask:value(zero) end, "plan:run: the step asks value in that form, " .. unplanned },
    ["a batch where all records were planned"] = { function(ask) ask:gradient(zero, { batch = 30 }) end,
      "plan:run: the step asks gradient of that batch, " .. unplanned },
    ["a larger share"] = { function(ask) ask:gradient(zero, { share = 1.0001 }) end,
      "plan:run: the step asks gradient with share 1.0001, and its plan has 1" },
    ["a price of its own"] = { function(ask) ask:gradient(zero, { sigma = 1e-9 }) end,
      "plan:run: gradient is given a price in a step, where the plan's budget pays" },
    ["an option of another kind"] = { function(ask) ask:gradient(zero, { radius = 1 }) end,
      "plan:run: gradient does not take radius=" },
    ["a clip where none was planned"] = { function(ask) ask:gradient(zero, { clip = 1e-9 }) end,
      "plan:run: the step asks gradient in that form, " .. unplanned },
    ["the raw gradient"] = { function() obj:gradient(zero) end, "gradient: raw numbers inside a private step" },
    ["the raw gradient of other data"] = { function() other:gradient(zero) end, "raw numbers inside a private step" },
    ["the records"] = { function() return data.X end, "X: raw numbers inside a private step" },
    ["the labels"] = { function() return data.y end, "y: raw numbers inside a private step" },
    ["a summary"] = { function() return data:summary() end, "summary: raw numbers inside a private step" },
    ["the exact minimum"] = { function() pn.solve.exact(obj) end, "exact: raw numbers inside a private step" },
    ["the stationarity"] = { function() pn.stationarity(obj, zero) end, "stationarity: raw numbers inside a private step" },
    ["the curvature gap"] = { function() pn.second_order_gap(obj, zero) end, "second_order_gap: raw numbers" },
    ["a run without privacy"] = { function() pn.solve.gradient_descent(obj, { privacy = false, iterations = 2 }) end,
      "solve.gradient_descent: raw numbers inside a private step" },
    ["a run of a Lua solver without privacy"] = { function()
      pn.solver { name = "inner", step = function() obj:gradient(zero) end }(obj, { privacy = false, iterations = 1 })
    end, "inner: raw numbers inside a private step" },
  }
  for what, row in pairs(changed) do
    it("is refused: " .. what, function()
      refused_after(1, row[2], turning(gradient, row[1]))
    end)
  end

  it("is refused a further answer in the same step", function()
    refused_after(2, "plan:run: a step asks gradient more often than its plan pays for (1)",
      turning(gradient, function(ask) ask:gradient(zero) ask:gradient(zero) end))
  end)

  it("is refused another batch", function()
    local calls = 0
    local plan = plan_of(function(_, ask)
      calls = calls + 1
      ask:gradient(zero, { batch = calls > 2 and 31 or 30 })
    end)
    local ledger = pn.ledger { rho = 1 }
    refusal.refused("plan:run: the step asks gradient of that batch, " .. unplanned, plan.run, plan,
      { ledger = ledger, progress = false })
    assert.is_true(ledger.spent > 0 and ledger.spent < 0.011)
  end)

  it("is refused a phi that cannot be told from others, in planning already", function()
    local function long(z)
      for k = 1, 60 do z = pn.tanh(z + k / 7) end
      return z
    end
    refusal.refused("attack.plan: mean: phi is too long to be told from others", plan_of, function(_, ask) ask:mean(long, zero) end)
    pn.oracle { objective = obj, ledger = pn.ledger { rho = 1 } }:mean(long, zero, { rho = 0.1 })
  end)

  it("is refused another phi, other options, more points and fewer", function()
    for _, asks in ipairs {
      { function(ask) ask:mean(pn.tanh, zero) end, function(ask) ask:mean(function(z) return pn.tanh(2 * z) end, zero) end },
      { function(ask) ask:values { zero, zero } end, function(ask) ask:values { zero, zero, zero } end },
      { function(ask) ask:values { zero, zero } end, function(ask) ask:values { zero } end },
      { function(ask) ask:value(zero) end, function(ask) ask:value(zero, { clip = { 0, 1e-9 } }) end },
      { function(ask) ask:differences(zero, { zero }, { radius = 1 }) end,
        function(ask) ask:differences(zero, { zero }, { radius = 1e-9 }) end },
    } do
      local plan, ledger = turning(asks[1], asks[2]), pn.ledger { rho = 1 }
      refusal.refused(unplanned, plan.run, plan, { ledger = ledger, progress = false })
      assert.near(one_step, ledger.spent, 1e-6)
    end
  end)

  it("is refused inside pcall, and goes on with what it has", function()
    local said, more = {}, nil
    local plan = plan_of(function(s, ask)
      ask:gradient(zero)
      if more and s.step > 1 then
        said[#said + 1] = select(2, pcall(ask.gradient, ask, zero))
        said[#said + 1] = select(2, pcall(ask.vertex, ask, zero))
        said[#said + 1] = select(2, pcall(obj.value, obj, zero))
        said[#said + 1] = select(2, pcall(pn.solve.gradient_descent, obj, { privacy = false, iterations = 1 }))
      end
    end)
    more = true
    local ledger, rng = pn.ledger { rho = 1, teaching = true }, pn.rng.seeded(3)
    plan:run { ledger = ledger, rng = rng, progress = false }
    assert.equal(4 * (STEPS - 1), #said)
    for k, message in ipairs(said) do
      local reason = ({ "more often than its plan pays for", unplanned, "raw numbers", "raw numbers" })[(k - 1) % 4 + 1]
      assert.matches(reason, message, 1, true)
    end
    assert.near(STEPS * one_step, ledger.spent, 1e-12)
    assert.equal(drawn_by(honest, STEPS), rng:uniform())
  end)

  it("is refused in a coroutine, and in one that a later step resumes", function()
    local asker, said = nil, {}
    local plan = plan_of(function(_, ask)
      asker = asker or coroutine.create(function(oracle)
        while true do
          said[#said + 1] = { pcall(oracle.gradient, oracle, zero) }
          oracle = coroutine.yield()
        end
      end)
      for _ = 1, 2 do coroutine.resume(asker, ask) end
    end, { queries = { gradient = 1 } })
    local ledger, rng = pn.ledger { rho = 1, teaching = true }, pn.rng.seeded(3)
    plan:run { ledger = ledger, rng = rng, progress = false }
    for k, one in ipairs(said) do
      assert.equal(k % 2 == 1, one[1])
      if k % 2 == 0 then assert.matches("more often than its plan pays for", one[2], 1, true) end
    end
    assert.near(STEPS * one_step, ledger.spent, 1e-12)
    assert.equal(drawn_by(honest, STEPS), rng:uniform())
    coroutine.resume(asker, nil)
    assert.is_false(coroutine.resume(asker))
  end)
end)

describe("an oracle outside of its step", function()
  local outside = "this oracle answers inside its own step only"

  it("is refused when it is kept from planning, from an earlier run, or after the end", function()
    local kept, said = {}, {}
    local plan = plan_of(function(_, ask)
      for _, old in ipairs(kept) do
        if old ~= ask then said[#said + 1] = select(2, pcall(old.gradient, old, zero)) end
      end
      kept[#kept + 1] = ask
      ask:gradient(zero)
    end)
    for _ = 1, 2 do
      local ledger = pn.ledger { rho = 1 }
      plan:run { ledger = ledger, progress = false }
      assert.near(STEPS * one_step, ledger.spent, 1e-12)
    end
    for _, ask in ipairs(kept) do said[#said + 1] = select(2, pcall(ask.gradient, ask, zero)) end
    assert.is_true(#said > 20)
    for _, message in ipairs(said) do assert.matches(outside, message, 1, true) end
  end)

  it("is refused to another solver's step, and in walks that take turns", function()
    local asks, said = {}, {}
    local function step_of(name)
      return function(_, ask)
        asks[name] = ask
        for whose, theirs in pairs(asks) do
          if whose ~= name then said[#said + 1] = select(2, pcall(theirs.gradient, theirs, zero)) end
        end
        ask:gradient(zero)
      end
    end
    local ledger = pn.ledger { rho = 1 }
    local plan = plan_of(step_of "first")
    local theirs = plan_of(step_of "second")
    local walks = { plan:steps { ledger = ledger }, theirs:steps { ledger = ledger }, plan:steps { ledger = ledger } }
    for _ = 1, STEPS do
      for _, walk in ipairs(walks) do walk:step() end
    end
    assert.near(3 * STEPS * one_step, ledger.spent, 1e-12)
    assert.is_true(#said >= 2 * STEPS)
    for _, message in ipairs(said) do assert.matches(outside, message, 1, true) end
  end)

  it("is refused from progress, from on_step, from start, and in what runs between steps", function()
    local kept, said = nil, {}
    local function try()
      if kept then said[#said + 1] = select(2, pcall(kept.gradient, kept, zero)) end
      return true
    end
    local plan = plan_of(function(_, ask)
      kept = ask
      ask:gradient(zero)
    end, { start = try })
    local ledger = pn.ledger { rho = 1 }
    plan:run { ledger = ledger, progress = try, on_step = try }
    for _ in plan:steps { ledger = ledger } do try() end
    assert.is_true(#said > 2 * STEPS)
    for _, message in ipairs(said) do assert.matches(outside, message, 1, true) end
    assert.near(2 * STEPS * one_step, ledger.spent, 1e-12)
  end)

  it("counts in `answer` as in the step that it belongs to", function()
    local kept
    local plan = plan_of(function(_, ask)
      kept = ask
      ask:gradient(zero)
    end, { answer = function() return kept:gradient(zero) end })
    refused_after(1, "a step asks gradient more often than its plan pays for", plan)
  end)

  it("answers a finalizer as it does its step, and no more", function()
    local failures = 0
    local plan = plan_of(function(_, ask)
      for _ = 1, 20 do
        setmetatable({}, { __gc = function() if not pcall(ask.gradient, ask, zero) then failures = failures + 1 end end })
      end
      collectgarbage()
    end, { queries = { gradient = 1 } })
    local ledger = pn.ledger { rho = 1 }
    plan:run { ledger = ledger, progress = false }
    collectgarbage()
    assert.near(STEPS * one_step, ledger.spent, 1e-12)
    assert.equal(20 * STEPS - STEPS, failures)
  end)
end)

describe("a question inside of a question", function()
  -- A black box is called back while an answer about it is computed.
  local inside, said, depth = nil, {}, 0
  local box = pn.loss.black_box { lipschitz = 4, value = function(theta, x)
    if inside and depth == 0 then
      depth = 1
      said[#said + 1] = { pcall(inside) }
      depth = 0
    end
    return (theta[1] - x[1]) ^ 2
  end }
  local boxed = pn.objective { data = data:take(20), loss = box, set = pn.set.l2_ball { dim = 3, radius = 1 } }

  it("is refused, and the answer is what it would have been", function()
    local answers = {}
    for turn = 1, 2 do
      local solver = pn.solver { name = "nested", step = function(_, ask)
        inside = turn == 2 and function() return ask:value(zero, { clip = 1 }) end or nil
        answers[turn] = ask:value(zero, { clip = 1 })
        inside = nil
      end }
      local ledger = pn.ledger { rho = 1, teaching = true }
      solver(boxed, { rho = 0.01, iterations = 2, ledger = ledger, rng = pn.rng.seeded(8), progress = false })
      assert.near(0.01, ledger.spent, 1e-6)
    end
    assert.equal(answers[1], answers[2])
    assert.equal(40, #said)
    for _, one in ipairs(said) do
      assert.is_false(one[1])
      assert.matches("nested: value is asked while an answer is being computed", one[2], 1, true)
    end
  end)

  it("pays for itself at the prompt", function()
    local ledger, once = pn.ledger { rho = 1 }, 0
    local ask = pn.oracle { objective = boxed, ledger = ledger }
    inside = function()
      once = once + 1
      if once == 1 then return ask:value(zero, { clip = 1, rho = 0.01 }) end
    end
    ask:value(zero, { clip = 1, rho = 0.01 })
    inside = nil
    assert.near(0.02, ledger.spent, 1e-6)
  end)
end)

describe("a step that failed", function()
  it("gets the same answer for nothing, and none at another point", function()
    local fail, at, answers = nil, zero, {}
    local plan = plan_of(function(_, ask)
      answers[#answers + 1] = ask:gradient(at)
      if fail then error "out of luck" end
    end)
    local ledger = pn.ledger { rho = 1 }
    local walk = plan:steps { ledger = ledger }
    walk:step()
    fail = true
    for _ = 1, 5 do assert.matches("out of luck", refusal.refusal(walk.step, walk)) end
    assert.near(2 * one_step, ledger.spent, 1e-12)
    for k = 4, #answers do assert.equal(0, (answers[k] - answers[3]):norm()) end
    at = { 0.5, 0, 0 }
    refusal.refused("a step that failed and is tried again asks gradient at another point than the one that was answered",
      walk.step, walk)
    assert.near(2 * one_step, ledger.spent, 1e-12)
    fail, at = nil, zero
    for _ in walk do end
    assert.near(STEPS * one_step, ledger.spent, 1e-12)
    assert.near(0.04, walk:fit().privacy.rho, 1e-6)
  end)

  it("finds s as it was before, whatever it did to it", function()
    local fail, seen = true, {}
    local plan = plan_of(function(s, ask)
      seen[#seen + 1] = { s.x[1], s.extra, s.count }
      local g = ask:gradient(s.x)
      s.x, s.extra, s.count, s.dim = s.x + g, (s.extra or 0) + 1, nil, nil
      if fail and s.step == 2 then error "no" end
    end, { start = function(s) s.count = 5 end })
    local walk = plan:steps { ledger = pn.ledger { rho = 1 } }
    walk:step()
    pcall(walk.step, walk)
    pcall(walk.step, walk)
    fail = false
    walk:step()
    assert.same(seen[3], seen[4])
    assert.same(seen[3], seen[5])
  end)
end)

describe("what is changed after planning", function()
  it("changes nothing: options, queries, the definition, the objective's name", function()
    local queries, own = { gradient = 1 }, { tries = 1 }
    local definition = { name = "fixed", options = own, queries = queries, step = function(s, ask)
      s.options.batch, s.options.tries = 3, 7
      for _ = 1, own.tries do ask:gradient(zero) end
    end }
    local solver = pn.solver(definition)
    local options = { rho = 0.04, iterations = STEPS, progress = false }
    local plan = solver.plan(obj, options)
    options.rho, options.iterations, options.privacy = 1000, 1, false
    queries.gradient, queries.value = 50, 50
    definition.step = function(_, ask) for _ = 1, 50 do ask:gradient(zero) end end
    local ledger = pn.ledger { rho = 1 }
    plan:run { ledger = ledger, progress = false }
    assert.near(STEPS * one_step, ledger.spent, 1e-12)
    own.tries = 2
    refusal.refused("more often than its plan pays for", plan.run, plan, { progress = false })
  end)

  it("does not matter to the data: a plan holds its objective open", function()
    local mine = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 3, radius = 1 } }
    local solver = pn.solver { name = "closing", step = function(_, ask) ask:gradient(zero) end }
    local plan = solver.plan(mine, { rho = 0.04, iterations = 2 })
    do local _ <close> = mine end
    collectgarbage()
    assert.equal(2, plan:run({ progress = false }).steps)
  end)
end)

describe("what a run says that it cost", function()
  it("is the plan's epsilon also where a step asked less than was planned, for why it did is a secret", function()
    local plan = plan_of(function(s, ask)
      if s.quiet then return end
      local g = ask:gradient(zero)
      s.quiet = s.step >= 2 and g[1] == g[1]
    end)
    local ledger = pn.ledger { rho = 1 }
    local fit = plan:run { ledger = ledger, progress = false }
    assert.near(2 * one_step, ledger.spent, 1e-12)
    assert.equal(STEPS, fit.steps)
    assert.equal(plan.rho, fit.privacy.rho)
  end)

  it("is nothing where nothing was asked", function()
    local never
    local plan = plan_of(function(_, ask) if not never then ask:gradient(zero) end end)
    never = true
    local ledger = pn.ledger { rho = 1 }
    assert.equal(0, plan:run({ ledger = ledger, progress = false }).privacy.rho)
    assert.equal(0, ledger.spent)
  end)
end)

describe("a private step", function()
  it("has no raw numbers though a walk without privacy was begun before it, or its plan was made before", function()
    local raw_plan = pn.solve.gradient_descent.plan(obj, { privacy = false, iterations = 3 })
    local raw_walk = raw_plan:steps {}
    local own = pn.solver { name = "raw", step = function(s, ask) s.x = s.x - ask:gradient(s.x) end }
      .plan(obj, { privacy = false, iterations = 3 })
    local own_walk, said = own:steps {}, {}
    plan_of(function(_, ask)
      ask:gradient(zero)
      for _, f in ipairs { function() return raw_plan:run {} end, function() return raw_walk:step() end,
        function() return own:run {} end, function() return own_walk:step() end, function() return raw_plan:steps {} end } do
        said[#said + 1] = { pcall(f) }
      end
    end):run { progress = false }
    assert.is_true(#said >= 5 * STEPS)
    for _, one in ipairs(said) do
      assert.is_false(one[1])
      assert.matches("raw numbers inside a private step", one[2], 1, true)
    end
    raw_walk:step()
    own_walk:step()
  end)

  it("is over when it fails", function()
    pcall(plan_of(function() error "x" end, { queries = { gradient = 1 } }).run)
    local ok = pcall(plan_of, function() error "x" end)
    assert.is_false(ok)
    assert.truthy(obj:gradient(zero))
    local plan = plan_of(function(_, ask) ask:gradient(zero) error "y" end, { queries = { gradient = 1 } })
    assert.is_false((pcall(plan.run, plan, { progress = false })))
    assert.truthy(obj:gradient(zero))
  end)

  it("has raw numbers in a run without privacy, as owners may", function()
    local seen
    pn.solver { name = "open", step = function(_, ask) ask:gradient(zero) seen = obj:gradient(zero) end }(obj,
      { privacy = false, iterations = 1, progress = false })
    assert.truthy(seen)
  end)
end)
