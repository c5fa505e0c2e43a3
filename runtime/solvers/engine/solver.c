/* solver.c -- the options that all solvers share, and planning.
 * Depends on: solver.h, privacy, objective.  Used by: all solvers, solvers/catalogue/solvers.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "privacy/accounting/weak.h"
#include "solvers/engine/hopeless.h"
#include "solvers/engine/solver.h"
#include "solvers/engine/without_records.h"
#include "solvers/engine/work.h"

static const char *const calibrations[] = { "tight", "paper", NULL };

/* In the order of the PN_OPT_ constants. */
const pn_param pn_solver_common[] = {
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "privacy loss bound of the whole run" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "probability slack of the bound; keep it below 1/n; without it epsilon is pure" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "zCDP budget of the whole run, in place of epsilon and delta" },
    { "privacy", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL, "false: no noise and no guarantee" },
    { "neighbours", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_neighbours_names, "what two neighbouring data sets are" },
    { "calibration", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, calibrations,
      "tight: noise from the accountant; paper: the article's constants" },
    { "iterations", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "number of steps; by default what the risk bound favours, within about 4 s of work by the estimate plan.seconds; "
      "steps that are given are not limited" },
    { "start", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "first point [p], in the set; by default the set's centre" },
    PN_PARAM_END,
};

void pn_plan_called(pn_plan *plan, const char *owner)
{
    (void)snprintf(plan->owner, sizeof plan->owner, "%s%s", owner ? "" : "solve.", owner ? owner : plan->solver->name);
}

/* Whose it is, for what, proven until something says otherwise, and no bound yet. */
static void begin_plan(pn_plan *plan, pn_objective *objective, const pn_request *request)
{
    plan->solver = request->solver;
    plan->name = request->solver->name;
    pn_plan_called(plan, request->owner);
    plan->objective = objective;
    plan->request = *request;
    plan->proven = true;
    plan->bound = NAN;
}

pn_status pn_plan_need_bounded_set(const pn_plan *plan, pn_err *err)
{
    const pn_set *set = pn_objective_set(plan->objective);

    if (!set)
        return pn_fail(err, PN_EINVAL, "the objective has no constraint set; give set= to pn.objective");
    if (!pn_set_is_bounded(set))
        return pn_fail(err, PN_EUNSUPPORTED, "the set must be bounded, and %s is not; intersect it with a ball",
                       set->ops->name);
    return PN_OK;
}

pn_status pn_plan_start(double **start, const pn_objective *objective, const pn_arg *given, pn_err *err)
{
    const pn_set *set = pn_objective_set(objective);
    size_t p = pn_objective_dim(objective);

    PN_TRY(pn_new_zeroed(start, p, err, "out of memory for %zu coordinates", p));
    if (given && given->given)
        memcpy(*start, given->vector.data, p * sizeof(double));
    else if (set)
        set->ops->center(set, *start);
    return PN_OK;
}

void pn_plan_explain(const pn_plan *plan, pn_plan_lines *out)
{
    size_t first = plan->later ? plan->later : plan->lines.count;

    memcpy(out->line, plan->lines.line, first * sizeof *out->line);
    out->count = first;
    if (plan->later)
        plan->solver->what_if(plan, out);
    for (size_t i = first; i < plan->lines.count && out->count < PN_PLAN_LINES; i++)
        out->line[out->count++] = plan->lines.line[i];
}

pn_objective *pn_plan_objective(const pn_plan *plan)
{
    return plan->without_records ? plan->without_records->objective : plan->objective;
}

static void free_block(pn_plan *plan)
{
    pn_free(plan);
}

void pn_plan_free(pn_plan *plan)
{
    if (!plan)
        return;
    pn_without_records *without = plan->without_records;

    for (size_t i = 0; i < plan->question_count; i++)
        pn_question_clear(&plan->questions[i]);
    pn_free(plan->questions);
    for (size_t i = 0; i < plan->rest_count; i++)
        pn_event_free(plan->rests[i].event);
    pn_event_free(plan->event);
    pn_free(plan->start);
    (plan->solver->destroy_plan ? plan->solver->destroy_plan : free_block)(plan);
    pn_without_records_free(without);
}

/* ---- from options to a request ---- */

/* Options that would be without effect: a caller who gives one takes the run for another. */
static pn_status refuse_privacy_options(const pn_solver_ops *solver, const pn_arg *common, const pn_arg *own,
                                        pn_err *err)
{
    if (common[PN_OPT_EPSILON].given || common[PN_OPT_DELTA].given || common[PN_OPT_RHO].given)
        return pn_fail(err, PN_EINVAL, "privacy=false takes no epsilon, delta or rho; leave them out");
    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EINVAL,
                       "calibration=\"paper\" is noise for epsilon and delta; with privacy=false leave it out");
    for (const char *const *name = solver->noise_params; name && *name; name++) {
        size_t i = 0;

        while (strcmp(solver->params[i].name, *name) != 0)
            i++;
        if (own[i].given)
            return pn_fail(err, PN_EINVAL, "%s is an option of private runs; without privacy, leave it out", *name);
    }
    return PN_OK;
}

/* With a ledger and no parameters of its own, the run may use all that remains. */
static pn_status request_remaining(pn_request *request, pn_err *err)
{
    const pn_budget *budget = pn_ledger_budget(request->ledger);
    double remaining = pn_ledger_remaining(request->ledger);

    if (!(remaining > 0.0))
        return pn_fail(err, PN_EBUDGET, "the ledger has nothing left");
    if (isfinite(budget->rho)) {
        request->kind = PN_RHO;
        request->rho = remaining;
        return PN_OK;
    }
    request->kind = PN_EPSILON_DELTA;
    request->epsilon = remaining;
    request->delta = budget->delta;
    return PN_OK;
}

static pn_status read_request(const pn_solver_ops *solver, const pn_arg *common, const pn_arg *own, pn_request *request,
                              pn_err *err)
{
    request->neighbours = (pn_neighbours)common[PN_OPT_NEIGHBOURS].count;
    request->epsilon = request->delta = request->rho = NAN;
    request->kind = PN_NONPRIVATE;
    if (!common[PN_OPT_PRIVACY].flag)
        return refuse_privacy_options(solver, common, own, err);
    if (!solver->is_private)
        return pn_fail(err, PN_EUNSUPPORTED, "the solver has no private form; give privacy=false");
    if (request->ledger && !common[PN_OPT_NEIGHBOURS].given)
        request->neighbours = pn_ledger_budget(request->ledger)->neighbours;
    if (common[PN_OPT_RHO].given) {
        if (common[PN_OPT_EPSILON].given || common[PN_OPT_DELTA].given)
            return pn_fail(err, PN_EINVAL, "give either rho, or epsilon and delta, not both");
        request->kind = PN_RHO;
        request->rho = common[PN_OPT_RHO].real;
        return PN_OK;
    }
    if (common[PN_OPT_EPSILON].given) {
        request->kind = PN_EPSILON_DELTA;
        request->epsilon = common[PN_OPT_EPSILON].real;
        request->delta = common[PN_OPT_DELTA].given ? common[PN_OPT_DELTA].real : 0.0;
        return PN_OK;
    }
    if (common[PN_OPT_DELTA].given)
        return pn_fail(err, PN_EINVAL, "delta is given without epsilon; give epsilon as well");
    if (request->ledger)
        return request_remaining(request, err);
    return pn_fail(err, PN_EINVAL,
                   "no privacy budget; give epsilon= and delta=, or rho=, or ledger=, or privacy=false");
}

static void warn_about_parameters(pn_plan *plan)
{
    const pn_request *request = &plan->request;
    size_t n = pn_objective_data(plan->objective)->n;
    char weak[128];

    if (request->kind != PN_NONPRIVATE && pn_objective_data(plan->objective)->bounds.categories_found)
        pn_plan_warn(plan, "the categories of text columns were found in the records: the budget covers neither "
                           "which there are nor how many; declare them (pn.recipe, one_hot={...})");
    if (request->kind != PN_EPSILON_DELTA)
        return;
    if (request->delta > 1.0 / (double)n)
        pn_plan_warn(plan, "delta = %g is above 1/n = %.3g: publishing one record at random would pass; use 1/n^2",
                     request->delta, 1.0 / (double)n);
    if (request->delta == 0.0)
        pn_plan_warn(plan, "delta is absent: pure epsilon; with delta=%.1g the noise would be smaller",
                     1.0 / ((double)n * (double)n));
    if (pn_weak_epsilon(weak, sizeof weak, request->epsilon))
        pn_plan_warn(plan, "%s", weak);
}

/* Any point of the set is within L x diameter of the best one: a bound above that promises nothing. */
static void warn_about_bound(pn_plan *plan)
{
    const pn_set *set = pn_objective_set(plan->objective);
    const pn_bounds *bounds = pn_objective_bounds(plan->objective);
    double trivial = INFINITY;

    for (int norm = 0; set && bounds->loss.continuous && norm < PN_LP_COUNT; norm++) {
        double diameter = set->ops->diameter(set, (pn_lp)norm);

        if (isfinite(bounds->lipschitz[norm]) && isfinite(diameter))
            trivial = fmin(trivial, bounds->lipschitz[norm] * diameter);
    }
    if (plan->request.kind != PN_NONPRIVATE && plan->bound > trivial)
        pn_plan_warn(plan,
                     "the risk bound promises nothing: every point of the set has excess at most L x diameter = %.4g; "
                     "more records, a larger budget, rows clipped to a smaller norm or another solver would help",
                     trivial);
}

/* What the run really costs, by the accountant, whatever was asked for. */
static void certify(pn_plan *plan)
{
    const pn_request *request = &plan->request;

    plan->epsilon = plan->delta = plan->rho = plan->order = NAN;
    if (request->kind == PN_NONPRIVATE)
        return;
    plan->rho = (double)pn_plan_charges(plan) * plan->event->ops->zcdp(plan->event);
    if (request->kind == PN_RHO)
        return;
    plan->delta = request->delta;
    plan->epsilon = pn_event_epsilon(plan->event, pn_plan_charges(plan), request->delta, &plan->order);
}

/* The certified margin rests on it: relative to the set, and far below a unit of the score lattice. */
static double start_tolerance(const pn_set *set)
{
    double radius = set->ops->radius(set, PN_LINF);

    return 1e-12 * (isfinite(radius) ? radius : 1.0);
}

static pn_status check_start(const pn_arg *start, const pn_objective *objective, pn_err *err)
{
    const pn_set *set = pn_objective_set(objective);
    size_t dim = pn_objective_dim(objective);
    bool inside = true;

    if (!start->given)
        return PN_OK;
    if (start->vector.n != dim && pn_objective_loss(objective)->extra > 0)
        return pn_fail(err, PN_EDIM,
                       "start has %zu entries, the model has %zu margins x %zu features + %zu further parameters = %zu",
                       start->vector.n, pn_objective_loss(objective)->margins, pn_objective_data(objective)->p,
                       pn_objective_loss(objective)->extra, dim);
    if (start->vector.n != dim && pn_objective_loss(objective)->margins > 1)
        return pn_fail(err, PN_EDIM, "start has %zu entries, the model has %zu classes x %zu features", start->vector.n,
                       pn_objective_loss(objective)->margins, pn_objective_data(objective)->p);
    if (start->vector.n != dim)
        return pn_fail(err, PN_EDIM, "start has %zu entries, the data has %zu features", start->vector.n, dim);
    PN_TRY(set ? set->ops->contains(set, start->vector.data, start_tolerance(set), &inside, err) : PN_OK);
    if (!inside)
        return pn_fail(err, PN_EINVAL, "start is not in the constraint set");
    return PN_OK;
}

static pn_status check_private(const pn_solver_ops *solver, const pn_objective *objective, const pn_request *request,
                               pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);

    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    if (!bounds->certified && !solver->clips_values && !solver->by_questions)
        return pn_fail(err, PN_EPRIVACY, "the sensitivity cannot be certified: %s", bounds->missing);
    if (request->ledger && pn_ledger_budget(request->ledger)->neighbours != request->neighbours)
        return pn_fail(err, PN_EPRIVACY, "neighbours is \"%s\", the ledger's is \"%s\"; they must agree",
                       pn_neighbours_names[request->neighbours],
                       pn_neighbours_names[pn_ledger_budget(request->ledger)->neighbours]);
    return PN_OK;
}

/* Noise is drawn on lattices of 2^-900 to 2^900 and follows the sensitivity, in which n and the size of the set have a
 * part; and plans square it. */
static pn_status check_drawable(const pn_solver_ops *solver, const pn_objective *objective, const pn_request *request,
                                pn_err *err)
{
    double slope = pn_objective_bounds(objective)->lipschitz[PN_L2];

    if (request->kind == PN_NONPRIVATE || solver->clips_values || solver->by_questions || solver->remote ||
        !isfinite(slope))
        return PN_OK;
    if (slope >= 0x1p-400 && slope <= 0x1p400)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "a record's gradient is at most %g, and noise is drawn for 2^-400 to 2^400; scale the loss", slope);
}

pn_status pn_plan_covered(const pn_plan *plan, pn_ledger *ledger, bool reserve, pn_err *err)
{
    pn_event *event = NULL;
    size_t count = 1;
    bool resumed = false;
    const pn_step_context context = { .ledger = ledger };
    pn_status status = plan->solver->left ? plan->solver->left(plan, &context, &resumed, &event, err) : PN_OK;

    if (status == PN_OK && !resumed) {
        event = pn_event_keep(plan->event);
        count = pn_plan_charges(plan);
    }
    if (status == PN_OK && event)
        status = reserve ? pn_ledger_reserve(ledger, event, count, err) : pn_ledger_covers(ledger, event, count, err);
    pn_event_free(event);
    return status;
}

/* Searches below, for noise or in a set, have no task of their own: they ask that of their thread whether to stop.  One
 * that was stopped may have answered with what it had; that answer is not looked at. */
static pn_status fill_until_stopped(const pn_solver_ops *solver, pn_plan *plan, const pn_arg *common, const pn_arg *own,
                                    pn_err *err)
{
    pn_task *task = plan->request.task;
    const pn_task *before = task ? pn_stop_enter(task) : NULL;
    pn_status status = solver->fill(plan, common, own, err);

    if (pn_stop_asked(NULL) != PN_OK && !pn_is_stop(status))
        status = pn_stop_asked(err);
    if (task)
        (void)pn_stop_enter(before);
    return status;
}

pn_status pn_plan_make(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, const pn_request *request,
                       const pn_arg *common, const pn_arg *own, pn_err *err)
{
    pn_plan *plan;
    pn_status status;

    PN_TRY(pn_made(plan = pn_calloc(1, solver->plan_size), err, "out of memory"));
    begin_plan(plan, objective, request);
    status = fill_until_stopped(solver, plan, common, own, err);
    if (status == PN_OK)
        *out = plan;
    else
        pn_plan_free(plan);
    return status;
}

/* What a plan that its solver has made costs, and what else forbids it or is worth a warning. */
static pn_status judge(pn_plan *plan, pn_ledger *ledger, const pn_arg *start, pn_err *err)
{
    const pn_request *request = &plan->request;

    plan->request.task = NULL;
    certify(plan);
    if (plan->proven && request->kind == PN_EPSILON_DELTA && !(plan->epsilon <= request->epsilon * (1.0 + 0x1p-40)))
        return pn_fail(err, PN_EBUDGET, "the plan would cost epsilon %g at delta %g, more than the %g asked for",
                       plan->epsilon, request->delta, request->epsilon);
    warn_about_parameters(plan);
    warn_about_bound(plan);
    pn_plan_estimate(plan);
    PN_TRY(pn_plan_judge_hope(plan, start, err));
    return ledger && plan->event ? pn_plan_covered(plan, ledger, false, err) : PN_OK;
}

static pn_status make(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, const char *owner,
                      pn_ledger *ledger, pn_arg *common, pn_arg *own, pn_task *task, pn_err *err)
{
    pn_request request = { .solver = solver, .owner = owner, .ledger = ledger, .task = task };
    pn_plan *plan = NULL;
    const char *why;
    pn_status status;

    PN_TRY(solver->remote ? PN_OK : pn_dataset_need_share(pn_objective_data(objective), owner, err));
    PN_TRY(pn_args_check(owner, pn_solver_common, common, err));
    PN_TRY(pn_args_check(owner, solver->params, own, err));
    PN_TRY(check_start(&common[PN_OPT_START], objective, err));
    PN_TRY(read_request(solver, common, own, &request, err));
    if (solver->pick)
        return solver->pick(out, objective, &request, common, own, err);
    PN_TRY(check_private(solver, objective, &request, err));
    why = request.kind != PN_NONPRIVATE ? pn_without_records_why(solver, objective) : NULL;
    if (why)
        return pn_without_records_plan(out, solver, objective, &request, common, own, why, err);
    PN_TRY(check_drawable(solver, objective, &request, err));
    PN_TRY(pn_plan_make(&plan, solver, objective, &request, common, own, err));
    status = judge(plan, ledger, &common[PN_OPT_START], err);
    if (status == PN_OK)
        *out = plan;
    else
        pn_plan_free(plan);
    return status;
}

pn_status pn_plan_by(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, const char *owner,
                     pn_ledger *ledger, pn_arg *common, pn_arg *own, pn_task *task, pn_err *err)
{
    char name[sizeof((pn_plan *)NULL)->owner];
    pn_status status;

    (void)snprintf(name, sizeof name, "%s%s", owner ? "" : "solve.", owner ? owner : solver->name);
    status = make(out, solver, objective, name, ledger, common, own, task, err);
    if (status != PN_OK)
        return pn_fail_by(err, status, name);
    (*out)->request.owner = NULL; /* name is this call's */
    pn_plan_called(*out, NULL);
    return PN_OK;
}
