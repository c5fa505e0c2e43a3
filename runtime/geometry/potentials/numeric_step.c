/* numeric_step.c -- the mirror step by iteration: minimise f(x) = Psi(x) - <c, x> over C.
 * Values of f are never compared: close to the minimum their rounding hides the difference.  Step lengths, restarts and
 * the end are decided by gradients, which also say (PN_EDOMAIN) where Psi ends.
 * Depends on: numeric_step.h, smooth_descent.h.  Used by: potential.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/smooth_descent.h"
#include "geometry/potentials/numeric_step.h"

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

/* A point of C where Psi has a gradient: its center, or what is nearest to the unconstrained minimum. */
static pn_status first_point(const pn_potential *p, const pn_set *set, const double *c, double *x, double *scratch,
                             pn_err *err)
{
    pn_status status;

    set->ops->center(set, x);
    status = p->ops->gradient(p, x, set->dim, scratch, err);
    if (status != PN_EDOMAIN || !p->ops->inverse_gradient)
        return status;
    status = p->ops->inverse_gradient(p, c, set->dim, x, err);
    if (status == PN_OK)
        status = pn_set_project(set, x, set->dim, err);
    return status == PN_OK ? p->ops->gradient(p, x, set->dim, scratch, err) : status;
}

pn_status pn_numeric_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_err *err)
{
    over_set of = { p, set };
    pn_smooth_problem problem = { set->dim, c, &of, gradient_of, project_on, support_of };
    double *x;
    pn_status status;

    if (!pn_set_can_project(set))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "mirror step: %s has no closed form over %s, and the set has neither a projection nor, being unbounded, "
            "support points to go by",
            p->ops->name, set->ops->name);
    x = pn_alloc(set->dim, 2 * sizeof *x);
    PN_TRY(pn_made(x, err, "mirror step: out of memory"));
    status = first_point(p, set, c, x, x + set->dim, err);
    if (status == PN_OK)
        status = pn_smooth_descent(&problem, x, err);
    if (status == PN_OK)
        memcpy(y, x, set->dim * sizeof *y);
    pn_free(x);
    return status;
}
