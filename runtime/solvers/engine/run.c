/* run.c -- the only loop that calls a solver's step: progress, cancellation, callbacks, the trace.
 * Depends on: solver.h, fit_privacy.h.  Used by: bindings, hosts. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "objective/regularisers/regulariser.h"
#include "random/shared_stream.h"
#include "solvers/engine/fit_privacy.h"
#include "solvers/engine/solver.h"
#include "solvers/engine/without_records.h"

struct pn_walk {
    const pn_plan *plan;
    pn_state *state;
    pn_oracle *ask;
    pn_ledger *ledger; /* NULL when non-private */
    pn_rng *rng;       /* NULL when nothing is drawn */
    pn_task *task;
    pn_trace_row row;      /* of the step at hand, as far as its query filled it */
    bool asked;            /* its query is done, and its update is not */
    bool begun;            /* a round of it has been tried */
    pn_ledger *own_ledger; /* when the caller gave none */
    pn_rng *own_rng;
    bool simulated;
    double *theta;
    pn_trace_row *trace;
    size_t rows, capacity, stride; /* rows kept, and of how many steps one is */
    double seconds;                /* time inside steps only: a walk may pause */
    bool stepping;                 /* a step is being made: functions of a user's that it calls may not make another */
};

static double clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void pn_walk_free(pn_walk *walk)
{
    if (!walk)
        return;
    pn_state_free(walk->state);
    pn_oracle_close(walk->ask);
    pn_ledger_free(walk->own_ledger);
    pn_rng_free(walk->own_rng);
    pn_free(walk->theta);
    pn_free(walk->trace);
    pn_free(walk);
}

/* A budget of exactly what the plan costs. */
static pn_status private_ledger(pn_walk *walk, pn_err *err)
{
    const pn_plan *plan = walk->plan;
    bool rho = plan->request.kind == PN_RHO;
    pn_budget budget = { .epsilon = rho ? NAN : plan->epsilon,
                         .delta = rho ? 0.0 : plan->delta,
                         .rho = rho ? plan->rho : NAN,
                         .neighbours = plan->request.neighbours,
                         .teaching = walk->simulated };

    return pn_ledger_new(&walk->own_ledger, &budget, err);
}

/* A run at the price of its loss distribution takes its delta whole, which a budget with other charges seldom has
 * left. */
static pn_status reserve(pn_ledger *ledger, const pn_plan *plan, pn_err *err)
{
    pn_status status = pn_plan_covered(plan, ledger, true, err);

    if (status != PN_OK && plan->accountant)
        return pn_fail_in(err, status,
                          "this run is charged as a whole (accountant=\"rdp\" adds up with other charges)");
    return status;
}

/* Ranks that draw different noise would each release a model, and pay for one. */
static pn_status open_rng(pn_walk *walk, pn_rng *given, pn_err *err)
{
    pn_ranks *ranks = pn_objective_ranks(walk->plan->objective);
    bool shares = pn_ranks_size(ranks) > 1;
    pn_status status;

    walk->rng = given;
    if (given && shares && !pn_rng_simulated(given) && !pn_rng_is_shared(given))
        return pn_fail(err, PN_EPRIVACY,
                       "%zu ranks share the work, and each would draw noise of its own from a secure rng; "
                       "leave rng out, or take ranks:rng(), which is the same stream for all",
                       pn_ranks_size(ranks));
    if (given)
        return PN_OK;
    status = shares ? pn_rng_shared(&walk->own_rng, ranks, err) : pn_rng_secure(&walk->own_rng, err);
    walk->rng = walk->own_rng;
    return status;
}

static pn_status open_privacy(pn_walk *walk, const pn_run_options *options, pn_err *err)
{
    const pn_plan *plan = walk->plan;

    if (plan->request.kind == PN_NONPRIVATE && !plan->draws && !plan->samples)
        return PN_OK;
    if (plan->request.kind == PN_EPSILON_DELTA && isinf(plan->epsilon))
        return pn_fail(err, PN_EPRIVACY, "no epsilon is certified for this plan's noise; use calibration=\"tight\"");
    PN_TRY(open_rng(walk, options->rng, err));
    if (plan->request.kind == PN_NONPRIVATE)
        return PN_OK;
    walk->simulated = pn_rng_simulated(walk->rng);
    walk->ledger = options->ledger ? options->ledger : plan->request.ledger;
    if (!walk->ledger) {
        PN_TRY(private_ledger(walk, err));
        walk->ledger = walk->own_ledger;
    }
    if (walk->simulated && !pn_ledger_budget(walk->ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "seeded noise gives no privacy, so a real ledger refuses it; open the ledger with "
                       "teaching=true, or leave rng out");
    return reserve(walk->ledger, plan, err);
}

static const pn_run_options no_options;

pn_status pn_walk_new(pn_walk **out, const pn_plan *plan, const pn_run_options *options, pn_err *err)
{
    pn_walk *walk;
    pn_status status;

    PN_TRY(pn_new_zeroed(&walk, 1, err, "%s: out of memory", plan->owner));
    options = options ? options : &no_options;
    walk->plan = plan;
    walk->stride = 1 + (plan->iterations - 1) / PN_TRACE_ROWS;
    walk->task = options->task;
    walk->theta = pn_calloc(pn_objective_dim(plan->objective), sizeof(double));
    status = pn_made(walk->theta, err, "out of memory");
    if (status == PN_OK)
        status = open_privacy(walk, options, err);
    if (status == PN_OK)
        status = pn_oracle_open(&walk->ask, plan, walk->ledger, walk->rng, options->task, err);
    if (status == PN_OK) {
        double begin = clock_seconds();

        status = pn_state_new(&walk->state, plan, walk->ask, err);
        walk->seconds = clock_seconds() - begin;
    }
    if (status != PN_OK) {
        pn_walk_free(walk);
        return pn_fail_by(err, status, plan->owner);
    }
    *out = walk;
    return PN_OK;
}

static pn_status reserve_row(pn_walk *walk, pn_err *err)
{
    pn_trace_row *grown;
    size_t capacity;

    if (walk->rows < walk->capacity)
        return PN_OK;
    capacity = walk->capacity ? 2 * walk->capacity : 64;
    grown = pn_resize(walk->trace, capacity, sizeof *grown);
    PN_TRY(pn_made(grown, err, "out of memory for the trace"));
    walk->trace = grown;
    walk->capacity = capacity;
    return PN_OK;
}

static const pn_trace_row no_row = {
    .value = NAN, .gap = NAN, .certificate = NAN, .gradient_norm = NAN, .eigenvalue = NAN
};

/* A query and its update; what has been asked is not asked again when only the update failed. */
static pn_status make_round(pn_walk *walk, pn_err *err)
{
    const pn_solver_ops *solver = walk->plan->solver;

    if (!walk->asked) {
        pn_oracle_begin(walk->ask);
        PN_TRY(solver->query(walk->state, walk->ask, &walk->row, err));
        walk->asked = true;
    }
    walk->state->more = false;
    PN_TRY(solver->update(walk->state, &walk->row, err));
    walk->asked = false;
    walk->state->gradients = pn_oracle_records(walk->ask);
    pn_oracle_next(walk->ask);
    return PN_OK;
}

/* A step that failed, or was stopped between two rounds, goes on there. */
static pn_status make_step(pn_walk *walk, pn_trace_row *row, pn_err *err)
{
    if (!walk->begun)
        walk->row = no_row;
    walk->begun = true;
    do {
        if (walk->state->more)
            PN_TRY(pn_task_stopped(walk->task, walk->plan->solver->name, err));
        PN_TRY(make_round(walk, err));
    } while (walk->state->more && !walk->state->finished);
    walk->begun = false;
    *row = walk->row;
    return PN_OK;
}

static pn_status step_walk(pn_walk *walk, pn_trace_row *row, bool *done, pn_err *err)
{
    double begin = clock_seconds();
    pn_status status;

    if (walk->stepping)
        return pn_fail(err, PN_EINVAL, "a walk cannot be stepped from inside of its own step");
    *done = walk->state->finished || walk->state->step >= walk->plan->iterations;
    if (*done)
        return PN_OK;
    /* Room for the row before the step: after it noise has been paid for and must not be lost. */
    PN_TRY(reserve_row(walk, err));
    walk->stepping = true;
    status = make_step(walk, row, err);
    walk->stepping = false;
    walk->seconds += clock_seconds() - begin;
    if (status != PN_OK)
        return status;
    row->step = ++walk->state->step;
    row->gradients = walk->state->gradients;
    if (walk->plan->without_records) /* those of the stand-in */
        row->value = row->gap = NAN;
    *done = walk->state->finished || walk->state->step >= walk->plan->iterations;
    if (*done || row->step % walk->stride == 0) {
        walk->trace[walk->rows] = *row;
        walk->trace[walk->rows].point = walk->trace[walk->rows].estimate = NULL;
        walk->rows++;
    }
    return PN_OK;
}

pn_status pn_walk_step(pn_walk *walk, pn_trace_row *row, bool *done, pn_err *err)
{
    pn_status status = step_walk(walk, row, done, err);

    return status == PN_OK ? PN_OK : pn_fail_by(err, status, walk->plan->owner);
}

const double *pn_walk_theta(pn_walk *walk)
{
    pn_state_answer(walk->state, walk->theta);
    return walk->theta;
}

/* Of a run that ended by itself before its plan did; NULL of any other. */
static const char *own_reason(const pn_walk *walk)
{
    const pn_state *state = walk->state;

    if (!state->finished)
        return NULL;
    return state->stopped ? state->stopped : state->step < walk->plan->iterations ? "converged" : NULL;
}

static pn_status keep_moments(const pn_walk *walk, pn_fit *fit, pn_err *err)
{
    const pn_solver_ops *solver = walk->plan->solver;
    const pn_least_squares *moments = solver->moments ? solver->moments(walk->state) : NULL;

    return moments ? pn_least_squares_new(&fit->moments, moments, moments->moments, err) : PN_OK;
}

/* A regulariser that goes by more than single coordinates has a Hessian that pn_curvature does not hold. */
static pn_status keep_curvature(const pn_walk *walk, pn_fit *fit, pn_err *err)
{
    const pn_plan *plan = walk->plan;
    const pn_regulariser *reg = pn_objective_regulariser(plan->objective);
    pn_curvature of = { .p = fit->p };
    pn_node root;

    if (reg && !pn_regulariser_graph(reg, &root))
        return PN_OK;
    if (!plan->solver->curvature || !plan->solver->curvature(walk->state, &of))
        return PN_OK;
    return pn_curvature_new(&fit->curvature, &of, plan->objective, fit->theta, err);
}

pn_status pn_walk_fit(pn_walk *walk, const char *stopped, pn_fit **out, pn_err *err)
{
    size_t p = pn_objective_dim(walk->plan->objective);
    pn_fit *fit = pn_calloc(1, sizeof *fit);
    pn_status status;

    if (fit) {
        fit->theta = pn_alloc(p, sizeof(double));
        fit->trace = pn_alloc(walk->rows, sizeof *fit->trace);
    }
    status = pn_made(fit && fit->theta && fit->trace, err, "out of memory for the result");
    if (status != PN_OK)
        goto failed;
    pn_state_answer(walk->state, fit->theta);
    if (walk->rows)
        memcpy(fit->trace, walk->trace, walk->rows * sizeof *fit->trace);
    fit->p = p;
    fit->rows = walk->rows;
    fit->steps = walk->state->step;
    fit->gradients = walk->state->gradients;
    fit->seconds = walk->seconds;
    fit->stopped = stopped ? stopped : own_reason(walk);
    memcpy(fit->remark, walk->state->remark, sizeof fit->remark);
    if (walk->plan->solver->certify)
        walk->plan->solver->certify(walk->state, &fit->certificate);
    status = keep_moments(walk, fit, err);
    if (status == PN_OK)
        status = keep_curvature(walk, fit, err);
    if (status == PN_OK)
        status = pn_fit_state_privacy(fit, walk->plan, walk->ask, walk->state, walk->simulated, err);
    if (status != PN_OK)
        goto failed;
    *out = fit;
    return PN_OK;

failed:
    pn_fit_free(fit);
    return pn_fail_by(err, status, walk->plan->owner);
}

#define PRICING_SHARE 20 /* telling what is spent takes at most one part in so many of the time */

/* What the run's listener is told; the price is worked out only when it is heard, and is kept while that takes long. */
typedef struct teller {
    pn_progress now;
    double priced_at, pricing; /* seconds: when the price was worked out, and how long it took */
} teller;

static void price_now(teller *self, const pn_walk *walk)
{
    const pn_plan *plan = walk->plan;
    bool rho = plan->request.kind == PN_RHO;
    double begin = clock_seconds();
    pn_spent charged;

    if (plan->request.kind == PN_NONPRIVATE || begin - self->priced_at < PRICING_SHARE * self->pricing)
        return;
    if (pn_spent_of(&charged, plan, walk->ask, NULL) == PN_OK) {
        self->now.spent = rho ? charged.rho : charged.epsilon;
        self->now.budget = rho ? plan->rho : plan->epsilon;
        self->now.unit = rho ? "rho" : "epsilon";
        pn_event_free(charged.event);
    }
    self->priced_at = clock_seconds();
    self->pricing = self->priced_at - begin;
}

static pn_status tell(teller *self, const pn_walk *walk, pn_task *task, pn_err *err)
{
    self->now.done = (double)walk->state->step;
    if (pn_task_heard(task))
        price_now(self, walk);
    return pn_task_tell(task, &self->now, err);
}

/* Steps until done; *stopped says why it was ended early without an error. */
static pn_status walk_to_end(pn_walk *walk, const pn_run_options *options, const char **stopped, pn_err *err)
{
    const pn_plan *plan = walk->plan;
    teller progress = { .now = { .label = plan->solver->name,
                                 .total = (double)plan->iterations,
                                 .value = NAN,
                                 .spent = NAN,
                                 .budget = NAN } };
    size_t p = pn_objective_dim(plan->objective);
    bool done = false;

    while (!done) {
        pn_trace_row row = { 0 }; /* stays so when a state that was resumed has nothing left to do */
        pn_status status = tell(&progress, walk, options->task, err);

        if (status == PN_OK)
            status = pn_walk_step(walk, &row, &done, err);
        if (status == PN_OK && row.step > 0)
            progress.now.value = row.value;
        if (status == PN_OK && options->on_step && row.step > 0)
            status = options->on_step(options->on_step_self, &row, pn_walk_theta(walk), p, err);
        if (status == PN_ECANCELLED)
            *stopped = "interrupted";
        else if (status == PN_ELIMIT)
            *stopped = "limit";
        else if (status == PN_EBUDGET)
            *stopped = "budget";
        else if (status != PN_OK)
            return status;
        if (*stopped)
            return PN_OK;
    }
    return PN_OK;
}

pn_status pn_plan_run(pn_fit **out, const pn_plan *plan, const pn_run_options *options, pn_err *err)
{
    pn_walk *walk = NULL;
    const char *stopped = NULL;
    pn_status status = pn_walk_new(&walk, plan, options, err);

    if (status == PN_OK)
        status = walk_to_end(walk, options ? options : &no_options, &stopped, err);
    if (status == PN_OK)
        status = pn_walk_fit(walk, stopped, out, err);
    pn_walk_free(walk);
    return status;
}

void pn_fit_free(pn_fit *fit)
{
    if (!fit)
        return;
    pn_free(fit->theta);
    pn_free(fit->trace);
    pn_least_squares_free(fit->moments);
    pn_curvature_free(fit->curvature);
    pn_event_free(fit->charged);
    pn_free(fit);
}
