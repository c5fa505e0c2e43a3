local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- Values are told from noise by drawing the same noise again: with one seed the answers for two data sets differ by exactly what
-- was added up.  (A ledger for teaching takes seeded noise.)
local function teaching(neighbours)
  return pn.ledger { epsilon = 1e6, delta = 1e-3, teaching = true, neighbours = neighbours or "replace_one" }
end

local function ask(kind, options, seed, ledger)
  options.rng, options.ledger = pn.rng.seeded(seed or 1), ledger or teaching()
  return pn.query[kind](options)
end

local function close(want, got, tolerance, what)
  assert.truthy(math.abs(want - got) <= tolerance, ("%s: %.17g, not %.17g"):format(what or "", got, want))
end

local rows = { { 0.1, -3 }, { 0.9, 2 }, { 5, 0.5 }, { -7, 0.25 }, { 0.4, 1 }, { 0.6, -0.5 } }
local labels = { 1, 2, 3, 4, 5, 6 }
local data = pn.data.from(rows, labels)

describe("a query", function()
  it("is right up to its noise", function()
    -- Laplace noise exceeds 25 scales with probability exp(-25) = 1.4e-11.
    local eps = 1000
    local function near(want, got, sensitivity, what) close(want, got, 25 * sensitivity / eps + 1e-6, what) end
    local function exactly(kind, options)
      options.data, options.epsilon = data, eps
      return ask(kind, options).value
    end
    near(3, exactly("count", { columns = { 1 }, low = { 0.3 }, high = { 1 } }), 1, "count")
    near(1, exactly("count", { columns = { 1, 2 }, low = { 0.3, 0.9 }, high = { 1, 1.5 } }), 1, "count in a box")
    near(4, exactly("count", { columns = { 0 }, low = { 2 }, high = { 5 } }), 1, "count of labels")
    near(0.1 + 0.9 + 1 + 0 + 0.4 + 0.6, exactly("sum", { columns = { 1 }, low = { 0 }, high = { 1 } }), 1, "sum")
    local sums = exactly("sum", { columns = { 2, 0 }, low = { -1, 0 }, high = { 1, 10 } })
    near(-1 + 1 + 0.5 + 0.25 + 1 - 0.5, sums[1], 4, "first sum")
    near(21, sums[2], 20, "second sum")
    near(3 / 6, exactly("mean", { columns = { 1 }, low = { 0 }, high = { 1 } }), 1 / 6, "mean")
    local bins = exactly("histogram", { column = 1, edges = { 0, 0.4, 0.9, 1 } })
    for i, want in ipairs { 2, 2, 2 } do
      near(want, bins[i], 2, "bin " .. i)
    end
    local equal = exactly("histogram", { column = 0, edges = { 1, 7 }, bins = 3 })
    for i, want in ipairs { 2, 2, 2 } do
      near(want, equal[i], 2, "bin of equal width " .. i)
    end
    -- The best candidate is ahead of the next by 2 records or more: exp(-1000) is never.
    assert.equal(3.5, exactly("quantile", { column = 0, candidates = { 0, 1.5, 3.5, 5.5, 9 }, q = 0.5 }))
    assert.equal(0, exactly("quantile", { column = 0, candidates = { 0, 4.5, 9 }, q = 0 }))
  end)

  it("says its standard deviation, which follows from the range, the price and the relation", function()
    local function deviation(kind, options, neighbours)
      options.data = data
      return ask(kind, options, 1, teaching(neighbours)).deviation
    end
    local r2 = math.sqrt(2)
    close(r2 / 0.5, deviation("count", { columns = { 1 }, low = { 0 }, high = { 1 }, epsilon = 0.5 }), 1e-6)
    close(1 / math.sqrt(2 * 0.1), deviation("count", { columns = { 1 }, low = { 0 }, high = { 1 }, rho = 0.1 }), 1e-6)
    close(r2 * 4, deviation("sum", { columns = { 1 }, low = { -1 }, high = { 3 }, epsilon = 1 }), 1e-6)
    close(r2 * 3, deviation("sum", { columns = { 1 }, low = { -1 }, high = { 3 }, epsilon = 1 }, "add_remove"), 1e-6)
    close(r2 * 3, deviation("sum", { columns = { 1 }, low = { -1 }, high = { 3 }, epsilon = 1 }, "zero_out"), 1e-6)
    local two = deviation("sum", { columns = { 1, 2 }, low = { 0, 0 }, high = { 1, 10 }, epsilon = 1 })
    close(2 * r2, two[1], 1e-6)
    close(20 * r2, two[2], 1e-5)
    two = deviation("sum", { columns = { 1, 2 }, low = { 0, 0 }, high = { 1, 10 }, rho = 0.5 })
    close(r2, two[1], 1e-6)
    close(10 * r2, two[2], 1e-5)
    close(r2 * 4 / 6, deviation("mean", { columns = { 1 }, low = { -1 }, high = { 3 }, epsilon = 1 }), 1e-6)
    close(2 * r2, deviation("histogram", { column = 1, edges = { 0, 1, 2 }, epsilon = 1 }), 1e-6)
    close(r2, deviation("histogram", { column = 1, edges = { 0, 1, 2 }, epsilon = 1 }, "add_remove"), 1e-6)
    close(r2 / r2, deviation("histogram", { column = 1, edges = { 0, 1, 2 }, rho = 1 }), 1e-6)
    -- Balle, Wang (2018): as pn.calibrate.gaussian, which has tests of its own.
    close(pn.calibrate.gaussian { epsilon = 1, delta = 1e-5, sensitivity = 4 },
      deviation("sum", { columns = { 1 }, low = { -1 }, high = { 3 }, epsilon = 1, delta = 1e-5 }), 1e-5)
    local answer = ask("quantile", { data = data, column = 0, candidates = { 0, 3, 9 }, q = 0.5, epsilon = 0.5 })
    close(2 * math.log(3 / 0.05) / 0.5, answer.rank_error, 1e-12)
  end)

  it("is moved by one record by at most its sensitivity, and by as much at the ends", function()
    local rng = pn.rng.seeded(7)
    local extremes = { -1e300, -5, -1, -0.25, 0, 0.25, 1, 3, 5, 1e300 }
    local function any() return extremes[rng:integer(#extremes)] end
    local low, high = -1, 3
    local function value(kind, of, neighbours)
      local options = { data = of, epsilon = 1 }
      if kind == "histogram" then options.column, options.edges = 1, { -2, -0.5, 0.5, 4 }
      else options.columns, options.low, options.high = { 1 }, { low }, { high } end
      local v = ask(kind, options, 5, teaching(neighbours)).value
      return kind == "histogram" and v or pn.vec { v }
    end
    -- Of neighbours, the l1 distance of the answers; noise is the same, so the rest is what one record does.
    local bounds = {
      replace_one = { sum = 4, count = 1, histogram = 2, mean = 4 / 3 },
      zero_out = { sum = 3, count = 1, histogram = 2, mean = 1 },
      add_remove = { sum = 3, count = 1, histogram = 1 },
    }
    for neighbours, of in pairs(bounds) do
      for kind, bound in pairs(of) do
        local most = 0
        for _ = 1, 150 do
          local a, b, c, d = any(), any(), any(), any()
          if neighbours == "zero_out" then d = 0 end
          local first = { { a }, { b }, { c } }
          local second = neighbours == "add_remove" and { { a }, { b } } or { { a }, { b }, { d } }
          local x = value(kind, pn.data.from(first, { 1, 1, 1 }), neighbours)
          local y = value(kind, pn.data.from(second, neighbours == "add_remove" and { 1, 1 } or { 1, 1, 1 }), neighbours)
          most = math.max(most, (x - y):norm(1))
        end
        assert.truthy(most <= bound * (1 + 1e-9), neighbours .. " " .. kind .. " moves by " .. most)
        assert.truthy(most >= bound * (1 - 1e-6), neighbours .. " " .. kind .. " moves by " .. most .. " only")
      end
    end
  end)

  law("draws noise of the scale that it says", function()
    -- 20000 draws.  The mean of |Laplace(b)| has standard deviation b/sqrt(n) = 0.0071 b: 6 of these are 0.042 b, which it exceeds
    -- with probability below 1e-8; b times 1.1 is 8 further off.  The mean square of Gaussian noise: sigma^2 sqrt(2/n) =
    -- 0.01 sigma^2; 6 of these; sigma times 1.1 gives 1.21.
    local n, ledger, rng = 20000, pn.ledger { epsilon = 1e9, delta = 1e-3, teaching = true, orders = { 2 } }, pn.rng.seeded(11)
    local tiny = pn.data.from({ { 0 }, { 0 } }, { 1, 1 })
    local absolute, square = 0, 0
    local options = { data = tiny, columns = { 1 }, low = { -1 }, high = { 3 }, ledger = ledger, rng = rng, epsilon = 1 }
    for _ = 1, n do
      absolute = absolute + math.abs(pn.query.sum(options).value) / 4
    end
    options.epsilon, options.rho = nil, 0.5
    for _ = 1, n do
      square = square + (pn.query.sum(options).value / 4) ^ 2
    end
    close(1, absolute / n, 0.042, "Laplace")
    close(1, square / n, 0.06, "Gaussian")
  end)

  law("chooses quantiles with the probabilities of the exponential mechanism", function()
    -- Ranks 4.5 off at both ends, 0 in the middle: P = 1/(1 + 2 exp(-4.5 epsilon/2)).  40000 draws: 5.2 standard deviations are
    -- 0.0127, which happens with probability 2e-7; epsilon times 1.1 moves P by 0.0265.
    local nine = pn.data.from({ { 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 9 } }, { 1, 1, 1, 1, 1, 1, 1, 1, 1 })
    local n, ledger, rng, hits = 40000, pn.ledger { epsilon = 1e9, teaching = true }, pn.rng.seeded(13), 0
    for _ = 1, n do
      local got = pn.query.quantile { data = nine, column = 1, candidates = { 0, 5, 10 }, q = 0.5, epsilon = 0.5,
        ledger = ledger, rng = rng }
      hits = hits + (got.value == 5 and 1 or 0)
    end
    close(1 / (1 + 2 * math.exp(-4.5 * 0.5 / 2)), hits / n, 0.0127)
  end)

  it("answers the same of sparse and float32 data", function()
    local dense = pn.data.from({ { 0, 0.5, 0 }, { 0.25, 0, 0 }, { 0, 0, -1 } }, { 1, -1, 1 })
    local sparse = pn.data.from(pn.sparse { rows = 3, cols = 3, i = { 1, 2, 3 }, j = { 2, 1, 3 }, x = { 0.5, 0.25, -1 } },
      { 1, -1, 1 })
    for _, other in ipairs { sparse, dense:float32(), sparse:float32() } do
      for _, column in ipairs { 0, 1, 2, 3 } do
        local options = { columns = { column, 3 - column == column and 0 or 3 - column }, low = { -1, -1 }, high = { 1, 1 },
          epsilon = 1 }
        options.data = dense
        local want = ask("sum", options).value
        options.data = other
        assert.truthy(want == ask("sum", options).value)
        assert.equal(ask("quantile", { data = dense, column = column, candidates = { -1, 0, 1 }, q = 0.5, epsilon = 1 }).value,
          ask("quantile", { data = other, column = column, candidates = { -1, 0, 1 }, q = 0.5, epsilon = 1 }).value)
      end
    end
  end)

  it("is one charge, of what was asked for at most, made before the answer", function()
    local ledger = pn.ledger { epsilon = 3 }
    pn.query.count { data = data, columns = { 1 }, low = { 0 }, high = { 1 }, epsilon = 1, ledger = ledger, label = "mine" }
    pn.query.histogram { data = data, column = 1, edges = { 0, 1, 2, 3 }, epsilon = 1, ledger = ledger }
    local report = ledger:report()
    assert.equal(2, #report)
    assert.equal("mine", report[1].label)
    assert.equal("query.histogram", report[2].label)
    assert.truthy(ledger.spent <= 2 * (1 + 1e-12) and ledger.spent > 1.999)
    local ok, message = pcall(pn.query.sum, { data = data, columns = { 1 }, low = { 0 }, high = { 1 }, epsilon = 1.5,
      ledger = ledger })
    assert.is_false(ok)
    assert.truthy(message:find("Requested", 1, true), message)
    assert.equal(2, #ledger:report())
    for _, price in ipairs { 0.25, 1e-9, 0.7 } do
      local rho = pn.ledger { rho = 1 }
      pn.query.sum { data = data, columns = { 1, 2, 0 }, low = { 0, 0, 0 }, high = { 1, 2, 3 }, rho = price, ledger = rho }
      assert.truthy(rho.spent <= price * (1 + 1e-12) and rho.spent > price * 0.999, rho.spent)
    end
  end)

  it("refuses what makes no sense, without looking at a record", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local function no_answer(text, kind, options)
      options.data, options.ledger = options.data or data, options.ledger or ledger
      refused(text, pn.query[kind], options)
      assert.equal(0, ledger.spent)
    end
    local function box(options)
      local all = { columns = { 1 }, low = { 0 }, high = { 1 }, epsilon = 1 }
      for name, value in pairs(options) do
        all[name] = value
      end
      return all
    end
    no_answer("low must be below high", "sum", box { high = { 0 } })
    no_answer("columns are from 1 to 2", "sum", box { columns = { 3 } })
    no_answer("whole numbers", "sum", box { columns = { 1.5 } })
    no_answer("is given twice", "sum", { columns = { 1, 1 }, low = { 0, 0 }, high = { 1, 1 }, epsilon = 1 })
    no_answer("a range for each", "sum", box { columns = { 1, 2 } })
    no_answer("from 1 to 4096 columns", "sum", { columns = {}, low = {}, high = {}, epsilon = 1 })
    no_answer("the price is missing", "sum", { columns = { 1 }, low = { 0 }, high = { 1 } })
    no_answer("the price is missing", "sum", box { rho = 1 })
    no_answer("edges must increase", "histogram", { column = 1, edges = { 1, 0 }, epsilon = 1 })
    no_answer("edges, got 1", "histogram", { column = 1, edges = { 1 }, epsilon = 1 })
    no_answer("candidates must increase", "quantile", { column = 1, candidates = { 1, 1 }, q = 0.5, epsilon = 1 })
    no_answer("q must be", "quantile", { column = 1, candidates = { 1, 2 }, q = 2, epsilon = 1 })
    no_answer("epsilon", "quantile", { column = 1, candidates = { 1, 2 }, q = 0.5 })
    no_answer("keep the number of records secret", "mean",
      box { ledger = pn.ledger { epsilon = 1, neighbours = "add_remove" } })
    no_answer("seeded", "sum", box { rng = pn.rng.seeded(1) })
    assert.truthy(select(2, pcall(pn.query.sum, box { data = data })):find("paid from a ledger", 1, true))
  end)

  local function named()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write "age,city,pay,happy\n"
    for i = 1, 600 do
      file:write(("%d,%s,%d,%d\n"):format(20 + i % 60, i % 3 == 0 and "Oslo" or "Lima", 100 * (i % 6), i % 2 == 0 and 1 or -1))
    end
    file:close()
    local made = pn.data.csv(path, { header = true, label = "happy", one_hot = { "city" } })
    os.remove(path)
    return made
  end

  it("is asked by the names of columns, and with data and columns by place", function()
    local d = named()
    assert.same({ "age", "city=Lima", "city=Oslo", "pay" }, { table.unpack(d.features) })
    local function same(kind, numbered, ...)
      local places = { ... }
      numbered.data = d
      local want = ask(kind, numbered).value
      local last = places[#places]
      last.ledger, last.rng = teaching(), pn.rng.seeded(1)
      assert.equal(tostring(want), tostring(pn.query[kind](table.unpack(places)).value))
    end
    same("mean", { columns = { 1 }, low = { 0 }, high = { 100 }, epsilon = 1 }, d, "age", { low = 0, high = 100, epsilon = 1 })
    same("mean", { columns = { 1 }, low = { 0 }, high = { 100 }, epsilon = 1 }, d, 1, { low = 0, high = 100, epsilon = 1 })
    same("sum", { columns = { 4, 1 }, low = { 0, 0 }, high = { 9, 1 }, rho = 1 }, d, { "pay", "age" },
      { low = { 0, 0 }, high = { 9, 1 }, rho = 1 })
    same("count", { columns = { 1, 0 }, low = { 0, 0 }, high = { 50, 1 }, epsilon = 1 },
      { data = d, columns = { "age", "label" }, low = { 0, 0 }, high = { 50, 1 }, epsilon = 1 })
    same("histogram", { column = 4, edges = { 0, 600 }, bins = 3, epsilon = 1 }, d, "pay",
      { edges = { 0, 600 }, bins = 3, epsilon = 1 })
    same("quantile", { column = 0, candidates = { -1, 1 }, q = 0.5, epsilon = 1 }, d, "label",
      { candidates = { -1, 1 }, q = 0.5, epsilon = 1 })
    local options = { low = 0, high = 100, epsilon = 1, ledger = teaching() }
    pn.query.mean(d, "age", options)
    assert.same({ low = 0, high = 100, epsilon = 1, ledger = options.ledger }, options) -- the caller's stays as it is
    local ledger = pn.ledger { epsilon = 1 }
    refused('query.mean: there is no column "agee"; d.features lists', pn.query.mean, d, "agee", { ledger = ledger })
    refused("has no names: number its columns", pn.query.mean, data, "age", { ledger = ledger })
    refused("query.mean: what comes after the columns is a table of options", pn.query.mean, d, "age", 100)
    refused("query.mean: columns is missing", pn.query.mean, d)
    refused("query.mean: columns is given twice", pn.query.mean, d, "age", { columns = { 1 }, epsilon = 1, ledger = ledger })
    refused("low", pn.query.mean, d, "age", { low = "x", high = 1, epsilon = 1, ledger = ledger })
    refused("query.histogram", pn.query.histogram, d, { "age", "pay" }, { edges = { 0, 1 }, epsilon = 1, ledger = ledger })
    assert.equal(0, ledger.spent)
  end)

  it("describes columns within public ranges, for one charge", function()
    local d = named()
    local ranges = { columns = { "age", "pay", "label" }, low = { 0, 0, -1 }, high = { 100, 400, 1 }, epsilon = 200, bins = 100,
      quantiles = { 0.1, 0.5, 1 } }
    local function described(relation, more)
      local options = { rng = pn.rng.seeded(3), ledger = teaching(relation) }
      for k, v in pairs(ranges) do options[k] = v end
      for k, v in pairs(more or {}) do options[k] = v end
      return d:describe(options), options.ledger
    end
    -- Laplace noise of scale 15/200 a count: 25 of these are exceeded with probability 1.4e-11.
    for _, relation in ipairs { "replace_one", "zero_out", "add_remove" } do
      local told, ledger = described(relation)
      assert.equal(1, #ledger:report())
      assert.truthy(ledger.spent <= 200 * (1 + 1e-12) and ledger.spent > 199.9)
      assert.equal(3, #told)
      local scale = (relation == "add_remove" and 12 or 15) / 200
      close(scale * math.sqrt(2), told.deviation, 1e-6, "deviation")
      local age, pay, label = told[1], told[2], told[3]
      assert.same({ 1, "age", 0, 100 }, { age.column, age.name, age.low, age.high })
      assert.same({ 0, "label" }, { label.column, label.name })
      close(0, age.outside, 25 * scale, "outside")
      close(100, pay.outside, 25 * scale, "outside") -- 500 is beyond 400
      close(49.5, age.mean, 2, "mean")
      close(math.sqrt((60 ^ 2 - 1) / 12), age.sd, 1.5, "sd")
      close((100 + 200 + 300 + 400 + 400) / 6, pay.mean, 5, "clamped mean")
      close(0, label.mean, 0.05, "mean of labels")
      close(1, label.sd, 0.02, "sd of labels")
      for k, want in ipairs { 26, 50, 80 } do close(want, age.quantiles[k], k == 3 and 21 or 2, "quantile " .. k) end
      assert.truthy(age.mean_deviation > 0 and age.mean_deviation < 0.1)
      local text = tostring(told)
      assert.matches("3 columns within public ranges, in one release: epsilon 200, " .. relation, text, 1, true)
      assert.matches("\ncolumn +outside +mean +sd +10%% +50%% +100%%\nage ", text)
      for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    end
    local one = d:describe { columns = { 1 }, low = { 0 }, high = { 100 }, rho = 0.5, rng = pn.rng.seeded(1),
      ledger = pn.ledger { rho = 0.5, teaching = true } }
    close(math.sqrt(5), one.deviation, 1e-6)
    assert.equal(3, #one[1].quantiles)
    assert.equal("pn.event", one.event and getmetatable(one.event).__name)
  end)

  it("takes what is enforced for the ranges, and refuses to describe without any", function()
    local ledger = pn.ledger { epsilon = 1 }
    local bounded = data:clip_rows("linf", 2):clip_labels(0, 6)
    local told = bounded:describe { epsilon = 0.5, ledger = ledger }
    assert.equal(3, #told)
    assert.same({ 1, -2, 2, "column 1" }, { told[1].column, told[1].low, told[1].high, told[1].name })
    assert.same({ 0, 0, 6, "label" }, { told[3].column, told[3].low, told[3].high, told[3].name })
    local spent = ledger.spent
    local function no_answer(text, options)
      options.ledger, options.epsilon = options.ledger or ledger, options.epsilon or 0.1
      refused(text, data.describe, data, options)
      assert.equal(spent, ledger.spent)
    end
    no_answer("nothing public bounds column 1", {})
    no_answer("nothing public bounds column 2", { columns = { 2 }, low = { 0 } })
    no_answer("give a range for each, or one for all", { columns = { 1, 2, 0 }, low = { 0, 0 }, high = 1 })
    no_answer("low must be below high", { columns = { 1 }, low = 1, high = 0 })
    no_answer("bins must be from 2 to 256, got 1", { columns = { 1 }, low = 0, high = 1, bins = 1 })
    no_answer("bins must be from 2 to 256", { columns = { 1 }, low = 0, high = 1, bins = 10 ^ 9 })
    no_answer("quantiles must be at most 100 numbers from 0 to 1, got 1.5",
      { columns = { 1 }, low = 0, high = 1, quantiles = { 1.5 } })
    no_answer("columns are from 1 to 2", { columns = { 3 }, low = 0, high = 1 })
    no_answer("the price is missing", { columns = { 1 }, low = 0, high = 1, rho = 1 })
    no_answer("Requested", { columns = { 1 }, low = 0, high = 1, epsilon = 2 })
    refused("query.describe: data is given twice", data.describe, data, { data = bounded, epsilon = 1, ledger = ledger })
  end)

  it("shows analysts no names of columns, and describes to them for the curator's budget", function()
    local c = pn.curator { data = { d = named():clip_rows("linf", 1000) }, ledger = pn.ledger { epsilon = 3 }, process = false }
    for _, code in ipairs {
      "return pn.query.mean(data.d, 'age', {low = 0, high = 1, epsilon = 0.1})",
      "return pn.query.count{data = data.d, columns = {'city=Lima'}, low = {0}, high = {1}, epsilon = 0.1}",
      "return pn.query.count(data.d, 'nobody', {low = 0, high = 1, epsilon = 0.1})",
      "return data.d:describe{columns = {'age'}, low = 0, high = 1, epsilon = 0.1}",
    } do
      local result = c:run(code)
      assert.is_false(result.ok)
      assert.matches("names of columns may come from the records", result.error, 1, true)
      assert.equal(0, result.spent)
    end
    local result = c:run [[
      local t = data.d:describe{columns = {1, 0}, low = {0, -1}, high = {100, 1}, epsilon = 0.5}
      return t[1].name, #t]]
    assert.equal("column 1\t2", result.answer, result.error)
    assert.truthy(math.abs(result.spent - 0.5) < 1e-5)
    assert.equal("EPRIVACY", c:run("return data.d:head(1)").status)
  end)

  it("can be asked by analysts, of the data that the curator has, and is charged to it", function()
    local ledger = pn.ledger { epsilon = 3 }
    local c = pn.curator { data = { d = data:clip_rows("linf", 10) }, ledger = ledger }
    local result = c:run([[
      local count = pn.query.count{data=data.d, columns={1}, low={0}, high={1}, epsilon=0.5}
      local median = pn.query.quantile{data=data.d, column=0, candidates={1, 2, 3}, q=0.5, epsilon=0.5}
      return type(count.value), count.deviation > 2.8, median.value >= 1]])
    assert.equal("number\ttrue\ttrue", result.answer, result.error)
    assert.truthy(math.abs(result.spent - 1) < 1e-5)
    assert.equal("EPRIVACY", c:run("pn.query.count{data=data.d, columns={1}, low={0}, high={1}, epsilon=1, ledger=1}").status)
    assert.equal("EBUDGET", c:run("pn.query.count{data=data.d, columns={1}, low={0}, high={1}, epsilon=9}").status)
  end)
end)
