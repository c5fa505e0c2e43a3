"""noise_peer.py -- nanoseconds of processor time per number of numpy's standard normals, into a buffer that stays in the
cache; one line.
Depends on: numpy.  Used by: noise_bench.c, which runs it between its own measurements."""
import time

import numpy

generator = numpy.random.Generator(numpy.random.PCG64(1))
buffer = numpy.empty(8192)
best = float("inf")
for _ in range(5):
    start = time.process_time()
    for _ in range(200):
        generator.standard_normal(out=buffer)
    best = min(best, time.process_time() - start)
print(best / 200 / buffer.size * 1e9)
