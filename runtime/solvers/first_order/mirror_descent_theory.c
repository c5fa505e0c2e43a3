/* mirror_descent_theory.c -- steps and bound of Theorem 3.2, which preset="theory" has.  With Q the unit ball of the
 * potential's norm, R its l2 radius, G its width, D2 the range of the potential over C and
 * M = L R + sigma sqrt(G^2 + R^2), T steps of size sqrt(2 D2/(T M^2)) have expected excess risk at most
 * M sqrt(2 D2/T).  sigma = Delta sqrt(T/(2 rho)), so the bound falls with T toward a limit; T is taken where the two
 * parts of M are equal.
 * Depends on: mirror_descent.h.  Used by: mirror_descent_plan.c.
 * Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2, constants as proven. */
#include <math.h>

#include "solvers/first_order/mirror_descent.h"

size_t md_theory_steps(const pn_mirror_geometry *of, const md_theory *with)
{
    double steps;

    if (with->given)
        return with->given;
    if (isnan(with->rho) || !isfinite(with->lipschitz) || with->sensitivity == 0.0)
        return with->most < MD_DEFAULT_STEPS ? with->most : MD_DEFAULT_STEPS;
    steps = with->lipschitz * of->R / with->sensitivity;
    steps = 2.0 * with->rho * steps * steps / of->G2R2;
    return (size_t)fmin(fmax(ceil(steps), 1.0), (double)with->most);
}

double md_theory_bound(const pn_mirror_geometry *of, const void *self)
{
    const md_theory *with = self;
    double T = (double)md_theory_steps(of, with);
    double noise = isnan(with->rho) ? 0.0 : with->sensitivity * sqrt(T / (2.0 * with->rho));

    if (isfinite(with->lipschitz))
        return (with->lipschitz * of->R + of->regular + noise * sqrt(of->G2R2)) * sqrt(2.0 * of->D2 / T);
    return sqrt(of->D2 * of->G2R2);
}

void md_set_settings(md_plan *plan, const pn_arg *own, bool theory)
{
    pn_plan_set(&plan->base, "iterations", (double)plan->base.iterations, true);
    if (own[MD_STRONGLY_CONVEX].given)
        pn_plan_set(&plan->base, "strongly_convex", own[MD_STRONGLY_CONVEX].real, false);
    else if (!own[MD_STEP].given && !theory)
        pn_plan_set(&plan->base, "time", own[MD_TIME].real, false);
    else if (!plan->step.each)
        pn_plan_set(&plan->base, "step", plan->step.eta, false);
}
