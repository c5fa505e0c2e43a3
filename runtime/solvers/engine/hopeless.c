/* hopeless.c -- see hopeless.h.  Depends on: hopeless.h, gradient_noise.h, geometry.  Used by: solver.c.
 *
 * The rule.  With d columns, n records, c = 2 or 1 by the relation, mu that of the Gaussian mechanism which the budget
 * pays for, G the bound on a record's gradient that the noise follows and g that at theta = 0,
 *
 *     r = c sqrt(d) / (n mu) x max(1, G/(2 g))
 *
 * is the norm of the noise on one gradient that takes the whole budget, beside the largest gradient.  A plan is
 * hopeless from r = 1/2 on.  No way of spending the budget sees more, so r is of the problem, not of the solver; a
 * predicted excess is not compared with the gap at the start, since the ratio at which models become useless is about
 * ten times larger for the logistic loss than for the squared loss with clip=, while r is the same.
 *     d  at most 400: of news20 (62,061 columns) the noise hides less than sqrt(d) says; and at most 2 ln k
 *        over a polytope of k vertices, since the noise of all of them is sqrt(2 ln k) times that of one.
 *     G/(2 g)  is 1 for losses with certified slopes and for clip= at half of the largest gradient; the squared loss
 *        over a ball of ten times the labels has 5.5.  A release of moments has no such gradients, and the factor 1.
 *     Choices among vertices have a rule of their own (frank_wolfe_plan.c).
 *
 * Measured against held-out records, over replace_one with delta = 1/n^2, epsilon 0.003 to 4, 8 seeded runs each: a
 * model is no better than a constant where neither its mean loss is below that of the mean label or the base rate, nor
 * its accuracy above that of the larger class, by two standard errors.  tests/bench/README.md has the table. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/hopeless.h"

#define HOPELESS     0.5
#define COLUMNS_MOST 400.0

/* ---- r ---- */

static double columns(const pn_objective *objective)
{
    const pn_set *set = pn_objective_set(objective);
    double d = fmin((double)pn_objective_data(objective)->p, COLUMNS_MOST);

    return set && pn_set_is_polytope(set) ? fmin(d, fmax(1.0, 2.0 * log((double)set->ops->atom_count(set)))) : d;
}

/* max(1, G/(2 g)); of solvers whose questions are bounded by themselves 1. */
static double excess_of_slopes(const pn_plan *plan, double g)
{
    double ratio = pn_objective_bounds(plan->objective)->lipschitz[PN_L2] / (2.0 * g);

    return !plan->solver->by_questions && isfinite(ratio) ? fmax(ratio, 1.0) : 1.0;
}

/* A pure epsilon pays for no Gaussian noise; what it pays for is larger than that of delta = 1/n^2. */
static double noise_multiplier(const pn_plan *plan, double n)
{
    pn_request request = plan->request;

    if (request.kind == PN_EPSILON_DELTA && request.delta == 0.0)
        request.delta = 1.0 / (n * n);
    return 1.0 / sqrt(2.0 * pn_gradient_noise_rho(&request));
}

/* ---- which plans ---- */

static bool chooses(const pn_plan *plan)
{
    for (size_t i = 0; i < plan->question_count; i++) {
        if (plan->questions[i].ops->answer == PN_ANSWER_CHOICE)
            return true;
    }
    return false;
}

static bool asks(const pn_plan *plan, const pn_question_ops *ops)
{
    for (size_t i = 0; i < plan->question_count; i++) {
        if (plan->questions[i].ops == ops)
            return true;
    }
    return false;
}

static bool is_judged(const pn_plan *plan)
{
    const pn_loss *loss = pn_objective_loss(plan->objective);

    return plan->request.kind != PN_NONPRIVATE && !plan->solver->remote && loss->margins > 0 && loss->extra == 0 &&
           !chooses(plan) &&
           (!plan->solver->by_questions || asks(plan, &pn_question_gradient) ||
            asks(plan, &pn_question_second_moments));
}

static bool is_zero(size_t dim, const double *x)
{
    for (size_t j = 0; j < dim; j++) {
        if (x[j] != 0.0)
            return false;
    }
    return true;
}

/* A public model is no constant: one to start from, or one that a regulariser pulls to, such as the center of
 * reg.quadratic, whose gradient at 0 is then not 0. */
static pn_status begins_as_constant(const pn_plan *plan, const pn_arg *given, bool *out, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(plan->objective);
    size_t dim = pn_objective_dim(plan->objective);
    double *start = NULL, *pull = NULL;
    pn_status status = pn_plan_start(&start, plan->objective, given, err);

    *out = status == PN_OK && is_zero(dim, start);
    if (*out && reg) {
        status = pn_made(pull = pn_calloc(dim, sizeof *pull), err, "out of memory");
        if (status == PN_OK)
            status = reg->ops->evaluate(reg, dim, start, NULL, pull, err);
        *out = status == PN_OK && is_zero(dim, pull);
    }
    pn_free(pull);
    pn_free(start);
    return status;
}

/* ---- the warning ---- */

static void warn(pn_plan *plan, double r, double slopes, double g)
{
    const pn_request *request = &plan->request;
    double times = r / HOPELESS;
    char smaller[64] = "";

    if (slopes > 1.0)
        (void)snprintf(smaller, sizeof smaller, ", clip=%.3g or a smaller set", g);
    pn_plan_warn_hopeless(plan,
                          "the noise is predicted to leave the model no better than a constant: it is %.3g times the "
                          "largest mean gradient, and from %g on nothing useful is left; %.2g times the records, %.2g "
                          "times the %s, or fewer columns%s, would help",
                          r, HOPELESS, times, request->kind == PN_RHO ? times * times : times,
                          request->kind == PN_RHO ? "rho" : "epsilon", smaller);
}

pn_status pn_plan_judge_hope(pn_plan *plan, const pn_arg *given, pn_err *err)
{
    const pn_objective *objective = plan->objective;
    double n = (double)pn_objective_data(objective)->n, slopes, r, g;
    bool constant;

    if (!is_judged(plan))
        return PN_OK;
    PN_TRY(pn_objective_gradient_at_zero(&g, objective, err));
    slopes = excess_of_slopes(plan, g);
    r = pn_contributions(plan->request.neighbours) * sqrt(columns(objective)) / n * noise_multiplier(plan, n) * slopes;
    if (!(r >= HOPELESS))
        return PN_OK;
    PN_TRY(begins_as_constant(plan, given, &constant, err));
    if (constant)
        warn(plan, r, slopes, g);
    return PN_OK;
}
