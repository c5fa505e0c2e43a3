/* numeric_step.c -- the mirror step by iteration: minimise f(x) = Psi(x) - <c, x> over C.
 * Values of f are never compared: close to the minimum their rounding hides the difference.  Step lengths, restarts and
 * the end are decided by gradients, which also say (PN_EDOMAIN) where Psi ends.
 * Depends on: numeric_step.h, set_algebra.h, smooth_descent.h.  Used by: potential.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/smooth_descent.h"
#include "geometry/potentials/numeric_step.h"
#include "numeric/blas.h"

#define UNLIMITED         100000 /* rounds, without a limit, */
#define UNLIMITED_MEETING 2000   /* and where a projection is an iteration of its own */
#define TOLERANCE         1e-13
#define FAR_TOLERANCE     1e-24 /* of |c|^2 over the modulus, in a set without end */
#define ROUNDING          1e-14

typedef struct over_set {
    const pn_potential *potential;
    const pn_set *set;
} over_set;

static pn_status gradient_of(void *self, const double *x, double *out, pn_err *err)
{
    const over_set *of = self;

    return of->potential->ops->gradient(of->potential, x, of->set->dim, out, err);
}

static pn_status project_on(void *self, double *x, pn_err *err)
{
    const over_set *of = self;

    return pn_set_project(of->set, x, of->set->dim, err);
}

static pn_status support_of(void *self, const double *g, double *value, pn_err *err)
{
    const over_set *of = self;

    if (!of->set->ops->support) {
        *value = INFINITY;
        return PN_OK;
    }
    return of->set->ops->support(of->set, g, NULL, value, err);
}

/* A point of C where Psi has a gradient, which goes to slope: its center, or what is nearest to the unconstrained
 * minimum. */
static pn_status first_point(const pn_potential *p, const pn_set *set, const double *c, double *x, double *slope,
                             pn_err *err)
{
    pn_status status;

    set->ops->center(set, x);
    status = p->ops->gradient(p, x, set->dim, slope, err);
    if (status != PN_EDOMAIN || !p->ops->inverse_gradient)
        return status;
    status = p->ops->inverse_gradient(p, c, set->dim, x, err);
    if (status == PN_OK)
        status = pn_set_project(set, x, set->dim, err);
    return status == PN_OK ? p->ops->gradient(p, x, set->dim, slope, err) : status;
}

/* Where the last step ended, which is a point of C, if it has a gradient there; else first_point. */
static pn_status begin(const pn_potential *p, const pn_set *set, const double *c, const pn_step_limit *limit, double *x,
                       double *slope, pn_err *err)
{
    if (limit && limit->warm && pn_lp_norm(PN_LINF, set->dim, limit->warm) > 0.0) {
        memcpy(x, limit->warm, set->dim * sizeof *x);
        if (p->ops->gradient(p, x, set->dim, slope, err) == PN_OK)
            return PN_OK;
    }
    return first_point(p, set, c, x, slope, err);
}

/* What is asked of it, and how. */
static pn_status open_problem(pn_smooth_problem *problem, const pn_potential *p, const pn_set *set, const double *c,
                              const double *x, const double *slope, const pn_step_limit *limit, pn_err *err)
{
    double R = 1.0, size = set->ops->radius(set, PN_L2), factor, scale = 0.0;
    const double *shift;
    const pn_set *parts[2];
    bool meets = pn_set_intersection_parts(pn_set_unwrap(set, &factor, &shift), &parts[0], &parts[1]);
    bool by_support = !set->ops->project;

    PN_TRY(pn_norm_radius(p->norm, PN_L2, set->dim, &R, err));
    size = isfinite(size) ? size : pn_lp_norm(PN_L2, set->dim, x);
    problem->modulus = p->strong_convexity / (R * R);
    problem->most = limit ? PN_STEP_ROUNDS : meets ? UNLIMITED_MEETING : UNLIMITED;
    problem->rounding = (!by_support && !meets ? 1e-15 : 1e-10) * size;
    if (limit || meets)
        scale = fmax(fabs(pn_dot(set->dim, c, x)) + fabs(pn_dot(set->dim, slope, x)), problem->modulus * size * size);
    if (limit) /* projections by support points are right to 1e-10 of the squared size */
        problem->gap =
            fmax(limit->gap, fmax(ROUNDING * scale, by_support ? 1e-10 * problem->modulus * size * size : 0.0));
    else if (meets)
        problem->gap = TOLERANCE * scale;
    else if (!pn_set_is_bounded(set)) /* nothing else ends it before rounding does */
        problem->gap = FAR_TOLERANCE * pn_dot(set->dim, c, c) / problem->modulus;
    if (problem->gap > 0.0 || limit)
        problem->support = NULL;
    return PN_OK;
}

pn_status pn_numeric_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_step_limit *limit,
                          pn_err *err)
{
    over_set of = { p, set };
    pn_smooth_problem problem = {
        .n = set->dim, .c = c, .self = &of, .gradient = gradient_of, .project = project_on, .support = support_of
    };
    bool ended = false;
    double *x;
    pn_status status;

    if (!pn_set_can_project(set))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "mirror step: %s has no closed form over %s, and the set has neither a projection nor, being unbounded, "
            "support points to go by",
            p->ops->name, set->ops->name);
    PN_TRY(pn_new(&x, 2 * set->dim, err, "mirror step: out of memory"));
    status = begin(p, set, c, limit, x, x + set->dim, err);
    if (status == PN_OK)
        status = open_problem(&problem, p, set, c, x, x + set->dim, limit, err);
    if (status == PN_OK)
        status = pn_smooth_descent(&problem, x, x + set->dim, &ended, err);
    if (status == PN_OK && !ended && !limit)
        status = pn_fail(err, PN_ENUMERIC, "mirror step: not at the minimum after %zu steps", problem.rounds);
    if (status == PN_OK) {
        memcpy(y, x, set->dim * sizeof *y);
        if (limit && limit->warm)
            memcpy(limit->warm, x, set->dim * sizeof *x);
    }
    if (status == PN_OK && limit) {
        limit->rounds = problem.rounds + 1;
        limit->reached = problem.reached <= problem.gap || ended ? 0.0 : problem.reached;
    }
    pn_free(x);
    return status;
}
