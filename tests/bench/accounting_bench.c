/* accounting_bench.c -- what a question to an accountant takes: every case of the specification, milliseconds and
 * interval.  Limits: 50 ms for a certified interval, 1 ms for a Renyi epsilon, 2 s for a calibration by certified
 * intervals; a miss prints OVER and fails.  Depends on: bench.h, privacy/. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "privacy/accounting/accountant.h"

#define RUNS 5

typedef struct question {
    const char *name, *accountant;
    pn_event *event;
    size_t count;
    double delta, limit; /* limit in ms */
} question;

static double median_of(double *times)
{
    qsort(times, RUNS, sizeof *times, bench_compare);
    return times[RUNS / 2];
}

/* A new accountant each time: answers are kept. */
static int ask(const question *q)
{
    double times[RUNS], low = NAN, high = NAN, median;

    for (int i = 0; i < RUNS; i++) {
        pn_accountant *accountant = NULL;
        pn_arg args[4] = { 0 };
        double start = bench_now();

        if (!q->event || pn_accountant_from_args(&accountant, q->accountant, args, NULL) != PN_OK ||
            pn_accountant_add(accountant, q->event, q->count, NULL) != PN_OK)
            return 1;
        if (accountant->ops->interval)
            (void)accountant->ops->interval(accountant, q->delta, &low, &high, NULL);
        else
            (void)accountant->ops->epsilon(accountant, q->delta, &high, NULL, NULL);
        times[i] = 1e3 * (bench_now() - start);
        pn_accountant_free(accountant);
    }
    median = median_of(times);
    printf("%-44s %9.3f ms (limit %g)%s  [%.6f, %.6f]\n", q->name, median, q->limit, median <= q->limit ? "" : "  OVER",
           low, high);
    fflush(stdout);
    return !(median <= q->limit);
}

static pn_event *gaussian(double sigma, pn_neighbours neighbours)
{
    pn_event *event = NULL;

    (void)pn_event_gaussian(&event, sigma, 1.0, 0, neighbours, NULL);
    return event;
}

static pn_event *poisson(double q, double z, pn_neighbours neighbours)
{
    pn_event *inner = gaussian(z, neighbours), *event = NULL;

    (void)pn_event_poisson_sampled(&event, q, inner, neighbours, NULL);
    pn_event_free(inner);
    return event;
}

static pn_event *fixed(size_t batch, size_t n, double z)
{
    pn_event *inner = gaussian(z, PN_REPLACE_ONE), *event = NULL;

    (void)pn_event_fixed_sampled(&event, batch, n, inner, PN_REPLACE_ONE, NULL);
    pn_event_free(inner);
    return event;
}

static pn_event *pure(double epsilon)
{
    pn_event *event = NULL;

    (void)pn_event_from_args(&event, "pure", (pn_arg[]){ { .given = true, .real = epsilon }, { 0 } }, PN_REPLACE_ONE,
                             NULL);
    return event;
}

static pn_event *laplace(double scale)
{
    pn_event *event = NULL;

    (void)pn_event_laplace(&event, scale, 1.0, 0, PN_REPLACE_ONE, NULL);
    return event;
}

static pn_event *exponential(double epsilon)
{
    pn_event *event = NULL;

    (void)pn_event_exponential(&event, epsilon, PN_REPLACE_ONE, NULL);
    return event;
}

/* The smallest z with epsilon <= 2 after 10000 steps, by twenty certified intervals. */
static int calibrate(void)
{
    double low = 0.5, high = 8.0, start = bench_now(), seconds;

    for (int i = 0; i < 20; i++) {
        double z = sqrt(low * high), from, to;
        pn_event *event = poisson(0.01, z, PN_ADD_REMOVE);
        pn_accountant *accountant = NULL;
        pn_arg args[4] = { 0 };
        bool ok = event && pn_accountant_from_args(&accountant, "pld", args, NULL) == PN_OK &&
                  pn_accountant_add(accountant, event, 10000, NULL) == PN_OK &&
                  accountant->ops->interval(accountant, 1e-5, &from, &to, NULL) == PN_OK;

        pn_accountant_free(accountant);
        pn_event_free(event);
        if (!ok)
            return 1;
        if (to <= 2.0)
            high = z;
        else
            low = z;
    }
    seconds = bench_now() - start;
    printf("%-44s %9.3f s  (limit 2)%s  z = %.6f\n", "calibration: epsilon 2, 10000 steps", seconds,
           seconds <= 2.0 ? "" : "  OVER", high);
    return seconds > 2.0;
}

int main(void)
{
    question questions[] = {
        { "4a q=0.01 z=1 T=10000", "pld", poisson(0.01, 1.0, PN_ADD_REMOVE), 10000, 1e-5, 50.0 },
        { "4a q=0.01 z=1.1 T=10000", "pld", poisson(0.01, 1.1, PN_ADD_REMOVE), 10000, 1e-5, 50.0 },
        { "100 Gaussians z=10", "pld", gaussian(10.0, PN_REPLACE_ONE), 100, 1e-5, 50.0 },
        { "100 pure 0.1", "pld", pure(0.1), 100, 1e-6, 50.0 },
        { "4b q=0.01 z=1.5 T=500", "pld", fixed(1, 100, 1.5), 500, 1e-5, 50.0 },
        { "4a q=0.01 z=2 T=1000", "pld", poisson(0.01, 2.0, PN_ADD_REMOVE), 1000, 1e-5, 50.0 },
        { "4b q=0.01 z=2 T=1000", "pld", fixed(1, 100, 2.0), 1000, 1e-5, 50.0 },
        { "4c q=0.01 z=2 T=1000", "pld", poisson(0.01, 2.0, PN_REPLACE_ONE), 1000, 1e-5, 50.0 },
        { "100 Laplace 0.1", "pld", laplace(10.0), 100, 1e-6, 50.0 },
        { "100 exponential 0.1", "pld", exponential(0.1), 100, 1e-6, 50.0 },
        { "4a q=0.01 z=1 T=10000, delta 1e-12", "pld", poisson(0.01, 1.0, PN_ADD_REMOVE), 10000, 1e-12, 50.0 },
        { "4a q=0.01 z=1 T=100", "pld", poisson(0.01, 1.0, PN_ADD_REMOVE), 100, 1e-5, 50.0 },
        { "4a q=0.01 z=1.1 T=10000, Renyi", "rdp", poisson(0.01, 1.1, PN_ADD_REMOVE), 10000, 1e-5, 1.0 },
        { "4b q=0.01 z=1.5 T=10000, Renyi", "rdp", fixed(1, 100, 1.5), 10000, 1e-5, 1.0 },
        { "4c q=0.01 z=2 T=10000, Renyi", "rdp", poisson(0.01, 2.0, PN_REPLACE_ONE), 10000, 1e-5, 1.0 },
    };
    int over = 0;

    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        over |= ask(&questions[i]);
        pn_event_free(questions[i].event);
    }
    over |= calibrate();
    return over;
}
