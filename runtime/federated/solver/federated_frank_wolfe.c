/* federated_frank_wolfe.c -- Frank-Wolfe over parties that hold different columns: a step is a round of the server.
 * What a run releases depends on what it has released (which features are new),
 * so it charges what ran and proves what was planned.
 * Depends on: federated_frank_wolfe.h, server.h.  Used by: bindings, hosts.
 * Source: Lou, Cheung (2018), Algorithm 2, corrected (distributed-frank-wolfe.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/solver/federated_frank_wolfe.h"
#include "solvers/catalogue/solvers.h"

typedef struct fed_state {
    pn_state base; /* first */
    pn_server *server;
    double *x, *gradient; /* [d] of what is shown of records that are here; NULL when nothing is */
} fed_state;

static const fed_plan *plan_of(const fed_state *self)
{
    return (const fed_plan *)self->base.plan;
}

static void fed_destroy(pn_state *state)
{
    fed_state *self = (fed_state *)state;

    /* Not before: parties that have their model go, and a host that dies before it has kept its own needs them
     * again. */
    if (self->server && pn_server_rounds(self->server) >= state->plan->iterations)
        pn_server_finish(self->server);
    pn_server_free(self->server);
    pn_free(self->x);
    pn_free(self->gradient);
    pn_free(self);
}

/* ---- start ---- */

/* A ledger that holds what one party's part of the run costs, the largest party's. */
static pn_budget party_budget(const fed_plan *plan, bool simulated)
{
    bool rho = plan->base.request.kind == PN_RHO;

    return (pn_budget){ .epsilon = rho ? NAN : plan->party_epsilon,
                        .delta = rho ? 0.0 : plan->base.request.delta,
                        .rho = rho ? plan->party_rho : NAN,
                        .neighbours = plan->base.request.neighbours,
                        .teaching = simulated };
}

static pn_status begin(const fed_plan *plan, const pn_step_context *context, bool simulated, pn_err *err)
{
    pn_transport_run run = { .objective = plan->base.objective,
                             .rng = context->rng,
                             .overall = context->ledger,
                             .is_private = plan->base.request.kind != PN_NONPRIVATE };
    pn_status status = pn_transport_gather(plan->transport, context->task, err);

    if (run.is_private)
        run.party = party_budget(plan, simulated);
    return status == PN_OK ? pn_transport_begin(plan->transport, &run, err) : status;
}

/* Options of the server; *terms[K], of which it has a copy, is the caller's to free. */
static pn_status server_options(pn_server_options *out, pn_terms **terms, const fed_plan *plan, pn_ledger *ledger,
                                bool simulated, pn_err *err)
{
    PN_TRY(
        pn_new(terms, plan->parties, err, "solve.federated_frank_wolfe: out of memory for %zu parties", plan->parties));
    memcpy(*terms, plan->terms, plan->parties * sizeof **terms);
    for (size_t k = 0; k < plan->parties; k++)
        (*terms)[k].simulated = simulated;
    *out =
        (pn_server_options){ .transport = plan->transport, .terms = *terms, .checkpoint = plan->transport->checkpoint };
    if (plan->base.request.kind != PN_NONPRIVATE && !plan->transport->ops->charges) {
        out->overall = ledger;
        out->selection = plan->selection;
        out->feature = plan->feature;
    }
    return PN_OK;
}

static pn_status serve(fed_state *self, const pn_step_context *context, bool simulated, pn_err *err)
{
    const fed_plan *plan = plan_of(self);
    pn_terms *terms = NULL;
    pn_server_options options;
    pn_status status;

    PN_TRY(server_options(&options, &terms, plan, context->ledger, simulated, err));
    status = begin(plan, context, simulated, err);
    if (status == PN_OK)
        status = pn_server_new(&self->server, &options, context->task, err);
    pn_free(terms);
    return status;
}

/* Value and gap of records that are here, where they may be seen. */
static pn_status prepare_raw(fed_state *self, const pn_step_context *context, bool simulated, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    const pn_dataset *data = pn_objective_data(plan->objective);

    if (data->absent || !(plan->request.kind == PN_NONPRIVATE || simulated))
        return PN_OK;
    self->x = pn_alloc(data->p, sizeof *self->x);
    self->gradient = pn_alloc(data->p, sizeof *self->gradient);
    PN_TRY(pn_made(self->x && self->gradient, err, "solve.federated_frank_wolfe: out of memory for %zu coordinates",
                   data->p));
    return pn_objective_prepare(plan->objective, plan->iterations, context->task, err);
}

static pn_status fed_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    fed_state *self;
    bool simulated = plan->request.kind != PN_NONPRIVATE && context->rng && pn_rng_simulated(context->rng);
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.federated_frank_wolfe: out of memory"));
    self->base.plan = plan;
    status = prepare_raw(self, context, simulated, err);
    if (status == PN_OK)
        status = serve(self, context, simulated, err);
    if (status != PN_OK) {
        fed_destroy(&self->base);
        return status;
    }
    self->base.step = (size_t)pn_server_rounds(self->server); /* those before a restart */
    self->base.gradients = (uint64_t)self->base.step * pn_objective_data(plan->objective)->n;
    *out = &self->base;
    return PN_OK;
}

/* ---- step ---- */

/* max over v of <gradient, x - v>, v in the product of the parties' balls or in the one ball. */
static double gap_of(const fed_state *self)
{
    const fed_plan *plan = plan_of(self);
    bool ball = plan->terms[0].mode == PN_FEDERATED_BALL;
    double along = 0.0, best = 0.0, most = 0.0;
    size_t i = 0;

    for (size_t k = 0; k < plan->parties; k++) {
        double largest = 0.0;

        for (size_t end = i + (size_t)plan->terms[k].columns; i < end; i++) {
            along += self->gradient[i] * self->x[i];
            largest = fmax(largest, fabs(self->gradient[i]));
        }
        best += plan->terms[k].radius * largest;
        most = fmax(most, plan->terms[k].radius * largest);
    }
    return along + (ball ? most : best);
}

static pn_status show_raw(fed_state *self, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    pn_status status;

    if (!self->x)
        return PN_OK;
    pn_server_model(self->server, self->x);
    status =
        pn_objective_evaluate(self->base.plan->objective, self->x, &row->value, self->gradient, context->task, err);
    if (status == PN_OK)
        row->gap = gap_of(self);
    return status;
}

static const char *kind_of(const pn_server_round *made, size_t parties, bool ball)
{
    if (ball)
        return made->moved ? "moved" : "stayed";
    return made->moved == parties ? "all moved" : made->moved ? "some stayed" : "all stayed";
}

static pn_status fed_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    fed_state *self = (fed_state *)state;
    const fed_plan *plan = plan_of(self);
    pn_server_round made;
    pn_status status = show_raw(self, context, row, err);

    if (status == PN_OK)
        status = pn_server_step(self->server, &made, context->task, err);
    if (status != PN_OK)
        return status;
    row->step_size = made.step_size;
    row->kind = kind_of(&made, plan->parties, plan->terms[0].mode == PN_FEDERATED_BALL);
    if (made.code) /* atom 2j of the l1 ball is +r e_j, 2j + 1 is -r e_j */
        row->atom = 2 * (size_t)(llabs(made.code) - 1) + (made.code < 0) + 1;
    state->gradients += pn_objective_data(plan->base.objective)->n;
    return PN_OK;
}

/* ---- looking ---- */

static void fed_current(const pn_state *state, double *theta)
{
    pn_server_model(((const fed_state *)state)->server, theta);
}

/* What parties may have released, a round that failed included. */
static pn_status fed_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const fed_state *self = (const fed_state *)state;
    const fed_plan *plan = plan_of(self);
    size_t selections = plan->parties * (size_t)pn_server_asked(self->server), used = 0;
    const size_t counts[3] = { selections, pn_server_asked_features(self->server), selections };
    pn_event *each[3] = { plan->selection, plan->feature, NULL }, *parts[3] = { NULL, NULL, NULL };
    pn_status status = PN_OK;

    *out = NULL;
    if (selections == 0)
        return PN_OK;
    if (plan->terms[0].mode == PN_FEDERATED_BALL)
        status = pn_server_spread_score(&each[2], &plan->terms[0], err);
    for (size_t i = 0; i < 3 && status == PN_OK; i++) {
        if (each[i] && counts[i] > 0) {
            status = pn_event_repeated(&parts[used], each[i], counts[i], err);
            used += status == PN_OK;
        }
    }
    if (status == PN_OK)
        status = pn_event_compose(out, parts, used, err);
    for (size_t i = 0; i < used; i++)
        pn_event_free(parts[i]);
    pn_event_free(each[2]);
    return status;
}

/* Whether noise is simulated is not known to a plan, and a checkpoint is of the one or the other. */
static pn_status fed_left(const pn_plan *plan, pn_ledger *ledger, bool *resumed, pn_event **out, pn_err *err)
{
    const fed_plan *self = (const fed_plan *)plan;
    pn_status status = PN_OK;

    *resumed = false;
    *out = NULL;
    for (int simulated = 0; simulated < 2 && status == PN_OK && !*resumed; simulated++) {
        pn_terms *terms = NULL;
        pn_server_options options;

        status = server_options(&options, &terms, self, ledger, simulated == 1, err);
        if (status == PN_OK && options.checkpoint && options.overall && !self->transport->ops->forgets)
            status = pn_server_left(&options, self->features, resumed, out, err);
        pn_free(terms);
    }
    return status;
}

static const pn_solver_ops solver_row = {
    .name = "federated_frank_wolfe",
    .doc = "Frank-Wolfe over parties that hold different columns of the same records: in each round a party chooses "
           "one of its columns privately, and sends that column, shortened and with noise, once.",
    .source = "Lou, Cheung (2018), Algorithm 2, corrected",
    .params = federated_params,
    .reveals = PN_REVEALS_PROCESSES,
    .is_private = true,
    .remote = true,
    .plan = fed_plan_new,
    .destroy_plan = fed_plan_destroy,
    .start = fed_start,
    .step = fed_step,
    .current = fed_current,
    .destroy = fed_destroy,
    .spent = fed_spent,
    .left = fed_left,
    .adaptive = true,
};

pn_status pn_federated_open(pn_err *err)
{
    return pn_solver_add(&solver_row, err);
}
