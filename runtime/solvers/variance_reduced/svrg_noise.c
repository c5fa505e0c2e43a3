/* svrg_noise.c -- how much noise a run of SVRG needs, and what it costs.
 * Depends on: svrg.h, privacy/accounting/calibrate_program.h.  Used by: svrg_plan.c.
 * Spec: variance-reduced.md section 3, calibrations (a) to (c).
 *
 * Batches are of a fixed size under replace_one, which moves their sum by two contributions; under zero_out each record
 * has a coin of rate b/n, and the sum moves by one.  Either is priced as it is drawn.
 *
 * Anchored: T releases of the mean gradient with noise sigma_a, of which the share of epsilon that anchors get decides,
 * and M releases of batch differences with noise z times their sensitivity, z from what is left, by the curve of both
 * together.  Printed: M releases of both under one noise. */
#include <math.h>
#include <stdio.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate_program.h"
#include "solvers/variance_reduced/svrg.h"

double svrg_moved(const svrg_plan *plan)
{
    return plan->base.request.neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
}

/* The release of one inner step for a batch of that size, but for its noise.  Anchored: in units of tau. */
static pn_batch_release_options inner_release(const svrg_plan *plan, size_t batch)
{
    pn_objective *objective = plan->base.objective;
    bool fixed = plan->base.request.neighbours == PN_REPLACE_ONE;
    size_t n = pn_objective_data(objective)->n, most = fixed ? batch : n; /* records in a sum */
    double b = (double)batch, reach = plan->printed ? 2.0 * plan->problem.lipschitz : 1.0;
    double error = pn_objective_batch_error(objective, most, reach);
    pn_batch_release_options of = { .scheme = fixed ? "fixed" : "poisson",
                                    .n = n,
                                    .batch = batch,
                                    .q = b / (double)n,
                                    .neighbours = plan->base.request.neighbours,
                                    .dim = plan->problem.p,
                                    .contribution = reach,
                                    .error = error,
                                    .bound = ((double)most * reach + error) * (1.0 + 0x1p-30) };

    if (plan->printed) {
        /* v is multiplied by b in doubles: neighbours' products differ by 2^-53 of each,
         * besides b times what v does. */
        of.whole = b * (plan->anchor.sensitivity + 0x1p-51 * plan->anchor.bound * sqrt((double)plan->problem.p)) *
                   (1.0 + 0x1p-40);
        of.whole_bound = b * plan->anchor.bound * (1.0 + 0x1p-40);
    }
    return of;
}

/* That of the gradient at a snapshot: a batch of all records, in the unit of the mean. */
static pn_batch_release_options anchor_release(const svrg_plan *plan, double sigma)
{
    const pn_gradient_noise *of = &plan->anchor;

    return (pn_batch_release_options){ .scheme = "full",
                                       .n = pn_objective_data(plan->base.objective)->n,
                                       .neighbours = of->neighbours,
                                       .dim = of->dim,
                                       .contribution = of->sensitivity / svrg_moved(plan),
                                       .bound = of->bound,
                                       .sigma = sigma };
}

/* anchors x anchor + steps x inner, as one event; anchor may be NULL. */
static pn_status whole_event(pn_event *anchor, size_t anchors, pn_event *inner, double steps, pn_event **out,
                             pn_err *err)
{
    pn_event *parts[2] = { NULL, NULL };
    size_t count = 0;
    pn_status status = PN_OK;

    if (anchor)
        status = pn_event_repeated(&parts[count++], anchor, anchors, err);
    if (status == PN_OK)
        status = pn_event_repeated(&parts[count++], inner, (size_t)steps, err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, count, err);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    return status;
}

pn_status svrg_ask_differences(svrg_plan *plan, pn_question **out, pn_err *err)
{
    pn_question *difference;

    PN_TRY(pn_plan_ask(&difference, &plan->base, &pn_question_difference, err));
    difference->exact = plan->base.request.kind == PN_NONPRIVATE;
    difference->dim = plan->problem.p;
    difference->batch = plan->shape.batch;
    difference->looks = 2;
    difference->scheme = plan->base.request.neighbours == PN_REPLACE_ONE || difference->exact ? "fixed" : "poisson";
    difference->batches = (pn_batch_release_options){ .scheme = "fixed",
                                                      .n = pn_objective_data(plan->base.objective)->n,
                                                      .batch = plan->shape.batch };
    pn_difference_layout(difference, &difference->room);
    *out = difference;
    return PN_OK;
}

/* ---- what the budget allows ---- */

typedef struct run {
    const svrg_plan *plan;
    const svrg_shape *shape;
    pn_batch_release_options release;
    pn_event *anchor; /* NULL in the printed form */
} run;

/* The whole run with a noise multiplier on inner steps: a pn_program. */
static pn_status run_event(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const run *at = self;
    pn_batch_release_options release = at->release;
    pn_event *inner = NULL;
    pn_status status;

    release.sigma = svrg_moved(at->plan) * z * release.contribution;
    *count = 1;
    status = pn_batch_release_price(&inner, NULL, &release, err);
    if (status == PN_OK)
        status = whole_event(at->anchor, at->shape->epochs, inner, svrg_all_steps(at->shape), event, err);
    pn_event_free(inner);
    return status;
}

/* sigma of T anchors. */
static double anchor_noise(const svrg_plan *plan, size_t epochs, double share)
{
    pn_request part = plan->base.request;

    part.ledger = NULL;
    if (share == 0.0)
        return plan->inflation * pn_gradient_noise_tight(&plan->anchor, &part, epochs);
    part.epsilon *= share;
    part.delta *= share;
    part.rho *= share;
    return pn_gradient_noise_tight(&plan->anchor, &part, epochs);
}

static pn_status too_small(const svrg_plan *plan, const svrg_shape *shape, const char *owner, double share, pn_err *err)
{
    const pn_request *request = &plan->base.request;
    const pn_gradient_noise *of = &plan->anchor;
    double part = share > 0.0 ? share : 1.0;
    pn_gaussian_releases want = { .epsilon = request->epsilon,
                                  .delta = request->delta * part,
                                  .rho = request->kind == PN_RHO ? request->rho : NAN,
                                  .sensitivity = of->sensitivity,
                                  .bound = of->bound,
                                  .dim = of->dim,
                                  .count = shape->epochs };

    if (isinf(pn_smallest_budget(&want)))
        return pn_fail(err, PN_EBUDGET,
                       "%s: no epsilon pays for noise at delta = %g, which is too small; give a larger one", owner,
                       request->delta);
    return pn_fail(
        err, PN_EBUDGET,
        "%s: the budget is too small for %zu epochs of %zu coordinates; the least %s that gives them noise is about "
        "%.3g",
        owner, shape->epochs, of->dim, request->kind == PN_RHO ? "rho" : "epsilon", pn_smallest_budget(&want) / part);
}

static pn_run_budget budget_of(const svrg_plan *plan, const char *owner, const char *accountant)
{
    const pn_request *request = &plan->base.request;

    return (pn_run_budget){ .owner = owner,
                            .accountant = accountant,
                            .epsilon = request->epsilon,
                            .delta = request->delta,
                            .rho = request->kind == PN_RHO ? request->rho : NAN };
}

pn_status svrg_noise_of(const svrg_plan *plan, const svrg_shape *shape, double share, const char *accountant,
                        svrg_noises *out, pn_err *err)
{
    run at = { plan, shape, inner_release(plan, shape->batch), NULL };
    pn_program program = { run_event, &at };
    pn_batch_release_options release;
    char owner[64];
    pn_run_budget budget = budget_of(plan, owner, accountant);
    double z = NAN;
    pn_status status = PN_OK;

    (void)snprintf(owner, sizeof owner, "solve.%s", plan->base.solver->name);
    *out = (svrg_noises){ NAN, NAN, NAN };
    if (!plan->printed) {
        out->anchor = anchor_noise(plan, shape->epochs, share);
        if (isnan(out->anchor))
            return too_small(plan, shape, owner, share, err);
        release = anchor_release(plan, out->anchor);
        status = pn_batch_release_price(&at.anchor, NULL, &release, err);
    }
    if (status == PN_OK)
        status = pn_calibrate_run(&z, &out->reached, &budget, &program, err);
    out->inner = svrg_moved(plan) * z * at.release.contribution;
    pn_event_free(at.anchor);
    return status;
}

/* ---- the plan's noise ---- */

static pn_status refuse(const svrg_plan *plan, pn_err *err)
{
    const char *name = plan->base.solver->name;
    const pn_request *request = &plan->base.request;

    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "solve.%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say",
                       name);
    if (plan->whole_price && request->kind == PN_RHO)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.%s: accountant=\"pld\" prices epsilon at a delta; give them instead of rho", name);
    if (request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.%s: neighbours=\"add_remove\" makes n secret, and the objective divides by n; use "
                       "\"replace_one\" or \"zero_out\"",
                       name);
    if (plan->printed && request->neighbours != PN_REPLACE_ONE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.%s: form=\"printed\" and calibration=\"paper\" put one noise on a batch of a fixed size "
                       "and all records, which is priced for neighbours=\"replace_one\" only, got \"%s\"; use "
                       "form=\"anchored\"",
                       name, pn_neighbours_names[request->neighbours]);
    return PN_OK;
}

/* The article's sigma of the mean, with its unstated constant as c. */
static pn_status paper_noise(svrg_plan *plan, double c, pn_err *err)
{
    const pn_request *request = &plan->base.request;
    double n = plan->problem.n, G = plan->problem.lipschitz, b = (double)plan->shape.batch;
    double steps = plan->shape.doubling ? ldexp((double)plan->shape.inner, (int)plan->shape.epochs)
                                        : (double)plan->shape.epochs * (double)plan->shape.inner;
    double tail = plan->shape.doubling ? 2.0 : 1.0;

    if (request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.%s: calibration=\"paper\" is stated for epsilon and delta; give both",
                       plan->base.solver->name);
    plan->release.sigma = b * G * sqrt(c * steps * log(tail / request->delta)) / (n * request->epsilon);
    return PN_OK;
}

static pn_status tight_noise(svrg_plan *plan, double share, double *reached, pn_err *err)
{
    svrg_noises noise;

    PN_TRY(svrg_noise_of(plan, &plan->shape, share, plan->whole_price ? "pld" : "rdp", &noise, err));
    plan->anchor.sigma = plan->printed ? 0.0 : noise.anchor;
    plan->release.sigma = noise.inner;
    *reached = noise.reached;
    return PN_OK;
}

/* A snapshot's gradient and the differences of a batch, and what the whole run is charged: their sum, or one event at
 * the price of its loss distribution. */
static pn_status ask_private(svrg_plan *plan, double reached, pn_err *err)
{
    pn_plan *base = &plan->base;
    pn_question *gradient = NULL, *difference;
    pn_event *anchor = NULL;

    if (!plan->printed) {
        PN_TRY(pn_plan_ask(&gradient, base, &pn_question_gradient, err));
        gradient->dim = plan->problem.p;
        gradient->batches = anchor_release(plan, plan->anchor.sigma);
        gradient->label = "svrg snapshot";
        PN_TRY(pn_question_price(gradient, err));
        anchor = gradient->event;
    }
    PN_TRY(svrg_ask_differences(plan, &difference, err));
    difference->batches = plan->release;
    difference->label = "svrg steps";
    PN_TRY(pn_question_price(difference, err));
    base->charges = 1;
    base->whole = plan->whole_price;
    if (plan->whole_price) {
        base->accountant = "pld";
        return pn_event_approximate(&base->event, reached, base->request.delta, base->request.neighbours, err);
    }
    return whole_event(anchor, plan->shape.epochs, difference->event, svrg_all_steps(&plan->shape), &base->event, err);
}

pn_status svrg_noise(svrg_plan *plan, double share, bool paper, double c, pn_err *err)
{
    pn_status status = refuse(plan, err);
    double reached = NAN;

    plan->release = inner_release(plan, plan->shape.batch);
    plan->whole_price = plan->whole_price && !paper;
    if (status == PN_OK)
        status = paper ? paper_noise(plan, c, err) : tight_noise(plan, share, &reached, err);
    if (status == PN_OK)
        status = ask_private(plan, reached, err);
    if (status == PN_OK && paper) {
        pn_plan_add(&plan->base, "article's sigma", svrg_sigma(plan, &plan->shape, plan->release.sigma),
                    plan->shape.doubling ? "G sqrt(c m 2^T ln(2/delta)) / (n epsilon), c = %g; its claim is asymptotic"
                                         : "G sqrt(c T m ln(1/delta)) / (n epsilon), c = %g; its claim is asymptotic",
                    c);
        pn_plan_paper_price(&plan->base);
    }
    return status;
}
