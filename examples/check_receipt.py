# check_receipt.py -- works out every sensitivity and price of a privacy receipt again, with nothing of penumbra: plain Python 3.
# Usage: python3 check_receipt.py RECEIPT.json      as fit:receipt(), L:receipt(), t:receipt() and `penumbra receipt FILE` give it
# Exit status: 0 all that it claims follows; 1 something does not; 2 something could not be checked.  What, is printed.
# Epsilons and slopes are bracketed, by pairs of laws that dominate a release (Zhu, Dong, Wang 2022) and by intervals: claims are refused below the
# lower end, and certified from the upper one on.  Taken on trust: that the program did what is said, n, `rows`, `numbers`, the depth of sums.
import ast, decimal, hashlib, heapq, itertools, json, math, re, sys, types
EXACT, PLD, TINY = 1e-9, 1e-3, 1e-300  # how far a claim may be below the upper end here: of closed forms, of loss distributions
def bisect(fits, low, high, width):  # fits(high), and not fits(low)
    while high - low > width:
        middle = (low + high) // 2 if isinstance(low, int) else (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return low, high
# ---- pairs: above(l) = (P(L > l), Q(L > l)), below(l) = (P(L <= l), Q(L <= l)) of the loss L = ln dP/dQ, which is within +-end ----
def Pair(above, below=None, end=700):  # without `below`, P and Q may change places
    return types.SimpleNamespace(above=above, below=below or (lambda l: above(-l)[::-1]), end=end)
def tail(x): return 0.5 * math.erfc(x / math.sqrt(2))  # P(N(0, 1) > x)
def within(e, inside): return Pair(lambda l: inside(l) if -e <= l < e else (1.0 * (l < e),) * 2, end=e)
def gaussian(mu): return Pair(lambda l: (tail(l / mu - mu / 2), tail(l / mu + mu / 2)))
def laplace(e): return within(e, lambda l: (1 - math.exp((l - e) / 2) / 2, math.exp(-(e + l) / 2) / 2))
def pure(e): return within(e, lambda l: (1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))))  # randomised response makes all of e-DP
def bounded_range(e):  # the worst of pairs with losses t and t - e: H(x) = (1 - s)^2/c, s^2 = x exp(-e); P = H - x H', Q = -H'
    c, s = -math.expm1(-e), lambda l: math.exp((l - e) / 2)
    return within(e, lambda l: ((1 - s(l)) / c, (1 / s(l) - 1) * math.exp(-e) / c))
def poisson(q, z):  # (1 - q) N(0, z^2) + q N(1, z^2) against N(0, z^2), whose loss rises with the number that is released
    def split(l, side):
        if l <= math.log1p(-q): return ((0.0, 0.0), (1.0, 1.0))[side > 0]
        odds = math.log1p(math.expm1(l) / q) if l < 30 else l + math.log1p((q - 1) * math.exp(-l)) - math.log(q)
        a, b = (tail(side * (z * odds + (0.5 - shift) / z)) for shift in (0, 1))
        return (1 - q) * a + q * b, a
    return Pair(lambda l: split(l, 1), lambda l: split(l, -1))
def fixed_size(q, z):  # delta(ln(1 + q (e^eps - 1))) <= q delta_gaussian(eps) both ways: poisson's losses above 0, mirrored, the rest at 0
    one = poisson(q, z)
    return Pair(lambda l: one.above(l) if l >= 0 else tuple(1 - t for t in one.above(-l)[::-1]))
def poisson_replace(q, z):  # one coin for a record at 1 and its replacement at -1: exp(x/z^2) solves a quadratic equation
    b = math.exp(min(1 / (2 * z * z), 345)) / q
    x = lambda l: z * (l / 2 + math.asinh((1 - q) * math.sinh(min(max(l / 2, -340), 340)) * b))
    return Pair(lambda l: tuple((1 - q) * tail(x(l)) + q * tail(x(l) - c / z) for c in (1, -1)))
def objective(s, j, rank):  # the loss is at most j + s^2/2 + s chi, chi the length of a standard Gaussian in `rank` dimensions
    def above(l):
        r = max(0.0, (l - j - s * s / 2) / s)
        if rank == 1: return 2 * tail(r), 2 * math.exp(-j) * tail(r + s)
        return math.exp(-r * r / 2), math.exp(-j) * (math.exp(-(r + s) ** 2 / 2) - s * math.sqrt(2 * math.pi) * tail(r + s))
    return Pair(above, lambda l: tuple(1 - t for t in above(l)))
def renyi(pair, a):  # E_Q (dP/dQ)^a - 1 = a (a - 1) int e^((a - 1) l) (H(l) - (1 - e^l)_+) dl, H the hockey stick; by Simpson's rule
    total = 0.0
    for side, tails in ((1, pair.above), (-1, pair.below)):
        end, n = 1e-6, 1200 + 100 * math.ceil(a)
        while end < pair.end and max(tails(side * end)) > 0: end *= 1.25
        step = math.asinh(min(end, pair.end) * 1e7) / n
        for i in range(n + 1):
            l = side * min(math.sinh(i * step) / 1e7, pair.end * (1 - 1e-15))
            stick = side * (tails(l)[0] - math.exp(l) * tails(l)[1])
            if stick > 0: total += RISING["exp"]((a - 1) * l + math.log(stick * math.cosh(i * step) * step)) * (2 + 2 * (i % 2) - (i in (0, n)))
    return math.log1p(a * (a - 1) * total / 3e7) / (a - 1)
def single(pair, delta):  # epsilon of one release, exactly
    return bisect(lambda e: pair.above(e)[0] - math.exp(e) * pair.above(e)[1] <= delta, -1e-12, pair.end, 1e-13)[1]
# ---- composition: laws of losses on a grid, in whole units of 10^-34, multiplied exactly ----
DIGITS, UNIT, SLOT, WIDE = 34, 10 ** 34, 76, decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
def convolve(a, b, up):  # one product of two decimals that have a slot of digits for each number; a unit more, or rounded down
    x, y = (decimal.Decimal("".join(f"{v:0{SLOT}d}" for v in reversed(c))) for c in (a, b))
    text = f"{WIDE.multiply(x, y):f}".zfill((len(a) + len(b) - 1) * SLOT)
    return [int(text[i:i + SLOT - DIGITS]) + up for i in range(len(text) - SLOT, -1, -SLOT)]
class Law:  # mass at (first + i) h.  Upper: P alone, at losses not below the true ones, and P's mass at infinity.  Lower: P (rounded down)
    def __init__(self, first, columns, infinite=0):  # and Q (up) of a number near the loss, hence of a test; the last cell has what is cut off
        self.first, self.columns, self.infinite, self.upper = first, columns, infinite, len(columns) == 1
    def times(self, other, most):
        columns = [convolve(a, b, 1 if self.upper or i else 0) for i, (a, b) in enumerate(zip(self.columns, other.columns))]
        p, low, high, left, right = columns[0], 0, len(columns[0]), 0, 0
        while low < high - 1 and left + p[low] <= most: left, low = left + p[low], low + 1
        while high > low + 1 and right + p[high - 1] <= most: right, high = right + p[high - 1], high - 1
        for i, c in enumerate(columns):
            columns[i] = c[low:high]
            columns[i][0] += sum(c[:low])
            columns[i][-1] += 0 if self.upper else sum(c[high:])
        return Law(self.first + other.first + low, columns, self.infinite + other.infinite + right * self.upper)
    def power(self, count, most):
        if count == 1: return self
        half = self.power(count // 2, most)
        square = half.times(half, most)
        return square.times(self, most) if count & 1 else square
def on_grid(pair, h, least, upper):  # upper: P and Q of a cell are kept, and moved to both its ends, so that hockey sticks become chords
    end = lambda mass: bisect(lambda i: mass(i) <= least, -10 ** 7, next(i for k in itertools.count() if mass(i := 2 ** k) <= least), 1)[1]
    first = -end(lambda i: pair.below(-i * h)[0])
    size = max(1, end(lambda i: pair.above(i * h)[0]) - first)
    ends = [(pair.above((first + i) * h), pair.below((first + i) * h)) for i in range(size + 1)]
    p, q = [0.0] * (size + 1), [0.0] * (size + 1)
    for i, ((above, below), (above_right, below_right)) in enumerate(zip(ends, ends[1:])):
        mp, mq = (max(0.0, a - b) for a, b in (zip(above, above_right) if below[0] > 0.5 else zip(below_right, below)))
        stays = min(mp, max(0.0, (mq * math.exp(min((first + i + 1) * h, 700)) - mp) / math.expm1(h))) if upper else mp
        p[i], p[i + 1], q[i] = p[i] + stays, p[i + 1] + mp - stays, mq
    p[0], q[0] = p[0] + ends[0][1][0], q[0] + ends[0][1][1]
    if not upper: p[-1], q[-1] = p[-1] + ends[-1][0][0], ends[-1][0][1]
    units = lambda masses, up: [int(m * UNIT * (1 + (2 * up - 1) * 1e-13)) + up for m in masses]
    return Law(first, [units(p, 1)], units([ends[-1][0][0]], 1)[0]) if upper else Law(first, [units(p, 0), units(q, 1)])
def composed(releases, delta, cells, upper):  # epsilon of (pair, count) ... at delta, from above or from below, on about so many cells
    least, variance, widest, total = delta * 1e-7 / sum(c for _, c in releases), 0.0, 0.0, None
    for pair, count in releases:
        span = 1e-6
        while pair.above(span)[0] > least or pair.below(-span)[0] > least: span *= 1.5
        mass = [m / UNIT for m in on_grid(pair, span / 400, least, True).columns[0]]
        mean, widest = sum(i * m for i, m in enumerate(mass)), max(widest, len(mass) * span / 400)
        variance += count * sum((i - mean) ** 2 * m for i, m in enumerate(mass)) * (span / 400) ** 2
    h = max(widest, 20 * math.sqrt(variance)) / cells
    for pair, count in releases:
        law = on_grid(pair, h, least, upper).power(count, int(least * UNIT))
        total = total.times(law, int(least * UNIT)) if total else law
    columns, losses = [[m / UNIT for m in c] for c in total.columns], [(total.first + i) * h for i in range(len(total.columns[0]))]
    def delta_at(e):
        if upper: return total.infinite / UNIT + sum(-m * math.expm1(e - l) for m, l in zip(columns[0], losses) if l > e)
        factor = math.exp(min(e, 700))
        return max(itertools.accumulate(a - factor * b for a, b in zip(*map(reversed, columns)))) * (1 - EXACT)
    high = max(1e-3, losses[-1] + h)
    if delta_at(high) > delta: return math.inf if upper else high
    return bisect(lambda e: delta_at(e) <= delta, 0.0, high, 1e-10 * high)[upper]
# ---- formulas of losses: read, differentiated, and bounded over a box by intervals ----
def parse(text):  # the grammar is Python's own, but for the sign of powers -> (operator, operands ...), numbers, and names of variables
    def tree(node):
        if isinstance(node, ast.BinOp): return dict(Add="+", Sub="-", Mult="*", Div="/", Pow="^")[type(node.op).__name__], *map(tree, (node.left, node.right))
        if isinstance(node, ast.Call): return node.func.id, *map(tree, node.args)
        if isinstance(node, ast.Constant): return float(node.value)
        if not isinstance(node, ast.UnaryOp): return math.inf if isinstance(node, ast.Attribute) else node.id
        return -inner if isinstance(inner := tree(node.operand), float) else ("neg", inner)
    return tree(ast.parse(text.replace("^", "**"), mode="eval").body)
def times(a, b): return 0.0 if 0.0 in (a, b) else b if a == 1.0 else a if b == 1.0 else ("*", a, b)
def plus(op, a, b): return a if b == 0.0 else b if a == 0.0 and op == "+" else (op, a, b)
def where(c, a, b): return a if a == b else ("where", c, a, b)
def derivative(f, x):
    if not isinstance(f, tuple): return 1.0 if f == x else 0.0
    op, a, b = (*f, None)[:3]
    da, db = derivative(a, x), derivative(b, x)
    if op == "where": return where(a, db, derivative(f[3], x))
    if op in ("min", "max"): return where(("le", a, b), *((da, db) if op == "min" else (db, da)))
    if op in "+-": return plus(op, da, db)
    if op == "*": return plus("+", times(da, b), times(a, db))
    if op == "/": return plus("-", times(da, ("/", 1.0, b)), times(times(a, db), ("/", 1.0, ("^", b, 2.0))))
    if op == "^": return times(times(b, ("^", a, b - 1)), da) if isinstance(b, float) else times(f, derivative(("*", b, ("log", a)), x))
    outer = {"neg": -1.0, "abs": ("sign", a), "sqrt": ("/", 0.5, f), "exp": f, "expm1": ("exp", a), "log": ("/", 1.0, a), "sign": 0.0, "lt": 0.0,
             "log1p": ("/", 1.0, ("+", 1.0, a)), "tanh": ("-", 1.0, ("^", f, 2.0)), "softplus": ("sigmoid", a), "sin": ("cos", a), "le": 0.0,
             "cos": ("neg", ("sin", a)), "sigmoid": ("*", f, ("sigmoid", ("neg", a))), "erf": ("*", 2 / math.sqrt(math.pi), ("exp", ("neg", times(a, a))))}
    return times(outer[op], da)
def replaced(f, old, new): return new if f == old else tuple(replaced(g, old, new) for g in f) if isinstance(f, tuple) else f
RISING = {"exp": lambda x: math.exp(x) if x < 709 else math.inf, "expm1": lambda x: math.expm1(x) if x < 709 else math.inf, "tanh": math.tanh,
          "erf": math.erf, "sqrt": lambda x: math.sqrt(max(x, 0.0)), "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x),
          "log": lambda x: math.log(x) if x > 0 else -math.inf, "log1p": lambda x: math.log1p(x) if x > -1 else -math.inf,
          "softplus": lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))}
def outward(low, high):  # more than a few roundings of the C library
    ends = tuple(x + c * abs(x) if abs(x) < math.inf else x for x, c in ((low, -2e-15), (high, 2e-15)))
    return (-math.inf, math.inf) if low != low or high != high else ends
def enclose(f, box, torn=None):  # an interval that holds f over the box; torn[0]: a branch is undecided, so that f may jump
    if not isinstance(f, tuple): return box[f] if isinstance(f, str) else (f, f)
    op, (a, *rest) = f[0], [enclose(g, box, torn) for g in f[1:]]
    b = rest[0] if rest else (0.0, 0.0)
    if op in RISING: return outward(RISING[op](a[0]), RISING[op](a[1]))
    if op == "neg": return -a[1], -a[0]
    if op in "+-": return outward(*((a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[1], a[1] - b[0])))
    if op == "/" and not b[0] <= 0 <= b[1]: op, b = "*", outward(1 / b[1], 1 / b[0])
    ends = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]  # 0 times a bound that nothing reaches
    if op == "*" and (f[0] == "/" or f[1] != f[2]): return outward(min(ends), max(ends))
    power = 2.0 if op == "*" else b[0]
    if op in "*^" and power == int(power) and (op == "*" or b[0] == b[1]) and 0 <= power <= 64:
        ends = [math.prod([x] * int(power)) for x in a]
        return outward(0.0 if power % 2 == 0 and a[0] < 0 < a[1] else min(ends), max(ends))
    if op == "^" and f[2] == b[0] < 0: return enclose(("/", 1.0, ("^", f[1], -b[0])), box, torn)
    if op == "^" and a[0] >= 0: return enclose(("exp", ("*", f[2], ("log", f[1]))), box, torn)
    if op in "/^": return -math.inf, math.inf
    if op in ("sin", "cos"): return (-1.0, 1.0) if a[0] < a[1] else outward(*[getattr(math, op)(a[0])] * 2)
    if op in ("min", "max"): return tuple(map(min if op == "min" else max, a, b))
    if op == "abs": return 0.0 if a[0] <= 0 <= a[1] else min(map(abs, a)), max(map(abs, a))
    if op == "where" and (a[0] > 0 or a[1] < 0 or a == (0.0, 0.0)): return rest[a == (0.0, 0.0)]
    if torn and op == "where": torn[0] = True
    if op == "where": return min(b[0], rest[1][0]), max(b[1], rest[1][1])
    if op == "sign": no, yes, least = a[1] < 0 or a == b, a[0] > 0, 0.0 if a == b else -1.0
    else: no, yes, least = {"lt": (a[0] >= b[1], a[1] < b[0], 0.0), "le": (a[0] > b[1], a[1] <= b[0], 0.0)}[op]
    if torn and not (no or yes): torn[0] = True
    return (1.0 if yes else least), (least if no else 1.0)
def supremum(f, box, effort=3000):  # (low, high) around the largest f over the box, by bisection
    shift = replaced(f, ("-", "z", "y"), "t")  # what depends on z - y alone has one variable
    if "'t'" in (text := str(shift)) and not ("'z'" in text or "'y'" in text): f, box = shift, {"t": outward(box["z"][0] - box["y"][1], box["z"][1] - box["y"][0])}
    slopes, best, count = {x: derivative(f, x) for x in box}, -math.inf, itertools.count()
    centre = lambda a, b: (a + b) / 2 if b - a < math.inf else min(0.0, 2 * b - 1) if a == -math.inf else max(0.0, 2 * a + 1)
    def measure(box):  # a face where f rises or falls; else the mean value theorem
        nonlocal best
        torn = [False]
        enclose(f, box, torn)
        rises = {x: enclose(slopes[x], box, torn) if a < b else (0.0, 0.0) for x, (a, b) in box.items()}
        if not torn[0]: box = {x: (b, b) if rises[x][0] >= 0 else (a, a) if rises[x][1] <= 0 else (a, b) for x, (a, b) in box.items()}
        at, top = enclose(f, {x: (a, a) if a == b else (centre(a, b),) * 2 for x, (a, b) in box.items()}), enclose(f, box)[1]
        best = max(best, at[0])
        if not torn[0] and all(map(math.isfinite, sum(box.values(), ()))):
            top = min(top, outward(0.0, at[1] + sum(max(map(abs, rises[x])) * (b - a) / 2 for x, (a, b) in box.items() if a < b))[1])
        return -top, next(count), box
    heap = [measure(box)]
    while effort > (2800 if heap[0][0] == -math.inf else 0) and -heap[0][0] > best + 1e-11 * abs(best) + TINY:
        box, effort = heap[0][2], effort - 1
        wide = max(box, key=lambda x: box[x][1] - box[x][0])
        (a, b), m = box[wide], centre(*box[wide])
        if not a < m < b: break
        heapq.heappop(heap)
        for part in ((a, m), (m, b)): heapq.heappush(heap, measure({**box, wide: part}))
    return best, -heap[0][0]
# ---- events ----
def parts(charge):  # -> [(times, event)], compositions taken apart
    if charge is None or charge["event"]["kind"] != "compose": return [(charge["times"], charge["event"])] if charge else []
    return [(charge["times"] * n, e) for part in charge["event"]["parts"] for n, e in parts(part)]
def price(event):
    """rho; pure epsilon e; delta; mu of Gaussian noise alone; ways: pairs that compose, by direction; low: those of one such mechanism."""
    p, kind, replace = event["parameters"], event["kind"], event["neighbours"] == "replace_one"
    def made(rho, *ways, e=math.inf, delta=0.0, mu=None, low=None, draws=p.get("draws", 0)):
        return types.SimpleNamespace(rho=rho, ways=ways, e=e, delta=delta, mu=mu, low=low or ways, draws=draws, kind=kind)
    if kind == "gaussian": return made((mu := p["sensitivity"] / p["sigma"]) ** 2 / 2, [gaussian(mu)], mu=mu)
    if kind in ("pure", "sparse_vector", "approximate"):
        return made(math.inf if "delta" in p else p["epsilon"] ** 2 / 2, [pure(p["epsilon"])], e=p["epsilon"], delta=p.get("delta", 0.0))
    if kind == "exponential": return made((e := p["epsilon"]) ** 2 / 8, [bounded_range(e)], e=e, low=([pure(e / 2)],))
    if kind in ("laplace", "report_noisy_max"):  # of whole steps one crosses the middle of the Laplace law, which is cosh(r/2)^2 above them there
        e, d = p["sensitivity"] / p["scale"] * (2 if "steps" in p else 1), p.get("steps")
        return made(e * e / 2, [laplace(e + 2 * math.log(math.cosh(e / (4 * d))) if d else e)], e=e)
    if kind == "objective_perturbation":
        s, j, rank = p["sensitivity"] / p["sigma"], p["jacobian"], 2 if replace and p["dim"] > 1 else 1
        return made(j + s * s / 2 + s * math.sqrt(2 / math.pi if rank == 1 else math.pi / 2), [objective(s, j, rank)], draws=p["dim"])
    q, of = p["q"] if kind == "poisson_sampled" else p["batch"] / p["n"], price(p["event"])
    both = kind == "poisson_sampled" and replace  # then the sensitivity of the event is one record's
    if kind not in ("poisson_sampled", "fixed_sampled") or not replace and kind == "fixed_sampled" or both and not of.mu: raise KeyError(kind)
    if not of.mu: return made((e := math.log1p(q * math.expm1(of.e))) ** 2 / 2, [pure(e)], e=e, draws=of.draws)
    if q == 1: return made(of.rho * (1 + 3 * both), [gaussian(of.mu * (1 + both))], mu=of.mu * (1 + both), draws=of.draws)
    one = (poisson_replace if both else fixed_size if replace else poisson)(q, 1 / of.mu)
    back = Pair(lambda l: one.below(-l)[::-1], lambda l: one.above(-l)[::-1])  # P and Q have changed places
    return made(of.rho * (1 + 3 * both), [one], *([] if replace else [[back]]), draws=of.draws)
def divergence(one, a):  # of one event, in the worse direction; the worst t of the exponential mechanism depends on a
    if one.kind == "exponential":
        most, slope = -math.expm1(-a * one.e), math.exp(-one.e) - math.exp(-a * one.e)  # u^(a - 1) (most - u slope)/(1 - exp(-e)) at u = e^t
        u = min(math.exp(one.e), max(1.0, (1 - 1 / a) * most / slope))
        return math.log(u) + math.log((most - u * slope) / -math.expm1(-one.e)) / (a - 1)
    return min(a * one.rho, max(sum(renyi(pair, a) for pair in way) for way in one.ways))
# ---- the receipt ----
def real(x): return math.nan if x is None else float(x)
def dual(a, b): return min(v for p, q in (("l1", "linf"), ("l2", "l2"), ("linf", "l1")) if (v := real(a[p]) * real(b[q])) == v)
def counted(items): return {text: sum(n for n, e in items if e["text"] == text) for text in {e["text"] for _, e in items}}
def moments(c, s, k):  # what a record moves of the sum of v v^T: |v|^2 <= s but for the constant sqrt(k) in it
    return math.sqrt(s * s + 2 * k * s) if c == 1 else math.sqrt(2) * (s + k) if k <= s else math.sqrt(8 * k * s)
def gain(t):  # l2 sensitivity of what noise is added to, for leaves of sensitivity 1: a lower and an upper bound
    m, q, apart, size = t["method"], t["participations"], t["separation"], t["horizon"]
    if t["factorization"] == "binary" and size and m["scale"] == "equal":  # the root is in no prefix where the horizon is a power of two
        levels = range(size.bit_length() - (size > 1 and size & (size - 1) == 0 and not m["keep_root"]))
        inside = [[sum(j * apart >> i == node for j in range(q)) for node in range((q * apart >> i) + 1)] for i in levels]
        most = [min(q, (2 ** i - 1) // apart + 1) for i in levels]
        return math.sqrt(sum(c * c for node in inside for c in node)), math.sqrt(sum(q // c * c * c + (q % c) ** 2 for c in most))
    bands = re.search(r"(\d+) bands, sqrt|(sqrt),|$", t["words"])
    c = [1.0, *itertools.accumulate(((2 * j - 1) / (2 * j) for j in range(1, size)), lambda x, y: x * y)][:size if bands[2] else int(bands[1] or 0)]
    columns = [[0.0] * (j * apart) + c[:size - j * apart] for j in range(q) if j * apart < size]
    return (norm, norm) if (norm := math.sqrt(sum(sum(row) ** 2 for row in itertools.zip_longest(*columns, fillvalue=0.0)))) else (0.0, math.inf)
def spelled(a):  # what a release is made of: objective perturbation, and noise that hides how far the end is from the minimum
    t, made = a["mechanism"].get("perturbation"), lambda kind, **p: {"kind": kind, "neighbours": a["event"]["neighbours"], "parameters": p, "text": kind}
    if not t or a["event"]["kind"] != "approximate": return parts(a)
    hidden = 2 * (t["offset"] + math.sqrt(t["dim"]) * 2 ** -41 * t["sigma"] / t["strong_convexity"]) + math.sqrt(t["dim"]) * 2 ** -40 * t["sigma_out"]
    minimum = made("objective_perturbation", **{k: t[k] for k in ("sigma", "sensitivity", "jacobian", "dim")})
    return [(a["times"], minimum), (a["times"], made("gaussian", sigma=t["sigma_out"], sensitivity=hidden, draws=t["dim"]))]
class Checker:
    def __init__(self, receipt):
        self.r, self.relation, self.said = receipt, receipt["neighbours"]["relation"], {True: [], False: [], None: []}
        self.c = {"replace_one": 2.0, "add_remove": 1.0, "zero_out": 1.0}[self.relation]  # by how many records' parts sums differ
    def say(self, fine, text): self.said[fine].append(text) if text not in self.said[fine] else None
    def same(self, name, claim, right): self.say(claim == right, f"{name}: {claim}" + f" is not {right}" * (claim != right))
    def covers(self, name, claim, low, high=None, share=EXACT):  # `claim` has to bound what lies between low and high
        claim, low, high = real(claim), real(low), real(low if high is None else high)
        fine = True if claim >= high - share * min(abs(high), 1e300) else None if claim >= low - share * min(abs(low), 1e300) else False
        self.say(fine, f"{name}: {claim:.9g}" + {True: "", False: f" is less than {low:.12g}", None: f" is certified only from {high:.12g} on"}[fine])
    def objective(self, o):
        b, loss, labels, rows = o["bounds"], o["loss"], o["loss"]["labels"], {k: math.inf if v is None else real(v) for k, v in o["rows"].items()}
        if o["set"]:
            norm, size = {"l1_ball": 1, "l2_ball": 0.5, "linf_ball": 0}.get(o["set"]["name"]), re.search(r"radius=([-\d.e+]+)", o["set"]["words"])
            for p, power in (("l1", 1), ("l2", 0.5), ("linf", 0)):
                if norm is None or not size: self.say(None, f"the radius of the set {o['set']['words']}")
                else: self.covers(f"{p} radius of the set", o["set"]["radius"][p], float(size[1]) * o["set"]["dim"] ** max(0, power - norm))
        low, high = -real(b["margin"]["low"]), real(b["margin"]["high"])
        if loss["margins"]: self.covers("margin", min(low, high), dual(o["set"]["radius"], rows) if o["set"] else math.inf)
        if loss["name"] == "softmax":  # the label has a probability of at least p, and the others have the rest
            p = 1 / (1 + (labels["classes"] - 1) * math.exp(2 * min(high, 300)))
            self.covers("slope of softmax", b["slope_norm"]["l2"], math.sqrt(2) * (1 - p * (high < math.inf)))
        elif loss["margins"] != 1 or not loss["formula"] or loss["extra"]: self.say(None, f"the slope of the loss {loss['name']}: no formula in one margin")
        else:
            slope, ends = derivative(parse(loss["formula"]), "z"), tuple(real(labels["range"][k]) for k in ("low", "high"))
            boxes = [{"z": (-low, high), "y": y} for y in ([(v, v) for v in labels["values"]] if labels["kind"] == "values" else [ends])]
            for name, f in (("slope", slope), ("curvature", derivative(slope, "z"))):
                for sign, end, g in ((1, "high", f), (-1, "low", ("neg", f))):
                    if (claim := sign * real(b[name][end])) < math.inf:
                        self.covers(f"{name}, {end} end", claim, *map(max, zip(*(supremum(g, box) for box in boxes))))
            self.covers("slope_norm", b["slope_norm"]["l2"], max(real(b["slope"]["high"]), -real(b["slope"]["low"])))
            self.covers("smoothness", b["smoothness"], rows["l2"] ** 2 * max(abs(real(v)) for v in b["curvature"].values()))
        slope, extra = (real(b[k]["l2"]) for k in ("slope_norm", "extra_norm"))
        self.covers("gradient of a record", b["gradient"]["l2"], min(math.hypot(slope * rows["l2"], extra), real(o["clip"] or math.inf)))
    def release(self, a, o, items):
        s, m, n, b, event = a["sensitivity"], a["mechanism"], (a["sensitivity"] or {}).get("numbers"), o and o["bounds"], a["event"]
        name, of = f"{a['question']} ({a['label']})", m.get("batches") or m.get("choice") or m
        if not s or not event: return self.say(None, f"{name}: where its sensitivity comes from")
        c, value, rule, gradient, bent = self.c, s["value"], s["rule"], o and b["gradient"], o and b["curvature"]
        low, high = (0.0, 1.0) if not bent else (min(0.0, real(bent["low"])), max(0.0, real(bent["high"])))
        need = {"gradient": lambda: gradient["l2"], "unit": lambda: 1, "range": lambda: (n["high"] - n["low"]) / 2, "difference": lambda: n["most"],
                "score": lambda: dual(o["set"]["atom_radius"], gradient), "smoothness": lambda: b["smoothness"], "slopes": lambda: n["slope"] * n["row"],
                "moment": lambda: n["slope"] * n["row"], "moments": lambda: moments(c, 1 + n["tau"] ** 2, n["kappa"] ** 2), "relative": lambda: 1,
                "hessian": lambda: max(-low, high) * o["rows"]["l2"] ** 2 if o["loss"]["margins"] == 1 else n["record"], "column": lambda: n["feature"] * n["column"],
                "choices": lambda: min(math.sqrt(n["square_" + p]) * real(gradient[q]) for p, q in (("l1", "linf"), ("l2", "l2"), ("linf", "l1")))}.get(rule)
        if need: self.covers(f"{name}: contribution by the rule {rule}", s["contribution"], need())
        else: self.say(None, f"{name}: its sensitivity, by the rule {rule}")
        moved = {"hessian": min(c, max(high - low, math.sqrt(2) * max(-low, high)) / max(-low, high)), "smoothness": c if low < 0 else 1.0, "moments": 1.0}
        self.covers(f"{name}: contributions", s["contributions"], moved.get(rule, c) if need else 0.0)
        divided = not need or s["divisor"] in (1.0, of.get("batch") or o["records"]) or (None if m.get("stream") else False)
        self.say(divided, f"{name}: divisor {s['divisor']:.9g}")
        exact = s["contributions"] * s["contribution"] * s["factor"] / s["divisor"]
        self.covers(f"{name}: rounding", s["rounding"], (not m.get("perturbation")) * 2 ** -52 * exact / s["contributions"])  # of the last operation, on both sides
        self.covers(f"{name}: sensitivity", value, exact + s["rounding"], share=1e-15)
        charged = a["times"] is None or event["kind"] == "compose" or any(event in (e, e["parameters"].get("event")) for _, e in items)
        self.say(charged, f"{name}: its event is charged")
        p, lattice, l1 = event["parameters"].get("event", event)["parameters"], of.get("lattice"), m["kind"] == "laplace"
        if m.get("stream"): return self.stream(name, m["stream"], p)
        if m["kind"] == "choice": self.covers(f"{name}: sensitivity of scores", of["sensitivity"], value, share=1e-15)
        if t := m.get("perturbation"):
            self.covers(f"{name}: sensitivity of the gradients", t["sensitivity"], value, share=1e-15)
            self.covers(f"{name}: jacobian", t["jacobian"], math.log1p(b["smoothness"] / t["strong_convexity"]))
        if m["kind"] == "batches":
            self.covers(f"{name}: contribution to a sum", c * of["contribution"], exact)
            self.say(all({"n": o["records"], **of}.get(k, v) == v for k, v in event["parameters"].items()), f"{name}: batch and rate of its event")
            value = (1 if of["scheme"] == "poisson" else c) * of["contribution"] + 2 * math.sqrt(lattice["values"]) * of["error"]
        if not lattice: return
        root, unit = lattice["values"] ** (1 if l1 else 0.5), lattice["unit"]  # half a unit a number, and what x/unit rounds by, on both sides
        rounded = value * (root ** 0.5 if l1 else 1) + root * unit * (1 + min(real(lattice["bound"]) / unit, 2.0 ** 62) / 2 ** 52)
        self.covers(f"{name}: sensitivity on the lattice", p["sensitivity"], rounded, share=1e-15)
        self.same(f"{name}: scale and unit of the lattice", (lattice["scale"], unit), (p["scale" if l1 else "sigma"], lattice["scale"] / 2 ** 40))
    def stream(self, name, t, p):
        self.covers(f"{name}: gain of the stream", t["gain"], *gain(t))
        for mu in (t["mu"], p["sensitivity"] / p["sigma"]):
            self.covers(f"{name}: mu of the stream", mu, (real(t["sensitivity"]) * t["gain"] + t["lattice"]["unit"]) / t["sigma"], share=1e-15)
    def price(self, name, items, claim, accountant=None, order=None):
        claim, priced = {k: real(v) for k, v in claim.items()}, [(n, price(e)) for n, e in items]
        e, delta, gaussians = claim["epsilon"], claim["delta"], [n * p.mu ** 2 for n, p in priced if p.mu]
        if claim["rho"] == claim["rho"]: self.covers(f"{name}: rho", claim["rho"], sum(n * p.rho for n, p in priced))
        fits = {"gaussian": len(gaussians) == len(priced), "zcdp": e != e, "pure": all(p.e < math.inf for _, p in priced), "none": not items}
        self.say(fits.get(accountant, accountant in (None, "pld") or 1 < real(order) < math.inf), f"{name}: the accountant {accountant}")
        if e != e or not items: return
        draws = sum(n * p.draws for n, p in priced)  # noise as drawn has densities within e^(2^-76) a draw of the ideal ones, but for 2^-125
        delta = delta - sum(n * p.delta for n, p in priced) - min(math.exp(min(e, 700)) * draws * 2.0 ** -125, delta / 2)
        if sum(n * p.e for n, p in priced) <= e * (1 + EXACT) and delta >= 0: return self.say(True, f"{name}: epsilon {e:.9g}, pure")
        if delta <= 0: return self.say(False, f"{name}: epsilon {e:.9g} at delta {claim['delta']:.9g} is used up")
        if len(gaussians) == len(priced): return self.covers(f"{name}: epsilon", e, single(gaussian(math.sqrt(sum(gaussians))), delta))
        at = lambda a: sum(n * divergence(p, a) for n, p in priced) + math.log1p(-1 / a) - math.log(delta * a) / (a - 1)
        if accountant == "rdp" and real(order) < 300: return self.covers(f"{name}: epsilon at the Renyi order {order:.4g}", e, at(order), share=1e-6)
        for cells in (2048, 8192, 32768):
            ways = lambda upper, d: [(pair, n) for n, p in priced for w in [p.ways if upper else p.low] for pair in w[d % len(w)]]
            low, high = (max(composed(ways(upper, d), delta, cells, upper) for d in range(max(len(p.ways) for _, p in priced))) for upper in (0, 1))
            if not low < e < high: break
        if high > e > low: high = min(high, *(at(1 + 2 ** (i / 4)) for i in range(-8, 28)))
        self.covers(f"{name}: epsilon by loss distributions", e, low, high, share=PLD if high - low < PLD * high else EXACT)
    def charge(self, name, items, digest):  # what the texts of events and the digest say
        for _, e in items:
            own = [e] + [v for v in e["parameters"].values() if isinstance(v, dict)]
            known = {(k, float(v)) for i in own for k, v in i["parameters"].items() if isinstance(v, (int, float))}
            told = {(k, float(v)) for k, v in re.findall(r"(\w+)=(-?[\d.][-+\d.e]*)", e["text"])}
            fine = told <= known and all(v in (0, 1) for _, v in known - told)
            self.say(fine and all(i["neighbours"] == self.relation and i["kind"] + "(" in e["text"] for i in own), f"{name}: the parts of {e['text']}")
        self.same(f"{name}: digest", digest, hashlib.blake2b("".join(f"{n} {e['text']}\n" for n, e in items).encode(), digest_size=32).hexdigest())
        return items
    def fit(self, r):
        plan, run, held = r["plan"], r["run"], r["guarantee"]
        items, paid = (self.charge(k, parts(v["charge" if k == "plan" else k]), r["digests"][k]) for k, v in (("plan", plan), ("paid", run)))
        self.objective(r["objective"]) if r["objective"] else self.say(None, "the bounds of the loss: the receipt has no objective")
        made = [a for a in plan["releases"] if a["event"] and a["times"]]
        for a in plan["releases"]: self.release(a, r["objective"], items + [p for a in made for p in parts(a)])
        follows = len(made) < len(plan["releases"])  # how many there are follows what is released: the charge is a budget
        if plan["accountant"] == "pld": self.price("whole run", [p for a in made for p in spelled(a)], {**plan["price"], "rho": None}, "pld")
        if not follows and not plan["whole"]: self.same("planned charges", counted(items), counted([p for a in made for p in parts(a)]))
        claims = [plan["price"], held["price"]] + [s["price"] for s in r["stops"] if s["charged"]]
        for claim in {str(c): c for c in claims}.values(): self.price("plan", items, claim, plan["accountant"], plan["order"])
        self.same("last stop", max(s["to"] for s in r["stops"]), plan["steps"])
        now, all_of = counted(paid), counted(items)
        self.say((follows or all(n <= all_of.get(k, 0) for k, n in now.items())) and run["steps"] <= plan["steps"], "paid: no more than planned")
        if run["stopped"] is None and run["steps"] == plan["steps"] and not follows: self.same("paid charges", now, all_of)
        for claim in (run["paid_price"], held["price"]) if paid != items else (): self.price("paid", paid, claim, "pld")
        self.same("guarantee: holds", held["holds"], held["proven"] and r["noise"]["protects"])
    def stream_receipt(self, r):
        self.stream("stream", r["stream"], (items := self.charge("plan", parts(r["charge"]), r["digests"]["plan"]))[0][1]["parameters"])
        for claim in [s["price"] for s in r["stops"] if s.get("charged", True)]: self.price("stream", items, claim)
    def ledger(self, r):
        top, items = r["ledger"], [p for e in r["ledger"]["entries"] for p in parts(e)]
        self.charge("charged", items, r["digests"]["charged"])
        budget, orders = top["budget"], [o["order"] for o in top["orders"] or () if o["alive"]]
        claim = {"epsilon": budget["epsilon"], "rho": budget["rho"], "delta": real(budget["delta"]) / len(top["orders"] or "1")}
        if budget["unit"] == "divergence": self.covers("budget", budget["epsilon"], sum(n * divergence(price(e), budget["alpha"]) for n, e in items), share=1e-6)
        for order in orders or [None]: self.price("budget", items, claim, "rdp" if orders else None, order)
    def check(self):
        r, said = self.r, [self.r[k] for k in ("format", "schema")] + [self.r["versions"]["library"], self.r["neighbours"]["contributions"]]
        self.same("format, schema, library, contributions", said, ["penumbra receipt", 1, "0.1.0", self.c])
        self.same("noise protects", r["noise"]["protects"], r["noise"]["source"] == "secure")
        {"fit": self.fit, "ledger": self.ledger, "stream": self.stream_receipt}[r["subject"]](r)
def main(path):
    checker = Checker(json.load(open(path, encoding="utf-8")))
    try: checker.check()
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error: checker.say(None, f"the rest: {error!r}")
    for fine, word in ((False, "NOT VALID"), (None, "not checked"), (True, "valid")):
        for text in checker.said[fine]: print(f"{word}: {text}")
    return 1 if checker.said[False] else 2 if checker.said[None] else 0
if __name__ == "__main__": sys.exit(main(sys.argv[1]))
