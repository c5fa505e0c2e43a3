/* second_order_plan.c -- a plan of second-order descent: its noise, what the conditions need, its iterations.
 * Depends on: second_order.h, line_search.h, privacy.  Used by: second_order.c.
 * See second-order.md sections 2 to 6. */
#include <math.h>

#include "oracle/second_order/line_search.h"
#include "solvers/engine/work.h"
#include "solvers/second_order/second_order.h"

/* ---- noise ---- */

/* T iterations as a function of the noise multiplier. */
typedef struct iterations_program {
    const so_plan *plan;
    size_t iterations;
} iterations_program;

static bool searches(const so_plan *plan)
{
    return plan->line_search && plan->of.tests_g + plan->of.tests_h > 0;
}

/* An iteration's dearest branch: gradient, Hessian and search, NULL where there is none.  Free them after a failure,
 * too. */
static pn_status events_at(const so_plan *plan, double z, pn_event *events[3], pn_err *err)
{
    PN_TRY(pn_model_gradient_event(&plan->model, z, &events[0], err));
    PN_TRY(pn_model_hessian_event(&plan->model, z, &events[1], err));
    return searches(plan) ? pn_line_search_event(&plan->model, 1.0 / z, &events[2], err) : PN_OK;
}

static void free_events(pn_event *events[3])
{
    for (int i = 0; i < 3; i++)
        pn_event_free(events[i]);
}

static pn_status iterations_release(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const iterations_program *program = self;
    pn_event *events[3] = { NULL, NULL, NULL };
    pn_status status = events_at(program->plan, z, events, err);

    if (status == PN_OK)
        status = pn_event_compose(event, events, events[2] ? 3 : 2, err);
    *count = program->iterations;
    free_events(events);
    return status;
}

pn_status so_noise_of(const so_plan *plan, double share, size_t iterations, so_noise *out, pn_err *err)
{
    const pn_program program = { iterations_release, &(iterations_program){ plan, iterations } };
    pn_event *events[3] = { NULL, NULL, NULL };
    double z, cost[3] = { 0.0, 0.0, 0.0 };
    pn_status status;

    *out = (so_noise){ .iterations = iterations };
    if (!plan->model.is_private)
        return PN_OK;
    PN_TRY(pn_allowance_noise(&plan->allowance, share, &program, &z, err));
    status = events_at(plan, z, events, err);
    for (int i = 0; i < 3 && status == PN_OK && events[i]; i++)
        cost[i] = pn_allowance_cost(&plan->allowance, events[i], 1);
    free_events(events);
    *out = (so_noise){ z,       searches(plan) ? 1.0 / z : 0.0, iterations, cost[0], cost[1],
                       cost[2], cost[0] + cost[1] + cost[2] };
    return status;
}

/* ---- the budget ---- */

static double value_share(const so_work *at)
{
    const so_plan *plan = at->plan;
    const pn_arg *given = &at->own[SO_VALUE_SHARE];

    if (at->own[SO_GAP].given || plan->value.data_free || !isfinite(plan->floor) || !isfinite(plan->value.bound))
        return 0.0;
    return given->given ? given->real : 0.01;
}

size_t so_first_iterations(const so_plan *plan, size_t iterations)
{
    return plan->first_iterations ? plan->first_iterations : (size_t)ceil(sqrt((double)iterations));
}

/* ---- conditions ---- */

static so_needs check(const so_plan *plan, const so_noise *noise)
{
    const pn_model *model = &plan->model;
    const so_constants *of = &plan->of;
    double n = (double)model->n, m = (double)model->batch, each = of->failure / (2.0 * (double)noise->iterations);
    double gradient = pn_model_gradient_noise(model, noise->z, each);
    double hessian = pn_model_hessian_noise(model, noise->z, each);
    double drawn = pn_model_gradient_sampling(model, each), drawn_hessian = pn_model_hessian_sampling(model, each);
    so_search_error tests = { .records = n,
                              .batch = m,
                              .lipschitz = model->lipschitz,
                              .sensitivity = pn_contributions(model->neighbours) * model->lipschitz / m,
                              .epsilon = noise->search_epsilon,
                              .iterations = noise->iterations,
                              .slope = plan->slope };
    so_needs needs = { .gradient = pn_records_for(n, gradient, drawn, of->gradient_limit),
                       .hessian = pn_records_for(n, hessian, drawn_hessian, of->hessian_limit),
                       .gradient_error = gradient + drawn,
                       .hessian_error = hessian + drawn_hessian };

    if (searches(plan)) {
        needs.search_gradient = so_gradient_search_records(of, &tests);
        needs.search_curvature = so_curvature_search_records(of, &tests);
    }
    needs.most = fmax(fmax(needs.gradient, needs.hessian), fmax(needs.search_gradient, needs.search_curvature));
    needs.enough = needs.most <= n;
    return needs;
}

pn_status so_set_noise(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    const pn_program program = { iterations_release, &(iterations_program){ plan, plan->cap } };
    pn_counting how = { .gaussian = !searches(plan), .either = true };
    bool two = plan->phases == 2;
    double left = 0.0, share = two ? plan->first_share : 1.0;
    size_t T = two ? so_first_iterations(plan, plan->cap) : plan->cap;

    if (plan->model.is_private) {
        PN_TRY(pn_model_allowance(&plan->allowance, NULL, &plan->model, &plan->base, at->common, how, &program, err));
        PN_TRY(pn_start_value_pay(&plan->value, &plan->allowance, value_share(at), err));
        left = plan->allowance.total - plan->value.cost;
    }
    PN_TRY(so_noise_of(plan, share * left, T, &plan->first, err));
    at->second = plan->first;
    if (two)
        PN_TRY(so_noise_of(plan, left - (double)T * plan->first.whole, plan->cap, &at->second, err));
    at->needs = check(plan, &at->second);
    return PN_OK;
}

bool so_is_exact(const so_plan *plan)
{
    return !plan->model.is_private && plan->model.batch == plan->model.n && plan->of.lanczos == 0.0;
}

/* ---- the plan ---- */

/* The most steps that can ever run.  Past T, iterations that cost less than they might leave something for more. */
static size_t most_iterations(const so_work *at)
{
    const so_plan *plan = at->plan;
    const so_noise *last = &at->second;
    double first = plan->phases == 2 ? (double)plan->first.iterations : 0.0, T = (double)plan->cap;

    if (plan->filter && plan->model.is_private)
        T = ceil(T * last->whole / (last->gradient_cost + last->search_cost) * (1.0 + 1e-6)) + 1.0;
    return (size_t)(first + T);
}

/* Scalars that a run draws at most. */
static size_t draws_of(const so_plan *plan)
{
    double each = (double)plan->model.dim + (double)plan->model.packed;

    if (searches(plan))
        each += (double)(plan->of.tests_g + plan->of.tests_h) + 1.0;
    return (size_t)fmin((double)plan->base.iterations * each + 1.0, 0x1p62);
}

/* A record moves every test, for steps of length 1, by as much as its gradient is long. */
static pn_status search_rests(so_plan *plan, const so_noise *noise, pn_err *err)
{
    const pn_model *model = &plan->model;
    double moved = pn_contributions(model->neighbours) * model->lipschitz / (double)model->batch;
    pn_plan_rest search = { .of = "search",
                            .basis = { .rule = "gradient",
                                       .norm = "each",
                                       .contributions = pn_contributions(model->neighbours),
                                       .contribution = model->lipschitz,
                                       .factor = 1.0,
                                       .divisor = (double)model->batch,
                                       .value = moved },
                            .times = noise->iterations };

    if (!searches(plan))
        return PN_OK;
    PN_TRY(pn_line_search_event(model, noise->search_epsilon, &search.event, err));
    pn_plan_rests_on(&plan->base, &search);
    return PN_OK;
}

/* What an iteration of each phase releases, at most. */
static pn_status say_rests(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    const so_noise *phases[] = { &plan->first, &at->second };

    for (size_t k = plan->phases == 2 ? 0 : 1; k < 2; k++) {
        const so_noise *noise = phases[k];
        const pn_model_part parts[] = { { &plan->model, false, noise->z, noise->iterations },
                                        { &plan->model, true, noise->z, noise->iterations } };

        pn_model_rests(&plan->base, parts, 2);
        PN_TRY(search_rests(plan, noise, err));
    }
    return PN_OK;
}

static pn_status attach_event(so_plan *plan, pn_err *err)
{
    size_t draws = draws_of(plan);
    pn_status status = pn_allowance_event(&plan->allowance, draws, plan->model.neighbours, &plan->base.event, err);

    if (status != PN_EBUDGET)
        return status;
    return pn_fail(
        err, status,
        "the tolerances ask for %zu iterations, that is up to %zu draws of noise, whose tails take more of delta "
        "%g than is set aside for them; give larger tolerances, or iterations=, or a larger delta",
        plan->base.iterations, draws, plan->base.request.delta);
}

/* The first line, where steps within the default work are fewer than the proof asks for. */
static void limit_work(const so_work *at)
{
    so_plan *plan = at->plan;
    double wanted = fmin(ceil(plan->gap / plan->of.decrease), SO_MOST_PLANNED), each = so_step_seconds(plan);

    plan->base.seconds = (double)plan->cap * each;
    if (!at->common[PN_OPT_ITERATIONS].given && (double)plan->cap < wanted)
        pn_plan_held_back(&plan->base, wanted * each);
}

pn_status so_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    so_plan *plan = (so_plan *)base;
    so_work work = { .plan = plan, .common = common, .own = own }, *at = &work;
    bool is_private;

    PN_TRY(so_read_problem(at, err));
    is_private = plan->model.is_private;
    PN_TRY(so_choose_tolerance(at, err));
    PN_TRY(so_set_noise(at, err));
    if (is_private && !at->needs.enough)
        PN_TRY(so_find_reachable(at, err));
    base->iterations = most_iterations(at);
    base->charges = 1;
    base->simulation_only = is_private && plan->eigen == PN_EIGEN_MATRIX_FREE;
    base->samples = !is_private && !so_is_exact(plan);
    base->sigma = plan->first.z * plan->model.gradient_sensitivity;
    if (is_private)
        PN_TRY(attach_event(plan, err));
    if (is_private)
        PN_TRY(say_rests(at, err));
    limit_work(at);
    so_explain(at);
    return pn_start_value_ask(&plan->value, base, "second_order value", err);
}
