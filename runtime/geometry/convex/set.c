/* set.c -- constraint sets: reference counts and the checked doors.
 * Depends on: set.h.  Used by: objective, solvers, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/fallback.h"
#include "geometry/convex/set.h"

void pn_set_init(pn_set *set, const pn_set_ops *ops, size_t dim)
{
    set->ops = ops;
    set->dim = dim;
    set->references = 1;
}

pn_set *pn_set_keep(pn_set *set)
{
    set->references++;
    return set;
}

void pn_set_free(pn_set *set)
{
    if (set && --set->references == 0)
        set->ops->destroy(set);
}

pn_status pn_set_center_at(pn_set **out, pn_set *set, const char *owner, const pn_arg *center, pn_err *err)
{
    pn_status status;

    *out = NULL;
    if (!center->given) {
        *out = set;
        return PN_OK;
    }
    if (center->vector.n != set->dim)
        status = pn_fail(err, PN_EDIM, "%s: center has %zu entries, dim is %zu", owner, center->vector.n, set->dim);
    else
        status = pn_set_shift(out, set, center->vector.data, center->vector.n, err);
    pn_set_free(set); /* the shifted set keeps it */
    return status;
}

/* ---- checked doors ---- */

static pn_status check_point(const pn_set *set, const char *door, const char *what, const double *x, size_t n,
                             pn_err *err)
{
    size_t bad;

    if (n != set->dim)
        return pn_fail(err, PN_EDIM, "%s: %s has %zu entries, the set has %zu", door, what, n, set->dim);
    bad = pn_first_nonfinite(x, n);
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at entry %zu", door, what, x[bad],
                       bad + 1);
    return PN_OK;
}

pn_status pn_set_support(const pn_set *set, const double *g, size_t n, double *value, double *point, pn_err *err)
{
    pn_status status = check_point(set, "C:support", "g", g, n, err);
    double best = NAN;

    if (status == PN_OK && !set->ops->support)
        return pn_fail(err, PN_EUNSUPPORTED, "C:support: %s has no support function; C:project is what it offers",
                       set->ops->name);
    if (status == PN_OK)
        status = set->ops->support(set, g, point, &best, err);
    if (status != PN_OK)
        return status;
    if (isinf(best))
        return pn_fail(err, PN_EUNSUPPORTED, "C:support: <g, x> is unbounded over %s", set->ops->name);
    if (value)
        *value = best;
    return PN_OK;
}

pn_status pn_set_dual_norm(const pn_set *set, const double *x, size_t n, double *value, pn_err *err)
{
    pn_status status = pn_set_support(set, x, n, value, NULL, err);
    double *back, other;

    if (status != PN_OK || set->ops->symmetric)
        return status;
    PN_TRY(pn_new(&back, n, err, "dual norm: out of memory"));
    for (size_t j = 0; j < n; j++)
        back[j] = -x[j];
    status = pn_set_support(set, back, n, &other, NULL, err);
    pn_free(back);
    *value = fmax(*value, other);
    return status;
}

bool pn_set_is_bounded(const pn_set *set)
{
    return isfinite(set->ops->radius(set, PN_L2));
}

double pn_set_shortfall(const pn_set *set)
{
    return set->ops->shortfall ? set->ops->shortfall(set) : 0.0;
}

double pn_set_projection_error(const pn_set *set, double size)
{
    return set->ops->project && set->ops->projection_error ? set->ops->projection_error(set, size) : INFINITY;
}

bool pn_set_can_project(const pn_set *set)
{
    return set->ops->project || (set->ops->support && pn_set_is_bounded(set));
}

pn_status pn_set_project(const pn_set *set, double *x, size_t n, pn_err *err)
{
    PN_TRY(check_point(set, "C:project", "v", x, n, err));
    return set->ops->project ? set->ops->project(set, x, err) : pn_project_by_support(set, x, err);
}

pn_status pn_set_gauge(const pn_set *set, const double *x, size_t n, double *gauge, pn_err *err)
{
    PN_TRY(check_point(set, "C:gauge", "v", x, n, err));
    return set->ops->gauge ? set->ops->gauge(set, x, gauge, err) : pn_gauge_by_search(set, x, gauge, err);
}

pn_status pn_set_contains(const pn_set *set, const double *x, size_t n, double tolerance, bool *inside, pn_err *err)
{
    PN_TRY(check_point(set, "C:contains", "v", x, n, err));
    if (!(tolerance >= 0.0))
        return pn_fail(err, PN_EINVAL, "C:contains: tol must be a number >= 0, got %g", tolerance);
    return set->ops->contains(set, x, tolerance, inside, err);
}

pn_status pn_set_sample(const pn_set *set, pn_rng *rng, double *x, bool *uniform, pn_err *err)
{
    if (uniform)
        *uniform = set->ops->sample != NULL;
    return set->ops->sample ? set->ops->sample(set, rng, x, err) : pn_sample_by_support(set, rng, x, err);
}

bool pn_set_is(const pn_set *set, const char *name, double *radius)
{
    const double *shift;
    double factor;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);

    if (shift || !inner->ops->scale || strcmp(inner->ops->name, name) != 0 || (factor < 0.0 && !inner->ops->symmetric))
        return false;
    *radius = fabs(factor) * inner->ops->scale(inner);
    return true;
}

bool pn_set_number(const pn_set *set, const char *name, double *value)
{
    const double *shift;
    double factor;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);

    return inner->ops->number && inner->ops->number(inner, name, value);
}

bool pn_set_is_polytope(const pn_set *set)
{
    return set->ops->atom_count != NULL;
}

bool pn_set_is_intervals(const pn_set *set)
{
    double factor;
    const double *shift;
    const char *name = pn_set_unwrap(set, &factor, &shift)->ops->name;

    return strcmp(name, "box") == 0 || strcmp(name, "linf_ball") == 0;
}

/* The support points of all ones and of their opposite. */
pn_status pn_set_ends(double *low, double *high, const pn_set *set, pn_err *err)
{
    double *g = pn_alloc(set->dim, sizeof *g), value;
    pn_status status;

    PN_TRY(pn_made(g, err, "set: out of memory for %zu intervals", set->dim));
    for (size_t j = 0; j < set->dim; j++)
        g[j] = 1.0;
    status = set->ops->support(set, g, high, &value, err);
    for (size_t j = 0; j < set->dim; j++)
        g[j] = -1.0;
    if (status == PN_OK)
        status = set->ops->support(set, g, low, &value, err);
    pn_free(g);
    return status;
}

void pn_atom_add(const pn_atom *atom, double weight, double *x)
{
    if (atom->index) {
        for (size_t k = 0; k < atom->count; k++)
            x[atom->index[k]] += weight * atom->value[k];
    } else {
        for (size_t k = 0; k < atom->count; k++)
            x[k] += weight * atom->value[k];
    }
}

void pn_set_describe(const pn_set *set, char *text, size_t size)
{
    if (set->ops->describe)
        set->ops->describe(set, text, size);
    else if (!pn_set_is_bounded(set))
        (void)snprintf(text, size, "%s(dim=%zu)", set->ops->name, set->dim);
    else
        (void)snprintf(text, size, "%s(dim=%zu, radius=%.10g)", set->ops->name, set->dim, set->ops->radius(set, PN_L2));
}

/* ---- what is known of it ---- */

size_t pn_set_dim(const pn_set *set)
{
    return set->dim;
}

double pn_set_radius(const pn_set *set, pn_lp norm)
{
    return set->ops->radius(set, norm);
}

double pn_set_diameter(const pn_set *set, pn_lp norm)
{
    return set->ops->diameter(set, norm);
}
