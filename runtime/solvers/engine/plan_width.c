/* plan_width.c -- the Gaussian width that a plan's bound needs: an upper bound without draws, or draws where the caller
 * asks for them, no more than the bound can see and as many as two seconds allow.
 * Depends on: solver.h, geometry.  Used by: the plans of mirror_descent, frank_wolfe_convex, objective_perturbation. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <time.h>

#include "geometry/convex/set.h"
#include "geometry/width/width.h"
#include "geometry/algebra/width_bound.h"
#include "solvers/engine/solver.h"

#define LOOK_SEED  2 /* any but that of width.c */
#define LOOK_DRAWS 4
#define SECONDS    2.0
#define FEW        32 /* draws: then their interval tells less than the bound */

const char *const pn_plan_widths[] = { "bound", "monte_carlo", NULL };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one draw, and about how large G is. */
static pn_status look_at(pn_width *found, double *each, const pn_set *set, pn_task *task, pn_err *err)
{
    pn_width_options look = { .method = PN_WIDTH_MONTE_CARLO, .draws = LOOK_DRAWS, .task = task };
    double begun;
    pn_status status = pn_rng_seeded(&look.rng, LOOK_SEED, err);

    begun = seconds_now();
    if (status == PN_OK)
        status = pn_set_width(set, &look, found, err);
    *each = (seconds_now() - begun) / LOOK_DRAWS;
    pn_rng_free(look.rng);
    return status;
}

/* Plans see G beside the set's radius, as G or sqrt(G^2 + R^2): a first look says how large G is, so that wide sets
 * take fewer draws.  Its draws are others, so that the interval that counts is fixed before its own are seen. */
static pn_status draw(pn_width *out, const pn_set *set, pn_task *task, pn_err *err)
{
    double unit = fmin(set->ops->radius(set, PN_L2), 0.5 * set->ops->diameter(set, PN_L2)), each = 0.0, wanted, most;
    pn_width_options how = { .method = PN_WIDTH_MONTE_CARLO, .task = task };
    pn_width found;

    PN_TRY(look_at(&found, &each, set, task, err));
    how.tolerance = unit > 0.0 ? 0.01 * hypot(1.0, fmax(found.value - 0.5 * unit, 0.0) / unit) : 0.01;
    wanted = ceil(2.0 * log(200.0) / (how.tolerance * how.tolerance));
    most = each > 0.0 ? SECONDS / each : wanted;
    how.draws = (size_t)fmin(wanted, fmax(most, FEW));
    PN_TRY(pn_set_width(set, &how, &found, err));
    if (found.high < out->high)
        *out = found;
    return PN_OK;
}

pn_status pn_plan_width(pn_width *out, const pn_set *set, const pn_arg *how, pn_task *task, pn_err *err)
{
    PN_TRY(pn_plan_width_at_most(out, set, err));
    return out->method == PN_WIDTH_AUTO && how->given && strcmp(how->text, pn_plan_widths[1]) == 0
               ? draw(out, set, task, err)
               : PN_OK;
}

pn_status pn_plan_width_at_most(pn_width *out, const pn_set *set, pn_err *err)
{
    pn_width_options exact = { .method = PN_WIDTH_QUADRATURE };
    pn_status status = pn_set_width(set, &exact, out, err);

    if (status != PN_EUNSUPPORTED)
        return status;
    *out = (pn_width){ .method = PN_WIDTH_AUTO, .confidence = 1.0 };
    PN_TRY(pn_set_width_at_most(&out->value, set, err));
    out->high = out->value;
    return PN_OK;
}

void pn_plan_explain_width(pn_plan *plan, const char *name, const char *of, const pn_width *width)
{
    if (width->draws)
        pn_plan_add(plan, name, width->value, "in [%.6g, %.6g] with confidence %g, %zu draws", width->low, width->high,
                    width->confidence, width->draws);
    else if (width->method == PN_WIDTH_AUTO)
        pn_plan_add(plan, name, width->value, "at most, without draws: by what is around %s, or its parts", of);
    else
        pn_plan_add(plan, name, width->value, "E max over %s of <b, v>, %s", of, pn_width_methods[width->method]);
}
