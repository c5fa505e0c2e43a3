/* plan_width.c -- the Gaussian width that a plan's bound needs, in no more draws than the bound can see.
 * Depends on: solver.h, geometry.  Used by: the plans of mirror_descent, frank_wolfe_convex, objective_perturbation. */
#include <math.h>

#include "geometry/convex/set.h"
#include "geometry/width/width.h"
#include "solvers/engine/solver.h"

#define LOOK_SEED 2 /* any but that of width.c */

/* Plans see G beside the set's radius, as G or sqrt(G^2 + R^2): a first look says how large G is,
 * so that wide sets take fewer
 * draws.  Its draws are others, so that the interval that counts is fixed before its own are seen. */
pn_status pn_plan_width(pn_width *out, const pn_set *set, pn_task *task, pn_err *err)
{
    double unit = fmin(set->ops->radius(set, PN_L2), 0.5 * set->ops->diameter(set, PN_L2));
    pn_width_options look = { .tolerance = 0.1, .task = task }, how = { .task = task };
    pn_width found;
    pn_status status = pn_rng_seeded(&look.rng, LOOK_SEED, err);

    if (status == PN_OK)
        status = pn_set_width(set, &look, &found, err);
    pn_rng_free(look.rng);
    if (status == PN_OK && found.draws > 0) {
        how.tolerance = unit > 0.0 ? 0.01 * hypot(1.0, fmax(found.low, 0.0) / unit) : 0.01;
        status = pn_set_width(set, &how, &found, err);
    }
    if (status == PN_OK)
        *out = found;
    return status;
}

/* The set lies in lp balls about the origin, and below the largest of its vertices' Gaussians. */
static double upper(const pn_set *set)
{
    const double *shift;
    double factor, p = (double)set->dim, G;
    const pn_set *body = pn_set_unwrap(set, &factor, &shift); /* a shift changes no width */

    G = fmin(body->ops->radius(body, PN_L2) * sqrt(p), body->ops->radius(body, PN_L1) * sqrt(2.0 * log(2.0 * p)));
    G = fmin(G, body->ops->radius(body, PN_LINF) * p * sqrt(2.0 / acos(-1.0)));
    if (pn_set_is_polytope(body))
        G = fmin(G, body->ops->radius(body, PN_L2) * sqrt(2.0 * log((double)body->ops->atom_count(body))));
    return fabs(factor) * G;
}

pn_status pn_plan_width_at_most(pn_width *out, const pn_set *set, pn_err *err)
{
    pn_width_options exact = { .method = PN_WIDTH_QUADRATURE };
    pn_status status = pn_set_width(set, &exact, out, err);

    if (status != PN_EUNSUPPORTED)
        return status;
    *out = (pn_width){ .method = PN_WIDTH_AUTO, .value = upper(set), .confidence = 1.0 };
    out->high = out->value;
    return PN_OK;
}

void pn_plan_explain_width(pn_plan *plan, const char *name, const char *of, const pn_width *width)
{
    if (width->draws)
        pn_plan_add(plan, name, width->value, "in [%.6g, %.6g] with confidence %g, %zu draws", width->low, width->high,
                    width->confidence, width->draws);
    else if (width->method == PN_WIDTH_AUTO)
        pn_plan_add(plan, name, width->value, "at most, without draws: that of what is around %s", of);
    else
        pn_plan_add(plan, name, width->value, "E max over %s of <b, v>, %s", of, pn_width_methods[width->method]);
}
