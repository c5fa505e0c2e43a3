-- check_receipt_spec.lua -- examples/check_receipt.py: it accepts receipts of every solver, of ledgers and of streams, and refuses
-- each of a list of lies, which are told consistently where a liar could.
local pn = require "penumbra"
local program = require "tests.tools.program"
local tier = require "tests.tools.tier"

local P, PRICE = 5, { epsilon = 1, delta = 1e-6 }

local function with(more)
  local options = {}
  for _, from in ipairs { PRICE, more or {} } do
    for k, v in pairs(from) do options[k] = v end
  end
  return options
end

local binary = pn.data.synthetic.logistic { n = 1000, p = P, seed = 1 }:clip_rows("l2", 1)
local real = pn.data.synthetic.lasso { n = 1000, p = P, seed = 2 }:clip_rows("l2", 1):clip_labels(-1, 1)
local function logistic(more)
  local options = { data = binary, loss = pn.loss.logistic() }
  for k, v in pairs(more or {}) do options[k] = v end
  return pn.objective(options)
end
local objectives = {
  function() return logistic { set = pn.set.l2_ball { dim = P, radius = 2 } } end,
  function() return logistic { set = pn.set.l1_ball { dim = P, radius = 2 } } end,
  function() return logistic() end,
  function() return logistic { reg = pn.reg.l2(0.1) } end,
  function() return logistic { clip = 0.5 } end,
  function() return pn.objective { data = real, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = P, radius = 2 } } end,
  function() return pn.objective { data = real, loss = pn.loss.huber { delta = 0.5 } } end,
}

-- ---- receipts ----

local bases = {
  gradient = function() return pn.solve.gradient_descent(objectives[1](), with { iterations = 20 }):receipt() end,
  sampled = function() return pn.solve.noisy_sgd(objectives[5](), with { iterations = 20 }):receipt() end,
  two = function() return pn.solve.adaptive_clipping(objectives[3](), with { iterations = 5 }):receipt() end,
  tree = function()
    return pn.tree { dim = 2, horizon = 100, factorization = "binary", sensitivity = 1, epsilon = 1, delta = 1e-6 }:receipt()
  end,
  ledger = function()
    local ledger = pn.ledger(PRICE)
    pn.solve.gradient_descent(objectives[1](), { epsilon = 0.4, delta = 1e-7, iterations = 3, ledger = ledger })
    return ledger:receipt()
  end,
  whole = function() return pn.solve.noisy_sgd(objectives[5](), with { iterations = 20, accountant = "pld" }):receipt() end,
}

-- What the lie is, of which receipt, why it is refused, and how it is told: statements of Python on the receipt `r`.
-- swap(a, b) puts b wherever a stands, in texts too; digest() makes the digests anew; plan is r["plan"]; a its first release,
-- s that one's sensitivity, e its event's parameters, g those of the Gaussian in it.
local lies = {
  { "less noise than its price", "gradient", "plan: epsilon",
    "old = e['sigma']; swap(old, .9 * old); swap(old / 2**40, .9 * old / 2**40); digest()" },
  { "half the sensitivity in the event", "gradient", "sensitivity on the lattice",
    "swap(e['sensitivity'], e['sensitivity'] / 2); digest()" },
  { "half the sensitivity throughout", "gradient", "contribution by the rule gradient",
    "swap(e['sensitivity'], e['sensitivity'] / 2); s['value'] /= 2; s['rounding'] /= 2; s['contribution'] /= 2; digest()" },
  { "twice the records", "gradient", "divisor 1000", "r['objective']['records'] *= 2" },
  { "a divisor of twice the records", "gradient", "divisor 2000",
    "swap(e['sensitivity'], e['sensitivity'] / 2); s['value'] /= 2; s['rounding'] /= 2; s['divisor'] *= 2; digest()" },
  { "a range of slopes that is too small", "gradient", "slope, high end", [[
for k in ('slope', 'slope_norm', 'gradient'):
    for end in r['objective']['bounds'][k]: r['objective']['bounds'][k][end] *= .99
s['contribution'] *= .99; s['value'] *= .99; s['rounding'] *= .99; swap(e['sensitivity'], .99 * e['sensitivity']); digest()]] },
  { "a margin that is too small", "gradient", "margin", "m = r['objective']['bounds']['margin']; m['low'] /= 2; m['high'] /= 2" },
  { "a set that is too small", "gradient", "l2 radius of the set",
    "q = r['objective']['set']['radius']; q.update({k: v / 2 for k, v in q.items()})" },
  { "a steeper loss", "gradient", "slope, high end", "r['objective']['loss']['formula'] = 'softplus(-(2*z*y))'" },
  { "a loss of smaller slopes and other curvature", "gradient", "curvature, low end",
    "r['objective']['loss']['formula'] = 'sigmoid(-(z*y))'" },
  { "an epsilon 5 % too low", "gradient", "plan: epsilon", "swap(plan['price']['epsilon'], .95 * plan['price']['epsilon'])" },
  { "an epsilon 1e-6 too low", "gradient", "plan: epsilon",
    "swap(plan['price']['epsilon'], (1 - 1e-6) * plan['price']['epsilon'])" },
  { "a delta ten times too low", "gradient", "plan: epsilon", "swap(plan['price']['delta'], plan['price']['delta'] / 10)" },
  { "a rho that is too low", "gradient", "plan: rho", "swap(plan['price']['rho'], .9 * plan['price']['rho'])" },
  { "one charge fewer than releases", "gradient", "planned charges", "plan['charge']['times'] -= 1; digest()" },
  { "one charge fewer than steps", "gradient", "paid charges", "r['run']['paid']['times'] -= 1; digest()" },
  { "a relation with half its contributions", "gradient", "contributions: 1 is less than 2",
    "swap(e['sensitivity'], e['sensitivity'] / 2); s['value'] /= 2; s['rounding'] /= 2; s['contributions'] = 1.0; digest()" },
  { "a relation that its events do not have", "gradient", "the parts of gaussian",
    "r['neighbours'].update(relation='zero_out', contributions=1.0)" },
  { "protection by seeded noise", "gradient", "noise protects", "r['noise']['source'] = 'simulated'" },
  { "a guarantee of what is not proven", "gradient", "guarantee: holds", "r['guarantee']['proven'] = False" },
  { "sums of doubles without rounding", "gradient", "rounding: 0 is less", "s['value'] -= s['rounding']; s['rounding'] = 0.0" },
  { "a lattice without rounding", "gradient", "sensitivity on the lattice", "swap(e['sensitivity'], s['value']); digest()" },
  { "a unit that is not the lattice's", "gradient", "scale and unit of the lattice", "a['mechanism']['lattice']['unit'] /= 2" },
  { "an accountant that cannot be", "gradient", "the accountant pure", "plan['accountant'] = 'pure'" },
  { "a stop that costs less", "gradient", "plan: epsilon: 0.", "r['stops'][-1]['price']['epsilon'] /= 2" },
  { "a last stop before the last step", "gradient", "last stop: 19 is not 20", "r['stops'][-1]['to'] -= 1" },
  { "a digest with one bit changed", "gradient", "plan: digest",
    "r['digests']['plan'] = '%064x' % (int(r['digests']['plan'], 16) ^ 1)" },
  { "a text that is not the event's", "gradient", "the parts of gaussian", "plan['charge']['event']['parameters']['sigma'] *= 2" },
  { "a schema that is not known", "gradient", "format, schema", "r['schema'] = 2" },
  { "a version that is not known", "gradient", "'9.9'", "r['versions']['library'] = '9.9'" },
  { "a release left out", "two", "planned charges", "plan['releases'].pop()" },
  { "a part of the charge left out", "two", "planned charges", "plan['charge']['event']['parts'].pop(); digest()" },
  { "a smaller batch in the event", "sampled", "batch and rate",
    "b = e['batch']; swap(b, b // 2, 'batch'); digest(); a['mechanism']['batches']['batch'] = b" },
  { "half the rate", "sampled", "batch and rate", "swap(e['n'], 2 * e['n'], 'n'); digest()" },
  { "an epsilon 5 % below its Renyi order's", "sampled", "Renyi order",
    "swap(plan['price']['epsilon'], .95 * plan['price']['epsilon'])" },
  { "another Renyi order", "sampled", "Renyi order", "plan['order'] *= 2" },
  { "exact Gaussian composition of sampled noise", "sampled", "the accountant gaussian", "plan['accountant'] = 'gaussian'" },
  { "a tree of one layer fewer", "tree", "gain of the stream", [[
t = r['stream']; f = (1 - 1 / t['layers']) ** .5; t['layers'] -= 1; swap(t['gain'], f * t['gain']); swap(t['mu'], f * t['mu'])
swap(g['sensitivity'], f * g['sensitivity']); digest()]] },
  { "a tree whose records take part twice", "tree", "gain of the stream", "r['stream']['participations'] = 2" },
  { "a budget that was overrun", "ledger", "budget", "r['ledger']['budget']['epsilon'] = .3" },
  { "a charge left out of a ledger", "ledger", "charged: digest", "r['ledger']['entries'].pop()" },
  { "a run charged at once for 5 % less", "whole", "epsilon by loss distributions",
    "swap(plan['price']['epsilon'], .95 * plan['price']['epsilon']); digest()", slow = true },
  { "more releases than a run at once was charged for", "whole", "epsilon by loss distributions", "a['times'] *= 2", slow = true },
}

local driver = [[
import contextlib, copy, hashlib, io, json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "examples")
import check_receipt

def tell(base, lie):
    r = copy.deepcopy(base)
    def swap(old, new, key=None):
        def walk(x, name=None):
            if isinstance(x, dict): return {k: walk(v, k) for k, v in x.items()}
            if isinstance(x, list): return [walk(v, name) for v in x]
            if isinstance(x, str) and name != "text": return x
            if isinstance(x, str): return x.replace(*("%s=%r" % (key, v) if key else repr(v) for v in (old, new)))
            return new if type(x) is type(old) and x == old and key in (None, name) else x
        made = walk(r)
        def pour(to, made):
            for k in (to if isinstance(to, dict) else range(len(to))):
                if isinstance(to[k], (dict, list)): pour(to[k], made[k])
                else: to[k] = made[k]
        pour(r, made)
    def digest():
        for k, charge in (("plan", r.get("charge") or r["plan"]["charge"]), ("paid", r["run"]["paid"])):
            if charge:
                lines = "".join("%d %s\n" % (n, e["text"]) for n, e in check_receipt.parts(charge))
                r["digests"][k] = hashlib.blake2b(lines.encode(), digest_size=32).hexdigest()
    plan = r.get("plan")
    a = plan["releases"][0] if plan else None
    s = a and a["sensitivity"]
    e = (a["event"] if a else r["charge"]["event"] if "charge" in r else {"parameters": {}})["parameters"]
    g = e["event"]["parameters"] if "event" in e else e
    exec(lie, dict(locals()))
    return r

def verdict(receipt, path):
    json.dump(receipt, open(path, "w"))
    with contextlib.redirect_stdout(io.StringIO()) as out: code = check_receipt.main(path)
    return code, [l for l in out.getvalue().split("\n") if l and not l.startswith("valid")]

for line in sys.stdin:
    name, path, lie = json.loads(line)
    code, said = verdict(tell(json.load(open(path)), lie), path + ".lie")
    print("\t".join([name, str(code), " | ".join(said)]))
    os.remove(path + ".lie")
]]

-- ---- running it ----

local python = "python3"
local paths = {}

local function write(name, receipt)
  paths[name] = paths[name] or os.tmpname()
  program.write_all(paths[name], receipt.json)
  return paths[name]
end

local function check(path)
  return program.shell(("%s examples/check_receipt.py %s"):format(python, program.quote(path)))
end

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n") .. '"'
end

describe("examples/check_receipt.py", function()
  local verdicts = {}

  setup(function()
    local lines, script = {}, os.tmpname()
    for name, make in pairs(bases) do
      if name ~= "whole" or tier.thorough then
        lines[#lines + 1] = ("[%s, %s, \"pass\"]"):format(quoted(name), quoted(write(name, make())))
      end
    end
    for _, lie in ipairs(lies) do
      if paths[lie[2]] then
        lines[#lines + 1] = ("[%s, %s, %s]"):format(quoted(lie[1]), quoted(paths[lie[2]]), quoted(lie[4]))
      end
    end
    program.write_all(script, driver)
    local out, err, code = program.shell(("%s %s"):format(python, script), table.concat(lines, "\n") .. "\n")
    os.remove(script)
    assert(code == 0, out .. err)
    for name, status, said in out:gmatch "([^\t\n]*)\t(%d)\t([^\n]*)\n" do verdicts[name] = { tonumber(status), said } end
  end)

  teardown(function()
    for _, path in pairs(paths) do os.remove(path) end
  end)

  it("has at most 400 lines, and imports nothing but the standard library", function()
    local text = program.read_all "examples/check_receipt.py"
    assert.is_true(select(2, text:gsub("\n", "")) <= 400)
    local imports = {}
    for line in text:gmatch "[^\n]*import [^\n]*" do imports[#imports + 1] = line end
    assert.same({ "import ast, decimal, hashlib, heapq, itertools, json, math, re, sys, types" }, imports)
  end)

  it("says what it found, line by line, and ends with 0 for what is true and 1 for what is not", function()
    local out, err, code = check(paths.gradient)
    assert.same({ "", 0 }, { err, code })
    assert.is_truthy(out:find "valid: plan: epsilon: 1\n" or out:find "valid: plan: epsilon: 0.99999", out)
    assert.is_nil(out:find "not checked" or out:find "NOT VALID")
    local bad = write("bad", { json = program.read_all(paths.gradient):gsub('"schema": 1', '"schema": 7') })
    out, err, code = check(bad)
    assert.same({ "", 1 }, { err, code })
    assert.is_truthy(out:find "^NOT VALID: format, schema")
  end)

  it("accepts the example beside the schema", function()
    assert.same({ 0, "" }, { select(3, check "runtime/receipt/example.json"), "" })
  end)

  for name in pairs(bases) do
    tier.it(it, name ~= "whole")("accepts a true receipt: " .. name, function()
      assert.same({ 0, "" }, verdicts[name])
    end)
  end

  -- What it cannot work out again, of which solvers: a sensitivity that a solver derives for a whole run, or a stream whose
  -- coefficients or batches the receipt does not tell.
  local derived = { output_perturbation = "by the rule run", zeroth_order = "by the rule smoothed",
    zeroth_order_naive = "by the rule smoothed", ftrl = "prefix" }

  tier.it(it)("accepts a receipt of every solver, and says what it could not check", function()
    for name in pairs(pn.solve) do
      local receipt
      for _, make in ipairs(objectives) do
        local ok, fit = pcall(function() return pn.solve[name](make(), with()) end)
        receipt = ok and fit.privacy and fit:receipt()
        if receipt then break end
      end
      if receipt then
        local out, _, code = check(write("solver", receipt))
        assert.equal(derived[name] and 2 or 0, code, name .. "\n" .. out)
        for line in out:gmatch "not checked: ([^\n]*)" do assert.is_truthy(line:find(derived[name]), name .. ": " .. line) end
      else
        assert.is_truthy(({ exact = 1, block_frank_wolfe = 1, federated_frank_wolfe = 1 })[name], name .. " has no receipt")
      end
    end
  end)

  for _, lie in ipairs(lies) do
    tier.it(it, not lie.slow)("refuses " .. lie[1], function()
      local found = verdicts[lie[1]]
      assert.equal(1, found[1], found[2])
      assert.is_truthy((" | " .. found[2]):find(lie[3], 1, true), found[2])
    end)
  end
end)
