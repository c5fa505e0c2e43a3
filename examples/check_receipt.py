# check_receipt.py -- works out every sensitivity and price of a privacy receipt again, with nothing of penumbra: plain Python 3.
# Usage: python3 check_receipt.py RECEIPT.json      as fit:receipt(), L:receipt(), t:receipt() and `penumbra receipt FILE` give it
# Exit status: 0 all that it claims follows; 1 something does not; 2 something could not be checked.  What, is printed.
# Epsilons are certified by pairs of laws that dominate a release (Zhu, Dong, Wang 2022), slopes by intervals; a claim below what is certified here
# is refused.  receipt.md, section "What is trusted", says what no checker can see.
import ast, functools, hashlib, heapq, itertools, json, math, re, sys
from receipt_laws import composed, exp, gaussian, lowest, parts, price, single
EXACT, PLD, TINY = 1e-9, 1e-3, 1e-300  # how far a claim may be below what is certified here: by closed forms, by loss distributions
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
RISING = {"exp": exp, "expm1": lambda x: math.expm1(x) if x < 709 else math.inf, "tanh": math.tanh,
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
# ---- sensitivities ----
def real(x): return math.nan if x is None else float(x)
def dual(a, b): return min(v for p, q in (("l1", "linf"), ("l2", "l2"), ("linf", "l1")) if (v := real(a[p]) * real(b[q])) == v)
def counted(items): return {text: sum(n for n, e in items if e["text"] == text) for text in {e["text"] for _, e in items}}
def moments(c, s, k):  # what a record moves of the sum of v v^T: |v|^2 <= s but for the constant sqrt(k) in it
    return math.sqrt(s * s + 2 * k * s) if c == 1 else math.sqrt(2) * (s + k) if k <= s else math.sqrt(8 * k * s)
def reached(n):  # by gradient steps, of a change of 1 in the gradients of one batch, at its worst place in each pass
    total, worst, kept, batches = 0.0, 0.0, 1.0, int(n["batches"])
    for t in range(int(n["passes"]) * batches, 0, -1):
        eta = min(n["step"], 1 / (n["decreasing"] * t)) if n["decreasing"] else n["step"]
        worst = max(worst, kept * eta / (1 + eta * n["prox_convexity"]))
        kept *= max(1 - eta * n["convexity"], eta * n["smoothness"] - 1) / (1 + eta * n["prox_convexity"])
        if (t - 1) % batches == 0: total, worst = total + worst, 0.0
    return total
def gain(t):  # l2 sensitivity of what noise is added to, for leaves of sensitivity 1
    m, apart, size = t["method"], t["separation"], t["horizon"] or 1  # without a horizon: of the first epoch
    q = min(t["participations"], (size - 1) // apart + 1)
    if t["factorization"] == "binary" and not t["horizon"] and m["growth"] == "endless": return math.pi / math.sqrt(6)
    if t["factorization"] == "binary":  # the root is in no prefix where the horizon is a power of two
        root, levels = m["keep_root"] or not t["horizon"], (size - 1).bit_length()
        nodes = [(size - 1 >> i) + 1 if root else size >> i for i in range(max(1, levels + root))]
        if m["scale"] == "node":  # noise of a node by its largest leaf, in whole 1/1024 of the least
            s, noise = t["sensitivities"], [math.ceil(x / min(t["sensitivities"]) * 1024 * (1 - 2 ** -50)) for x in t["sensitivities"]]
            share = lambda x, i: s[x] / max(s) * max(noise) / max(noise[x >> i << i:(x >> i) + 1 << i])
            return math.sqrt(max(sum(share(x, i) ** 2 for i, n in enumerate(nodes) if x >> i < n) for x in range(size)))
        fullest = [min(q, (2 ** i - 1) // apart + 1) for i in range(len(nodes))]  # leaves of a record in a node
        return math.sqrt(sum(min(q // c, n) * c * c + (q // c < n) * (q % c) ** 2 for c, n in zip(fullest, nodes)))
    if m["rows"]: return given([row + [0.0] * (size - t - 1) for t, row in enumerate([0.0] * (t + 1 - len(row)) + row for t, row in enumerate(m["rows"]))], q, apart)
    if m["theta"]: c = [1.0] + [sum(w * x ** j for x, w in zip(m["theta"], m["omega"])) for j in range(size - 1)]
    else: c = m["coefficients"] or [1.0, *itertools.accumulate(((2 * j - 1) / (2 * j) for j in range(1, size)), lambda x, y: x * y)]
    if q > 1 and any(a < b or b < 0 for a, b in zip(c, c[1:])): return math.inf  # other leaves may be worse
    columns = [[0.0] * (j * apart) + c[:size - j * apart] for j in range(q)]
    return math.sqrt(math.fsum(sum(row) ** 2 for row in itertools.zip_longest(*columns, fillvalue=0.0)))
def given(rows, q, apart):  # any C: of the sums of |X_ij|, X = C^T C, over q leaves a bound, pairs counted at the later leaf with the one before it
    size, columns = len(rows), list(zip(*rows))
    x = lambda i, j: abs(sum(a * b for a, b in zip(columns[i], columns[j])))
    value = []  # of sets of at most k leaves that end with leaf i
    for i in range(size):
        value.append([0.0] + [x(i, i)] * q)
        more = [[0.0] * (q + 1)]  # the most that k leaves before l add with i
        for l in range(i - apart + 1):
            near = more[max(0, l + 1 - apart)]
            for k in range(2, q + 1): value[i][k] = max(value[i][k], value[l][k - 1] + x(i, i) + 2 * x(l, i) + 2 * near[k - 2])
            more.append([0.0] + [max(more[l][k], x(l, i) + near[k - 1]) for k in range(1, q + 1)])
    return math.sqrt(max(row[q] for row in value))
def spelled(a):  # what a release is made of: objective perturbation, and noise that hides how far the end is from the minimum
    t, made = a["mechanism"].get("perturbation"), lambda kind, **p: {"kind": kind, "neighbours": a["event"]["neighbours"], "parameters": p, "text": kind}
    if not t: return parts(a)
    hidden = 2 * (t["offset"] + math.sqrt(t["dim"]) * 2 ** -41 * t["sigma"] / t["strong_convexity"]) + math.sqrt(t["dim"]) * 2 ** -40 * t["sigma_out"]
    minimum = made("objective_perturbation", **{k: t[k] for k in ("sigma", "sensitivity", "jacobian", "dim")})
    return [(a["times"], minimum), (a["times"], made("gaussian", sigma=t["sigma_out"], sensitivity=hidden, draws=t["dim"]))]
def bent(f):  # the second derivative of a regulariser's f(w), and whether f has kinks: sums may have parts c |w|, c >= 0
    if isinstance(f, float): return 0.0, False
    if f[0] == "+": return ("+", bent(f[1])[0], bent(f[2])[0]), bent(f[1])[1] or bent(f[2])[1]
    if f == ("abs", "w") or f[0] == "*" and f[2] == ("abs", "w") and isinstance(f[1], float) and f[1] >= 0: return 0.0, True
    return derivative(derivative(f, "w"), "w") if "abs" not in str(f) else -math.inf, "abs" in str(f)
class Checker:
    def __init__(self, receipt):
        self.r, self.relation, self.said = receipt, receipt["neighbours"]["relation"], {True: [], False: [], None: []}
        self.c = {"replace_one": 2.0, "add_remove": 1.0, "zero_out": 1.0}.get(self.relation, math.inf)  # by how many records' parts sums differ
    def say(self, fine, text): self.said[fine].append(text) if text not in self.said[fine] else None
    def same(self, name, claim, right): self.say(claim == right, f"{name}: {claim}" + f" is not {right}" * (claim != right))
    def covers(self, name, claim, low, high=None, share=EXACT):  # `claim` has to bound what lies between low and high
        claim, low, high = real(claim), real(low), real(low if high is None else high)
        fine = True if claim >= high - share * min(abs(high), 1e300) else None if claim >= low - share * min(abs(low), 1e300) else False
        self.say(fine, f"{name}: {claim:.9g}" + {True: "", False: f" is less than {low:.12g}", None: f" is certified only from {high:.12g} on"}[fine])
    def loss(self, loss, b, rows):
        labels, low, high = loss["labels"], -real(b["margin"]["low"]), real(b["margin"]["high"])
        if loss["name"] == "softmax":  # the label has a probability of at least p, and the others have the rest
            p = 1 / (1 + (labels["classes"] - 1) * math.exp(2 * min(high, 300)))
            for norm, most in (("l1", 2), ("l2", math.sqrt(2)), ("linf", 1)): self.covers(f"{norm} slope of softmax", b["slope_norm"][norm], most * (1 - p * (high < math.inf)))
            return
        if not loss["formula"]: return self.say(b["source"] in ("clipped", "declared"), f"bounds of a loss without a formula: {b['source']}")
        f, ends = parse(loss["formula"]), tuple(real(labels["range"][k]) for k in ("low", "high"))
        names = sorted(set(re.findall(r"(?<![\w.])[A-Za-z]\w*\b(?![\w.(])", loss["formula"])) - {"y"})
        margins, extra = [x for x in names if re.fullmatch(r"z\d*", x)], [x for x in names if not re.fullmatch(r"z\d*", x)]
        box = {**dict.fromkeys(margins, (-low, high)), **dict.fromkeys(extra, (-math.inf, math.inf))}
        top = lambda g: map(max, zip(*(supremum(g, {**box, "y": y}) for y in ([(v, v) for v in labels["values"] or ()] or [ends]))))
        for norm, of in (("slope_norm", margins), ("extra_norm", extra)) if loss["margins"] > 1 or loss["extra"] else ():
            if real(claim := b[norm]["l2"]) < math.inf:
                self.covers(f"square of {norm}", real(claim) ** 2, *top(functools.reduce(lambda g, x: ("+", g, ("^", derivative(f, x), 2.0)), of, 0.0)))
        if loss["margins"] != 1 or loss["extra"]: return
        slope = derivative(f, "z")
        for name, g in (("slope", slope), ("curvature", derivative(slope, "z"))):
            for claim, side in ((real(b[name]["high"]), g), (-real(b[name]["low"]), ("neg", g))):
                if claim < math.inf: self.covers(f"{name}, {'low' if side != g else 'high'} end", claim, *top(side))
        self.covers("slope_norm", min(b["slope_norm"].values(), key=real), max(real(b["slope"]["high"]), -real(b["slope"]["low"])))
        self.covers("smoothness", b["smoothness"], rows["l2"] ** 2 * max(abs(real(v)) for v in b["curvature"].values()))
    def objective(self, o):
        b, rows, points = o["bounds"], {k: math.inf if v is None else real(v) for k, v in o["rows"].items()}, o["set"]
        if points and (ball := re.fullmatch(r"(l1|l2|linf)_ball\(dim=\d+, radius=([-\d.e+]+)\)", points["words"])):
            for p in (powers := {"l1": 1, "l2": 0.5, "linf": 0}):  # the words have six digits
                self.covers(f"{p} radius of the set", points["radius"][p], float(ball[2]) * (1 - 5e-6) * points["dim"] ** max(0, powers[p] - powers[ball[1]]))
        if o["loss"]["margins"]: self.covers("margin", min(-real(b["margin"]["low"]), real(b["margin"]["high"])), dual(points["radius"], rows) if points else math.inf)
        self.loss(o["loss"], b, rows)
        for p, wide in (("l1", math.sqrt(o["dim"])), ("l2", 1.0), ("linf", 1.0)):  # slopes times features, or a clip in l2
            slope, extra = (real(b[k][p]) for k in ("slope_norm", "extra_norm"))
            whole = {"l1": slope * rows[p] + extra, "l2": math.hypot(slope * rows[p], extra), "linf": max(slope * rows[p], extra)}[p] if rows[p] < math.inf else math.inf
            self.covers(f"{p} norm of the gradient of a record", b["gradient"][p], min(whole, wide * real(o["clip"] or math.inf)))
        text = re.search("sum of (.*) over the coordinates w", o["regulariser"] or "sum of 0 over the coordinates w")
        (curve, kinks), box = bent(parse(text[1])) if text else (0.0, True), {"w": (-math.inf, math.inf)}
        self.covers("strong convexity", -real(b["strong_convexity"]), *supremum(("neg", curve), box) if text else -math.inf)
        if not kinks: self.covers("smoothness of the regulariser", b["regulariser_smoothness"], *supremum(curve, box))
    def release(self, a, o, items, plan):
        s, m, event, n = a["sensitivity"], a["mechanism"], a["event"], (a["sensitivity"] or {}).get("numbers")
        name, of, stream = f"{a['question']} ({a['label']})", m.get("batches") or m.get("choice") or m, m.get("stream")
        if not s or not event: return self.say(None, f"{name}: where its sensitivity comes from")
        b, value, rule, records = o and o["bounds"], s["value"], s["rule"], o and o["records"]
        c = 1.0 if of.get("scheme") == "poisson" else self.c  # a coin decides about a record, whatever its values are
        low, high = (min(0.0, real(b["curvature"]["low"])), max(0.0, real(b["curvature"]["high"]))) if b else (0.0, 1.0)
        need = {"unit": lambda: 1, "range": lambda: (n["high"] - n["low"]) / 2, "difference": lambda: n["most"], "relative": lambda: 1,
                "score": lambda: dual(o["set"]["atom_radius"], b["gradient"]), "smoothness": lambda: b["smoothness"],
                "moments": lambda: moments(c, 1 + n["tau"] ** 2, n["kappa"] ** 2), "column": lambda: n["feature"] * n["column"],
                "hessian": lambda: max(-low, high) * o["rows"]["l2"] ** 2 if o["loss"]["margins"] == 1 else n["record"],
                "choices": lambda: min(math.sqrt(n["square_" + p]) * real(b["gradient"][q]) for p, q in (("l1", "linf"), ("l2", "l2"), ("linf", "l1"))),
                "smoothed": lambda: n["lipschitz"] * min({"orthogonal": math.sqrt(a["dim"])}.get(a["about"], a["dim"]), math.sqrt(a["dim"]) * (n["level"] or math.inf)),
                **dict.fromkeys(("gradient", "steps", "minimum"), lambda: b["gradient"]["l2"]), **dict.fromkeys(("slopes", "moment"), lambda: n["slope"] * n["row"])}[rule]()
        self.covers(f"{name}: contribution by the rule {rule}", s["contribution"], need)
        moved = {"hessian": min(c, max(high - low, math.sqrt(2) * max(-low, high)) / max(-low, high)), "smoothness": c if low < 0 else 1.0, "moments": 1.0, "relative": 1.0}
        self.covers(f"{name}: contributions", s["contributions"], moved.get(rule, c))
        several = {"values": a["dim"], "differences": a["dim"], "score": 1 + n.get("stay", 0) / n.get("parties", 1)}.get(a["question"], 1)
        self.covers(f"{name}: factor", s["factor"], reached(n) if rule == "steps" else math.sqrt(several))
        most = {"minimum": lambda: records * b["strong_convexity"], "steps": lambda: records // n["batches"]}.get(rule, lambda: records if stream else 0)()
        self.say(s["divisor"] in (1.0, of.get("batch") or records) or 1 <= s["divisor"] <= most * (1 + EXACT), f"{name}: divisor {s['divisor']:.9g}")
        exact = s["contributions"] * s["contribution"] * s["factor"] / s["divisor"]  # rounding: of the last operation, on both sides
        self.covers(f"{name}: rounding", s["rounding"], 2 * n.get("tolerance", 0.0) + (rule != "relative" and not m.get("perturbation")) * 2 ** -52 * exact / s["contributions"])
        self.covers(f"{name}: sensitivity", value, exact + s["rounding"], share=1e-15)
        self.say(a["times"] is None or event["kind"] == "compose" or any(event in (e, e["parameters"].get("event")) for _, e in items), f"{name}: its event is charged")
        p, lattice, l1 = event.get("parameters", {}).get("event", event).get("parameters", {}), of.get("lattice"), m["kind"] == "laplace"
        if rule == "steps":
            smooth = real(b["regulariser_smoothness"]) if o["regulariser"] else 0.0  # of one with kinks steps take the proximal operator
            self.covers(f"{name}: smoothness of steps", n["smoothness"], b["smoothness"] + (smooth if smooth < math.inf else 0.0))
            self.covers(f"{name}: strong convexity of steps", -n["convexity"] - n["prox_convexity"], -b["strong_convexity"])
            self.say(not n["prox_convexity" if smooth < math.inf else "convexity"], f"{name}: who uses the convexity")
            self.same(f"{name}: passes", n["passes"], plan["steps"])
        if stream or rule in ("steps", "minimum"): self.same(f"{name}: numbers", (a["dim"], (stream or m["lattice"]).get("dim", a["dim"])), (o["dim"], o["dim"]))
        if stream: return self.stream(name, stream, p, *self.leaves(name, a, n, value, records, plan))
        if m["kind"] == "choice": self.covers(f"{name}: sensitivity of scores", of["sensitivity"], value, share=1e-15)
        if t := m.get("perturbation"):
            self.covers(f"{name}: sensitivity of the gradients", t["sensitivity"], value, share=1e-15)
            self.covers(f"{name}: jacobian", t["jacobian"], math.log1p(b["smoothness"] / t["strong_convexity"]))
            if event["kind"] != "approximate":
                (_, one), (_, two), (_, first), (_, second) = parts(a) + spelled(a)
                self.same(f"{name}: its two parts", (one["parameters"], two["parameters"]["sigma"]), (first["parameters"], second["parameters"]["sigma"]))
                self.covers(f"{name}: what the second noise hides", two["parameters"]["sensitivity"], second["parameters"]["sensitivity"], share=1e-9)
        if m["kind"] == "batches":
            self.covers(f"{name}: contribution to a sum", c * of["contribution"], exact)
            kinds = {"fixed": ("fixed_sampled", "fixed_sampled_and_whole"), "poisson": ("poisson_sampled",)}.get(of["scheme"], ("gaussian",))
            self.say(event["kind"] in kinds and all({"n": records, **of}.get(k, v) == v for k, v in event["parameters"].items()), f"{name}: batch and rate of its event")
            value = c * of["contribution"] + 2 * math.sqrt(lattice["values"]) * of["error"]
        if m["kind"] == "search" and "sigma" in p: self.covers(f"{name}: sensitivity of its event", p["sensitivity"], value, share=1e-15)
        if not lattice: return
        root, unit = lattice["values"] ** (1 if l1 else 0.5), lattice["unit"]  # half a unit a number, and what x/unit rounds by, on both sides
        rounded = value * (root ** 0.5 if l1 else 1) + root * unit * (1 + min(real(lattice["bound"]) / unit, 2.0 ** 62) / 2 ** 52)
        self.covers(f"{name}: sensitivity on the lattice", p["sensitivity"], rounded, share=1e-15)
        self.covers(f"{name}: draws and numbers", min(p["draws"], lattice["values"]), a["dim"])
        self.same(f"{name}: scale and unit of the lattice", (lattice["scale"], unit), (p["scale" if l1 else "sigma"], lattice["scale"] / 2 ** 40))
    def leaves(self, name, a, n, value, records, plan):  # what a record moves the first leaf by, and others; and that it is in no more of them
        t, size = a["mechanism"]["stream"], a["sensitivity"]["divisor"]
        if a["sensitivity"]["rule"] == "smoothed":  # records are used once a pass
            self.covers(f"{name}: records", records, n["epochs"] * (size + (n["leaves"] - 1) * n["batch"]))
            self.same(f"{name}: leaves and rounds", (t["horizon"], n["epochs"] * n["leaves"] * a["times"]), (n["leaves"], plan["steps"]))
            return value, self.c * a["sensitivity"]["contribution"] * min(n["reach"], 2) / n["batch"] * (n["leaves"] > 1)
        between = int(records // size)  # leaves from one that a record is in to the next
        self.covers(f"{name}: participations", t["participations"], -(-max(t["horizon"], plan["steps"]) // between))
        self.say(t["participations"] == 1 or t["separation"] <= between, f"{name}: separation {t['separation']}")
        return value, value
    def stream(self, name, t, p, first=0.0, others=0.0):
        each, unit, late = t["sensitivities"] or [t["sensitivity"]], t["lattice"]["unit"], max(0, t["horizon"] - 1) * (t["factorization"] != "binary")
        for x, leaf in ((each[0], first), (min(each[1:] or each), others)): self.covers(f"{name}: sensitivity of a leaf", x, leaf, share=1e-15)
        self.covers(f"{name}: gain of the stream", t["gain"], gain(t))
        rounding = math.sqrt(t["dim"]) * unit * (t["gain"] * (1 + min(real(t["bound"] or math.inf) / unit, 2.0 ** 62) / 2 ** 52) + math.sqrt(late))
        for mu in (t["mu"], p["sensitivity"] / p["sigma"]):
            self.covers(f"{name}: mu of the stream", mu, (max(each) * t["gain"] + rounding * (1 - 1e-9)) / t["sigma"], share=2e-15)
        self.covers(f"{name}: draws", p["draws"], t["dim"])
        self.same(f"{name}: scale and unit of the lattice", (t["lattice"]["scale"], unit), (t["sigma"], t["sigma"] / 2 ** 40))
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
        at = lambda a: sum(n * p.curve(a) for n, p in priced) + math.log1p(-1 / a) - math.log(delta * a) / (a - 1)
        if accountant == "rdp" and real(order) < 300: return self.covers(f"{name}: epsilon at the Renyi order {order:.4g}", e, at(order), share=1e-6)
        declared = [a for _, x in items for a in x.get("parameters", {}).get("orders") or [x.get("parameters", {}).get("alpha", 2)]]  # where curves bend
        best = max(0.0, min(map(at, [1 + 2 ** lowest(lambda x: at(1 + 2 ** x), -3.0, 16.0, 19), *declared])))
        if e >= best * (1 - 1e-5) or not all(p.ways for _, p in priced): return self.covers(f"{name}: epsilon by Renyi orders", e, best, share=1e-5)
        for cells in (2048, 8192, 32768):  # each direction of neighbours by itself
            ways = [[(pair, n) for n, p in priced for pair in p.ways[d % len(p.ways)]] for d in range(max(len(p.ways) for _, p in priced))]
            if e >= (high := max(composed(way, delta, cells) for way in ways)) * (1 - PLD): break
        self.covers(f"{name}: epsilon by loss distributions", e, high, share=PLD)
    def charge(self, name, items, digest):  # what the texts of events and the digest say
        for _, e in items:
            own = [e] + [v for v in e["parameters"].values() if isinstance(v, dict)]
            known = {(k, float(v)) for i in own for k, v in i.get("parameters", {}).items() if isinstance(v, (int, float))}
            told = {(k, float(v)) for k, v in re.findall(r"(\w+)=(-?[\d.][-+\d.e]*)", e["text"])}
            listed = [v for i in own for k, v in i.get("parameters", {}).items() if isinstance(v, (str, list))]
            fine = told <= known and all(v in (0, 1) for _, v in known - told) and all(str(x).removesuffix(".0") in e["text"] for v in listed for x in ([v] if isinstance(v, str) else v))
            self.say(fine and all(i["neighbours"] == self.relation and i["kind"] + "(" in e["text"] for i in own), f"{name}: the parts of {e['text']}")
        self.same(f"{name}: digest", digest, hashlib.blake2b("".join(f"{n} {e['text']}\n" for n, e in items).encode(), digest_size=32).hexdigest())
        return items
    def fit(self, r):
        plan, run, held = r["plan"], r["run"], r["guarantee"]
        items, paid = (self.charge(k, parts(v["charge" if k == "plan" else k]), r["digests"][k]) for k, v in (("plan", plan), ("paid", run)))
        self.objective(r["objective"]) if r["objective"] else self.say(None, "the bounds of the loss: the receipt has no objective")
        made = [a for a in plan["releases"] if a["event"] and a["times"]]
        for a in plan["releases"]: self.release(a, r["objective"], [p for a in made for p in parts(a)] if plan["accountant"] == "pld" else items, plan)
        follows = len(made) < len(plan["releases"])  # how many there are follows what is released: the charge is a budget
        whole = plan["accountant"] == "pld"
        self.say(whole or not plan["whole"], "charged as a whole by loss distributions")
        if whole:
            self.price("whole run", [p for a in made for p in spelled(a)], {**plan["price"], "rho": None}, "pld")
            self.same("the charge of a whole run", [e["kind"] for _, e in items], ["approximate"])
        elif not follows: self.same("planned charges", counted(items), counted([p for a in made for p in parts(a)]))
        claims = [plan["price"], held["price"]] + [s["price"] for s in r["stops"] if s["charged"]] + [run["paid_price"]] * (paid == items)
        for claim in {str(c): c for c in claims}.values(): self.price("plan", items, claim, plan["accountant"], plan["order"])
        self.same("stops", [(s["charged"], s["from"], s["to"]) for s in r["stops"]], [(False, 0, 0), (True, 0, plan["steps"])])
        now, all_of = counted(paid), counted(items)
        self.say((follows or all(n <= all_of.get(k, 0) for k, n in now.items())) and run["steps"] <= plan["steps"], "paid: no more than planned")
        if run["stopped"] is None and run["steps"] == plan["steps"] and not follows:  # a step may leave a question out, but not all of them
            in_full = not all_of or any(now.get(k) == n for k, n in all_of.items())
            self.say(in_full, f"paid charges: one kind at least as planned, {now} of {all_of}")
        once = any(a["mechanism"]["kind"] in ("stream", "perturbation") or (a["sensitivity"] or {}).get("rule") in ("steps", "minimum") for a in made)
        rounds = lambda a: a["mechanism"].get("batches", {}).get("scheme") == "shuffled" and r["objective"]["records"] // a["mechanism"]["batches"]["batch"] or 1
        often = max([1] + [rounds(a) for a in plan["releases"]])
        made_of = [p for a in made for p in parts(a)] if whole else items
        for k, charges, steps in (("planned", made_of, plan["steps"]), ("paid", made_of if paid == items else paid, run["steps"])):  # each step asks something
            if k == "paid" or not follows: self.covers(f"{k}: charges for {steps} steps", sum(n for n, _ in charges) * often, bool(steps) if once else steps)
            for a in plan["releases"]:  # of parties each makes a choice, and uploads what it has not uploaded yet
                if (a["sensitivity"] or {}).get("rule") in ("relative", "column"):
                    each = steps * a["sensitivity"]["numbers"].get("parties", 1) if a["question"] != "feature" else min(steps, r["objective"]["dim"]) * (k == "planned")
                    self.covers(f"{k}: charges of {a['question']}", counted(charges).get(a["event"]["text"], 0), each)
        for claim in (run["paid_price"], held["price"]) if paid != items else (): self.price("paid", paid, claim)
        self.same("guarantee: holds", held["holds"], held["proven"] and plan["proven"] and r["noise"]["protects"])
    def stream_receipt(self, r):
        (_, event), = items = self.charge("plan", parts(r["charge"]), r["digests"]["plan"])
        self.stream("stream", r["stream"], event["parameters"])
        self.same("paid", self.charge("paid", parts(r["run"]["paid"]), r["digests"]["paid"]), items if r["run"]["leaves"] else [])
        self.same("stops", [(s["charged"], s["from"], s["to"]) for s in r["stops"]], [(False, 0, 0), (True, 1, r["stream"]["horizon"] or None)])
        for claim in [s["price"] for s in r["stops"] if s["charged"]]: self.price("stream", items, claim)
    def ledger(self, r):
        top, stop = r["ledger"], r["stops"][0]
        self.budget("", top, self.charge("charged", [p for e in top["entries"] for p in parts(e)], r["digests"]["charged"]))
        self.same("stop: price, charged", (stop["price"], stop["charged"]), ({k: top["budget"][k] if top["budget"]["unit"] != "divergence" else None for k in stop["price"]}, top["entries"] != []))
        self.same("teaching", top["budget"]["teaching"], r["noise"]["source"] == "simulated")
    def budget(self, name, l, items):
        b, priced = l["budget"], [(n, price(e)) for n, e in items]
        e, delta, add = real(b["epsilon"]), real(b["delta"]), lambda of: sum(n * of(p) for n, p in priced)
        plain = {"rho": lambda p: p.rho, "divergence": lambda p: p.curve(b["alpha"])}.get(b["unit"], (lambda p: p.e) if delta == 0 else None)
        if plain:
            for claim in (b["rho"] if b["unit"] == "rho" else e, l["spent"]): self.covers(f"{name}budget", claim, add(plain), share=1e-6)
        elif items:
            self.price(f"{name}spent", items, {"epsilon": l["spent"], "delta": delta, "rho": None})
            orders, first = [real(x["order"]) for x in l["orders"] or ()], max(2 * math.log(1 / delta) / e, 2 ** -20)
            if len(orders) > 1: self.say(all(abs(x / (1 + first * 2 ** (6 * i / 7 - 3)) - 1) < 1e-6 for i, x in enumerate(orders)), f"{name}orders of the filter")
            if b["filter"] == "gaussian": self.price(f"{name}budget", items, {"epsilon": e, "delta": delta, "rho": None}, "gaussian")
            elif orders: self.covers(f"{name}budget", e, min(add(lambda p: p.curve(a)) + math.log1p(-1 / a) - math.log(delta / len(orders) * a) / (a - 1) for a in orders), share=1e-6)
        for child in l["children"]:
            here = [p for x in child["entries"] for p in parts(x)]
            told = [(f"{child['name']}: {x['label']}", x["times"], x["event"]) for x in child["entries"]]
            mine = [(x["label"], x["times"], x["event"]) for x in l["entries"]]
            self.say(all(told.count(x) <= mine.count(x) for x in told), f"{name}the charges of {child['name']}")
            self.budget(f"{child['name']}: ", child, here)
    def check(self):
        r, said = self.r, [self.r[k] for k in ("format", "schema")] + [self.r["versions"]["library"], self.r["neighbours"]["contributions"]]
        self.same("format, schema, library, contributions", said, ["penumbra receipt", 1, "0.1.0", self.c])
        self.same("noise protects", r["noise"]["protects"], r["noise"]["source"] == "secure")
        {"fit": self.fit, "ledger": self.ledger, "stream": self.stream_receipt}[r["subject"]](r)
def main(path="(no file is named)"):
    try: checker = Checker(json.load(open(path, encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error: return print(f"not checked: {path} is no receipt: {error!r}") or 2
    try: checker.check()
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error: checker.say(None, f"the rest: {error!r}")
    for fine, word in ((False, "NOT VALID"), (None, "not checked"), (True, "valid")):
        for text in checker.said[fine]: print(f"{word}: {text}")
    return 1 if checker.said[False] else 2 if checker.said[None] else 0
if __name__ == "__main__": sys.exit(main(*sys.argv[1:2]))
