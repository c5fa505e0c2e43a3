/* output_perturbation_bound.c -- how far one record can move the point that gradient steps end at,
 * on the computer that makes them.
 * Depends on: output_perturbation.h, geometry, objective.  Used by: output_perturbation_plan.c.
 * Source: Zhang, Zheng, Mou, Wang (2017) and Wu et al. (2017) for the method; the constants are derived here.
 *
 * Exact arithmetic.  A step is S(x) = P(x - eta h(x)), h the mean gradient of a batch plus the gradient of what is
 * smooth in r, P the projection on the set or the proximal operator of an r with kinks.  With losses convex and
 * L-smooth and r mu-strongly convex in the smooth part, h(x) - h(y) = H (x - y) with mu I <= H <= L I: for one margin H
 * is the mean of secant slopes times x_i x_i^T.  So x - eta h(x) moves two points to at most max(1 - eta mu, eta L - 1)
 * of their distance.  A projection moves none apart; a proximal operator of step eta of an r that is mu'-strongly
 * convex divides distances by 1 + eta mu'.  Let c be the product.  On neighbours D, D' the steps differ at one point by
 * eta times what the batch's mean gradient moves: at most k G/b, k = 2 for a replaced record, 1 for one that becomes
 * null, and 0 when the record is in no batch of this step.  Hence distances obey
 *     d_t <= c_t d_{t-1} + [record in the batch] eta_t k G/b / (1 + eta_t mu'),
 * and the sum below is over the worst place in each pass: for constant steps and for 1/(mu t) the same place in all of
 * them.  Clipped gradients of one margin are those of a convex function: the slope l'(z) is clamped to an interval,
 * which keeps it increasing, and makes it change no faster.
 *
 * Rounding.  What a computer does on D is x_t = S(x_{t-1}) + e_t, ||e_t|| <= tau_t for every D: both runs are tau_t
 * off, and 2 tau_t is added to d_t.  S is that of a reference function, whose slope is l' at z clamped to the certified
 * margins (a loss that goes on in straight lines): convex, L-smooth, its gradients at most G, everywhere.  Points a
 * rounding outside of the set are no exception: what is computed there differs by the curvature a little beyond,
 * `bend`, times how far outside.  tau_t has the parts
 *   - of the mean gradient: sums (pn_objective_gradient_error, pn_objective_batch_error, for each coordinate), slopes
 *     off by 2^-46 of their size, and margins off by (p + 4) 2^-53 of ||x|| ||theta||,
 *     which the curvature turns into slope;
 *   - of the gradient of r, formulas of the table: 2^-50 of it;
 *   - of x - eta h: 2^-53 of the product and of the sum;
 *   - of the projection: pn_set_projection_error; of a proximal operator in closed form: 2 (p + 16) 2^-53 of the point,
 *     since it is a threshold or a factor from [0, 1] per coordinate or block, whose norm is off by (p + 4) 2^-53.
 * Distances to the start obey the same recursion with G + ||subgradient of r at the start|| in place of k G/b and tau
 * once. */
#include <math.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/perturbation/output_perturbation.h"

#define SLACK      (1.0 + 0x1p-20)
#define MOST_STEPS 1e8 /* one after the other, a second or so */

/* ---- the problem ---- */

static pn_status check_loss(const output_problem *at, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(at->objective);

    if (loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "a black box has no gradients; zeroth-order solvers take it");
    if (!at->bounds->loss.convex || !at->bounds->convex)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s not known to be convex, and gradient steps on it may move "
                       "neighbours apart%s%s",
                       at->bounds->loss.convex && pn_objective_clip(at->objective) > 0.0
                           ? "clipped gradients of several classes are"
                           : "the objective is",
                       at->bounds->loss.missing[0] ? ": " : "", at->bounds->loss.missing);
    if (!at->bounds->loss.smooth)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "the slope of the loss %s jumps, and gradient steps on it may move neighbours apart; use a smooth loss, "
            "e.g. logistic, huber or smooth_hinge",
            loss->name);
    return op_need_curvature(at->loss_smooth, err);
}

/* Closed forms, whose rounding is known. */
static bool exact_prox(const pn_prox *prox)
{
    unsigned traits = prox->ops->traits ? prox->ops->traits(prox) : 0;

    return traits & (PN_PROX_SEPARABLE | PN_PROX_BLOCKS);
}

/* r = norm + (mu'/2)||x||^2 for those of the table that have kinks: E norm(z) <= sigma norm(1, ..., 1) for noise z. */
static pn_status measure_kink(output_problem *at, const pn_regulariser *reg, pn_err *err)
{
    double *ones, value = 0.0;
    pn_status status;

    PN_TRY(pn_new(&ones, (size_t)at->p, err, "out of memory"));
    for (size_t j = 0; (double)j < at->p; j++)
        ones[j] = 1.0;
    status = reg->ops->evaluate(reg, (size_t)at->p, ones, &value, NULL, err);
    at->kink = fmax(value - 0.5 * at->p * at->strong_prox, 0.0);
    pn_free(ones);
    return status;
}

static pn_status read_regulariser(output_problem *at, output_plan *plan, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    const pn_regulariser_bounds *bounds = &at->bounds->reg;

    if (!reg)
        return PN_OK;
    if (!bounds->convex)
        return pn_fail(err, PN_EUNSUPPORTED, "the regulariser %s must be convex%s%s", reg->row->name,
                       bounds->missing[0] ? ": " : "", bounds->missing);
    if (isfinite(bounds->smoothness)) {
        at->smooth += bounds->smoothness;
        at->strong_smooth = fmax(bounds->strong_convexity, 0.0);
        return PN_OK;
    }
    at->strong_prox = fmax(bounds->strong_convexity, 0.0);
    if (at->set)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the regulariser %s has kinks; it is taken without a constraint set, or a set without it",
                       reg->row->name);
    PN_TRY(pn_regulariser_prox(reg, &plan->prox, err));
    if ((!plan->prox || !exact_prox(plan->prox)) && at->request->kind != PN_NONPRIVATE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the error of the proximal operator of %s is not known; use l1, elastic_net or disjoint groups",
                       reg->row->name);
    at->prox = plan->prox;
    return measure_kink(at, reg, err);
}

/* Of private runs: functions of a user's would see points that are not private yet, and the noise rests on the set's
 * answers and on the rounding of formulas. */
static pn_status check_private(const output_problem *at, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(at->objective);
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    pn_node root;

    PN_TRY(pn_request_need_n(at->request, at->owner, err));
    PN_TRY(op_need_slope(at->lipschitz, err));
    PN_TRY(op_need_own_set(at->set, "gradient_descent", err));
    if (loss->row == loss->ops && loss->margins == 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the rounding error of the slope of a typed loss is not known; use a loss of pn.loss, or "
                       "gradient_descent");
    if (reg && reg->row == reg->ops && pn_regulariser_graph(reg, &root))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the rounding error of the gradient of a typed regulariser is not known; use one of pn.reg");
    return PN_OK;
}

/* The loss's curvature over margins larger by 2^-10, where points a rounding outside of the set can be. */
static pn_status measure_bend(output_problem *at, pn_err *err)
{
    double margin = at->bounds->margin.high * (1.0 + 0x1p-10);
    pn_loss_bounds there;

    at->bend = at->bounds->loss.curvature.high;
    if (!isfinite(margin))
        return PN_OK;
    PN_TRY(pn_loss_certify(pn_objective_loss(at->objective), (pn_interval){ -margin, margin },
                           pn_objective_labels(at->objective), &there, err));
    at->bend = fmax(there.curvature.high, 0.0);
    return PN_OK;
}

static double distance_over(const pn_set *set, const double *start, size_t p)
{
    if (!set)
        return INFINITY;
    return fmin(set->ops->diameter(set, PN_L2), set->ops->radius(set, PN_L2) + pn_lp_norm(PN_L2, p, start)) *
           (1.0 + 1e-9);
}

pn_status output_read(output_problem *at, output_plan *plan, pn_err *err)
{
    pn_objective *objective = plan->base.objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);

    *at = (output_problem){ .owner = plan->base.owner,
                            .objective = objective,
                            .set = pn_objective_constraint(objective),
                            .bounds = bounds,
                            .request = &plan->base.request,
                            .start = plan->base.start,
                            .n = (double)pn_objective_data(objective)->n,
                            .p = (double)pn_objective_dim(objective),
                            .lipschitz = bounds->lipschitz[PN_L2],
                            .loss_smooth = bounds->loss_smoothness,
                            .smooth = bounds->loss_smoothness,
                            .records = pn_contributions(plan->base.request.neighbours) };
    at->away = distance_over(at->set, at->start, (size_t)at->p);
    PN_TRY(check_loss(at, err));
    PN_TRY(at->request->kind == PN_NONPRIVATE ? PN_OK : check_private(at, err));
    PN_TRY(read_regulariser(at, plan, err));
    PN_TRY(pn_objective_regular_slope(objective, at->start, NULL, &at->pull, err));
    at->strong = (at->strong_smooth + at->strong_prox) * (1.0 - 1e-12);
    return measure_bend(at, err);
}

/* ---- steps ---- */

double output_step_size(const output_schedule *schedule, double t)
{
    return schedule->decreasing > 0.0 ? fmin(schedule->step, 1.0 / (schedule->decreasing * t)) : schedule->step;
}

double output_contraction(const output_problem *at, double step)
{
    double smooth = fmax(1.0 - step * at->strong_smooth * (1.0 - 1e-12), step * at->smooth - 1.0);

    return fmax(smooth, 0.0) * (1.0 + 0x1p-52) / (1.0 + step * at->strong_prox * (1.0 - 1e-12));
}

static double steps_of(const output_schedule *schedule)
{
    return (double)schedule->passes * (double)schedule->batches;
}

/* ---- rounding of one step: eta x slope + fixed ---- */

typedef struct rounding {
    double slope, fixed;
} rounding;

/* l2 error of the mean gradient of a batch, at points of at most that norm which are `outside` of the set. */
static double gradient_error(const output_problem *at, size_t batch, double size, double outside)
{
    double record = pn_objective_data(at->objective)->bounds.norm[PN_L2],
           dim = (double)pn_objective_data(at->objective)->p;
    double sums = (double)batch == at->n
                      ? pn_objective_gradient_error(at->objective)
                      : pn_objective_batch_error(at->objective, batch, at->lipschitz) / (double)batch;
    double margins = record * ((dim + 4.0) * 0x1p-53 * size + outside) + 8.0 * 0x1p-53;
    double classes = (double)pn_objective_loss(at->objective)->margins;

    return sqrt(at->p) * sums + classes * (at->lipschitz * 0x1p-46 + at->bend * record * margins);
}

static rounding rounding_of(const output_problem *at, const output_schedule *schedule, double reach, double size)
{
    double regular = at->pull + (at->smooth - at->loss_smooth) * reach, slope = at->lipschitz + regular;
    double farthest = (size + schedule->step * slope) * SLACK;
    double outside = at->set ? pn_set_projection_error(at->set, farthest) : 0.0;
    double closed = at->prox ? 2.0 * (at->p + 16.0) * 0x1p-53 * farthest : 0.0;

    return (rounding){
        .slope = (gradient_error(at, schedule->batch, size, outside) + 0x1p-50 * regular + 0x1p-51 * slope) * SLACK,
        .fixed = (0x1p-53 * size + closed + outside) * SLACK
    };
}

/* max ||theta - start|| of all points, `round` counted. */
static double reach_with(const output_problem *at, const output_schedule *schedule, rounding round)
{
    double reach = 0.0, most = 0.0, steps = steps_of(schedule), cap = at->away * SLACK + round.fixed;

    for (double t = 1.0; t <= steps && most < cap; t++) {
        double eta = output_step_size(schedule, t);

        reach = output_contraction(at, eta) * reach + eta * (at->lipschitz + at->pull + round.slope) + round.fixed;
        most = fmax(most, reach);
    }
    return fmin(most * (1.0 + steps * 0x1p-51), cap);
}

/* ---- the sum ---- */

static void add_up(const output_problem *at, const output_schedule *schedule, rounding round, output_bounds *bounds)
{
    double weight = 1.0, sum = 0.0, rest = 0.0, t = steps_of(schedule), outward = 1.0 + (t + 16.0) * 0x1p-51;
    double share = at->records * at->lipschitz / (double)schedule->batch;

    for (size_t pass = 0; pass < schedule->passes; pass++) {
        double worst = 0.0;

        for (size_t k = 0; k < schedule->batches; k++, t--) {
            double eta = output_step_size(schedule, t);

            worst = fmax(worst, weight * eta / (1.0 + eta * at->strong_prox * (1.0 - 1e-12)));
            rest += weight * 2.0 * (eta * round.slope + round.fixed);
            weight *= output_contraction(at, eta);
        }
        sum += worst;
    }
    bounds->exact = sum * share;
    bounds->sensitivity = (bounds->exact + rest) * outward;
}

static pn_status check_rounding(const output_problem *at, rounding round, const output_bounds *bounds, pn_err *err)
{
    double record = pn_objective_data(at->objective)->bounds.norm[PN_L2], margin = at->bounds->margin.high;
    double over = round.fixed + (at->p + 4.0) * 0x1p-53 * bounds->size;
    bool aside = at->set && (round.fixed > at->set->ops->radius(at->set, PN_L2) * 0x1p-21 ||
                             (isfinite(margin) && record * over > margin * 0x1p-10));

    if (!isfinite(round.slope) || !isfinite(round.fixed))
        return pn_fail(err, PN_EUNSUPPORTED, "%s %s is not known; use a ball, a box or a simplex, or method=\"exact\"",
                       at->set ? "how far rounding takes the projection on" : "the rounding of gradients over",
                       at->set ? at->set->ops->name : "R^p");
    if (aside)
        return pn_fail(err, PN_EUNSUPPORTED, "rounding takes points too far out of the set %s", at->set->ops->name);
    return PN_OK;
}

/* Rounding is bounded for points up to twice as far from the start as exact steps reach, which then has to hold. */
pn_status output_measure(const output_problem *at, const output_schedule *schedule, output_bounds *bounds, pn_err *err)
{
    double from = pn_lp_norm(PN_L2, (size_t)at->p, at->start), steps = steps_of(schedule), last;
    rounding round = { 0.0, 0.0 };

    if (steps > MOST_STEPS)
        return pn_fail(err, PN_EINVAL, "%.3g steps are more than %.0e, for which the rounding error is bounded", steps,
                       MOST_STEPS);
    bounds->reach = 2.0 * reach_with(at, schedule, round);
    bounds->size = (from + bounds->reach) * SLACK;
    if (at->set)
        bounds->size = fmin(bounds->size, at->set->ops->radius(at->set, PN_L2) * SLACK);
    round = rounding_of(at, schedule, bounds->reach, bounds->size);
    PN_TRY(check_rounding(at, round, bounds, err));
    last = reach_with(at, schedule, round);
    if (!(last <= bounds->reach))
        return pn_fail(err, PN_EUNSUPPORTED, "%.3g steps of %.3g so far from the origin are lost in rounding", steps,
                       schedule->step);
    bounds->reach = last;
    bounds->entry = (from + last) * SLACK;
    if (at->set)
        bounds->entry = fmin(bounds->entry, at->set->ops->radius(at->set, PN_LINF) * SLACK + round.fixed);
    add_up(at, schedule, round, bounds);
    return PN_OK;
}
