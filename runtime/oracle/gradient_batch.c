/* gradient_batch.c -- see gradient_batch.h.  Depends on: gradient_batch.h.
 * Used by: gradient_noise.c, sgd*.c, bindings. */
#include <math.h>
#include <string.h>

#include "oracle/gradient_batch.h"

const char *const pn_batch_schemes[] = { "fixed", "poisson", "shuffled", NULL };

static bool is(const char *scheme, const char *name)
{
    return strcmp(scheme, name) == 0;
}

/* ---- the option ---- */

pn_status pn_batch_read(pn_question *self, const char *owner, const pn_arg *given, pn_err *err)
{
    const pn_arg *scheme = &given[PN_BATCH_SCHEME], *size = &given[PN_BATCH_SIZE], *rate = &given[PN_BATCH_RATE];
    size_t n = pn_objective_data(self->objective)->n;

    if (!scheme->given && !size->given && !rate->given)
        return PN_OK;
    if (size->given == rate->given)
        return pn_fail(err, PN_EINVAL,
                       "%s: a batch needs size=, a number of records, or rate=, above 0 and at most 1%s", owner,
                       size->given ? ", not both" : "");
    self->scheme = scheme->given ? scheme->text : self->neighbours == PN_ZERO_OUT ? "poisson" : "fixed";
    self->batch = size->given ? size->count : (size_t)fmax(1.0, round(rate->real * (double)n));
    if (self->batch > n)
        return pn_fail(err, PN_EINVAL, "%s: a batch has 1 to %zu records, got %zu", owner, n, self->batch);
    return PN_OK;
}

/* ---- the question ---- */

/* The mean gradient over batches, certified; to be cleared also after a failure. */
static pn_status make_question(pn_question *out, const pn_plan *plan, const char *scheme, size_t batch, pn_err *err)
{
    pn_plan_question(out, plan, &pn_question_gradient);
    out->dim = pn_objective_dim(plan->objective);
    out->scheme = scheme;
    out->batch = batch;
    out->basis.rule = "gradient";
    return pn_question_batches(out, out->exact ? 1.0 : pn_objective_bounds(plan->objective)->lipschitz[PN_L2], err);
}

static pn_status calibrate(pn_question *self, const pn_plan *plan, size_t steps, const char *accountant,
                           double *reached, pn_err *err)
{
    return pn_askings_calibrate(&(pn_asking){ self, steps, false }, 1, &plan->request, plan->owner, accountant, NULL,
                                reached, err);
}

double pn_batch_noise_at(const pn_plan *plan, const char *scheme, size_t batch, size_t steps)
{
    pn_question other;
    double sigma = NAN;

    if (make_question(&other, plan, scheme, batch, NULL) == PN_OK &&
        calibrate(&other, plan, steps, "rdp", NULL, NULL) == PN_OK)
        sigma = pn_question_sigma(&other);
    pn_question_clear(&other);
    return sigma;
}

/* Gradients of single records in T steps: T b, but for the last batch of a shuffled pass, which has what is left. */
static double gradients_of(const char *scheme, double n, double b, double T)
{
    double batches = ceil(n / b);

    if (!is(scheme, "shuffled"))
        return T * b;
    return floor(T / batches) * n + fmin(fmod(T, batches) * b, n);
}

pn_status pn_batch_attach(pn_plan *plan, pn_gradient_noise *noise, const char *accountant, pn_err *err)
{
    size_t steps = plan->iterations;
    pn_question *self;
    double reached = NAN;

    PN_TRY(pn_plan_ask(&self, plan, &pn_question_gradient, err));
    PN_TRY(make_question(self, plan, noise->scheme, (size_t)noise->records, err));
    plan->gradients = gradients_of(noise->scheme, (double)self->batches.n, noise->records, (double)steps);
    plan->samples = self->exact;
    if (self->exact)
        return PN_OK;
    self->batches.sigma = noise->paper.sigma;
    PN_TRY(noise->paper.sigma > 0.0 ? pn_question_price(self, err)
                                    : calibrate(self, plan, steps, accountant, &reached, err));
    plan->sigma = noise->sigma = pn_question_sigma(self);
    plan->whole = strcmp(accountant, "pld") == 0;
    plan->charges = plan->whole ? 1 : pn_question_events(self, steps);
    if (!plan->whole) {
        plan->event = pn_event_keep(self->event);
        return PN_OK;
    }
    plan->accountant = "pld"; /* the price by its loss distribution is no sum of prices of steps */
    return pn_event_approximate(&plan->event, reached, plan->request.delta, plan->request.neighbours, err);
}

/* ---- what batches add ---- */

double pn_batch_variance(const char *scheme, double n, double b, double slope)
{
    double part = is(scheme, "poisson") ? (1.0 - b / n) / b : n > 1.0 ? (n - b) / (n - 1.0) / b : 0.0;

    return part > 0.0 ? part * slope * slope : 0.0;
}

/* ---- explanation ---- */

void pn_batch_explain(pn_plan *plan, const pn_question *of, const char *by)
{
    bool amplified = !is(of->scheme, "shuffled");
    double moved = pn_question_moved(of);

    pn_plan_add_text(plan, "sampling", of->scheme, "%s",
                     is(of->scheme, "poisson") ? "each record by a coin of rate q; gradients are counted at T q n"
                     : amplified               ? "of exactly that size, without replacement, anew each step"
                                               : "a pass over all records in random order, in disjoint batches");
    if (of->exact)
        return;
    pn_plan_add(plan, "rate q", of->batches.q, amplified ? "batch/n" : "batch/n; earns nothing here");
    pn_plan_add(plan, "multiplier z", of->batches.sigma / (moved * of->batches.contribution), "noise on a sum / %g G%s",
                moved, by);
    pn_plan_add(plan, "noise sigma", plan->sigma, "per coordinate of a batch's mean gradient");
    if (plan->request.kind == PN_RHO && amplified && of->batch < of->batches.n)
        pn_plan_warn(
            plan,
            "zCDP gives no credit for the secrecy of batches: under rho a batch of all %zu records has the least "
            "noise; epsilon and delta would reward sampling",
            of->batches.n);
}
