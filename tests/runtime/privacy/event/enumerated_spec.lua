-- enumerated_spec.lua -- what is charged for a release against what its worst neighbours tell, of exact laws of all small inputs.
-- tests/tools/enumerate_laws.py computes the laws, without a line of the library, and prints for every measure two doubles next
-- to each other with the exact worst value between them; so charged >= the upper one decides without error.
-- enumerated.md holds the ratios, and is compared with them.  PN_TABLES=1 in the thorough tier writes it anew.
local pn = require "penumbra"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"
local event, mechanism, inf = pn.event, pn.mechanism, math.huge

local DOCUMENT = "runtime/privacy/event/enumerated.md"
local DELTA = 0.01 -- of the measure "epsilon"

-- ---- what the library charges: f = 1; the planted lie is a law of strength 1 charged as one of f < 1 ----

local function selection(name)
  return function(made, f)
    return mechanism[name] { epsilon = f * made.epsilon, sensitivity = 1 }.event
  end
end

-- Noise in few steps is made by no mechanism, but its event exists.
local function noisy_max(made, f)
  if made.shift < 4097 then return event.report_noisy_max { scale = 2, sensitivity = f * made.epsilon, steps = made.shift } end
  local m = mechanism.report_noisy_max { scale = 2 / (f * made.epsilon), sensitivity = 1 }
  assert(tostring(m):find("by at most 4097 units", 1, true))
  return m.event
end

local function sparse_vector(made, f)
  local m = mechanism.sparse_vector {
    epsilon = f * made.epsilon, sensitivity = 1, answers = made.answers, monotone = made.monotone,
    neighbours = made.monotone and "add_remove" or "replace_one",
  }
  local text = tostring(m):gsub("%s+", " ")
  local threshold, query = text:match "Laplace noise of scale (%S+) on the threshold %b(), of scale (%S+) on every value"
  local parts = 1 + (made.monotone and 1 or 2) * made.answers / made.width
  assert(math.abs(query / threshold - made.width) < 1e-7) -- the law that was enumerated: of nine digits
  assert(math.abs(threshold * f * made.epsilon / parts - 1) < 1e-7)
  return m.event
end

local function halves(made, f)
  return event.repeated(event.exponential { epsilon = f * made.epsilon / 2 }, 2)
end

local function best_of(made, f)
  return event.selection { event = event.pure { epsilon = f * made.epsilon }, law = made.law, mean = made.mean }
end

local function laplace(made, f)
  local e = mechanism.laplace { scale = made.scale, sensitivity = made.sensitivity, bound = made.bound }.event
  return f == 1 and e or event.laplace { scale = 1, sensitivity = f * e:rdp(inf) }
end

local function gaussian(made, f)
  local e = mechanism.gaussian { sigma = made.scale, sensitivity = made.sensitivity, bound = made.bound }.event
  return f == 1 and e or event.gaussian { sigma = 1, sensitivity = f * math.sqrt(2 * e.rho) }
end

local function gaussian_steps(made, f)
  return event.gaussian { sigma = made.scale, sensitivity = f * made.steps }
end

-- The law, what it is charged as, and the measures in which a charge of nine tenths must be caught in the fast tier: the others
-- are loose by more than that, as the document says.
local ALL = "pure renyi rho epsilon delta delta_twice"
local prices = {
  { "exponential", "exponential", selection "exponential", ALL },
  { "permute_and_flip", "report_noisy_max", selection "permute_and_flip", "pure renyi epsilon delta delta_twice" },
  { "report_noisy_max", "report_noisy_max", noisy_max, "pure renyi epsilon" },
  { "two_choices", "exponential", function(made, f) return event.exponential { epsilon = f * made.epsilon } end, "pure" },
  { "two_choices", "two exponential", halves, ALL },
  { "sparse_vector", "sparse_vector", sparse_vector, "pure" },
  { "pure", "pure", function(made, f) return event.pure { epsilon = f * made.epsilon } end, ALL },
  { "selection", "selection", best_of, "pure" },
  { "laplace", "laplace", laplace, "pure renyi delta" },
  { "gaussian", "gaussian", gaussian, "renyi" },
  { "gaussian_steps", "gaussian", gaussian_steps, "renyi" },
}

local function admits(budget, e)
  budget.neighbours = e.neighbours
  local ledger = pn.ledger(budget)
  return (pcall(ledger.spend, ledger, e, "enumerated"))
end

-- The least budget of epsilon at DELTA that pays for e, to 1e-4.
local function least_budget(e)
  local low, high = 1e-6, 64
  while high / low > 1.0001 do
    local middle = math.sqrt(low * high)
    if admits({ epsilon = middle, delta = DELTA }, e) then high = middle else low = middle end
  end
  return high
end

-- The best accountant: the best of secretly many pure runs has a Renyi curve only.
local function accountant(e, count)
  return pn.accountant[e.name == "selection" and "rdp" or "pld"] {}:add(e, count)
end

-- Every number that is charged for the measure.
local charged = {
  pure = function(e) return { pure = e:rdp(inf) } end,
  renyi = function(e, order) return { ["renyi " .. order] = e:rdp(order) } end,
  rho = function(e) return { rho = e.rho } end,
  epsilon = function(e, delta)
    local curve, best = (e:epsilon(delta)), (accountant(e, 1):epsilon(delta))
    return { ["epsilon by curve"] = curve, ["epsilon by loss distribution"] = best }
  end,
  delta = function(e, epsilon) return { delta = accountant(e, 1):delta(epsilon) } end,
  delta_twice = function(e, epsilon) return { ["delta twice"] = accountant(e, 2):delta(epsilon) } end,
}

-- Budgets just below the truth, which must refuse the release.
local short = {
  pure = function(worst) return { epsilon = worst } end,
  renyi = function(worst, order) return { alpha = order, epsilon = worst } end,
  rho = function(worst) return { rho = worst } end,
  epsilon = function(worst, delta) return { epsilon = worst, delta = delta } end,
}

-- ---- what is true ----

local function words(text)
  local made = {}
  for key, value in text:gmatch "(%S+)=(%S+)" do
    made[key] = value == "true" or (value ~= "false" and (tonumber(value) or value))
  end
  return made
end

local python = program.shell "command -v python3":match "%S+"

-- A list of {law, text, pairs, {measure, at, least, most}, ...}.
local function enumerate()
  local out, complaint, status = program.shell(python .. " tests/tools/enumerate_laws.py " .. tier.times("fast", "thorough"))
  assert(status == 0, complaint)
  local cases = {}
  for line in out:gmatch "[^\n]+" do
    local law, text, pairs, measure, at, least, most = line:match(("([^\t]+)\t"):rep(6) .. "([^\t]+)")
    local last = cases[#cases]
    if not last or last.law ~= law or last.text ~= text then
      last = { law = law, text = text, pairs = pairs, made = words(text) }
      cases[#cases + 1] = last
    end
    last[#last + 1] = { measure = measure:gsub(" ", "_"), at = tonumber(at), least = tonumber(least), most = tonumber(most) }
  end
  return cases
end

local function each_price(cases, visit)
  for _, case in ipairs(cases) do
    for _, price in ipairs(prices) do
      if price[1] == case.law then visit(case, price) end
    end
  end
end

-- ---- the table ----

-- Of each measure at its one argument, and of renyi at these orders.
local COLUMNS = { "pure", "renyi 1.5", "renyi 4.7", "renyi 30.0", "rho", "epsilon by curve", "epsilon by loss distribution",
  "delta", "delta twice", "ledger" }
local HEAD = "| law | made with | pairs | charged as | epsilon, pure | Renyi 1.5 | 4.7 | 30 | rho | epsilon, by curve | by loss "
  .. "distribution | delta | of two | budget |"

local function ratio(number, truth)
  if not number or number == inf or truth == 0 then return "" end
  local x = number / truth
  return x < 100 and ("%.3f"):format(x) or ("%.1e"):format(x)
end

local function row(case, price)
  local e, ratios, cells = price[3](case.made, 1), {}, {}
  for _, truth in ipairs(case) do
    for name, number in pairs(charged[truth.measure](e, truth.at)) do ratios[name] = ratio(number, truth.most) end
    if truth.measure == "epsilon" then ratios.ledger = ratio(least_budget(e), truth.most) end
  end
  for i, name in ipairs(COLUMNS) do cells[i] = ratios[name] or "" end
  return ("| %s | %s | %s | %s | %s |"):format(case.law, case.text:gsub(" ", "; "):gsub("=", " "), case.pairs, price[2],
    table.concat(cells, " | "))
end

local function table_of(cases)
  local lines = { HEAD, "|---|---|--:|---" .. ("|--:"):rep(#COLUMNS) .. "|" }
  each_price(cases, function(case, price) lines[#lines + 1] = row(case, price) end)
  return lines
end

describe("what is charged for a release", function()
  local cases = enumerate()

  it("is never below what its worst neighbours tell, exactly", function()
    local count, wrong = 0, {}
    each_price(cases, function(case, price)
      local e = price[3](case.made, 1)
      for _, truth in ipairs(case) do
        for name, number in pairs(charged[truth.measure](e, truth.at)) do
          count = count + 1
          if not (number >= truth.most) then
            wrong[#wrong + 1] = ("%s %s as %s: %s is charged %.17g, and %.17g is told"):format(case.law, case.text, price[2],
              name, number, truth.least)
          end
        end
      end
    end)
    assert.equal("", table.concat(wrong, "\n"))
    assert(count >= 150)
  end)

  it("does not fit a budget that is a millionth of a millionth below that", function()
    each_price(cases, function(case, price)
      local e = price[3](case.made, 1)
      for _, truth in ipairs(case) do
        local budget = short[truth.measure]
        if budget and truth.least > 0 then
          assert.is_false(admits(budget(truth.least * (1 - 1e-12), truth.at), e), case.law .. " " .. case.text)
        end
      end
    end)
  end)

  it("would be caught at nine tenths of it, wherever it is not loose by more", function()
    local caught = {}
    each_price(cases, function(case, price)
      local e = price[3](case.made, 0.9)
      for _, truth in ipairs(case) do
        local all = true
        for _, number in pairs(charged[truth.measure](e, truth.at)) do all = all and number < truth.least end
        if all then caught[price[1] .. price[2] .. truth.measure] = true end
      end
    end)
    for _, price in ipairs(prices) do
      for measure in price[4]:gmatch "%S+" do
        assert(caught[price[1] .. price[2] .. measure], ("%s as %s: %s of 0.9"):format(price[1], price[2], measure))
      end
    end
  end)

  it("has the looseness that the document tables", function()
    local text, lines = program.read_all(DOCUMENT), table_of(cases)
    if tier.thorough then
      local head, old, tail = text:match "^(.-\n)(|.*|\n)(.*)$"
      if os.getenv "PN_TABLES" then program.write_all(DOCUMENT, head .. table.concat(lines, "\n") .. "\n" .. tail) end
      assert.equal(os.getenv "PN_TABLES" and old or table.concat(lines, "\n") .. "\n", old)
    end
    for _, line in ipairs(lines) do
      assert(tier.thorough or text:find(line .. "\n", 1, true), line)
    end
  end)
end)
