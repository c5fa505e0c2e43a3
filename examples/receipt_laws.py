# receipt_laws.py -- what releases cost, for check_receipt.py: laws of privacy losses, their composition, and the price of every kind of event,
# from the formulas of receipt.md and with nothing of penumbra.  Pairs of laws dominate a release (Zhu, Dong, Wang 2022).
import decimal, itertools, math, types
def exp(x): return math.exp(x) if x < 709 else math.inf
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
        end, n = 1e-6, 1200 + min(100 * math.ceil(a), 4000)
        while end < pair.end and max(tails(side * end)) > 0: end *= 1.25
        step = math.asinh(min(end, pair.end) * 1e7) / n
        for i in range(n + 1):
            l = side * min(math.sinh(i * step) / 1e7, pair.end * (1 - 1e-15))
            stick = side * (tails(l)[0] - math.exp(l) * tails(l)[1])
            if stick > 0: total += exp((a - 1) * l + math.log(stick * math.cosh(i * step) * step)) * (2 + 2 * (i % 2) - (i in (0, n)))
    return math.log1p(a * (a - 1) * total / 3e7) / (a - 1)
def single(pair, delta):  # epsilon of one release, exactly
    return bisect(lambda e: pair.above(e)[0] - math.exp(e) * pair.above(e)[1] <= delta, -1e-12, pair.end, 1e-13)[1]
# ---- composition: laws of losses on a grid, in whole units of 10^-34, multiplied exactly ----
DIGITS, UNIT, SLOT, WIDE = 34, 10 ** 34, 76, decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
def convolve(a, b):  # one product of two decimals that have a slot of digits for each number; a unit more
    x, y = (decimal.Decimal("".join(f"{v:0{SLOT}d}" for v in reversed(c))) for c in (a, b))
    text = f"{WIDE.multiply(x, y):f}".zfill((len(a) + len(b) - 1) * SLOT)
    return [int(text[i:i + SLOT - DIGITS]) + 1 for i in range(len(text) - SLOT, -1, -SLOT)]
def composition(one, other, most):  # of (first, masses, infinite): P's mass at losses (first + i) h, not below the true ones, and at infinity
    p, low, left, right = convolve(one[1], other[1]), 0, 0, 0
    while low < len(p) - 1 and left + p[low] <= most: left, low = left + p[low], low + 1
    while len(p) > low + 1 and right + p[-1] <= most: right += p.pop()
    p[low] += left
    return one[0] + other[0] + low, p[low:], one[2] + other[2] + right
def power(law, count, most):
    if count == 1: return law
    half = power(law, count // 2, most)
    square = composition(half, half, most)
    return composition(square, law, most) if count & 1 else square
def on_grid(pair, h, least):  # P and Q of a cell are kept, and moved to both its ends, so that hockey sticks become chords
    end = lambda mass: bisect(lambda i: mass(i) <= least, -10 ** 7, next(i for k in itertools.count() if mass(i := 2 ** k) <= least), 1)[1]
    first = -end(lambda i: pair.below(-i * h)[0])
    size = max(1, end(lambda i: pair.above(i * h)[0]) - first)
    ends = [(pair.above((first + i) * h), pair.below((first + i) * h)) for i in range(size + 1)]
    p = [ends[0][1][0]] + [0.0] * size
    for i, ((above, below), (above_right, below_right)) in enumerate(zip(ends, ends[1:])):
        mp, mq = (max(0.0, a - b) for a, b in (zip(above, above_right) if below[0] > 0.5 else zip(below_right, below)))
        stays = min(mp, max(0.0, (mq * math.exp(min((first + i + 1) * h, 700)) - mp) / math.expm1(h)))
        p[i], p[i + 1] = p[i] + stays, p[i + 1] + mp - stays
    units = [int(m * UNIT * (1 + 1e-13)) + 1 for m in p + [ends[-1][0][0]]]
    return first, units[:-1], units[-1]
def composed(releases, delta, cells):  # epsilon of (pair, count) ... at delta, from above, on about so many cells
    least, variance, widest, total = delta * 1e-7 / sum(c for _, c in releases), 0.0, 0.0, None
    for pair, count in releases:
        span = 1e-6
        while pair.above(span)[0] > least or pair.below(-span)[0] > least: span *= 1.5
        mass = [m / UNIT for m in on_grid(pair, span / 400, least)[1]]
        mean, widest = sum(i * m for i, m in enumerate(mass)), max(widest, len(mass) * span / 400)
        variance += count * sum((i - mean) ** 2 * m for i, m in enumerate(mass)) * (span / 400) ** 2
    h = max(widest, 20 * math.sqrt(variance)) / cells
    for pair, count in releases:
        law = power(on_grid(pair, h, least), count, int(least * UNIT))
        total = composition(total, law, int(least * UNIT)) if total else law
    masses = [(m / UNIT, (total[0] + i) * h) for i, m in enumerate(total[1])]
    delta_at = lambda e: total[2] / UNIT + sum(-m * math.expm1(e - l) for m, l in masses if l > e)
    high = max(1e-3, masses[-1][1] + h)
    return bisect(lambda e: delta_at(e) <= delta, 0.0, high, 1e-10 * high)[1] if delta_at(high) <= delta else math.inf
# ---- events ----
def parts(charge):  # -> [(times, event)], compositions taken apart
    if charge is None or charge["event"]["kind"] != "compose": return [(charge["times"], charge["event"])] if charge else []
    return [(charge["times"] * n, e) for part in charge["event"]["parts"] for n, e in parts(part)]
def price(event):
    """rho; pure epsilon e; delta; mu of Gaussian noise alone; ways: pairs that compose, by direction; curve: the Renyi divergence of an order."""
    p, kind, replace = event.get("parameters", {}), event["kind"], event["neighbours"] == "replace_one"
    def made(rho, *ways, e=math.inf, delta=0.0, mu=None, draws=p.get("draws", 0), curve=None):
        own = curve or (lambda a: max((sum(renyi(pair, a) for pair in way) for way in ways), default=math.inf))
        return types.SimpleNamespace(rho=rho, ways=ways, e=e, delta=delta, mu=mu, draws=draws, curve=lambda a: min(a * rho, randomised(e, a), own(a)))
    if kind == "compose":
        inner = [(n, price(e)) for n, e in parts({"times": 1, "event": event})]
        add, mus = lambda of: sum(n * of(one) for n, one in inner), [one.mu for _, one in inner]
        mu = math.sqrt(add(lambda one: one.mu ** 2)) if all(mus) else None
        return made(add(lambda one: one.rho), *([[gaussian(mu)]] if mu else []), e=add(lambda one: one.e), mu=mu, curve=lambda a: add(lambda one: one.curve(a)))
    if kind == "gaussian": return made((mu := p["sensitivity"] / p["sigma"]) ** 2 / 2, [gaussian(mu)], mu=mu, curve=lambda a: math.inf)
    if kind in ("pure", "sparse_vector", "approximate"):
        return made(math.inf if "delta" in p else p["epsilon"] ** 2 / 2, [pure(p["epsilon"])], e=p["epsilon"], delta=p.get("delta", 0.0), curve=lambda a: math.inf)
    if kind == "exponential": return made((e := p["epsilon"]) ** 2 / 8, [bounded_range(e)], e=e, curve=lambda a: range_curve(e, a))
    if kind in ("laplace", "report_noisy_max"):  # of whole steps one crosses the middle of the Laplace law, which is cosh(r/2)^2 above them there
        e, d = p["sensitivity"] / p["scale"] * (2 if "steps" in p else 1), p.get("steps")
        far = e + 2 * math.log(math.cosh(e / (4 * d))) if d else e
        shifted = lambda a: far + math.log((a + (a - 1) * math.exp((1 - 2 * a) * far)) / (2 * a - 1)) / (a - 1)
        return made(e * e / 2, [laplace(far)], e=e, curve=shifted)
    if kind == "objective_perturbation":
        s, j, rank = p["sensitivity"] / p["sigma"], p["jacobian"], 2 if replace and p["dim"] > 1 else 1
        return made(j + s * s / 2 + s * math.sqrt(2 / math.pi if rank == 1 else math.pi / 2), [objective(s, j, rank)], draws=p["dim"])
    if kind == "zcdp": return made(p["rho"])
    if kind == "rdp": return made(math.inf, curve=lambda a: p["epsilon"] if a <= p["alpha"] else math.inf)
    if kind == "curve":  # between two orders (order - 1) times the bound is a line; below the first that one's bound holds
        tops = list(map(max, p["divergences"], p["reverse"] or p["divergences"]))
        points = [(a, (a - 1) * d) for a, d in zip(p["orders"], tops)]
        line = lambda a: next((((b - a) * s + (a - c) * t) / (b - c) / (a - 1) for (c, s), (b, t) in zip(points, points[1:]) if a <= b), math.inf)
        return made(math.inf, curve=lambda a: tops[0] if a <= points[0][0] else line(a))
    if kind == "either":
        one, two = price(p["first"]), price(p["second"])
        return made(max(one.rho, two.rho), e=max(one.e, two.e), draws=max(one.draws, two.draws), curve=lambda a: max(one.curve(a), two.curve(a)))
    if kind == "loss_distribution":
        laws = [list(zip(p["losses"], p["probabilities"]))] if p["losses"] else [
            [(math.log(a / b) if b else math.inf, a) for a, b in zip(*pair) if a] for pair in ((p["p"], p["q"]), (p["q"], p["p"]))]
        ends = [l for law in laws for l, _ in law] + [math.inf] * (p["delta"] > 0 or any(sum(m for _, m in law) < 1 - 2 ** -46 for law in laws))
        if max(ends) == math.inf: return made(math.inf)
        e = max(map(abs, ends))
        curve = lambda a: max(ends) + max(math.log(sum(m * math.exp((a - 1) * (l - max(ends))) for l, m in law)) / (a - 1) for law in laws)
        return made(min(e, (max(ends) - min(ends)) ** 2 / 8), e=e, curve=curve)
    if kind == "selection": return selection(made, p, price(p["event"]))
    if kind == "fixed_sampled_and_whole":  # a part of the variance is the batch's, the rest that of what all records give
        q, sigma, one, whole = p["batch"] / p["n"], p["sigma"], p["sampled_sensitivity"], p["whole_sensitivity"]
        split = lambda x, a: renyi(fixed_size(q, sigma / one / math.sqrt(1 + math.exp(x))), a) + a * (whole / sigma) ** 2 / 2 * (1 + math.exp(-x))
        return made(((one + whole) / sigma) ** 2 / 2, curve=lambda a: split(lowest(lambda x: split(x, a), -6.0, 6.0, 6), a))
    q, of = p["q"] if kind == "poisson_sampled" else p["batch"] / p["n"], price(p["event"])
    both = kind == "poisson_sampled" and replace  # then the sensitivity of the event is one record's
    if kind not in ("poisson_sampled", "fixed_sampled") or not replace and kind == "fixed_sampled" or both and not of.mu: raise KeyError(kind)
    if not of.mu: return price({**event, "kind": "pure", "parameters": {"epsilon": math.log1p(q * math.expm1(of.e)), "draws": of.draws}})
    if q == 1: return made(of.rho * (1 + 3 * both), [gaussian(of.mu * (1 + both))], mu=of.mu * (1 + both), draws=of.draws)
    one = (poisson_replace if both else fixed_size if replace else poisson)(q, 1 / of.mu)
    back = Pair(lambda l: one.below(-l)[::-1], lambda l: one.above(-l)[::-1])  # P and Q have changed places
    return made(of.rho * (1 + 3 * both), [one], *([] if replace else [[back]]), draws=of.draws)
def randomised(e, a):  # the Renyi divergence of randomised response, which makes all of e-DP
    return e + (math.log1p(math.exp((1 - 2 * a) * e)) - math.log1p(math.exp(-e))) / (a - 1) if e < math.inf else e
def range_curve(e, a):  # the worst t of the exponential mechanism: u^(a - 1) (most - u slope)/(1 - exp(-e)) at u = e^t
    most, slope = -math.expm1(-a * e), math.exp(-e) - math.exp(-a * e)
    u = min(math.exp(e), max(1.0, (1 - 1 / a) * most / slope))
    return math.log(u) + math.log((most - u * slope) / -math.expm1(-e)) / (a - 1)
def lowest(f, low, high, count):  # place of a function with one valley, nearly: on a grid, then by golden sections around its best point
    step, golden = (high - low) / count, (math.sqrt(5) - 1) / 2
    best = min((low + i * step for i in range(count + 1)), key=f)
    a, b = best - step, best + step
    for _ in range(14):
        x, y = b - golden * (b - a), a + golden * (b - a)
        a, b = (a, y) if f(x) < f(y) else (x, b)
    return (a + b) / 2
ORDERS = [1 + 2 ** (i / 16) for i in range(-64, 176)]
def selection(made, p, of):  # the best of a secret number of runs: Papernot, Steinke 2022, with the root x of gamma (e^x - 1) = (1 - gamma) delta(x)
    m, law, eta = p["mean"], p["law"], {"geometric": 1.0, "negative_binomial": p["eta"]}.get(p["law"], 0.0)
    def delta(x):
        if of.ways: return max(max(0.0, way[0].above(x)[0] - math.exp(x) * way[0].above(x)[1]) for way in of.ways)
        return min(1.0, *(math.exp(min(0.0, (a - 1) * (of.curve(a) - x) - math.log(a - 1) + a * math.log1p(-1 / a))) for a in ORDERS))
    if law == "poisson":
        term, e = lambda a: (a - 1) * (of.curve(a) + m * delta(-math.log1p(-1 / a))) + math.log(m), m * delta(0.0)
        bound = lambda a: (max(term(a), -m) + math.log1p(math.exp(-abs(term(a) + m)))) / (a - 1)
    else:
        mean = lambda x: math.expm1(x) * (1 / x if eta == 0 else eta / -math.expm1(-eta * x))
        gamma = 1 / m if law in ("geometric", "known_target") else math.exp(-bisect(lambda x: mean(x) >= m, 1e-9, 500.0, 1e-12)[1])
        times = 1.0 if law == "known_target" else 1 + eta
        e = times * bisect(lambda x: gamma * math.expm1(x) >= (1 - gamma) * delta(x), 0.0, -math.log(gamma), 1e-13)[1]
        second = times * min((1 - 1 / a) * of.curve(a) - math.log(gamma) / a for a in ORDERS)
        bound = lambda a: of.curve(a) + min(e, second) + math.log(m) / (a - 1)
    best = 1 + 2 ** lowest(lambda x: bound(1 + 2 ** x), -4.0, 11.0, 30)  # divergences grow with their order: that bound holds below it, too
    return made((of.e + e) ** 2 / 2, e=of.e + e, draws=of.draws, curve=lambda a: min(bound(a), bound(best) if a < best else math.inf))
