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
    double *x, *gradient;        /* [d] of what is shown of records that are here; NULL when nothing is */
    bool shows;                  /* their value and gap */
    pn_event *score;             /* of a choice that is spread over the parties; NULL */
    size_t selections, features; /* that are on the receipt */
} fed_state;

static const fed_plan *plan_of(const fed_state *self)
{
    return (const fed_plan *)self->base.plan;
}

static void fed_rooms(pn_state *state, pn_room *room)
{
    fed_state *self = (fed_state *)state;
    const pn_dataset *data = pn_objective_data(state->plan->objective);

    pn_room_take(room, &self->x, data->absent ? 0 : data->p);
    pn_room_take(room, &self->gradient, data->absent ? 0 : data->p);
}

static void fed_end(pn_state *state)
{
    fed_state *self = (fed_state *)state;

    /* Not before: parties that have their model go, and a host that dies before it has kept its own needs them
     * again. */
    if (self->server && pn_server_rounds(self->server) >= state->plan->iterations)
        pn_server_finish(self->server);
    pn_server_free(self->server);
    pn_event_free(self->score);
}

/* ---- start ---- */

/* A budget that holds what one party's part of the run costs, the largest party's. */
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
static pn_status server_options(pn_server_options *out, pn_terms **terms, const fed_plan *plan,
                                const pn_step_context *context, bool simulated, pn_err *err)
{
    PN_TRY(pn_new(terms, plan->parties, err, "out of memory for %zu parties", plan->parties));
    memcpy(*terms, plan->terms, plan->parties * sizeof **terms);
    for (size_t k = 0; k < plan->parties; k++)
        (*terms)[k].simulated = simulated;
    *out =
        (pn_server_options){ .transport = plan->transport, .terms = *terms, .checkpoint = plan->transport->checkpoint };
    if (plan->base.request.kind != PN_NONPRIVATE && !plan->transport->ops->charges) {
        out->overall = context->ledger;
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

    PN_TRY(server_options(&options, &terms, plan, context, simulated, err));
    status = begin(plan, context, simulated, err);
    if (status == PN_OK)
        status = pn_server_new(&self->server, &options, context->task, err);
    pn_free(terms);
    return status;
}

/* What parties may have released since it was last asked, a round that failed included. */
static void count_charges(fed_state *self, pn_oracle *ask)
{
    const fed_plan *plan = plan_of(self);
    pn_receipt *receipt = pn_ask_context(ask)->receipt;
    size_t selections = plan->parties * (size_t)pn_server_asked(self->server);
    size_t features = pn_server_asked_features(self->server);

    if (plan->base.request.kind == PN_NONPRIVATE)
        return;
    if (plan->selection)
        pn_receipt_add(receipt, plan->selection, selections - self->selections);
    if (plan->feature)
        pn_receipt_add(receipt, plan->feature, features - self->features);
    if (self->score)
        pn_receipt_add(receipt, self->score, selections - self->selections);
    self->selections = selections;
    self->features = features;
}

/* Value and gap of records that are here are shown where they may be seen. */
static pn_status fed_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    fed_state *self = (fed_state *)state;
    const pn_plan *plan = state->plan;
    bool is_private = plan->request.kind != PN_NONPRIVATE, simulated = is_private && pn_ask_shows(ask);

    self->shows = self->x && pn_ask_shows(ask);
    PN_TRY(self->shows ? pn_objective_prepare(plan->objective, plan->iterations, pn_ask_task(ask), err) : PN_OK);
    if (is_private && plan_of(self)->terms[0].mode == PN_FEDERATED_BALL)
        PN_TRY(pn_server_spread_score(&self->score, &plan_of(self)->terms[0], err));
    PN_TRY(serve(self, pn_ask_context(ask), simulated, err));
    state->step = (size_t)pn_server_rounds(self->server); /* those before a restart */
    pn_ask_count(ask, (uint64_t)state->step * pn_objective_data(plan->objective)->n);
    count_charges(self, ask);
    return PN_OK;
}

/* ---- step ---- */

/* max over v of <gradient, x - v>, v in the objective's set: the product of the parties' blocks, or the simplex. */
static pn_status gap_of_set(double *gap, fed_state *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    double along = 0.0, most = 0.0;

    for (size_t i = 0; i < set->dim; i++) {
        along += self->gradient[i] * self->x[i];
        self->gradient[i] = -self->gradient[i];
    }
    PN_TRY(pn_set_support(set, self->gradient, set->dim, &most, NULL, err));
    *gap = along + most;
    return PN_OK;
}

/* Likewise, v in the product of the parties' balls or in the one ball. */
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

static pn_status show_raw(fed_state *self, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    if (!self->shows)
        return PN_OK;
    pn_server_model(self->server, self->x);
    PN_TRY(
        pn_objective_evaluate(self->base.plan->objective, self->x, &row->value, self->gradient, pn_ask_task(ask), err));
    if (plan_of(self)->choices || plan_of(self)->terms[0].positive)
        return gap_of_set(&row->gap, self, err);
    row->gap = gap_of(self);
    return PN_OK;
}

static const char *kind_of(const pn_server_round *made, size_t parties, bool ball)
{
    if (ball)
        return made->moved ? "moved" : "stayed";
    return made->moved == parties ? "all moved" : made->moved ? "some stayed" : "all stayed";
}

static pn_status fed_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    fed_state *self = (fed_state *)state;
    const fed_plan *plan = plan_of(self);
    pn_server_round made;
    pn_status status;

    PN_TRY(show_raw(self, ask, row, err));
    status = pn_server_step(self->server, &made, pn_ask_task(ask), err);
    count_charges(self, ask);
    if (status != PN_OK)
        return status;
    row->step_size = made.step_size;
    row->kind = kind_of(&made, plan->parties, plan->terms[0].mode == PN_FEDERATED_BALL);
    if (made.code) /* atom 2j of the l1 ball is +r e_j, 2j + 1 is -r e_j; j of the simplex r e_j */
        row->atom =
            plan->terms[0].positive ? (size_t)made.code : 2 * (size_t)(llabs(made.code) - 1) + (made.code < 0) + 1;
    pn_ask_count(ask, pn_objective_data(plan->base.objective)->n);
    return PN_OK;
}

/* The server has moved the model. */
static pn_status fed_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    (void)state;
    (void)row;
    (void)err;
    return PN_OK;
}

/* ---- looking ---- */

static void fed_current(const pn_state *state, double *theta)
{
    pn_server_model(((const fed_state *)state)->server, theta);
}

/* Whether noise is simulated is not known to a plan, and a checkpoint is of the one or the other. */
static pn_status fed_left(const pn_plan *plan, const pn_step_context *context, bool *resumed, pn_event **out,
                          pn_err *err)
{
    const fed_plan *self = (const fed_plan *)plan;
    pn_status status = PN_OK;

    *resumed = false;
    *out = NULL;
    for (int simulated = 0; simulated < 2 && status == PN_OK && !*resumed; simulated++) {
        pn_terms *terms = NULL;
        pn_server_options options;

        status = server_options(&options, &terms, self, context, simulated == 1, err);
        if (status == PN_OK && options.checkpoint && options.overall && !self->transport->ops->forgets)
            status = pn_server_left(&options, self->features, resumed, out, err);
        pn_free(terms);
    }
    return status;
}

const pn_solver_ops fed_solver = {
    .name = "federated_frank_wolfe",
    .doc = "Frank-Wolfe over parties that hold different columns of the same records: in each round a party chooses "
           "a vertex of its set privately, one of its columns where that is an l1 ball, and sends each column that it "
           "moves, shortened and with noise, once.",
    .source = "Lou, Cheung (2018), Algorithm 2, corrected",
    .params = federated_params,
    .reveals = PN_REVEALS_PROCESSES,
    .is_private = true,
    .remote = true,
    .plan_size = sizeof(fed_plan),
    .fill = fed_fill,
    .destroy_plan = fed_plan_destroy,
    .state = sizeof(fed_state),
    .rooms = fed_rooms,
    .begin = fed_begin,
    .query = fed_query,
    .update = fed_update,
    .current = fed_current,
    .end = fed_end,
    .left = fed_left,
    .adaptive = true,
};

pn_status pn_federated_open(pn_err *err)
{
    return pn_solver_add(&fed_solver, err);
}
