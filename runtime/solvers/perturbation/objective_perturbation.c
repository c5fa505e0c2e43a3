/* objective_perturbation.c -- minimise the sum of the losses plus a quadratic term and a random linear one, once, and
 * mask what the minimum is short of exact with a little noise on the answer.
 * Depends on: objective_perturbation.h, oracle.  Used by: solvers.c's table.
 * Source: Chaudhuri, Monteleoni, Sarwate (2011); Kifer, Smith, Thakurta (2012); Iyengar et al. (2019), approximate
 * minima; constants as derived in perturbation.md section 3 (the articles' hold for other neighbours or not at
 * all). */
#include <math.h>
#include <string.h>

#include "solvers/perturbation/objective_perturbation.h"

typedef struct op_state {
    pn_state base;            /* first */
    double *linear, *minimum; /* [p] each; as private as the data */
    double *released, *next;  /* [p] the minimum with its noise; what an update leaves unfinished */
} op_state;

static void op_rooms(pn_state *state, pn_room *room)
{
    op_state *self = (op_state *)state;

    PN_ROOM_TAKE(room, state->dim, &self->linear, &self->minimum, &self->released, &self->next);
}

/* What a failure says may hold numbers of the records. */
static pn_status minimise(op_state *self, pn_oracle *ask, pn_err *err)
{
    const op_plan *plan = (const op_plan *)self->base.plan;
    pn_status status =
        op_minimise(&plan->problem, &plan->choice, "objective perturbation", self->linear, self->minimum, ask, err);

    if (pn_ask_shows(ask) || status == PN_OK || pn_is_stop(status) || status == PN_ENOMEM)
        return status;
    return pn_fail(err, status, "the minimum was not found; nothing is released");
}

/* A run that was interrupted and goes on keeps what it paid for: the same linear term. */
static pn_status op_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    op_state *self = (op_state *)state;
    bool is_private = pn_plan_is_private(state->plan);

    (void)row;
    PN_TRY(is_private ? pn_ask_linear(ask, self->linear, err) : PN_OK);
    PN_TRY(minimise(self, ask, err));
    if (is_private)
        return pn_ask_masked(ask, self->minimum, self->released, err);
    memcpy(self->released, self->minimum, state->dim * sizeof(double));
    return PN_OK;
}

/* What is done to noisy values reveals nothing more. */
static pn_status op_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    op_state *self = (op_state *)state;
    const pn_set *set = pn_objective_set(state->plan->objective);
    size_t p = state->dim;

    (void)row;
    memcpy(self->next, self->released, p * sizeof(double));
    if (set && pn_plan_is_private(state->plan))
        PN_TRY(set->ops->project(set, self->next, err));
    memcpy(state->theta, self->next, p * sizeof(double));
    return PN_OK;
}

/* theta minimises f + (lambda/2) ||theta - start||^2 + <b, theta>/n, and has noise of its own. */
static pn_status op_respond(const pn_plan *base, double loss, double regular, pn_response *out, pn_err *err)
{
    const op_plan *plan = (const op_plan *)base;
    const pn_perturbation_options *noise = &plan->choice.noise;
    double n = plan->problem.n, weight = plan->choice.weight / n, whole = loss + regular + weight;

    if (!(whole > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the objective has no curvature left, so that any noise moves the "
                       "minimum far");
    out->variance = pow(noise->sigma / n / whole, 2.0) + noise->sigma_out * noise->sigma_out;
    out->left = weight / whole;
    out->start = plan->problem.start;
    return PN_OK;
}

static const char *const noise_params[] = { "split", "approximate", "unproven", "accountant", "width", NULL };

const pn_solver_ops pn_solver_objective_perturbation = {
    .name = "objective_perturbation",
    .doc = "One private minimum of the losses plus a quadratic and a random linear term, over a set or all of R^p: for "
           "smooth convex losses of one margin.  The guarantee holds for the point that is returned: the minimum is "
           "found to a certified tolerance, which noise on the answer hides; private runs take sets whose support and "
           "projection are known to a bound, and none of a user's functions.",
    .source = "Kifer, Smith, Thakurta (2012) and Iyengar et al. (2019), approximate minima, constants for replaced "
              "records",
    .params = op_params,
    .noise_params = noise_params,
    .reveals = PN_REVEALS_FAILURE,
    .is_private = true,
    .plan_size = sizeof(op_plan),
    .fill = op_fill,
    .state = sizeof(op_state),
    .rooms = op_rooms,
    .query = op_query,
    .update = op_update,
    .respond = op_respond,
};
