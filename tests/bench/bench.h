/* bench.h -- timing for benchmarks: best and median of repeated runs, one line a ratio.  Header only. */
#ifndef PN_BENCH_H
#define PN_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void (*bench_fn)(void *self);

static inline double bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Two alternatives in turn, so that a change of the machine's speed hits both; medians of `runs` (at most 101). */
static inline void bench_pair(bench_fn a, void *a_self, bench_fn b, void *b_self, int runs, double *a_seconds,
                              double *b_seconds, double *ratio)
{
    double ta[101], tb[101], tr[101];

    a(a_self);
    b(b_self);
    for (int i = 0; i < runs; i++) {
        double t0 = bench_now(), t1;

        a(a_self);
        t1 = bench_now();
        b(b_self);
        ta[i] = t1 - t0;
        tb[i] = bench_now() - t1;
        tr[i] = ta[i] / tb[i];
    }
    qsort(ta, (size_t)runs, sizeof *ta, bench_compare);
    qsort(tb, (size_t)runs, sizeof *tb, bench_compare);
    qsort(tr, (size_t)runs, sizeof *tr, bench_compare);
    *a_seconds = ta[runs / 2];
    *b_seconds = tb[runs / 2];
    *ratio = tr[runs / 2];
}

/* "name   a ms / b ms = ratio (limit)  OVER"; whether it is over a limit above 0. */
static inline int bench_print(const char *name, double a_seconds, double b_seconds, double ratio, double limit)
{
    printf("%-46s %9.3f ms / %9.3f ms = %6.3f", name, 1e3 * a_seconds, 1e3 * b_seconds, ratio);
    if (limit > 0.0)
        printf("  (limit %.2f)%s", limit, ratio <= limit ? "" : "  OVER");
    printf("\n");
    fflush(stdout);
    return limit > 0.0 && ratio > limit;
}

static inline int bench_line(const char *name, bench_fn a, void *a_self, bench_fn b, void *b_self, int runs,
                             double limit)
{
    double ta, tb, ratio;

    bench_pair(a, a_self, b, b_self, runs, &ta, &tb, &ratio);
    return bench_print(name, ta, tb, ratio, limit);
}

/* As bench_line with a limit in seconds for the first. */
static inline int bench_line_seconds(const char *name, bench_fn a, void *a_self, bench_fn b, void *b_self, int runs,
                                     double limit)
{
    double ta, tb, ratio;

    bench_pair(a, a_self, b, b_self, runs, &ta, &tb, &ratio);
    printf("%-46s %9.3f ms / %9.3f ms = %6.3f  (limit %.0f ms)%s\n", name, 1e3 * ta, 1e3 * tb, ratio, 1e3 * limit,
           ta <= limit ? "" : "  OVER");
    fflush(stdout);
    return ta > limit;
}

/* Seconds of this process on any processor: for work of one thread, what others do on the machine counts less. */
static inline double bench_busy(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_least(bench_fn fn, void *self, double least)
{
    double begun = bench_busy(), seconds;

    fn(self);
    seconds = bench_busy() - begun;
    return seconds < least ? seconds : least;
}

/* As bench_line, of the least processor times of `runs` alternating runs: for work of one thread. */
static inline int bench_line_busy(const char *name, bench_fn a, void *a_self, bench_fn b, void *b_self, int runs,
                                  double limit)
{
    double ta = 1e300, tb = 1e300;

    for (int i = 0; i <= runs; i++) {
        ta = bench_least(a, a_self, ta);
        tb = bench_least(b, b_self, tb);
    }
    return bench_print(name, ta, tb, ta / tb, limit);
}

#endif
