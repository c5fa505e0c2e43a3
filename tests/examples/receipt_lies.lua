-- receipt_lies.lua -- lies about receipts, and the program that tells them to examples/check_receipt.py.
-- Depends on: nothing.  Used by: check_receipt_spec.lua, which has the receipts.

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
  { "a last stop before the last step", "gradient", "(True, 0, 19)] is not", "r['stops'][-1]['to'] -= 1" },
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
  { "half a factor", "gradient", "factor", "s['factor'] /= 2; scale(.5)" },
  { "entries of gradients that are too small", "gradient", "linf norm of the gradient",
    "r['objective']['bounds']['gradient']['linf'] /= 2" },
  { "a release with other noise than was charged", "gradient", "its event is charged", "e['sigma'] *= 2" },
  { "a relation that there is not", "gradient", "contributions: ['penumbra receipt'", "r['neighbours']['relation'] = 'none'" },
  { "fewer directions than coordinates", "values", "numbers", "a['dim'] = 2; s['contribution'] /= 2; leaf(.5)" },
  { "half of all charges", "gradient", "charges for 20 steps",
    "a['times'] = plan['charge']['times'] = r['run']['paid']['times'] = 10; digest()" },
  { "charges that follow what was released", "gradient", "paid: charges for 20 steps",
    "a['times'] = None; plan['charge']['times'] = r['run']['paid']['times'] = 5; digest()" },
  { "a run at once that was none", "gradient", "charged as a whole",
    "plan['whole'] = True; plan['charge']['times'] = 5; digest()" },
  { "a stop that nothing was charged before", "gradient", "stops", "r['stops'][0]['to'] = 20; r['stops'].pop()" },
  { "a price of what was paid that is too low", "gradient", "plan: epsilon", "r['run']['paid_price']['epsilon'] /= 2" },
  { "fewer draws than numbers", "gradient", "draws and numbers",
    "swap(e['draws'], 1, 'draws'); digest()" },
  { "a proof that the plan does not have", "gradient", "guarantee: holds", "plan['proven'] = False" },
  { "a loss that is not told", "gradient", "bounds of a loss without a formula", "r['objective']['loss']['formula'] = None" },
  { "all records in place of the batch", "sampled", "batch and rate", "a['mechanism']['batches']['scheme'] = 'full'" },
  { "half the sum over steps", "steps", "factor", "s['factor'] /= 2; scale(.5)" },
  { "half the steps", "steps", "passes",
    "n['passes'] /= 2; f = check_receipt.reached(n) / s['factor']; s['factor'] *= f; scale(f)" },
  { "half the bound of a gradient in steps", "steps", "contribution by the rule steps", "s['contribution'] /= 2; scale(.5)" },
  { "steps over twice the records", "steps", "divisor 2000", "s['divisor'] *= 2; scale(.5)" },
  { "steps of more convexity than there is", "steps", "strong convexity of steps",
    "n['convexity'] *= 4; f = check_receipt.reached(n) / s['factor']; s['factor'] *= f; scale(f)" },
  { "convexity that the regulariser does not have", "steps", "strong convexity",
    "n['convexity'] *= 4; r['objective']['bounds']['strong_convexity'] *= 4; f = check_receipt.reached(n) / s['factor']; "
      .. "s['factor'] *= f; scale(f)" },
  { "steps through a kink that there is not", "steps", "who uses the convexity",
    "n['prox_convexity'], n['convexity'] = n['convexity'], 0.0; f = check_receipt.reached(n) / s['factor']; "
      .. "s['factor'] *= f; scale(f)" },
  { "smoothness that steps do not have", "steps", "smoothness of steps", "n['smoothness'] /= 2" },
  { "a regulariser smoother than its formula", "steps", "smoothness of the regulariser",
    "r['objective']['bounds']['regulariser_smoothness'] /= 2" },
  { "a minimum that is met exactly", "minimum", "rounding",
    "f = (s['value'] - 2 * n['tolerance']) / s['value']; s['rounding'] -= 2 * n['tolerance']; v = s['value']; s['value'] *= f; "
      .. "swap(e['sensitivity'], f * e['sensitivity']); digest()" },
  { "a minimum of twice the convexity", "minimum", "divisor", "s['divisor'] *= 2; scale(.5)" },
  { "a regulariser of twice the convexity", "minimum", "strong convexity",
    "s['divisor'] *= 2; scale(.5); r['objective']['bounds']['strong_convexity'] *= 2" },
  { "half the bound of a gradient at a minimum", "minimum", "contribution by the rule minimum",
    "s['contribution'] /= 2; scale(.5)" },
  { "independent directions priced as orthogonal ones", "values", "contribution by the rule smoothed",
    "f = a['dim'] ** -.5; s['contribution'] *= f; leaf(f)" },
  { "leaves of more records than there are", "values", "records: 1000", "n['batch'] *= 2; s['divisor'] *= 2; leaf(.5)" },
  { "epochs that are not run", "values", "leaves and rounds", "n['epochs'] -= 1" },
  { "a pass that is not paid", "values", "leaves and rounds",
    "a['times'] = plan['charge']['times'] = r['run']['paid']['times'] = 1; digest()" },
  { "a smaller leaf than its records make", "values", "sensitivity of a leaf", "a['mechanism']['stream']['sensitivity'] /= 2" },
  { "leaves of twice the records", "leaves", "participations: 5 is less than 9", "s['divisor'] *= 2; leaf(.5)" },
  { "a record that takes part once", "leaves", "participations: 1 is less than 5",
    "t = a['mechanism']['stream']; t['participations'] = 1; f = check_receipt.gain(t) / t['gain']; t['gain'] *= f; scale_mu(f)" },
  { "leaves that are farther apart than they are", "leaves", "separation 9",
    "t = a['mechanism']['stream']; t['separation'] = 9; f = check_receipt.gain(t) / t['gain']; t['gain'] *= f; scale_mu(f)" },
  { "fewer leaves than steps", "leaves", "participations: 2",
    "t = a['mechanism']['stream']; t['horizon'] = 12; t['participations'] = 2; f = check_receipt.gain(t) / t['gain']; "
      .. "t['gain'] *= f; scale_mu(f)" },
  { "a smaller leaf than its gradients make", "leaves", "sensitivity of a leaf", "a['mechanism']['stream']['sensitivity'] /= 2" },
  { "buffers that hold more", "buffers", "gain of the stream", "r['stream']['method']['omega'][0] *= 3" },
  { "buffers that forget less", "buffers", "gain of the stream", "r['stream']['method']['theta'][0] = .999" },
  { "a longer stream of buffers", "buffers", "gain of the stream", "r['stream']['horizon'] = r['stops'][1]['to'] = 200" },
  { "half the noise of a stream", "buffers", "scale and unit of the lattice", "r['stream']['sigma'] /= 2" },
  { "a stream that was not paid for", "buffers", "paid: []", "r['run']['leaves'] = 3" },
  { "a larger coefficient of a band", "banded", "gain of the stream", "r['stream']['method']['coefficients'][1] = .9" },
  { "a record in more leaves of a band", "banded", "gain of the stream", "r['stream']['participations'] = 4" },
  { "leaves that are nearer in a band", "banded", "gain of the stream", "r['stream']['separation'] = 2" },
  { "a larger entry of a matrix", "matrix", "gain of the stream", "r['stream']['method']['rows'][5][-1] *= 2" },
  { "a record in more leaves of a matrix", "matrix", "gain of the stream", "r['stream']['participations'] = 5" },
  { "a row of a matrix that is nearer", "matrix", "gain of the stream", "r['stream']['separation'] = 1" },
  { "a leaf that moves more than its node hides", "nodes", "mu of the stream",
    "a['mechanism']['stream']['sensitivities'][0] *= 1.7" },
  { "nodes of a smaller gain", "nodes", "gain of the stream", "a['mechanism']['stream']['gain'] *= .9; scale_mu(.9)" },
  { "a first leaf that moves less", "nodes", "sensitivity of a leaf", "a['mechanism']['stream']['sensitivities'][0] *= .5" },
  { "choices of one party", "parties", "planned: charges of selection", "part('exponential')['times'] = 3; digest()" },
  { "features that cost nothing", "parties", "planned: charges of feature", "part('gaussian')['times'] = 1; digest()" },
  { "columns of half the length", "parties", "contribution by the rule column",
    "s = plan['releases'][1]['sensitivity']; s['contribution'] /= 2; s['value'] /= 2; s['rounding'] /= 2" },
  { "choices that were not paid", "parties", "paid: charges of selection",
    "p = r['run']['paid']['event']['parts']; next(x for x in p if x['event']['kind'] == 'exponential')['times'] = 3; digest()" },
  { "half the sensitivity of a score", "scores", "factor",
    "s = plan['releases'][2]['sensitivity']; s['factor'] = .5; s['value'] /= 2" },
  { "scores that cost nothing", "scores", "planned: charges of score", "part('gaussian', -1)['times'] = 1; digest()" },
  { "noise for half of a score", "scores", "sensitivity of its event",
    "swap(plan['releases'][2]['event']['parameters']['sensitivity'], .5); digest()" },
  { "a party's budget that was overrun", "party", "budget",
    "r['ledger']['budget']['epsilon'] = r['stops'][0]['price']['epsilon'] = .1" },
  { "a party's choices that are left out", "party", "charged: digest", "r['ledger']['entries'].pop(0)" },
  { "a party's spending that is too low", "party", "spent", "r['ledger']['spent'] /= 2" },
  { "half of what was spent", "ledger", "spent", "r['ledger']['spent'] /= 2" },
  { "orders that were chosen afterwards", "slices", "orders of the filter",
    "o = r['ledger']['orders']; o[3]['order'] *= 1.2" },
  { "a slice that charged what its parent was not", "slices", "the charges of a",
    "r['ledger']['children'][0]['entries'][0]['times'] += 1" },
  { "a slice that was overrun", "slices", "a: budget", "r['ledger']['children'][0]['budget']['epsilon'] = .1" },
  { "a stop below the budget", "slices", "stop: price", "r['stops'][0]['price']['epsilon'] = .1" },
  { "lessons that protect", "slices", "teaching", "r['ledger']['budget']['teaching'] = True" },
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
    def scale(f):
        s.update(value=f * s["value"], rounding=f * s["rounding"])
        swap(e["sensitivity"], f * e["sensitivity"])
        digest()
    def scale_mu(f):
        a["mechanism"]["stream"]["mu"] *= f
        swap(e["sensitivity"], f * e["sensitivity"])
        digest()
    def leaf(f):
        s.update(value=f * s["value"], rounding=f * s["rounding"])
        a["mechanism"]["stream"]["sensitivity"] *= f
        scale_mu(f)
    def part(kind, which=0): return [x for x in plan["charge"]["event"]["parts"] if x["event"]["kind"] == kind][which]
    plan = r.get("plan")
    a = plan["releases"][0] if plan else None
    s = a and a["sensitivity"]
    n = s and s["numbers"]
    e = (a["event"] if a else r["charge"]["event"] if "charge" in r else {"parameters": {}})["parameters"]
    g = e["event"]["parameters"] if "event" in e else e
    exec(lie, {**globals(), **locals()})
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

return { lies = lies, driver = driver }
