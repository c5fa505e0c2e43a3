/* nearest_in_hull.c -- the point of least norm in the convex hull of many points: Wolfe's method of
 * geometry/kernels/nearest.h, for points of any scale, on the task's threads, stoppable, with a certificate.
 * Depends on: geometry/kernels/nearest.h, numeric/.  Used by: stationarity.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/nearest.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"
#include "objective/measures/stationarity.h"

#define LEAST_TOL     1e-13
#define BLOCK_WORK    ((size_t)1 << 18) /* multiplications a thread is given at a time */
#define MOST_EXPONENT 1020

/* Points are used as they stand; y and the points that the method sees are in units of 2^exponent,
 * which is about the largest norm. */
typedef struct hull {
    const double *points;
    size_t m, dim;
    int exponent;
    double largest; /* norm of a point, in those units: about 1, or 0 */
    size_t block_rows, blocks;
    double *scaled;  /* [dim] y / 2^exponent, so that <y, point> comes out in those units */
    double *product; /* [m] */
    double *work;    /* owns both, and what solve() keeps behind them */
    double steps;
    pn_task *task;
} hull;

static const double *point_at(const hull *self, size_t i)
{
    return self->points + i * self->dim;
}

static void multiply_block(void *context, size_t block, unsigned worker)
{
    const hull *self = context;
    size_t first = block * self->block_rows, left = self->m - first;

    (void)worker;
    pn_simd_best()->dense_times(point_at(self, first), left < self->block_rows ? left : self->block_rows, self->dim,
                                self->scaled, self->product + first);
}

static void scale_point(const hull *self, size_t i, double *point)
{
    for (size_t j = 0; j < self->dim; j++)
        point[j] = ldexp(point_at(self, i)[j], -self->exponent);
}

static pn_status least_point(void *context, const double *y, double *point, pn_err *err)
{
    hull *self = context;
    size_t best = 0;
    pn_status status = pn_task_report(self->task, "nearest_in_hull", self->steps++, 0.0, err);

    if (status != PN_OK)
        return status;
    for (size_t j = 0; j < self->dim; j++)
        self->scaled[j] = ldexp(y[j], -self->exponent);
    if (self->blocks == 1)
        multiply_block(self, 0, 0);
    else
        status = pn_parallel(self->task, self->blocks, multiply_block, self, err);
    for (size_t i = 1; status == PN_OK && i < self->m; i++)
        best = self->product[i] < self->product[best] ? i : best;
    if (status == PN_OK)
        scale_point(self, best, point);
    return status;
}

/* The exponent of the largest norm, and which point has the least. */
static pn_status survey(hull *self, size_t *shortest, pn_err *err)
{
    double least = INFINITY, largest = 0.0;

    for (size_t i = 0; i < self->m; i++) {
        double norm = pn_lp_norm(PN_L2, self->dim, point_at(self, i));

        if (!isfinite(norm)) {
            size_t bad = pn_first_nonfinite(point_at(self, i), self->dim);

            if (bad == self->dim)
                return pn_fail(err, PN_EDOMAIN, "nearest_in_hull: point %zu is out of the range of numbers", i + 1);
            return pn_fail(err, PN_EDOMAIN,
                           "nearest_in_hull: points must hold finite numbers, entry %zu of point %zu is not", bad + 1,
                           i + 1);
        }
        *shortest = norm < least ? i : *shortest;
        least = fmin(least, norm);
        largest = fmax(largest, norm);
    }
    if (largest > 0.0)
        (void)frexp(largest, &self->exponent); /* so that 2^-exponent is a number with room on both sides: */
    self->exponent = self->exponent > MOST_EXPONENT ? MOST_EXPONENT : self->exponent;
    self->exponent = self->exponent < -MOST_EXPONENT ? -MOST_EXPONENT : self->exponent;
    self->largest = ldexp(largest, -self->exponent);
    return PN_OK;
}

/* What is known at y: the least norm is at least <y, P> / ||y|| for the P of the least product. */
static pn_status certify(hull *self, const double *y, double *room, double *norm, double *gap, pn_err *err)
{
    pn_status status = least_point(self, y, room, err);
    double excess = 0.0;

    *norm = pn_lp_norm(PN_L2, self->dim, y);
    for (size_t j = 0; status == PN_OK && j < self->dim; j++)
        excess += y[j] * (y[j] - room[j]);
    *gap = *norm > 0.0 ? fmin(*norm, fmax(0.0, excess / *norm)) : 0.0;
    return status;
}

static pn_status solve(hull *self, size_t shortest, double tol, double *nearest, double *norm, double *gap, pn_err *err)
{
    double *y = self->product + self->m, *start = y + self->dim, *origin = start + self->dim, length = 0.0, slack = 0.0;
    double unit = self->largest > 0.0 ? self->largest : 1.0, small = 0.25 * tol * unit;
    pn_least_oracle oracle = { .self = self,
                               .dim = self->dim,
                               .least = least_point,
                               .reach = -1.0,
                               .scale = unit * unit,
                               .near = small,
                               .gap = small * small,
                               .limit = 1000 + 20 * (self->m + self->dim),
                               .owner = "nearest_in_hull" };
    pn_status status;

    memset(origin, 0, self->dim * sizeof *origin);
    scale_point(self, shortest, start);
    status = pn_nearest_by(y, &length, &oracle, origin, start, err);
    if (status == PN_OK)
        status = certify(self, y, start, &length, &slack, err);
    if (status == PN_OK && slack > tol * unit)
        status = pn_fail(err, PN_ENUMERIC, "nearest_in_hull: the gap stays at %.3g of the largest norm", slack / unit);
    if (status != PN_OK)
        return status;
    *norm = ldexp(length, self->exponent);
    *gap = ldexp(slack, self->exponent);
    for (size_t j = 0; nearest && j < self->dim; j++)
        nearest[j] = ldexp(y[j], self->exponent);
    return PN_OK;
}

pn_status pn_nearest_in_hull(const double *points, size_t m, size_t dim, double tol, double *nearest, double *norm,
                             double *gap, pn_task *task, pn_err *err)
{
    hull self = { .points = points, .m = m, .dim = dim, .task = task };
    size_t shortest = 0;
    pn_status status;

    if (m == 0 || dim == 0)
        return pn_fail(err, PN_EINVAL, "nearest_in_hull: expected at least one point of one entry, got %zu of %zu", m,
                       dim);
    if (!(tol >= LEAST_TOL && tol < 1.0))
        return pn_fail(err, PN_EINVAL, "nearest_in_hull: tol must be in [%g, 1), got %g", LEAST_TOL, tol);
    PN_TRY(survey(&self, &shortest, err));
    self.block_rows = dim < BLOCK_WORK ? BLOCK_WORK / dim : 1;
    self.blocks = (m - 1) / self.block_rows + 1;
    PN_TRY(pn_new(&self.work, m + 4 * dim, err, "nearest_in_hull: out of memory for %zu points", m));
    self.scaled = self.work;
    self.product = self.scaled + dim;
    status = solve(&self, shortest, tol, nearest, norm, gap, err);
    pn_free(self.work);
    return status;
}
