/* smooth_descent.c -- accelerated projected gradients whose steps, restarts and end are decided by gradients alone.
 * A step from y to z of length s is taken when <grad f(z) - grad f(y), z - y> <= |z - y|^2 / s: of a quadratic that is
 * the usual bound on f(z), of a convex f it makes f(z) < f(y), and it does not cancel near the minimum.
 * z = P(y - s grad f(y)) leaves the residual r = grad f(z) - grad f(y) - (z - y)/s, with
 * <grad f(z), z - v> <= <r, z - v> for all v in C: f being m-strongly convex, f(z) - min f <= |r|^2/(2m).
 * Depends on: smooth_descent.h, numeric/blas.h.  Used by: numeric_step.c.
 * Source: Beck and Teboulle (2009); restarts of O'Donoghue and Candes (2015); growing steps of Scheinberg,
 * Goldfarb and Bai (2014). */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/kernels/smooth_descent.h"
#include "numeric/blas.h"

#define MOST_TRIES 400
#define TOLERANCE  1e-9
#define SLACK      1e-10
#define ROOM       0.8 /* steps that use no more of the bound grow */

typedef struct descent {
    pn_smooth_problem *problem;
    size_t n;
    double *x, *x_slope; /* the iterate and grad f there */
    double *y, *y_slope; /* ahead of it by its momentum */
    double *z, *z_slope; /* the next iterate */
    double step, momentum, scale;
    double taken; /* the last step that fitted */
    double fit;   /* of the last step: how much of that bound it used */
    bool ended;
} descent;

/* sum_j (a_j - b_j)(c_j - d_j), in eight lanes, which compile to vector instructions. */
static double product_of_differences(size_t n, const double *a, const double *b, const double *c, const double *d)
{
    double lane[8] = { 0.0 };
    size_t j = 0;

    for (; j + 8 <= n; j += 8) {
        for (size_t k = 0; k < 8; k++)
            lane[k] += (a[j + k] - b[j + k]) * (c[j + k] - d[j + k]);
    }
    for (; j < n; j++)
        lane[0] += (a[j] - b[j]) * (c[j] - d[j]);
    return pn_sum(8, lane);
}

/* grad f = grad Psi - c */
static pn_status slope_at(const descent *at, const double *x, double *out, pn_err *err)
{
    pn_status status = at->problem->gradient(at->problem->self, x, out, err);

    for (size_t j = 0; status == PN_OK && j < at->n; j++)
        out[j] -= at->problem->c[j];
    return status;
}

/* Is x good enough?  The scale is that of the terms of the gap, and at least that of the way already gone. */
static pn_status look_at_gap(descent *at, double *scratch, pn_err *err)
{
    double here = pn_dot(at->n, at->x_slope, at->x), linear = pn_dot(at->n, at->problem->c, at->x), most = INFINITY;
    pn_status status;

    if (!at->problem->support) {
        at->ended = at->problem->reached <= at->problem->gap;
        return PN_OK;
    }
    for (size_t j = 0; j < at->n; j++)
        scratch[j] = -at->x_slope[j];
    status = at->problem->support(at->problem->self, scratch, &most, err);
    if (status != PN_OK || !isfinite(most))
        return status;
    at->scale = fmax(at->scale, fabs(linear) + fabs(here + linear));
    if (at->scale == 0.0)
        at->scale = here + most;
    at->ended = here + most <= TOLERANCE * at->scale;
    return PN_OK;
}

static void stop_momentum(descent *at)
{
    memcpy(at->y, at->x, at->n * sizeof *at->y);
    memcpy(at->y_slope, at->x_slope, at->n * sizeof *at->y_slope);
    at->momentum = 1.0;
}

/* The bound by the residual, of the step that was taken. */
static double bound_of(const descent *at)
{
    double lane[8] = { 0.0 }, by = 1.0 / at->step;

    for (size_t j = 0; j < at->n; j += 8) {
        for (size_t k = j; k < at->n && k < j + 8; k++) {
            double r = at->z_slope[k] - at->y_slope[k] - by * (at->z[k] - at->y[k]);

            lane[k - j] += r * r;
        }
    }
    return 0.5 * pn_sum(8, lane) / at->problem->modulus;
}

/* at->z and its slope from y with the step as it is; *moved = |z - y|^2. */
static pn_status try_step(descent *at, double *moved, pn_err *err)
{
    double bend, size;

    for (size_t j = 0; j < at->n; j++)
        at->z[j] = at->y[j] - at->step * at->y_slope[j];
    if (pn_first_nonfinite(at->z, at->n) < at->n)
        return PN_EDOMAIN;
    PN_TRY(at->problem->project(at->problem->self, at->z, err));
    PN_TRY(slope_at(at, at->z, at->z_slope, err));
    *moved = product_of_differences(at->n, at->z, at->y, at->z, at->y);
    bend = product_of_differences(at->n, at->z, at->y, at->z_slope, at->y_slope);
    size = pn_dot(at->n, at->z, at->z);
    at->fit = at->step * bend / *moved;
    at->ended = *moved <= fmax(at->problem->rounding * at->problem->rounding, DBL_EPSILON * DBL_EPSILON * size);
    return PN_OK;
}

/* z = P(y - step grad f(y)), with the step shortened until it fits. */
static pn_status advance(descent *at, double *moved, pn_err *err)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        pn_status status = try_step(at, moved, err);

        if (status != PN_OK && status != PN_EDOMAIN)
            return status;
        if (status == PN_OK && (at->fit <= 1.0 + SLACK || at->ended)) {
            at->problem->reached = at->problem->support ? INFINITY : bound_of(at);
            return PN_OK;
        }
        at->step *= status == PN_OK ? fmax(fmin(1.0 / at->fit, 0.95), 0.1) : 0.5;
    }
    return pn_fail(err, PN_ENUMERIC, "mirror step: no step length fits the potential");
}

/* Momentum for the next step, no more than strong convexity has use for, dropped when it points uphill or leads out of
 * Psi's domain. */
static pn_status carry_on(descent *at, pn_err *err)
{
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * at->momentum * at->momentum * at->taken / at->step));
    double root = sqrt(fmin(at->problem->modulus * at->step, 1.0));
    double ahead = fmin((at->momentum - 1.0) / next, (1.0 - root) / (1.0 + root));
    double uphill = product_of_differences(at->n, at->y, at->z, at->z, at->x);
    pn_status status = PN_EDOMAIN;
    double *old = at->x, *old_slope = at->x_slope;

    for (size_t j = 0; j < at->n; j++)
        at->y[j] = at->z[j] + ahead * (at->z[j] - at->x[j]);
    at->x = at->z;
    at->x_slope = at->z_slope;
    at->z = old;
    at->z_slope = old_slope;
    at->momentum = next;
    at->taken = at->step;
    if (!(uphill > 0.0) && ahead > 0.0)
        status = slope_at(at, at->y, at->y_slope, err);
    else if (!(uphill > 0.0)) { /* y is x */
        memcpy(at->y_slope, at->x_slope, at->n * sizeof *at->y_slope);
        status = PN_OK;
    }
    if (status == PN_EDOMAIN) {
        stop_momentum(at);
        status = PN_OK;
    }
    return status;
}

static pn_status run(descent *at, pn_err *err)
{
    double moved = 0.0, *scratch = at->z;
    pn_status status;

    stop_momentum(at);
    status = look_at_gap(at, scratch, err);
    at->step = at->taken = 1.0;
    for (size_t *round = &at->problem->rounds; status == PN_OK && !at->ended && *round < at->problem->most; ++*round) {
        bool last;

        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = advance(at, &moved, err);
        last = at->ended;
        if (status == PN_OK)
            status = carry_on(at, err);
        if (status == PN_OK)
            status = look_at_gap(at, at->z, err);
        at->ended = at->ended || last || moved == 0.0;
        at->step *= at->fit <= ROOM ? 1.1 : 1.0;
    }
    return status;
}

pn_status pn_smooth_descent(pn_smooth_problem *problem, double *x, const double *slope, bool *ended, pn_err *err)
{
    size_t n = problem->n;
    double *room = pn_alloc(n, 6 * sizeof *room);
    descent at = { .problem = problem, .n = n };
    pn_status status;

    PN_TRY(pn_made(room, err, "mirror step: out of memory"));
    at.x = room;
    at.x_slope = room + n;
    at.y = room + 2 * n;
    at.y_slope = room + 3 * n;
    at.z = room + 4 * n;
    at.z_slope = room + 5 * n;
    problem->rounds = 0;
    problem->reached = INFINITY;
    memcpy(at.x, x, n * sizeof *x);
    for (size_t j = 0; j < n; j++)
        at.x_slope[j] = slope[j] - problem->c[j];
    status = run(&at, err);
    if (status == PN_OK)
        memcpy(x, at.x, n * sizeof *x);
    *ended = at.ended;
    pn_free(room);
    return status;
}
