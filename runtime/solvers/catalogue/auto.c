/* auto.c -- solve.auto: picks the solver for a problem and its budget from public numbers alone, and plans with it.
 * Depends on: solver.h, first_order.h, gradient_noise.h.  Used by: solvers.c's table.
 *
 * Candidates are asked in a fixed order; the first one that suits the problem and can be planned is taken.  What a row
 * looks at: the certified bounds, n, the dimension, the set, the budget.  No record,
 * and no value that a record could move, has a part in it.
 *
 * The rule of smooth convex losses, between newton and gradient_descent.  r = c sqrt(d)/(n mu), c = 2 or 1 by the
 * relation and mu that of the Gaussian mechanism which the budget pays for, is the norm of the noise of one released
 * gradient beside the largest slope.  Released Hessians leave eigenvalues below about 3 r of their bound unknown: from
 * r = 1/3 on nothing is left of them.  Below it
 *   - newton is ahead where gradient_descent cannot take its full time within its limit of work, or only by momentum
 *     that multiplies it by five: one step then does what thousands do not;
 *   - of many columns (d >= 30) the gains and the damping of newton's releases are ahead of a plain mean of gradients
 *     while noise is large, above r = 2e-3; between, thousands of gradient steps see directions that ten to twenty
 *     steps of newton leave.  The time of gradient_descent is one for all directions, short enough for the noise of
 *     those without curvature; damping acts in each by its curvature, which shows where there is enough to average
 *     over.  Not so where a recipe makes most of a row of categories and flags (mean square above 2/3 of the bound's by
 *     its form): the many columns are then few questions, and each category a direction of its own.
 *     Nor where a clip is below the slopes of the loss: the time of gradient_descent is longer there, while the
 *     damping follows the noise of Hessians, which has not changed.
 * With several margins newton's curvature is a bound, the same for all margins and records: gradient_descent is ahead
 * on usps and Covertype's seven classes at every epsilon.
 * The reasons are the theory's, the numbers were looked for on abalone, cal_housing, a9a, ijcnn1 and Covertype
 * (logistic loss, epsilon 0.1 to 30, both relations), that of 30 columns on a9a, usps and Covertype with 22 to 40 of
 * their columns, and looked for because of breast_cancer's 31; on either side of a line the two differ little.  That of
 * categories was seen on three tables of 51 to 141 columns and then held on three others, that of clips on eleven of 30
 * to 114 columns (tests/bench/utility/front_door.md).
 * A rule for few columns and little noise went after a look at cpusmall, whose eigenvalues lie too far apart for it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "core/task.h"
#include "solvers/catalogue/solvers.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/solver.h"

typedef struct facts {
    const pn_objective *objective;
    const pn_bounds *bounds;
    const pn_request *request;
    double n, dim;
    double mu; /* of the Gaussian mechanism that the budget pays for; +inf without privacy */
    bool pure; /* no delta: Gaussian noise is out */
    bool smooth, convex;
    bool filled;  /* by its form a recipe's rows fill most of their bound */
    bool clipped; /* below the slopes from which default times are made */
    bool hurried; /* gradient_descent would be held back by its limit of work, or only momentum would save it */
} facts;

typedef struct candidate {
    const char *solver;
    bool (*suits)(const facts *of);
    const char *why;
} candidate;

#define FILLED (2.0 / 3.0) /* of the bound's square */

/* Rows that no recipe made say nothing of it. */
static bool is_filled(const pn_record_bounds *rows)
{
    return rows->usual > 0.0 && rows->usual * rows->usual > FILLED * rows->norm[PN_L2] * rows->norm[PN_L2];
}

static pn_status read_facts(facts *out, pn_objective *objective, const pn_request *request, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_regulariser *reg = pn_objective_regulariser(objective);
    bool is_private = request->kind != PN_NONPRIVATE;
    double slope;

    PN_TRY(pn_margin_slope(&slope, objective, err));
    *out = (facts){ .objective = objective,
                    .bounds = bounds,
                    .request = request,
                    .n = (double)pn_objective_data(objective)->n,
                    .dim = (double)pn_objective_dim(objective),
                    .pure = request->kind == PN_EPSILON_DELTA && request->delta == 0.0,
                    .mu = is_private ? sqrt(2.0 * pn_gradient_noise_rho(request)) : INFINITY,
                    .filled = is_filled(&pn_objective_data(objective)->bounds),
                    .clipped = slope > bounds->lipschitz[PN_L2] * (1.0 + 1e-9),
                    .smooth = bounds->loss.smooth && (!reg || isfinite(bounds->reg.smoothness)),
                    .convex = bounds->convex && bounds->loss.convex };
    return PN_OK;
}

/* ---- what suits ---- */

static bool black_box(const facts *of)
{
    return pn_objective_loss(of->objective)->margins == 0;
}

static bool pure_vertices(const facts *of)
{
    const pn_set *set = pn_objective_set(of->objective);

    return of->pure && set && pn_set_is_polytope(set);
}

#define MOMENTS_MOST 1500.0 /* columns: (d + 1)^2/2 doubles, and an eigendecomposition of a few seconds */

/* Without clip= the squared loss has slopes as large as its set is wide, of which every gradient has the noise; a
 * release of all moments has not: on abalone, cal_housing and cpusmall over balls of radius 1 to 5 it is ahead of
 * newton and gradient_descent at every epsilon from 0.1 to 4.  With clip= the noise of gradients follows the residuals,
 * which is less where columns are nearly dependent and the model is long: there newton is ahead from epsilon 1 on.
 * Over polytopes few vertices may be all that is wanted. */
static bool least_squares(const facts *of)
{
    const pn_set *set = pn_objective_set(of->objective);

    return !of->pure && strcmp(pn_objective_loss(of->objective)->row->name, "squared") == 0 &&
           pn_objective_clip(of->objective) == 0.0 && of->dim <= MOMENTS_MOST && of->convex &&
           !(set && pn_set_is_polytope(set));
}

static bool pure(const facts *of)
{
    return of->pure;
}

#define ORDER_MOST    1000.0 /* of a Hessian: an eigendecomposition of it takes a second */
#define HIDDEN        (1.0 / 3.0)
#define MANY_COLUMNS  30.0
#define NOISE_OF_MANY 2e-3
#define HURRY         0.8 /* momentum: five times the time of plain steps */

/* r; 0 without privacy. */
static double noise_part(const facts *of)
{
    return pn_contributions(of->request->neighbours) * sqrt(of->dim) / (of->n * of->mu);
}

static bool curvature_shows(const facts *of)
{
    double r = noise_part(of);

    if (of->pure || !of->smooth || !of->convex || of->dim > ORDER_MOST || r >= HIDDEN ||
        pn_loss_inputs(pn_objective_loss(of->objective)) > 1)
        return false;
    return of->hurried || (of->dim >= MANY_COLUMNS && !of->filled && !of->clipped && r > NOISE_OF_MANY);
}

static bool smooth_slopes(const facts *of)
{
    return !of->pure && of->smooth;
}

static bool slopes(const facts *of)
{
    return !of->pure;
}

static const candidate candidates[] = {
    { "zeroth_order", black_box, "the loss is a black box, of which values alone are known" },
    { "frank_wolfe", pure_vertices, "epsilon is pure and the set has vertices, among which it selects" },
    { "output_perturbation", pure, "epsilon is pure" },
    { "sufficient_statistics", least_squares,
      "squared loss without clip=: one release of all second moments, of which the rest is post-processing" },
    { "newton", curvature_shows, "smooth and convex: noisy Hessians do here what many more gradients would" },
    { "gradient_descent", smooth_slopes,
      "smooth: noisy gradients of all records, which come as far as noisy Hessians do" },
    { "sgd", slopes, "batches: for losses whose slope jumps, and where nothing else applies" },
};

/* ---- the plan ---- */

static void say_why(pn_plan *plan, const char *why)
{
    pn_plan_lines *lines = &plan->lines;
    pn_plan_line first;

    pn_plan_add_text(plan, "solver", plan->solver->name, "%s", why);
    if (strcmp(lines->line[lines->count - 1].name, "solver") != 0) /* the table was full */
        return;
    first = lines->line[lines->count - 1];
    memmove(lines->line + 1, lines->line, (lines->count - 1) * sizeof first);
    lines->line[0] = first;
    plan->later += plan->later > 0;
}

static pn_status plan_with(pn_plan **out, const candidate *one, pn_objective *objective, const pn_request *request,
                           const pn_arg *common, pn_err *err)
{
    pn_arg shared[PN_OPT_COUNT], own[PN_ARGS_MAX];
    pn_status status;

    memcpy(shared, common, sizeof shared);
    memset(own, 0, sizeof own);
    status = pn_plan_from_args(out, one->solver, objective, request->ledger, shared, own, request->task, err);
    if (status == PN_OK)
        say_why(*out, one->why);
    return status;
}

/* Neither want of memory nor a stop says whether a solver suits. */
static bool is_failure(pn_status status)
{
    return status == PN_ENOMEM || pn_is_stop(status);
}

/* What the plan of gradient_descent says of its own work; where it has none, there is nothing to prefer. */
static pn_status is_hurried(bool *hurried, pn_objective *objective, const pn_request *request, const pn_arg *common,
                            pn_err *err)
{
    static const candidate descent = { "gradient_descent", NULL, "" };
    pn_plan *plan = NULL;
    pn_status status = plan_with(&plan, &descent, objective, request, common, err);

    *hurried = status != PN_OK;
    if (status != PN_OK)
        return is_failure(status) ? status : PN_OK;
    for (size_t i = 0; i < plan->lines.count; i++) {
        const pn_plan_line *line = &plan->lines.line[i];

        *hurried = *hurried || strcmp(line->name, "held back, s") == 0 ||
                   (strcmp(line->name, "momentum beta") == 0 && line->value >= HURRY);
    }
    pn_plan_free(plan);
    return PN_OK;
}

/* Of several refusals the first is told: it is that of the solver which suits best. */
static pn_status auto_pick(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                           const pn_arg *own, pn_err *err)
{
    facts of;
    pn_status status = PN_OK;
    pn_err refusal;

    (void)own;
    PN_TRY(read_facts(&of, objective, request, err));
    if (of.smooth && of.convex && !of.pure)
        PN_TRY(is_hurried(&of.hurried, objective, request, common, err));
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        pn_status now;

        if (!candidates[k].suits(&of))
            continue;
        now = plan_with(out, &candidates[k], objective, request, common, &refusal);
        if (now == PN_OK)
            return now;
        if (status == PN_OK || is_failure(now))
            status = pn_fail(err, now, "%s", refusal.message);
        if (is_failure(now))
            return status;
    }
    return status;
}

static const pn_param auto_params[] = { PN_PARAM_END };

const pn_solver_ops pn_solver_auto = {
    .name = "auto",
    .doc =
        "Picks the solver from public numbers alone (the certified bounds, the number of records and coordinates, the "
        "set, the budget), plans with it at its defaults, and says which and why in the first line of the plan.  "
        "plan.solver names it; plan:with keeps it.",
    .source = "see the solver that it names",
    .params = auto_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .pick = auto_pick,
};
