/* smooth_descent.c -- accelerated projected gradients whose steps, restarts and end are decided by gradients alone.
 * A step from y to z of length s is taken when <grad f(z) - grad f(y), z - y> <= |z - y|^2 / (2s): by convexity that
 * implies the usual bound on f(z), and it does not cancel near the minimum.
 * z = P(y - s grad f(y)) leaves the residual r = grad f(z) - grad f(y) - (z - y)/s, with
 * <grad f(z), z - v> <= <r, z - v> for all v in C: f being m-strongly convex, f(z) - min f <= |r|^2/(2m).
 * Depends on: smooth_descent.h, numeric/blas.h.  Used by: numeric_step.c.
 * Source: Beck and Teboulle (2009); restarts of O'Donoghue and Candes (2015); growing steps of Scheinberg,
 * Goldfarb and Bai (2014). */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/kernels/smooth_descent.h"
#include "numeric/blas.h"

#define MOST_HALVES 200
#define TOLERANCE   1e-9

typedef struct descent {
    pn_smooth_problem *problem;
    size_t n;
    double *x, *x_slope; /* the iterate and grad f there */
    double *y, *y_slope; /* ahead of it by its momentum */
    double *z, *z_slope; /* the next iterate */
    double step, momentum, scale;
    bool ended;
} descent;

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
    double sum = 0.0;

    for (size_t j = 0; j < at->n; j++) {
        double r = at->z_slope[j] - at->y_slope[j] - (at->z[j] - at->y[j]) / at->step;

        sum += r * r;
    }
    return 0.5 * sum / at->problem->modulus;
}

/* z = P(y - step grad f(y)), with the step halved until it fits. */
static pn_status advance(descent *at, double *moved, pn_err *err)
{
    for (int halves = 0; halves < MOST_HALVES; halves++, at->step *= 0.5) {
        double bend = 0.0;
        pn_status status;

        for (size_t j = 0; j < at->n; j++)
            at->z[j] = at->y[j] - at->step * at->y_slope[j];
        if (pn_first_nonfinite(at->z, at->n) < at->n)
            continue;
        status = at->problem->project(at->problem->self, at->z, err);
        if (status != PN_OK)
            return status;
        status = slope_at(at, at->z, at->z_slope, err);
        if (status == PN_EDOMAIN)
            continue;
        if (status != PN_OK)
            return status;
        *moved = 0.0;
        for (size_t j = 0; j < at->n; j++) {
            double d = at->z[j] - at->y[j];

            *moved += d * d;
            bend += d * (at->z_slope[j] - at->y_slope[j]);
        }
        at->ended = *moved <= at->problem->rounding * at->problem->rounding;
        if (2.0 * at->step * bend <= *moved || at->ended) {
            at->problem->reached = bound_of(at);
            return PN_OK;
        }
    }
    return pn_fail(err, PN_ENUMERIC, "mirror step: no step length fits the potential");
}

/* Momentum for the next step, dropped when it points uphill or leads out of Psi's domain. */
static pn_status carry_on(descent *at, double before, pn_err *err)
{
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * at->momentum * at->momentum * before / at->step)), uphill = 0.0;
    double ahead = (at->momentum - 1.0) / next;
    pn_status status = PN_EDOMAIN;
    double *old = at->x, *old_slope = at->x_slope;

    for (size_t j = 0; j < at->n; j++)
        uphill += (at->y[j] - at->z[j]) * (at->z[j] - at->x[j]);
    for (size_t j = 0; j < at->n; j++)
        at->y[j] = at->z[j] + ahead * (at->z[j] - at->x[j]);
    at->x = at->z;
    at->x_slope = at->z_slope;
    at->z = old;
    at->z_slope = old_slope;
    at->momentum = next;
    if (!(uphill > 0.0))
        status = slope_at(at, at->y, at->y_slope, err);
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

    PN_TRY(slope_at(at, at->x, at->x_slope, err));
    stop_momentum(at);
    status = look_at_gap(at, scratch, err);
    at->step = 1.0;
    for (size_t *round = &at->problem->rounds; status == PN_OK && !at->ended && *round < at->problem->most; ++*round) {
        double before = at->step;
        bool last;

        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = advance(at, &moved, err);
        last = at->ended;
        if (status == PN_OK)
            status = carry_on(at, before, err);
        if (status == PN_OK)
            status = look_at_gap(at, at->z, err);
        at->ended = at->ended || last || moved == 0.0;
        at->step *= 1.1;
    }
    return status;
}

pn_status pn_smooth_descent(pn_smooth_problem *problem, double *x, bool *ended, pn_err *err)
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
    status = run(&at, err);
    if (status == PN_OK)
        memcpy(x, at.x, n * sizeof *x);
    *ended = at.ended;
    pn_free(room);
    return status;
}
