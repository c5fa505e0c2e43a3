/* calibrate_program.c -- the noise of whole runs, the least budget that pays for one release,
 * and the batch from which noise no longer
 * falls.  Depends on: calibrate_program.h, accountant.h.  Used by: solvers (plans). */
#include <math.h>
#include <string.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate_program.h"

/* ---- one multiplier ---- */

static bool is_rho(const pn_run_budget *budget)
{
    return !isnan(budget->rho);
}

pn_status pn_calibrate_run(double *noise, double *reached, const pn_run_budget *budget, const pn_program *program,
                           pn_err *err)
{
    pn_goal goal = { .owner = budget->owner,
                     .parameter = "noise multiplier",
                     .accountant = budget->accountant,
                     .epsilon = budget->epsilon,
                     .delta = budget->delta,
                     .low = 0x1p-30,
                     .start = 1.0,
                     .high = 0x1p60,
                     .tolerance = 1e-5 };

    if (is_rho(budget)) {
        goal.price = PN_PRICE_RHO;
        goal.epsilon = budget->rho;
        goal.delta = 0.0;
    } else if (strcmp(budget->accountant, "rdp") == 0) {
        goal.price = PN_PRICE_EVENT;
    } else {
        goal.tolerance = 3e-4; /* every question takes up to a second, and is answered to about that */
    }
    return pn_calibrate(noise, reached, &goal, program, err);
}

/* ---- the least budget ---- */

static bool has_noise(const pn_gaussian_releases *want, double budget)
{
    pn_gaussian_releases trial = *want;

    *(isnan(want->rho) ? &trial.epsilon : &trial.rho) = budget;
    return pn_calibrate_gaussian_releases(&trial) > 0.0;
}

double pn_smallest_budget(const pn_gaussian_releases *want)
{
    static const double large[] = { 1e-3, 1.0, 10.0, 40.0 }; /* far above, tails have no room in delta again */
    double low = 1e-250, high = INFINITY;

    for (size_t i = 0; i < sizeof large / sizeof *large && isinf(high); i++)
        high = has_noise(want, large[i]) ? large[i] : INFINITY;
    while (isfinite(high) && high > low * (1.0 + 1e-3)) {
        double middle = sqrt(low) * sqrt(high);

        *(has_noise(want, middle) ? &high : &low) = middle;
    }
    return high;
}

/* ---- batches ---- */

size_t pn_batch_rule(size_t n, double steps, const pn_run_budget *budget)
{
    double power = is_rho(budget) ? 2.0 * sqrt(budget->rho) : budget->epsilon / sqrt(-log(budget->delta));
    double batch = rint((double)n * power / sqrt(steps));

    return batch >= 1.0 ? (size_t)fmin(batch, (double)n) : 1;
}

double pn_anchored_gradients(double anchors, double inner, double n, double batch)
{
    return anchors * n + 2.0 * inner * batch;
}
