/* svrg_noise.c -- how much noise a run of SVRG needs, and what it costs.
 * Depends on: svrg.h, privacy/accounting/calibrate_program.h.  Used by: svrg_plan.c.
 * See variance-reduced.md section 3, calibrations (a) to (c).
 *
 * Batches are of a fixed size under replace_one, which moves their sum by two contributions; under zero_out each record
 * has a coin of rate b/n, and the sum moves by one.  Either is priced as it is drawn.
 *
 * Anchored: T releases of the mean gradient with noise sigma_a, of which the share of epsilon that anchors get decides,
 * and M releases of batch differences with noise z times their sensitivity, z from what is left, by the curve of both
 * together.  Printed: M releases of both under one noise. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate_program.h"
#include "solvers/variance_reduced/svrg.h"

/* What an inner step asks, but for its noise.  Anchored: in units of tau. */
static pn_status certify_difference(const svrg_plan *plan, size_t batch, pn_question *difference, pn_err *err)
{
    const pn_gradient_noise *v = &plan->anchor;
    double b = (double)batch;

    difference->exact = plan->base.request.kind == PN_NONPRIVATE;
    difference->scheme = plan->base.request.neighbours == PN_REPLACE_ONE || difference->exact ? "fixed" : "poisson";
    difference->batch = batch;
    difference->dim = plan->problem.p;
    difference->looks = 2;
    difference->label = "svrg steps";
    pn_difference_layout(difference, &difference->room);
    PN_TRY(pn_question_batches(difference, plan->printed ? 2.0 * plan->problem.lipschitz : 1.0, err));
    difference->divisor = 1.0; /* the steps divide */
    if (!plan->printed || difference->exact)
        return PN_OK;
    /* v is multiplied by b in doubles: neighbours' products differ by 2^-53 of each, besides b times what v does. */
    difference->batches.whole =
        b * (v->sensitivity + 0x1p-51 * v->bound * sqrt((double)plan->problem.p)) * (1.0 + 0x1p-40);
    difference->batches.whole_bound = b * v->bound * (1.0 + 0x1p-40);
    return PN_OK;
}

/* ---- what the budget allows ---- */

/* sigma of T anchors. */
static double anchor_noise(const svrg_plan *plan, size_t epochs)
{
    pn_request part = pn_request_part(&plan->base.request, plan->share > 0.0 ? plan->share : 1.0);
    double sigma = pn_gradient_noise_tight(&plan->anchor, &part, epochs);

    return plan->share > 0.0 ? sigma : plan->inflation * sigma;
}

static pn_status too_small(const svrg_plan *plan, const svrg_shape *shape, pn_err *err)
{
    const pn_request *request = &plan->base.request;
    const pn_gradient_noise *of = &plan->anchor;
    double part = plan->share > 0.0 ? plan->share : 1.0;
    pn_gaussian_releases want = { .epsilon = request->epsilon,
                                  .delta = request->delta * part,
                                  .rho = request->kind == PN_RHO ? request->rho : NAN,
                                  .sensitivity = of->sensitivity,
                                  .bound = of->bound,
                                  .dim = of->dim,
                                  .count = shape->epochs };

    if (isinf(pn_smallest_budget(&want)))
        return pn_fail(err, PN_EBUDGET,
                       "no epsilon pays for noise at delta = %g, which is too small; give a larger one",
                       request->delta);
    return pn_fail(
        err, PN_EBUDGET,
        "the budget is too small for %zu epochs of %zu coordinates; the least %s that gives them noise is about "
        "%.3g",
        shape->epochs, of->dim, request->kind == PN_RHO ? "rho" : "epsilon", pn_smallest_budget(&want) / part);
}

/* The two questions of a run of that shape: asked[0], the gradient at a snapshot, unless the printed form has it in
 * the other. */
static pn_status certify_both(const svrg_plan *plan, const svrg_shape *shape, double anchor, pn_asking asked[2],
                              size_t *count, pn_err *err)
{
    pn_question *gradient = asked[0].question;

    *count = 1;
    PN_TRY(certify_difference(plan, shape->batch, asked[1].question, err));
    asked[1].times = (size_t)svrg_all_steps(shape);
    if (plan->printed)
        return PN_OK;
    gradient->dim = plan->problem.p;
    gradient->label = "svrg snapshot";
    gradient->noise = plan->anchor;
    gradient->noise.sigma = anchor;
    pn_question_join_whole(gradient);
    asked[0].times = shape->epochs;
    asked[0].priced = true;
    *count = 2;
    return pn_question_price(gradient, err);
}

pn_status svrg_noise_of(const svrg_plan *plan, const svrg_shape *shape, const char *accountant, svrg_noises *out,
                        pn_err *err)
{
    pn_question gradient, difference;
    pn_asking asked[2] = { { .question = &gradient }, { .question = &difference } };
    size_t count;
    pn_status status;

    *out = (svrg_noises){ plan->printed ? 0.0 : anchor_noise(plan, shape->epochs), NAN, NAN };
    if (isnan(out->anchor))
        return too_small(plan, shape, err);
    pn_plan_question(&gradient, &plan->base, &pn_question_gradient);
    pn_plan_question(&difference, &plan->base, &pn_question_difference);
    status = certify_both(plan, shape, out->anchor, asked, &count, err);
    if (status == PN_OK)
        status = pn_askings_calibrate(asked + 2 - count, count, &plan->base.request, plan->base.owner, accountant, NULL,
                                      &out->reached, err);
    out->inner = difference.batches.sigma;
    pn_question_clear(&gradient);
    pn_question_clear(&difference);
    return status;
}

/* ---- the plan's noise ---- */

static pn_status refuse(const svrg_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->base.request;

    PN_TRY(pn_request_need_delta(request, plan->base.owner, err));
    PN_TRY(plan->whole_price ? pn_request_need_epsilon(request, plan->base.owner, err) : PN_OK);
    if (plan->printed && request->neighbours != PN_REPLACE_ONE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "form=\"printed\" and calibration=\"paper\" put one noise on a batch of a fixed size and "
                       "all records, which is priced for neighbours=\"replace_one\" only, got \"%s\"; use "
                       "form=\"anchored\"",
                       pn_neighbours_names[request->neighbours]);
    return PN_OK;
}

/* The article's sigma of the mean, with its unstated constant as c. */
static pn_status paper_noise(const svrg_plan *plan, double c, svrg_noises *out, pn_err *err)
{
    const pn_request *request = &plan->base.request;
    const svrg_shape *shape = &plan->shape;
    double n = plan->problem.n, G = plan->problem.lipschitz, b = (double)shape->batch;
    double steps = shape->doubling ? ldexp((double)shape->inner, (int)shape->epochs)
                                   : (double)shape->epochs * (double)shape->inner;
    double tail = shape->doubling ? 2.0 : 1.0;

    if (request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "calibration=\"paper\" is stated for epsilon and delta; give both");
    out->inner = b * G * sqrt(c * steps * log(tail / request->delta)) / (n * request->epsilon);
    return PN_OK;
}

/* A snapshot's gradient and the differences of a batch, and what the whole run is charged: their sum, or one event at
 * the price of its loss distribution. */
static pn_status ask_private(svrg_plan *plan, double reached, pn_err *err)
{
    pn_plan *base = &plan->base;
    pn_asking asked[2] = { { .question = NULL } };
    size_t count;

    if (!plan->printed)
        PN_TRY(pn_plan_ask(&asked[0].question, base, &pn_question_gradient, err));
    PN_TRY(pn_plan_ask(&asked[1].question, base, &pn_question_difference, err));
    asked[0].question = base->questions;
    PN_TRY(certify_both(plan, &plan->shape, plan->anchor.sigma, asked, &count, err));
    asked[1].question->batches.sigma = plan->inner;
    PN_TRY(pn_question_price(asked[1].question, err));
    asked[0].question->times = asked[0].times;
    asked[1].question->times = asked[1].times;
    base->charges = 1;
    base->whole = plan->whole_price;
    if (plan->whole_price) {
        base->accountant = "pld";
        return pn_event_approximate(&base->event, reached, base->request.delta, base->request.neighbours, err);
    }
    return pn_askings_event(asked + 2 - count, count, &base->event, err);
}

static pn_status ask_exactly(svrg_plan *plan, pn_err *err)
{
    pn_question *difference;

    plan->base.samples = true;
    PN_TRY(pn_plan_ask(&difference, &plan->base, &pn_question_difference, err));
    return certify_difference(plan, plan->shape.batch, difference, err);
}

pn_status svrg_noise(svrg_plan *plan, bool paper, double c, pn_err *err)
{
    svrg_noises noise = { 0.0, NAN, NAN };

    if (plan->base.request.kind == PN_NONPRIVATE)
        return ask_exactly(plan, err);
    PN_TRY(refuse(plan, err));
    plan->whole_price = plan->whole_price && !paper;
    PN_TRY(paper ? paper_noise(plan, c, &noise, err)
                 : svrg_noise_of(plan, &plan->shape, plan->whole_price ? "pld" : "rdp", &noise, err));
    plan->anchor.sigma = noise.anchor;
    plan->inner = noise.inner;
    PN_TRY(ask_private(plan, noise.reached, err));
    if (!paper)
        return PN_OK;
    pn_plan_add(&plan->base, "article's sigma", svrg_sigma(plan, &plan->shape, plan->inner),
                plan->shape.doubling ? "G sqrt(c m 2^T ln(2/delta)) / (n epsilon), c = %g; its claim is asymptotic"
                                     : "G sqrt(c T m ln(1/delta)) / (n epsilon), c = %g; its claim is asymptotic",
                c);
    pn_plan_paper_price(&plan->base);
    return PN_OK;
}
