/* calibrate_program.c -- the noise of whole runs, the least budget that pays for one release, and the batch from which noise no longer
 * falls.  Depends on: calibrate_program.h, gaussian.h, accountant.h.  Used by: solvers (plans). */
#include <math.h>
#include <string.h>

#include "privacy/accountant.h"
#include "privacy/calibrate_program.h"
#include "privacy/gaussian.h"

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

/* ---- anchors and inner steps ---- */

static pn_status repeated_gaussian(pn_event **out, const pn_anchored_run *run, double z, pn_err *err)
{
    pn_event *one = NULL;
    pn_status status = pn_event_gaussian(&one, z, 1.0, run->draws, PN_REPLACE_ONE, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_event_repeated(out, one, run->anchors, err);
    pn_event_free(one);
    return status;
}

static pn_status repeated_sampled(pn_event **out, const pn_anchored_run *run, double z, pn_err *err)
{
    pn_event *whole = NULL, *sampled = NULL;
    pn_status status = pn_event_gaussian(&whole, z, 1.0, run->draws, PN_REPLACE_ONE, err);

    *out = NULL;
    if (status == PN_OK)
        status = pn_event_fixed_sampled(&sampled, run->batch, run->n, whole, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_event_repeated(out, sampled, run->inner, err);
    pn_event_free(sampled);
    pn_event_free(whole);
    return status;
}

pn_status pn_anchored_event(pn_event **out, const pn_anchored_run *run, double anchor, double inner, pn_err *err)
{
    pn_event *parts[2] = { NULL, NULL };
    pn_status status = repeated_gaussian(&parts[0], run, anchor, err);

    *out = NULL;
    if (status == PN_OK)
        status = repeated_sampled(&parts[1], run, inner, err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, 2, err);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    return status;
}

typedef struct anchored {
    const pn_anchored_run *run;
    double anchor;
} anchored;

static pn_status release(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    const anchored *at = self;

    *count = 1;
    return pn_anchored_event(event, at->run, at->anchor, x, err);
}

/* z with T/z^2 = mu^2, of the share of (epsilon, delta) or of rho = mu^2/2. */
static double anchor_noise(const pn_run_budget *budget, const pn_anchored_run *run)
{
    double mu = is_rho(budget)
                    ? sqrt(2.0 * run->share * budget->rho)
                    : pn_gaussian_mu(run->share * budget->epsilon, run->share * pn_ideal_delta(budget->delta));

    return sqrt((double)run->anchors) / mu;
}

pn_status pn_calibrate_anchored(pn_anchored_noise *out, const pn_run_budget *budget, const pn_anchored_run *run,
                                pn_err *err)
{
    anchored at = { run, anchor_noise(budget, run) };
    pn_program program = { release, &at };
    pn_anchored_noise found = { .anchor = at.anchor };
    pn_status status;

    if (!(run->share > 0.0 && run->share < 1.0))
        return pn_fail(err, PN_EINVAL, "%s: the share of the anchors must be between 0 and 1, got %g", budget->owner,
                       run->share);
    if (!(at.anchor > 0.0 && at.anchor < 1e150))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: no Gaussian noise reaches epsilon %.6g at delta %.6g", budget->owner,
                       is_rho(budget) ? budget->rho : budget->epsilon, budget->delta);
    status = pn_calibrate_run(&found.inner, &found.reached, budget, &program, err);
    if (status == PN_OK)
        *out = found;
    return status;
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

/* In (low, high]: low is too small, high suffices. */
static size_t between(size_t low, size_t high)
{
    size_t middle = (size_t)rint(sqrt((double)low) * sqrt((double)high));

    return middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
}

pn_status pn_suggest_batch(pn_batch_advice *out, size_t n, size_t rule, double within, const pn_batch_noise *noise,
                           pn_err *err)
{
    size_t low = 0, high = n, next = rule;
    double limit, sigma, best;
    pn_status status;

    if (!(within > 1.0))
        return pn_fail(err, PN_EINVAL, "suggest_batch: within must be above 1, got %g", within);
    status = noise->sigma(noise->self, n, &limit, err);
    best = limit;
    while (status == PN_OK && high - low > 1) {
        status = noise->sigma(noise->self, next, &sigma, err);
        if (status != PN_OK)
            break;
        if (sigma <= within * limit) {
            high = next;
            best = sigma;
            next = low ? between(low, high) : high > 4 ? high / 4 : 1;
        } else {
            low = next;
            next = high == n && low <= n / 4 ? 4 * low : between(low, high);
        }
    }
    if (status == PN_OK)
        *out = (pn_batch_advice){ high, best, limit };
    return status;
}

double pn_anchored_gradients(double anchors, double inner, double n, double batch)
{
    return anchors * n + 2.0 * inner * batch;
}
