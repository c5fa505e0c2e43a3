"""newton_peer.py TRAIN TEST|- EPSILON[,EPSILON...] -- private Newton in vectorised numpy on LIBSVM files: gradient and Hessian of the mean
logistic loss, both with Gaussian noise, at each of 5 steps; eigenvalues of the Hessian raised above its noise.  TEST -: one record in five is
held out.  One line an epsilon: it, seconds and seconds of processors (the least of three runs), held-out accuracy (mean of the three).
Rows are in the unit l2 ball, delta = 1/n^2, sensitivities of replacing a record.  Loading is not counted.
Depends on: numpy, scipy, covertype_peer's way of reading.  Used by: newton_bench.lua, which runs it beside its own measurements."""
import gzip
import sys
import time

import numpy
from scipy.optimize import brentq
from scipy.stats import norm

STEPS, HESSIAN_SHARE, DAMPING = 5, 0.25, 0.6

# covtype.info: mean and standard deviation of the ten numeric columns
MEAN = numpy.array([2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29])
DEVIATION = numpy.array([279.98, 111.91, 7.49, 212.55, 58.30, 1559.25, 26.77, 19.77, 38.27, 1324.19])


def load(path, columns):
    with gzip.open(path) as file:
        text = file.read()
    data = numpy.frombuffer(text, dtype=numpy.uint8)
    ends = numpy.flatnonzero(data == ord("\n"))
    colons = numpy.cumsum(data == ord(":"), dtype=numpy.int64)[ends]
    counts = numpy.diff(colons, prepend=0)
    numbers = numpy.array(text.replace(b":", b" ").split(), dtype=numpy.float64)
    starts = numpy.cumsum(2 * counts + 1) - (2 * counts + 1)
    labels = numbers[starts]
    pairs = numpy.delete(numbers, starts).reshape(-1, 2)
    at = pairs[:, 0].astype(numpy.int64) - 1
    X = numpy.zeros((len(ends), columns or at.max() + 1))
    X[numpy.repeat(numpy.arange(len(ends)), counts), at] = pairs[:, 1]
    return X, numpy.where(labels == labels.min(), -1.0, 1.0)


def unit_rows(X):
    if X.shape[1] == 54:
        X[:, :10] = numpy.clip((X[:, :10] - MEAN) / DEVIATION, -4.0, 4.0)
        X /= 4.0
    return X / numpy.maximum(numpy.linalg.norm(X, axis=1), 1.0)[:, None]


def mu_of(epsilon, delta):
    def excess(mu):
        return (norm.cdf(mu / 2 - epsilon / mu)
                - numpy.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)) - delta)
    return brentq(excess, 1e-6, 50.0, xtol=1e-14)


def run(X, y, epsilon, rng):
    n, d = X.shape
    mu = mu_of(epsilon, 1.0 / n**2) / numpy.sqrt(STEPS)
    sigma_g = 2.0 / n / (mu * numpy.sqrt(1.0 - HESSIAN_SHARE))
    sigma_h = numpy.sqrt(2.0) / 4.0 / n / (mu * numpy.sqrt(HESSIAN_SHARE))
    least = DAMPING * sigma_h * 2.0 * numpy.sqrt(d)
    w = numpy.zeros(d)
    for _ in range(STEPS):
        s = 1.0 / (1.0 + numpy.exp(y * (X @ w)))
        g = -((y * s) @ X) / n + rng.normal(0.0, sigma_g, d)
        noise = numpy.triu(rng.normal(0.0, sigma_h, (d, d)))
        H = X.T @ ((s * (1.0 - s))[:, None] * X) / n + noise + numpy.triu(noise, 1).T
        values, vectors = numpy.linalg.eigh(H)
        w -= vectors @ ((vectors.T @ g) / numpy.maximum(values, least))
    return w


def main():
    if sys.argv[2] == "-":
        X, y = load(sys.argv[1], None)
        order = numpy.random.default_rng(0).permutation(len(y))
        cut = int(0.8 * len(y))
        train, held = order[:cut], order[cut:]
        X = unit_rows(X)
        X, y, Xt, yt = X[train], y[train], X[held], y[held]
    else:
        X, y = load(sys.argv[1], None)
        Xt, yt = load(sys.argv[2], X.shape[1])
        X, Xt = unit_rows(X), unit_rows(Xt)
    for epsilon in sys.argv[3].split(","):
        clock, busy, right = [], [], []
        for seed in range(3):
            begun, worked = time.perf_counter(), time.process_time()
            w = run(X, y, float(epsilon), numpy.random.default_rng(seed))
            clock.append(time.perf_counter() - begun)
            busy.append(time.process_time() - worked)
            right.append(numpy.mean((Xt @ w > 0) == (yt > 0)))
        print(epsilon, min(clock), min(busy), numpy.mean(right), flush=True)


main()
