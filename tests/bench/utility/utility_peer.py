"""utility_peer.py -- published private learners in numpy, for utility_bench.lua and front_door_bench.lua.

  python3 utility_peer.py ROWS LABELS LOSS RUNS EPSILON DELTA RHO SIGMA RELATION [LAPLACE TEST_ROWS TEST_LABELS]

ROWS is an .npy matrix [n, p] with rows of norm 1 at most, or LIBSVM text, whose rows are scaled down to it; LABELS an .npy
vector [n].  RHO is the zCDP budget that (EPSILON, DELTA) pays for by the exact Gaussian curve, SIGMA the noise of dp_sgd by
the accountant of the library, LAPLACE the epsilon that `functional` may be told: no peer loses by its accounting.  Prints a
line for each peer: its name, seconds of a run, and RUNS values of the mean loss, of the test records where they are given.

  dp_sgd        batches of 0.02 n, 20 epochs, rate 4, mean of the last half; not tuned to the data; any loss
  chaudhuri     objective perturbation, pure epsilon (Chaudhuri, Monteleoni, Sarwate 2011), lambda = 1/n as in diffprivlib
  amp           approximate minima perturbation (Iyengar et al. 2019), with nine tenths of epsilon on the objective
  noisy_newton  double-noise Newton (Ganesh et al. 2023): gradient and Hessian released in each of 5 steps
  adassp        linear regression by sufficient statistics with an adaptive ridge (Wang 2018); squared loss
  diffprivlib   its LogisticRegression at its defaults: objective perturbation, pure epsilon, neighbours that replace a record
  functional    its LinearRegression at its defaults: every moment with Laplace noise (Zhang et al. 2012), the same neighbours
The last two need diffprivlib (0.6.3 fits scikit-learn 1.2), whose folder $DIFFPRIVLIB names, and LAPLACE.  They fit no intercept,
since the rows have a constant; features are those of a recipe, of 1/sqrt(p) at most.
"""
import gzip
import math
import os
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize


def read_rows(path):
    if path.endswith(".npy"):
        return np.load(path)
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    start, columns, values = [0], [], []
    with opened:
        for line in opened:
            for word in line.split()[1:]:
                column, value = word.split(":")
                columns.append(int(column) - 1)
                values.append(float(value))
            start.append(len(values))
    rows = sp.csr_matrix((values, columns, start))
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sp.diags(1 / np.maximum(norms, 1)) @ rows


class Problem:
    def __init__(self, rows, labels, loss):
        self.rows, self.labels, self.loss = rows, labels, loss
        self.n, self.p = rows.shape

    def value(self, theta):
        margins, labels = self.rows @ theta, self.labels
        if self.loss in ("squared", "squared_ball"):
            return np.mean((margins - labels) ** 2) / 2
        if self.loss == "huber":  # of width 1/2
            far = np.abs(margins - labels)
            return np.mean(np.where(far <= 0.5, far ** 2 / 2, far / 2 - 0.125))
        if self.loss == "hinge":
            return np.mean(np.maximum(1 - labels * margins, 0))
        if self.loss == "poisson":
            return np.mean(np.exp(np.minimum(margins, 50)) - labels * margins)
        return np.mean(np.logaddexp(0, -labels * margins))

    def slopes(self, margins, labels):
        if self.loss in ("squared", "squared_ball"):
            return margins - labels
        if self.loss == "huber":
            return np.clip(margins - labels, -0.5, 0.5)
        if self.loss == "hinge":
            return np.where(labels * margins < 1, -labels, 0.0)
        if self.loss == "poisson":
            return np.exp(np.minimum(margins, 50)) - labels
        return -labels / (1 + np.exp(np.minimum(labels * margins, 700)))

    def gradient(self, theta):
        return self.rows.T @ self.slopes(self.rows @ theta, self.labels) / self.n

    def hessian(self, theta):
        margins = self.rows @ theta
        weights = 1 / (2 + np.exp(-np.abs(margins)) + np.exp(np.abs(margins))) if self.loss == "logistic" else np.ones(self.n)
        return (self.rows.T * weights) @ self.rows / self.n

    def minimise(self, ridge, linear):
        """argmin of the mean loss + ridge/2 |theta|^2 + <linear, theta>."""
        def both(theta):
            return (self.value(theta) + ridge / 2 * theta @ theta + linear @ theta,
                    self.gradient(theta) + ridge * theta + linear)
        return minimize(both, np.zeros(self.p), jac=True, method="L-BFGS-B",
                        options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9}).x


def batch_of(at, rng, budget, size):
    """Records of a step: fixed in number where one is replaced, each by its own coin where one is made null."""
    if budget["relation"] == "replace_one":
        return rng.choice(at.n, size, replace=False)
    return np.flatnonzero(rng.random(at.n) < size / at.n)


def dp_sgd(at, rng, budget, epochs=20, rate=4.0):
    size = max(1, int(0.02 * at.n))
    steps, sigma = int(epochs * at.n / size), budget["sigma"]
    theta, total, counted = np.zeros(at.p), np.zeros(at.p), 0
    for step in range(steps):
        batch = batch_of(at, rng, budget, size)
        rows, labels = at.rows[batch], at.labels[batch]
        slopes = np.clip(at.slopes(rows @ theta, labels), -1, 1)  # of rows of norm 1 at most: that clips gradients
        theta = theta - rate * (rows.T @ slopes + sigma * rng.standard_normal(at.p)) / size
        if 2 * step >= steps:
            total, counted = total + theta, counted + 1
    return total / counted


def chaudhuri(at, rng, budget):
    c, ridge, epsilon = 0.25, 1 / at.n, budget["epsilon"]
    left = epsilon - math.log(1 + 2 * c / (at.n * ridge) + (c / (at.n * ridge)) ** 2)
    extra = 0.0
    if left <= 0:
        extra, left = max(c / (at.n * (math.exp(epsilon / 4) - 1)) - ridge, 0.0), epsilon / 2
    direction = rng.standard_normal(at.p)
    noise = direction / np.linalg.norm(direction) * rng.gamma(at.p, 2 / left)
    return at.minimise(ridge + extra, noise / at.n)


def amp(at, rng, budget):
    epsilon, delta = budget["epsilon"], budget["delta"]
    out, out_delta = 0.01 * epsilon, 0.01 * delta
    first, first_delta = epsilon - out, delta - out_delta
    noise = 0.9 * first
    ridge, gamma = 2 * 0.25 / (first - noise), 1 / at.n ** 2
    s1 = 2 * (1 + math.sqrt(2 * math.log(1 / first_delta))) / noise
    s2 = at.n * gamma / ridge * (1 + math.sqrt(2 * math.log(1 / out_delta))) / out
    theta = at.minimise(ridge / at.n, s1 * rng.standard_normal(at.p) / at.n)
    return theta + s2 * rng.standard_normal(at.p)


def noisy_newton(at, rng, budget, steps=5):
    moved = 2 if budget["relation"] == "replace_one" else 1
    each = budget["rho"] / (2 * steps)
    gradient_noise = moved / at.n / math.sqrt(2 * each)
    hessian_noise = math.sqrt(moved) / 4 / at.n / math.sqrt(2 * each)
    least = max(hessian_noise * math.sqrt(at.p), 1e-6)
    theta = np.zeros(at.p)
    for _ in range(steps):
        noise = np.triu(rng.standard_normal((at.p, at.p)))
        hessian = at.hessian(theta) + hessian_noise * (noise + np.triu(noise, 1).T)
        values, vectors = np.linalg.eigh(hessian)
        gradient = at.gradient(theta) + gradient_noise * rng.standard_normal(at.p)
        theta = theta - vectors @ ((vectors.T @ gradient) / np.maximum(values, least))
    return theta


def adassp(at, rng, budget):
    """A third of the zCDP budget each for the least eigenvalue, the Gram matrix and the products."""
    p, replaced = at.p, budget["relation"] == "replace_one"
    unit = 1 / math.sqrt(2 * budget["rho"] / 3)  # the deviation of one of the three at sensitivity 1
    gram_noise, product_noise = unit * math.sqrt(2 if replaced else 1), unit * (2 if replaced else 1)
    gram, product = at.rows.T @ at.rows, at.rows.T @ at.labels
    gram = gram.toarray() if sp.issparse(gram) else gram
    lowest = np.linalg.eigvalsh(gram)[0] + unit * (rng.standard_normal() - math.sqrt(math.log(6 / budget["delta"])))
    ridge = max(0.0, gram_noise * math.sqrt(p * math.log(2 * p ** 2 / 0.05)) - max(lowest, 0.0))
    noise = np.triu(rng.standard_normal((p, p)))
    gram = gram + gram_noise * (noise + np.triu(noise, 1).T)
    return np.linalg.solve(gram + ridge * np.eye(p), product + product_noise * rng.standard_normal(p))


def diffprivlib(at, rng, budget):
    from diffprivlib.models import LogisticRegression
    model = LogisticRegression(epsilon=budget["epsilon"], data_norm=1.0, fit_intercept=False,
                               random_state=int(rng.integers(2 ** 31)))
    return model.fit(at.rows, at.labels).coef_.ravel()


def functional(at, rng, budget):
    from diffprivlib.models import LinearRegression
    model = LinearRegression(epsilon=budget["laplace"], bounds_X=(-budget["widest"], budget["widest"]), bounds_y=(-1, 1),
                             fit_intercept=False, random_state=int(rng.integers(2 ** 31)))
    return model.fit(at.rows, at.labels).coef_.ravel()


PEERS = {"logistic": [dp_sgd, chaudhuri, amp, noisy_newton], "squared": [dp_sgd, adassp]}  # of other losses: dp_sgd


OF_DIFFPRIVLIB = {"logistic": [diffprivlib], "squared": [functional]}


def peers_of(loss, more):
    peers = PEERS.get(loss, [dp_sgd])
    if os.environ.get("DIFFPRIVLIB") and more:
        sys.path.insert(0, os.environ["DIFFPRIVLIB"])
        warnings.filterwarnings("ignore")  # that L-BFGS stopped early, and old names
        peers = peers + OF_DIFFPRIVLIB.get(loss, [])
    return peers


def main():
    rows, labels, loss, runs, epsilon, delta, rho, sigma, relation, *more = sys.argv[1:]
    at = Problem(read_rows(rows), np.load(labels).ravel(), loss)
    test = Problem(read_rows(more[1]), np.load(more[2]).ravel(), loss) if more else at
    budget = {"epsilon": float(epsilon), "delta": float(delta), "rho": float(rho), "sigma": float(sigma),
              "relation": relation, "laplace": float(more[0]) if more else None, "widest": 1 / math.sqrt(at.p)}
    for peer in peers_of(loss, more):
        if peer in (noisy_newton, adassp) and at.p > 2000:
            continue  # a matrix of p^2 numbers
        begun, values = time.time(), []
        for run in range(int(runs)):
            values.append(test.value(peer(at, np.random.default_rng(run + 1), budget)))
        print(peer.__name__, (time.time() - begun) / int(runs), *values)


if __name__ == "__main__":
    main()
