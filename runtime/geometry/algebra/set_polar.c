/* set_polar.c -- {y : <y, x> <= 1 for all x in C}, C with the origin inside.  Support function and gauge change places:
 * the gauge of the polar is the support function of C, and its support function the gauge of C, attained at the normal
 * of C that has length 1 in the gauge.  Balls of the table give the ball of the dual norm;
 * the polar of a polar is the set that it was made of.
 * Depends on: composite.h, cone.h, upper.h.  Used by: set_algebra.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/stop.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/convex/cone.h"
#include "geometry/convex/gauge_by_project.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

/* Gauges are known to 1e-9, or far better: what is built on them is raised by this. */
#define RAISE (1.0 + 4e-9)

/* How far outside the boundary normals are looked for, and how near the best must come to the support value. */
static const double outside[] = { 1e-3, 1e-4, 1e-5, 1e-6, 1e-2, 1e-1 };
#define SUPPORT_ENOUGH 1e-11
#define PRECISION      1e-14 /* of a projection's multiplier */
#define MOST_TURNS     100
#define SUPPORT_ACCEPT 1e-7 /* near a vertex of C: the root of the rounding */

/* numbers: the largest coordinates of the polar, gauge of e_j, then of -e_j. */
static const pn_set *inner_of(const pn_set *self)
{
    return pn_as_composite(self)->a;
}

static pn_status inner_support(const pn_set *inner, const double *y, double *value, pn_err *err)
{
    pn_status status = inner->ops->support(inner, y, NULL, value, err);

    *value = status == PN_OK ? fmax(*value, 0.0) : INFINITY;
    return status;
}

static pn_status polar_gauge(const pn_set *self, const double *y, double *value, pn_err *err)
{
    return inner_support(inner_of(self), y, value, err);
}

static pn_status polar_contains(const pn_set *self, const double *y, double tolerance, bool *inside, pn_err *err)
{
    double value;
    pn_status status = inner_support(inner_of(self), y, &value, err);

    *inside = status == PN_OK && value <= 1.0 + tolerance;
    return status;
}

/* normal <- the outward normal of C near g / gauge, with support value 1: it is in the polar whatever the rounding. */
static pn_status normal_near(const pn_set *inner, const double *g, double gauge, double step, double *normal,
                             bool *found, pn_err *err)
{
    double height = 0.0;
    pn_status status;

    for (size_t j = 0; j < inner->dim; j++)
        normal[j] = g[j] / gauge * (1.0 + step);
    status = pn_set_project(inner, normal, inner->dim, err);
    for (size_t j = 0; status == PN_OK && j < inner->dim; j++)
        normal[j] = g[j] / gauge * (1.0 + step) - normal[j];
    if (status == PN_OK)
        status = inner_support(inner, normal, &height, err);
    *found = status == PN_OK && height > 0.0 && isfinite(height);
    for (size_t j = 0; *found && j < inner->dim; j++)
        normal[j] /= height;
    return status;
}

/* point <- the best normal, of those that the gauge comes with and of those from a few distances,
 * whose errors are of the second order. */
static pn_status find_point(const pn_set *inner, const double *g, double gauge, double best, double *point,
                            double *value, pn_err *err)
{
    double *normal = pn_alloc(inner->dim, sizeof *normal);
    pn_status status = normal ? PN_OK : pn_fail(err, PN_ENOMEM, "C:polar: out of memory in support");

    for (size_t k = 0; status == PN_OK && k < sizeof outside / sizeof *outside; k++) {
        bool found;

        if (best >= gauge * (1.0 - SUPPORT_ENOUGH))
            break;
        status = normal_near(inner, g, gauge, outside[k], normal, &found, err);
        if (status == PN_OK && found && pn_dot(inner->dim, g, normal) > best) {
            best = pn_dot(inner->dim, g, normal);
            memcpy(point, normal, inner->dim * sizeof *point);
        }
    }
    pn_free(normal);
    if (status == PN_OK && !(best >= gauge * (1.0 - SUPPORT_ACCEPT)))
        return pn_fail(err, PN_ENUMERIC,
                       "C:polar: no point with the greatest <g, x> was found to 1e-7; the set may have no interior");
    *value = best;
    return status;
}

static pn_status support_with_point(const pn_set *inner, const double *g, double *point, double *value, pn_err *err)
{
    double *normal = pn_alloc(inner->dim, sizeof *normal), reached = 0.0;
    pn_status status = normal ? PN_OK : pn_fail(err, PN_ENOMEM, "C:polar: out of memory in support");

    if (status == PN_OK)
        status = pn_gauge_by_project(inner, g, value, normal, &reached, err);
    if (status == PN_OK && inner->ops->gauge)
        status = inner->ops->gauge(inner, g, value, err);
    if (status == PN_OK && isfinite(*value)) /* gauge 0: the origin is as good as any point */
        status = find_point(inner, g, *value, reached, normal, value, err);
    if (status == PN_OK && isfinite(*value))
        memcpy(point, normal, inner->dim * sizeof *point);
    pn_free(normal);
    return status;
}

static pn_status polar_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const pn_set *inner = inner_of(self);

    if (!point || !pn_set_can_project(inner))
        return pn_set_gauge(inner, g, self->dim, value, err);
    return support_with_point(inner, g, point, value, err);
}

/* The polar lies between -gauge(-e_j) and gauge(e_j) in coordinate j, since y_j = <y, e_j> <= gauge(e_j). */
static double polar_radius(const pn_set *self, pn_lp norm)
{
    const double *up = pn_as_composite(self)->numbers, *down = up + self->dim;
    long double joined = 0.0L;

    for (size_t j = 0; j < self->dim; j++)
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, fmax(up[j], down[j])));
    return pn_norm_finish(norm, joined, self->dim);
}

static double polar_diameter(const pn_set *self, pn_lp norm)
{
    const double *up = pn_as_composite(self)->numbers, *down = up + self->dim;
    long double joined = 0.0L;

    for (size_t j = 0; j < self->dim; j++)
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, (long double)up[j] + down[j]));
    return pn_norm_finish(norm, joined, self->dim);
}

/* Roots of gauges, which are roots themselves. */
static double polar_shortfall(const pn_set *self)
{
    (void)self;
    return INFINITY;
}

static void polar_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

/* ---- the projection: y - lambda P(y / lambda), P on C, for the lambda where its gauge is 1 (Moreau) ---- */

typedef struct moreau {
    const pn_set *inner;
    const double *y;
    double *nearest;  /* [dim] P(y / lambda) */
    double *residual; /* [dim] y - lambda P */
} moreau;

/* *excess <- the gauge of the residual less 1; it falls as lambda grows.  At a normal <., P> is the support. */
static pn_status try_lambda(moreau *m, double lambda, double *excess, pn_err *err)
{
    size_t dim = m->inner->dim;
    pn_status status;

    for (size_t j = 0; j < dim; j++)
        m->nearest[j] = m->y[j] / lambda;
    status = pn_set_project(m->inner, m->nearest, dim, err);
    for (size_t j = 0; status == PN_OK && j < dim; j++)
        m->residual[j] = m->y[j] - lambda * m->nearest[j];
    *excess = status == PN_OK ? pn_dot(dim, m->residual, m->nearest) - 1.0 : 0.0;
    return status;
}

/* The root by false position, an end that stays twice counting half (Illinois). */
static pn_status find_lambda(moreau *m, double low, double high, double at_low, pn_err *err)
{
    double at_high = -1.0, at;
    int kept = 0;
    pn_status status = try_lambda(m, low, &at, err);

    if (status != PN_OK || !(at > 0.0)) /* an unbounded set: y goes to the directions that it bounds */
        return status;
    at_low = fmin(at, at_low);
    for (int turn = 0; status == PN_OK && turn < MOST_TURNS && high - low > PRECISION * high; turn++) {
        double part = at_low / (at_low - at_high);
        double lambda = turn % 8 < 5 ? low + part * (high - low) : sqrt(low) * sqrt(high);

        if (!(lambda > low && lambda < high))
            lambda = 0.5 * low + 0.5 * high;
        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = try_lambda(m, lambda, &at, err);
        if (fabs(at) <= PRECISION)
            break;
        if (at > 0.0) {
            low = lambda;
            at_low = at;
            at_high *= kept > 0 ? 0.5 : 1.0;
            kept = 1;
        } else {
            high = lambda;
            at_high = at;
            at_low *= kept < 0 ? 0.5 : 1.0;
            kept = -1;
        }
    }
    return status;
}

static pn_status polar_project(const pn_set *self, double *x, pn_err *err)
{
    const pn_set *inner = inner_of(self);
    size_t dim = self->dim;
    double *work, size = pn_lp_norm(PN_L2, dim, x), radius = inner->ops->radius(inner, PN_L2), excess, low, height;
    moreau m;
    pn_status status = inner_support(inner, x, &excess, err);

    if (status != PN_OK || excess <= 1.0)
        return status;
    if (!pn_square_fits(size) || !pn_square_fits(radius))
        return pn_fail(err, PN_EDOMAIN, "C:project: sizes must be from 1e-120 to 1e120, got v of %g and C of %g", size,
                       radius);
    work = pn_alloc(dim, 2 * sizeof *work);
    PN_TRY(pn_made(work, err, "C:project: out of memory"));
    m = (moreau){ inner, x, work, work + dim };
    excess -= 1.0;
    low = fmax(0.5 * excess / radius / radius, 1e-14 * size * size); /* h(y - lambda c) >= h(y) - lambda radius^2 */
    status = find_lambda(&m, fmin(low, 0.25 * size * size), 0.25 * size * size, excess, err);
    if (status == PN_OK)
        status = inner_support(inner, m.residual, &height, err);
    for (size_t j = 0; status == PN_OK && j < dim; j++) /* whatever the rounding, in the polar */
        x[j] = m.residual[j] / (isfinite(height) ? fmax(height, 1.0) : 1.0);
    pn_free(work);
    return status;
}

/* ---- construction ---- */

static pn_status measure(pn_composite *set, pn_err *err)
{
    size_t dim = set->base.dim;
    double *axis = pn_calloc(dim, sizeof *axis);
    pn_status status = axis ? PN_OK : pn_fail(err, PN_ENOMEM, "C:polar: out of memory");

    for (size_t i = 0; status == PN_OK && i < 2 * dim; i++) {
        axis[i % dim] = i < dim ? 1.0 : -1.0;
        status = pn_set_gauge(set->a, axis, dim, &set->numbers[i], err);
        set->numbers[i] *= RAISE;
        axis[i % dim] = 0.0;
    }
    pn_free(axis);
    return status;
}

static pn_status generic(pn_set **out, pn_set *set, pn_err *err)
{
    pn_composite *head;
    size_t numbers = 0;
    pn_status status = pn_need_support("C:polar", set, err);

    if (status == PN_OK)
        status = pn_size_product(&numbers, "C:polar", "2 numbers for each coordinate", 2, set->dim, err);
    if (status == PN_OK)
        status = pn_composite_new(&head, sizeof *head, "polar", set->dim, set, NULL, numbers, err);
    if (status != PN_OK)
        return status;
    head->ops.doc = "{y : <y, x> <= 1 for all x in C}";
    head->ops.symmetric = set->ops->symmetric;
    head->ops.support = polar_support;
    head->ops.radius = polar_radius;
    head->ops.diameter = polar_diameter;
    head->ops.contains = polar_contains;
    head->ops.center = polar_center;
    head->ops.gauge = polar_gauge;
    head->ops.project = pn_set_is_bounded(set) ? polar_project : NULL; /* all digits of multiples of far points */
    head->ops.shortfall = polar_shortfall;
    status = measure(head, err);
    if (status == PN_OK)
        *out = &head->base;
    else
        pn_composite_free(head);
    return status;
}

/* ---- cones: {y : <y, x> <= 0 for all x in K}, on which Moreau projects: z = P_K(z) + P_polar(z) ---- */

static pn_status cone_project(const pn_set *self, double *x, pn_err *err)
{
    double *along;
    pn_status status;

    PN_TRY(pn_new(&along, self->dim, err, "C:polar: out of memory in project"));
    memcpy(along, x, self->dim * sizeof *x);
    status = pn_set_project(inner_of(self), along, self->dim, err);
    for (size_t j = 0; status == PN_OK && j < self->dim; j++)
        x[j] -= along[j];
    pn_free(along);
    return status;
}

static pn_status polar_cone(pn_set **out, pn_set *set, pn_err *err)
{
    pn_composite *head;

    PN_TRY(pn_composite_new(&head, sizeof *head, "polar", set->dim, set, NULL, 0, err));
    head->ops.doc = "{y : <y, x> <= 0 for all x in K}";
    head->ops.cone = true;
    head->ops.support = pn_cone_support;
    head->ops.radius = pn_unbounded_size;
    head->ops.diameter = pn_unbounded_size;
    head->ops.contains = pn_cone_contains;
    head->ops.center = pn_cone_center;
    head->ops.project = cone_project;
    head->ops.gauge = pn_cone_gauge;
    *out = &head->base;
    return PN_OK;
}

static pn_status origin_is_inside(const pn_set *set, pn_err *err)
{
    double *origin = pn_calloc(set->dim, sizeof *origin), radius = set->ops->radius(set, PN_L2);
    bool inside = false;
    pn_status status;

    PN_TRY(pn_made(origin, err, "C:polar: out of memory"));
    status = set->ops->contains(set, origin, isfinite(radius) ? 1e-12 * radius : 0.0, &inside, err);
    pn_free(origin);
    if (status == PN_OK && !inside)
        return pn_fail(err, PN_EUNSUPPORTED, "C:polar: the origin is not in %s; shift the set so that it is",
                       set->ops->name);
    return status;
}

static const struct pair {
    const char *name, *dual;
} pairs[] = { { "l1_ball", "linf_ball" }, { "linf_ball", "l1_ball" },          { "l2_ball", "l2_ball" },
              { "lp_ball", "lp_ball" },   { "nuclear_ball", "spectral_ball" }, { "spectral_ball", "nuclear_ball" } };

/* The polar of a set that is no wrapper. */
static pn_status polar_of(pn_set **out, pn_set *set, pn_err *err)
{
    pn_status status = PN_EUNSUPPORTED;

    for (size_t k = 0; k < sizeof pairs / sizeof *pairs && status == PN_EUNSUPPORTED; k++) {
        if (strcmp(set->ops->name, pairs[k].name) == 0 && set->ops->scale)
            status = pn_set_ball_like(out, pairs[k].dual, set, 1.0 / set->ops->scale(set), err);
    }
    if (status != PN_EUNSUPPORTED)
        return status;
    if (pn_is_composite(set, "polar")) {
        *out = pn_set_keep(pn_as_composite(set)->a);
        return PN_OK;
    }
    if (set->ops->cone)
        return polar_cone(out, set, err);
    status = origin_is_inside(set, err);
    return status == PN_OK ? generic(out, set, err) : status;
}

pn_status pn_set_polar(pn_set **out, pn_set *set, pn_err *err)
{
    const double *shift;
    double factor;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);
    pn_set *unit = NULL;
    pn_status status;

    *out = NULL;
    if (shift || inner == set)
        return polar_of(out, set, err);
    status =
        polar_of(&unit, (pn_set *)inner, err); /* (f C)* = C* / f; sets count their references, so they are not const */
    if (status == PN_OK)
        status = pn_set_scale(out, unit, 1.0 / factor, err);
    pn_set_free(unit);
    return status;
}
