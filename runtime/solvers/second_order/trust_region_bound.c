/* trust_region_bound.c -- how many steps a trust-region run takes, what a step is sure to gain,
 * and what the last one proves.
 * Depends on: trust_region.h.  Used by: trust_region_plan.c, trust_region.c.
 * The derivation is at the head of trust_region.h. */
#include <math.h>

#include "solvers/second_order/trust_region.h"

#define UP (1.0 + 1e-9) /* beyond the rounding of steps, and of the multiplier */

double tr_threshold(const tr_constants *of)
{
    return sqrt(of->lipschitz) * sqrt(of->tolerance);
}

double tr_gradient_limit(const tr_constants *of)
{
    return of->tolerance / 12.0;
}

double tr_hessian_limit(const tr_constants *of)
{
    return tr_threshold(of) / 6.0;
}

double tr_decrease(const tr_constants *of)
{
    return of->tolerance * sqrt(of->tolerance) / (6.0 * sqrt(of->lipschitz));
}

double tr_sure_decrease(const tr_constants *of, double e, double E)
{
    double r = of->radius;

    return r * (r * (tr_threshold(of) - E) / 2.0 - e - of->lipschitz * r * r / 6.0);
}

size_t tr_iterations(const tr_constants *of, size_t cap)
{
    double steps = ceil(of->gap / tr_decrease(of) * (1.0 - 0x1p-40)); /* 2000.0000000000002 is 2000 */

    if (!(steps < (double)cap))
        return cap;
    return steps > 1.0 ? (size_t)steps : 1;
}

void tr_certify(const tr_constants *of, const tr_move *move, double e, double E, double lowest, pn_certificate *out)
{
    double length = move->length * UP, bend = of->lipschitz * length;

    out->noisy_gradient_norm = move->multiplier * length;
    out->noisy_eigenvalue = move->least;
    out->gradient_error = (e + E * length + bend * length / 2.0) * UP;
    out->hessian_error = (E + bend) * UP;
    out->gradient_norm = out->noisy_gradient_norm * UP + out->gradient_error;
    out->eigenvalue = fmax(move->least - out->hessian_error, lowest);
    out->gradient_target = 1.75 * of->tolerance;
    out->eigenvalue_target = -13.0 / 6.0 * tr_threshold(of);
    out->failure = of->failure;
}
