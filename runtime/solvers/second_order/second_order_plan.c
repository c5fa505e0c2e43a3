/* second_order_plan.c -- a plan of second-order descent: in which unit its budget is counted, its noise,
 * tolerances and iterations.
 * Depends on: second_order.h, line_search.h, privacy.  Used by: second_order.c.
 * Spec: second-order.md sections 2 to 6. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "oracle/gradient_noise.h"
#include "oracle/line_search.h"
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

/* An iteration's dearest branch: gradient, Hessian and search, NULL where there is none. */
static pn_status events_at(const so_plan *plan, double z, pn_event *events[3], pn_err *err)
{
    pn_status status = pn_model_gradient_event(&plan->model, z, &events[0], err);

    if (status == PN_OK)
        status = pn_model_hessian_event(&plan->model, z, &events[1], err);
    if (status == PN_OK && searches(plan))
        status = pn_line_search_event(&plan->model, 1.0 / z, &events[2], err);
    return status;
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
    iterations_program at = { plan, iterations };
    const pn_program program = { iterations_release, &at };
    pn_event *events[3] = { NULL, NULL, NULL };
    so_noise noise = { .iterations = iterations };
    pn_status status;

    if (!plan->model.is_private) {
        *out = noise;
        return PN_OK;
    }
    status = pn_allowance_noise(&plan->allowance, share, &program, &noise.z, err);
    if (status == PN_OK)
        status = events_at(plan, noise.z, events, err);
    if (status == PN_OK) {
        noise.gradient_cost = pn_allowance_cost(&plan->allowance, events[0], 1);
        noise.hessian_cost = pn_allowance_cost(&plan->allowance, events[1], 1);
        if (events[2]) {
            noise.search_cost = pn_allowance_cost(&plan->allowance, events[2], 1);
            noise.search_epsilon = 1.0 / noise.z;
        }
        *out = noise;
    }
    free_events(events);
    return status;
}

static void set_value(const so_plan *plan, double z, pn_question *value)
{
    value->dim = 1;
    value->label = "second_order value";
    value->noise = (pn_gradient_noise){ .sigma = z * plan->value_sensitivity,
                                        .sensitivity = plan->value_sensitivity,
                                        .bound = plan->value_bound,
                                        .dim = 1,
                                        .neighbours = plan->model.neighbours };
}

static pn_status value_release(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const so_plan *plan = self;
    pn_question value = { .ops = &pn_question_point, .neighbours = plan->model.neighbours };
    pn_status status;

    set_value(plan, z, &value);
    status = pn_question_price(&value, err);
    *event = value.event;
    *count = 1;
    return status;
}

/* The value at the start is asked where the plan pays for it. */
static pn_status ask_value(so_plan *plan, pn_err *err)
{
    pn_question *value;

    if (plan->value_cost == 0.0)
        return PN_OK;
    PN_TRY(pn_plan_ask(&value, &plan->base, &pn_question_point, err));
    set_value(plan, plan->value_z, value);
    return pn_question_price(value, err);
}

/* ---- the budget ---- */

static pn_status open_in(const so_work *at, pn_unit unit, size_t iterations, pn_allowance *out, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    iterations_program self = { at->plan, iterations };
    const pn_program program = { iterations_release, &self };
    bool rho = request->kind == PN_RHO;
    pn_run_budget budget = { .owner = at->owner,
                             .accountant = "rdp",
                             .epsilon = rho ? NAN : request->epsilon,
                             .delta = rho ? NAN : request->delta,
                             .rho = rho ? request->rho : NAN };

    return pn_allowance_open(out, &budget, unit, at->paper && unit == PN_UNIT_RHO,
                             unit == PN_UNIT_RENYI ? &program : NULL, err);
}

/* Whichever of rho and Renyi has T iterations with less noise. */
static pn_status open_better(so_work *at, size_t iterations, pn_err *err)
{
    so_plan *plan = at->plan;
    so_noise by_rho, by_renyi;
    pn_allowance rho;
    pn_status status = open_in(at, PN_UNIT_RHO, iterations, &plan->allowance, err);

    if (status == PN_OK)
        status = so_noise_of(plan, plan->allowance.total, iterations, &by_rho, err);
    if (status != PN_OK)
        return status;
    rho = plan->allowance;
    status = open_in(at, PN_UNIT_RENYI, iterations, &plan->allowance, err);
    if (status == PN_OK)
        status = so_noise_of(plan, plan->allowance.total, iterations, &by_renyi, err);
    if (status == PN_OK && by_rho.z <= by_renyi.z)
        plan->allowance = rho;
    return status;
}

static pn_status open_allowance(so_work *at, size_t iterations, pn_err *err)
{
    so_plan *plan = at->plan;
    const pn_request *request = &plan->base.request;
    bool all = plan->model.batch == plan->model.n;

    if (request->kind == PN_RHO || (at->paper && all))
        return open_in(at, PN_UNIT_RHO, iterations, &plan->allowance, err);
    if (!all)
        return open_in(at, PN_UNIT_RENYI, iterations, &plan->allowance, err);
    if (!searches(plan) && !pn_request_is_renyi(request))
        return open_in(at, PN_UNIT_GAUSSIAN, iterations, &plan->allowance, err);
    return open_better(at, iterations, err);
}

static double value_share(const so_work *at)
{
    const so_plan *plan = at->plan;
    bool given = at->own[SO_VALUE_SHARE].given;

    if (at->own[SO_GAP].given || at->data_free || !isfinite(plan->floor) || !isfinite(plan->value_bound))
        return 0.0;
    return given ? at->own[SO_VALUE_SHARE].real : 0.01;
}

/* What one record moves of the mean loss at w0, as it is computed.  Any order of summing n numbers is off by less than
 * (n + 4) 2^-53 of their
 * sizes.  Of a quadratic loss it may be a form in w0 with sums over records as coefficients: of sizes
 * (|x| |w0| + |y|)^2/2, which is what bounds a record's loss, and with two more sums of p numbers each. */
static double value_sensitivity(const so_work *at)
{
    const so_plan *plan = at->plan;
    double n = (double)plan->model.n, p = (double)plan->model.dim, size = plan->value_bound;
    double moved = plan->model.neighbours == PN_REPLACE_ONE ? at->value.high - at->value.low : size;

    return (moved / n + 2.0 * (n + 2.0 * p + 12.0) * 0x1p-53 * size) * (1.0 + 1e-9);
}

static pn_status pay_for_value(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    const pn_program program = { value_release, plan };
    pn_event *event = NULL;
    size_t count;
    double share = value_share(at);
    pn_status status;

    plan->value_cost = plan->value_z = plan->value_sensitivity = 0.0;
    if (share == 0.0)
        return PN_OK;
    plan->value_sensitivity = value_sensitivity(at);
    status = pn_allowance_noise(&plan->allowance, share * plan->allowance.total, &program, &plan->value_z, err);
    if (status == PN_OK)
        status = value_release(plan, plan->value_z, &event, &count, err);
    if (status == PN_OK)
        plan->value_cost = pn_allowance_cost(&plan->allowance, event, count);
    pn_event_free(event);
    return status;
}

static size_t first_iterations(const so_plan *plan)
{
    return plan->first_iterations ? plan->first_iterations : (size_t)ceil(sqrt((double)plan->cap));
}

static double whole(const so_noise *noise)
{
    return noise->gradient_cost + noise->hessian_cost + noise->search_cost;
}

pn_status so_set_noise(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    double left = 0.0, share = plan->phases == 2 ? plan->first_share : 1.0;
    size_t T = plan->phases == 2 ? first_iterations(plan) : plan->cap;
    pn_status status = PN_OK;

    if (at->is_private) {
        status = open_allowance(at, plan->cap, err);
        if (status == PN_OK)
            status = pay_for_value(at, err);
        left = plan->allowance.total - plan->value_cost;
    }
    if (status == PN_OK)
        status = so_noise_of(plan, share * left, T, &plan->first, err);
    at->second = plan->first;
    if (status == PN_OK && plan->phases == 2)
        status = so_noise_of(plan, left - (double)T * whole(&plan->first), plan->cap, &at->second, err);
    if (status == PN_OK)
        at->needs = so_check(plan, &at->second);
    return status;
}

/* ---- conditions ---- */

so_needs so_check(const so_plan *plan, const so_noise *noise)
{
    const pn_model *model = &plan->model;
    const so_constants *of = &plan->of;
    double n = (double)model->n, m = (double)model->batch, each = so_failure_each(of, noise->iterations);
    double gradient = pn_model_gradient_noise(model, noise->z, each);
    double hessian = pn_model_hessian_noise(model, noise->z, each);
    double drawn = pn_model_gradient_sampling(model, each), drawn_hessian = pn_model_hessian_sampling(model, each);
    so_search_error tests = { .records = n,
                              .batch = m,
                              .lipschitz = model->lipschitz,
                              .sensitivity = (model->neighbours == PN_REPLACE_ONE ? 2.0 : 1.0) * model->lipschitz / m,
                              .epsilon = noise->search_epsilon,
                              .iterations = noise->iterations,
                              .slope = plan->slope };
    so_needs needs = { .gradient = so_records_for(n, gradient, drawn, so_gradient_limit(of)),
                       .hessian = so_records_for(n, hessian, drawn_hessian, so_hessian_limit(of)),
                       .gradient_error = gradient + drawn,
                       .hessian_error = hessian + drawn_hessian };

    if (searches(plan)) {
        needs.search_gradient = so_gradient_search_records(of, &tests);
        needs.search_curvature = so_curvature_search_records(of, &tests);
    }
    return needs;
}

double so_needed(const so_needs *needs)
{
    return fmax(fmax(needs->gradient, needs->hessian), fmax(needs->search_gradient, needs->search_curvature));
}

/* ---- the plan ---- */

/* The most steps that can ever run.  Past T, iterations that cost less than they might leave something for more. */
static size_t most_iterations(const so_work *at)
{
    const so_plan *plan = at->plan;
    const so_noise *last = &at->second;
    double first = plan->phases == 2 ? (double)plan->first.iterations : 0.0, T = (double)plan->cap;

    if (plan->filter && at->is_private)
        T = ceil(T * whole(last) / (last->gradient_cost + last->search_cost) * (1.0 + 1e-6)) + 1.0;
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

static pn_status attach_event(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    size_t draws = draws_of(plan);
    pn_status status = pn_allowance_event(&plan->allowance, draws, plan->model.neighbours, &plan->base.event, err);

    if (status != PN_EBUDGET)
        return status;
    return pn_fail(
        err, status,
        "%s: the tolerances ask for %zu iterations, that is up to %zu draws of noise, whose tails take more of delta "
        "%g than is set aside for them; give larger tolerances, or iterations=, or a larger delta",
        at->owner, plan->base.iterations, draws, plan->base.request.delta);
}

static pn_status fill(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    pn_status status = so_read_problem(at, err);

    if (status == PN_OK)
        status = so_choose_tolerance(at, err);
    if (status == PN_OK)
        status = so_set_noise(at, err);
    if (status == PN_OK && at->is_private && so_needed(&at->needs) > (double)plan->model.n)
        status = so_find_reachable(at, err);
    if (status != PN_OK)
        return status;
    plan->base.iterations = most_iterations(at);
    plan->base.charges = 1;
    plan->base.worthless = at->is_private && plan->eigen == SO_MATRIX_FREE;
    plan->base.samples = !at->is_private && (plan->model.batch < plan->model.n || plan->of.lanczos > 0.0);
    plan->base.sigma = plan->first.z * plan->model.gradient_sensitivity;
    if (at->is_private)
        status = attach_event(at, err);
    if (status == PN_OK)
        so_explain(at);
    return status;
}

pn_status so_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err)
{
    so_plan *plan = pn_calloc(1, sizeof *plan);
    so_work at = { .plan = plan,
                   .owner = "solve.second_order",
                   .common = common,
                   .own = own,
                   .is_private = request->kind != PN_NONPRIVATE,
                   .paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 };
    pn_status status;

    PN_TRY(pn_made(plan, err, "%s: out of memory", at.owner));
    pn_plan_begin(&plan->base, objective, request);
    status = fill(&at, err);
    if (status == PN_OK)
        status = ask_value(plan, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

void so_plan_destroy(pn_plan *plan)
{
    so_plan *self = (so_plan *)plan;

    pn_free(self->start);
    pn_free(self);
}
