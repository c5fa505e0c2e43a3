-- lfit_save_spec.lua -- fit:save and pn.load: what comes back, what is left out and why, what is refused.  The C test
-- tests/runtime/model/model_test.c spoils and cuts files everywhere.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local path = os.tmpname()

teardown(function() os.remove(path) end)

local function logistic(options, set)
  local d = pn.data.synthetic.logistic { n = 500, p = 6, seed = 1 }:clip_rows("l2", 1)
  local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = set or pn.set.l1_ball { dim = 6 } }
  return pn.solve.frank_wolfe(obj, options), d, obj
end

local PRIVATE = { epsilon = 1, delta = 1e-8, iterations = 7 }

local function again(fit, options)
  assert.equal(path, fit:save(path, options))
  return pn.load(path)
end

local function field(object, name)
  return function() return object[name] end
end

local function text_of(file)
  local handle = assert(io.open(file, "rb"))
  local text = handle:read "a"
  handle:close()
  return text
end

describe("a fit that was saved and loaded", function()
  it("has the same theta, privacy, steps and plan", function()
    local fit = logistic(PRIVATE)
    local got = again(fit)
    assert.is_true(got.theta == fit.theta)
    assert.same(fit.privacy, got.privacy)
    assert.same({ fit.steps, fit.nonzeros }, { got.steps, got.nonzeros })
    assert.is_nil(got.stopped)
    assert.is_nil(got.certificate)
    assert.equal(tostring(fit.plan), tostring(got.plan))
    assert.same({ "frank_wolfe", "logistic", "rdp", 7, 500, 1, false, pn.version },
      { got.plan.solver, got.plan.loss, got.plan.accountant, got.plan.iterations, got.plan.records, got.plan.margins,
        got.plan.raw, got.plan.version })
  end)

  it("predicts the same, of one margin and of several", function()
    local fit, d = logistic(PRIVATE)
    local got = again(fit)
    assert.is_true(got:predict(d) == fit:predict(d))
    assert.is_true(got:predict(d.X) == fit:predict(d.X))
    assert.equal(fit:predict(d.X[3]), got:predict(d.X[3]))

    local many = pn.data.synthetic.classification { n = 300, p = 4, classes = 3, seed = 1 }:clip_rows("l2", 2)
    local obj = pn.objective { data = many, loss = pn.loss.softmax { classes = 3 }, set = pn.set.l2_ball { dim = 12 } }
    local classes = pn.solve.gradient_descent(obj, { epsilon = 1, delta = 1e-8, iterations = 5 })
    local back = again(classes)
    assert.equal(3, back.plan.margins)
    assert.is_true(back:predict(many.X) == classes:predict(many.X))
    assert.is_true(back:predict(many.X[1]) == classes:predict(many.X[1]))
    assert.equal("fit:predict: the rows have 2 features, the model has 4", refusal(back.predict, back, { { 1, 2 } }))
  end)

  it("predicts with a traced loss, which itself is not in the file", function()
    local d = pn.data.synthetic.lasso { n = 300, p = 3, seed = 1 }:clip_rows("l2", 1)
    local loss = pn.loss.glm(function(z, y) return pn.softplus(z) - 0.5 * y * z end, { labels = { lo = -1, hi = 1 } })
    local fit = pn.solve.frank_wolfe(pn.objective { data = d, loss = loss, set = pn.set.l1_ball { dim = 3 } }, PRIVATE)
    local got = again(fit)
    assert.is_true(got:predict(d.X) == fit:predict(d.X))
    assert.matches("fit:excess: a fit that was loaded has no objective", refusal(got.excess, got))
  end)

  it("keeps the further parameters of a loss of several margins apart from its rows", function()
    local d = pn.data.synthetic.lasso { n = 300, p = 3, seed = 1 }:clip_rows("l2", 1)
    for k = 1, 2 do
      local loss = pn.loss.margins { k = k, extra = 2, labels = { lo = -1, hi = 1 },
        f = function(z, w, y) return (w[1] * pn.tanh(z[k]) + w[2] - y) ^ 2 end }
      local set = pn.set.l2_ball { dim = 3 * k + 2 }
      local obj = pn.objective { data = d:clip_labels(-1, 1), loss = loss, set = set }
      local fit = pn.solve.gradient_descent(obj, { epsilon = 1, delta = 1e-8, iterations = 5 })
      local back = again(fit)
      assert.equal(k, back.plan.margins)
      assert.equal(2, back.plan.extra)
      assert.equal(3 * k + 2, #back.theta)
      assert.is_true(back:predict(d.X) == fit:predict(d.X))
      local row = k == 1 and back:predict(d.X[5]) or back:predict(d.X[5])[2]
      assert.equal(d.X[5]:dot(fit.theta:slice(3 * k - 2, 3 * k)), row)
    end
  end)

  it("prints what it is, and says where it came from", function()
    local fit = logistic(PRIVATE)
    local text = tostring(again(fit))
    assert.equal("fit: frank_wolfe, 7 of 7 steps", text:match "^[^\n]+")
    assert.equal(tostring(fit):match "\n  privacy[^\n]+", text:match "\n  privacy[^\n]+")
    assert.equal(tostring(fit):match "\n  theta[^\n]+", text:match "\n  theta[^\n]+")
    assert.matches("\n  risk     not saved: it is not private\n", text, 1, true)
    assert.matches("\n  loaded   from a file of penumbra " .. pn.version, text, 1, true)
    local raw = tostring(again(fit, { raw = true }))
    assert.matches("with values of records: not private", raw, 1, true)
    for line in raw:gmatch "[^\n]+" do assert.is_true(#line <= 80) end
  end)

  it("says of what is not in the file why", function()
    local got = again((logistic(PRIVATE)))
    assert.equal("fit.value: the file does not hold it, since it is not private; fit:save(path, {raw = true}) keeps it",
      refusal(field(got, "value")))
    for _, name in ipairs { "seconds", "gradients" } do
      assert.equal("fit." .. name .. ": the file does not hold it, since that of a private run is not private; "
        .. "fit:save(path, {raw = true}) keeps it", refusal(field(got, name)))
    end
  end)

  it("keeps of the trace what was released", function()
    local fit = logistic(PRIVATE)
    local got = again(fit)
    assert.equal(7, #got.trace)
    for i, row in ipairs(fit.trace) do
      assert.same({ step = i, atom = row.atom, step_size = row.step_size }, got.trace[i])
    end
  end)

  it("keeps everything with raw = true, and says so", function()
    local d = pn.data.synthetic.logistic { n = 500, p = 6, seed = 1 }:clip_rows("l2", 1)
    local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 6 } }
    local fit = pn.solve.frank_wolfe.plan(obj, PRIVATE):run { rng = pn.rng.seeded(3) }
    local got = again(fit, { raw = true })
    assert.is_true(got.plan.raw)
    assert.same({ fit.value, fit.seconds, fit.gradients }, { got.value, got.seconds, got.gradients })
    assert.is_number(fit.trace[2].value) -- simulated runs have it
    assert.same(fit.trace, got.trace)
    assert.is_true(got.privacy.simulated)
    assert.equal(math.huge, got.privacy.epsilon)
    assert.equal(fit.privacy.nominal_epsilon, got.privacy.nominal_epsilon)
    local paid = again(got)
    assert.is_false(paid.plan.raw)
    assert.is_nil(paid.trace[2].value)
    assert.is_nil(paid.trace[2].gradients)
    assert.matches("fit:save: raw = true, but the file", refusal(paid.save, paid, path, { raw = true }), 1, true)
  end)

  it("has no trace of raw values in the bytes of a private run's file", function()
    local fit = logistic(PRIVATE)
    fit:save(path)
    local paid = text_of(path)
    assert.is_nil(paid:find(string.pack("<d", fit.value), 1, true))
    assert.is_nil(paid:find(string.pack("<d", fit.seconds), 1, true))
    fit:save(path, { raw = true })
    local raw = text_of(path)
    assert.is_truthy(raw:find(string.pack("<d", fit.value), 1, true)) -- where the search finds it
    assert.is_truthy(raw:find(string.pack("<d", fit.seconds), 1, true))
  end)

  it("has time and gradients when the run was without privacy, and the objective only with raw", function()
    local fit = logistic { privacy = false, iterations = 9 }
    local got = again(fit)
    assert.is_nil(got.privacy)
    assert.is_nil(got.plan.accountant)
    assert.same({ fit.seconds, fit.gradients }, { got.seconds, got.gradients })
    assert.is_nil(got.trace[1].value)
    assert.equal(fit.trace[9].gradients, got.trace[9].gradients)
    assert.matches("fit.value: the file does not hold it", refusal(field(got, "value")))
    assert.same(fit.trace, again(fit, { raw = true }).trace)
  end)

  it("keeps certificates, kinds of steps and why a run stopped", function()
    local d = pn.data.synthetic.logistic { n = 5000, p = 10, seed = 1 }:clip_rows("l2", 1)
    local obj = pn.objective { data = d, loss = pn.loss.sigmoid(), reg = pn.reg.nonconvex(0.01) }
    local fit = pn.solve.second_order(obj,
      { epsilon = 1, delta = 1e-8, tolerance = { gradient = 0.3, hessian = 0.5 }, rng = pn.rng.seeded(1) })
    local got = again(fit)
    assert.is_table(fit.certificate)
    assert.same(fit.certificate, got.certificate)
    assert.equal(fit.stopped, got.stopped)
    assert.is_string(fit.trace[1].kind)
    for i, row in ipairs(fit.trace) do
      assert.same({ row.kind, row.gradient_norm or 0, row.eigenvalue or 0 },
        { got.trace[i].kind, got.trace[i].gradient_norm or 0, got.trace[i].eigenvalue or 0 })
    end
    assert.same(fit.privacy, got.privacy)
    assert.equal(tostring(fit):match "\n  certified[^\n]*", tostring(got):match "\n  certified[^\n]*")
  end)

  it("knows the bias of data whose features have names", function()
    local csv = os.tmpname()
    local handle = assert(io.open(csv, "w"))
    handle:write "age,income,label\n1,2,1\n3,1,-1\n2,2,1\n0,1,-1\n"
    handle:close()
    local plain = pn.data.csv(csv, { label = "label" })
    os.remove(csv)
    for expected, d in pairs { [true] = plain:add_bias(), [false] = plain } do
      d = d:clip_rows("l2", 1)
      local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = d.p } }
      assert.equal(expected, again(pn.solve.frank_wolfe(obj, { privacy = false, iterations = 2 })).plan.bias)
    end
  end)

  it("outlives the fit that it came from, and its own plan", function()
    local plan, theta, trace
    do
      local got = again((logistic(PRIVATE)))
      plan, theta, trace = got.plan, got.theta, got.trace
    end
    collectgarbage()
    collectgarbage()
    assert.matches("^plan: frank_wolfe", tostring(plan))
    assert.equal(6, #theta)
    assert.equal(7, #trace)
  end)
end)

describe("pn.load", function()
  it("tells arrays from models by what they hold", function()
    local v = pn.vec { 1, 2, 3 }
    v:save(path)
    assert.is_true(pn.load(path) == v)
    logistic(PRIVATE):save(path)
    assert.is_true(#pn.load(path).theta == 6)
  end)

  it("refuses a model that is damaged, cut, or of another version", function()
    logistic(PRIVATE):save(path)
    local text = text_of(path)
    local function refuses(bytes, pattern)
      local handle = assert(io.open(path, "wb"))
      handle:write(bytes)
      handle:close()
      assert.matches(pattern, refusal(pn.load, path))
    end
    refuses(text:sub(1, 300) .. "?" .. text:sub(302), "damaged: its checksum does not fit its contents")
    refuses(text:sub(1, -2), "cut, or damaged: its header states %d+ bytes, and it holds %d+")
    refuses(text:sub(1, 20), "cut: it has 20 bytes")
    refuses(text:sub(1, 8) .. "\3" .. text:sub(10), "a model file of version 3, this library reads 1 to 2")
    refuses("not a model", "not a .npy file")
  end)
end)

describe("fit:save", function()
  it("refuses what it does not know, and places it cannot write to, and leaves what is there", function()
    local fit = logistic(PRIVATE)
    assert.matches("fit:save: unknown option 'values'; it takes raw", refusal(fit.save, fit, path, { values = true }), 1, true)
    assert.matches("cannot be written: No such file or directory", refusal(fit.save, fit, "/nowhere/at/all"), 1, true)
    assert.matches("zero byte", refusal(fit.save, fit, "a\0b"))
  end)
end)
