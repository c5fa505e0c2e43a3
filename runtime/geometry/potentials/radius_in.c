/* radius_in.c -- max N(x) over C: over the vertices, by one shape being the other's, or bounded through l1, l2 and
 * linf.  max {N(x) : ||x||_lp <= 1} is the radius, in the dual lp norm, of the dual unit ball;
 * of l1 it is max_j N(e_j).
 * Depends on: radius_in.h, upper.h.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/upper.h"
#include "geometry/potentials/radius_in.h"

#define VERTICES_NUMBERS 1e8
#define AXES_NUMBERS     1e8 /* dim^2, what the norms of all e_j cost */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* point[dim]: scratch, zero */
static pn_status over_vertices(const pn_set *set, const pn_norm *norm, double *point, double *radius, pn_err *err)
{
    size_t count = set->ops->atom_count(set), dim = set->dim;
    pn_status status = PN_OK;

    *radius = 0.0;
    for (size_t i = 0; i < count && status == PN_OK; i++) {
        const double *x = point;
        double value = 0.0;
        pn_atom atom;

        memset(point, 0, dim * sizeof *point);
        set->ops->atom(set, i, &atom, point);
        if (atom.index)
            pn_atom_add(&atom, 1.0, point);
        else
            x = atom.value;
        status = pn_norm_value(norm, x, dim, &value, err);
        *radius = larger(*radius, value);
    }
    return status;
}

static pn_status over_axes(const pn_norm *norm, size_t dim, double *point, double *radius, pn_err *err)
{
    pn_status status = PN_OK;

    *radius = 0.0;
    for (size_t j = 0; j < dim && status == PN_OK; j++) {
        double value = 0.0;

        point[j] = 1.0;
        status = pn_norm_value(norm, point, dim, &value, err);
        point[j] = 0.0;
        *radius = larger(*radius, value);
    }
    return status;
}

/* A bound that does not exist leaves *radius alone; only other failures count. */
static pn_status bound_through(const pn_set *set, const pn_norm *norm, const pn_norm *dual, pn_lp lp, double *point,
                               double *radius, pn_err *err)
{
    size_t dim = set->dim;
    double unit = INFINITY;
    pn_status status = pn_norm_radius(dual, pn_lp_dual(lp), dim, &unit, err);

    if (status == PN_EUNSUPPORTED && lp == PN_L1 && (double)dim * (double)dim <= AXES_NUMBERS)
        status = over_axes(norm, dim, point, &unit, err);
    if (status == PN_OK && isfinite(unit))
        *radius = fmin(*radius, pn_times_up(unit, set->ops->radius(set, lp)));
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

static pn_status bound(const pn_set *set, const pn_norm *norm, double *point, double *radius, pn_err *err)
{
    pn_norm *dual = NULL;
    pn_status status = pn_norm_dual(&dual, norm, err);

    *radius = INFINITY;
    for (int lp = 0; lp < PN_LP_COUNT && status == PN_OK; lp++)
        status = bound_through(set, norm, dual, (pn_lp)lp, point, radius, err);
    pn_norm_free(dual);
    if (status == PN_OK && isinf(*radius))
        return pn_fail(err, PN_EUNSUPPORTED, "C:radius_in: no bound is known of this norm over %s", set->ops->name);
    return status;
}

/* Multiples of one body: C = a K and the ball = b K, so that the radius is a / b. */
static pn_status by_shape(const pn_set *set, const pn_norm *norm, bool *found, double *radius, pn_err *err)
{
    const double *shift, *ball_shift;
    double factor, ball_factor;
    pn_set *ball = NULL;
    pn_status status = pn_norm_ball(&ball, norm, set->dim, err);
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift), *ball_inner;

    *found = false;
    if (status == PN_EUNSUPPORTED)
        return PN_OK;
    if (status != PN_OK)
        return status;
    ball_inner = pn_set_unwrap(ball, &ball_factor, &ball_shift);
    *found = inner == ball_inner && inner->ops->symmetric && !shift && !ball_shift;
    if (*found)
        *radius = fabs(factor) / fabs(ball_factor);
    pn_set_free(ball);
    return PN_OK;
}

pn_status pn_set_radius_in(const pn_set *set, const pn_norm *norm, double *radius, pn_err *err)
{
    size_t dim = pn_norm_dim(norm), count = pn_set_is_polytope(set) ? set->ops->atom_count(set) : 0;
    bool found = false;
    pn_status status;
    double *point;

    if (dim && dim != set->dim)
        return pn_fail(err, PN_EDIM, "C:radius_in: the norm has %zu entries, the set has %zu", dim, set->dim);
    if (!pn_set_is_bounded(set)) {
        *radius = INFINITY;
        return PN_OK;
    }
    status = by_shape(set, norm, &found, radius, err);
    if (status != PN_OK || found)
        return status;
    PN_TRY(pn_new_zeroed(&point, set->dim, err, "C:radius_in: out of memory"));
    if (count > 0 && (double)count * (double)set->dim <= VERTICES_NUMBERS)
        status = over_vertices(set, norm, point, radius, err);
    else
        status = bound(set, norm, point, radius, err);
    pn_free(point);
    return status;
}
