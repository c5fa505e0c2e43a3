# score.py -- scores a CSV file by a model that fit:export("model.json") wrote, with nothing of penumbra: its JSON is enough.
# Usage: python3 score.py MODEL.json FILE.csv     prints what the model says of each record, and probabilities of classes
import csv, datetime, json, sys
import numpy as np

model, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8-sig")))
recipe, days = model["recipe"], lambda text: (datetime.date.fromisoformat(text[:10]) - datetime.date(1970, 1, 1)).days
columns, flags = {c["name"]: c for c in recipe["features"]}, ("true", "t", "yes", "y", "on", "1")

def feature(f, row):
    if f["kind"] == "intercept": return f["scale"]
    column, text = columns[f["column"]], row[f["column"]].strip()
    values = column["values"]
    hole = text in recipe["na"] and not (f["kind"] != "number" and text in values)
    if hole and column["missing"] == "refuse": sys.exit(f"a hole in column {column['name']}")
    if f["kind"] == "missing" or (hole and column["missing"] == "indicator"): return f["scale"] * (hole and f["kind"] == "missing")
    x = column["missing"] if hole else text
    if f["kind"] == "category": return f["scale"] * (x == f["category"] if f["category"] is not None else x not in values)
    x = float(x) if f["kind"] == "number" else days(x) if f["kind"] == "date" else float(str(x).lower() in flags)
    low, high = map(days, (column["from"], column["to"])) if f["kind"] == "date" else values if f["kind"] == "number" else (0, 1)
    return (min(max(x, low), high) - f["offset"]) * f["scale"]

X, clip = np.array([[feature(f, row) for f in model["features"]] for row in rows]), model["rows"]["clip"]
if clip is not None:  # the features of a row, without the intercept, are scaled down to this norm
    own = X[:, :-1] if recipe["intercept"] else X
    own *= np.minimum(1, clip / np.maximum(np.linalg.norm(own, {"l1": 1, "l2": 2, "linf": np.inf}[recipe["norm"]], axis=1), 1e-300))[:, None]
Z = X @ np.reshape(model["theta"][: model["margins"] * X.shape[1]], (model["margins"], -1)).T
label, link = recipe["label"] or {}, model["link"]
if link == "softmax":
    P = np.exp(Z - Z.max(1, keepdims=True))
    answer = [(label["values"][k], *p) for k, p in zip(Z.argmax(1), P / P.sum(1, keepdims=True))]
elif "positive" in label:
    other = next(v for v in label["values"] if v != label["positive"])
    answer = [(label["positive"] if z > 0 else other, *([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))] if link == "logistic" else [])) for z in Z[:, 0]]
else:
    low, high = label.get("values", (-1, 1))  # a count has no range: t is the answer
    answer = [(low + (high - low) * ((np.exp(z) if link == "exp" else z) + 1) / 2,) for z in Z[:, 0]]
for record in answer: print(*record, sep=",")
