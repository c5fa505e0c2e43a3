"""covertype_peer.py FILE EPOCHS -- seconds that numpy takes for private logistic regression by stochastic gradients on a LIBSVM file:
batches of 1,000, every record's gradient clipped to norm 1, Gaussian noise.  One line a variant: its name, seconds, and seconds of processors.
    choice       a fresh batch by Generator.choice without replacement; gradients of single records as a matrix, clipped, summed
    permutation  the same, batches by cutting a permutation of the records, one an epoch
    factored     as choice, but with the norms of the rows known beforehand, so that clipping scales slopes: the least work
Doubles in rows that follow one another.  Loading is not counted.
Depends on: numpy.  Used by: covertype_bench.lua, which runs it beside its own measurements."""
import gzip
import sys
import time

import numpy

BATCH, SIGMA, STEP = 1000, 2.0, 1.0


def load(path):
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
    columns = pairs[:, 0].astype(numpy.int64) - 1
    X = numpy.zeros((len(ends), columns.max() + 1))
    X[numpy.repeat(numpy.arange(len(ends)), counts), columns] = pairs[:, 1]
    return X, numpy.where(labels == labels.min(), -1.0, 1.0)


def clipped_sum(X, y, w):
    slope = -y / (1.0 + numpy.exp(y * (X @ w)))
    gradients = slope[:, None] * X
    norms = numpy.linalg.norm(gradients, axis=1)
    gradients *= numpy.minimum(1.0, 1.0 / numpy.maximum(norms, 1e-12))[:, None]
    return gradients.sum(axis=0)


def factored_sum(X, y, w, norms):
    slope = -y / (1.0 + numpy.exp(y * (X @ w)))
    slope *= numpy.minimum(1.0, 1.0 / numpy.maximum(numpy.abs(slope) * norms, 1e-12))
    return slope @ X


def run(X, y, epochs, variant):
    n, p = X.shape
    rng = numpy.random.default_rng(1)
    w, average = numpy.zeros(p), numpy.zeros(p)
    norms = numpy.linalg.norm(X, axis=1)
    begun, busy = time.perf_counter(), time.process_time()
    steps = epochs * n // BATCH
    for t in range(steps):
        if variant == "permutation":
            at = t % (n // BATCH)
            if at == 0:
                order = rng.permutation(n)
            rows = order[at * BATCH:(at + 1) * BATCH]
        else:
            rows = rng.choice(n, BATCH, replace=False)
        if variant == "factored":
            g = factored_sum(X[rows], y[rows], w, norms[rows])
        else:
            g = clipped_sum(X[rows], y[rows], w)
        w -= STEP / BATCH * (g + rng.normal(0.0, SIGMA, p))
        average += (w - average) / (t + 1)
    return time.perf_counter() - begun, time.process_time() - busy


def main():
    X, y = load(sys.argv[1])
    X /= numpy.maximum(numpy.linalg.norm(X, axis=1), 1.0)[:, None]
    epochs = int(sys.argv[2])
    for variant in ("choice", "permutation", "factored"):
        print(variant, *run(X, y, epochs, variant), flush=True)


main()
