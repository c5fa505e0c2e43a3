/* set_intersect.c -- C n D, for two sets that can be projected on.
 * Projection: Dykstra's alternation, which is a gradient method for the dual,
 * with Nesterov's momentum and restarts: with
 *     x = P_C(z - q),  d = P_D(q + x),  p = q + x - d
 * z - q - x is normal to C at x and p is normal to D at d, so when x = d, x is the projection of z.  It stops at ||x -
 * d|| <= 1e-13 of the size of the set, and fails when it does not get below 1e-10
 * (1e-7 when a part is projected on by its support points): then x is in C, and that near to D.
 * For w in both sets <z - d, w - x> <= <p, d - x>: that bounds what is missing, and where it cannot be, the sets are
 * disjoint.  Support: x <- P(x + t g) with growing t, until the same inequality bounds max <g,
 * .> within 1e-9 (1e-6) of ||g|| and the size.
 * Depends on: composite.h.  Used by: set_algebra.h.
 * Source: Boyle & Dykstra (1986); Beck & Teboulle (2009); O'Donoghue & Candes (2015) for restarts;
 * Rockafellar (1976). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/convex/support_by_project.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

#define AIM               1e-13
#define ACCEPT            1e-10
#define ACCEPT_BY_SUPPORT 1e-7 /* where a part is projected on by its support points, to the root of the rounding */
#define PATIENCE          5000 /* turns without the distance halving, */
#define PATIENCE_NEAR     30   /* and when it will do */
#define MOST_TURNS        20000
#define SUPPORT_GAP       1e-9
#define SUPPORT_ACCEPT    1e-6 /* when the steps are used up: on faces nearly normal to g they are short */
#define MOST_STEPS        200
#define ENDLESS           1e9 /* an unbounded set whose points get so large has no greatest one */

/* What one projection works on; one allocation of 7 dim. */
typedef struct dykstra {
    const pn_composite *set;
    size_t dim;
    double size;            /* of the set, or of what is projected when it is unbounded */
    double *x, *d;          /* in C, in D */
    double *p, *before, *q; /* the dual variable, its last value, and the point ahead of it */
    double *best;           /* the x nearest to D so far */
    double *other;          /* its d */
    double distance;        /* of best to its d */
    double mismatch;        /* <p, d - x> there */
    bool disjoint;          /* no point is in both: this is certain */
} dykstra;

static double accept_of(const pn_composite *set)
{
    return set->a->ops->project && set->b->ops->project ? ACCEPT : ACCEPT_BY_SUPPORT;
}

static pn_status open_dykstra(dykstra *run, const pn_composite *set, double size, pn_err *err)
{
    size_t dim = set->base.dim;
    double *block;

    *run = (dykstra){ .set = set };
    if (size > 0.0 && !pn_square_fits(size))
        return pn_fail(err, PN_EDOMAIN, "C:intersect: sizes must be from 1e-120 to 1e120, got %g", size);
    block = pn_calloc(dim, 7 * sizeof *block);
    *run = (dykstra){ .set = set, .dim = dim, .size = size, .x = block };
    PN_TRY(pn_made(block, err, "C:intersect: out of memory"));
    run->d = block + dim;
    run->p = block + 2 * dim;
    run->before = block + 3 * dim;
    run->q = block + 4 * dim;
    run->best = block + 5 * dim;
    run->other = block + 6 * dim;
    return PN_OK;
}

static void close_dykstra(dykstra *run)
{
    pn_free(run->x);
}

static double distance_between(const double *a, const double *b, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

/* From q: x, d and the new p; before <- the old p. */
static pn_status alternate(dykstra *run, const double *z, pn_err *err)
{
    size_t dim = run->dim;
    pn_status status;

    for (size_t j = 0; j < dim; j++)
        run->x[j] = z[j] - run->q[j];
    PN_TRY(pn_set_project(run->set->a, run->x, dim, err));
    for (size_t j = 0; j < dim; j++)
        run->d[j] = run->q[j] + run->x[j];
    status = pn_set_project(run->set->b, run->d, dim, err);
    for (size_t j = 0; status == PN_OK && j < dim; j++) {
        run->before[j] = run->p[j];
        run->p[j] = run->q[j] + run->x[j] - run->d[j];
    }
    return status;
}

/* q <- p + momentum (p - before), unless the last step went against the momentum: then without. */
static void look_ahead(dykstra *run, double *theta)
{
    double against = 0.0, next, momentum;

    for (size_t j = 0; j < run->dim; j++)
        against += (run->q[j] - run->p[j]) * (run->p[j] - run->before[j]);
    if (against > 0.0)
        *theta = 1.0;
    next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *theta * *theta));
    momentum = (*theta - 1.0) / next;
    *theta = next;
    for (size_t j = 0; j < run->dim; j++)
        run->q[j] = run->p[j] + momentum * (run->p[j] - run->before[j]);
}

/* Keep x when it is the nearest to D so far, and look whether there can be a common point at all. */
static void judge(dykstra *run, const double *z)
{
    double distance = distance_between(run->x, run->d, run->dim), mismatch = 0.0;
    double reach = pn_lp_norm(PN_L2, run->dim, run->x) + run->set->base.ops->radius(&run->set->base, PN_L2);

    for (size_t j = 0; j < run->dim; j++)
        mismatch += run->p[j] * (run->d[j] - run->x[j]);
    run->disjoint = mismatch < -1.001 * reach * distance_between(z, run->d, run->dim) - ACCEPT * run->size * run->size;
    if (!(distance < run->distance))
        return;
    run->distance = distance;
    run->mismatch = mismatch;
    memcpy(run->best, run->x, run->dim * sizeof *run->x);
    memcpy(run->other, run->d, run->dim * sizeof *run->d);
}

/* best <- the projection of z, to AIM where that can be had; p is its dual and stays for the next call. */
static pn_status run_dykstra(dykstra *run, const double *z, pn_err *err)
{
    double theta = 1.0, aim = AIM * run->size, halved = INFINITY;
    int since = 0;

    run->distance = INFINITY;
    run->disjoint = false;
    memcpy(run->q, run->p, run->dim * sizeof *run->q);
    for (int turn = 0; turn < MOST_TURNS && run->distance > aim && !run->disjoint; turn++) {
        pn_status status = pn_stop_asked(err);

        if (status == PN_OK)
            status = alternate(run, z, err);
        if (status != PN_OK)
            return status;
        judge(run, z);
        if (run->distance <= 0.5 * halved) {
            halved = run->distance;
            since = turn;
        }
        if (turn - since > (run->distance <= accept_of(run->set) * run->size ? PATIENCE_NEAR : PATIENCE))
            break;
        look_ahead(run, &theta);
    }
    return PN_OK;
}

static double size_for(const pn_composite *set, const double *z)
{
    double radius = set->base.ops->radius(&set->base, PN_L2);

    return isfinite(radius) ? radius
                            : pn_lp_norm(PN_L2, set->base.dim, z) + pn_lp_norm(PN_L2, set->base.dim, set->numbers);
}

static pn_status intersect_project(const pn_set *self, double *x, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    double size = size_for(set, x);
    dykstra run;
    pn_status status;

    PN_TRY(open_dykstra(&run, set, size, err));
    status = run_dykstra(&run, x, err);
    if (status == PN_OK && run.distance > accept_of(set) * size)
        status = pn_fail(
            err, PN_ENUMERIC,
            "C:intersect: the projection was not found in %d alternations, which end %.3g apart; sets that meet with "
            "an interior point in common converge faster",
            MOST_TURNS, run.distance);
    if (status == PN_OK)
        memcpy(x, run.best, self->dim * sizeof *x);
    close_dykstra(&run);
    return status;
}

/* ---- support ---- */

/* How far <g, best> can be below the maximum over the set, where z was start + t g.  An unbounded set is taken to be as
 * large as the points seen. */
static double support_gap(const dykstra *run, const double *start, double t, double radius)
{
    double moved = distance_between(start, run->other, run->dim);
    double across = pn_lp_norm(PN_L2, run->dim, run->best) + (isfinite(radius) ? radius : run->size);

    return (fmax(run->mismatch, 0.0) + across * moved) / t;
}

/* best <- a point of greatest <g, x>, from start; work[3 dim], its first third the start.  *endless: there is none. */
static pn_status climb(dykstra *run, const double *g, double *work, double radius, bool *endless, pn_err *err)
{
    size_t dim = run->dim;
    double *start = work, *z = work + dim, *last_best = z + dim, norm = pn_lp_norm(PN_L2, dim, g), gap = INFINITY;
    double since = 0.0;
    double t = norm > 0.0 && run->size > 0.0 ? run->size / norm : 1.0, last = isinf(radius) ? INFINITY : 1e4 * t;

    memcpy(last_best, start, dim * sizeof *start);
    for (int step = 0; step < MOST_STEPS; step++, t = fmin(last, step > 4 ? 4.0 * t : t)) {
        pn_status status;

        for (size_t j = 0; j < dim; j++)
            z[j] = start[j] + t * g[j];
        status = run_dykstra(run, z, err);
        if (status != PN_OK)
            return status;
        *endless = isinf(radius) && pn_lp_norm(PN_L2, dim, run->best) > ENDLESS * run->size;
        if (run->distance <= accept_of(run->set) * run->size)
            gap = support_gap(run, start, t, radius);
        if (*endless || norm == 0.0 || gap <= SUPPORT_GAP * accept_of(run->set) / ACCEPT * norm * run->size)
            return PN_OK;
        pn_proximal_ahead(start, last_best, run->best, g, &since, dim);
    }
    if (gap <= SUPPORT_ACCEPT * norm * run->size)
        return PN_OK;
    if (isinf(gap))
        return pn_fail(
            err, PN_ENUMERIC,
            "C:intersect: the projections that the support function needs end %.3g apart; sets that meet with an "
            "interior point in common converge faster",
            run->distance);
    return pn_fail(
        err, PN_ENUMERIC,
        "C:intersect: the support function was not found to 1e-6 in %d steps (the gap stays at %.3g); C:project works "
        "on this set where C:support does not",
        MOST_STEPS, gap);
}

static pn_status intersect_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    double radius = self->ops->radius(self, PN_L2), *work = pn_alloc(self->dim, 3 * sizeof *work);
    bool endless = false;
    dykstra run;
    pn_status status;

    PN_TRY(pn_made(work, err, "C:intersect: out of memory in support"));
    status = open_dykstra(&run, set, fmax(size_for(set, set->numbers), isinf(radius) ? 1.0 : 0.0), err);
    if (status == PN_OK) {
        memcpy(work, set->numbers, self->dim * sizeof *work);
        status = climb(&run, g, work, radius, &endless, err);
        if (status == PN_OK)
            *value = endless ? INFINITY : pn_dot(self->dim, g, run.best);
        if (status == PN_OK && point && !endless)
            memcpy(point, run.best, self->dim * sizeof *point);
        close_dykstra(&run);
    }
    pn_free(work);
    return status;
}

/* ---- the rest ---- */

/* The smaller of a size of C and one of D, which computed points exceed by what ACCEPT lets pass,
 * and more in the l1 norm. */
static double smaller(const pn_set *self, pn_lp norm, double of_c, double of_d, double ends)
{
    double slack = ends * accept_of(pn_as_composite(self)) * self->ops->radius(self, PN_L2);

    return fmin(of_c, pn_plus_up(of_d, norm == PN_L1 ? slack * sqrt((double)self->dim) : slack));
}

static double intersect_radius(const pn_set *self, pn_lp norm)
{
    const pn_set *c = pn_as_composite(self)->a, *d = pn_as_composite(self)->b;

    if (norm == PN_L2) /* the slack is in units of this one */
        return fmin(c->ops->radius(c, norm), (1.0 + 2.0 * accept_of(pn_as_composite(self))) * d->ops->radius(d, norm));
    return smaller(self, norm, c->ops->radius(c, norm), d->ops->radius(d, norm), 1.0);
}

static double intersect_diameter(const pn_set *self, pn_lp norm)
{
    const pn_set *c = pn_as_composite(self)->a, *d = pn_as_composite(self)->b;
    double parts = smaller(self, norm, c->ops->diameter(c, norm), d->ops->diameter(d, norm), 2.0);

    return fmin(parts, 2.0 * intersect_radius(self, norm));
}

/* Its iterations may fail, too, and where depends on what they are asked. */
static double intersect_shortfall(const pn_set *self)
{
    (void)self;
    return INFINITY;
}

static pn_status intersect_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    pn_status status = set->a->ops->contains(set->a, x, tolerance, inside, err);

    if (status != PN_OK || !*inside)
        return status;
    return set->b->ops->contains(set->b, x, tolerance, inside, err);
}

static void intersect_center(const pn_set *self, double *x)
{
    memcpy(x, pn_as_composite(self)->numbers, self->dim * sizeof *x);
}

/* The larger one, when both sets hold the origin and so all shrunk copies of themselves. */
static pn_status intersect_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    double other;
    pn_status status = pn_set_gauge(set->a, x, self->dim, value, err);

    if (status == PN_OK)
        status = pn_set_gauge(set->b, x, self->dim, &other, err);
    if (status == PN_OK)
        *value = fmax(*value, other);
    return status;
}

/* ---- construction ---- */

/* A common point near C's center goes to set->numbers. */
static pn_status find_common_point(pn_composite *set, pn_err *err)
{
    double size;
    dykstra run;
    pn_status status;

    set->a->ops->center(set->a, set->numbers);
    size = size_for(set, set->numbers);
    PN_TRY(open_dykstra(&run, set, size > 0.0 ? size : 1.0, err));
    status = run_dykstra(&run, set->numbers, err);
    if (status == PN_OK && run.disjoint)
        status = pn_fail(err, PN_EINVAL, "C:intersect: the sets have no point in common; they are about %.6g apart",
                         run.distance);
    else if (status == PN_OK && run.distance > accept_of(set) * run.size)
        status =
            pn_fail(err, PN_EINVAL,
                    "C:intersect: no point in common was found in %d alternations; the nearest points are %.6g apart",
                    MOST_TURNS, run.distance);
    if (status == PN_OK)
        memcpy(set->numbers, run.best, run.dim * sizeof *run.best);
    close_dykstra(&run);
    return status;
}

static pn_status fill(pn_composite *set, pn_err *err)
{
    const pn_set_ops *a = set->a->ops, *b = set->b->ops;
    bool origin = false;
    pn_status status;

    set->ops.doc = "C n D: the points in both";
    set->ops.symmetric = a->symmetric && b->symmetric;
    set->ops.support = intersect_support;
    set->ops.radius = intersect_radius;
    set->ops.diameter = intersect_diameter;
    set->ops.contains = intersect_contains;
    set->ops.center = intersect_center;
    set->ops.project = intersect_project;
    set->ops.shortfall = intersect_shortfall;
    status = intersect_contains(&set->base, set->numbers, 0.0, &origin, err); /* numbers is still 0 */
    if (status == PN_OK && origin)
        set->ops.gauge = intersect_gauge;
    return status == PN_OK ? find_common_point(set, err) : status;
}

static pn_status need_projection(const pn_set *set, pn_err *err)
{
    if (pn_set_can_project(set))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "C:intersect: %s has no projection, which alternation needs", set->ops->name);
}

pn_status pn_set_intersect(pn_set **out, pn_set *a, pn_set *b, pn_err *err)
{
    pn_composite *set;
    pn_status status = pn_same_dim("C:intersect", a, b, err);

    *out = NULL;
    if (status == PN_OK)
        status = need_projection(a, err);
    if (status == PN_OK)
        status = need_projection(b, err);
    if (status == PN_OK)
        status = pn_composite_new(&set, sizeof *set, "intersection", a->dim, a, b, a->dim, err);
    if (status != PN_OK)
        return status;
    status = fill(set, err);
    if (status == PN_OK)
        *out = &set->base;
    else
        pn_composite_free(set);
    return status;
}

bool pn_set_intersection_parts(const pn_set *set, const pn_set **a, const pn_set **b)
{
    if (!pn_is_composite(set, "intersection"))
        return false;
    *a = pn_as_composite(set)->a;
    *b = pn_as_composite(set)->b;
    return true;
}
