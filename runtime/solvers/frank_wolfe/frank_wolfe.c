/* frank_wolfe.c -- minimise a smooth convex f over a set by linear minimisation: theta <- (1 - mu) theta + mu s, where
 * s is the vertex with the smallest <s, grad f(theta)>, chosen privately,
 * or exactly for a gradient with or without noise; mu_t = 2/(t+1), t from 1.
 * Depends on: frank_wolfe.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithms 3 to 5; step size corrected after Jaggi (2013), since the
 * article's constant 1/(T+2) leaves a fraction of about 1/e of the start in the answer. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

static void fw_plan_destroy(pn_plan *plan)
{
    fw_plan *self = (fw_plan *)plan;

    pn_schedule_clear(&self->step);
    pn_free(self);
}

typedef struct fw_state {
    pn_state base;            /* first */
    bool selects;             /* vertices are chosen privately; else by the support function */
    bool several;             /* by several choices: the vertex is in `point` */
    double *gradient, *point; /* [p] each */
    double *away;             /* [p] -gradient */
    const double *codes;      /* of a run whose gradient is kept: the entries of the vertex (pn_ask_coordinates) */
    double *support;          /* [T times entries] the coordinates that vertices had, ... */
    size_t support_count;     /* ... which alone are not those of the shift after the first step */
    size_t chosen;
} fw_state;

static const fw_plan *plan_of(const fw_state *self)
{
    return (const fw_plan *)self->base.plan;
}

/* The entries of vertices of a run that keeps its gradient; else NULL. */
static const pn_coordinate_choices *kept_choices(const fw_state *self)
{
    const pn_plan *plan = self->base.plan;

    return plan->question_count > 0 && plan->questions[0].along.steps != 0 ? plan->questions[0].coordinates : NULL;
}

static void fw_rooms(pn_state *state, pn_room *room)
{
    fw_state *self = (fw_state *)state;
    size_t p = pn_objective_set(state->plan->objective)->dim;

    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->point, p);
    pn_room_take(room, &self->away, p);
    pn_room_take(room, &self->support, kept_choices(self) ? kept_choices(self)->count * state->plan->iterations : 0);
}

static pn_status fw_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    fw_state *self = (fw_state *)state;
    const fw_plan *plan = plan_of(self);

    (void)ask;
    (void)err;
    self->selects = plan->base.request.kind != PN_NONPRIVATE && plan->noise.sigma == 0.0;
    self->several = self->selects && plan->several;
    return PN_OK;
}

static pn_status fw_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    fw_state *self = (fw_state *)state;

    if (kept_choices(self))
        return pn_ask_coordinates(ask, self->base.theta, &row->value, &self->codes, err);
    if (self->several)
        return pn_ask_choices(ask, self->base.theta, &row->value, self->point, err);
    return self->selects ? pn_ask_vertex(ask, self->base.theta, &row->value, &self->chosen, err)
                         : pn_ask_gradient(ask, self->base.theta, &row->value, self->gradient, err);
}

static void note_support(fw_state *self, size_t j)
{
    size_t at = 0;

    while (at < self->support_count && (size_t)self->support[at] != j)
        at++;
    if (at == self->support_count)
        self->support[self->support_count++] = (double)j;
}

/* Of an l1 ball 2j is w e_j, and 2j + 1 is -w e_j. */
static size_t atom_of(const pn_coordinate_choice *from, size_t code)
{
    return from->both ? code ^ (from->weight < 0.0) : code / 2;
}

/* fw_move in the coordinates that vertices have had: all others are those of the shift, since the first step has
 * mu = 1. */
static void kept_step(fw_state *self, const pn_coordinate_choices *of, pn_trace_row *row)
{
    double *theta = self->base.theta, mu = row->step_size;

    for (size_t j = 0; self->base.step == 0 && j < self->base.dim; j++)
        theta[j] = of->shift ? of->shift[j] : 0.0;
    for (size_t i = 0; i < self->support_count; i++) {
        size_t j = (size_t)self->support[i];
        double shift = of->shift ? of->shift[j] : 0.0;

        theta[j] = shift + (1.0 - mu) * (theta[j] - shift);
    }
    for (size_t r = 0; r < of->count; r++) {
        size_t code = (size_t)self->codes[r];
        double size = fabs(of->at[r].weight);

        theta[code / 2] += mu * (code % 2 ? -size : size);
        note_support(self, code / 2);
    }
    if (!self->several)
        row->atom = 1 + atom_of(&of->at[0], (size_t)self->codes[0]);
}

static void chosen_step(fw_state *self, pn_trace_row *row)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    pn_atom atom;

    if (kept_choices(self)) {
        kept_step(self, kept_choices(self), row);
        return;
    }
    if (self->several) {
        fw_move(self->base.theta, set->dim, &(pn_atom){ .count = set->dim, .value = self->point }, row->step_size);
        return;
    }
    set->ops->atom(set, self->chosen, &atom, self->point);
    fw_move(self->base.theta, set->dim, &atom, row->step_size);
    row->atom = self->chosen + 1;
}

/* point = argmin <s, gradient>, by the support function of -gradient, which may have noise in it. */
static pn_status support_step(fw_state *self, pn_trace_row *row, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    const pn_set *set = pn_objective_set(plan->objective);
    double along = 0.0, across = NAN;

    for (size_t j = 0; j < set->dim; j++) {
        along += self->gradient[j] * self->base.theta[j];
        self->away[j] = -self->gradient[j];
    }
    PN_TRY(set->ops->support(set, self->away, self->point, &across, err));
    if (plan->request.kind == PN_NONPRIVATE) {
        if (!plan_of(self)->noise.scheme) /* the vertex of a batch's gradient bounds nothing */
            row->gap = along + across;
        if (isnan(along + across)) /* only here: whether a private run ends must not depend on the data */
            return pn_objective_undefined(plan->objective, plan->owner, err);
    }
    fw_move(self->base.theta, set->dim, &(pn_atom){ .count = set->dim, .value = self->point }, row->step_size);
    return PN_OK;
}

static pn_status fw_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    fw_state *self = (fw_state *)state;

    row->step_size = pn_schedule_at(&plan_of(self)->step, state->step + 1);
    if (!self->selects)
        return support_step(self, row, err);
    chosen_step(self, row);
    return PN_OK;
}

static const char *const fw_noise_params[] = { "selection", "preset", "gradient", "kappa", NULL };
static const char *const fw_convex_noise_params[] = { "preset", "width", NULL };

#define FW_RUN                                                                                                         \
    .reveals = PN_REVEALS_PAID, .is_private = true, .passes = true, .plan_size = sizeof(fw_plan),                      \
    .destroy_plan = fw_plan_destroy, .state = sizeof(fw_state), .rooms = fw_rooms, .begin = fw_begin,                  \
    .query = fw_query, .update = fw_update

const pn_solver_ops pn_solver_frank_wolfe = {
    .name = "frank_wolfe",
    .doc =
        "Frank-Wolfe over a constraint set; private over a polytope, by a private choice of the vertex at every step, "
        "and over boxes, hypersimplices, products, sums and images by several choices that make one.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 4 with step 2/(t+2); Jaggi (2013)",
    .params = fw_params,
    .noise_params = fw_noise_params,
    .fill = fw_fill,
    FW_RUN,
};

const pn_solver_ops pn_solver_frank_wolfe_convex = {
    .name = "frank_wolfe_convex",
    .doc =
        "Frank-Wolfe over any bounded convex set with a support function: each step goes toward the vertex of the mean "
        "gradient plus Gaussian noise.  What the noise costs follows the Gaussian width of the set.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 5 with L^2 in the noise and step 2/(t+2); Jaggi (2013)",
    .params = fw_convex_params,
    .noise_params = fw_convex_noise_params,
    .fill = fw_convex_fill,
    FW_RUN,
};
