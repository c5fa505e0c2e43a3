/* sgd.c -- x <- prox_{eta r}(x - eta (g + noise)), g the mean gradient over a batch that nobody knows.
 * Depends on: sgd.h, oracle.  Used by: solvers.c's table.
 * Source: Bassily, Smith, Thakurta (2014), Algorithm 1; Abadi et al. (2016); variance-reduced.md 7d,
 * accounting.md section 4. */
#include <math.h>
#include <string.h>

#include "solvers/first_order/sgd.h"

typedef struct sgd_state {
    pn_state base;    /* first */
    double *x, *next; /* [p] */
    double *average;  /* [p] NULL when the last point is asked for */
    double *gradient; /* [p] of the batch, as released */
    double *ahead;    /* [p] with momentum: x and `momentum` times the last step, where the gradient is taken */
} sgd_state;

static const sgd_plan *plan_of(const sgd_state *self)
{
    return (const sgd_plan *)self->base.plan;
}

static void sgd_rooms(pn_state *state, pn_room *room)
{
    sgd_state *self = (sgd_state *)state;
    const sgd_plan *plan = plan_of(self);
    size_t p = plan->first.p;

    pn_room_take(room, &self->x, p);
    pn_room_take(room, &self->next, p);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->average, plan->last ? 0 : p);
    pn_room_take(room, &self->ahead, plan->momentum > 0.0 ? p : 0);
}

static double *from(const sgd_state *self)
{
    return self->ahead ? self->ahead : self->x;
}

static pn_status sgd_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    sgd_state *self = (sgd_state *)state;
    const pn_first_order *first = &plan_of(self)->first;

    (void)ask;
    (void)err;
    memcpy(self->x, first->start, first->p * sizeof(double));
    memcpy(from(self), first->start, first->p * sizeof(double));
    return PN_OK;
}

static pn_status sgd_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    sgd_state *self = (sgd_state *)state;

    (void)row;
    return pn_ask_losses(ask, from(self), NULL, self->gradient, err);
}

/* Leaves x alone when it fails. */
static pn_status move(sgd_state *self, double eta, pn_err *err)
{
    const pn_first_order *first = &plan_of(self)->first;
    const double *at = from(self);
    double *other;

    memcpy(self->next, self->gradient, first->p * sizeof(double));
    PN_TRY(pn_composite_gradient(&first->composite, at, first->p, self->next, err));
    for (size_t j = 0; j < first->p; j++)
        self->next[j] = at[j] - eta * self->next[j];
    PN_TRY(pn_composite_step(&first->composite, self->next, first->p, eta, err));
    for (size_t j = 0; self->ahead && j < first->p; j++)
        self->ahead[j] = self->next[j] + plan_of(self)->momentum * (self->next[j] - self->x[j]);
    other = self->x;
    self->x = self->next;
    self->next = other;
    return PN_OK;
}

/* After the step: x is the new point and next the one that the gradient belongs to. */
static void add_to_average(sgd_state *self)
{
    const sgd_plan *plan = plan_of(self);
    const double *point = plan->subgradient ? self->next : self->x;
    double a = plan->tail, share = (1.0 + a) / ((double)(self->base.step + 1) + a); /* Shamir, Zhang (2013) */

    for (size_t j = 0; self->average && j < plan->first.p; j++)
        self->average[j] += share * (point[j] - self->average[j]);
}

static pn_status sgd_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    sgd_state *self = (sgd_state *)state;

    row->step_size = pn_schedule_at(&plan_of(self)->step, state->step + 1);
    PN_TRY(move(self, row->step_size, err));
    add_to_average(self);
    (void)pn_has_diverged(state, self->x, plan_of(self)->first.p);
    return PN_OK;
}

static void sgd_current(const pn_state *state, double *theta)
{
    const sgd_state *self = (const sgd_state *)state;
    bool average = self->average && state->step > 0;

    memcpy(theta, average ? self->average : self->x, plan_of(self)->first.p * sizeof(double));
}

const pn_solver_ops pn_solver_sgd = {
    .name = "sgd",
    .doc =
        "Stochastic gradient descent: a step on a fresh batch's mean gradient plus Gaussian noise, which secrecy of "
        "the batch makes smaller; any set, regulariser and convex or smooth loss.  The price is that of the sampling "
        "that runs.",
    .source = "Bassily, Smith, Thakurta (2014), Algorithm 1; Balle, Barthe, Gaboardi (2018) for the price of batches",
    .params = sgd_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .by_records = true,
    .plan = sgd_plan_new,
    .what_if = sgd_what_if,
    .destroy_plan = sgd_plan_destroy,
    .state = sizeof(sgd_state),
    .rooms = sgd_rooms,
    .begin = sgd_begin,
    .query = sgd_query,
    .update = sgd_update,
    .current = sgd_current,
};
