"""dp_sgd_peer.py TRAIN.npy LABELS.npy TEST.npy TESTLABELS.npy LOSS SIGMA BATCH EPOCHS RATE SEED[,SEED...] [CLASSES] -- DP-SGD as one would
write it in numpy, untuned: each record falls into a batch by a coin of rate BATCH/n, the sum of the batch's gradients, each scaled down to
norm 1, plus Gaussian noise of deviation SIGMA a coordinate, is divided by BATCH and stepped along with RATE; the answer is the mean of the
points of the last half.  SIGMA comes from whoever calls, calibrated to the sampling; for fixed-size batches give a BATCH that begins with
"=": of exactly that many.  LOSS: logistic, hinge, squared, huber (of width 1), poisson, softmax (labels 1 .. CLASSES, CLASSES given).
One line a seed: it, mean loss on TRAIN, mean loss and accuracy on TEST (accuracy of classes; nan for other losses), seconds.
Depends on: numpy.  Used by: benches, which run it beside solve.sgd at the same epsilon and delta."""
import sys
import time

import numpy


def slopes_and_losses(name, Z, y):
    """dl/dz [m, K] and the losses [m] at margins Z [m, K]."""
    z = Z[:, 0]
    if name == "logistic":
        return (-y / (1.0 + numpy.exp(numpy.minimum(y * z, 700.0))))[:, None], numpy.logaddexp(0.0, -y * z)
    if name == "hinge":
        return numpy.where(y * z < 1.0, -y, 0.0)[:, None], numpy.maximum(1.0 - y * z, 0.0)
    if name == "squared":
        return (z - y)[:, None], (z - y) ** 2 / 2.0
    if name == "huber":
        r = numpy.abs(z - y)
        return numpy.clip(z - y, -1.0, 1.0)[:, None], numpy.where(r < 1.0, r * r / 2.0, r - 0.5)
    if name == "poisson":
        e = numpy.exp(numpy.minimum(z, 50.0))
        return (e - y)[:, None], e - y * z
    shifted = Z - Z.max(axis=1, keepdims=True)
    e = numpy.exp(shifted)
    share = e / e.sum(axis=1, keepdims=True)
    own = (numpy.arange(len(y)), y.astype(int) - 1)
    loss = numpy.log(e.sum(axis=1)) - shifted[own]
    share[own] -= 1.0
    return share, loss


def train(name, X, y, norms, sigma, batch, fixed, steps, rate, classes, rng):
    n, p = X.shape
    w, total = numpy.zeros((classes, p)), numpy.zeros((classes, p))
    for t in range(steps):
        rows = rng.choice(n, batch, replace=False) if fixed else numpy.flatnonzero(rng.random(n) < batch / n)
        slope, _ = slopes_and_losses(name, X[rows] @ w.T, y[rows])
        size = numpy.linalg.norm(slope, axis=1) * norms[rows]
        slope /= numpy.maximum(size, 1.0)[:, None]
        w = w - rate * (slope.T @ X[rows] + rng.normal(0.0, sigma, w.shape)) / batch
        if t >= steps // 2:
            total += w
    return total / (steps - steps // 2)


def accuracy(name, Z, y):
    if name in ("logistic", "hinge"):
        return numpy.mean((Z[:, 0] > 0.0) == (y > 0.0))
    return numpy.mean(Z.argmax(axis=1) + 1 == y) if name == "softmax" else numpy.nan


def main():
    X, y, Xt, yt = (numpy.load(path).astype(float) for path in sys.argv[1:5])
    name, sigma, batch = sys.argv[5], float(sys.argv[6]), int(sys.argv[7].lstrip("="))
    epochs, rate = float(sys.argv[8]), float(sys.argv[9])
    classes = int(sys.argv[11]) if name == "softmax" else 1
    norms, steps = numpy.linalg.norm(X, axis=1), int(numpy.ceil(epochs * len(y) / batch))
    for seed in sys.argv[10].split(","):
        begun = time.perf_counter()
        w = train(name, X, y, norms, sigma, batch, sys.argv[7][0] == "=", steps, rate, classes,
                  numpy.random.default_rng(int(seed)))
        seconds = time.perf_counter() - begun
        Z, Zt = X @ w.T, Xt @ w.T
        print(seed, slopes_and_losses(name, Z, y)[1].mean(), slopes_and_losses(name, Zt, yt)[1].mean(),
              accuracy(name, Zt, yt), "%.3f" % seconds, flush=True)


main()
