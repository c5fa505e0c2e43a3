/* svrg_noise.c -- how much noise a run of SVRG needs, and what it costs.
 * Depends on: svrg.h, privacy/calibrate.h.  Used by: svrg_plan.c.  Spec: variance-reduced.md section 3, calibrations (a) to (c).
 *
 * Anchored: T releases of the mean gradient with noise sigma_a, of which the share of epsilon that anchors get decides, and M releases
 * of batch differences with noise z times their sensitivity, z from what is left, by the curve of both together.
 * Printed: M releases of both under one noise. */
#include <math.h>

#include "privacy/accountant.h"
#include "privacy/calibrate.h"
#include "solvers/svrg.h"

/* The release of one inner step for a batch of that size, but for its noise.  Anchored: in units of tau. */
static pn_batch_release_options inner_release(const svrg_plan *plan, size_t batch)
{
    pn_objective *objective = plan->base.objective;
    double b = (double)batch, reach = plan->printed ? 2.0 * plan->problem.lipschitz : 1.0;
    double error = pn_objective_batch_error(objective, batch, reach);
    pn_batch_release_options of = { .scheme = "fixed",
                                    .n = pn_objective_data(objective)->n,
                                    .batch = batch,
                                    .neighbours = plan->base.request.neighbours,
                                    .dim = plan->problem.p,
                                    .contribution = reach,
                                    .error = error,
                                    .bound = (b * reach + error) * (1.0 + 0x1p-30) };

    if (plan->printed) {
        of.whole = b * plan->anchor.sensitivity * (1.0 + 0x1p-40);
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
                                       .contribution = of->sensitivity / 2.0,
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

/* ---- what the budget allows ---- */

/* The price of a run with that noise in the unit of the request; +inf where there is none. */
typedef struct search {
    const svrg_plan *plan;
    const svrg_shape *shape;
    pn_batch_release_options release;
    pn_event *anchor; /* NULL in the printed form */
} search;

static double price(const search *at, double sigma)
{
    const pn_request *request = &at->plan->base.request;
    pn_batch_release_options release = at->release;
    pn_event *inner = NULL, *whole = NULL;
    double cost = INFINITY;
    pn_err err;

    release.sigma = sigma;
    if (pn_batch_release_price(&inner, NULL, &release, &err) == PN_OK &&
        whole_event(at->anchor, at->shape->epochs, inner, svrg_all_steps(at->shape), &whole, &err) == PN_OK)
        cost = request->kind == PN_RHO ? whole->ops->zcdp(whole) : pn_event_epsilon(whole, 1, request->delta, NULL);
    pn_event_free(inner);
    pn_event_free(whole);
    return cost;
}

/* The least sigma of the inner steps whose price fits, to 1e-7; NaN when none does. */
static double least_noise(const search *at)
{
    const pn_request *request = &at->plan->base.request;
    double limit = request->kind == PN_RHO ? request->rho : request->epsilon;
    double high = 2.0 * at->release.contribution, low;

    while (high <= 0x1p600 && !(price(at, high) <= limit))
        high *= 4.0;
    if (high > 0x1p600)
        return NAN;
    for (low = high / 4.0; low > 0x1p-600 && price(at, low) <= limit; low /= 4.0)
        high = low;
    while (high > low * (1.0 + 1e-7)) {
        double middle = sqrt(low * high);

        if (price(at, middle) <= limit)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* sigma of T anchors that may use `share` of the budget by themselves, with half of delta. */
static double anchor_noise(const svrg_plan *plan, size_t epochs, double share)
{
    const pn_request *request = &plan->base.request;
    pn_request part = *request;

    part.epsilon *= share;
    part.delta *= 0.5;
    part.rho *= share;
    part.ledger = NULL;
    return pn_gradient_noise_tight(&plan->anchor, &part, epochs);
}

pn_status svrg_noise_of(const svrg_plan *plan, const svrg_shape *shape, double share, double *anchor, double *inner,
                        pn_err *err)
{
    search at = { plan, shape, inner_release(plan, shape->batch), NULL };
    pn_batch_release_options release;
    pn_status status = PN_OK;

    *anchor = *inner = NAN;
    if (!plan->printed) {
        *anchor = anchor_noise(plan, shape->epochs, share);
        if (isnan(*anchor))
            return PN_OK;
        release = anchor_release(plan, *anchor);
        status = pn_batch_release_price(&at.anchor, NULL, &release, err);
    }
    if (status == PN_OK)
        *inner = least_noise(&at);
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
    if (request->neighbours != PN_REPLACE_ONE)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "solve.%s: batches of a fixed size are priced for neighbours=\"replace_one\" only, got \"%s\"; solve.sgd "
            "with sampling=\"poisson\" has the others",
            name, pn_neighbours_names[request->neighbours]);
    return PN_OK;
}

static pn_status no_budget(const svrg_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->base.request;

    return pn_fail(
        err, PN_EBUDGET,
        "solve.%s: %s = %g is too small for %zu epochs of this run: no noise has that price; use fewer epochs or a "
        "larger budget",
        plan->base.solver->name, request->kind == PN_RHO ? "rho" : "epsilon",
        request->kind == PN_RHO ? request->rho : request->epsilon, plan->shape.epochs);
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
    plan->base.proven = false;
    return PN_OK;
}

static pn_status tight_noise(svrg_plan *plan, double share, pn_err *err)
{
    double anchor, inner;
    pn_status status = svrg_noise_of(plan, &plan->shape, share, &anchor, &inner, err);

    if (status != PN_OK)
        return status;
    if (isnan(inner))
        return no_budget(plan, err);
    plan->anchor.sigma = plan->printed ? 0.0 : anchor;
    plan->release.sigma = inner;
    return PN_OK;
}

static pn_status attach_events(svrg_plan *plan, pn_err *err)
{
    pn_status status = pn_batch_release_price(&plan->inner_event, NULL, &plan->release, err);

    if (status == PN_OK && !plan->printed) {
        plan->anchor_release = anchor_release(plan, plan->anchor.sigma);
        status = pn_batch_release_price(&plan->anchor_event, NULL, &plan->anchor_release, err);
    }
    if (status != PN_OK)
        return status;
    plan->base.charges = 1;
    return whole_event(plan->anchor_event, plan->shape.epochs, plan->inner_event, svrg_all_steps(&plan->shape),
                       &plan->base.event, err);
}

pn_status svrg_noise(svrg_plan *plan, double share, bool paper, double c, pn_err *err)
{
    pn_status status = refuse(plan, err);

    plan->release = inner_release(plan, plan->shape.batch);
    if (status == PN_OK)
        status = paper ? paper_noise(plan, c, err) : tight_noise(plan, share, err);
    if (status == PN_OK)
        status = attach_events(plan, err);
    return status;
}
