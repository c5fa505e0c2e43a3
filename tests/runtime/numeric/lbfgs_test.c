/* lbfgs_test.c -- minima, domains, the limit of work, tasks that stop it, short memory.
 * Depends on: check.h, fail_alloc.h, core/stop.h, numeric/lbfgs.h. */
#include <math.h>

#include "core/stop.h"
#include "numeric/lbfgs.h"

#include "check.h"
#include "fail_alloc.h"

#define N 6

static int values;

/* Rosenbrock's valley: 0 at (1, ..., 1). */
static double valley(void *self, const double *x, double *gradient)
{
    double sum = 0.0;

    values++;
    if (!pn_lbfgs_worked(self, 1000))
        return INFINITY;
    for (size_t i = 0; i < N; i++)
        gradient[i] = 0.0;
    for (size_t i = 0; i + 1 < N; i++) {
        const double rise = x[i + 1] - x[i] * x[i], rest = 1.0 - x[i];

        sum += 100.0 * rise * rise + rest * rest;
        gradient[i] -= 400.0 * rise * x[i] + 2.0 * rest;
        gradient[i + 1] += 200.0 * rise;
    }
    return sum;
}

/* x - log x in each coordinate, for x > 0 alone. */
static double barrier(void *self, const double *x, double *gradient)
{
    double sum = 0.0;

    if (!pn_lbfgs_worked(self, 1))
        return INFINITY;
    for (size_t i = 0; i < N; i++) {
        if (!(x[i] > 0.0))
            return INFINITY;
        sum += x[i] - log(x[i]);
        gradient[i] = 1.0 - 1.0 / x[i];
    }
    return sum;
}

static pn_status minimise(double (*value)(void *, const double *, double *), double left, double *x, pn_err *err)
{
    pn_lbfgs_work work = { .left = left, .err = err };
    pn_lbfgs_problem problem = { N, value, &work, &work };

    values = 0;
    return pn_lbfgs(&problem, x, err);
}

static void start(double *x)
{
    for (size_t i = 0; i < N; i++)
        x[i] = i % 2 ? 1.0 : -1.2;
}

static double height(const double *x)
{
    pn_lbfgs_work work = { .left = INFINITY };
    double gradient[N];

    return valley(&work, x, gradient);
}

static void test_minima(void)
{
    double x[N], again[N];

    start(x);
    start(again);
    CHECK(minimise(valley, INFINITY, x, NULL) == PN_OK && minimise(valley, INFINITY, again, NULL) == PN_OK);
    for (size_t i = 0; i < N; i++)
        CHECK(fabs(x[i] - 1.0) < 1e-6 && x[i] == again[i]);
    for (size_t i = 0; i < N; i++)
        x[i] = 1e-3 * (double)(i + 1); /* first steps leave the domain */
    CHECK(minimise(barrier, INFINITY, x, NULL) == PN_OK);
    for (size_t i = 0; i < N; i++)
        CHECK(fabs(x[i] - 1.0) < 1e-6);
}

/* Work that is done ends it where it is, lower the more there was. */
static void test_work(void)
{
    double x[N], before, first;

    start(x);
    first = before = height(x);
    for (int steps = 1; steps <= 40; steps += 3) {
        double there;

        start(x);
        CHECK(minimise(valley, 1000.0 * steps + 1.0, x, NULL) == PN_OK && values <= steps + 1);
        there = height(x);
        CHECK(there <= before);
        before = there;
    }
    CHECK(before < 0.5 * first);
    start(x);
    CHECK(minimise(valley, 1.0, x, NULL) == PN_OK && height(x) == first);
}

static void test_stops(void)
{
    const pn_task *before;
    double x[N], first;
    pn_task *task;
    pn_err err;

    start(x);
    first = height(x);
    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    before = pn_stop_enter(task);
    CHECK(minimise(valley, 2e4, x, &err) == PN_OK && values > 10); /* too little work for a look at the task */
    pn_task_cancel(task);
    start(x);
    {
        pn_lbfgs_work work = { .left = INFINITY, .unasked = (size_t)1 << 20, .err = &err };
        pn_lbfgs_problem problem = { N, valley, &work, &work };

        CHECK(pn_lbfgs(&problem, x, &err) == PN_ECANCELLED && height(x) == first);
    }
    (void)pn_stop_enter(before);
    pn_task_free(task);
}

static pn_status search(void *self, pn_err *err)
{
    double x[N];

    (void)self;
    start(x);
    return minimise(valley, INFINITY, x, err);
}

int main(void)
{
    test_minima();
    test_work();
    test_stops();
    CHECK(fail_alloc_sweep("valley", search, NULL) > 0);
    return check_summary();
}
