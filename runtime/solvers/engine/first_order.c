/* first_order.c -- see first_order.h.  Depends on: first_order.h.  Used by: the first-order solvers' plans and runs. */
#include <math.h>

#include "core/alloc.h"
#include "core/task.h"
#include "numeric/blas.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/first_order.h"

#define NOISE_RISK  0.1
#define FEW_COLUMNS 15.0
#define MARGIN      4.0     /* G/L of a logistic loss on rows of norm 1; guessed for losses without an L */
#define FORGET      10.0    /* steps with momentum: at least that many times 1/(1 - beta) */
#define REACH       0x1p300 /* products of two such numbers are still numbers */

pn_status pn_first_order_read(pn_first_order *out, const char *owner, pn_objective *objective, const pn_arg *start,
                              const pn_arg *prox, const pn_arg *claimed, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);

    *out = (pn_first_order){ .objective = objective,
                             .n = (double)pn_objective_data(objective)->n,
                             .p = pn_objective_dim(objective),
                             .lipschitz = bounds->lipschitz[PN_L2],
                             .certified = fmax(bounds->strong_convexity, 0.0),
                             .usual = pn_usual_part(&pn_objective_data(objective)->bounds),
                             .diameter = INFINITY };
    PN_TRY(pn_composite_open(&out->composite, owner, objective, prox, err));
    out->smoothness = bounds->loss_smoothness + out->composite.smoothness;
    out->strong_convexity = out->certified;
    if (claimed && claimed->given)
        out->strong_convexity = fmax(out->certified, claimed->real);
    if (out->composite.set)
        out->diameter = out->composite.set->ops->diameter(out->composite.set, PN_L2);
    PN_TRY(pn_margin_slope(&out->margin_slope, objective, err));
    return pn_plan_start(&out->start, objective, start, err);
}

void pn_first_order_clear(pn_first_order *self)
{
    pn_composite_clear(&self->composite);
    pn_free(self->start);
    *self = (pn_first_order){ 0 };
}

/* usual 0: 1. */
static double noise_share(double usual)
{
    return usual > 0.0 ? PN_NOISE_SHARE / usual : PN_NOISE_SHARE;
}

double pn_time_of_noise(const pn_noise_time *of)
{
    double s = of->unit, mu = of->strong_convexity, share = noise_share(of->usual);
    double time = pn_usual_distance(of->scale, of->usual, of->p, of->distance) / (s * sqrt(2.0 * of->p));
    double harmless = fmax(share * of->scale / s, NOISE_RISK * of->slope * of->scale / (of->p * s * s));

    time = fmin(time, harmless);
    return mu > 0.0 ? fmin(time, log1p(8.0 * mu * of->gap / (of->p * s * s)) / (4.0 * mu)) : time;
}

double pn_usual_distance(double scale, double usual, double p, double most)
{
    return fmin(sqrt(2.0 * p) * fmax(noise_share(usual), FEW_COLUMNS / p) * scale, most);
}

double pn_distance_of_gap(double strong_convexity, double gap)
{
    return strong_convexity > 0.0 ? sqrt(2.0 * gap / strong_convexity) : INFINITY;
}

/* *known: whether the loss has bounds over those margins.  Want of memory is an error, not a loss without bounds. */
static pn_status certify_over(pn_loss_bounds *out, bool *known, const pn_objective *objective, pn_interval margin,
                              pn_err *err)
{
    pn_status status = pn_loss_certify(pn_objective_loss(objective), margin, pn_objective_labels(objective), out, err);

    *known = status == PN_OK;
    return status == PN_ENOMEM || pn_is_stop(status) ? status : PN_OK;
}

/* *slope: max |dl/dz| over those margins; +inf. */
static pn_status largest_slope(double *slope, const pn_objective *objective, pn_interval margin, pn_err *err)
{
    pn_loss_bounds bounds;
    bool known;

    PN_TRY(certify_over(&bounds, &known, objective, margin, err));
    *slope = known ? bounds.slope_norm[PN_LINF] : INFINITY;
    return PN_OK;
}

pn_status pn_margin_slope(double *out, const pn_objective *objective, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    double rows = pn_objective_data(objective)->bounds.norm[PN_L2], slope;

    *out = bounds->lipschitz[PN_L2];
    if (bounds->source != PN_BOUND_CLIPPED || pn_loss_inputs(pn_objective_loss(objective)) > 1 || !isfinite(rows))
        return PN_OK;
    PN_TRY(largest_slope(&slope, objective, (pn_interval){ -INFINITY, INFINITY }, err));
    if (!isfinite(slope)) {
        PN_TRY(largest_slope(&slope, objective, (pn_interval){ 0.0, 0.0 }, err));
        slope /= 2.0;
    }
    if (isfinite(slope))
        *out = fmax(*out, rows * slope);
    return PN_OK;
}

double pn_margin_scale(const pn_first_order *of)
{
    const pn_bounds *bounds = pn_objective_bounds(of->objective);
    double scale = of->margin_slope / bounds->loss_smoothness;

    return isfinite(scale) && scale > 0.0 ? scale : MARGIN * bounds->slope / of->lipschitz;
}

double pn_first_order_time_of_noise(const pn_first_order *of, double far, double gap, double unit)
{
    double mu = of->strong_convexity;

    return pn_time_of_noise(&(pn_noise_time){ .scale = pn_margin_scale(of),
                                              .slope = of->lipschitz,
                                              .usual = of->usual,
                                              .distance = fmin(far, pn_distance_of_gap(mu, gap)),
                                              .strong_convexity = mu,
                                              .gap = gap,
                                              .p = (double)of->p,
                                              .unit = unit });
}

static pn_status read_time(const pn_first_order *of, double *time, double unit, pn_err *err)
{
    double gap;

    PN_TRY(pn_first_order_gap(of, of->strong_convexity, &gap, err));
    *time = pn_first_order_time_of_noise(of, of->diameter / 2.0, gap, unit);
    if (!(*time > 0.0))
        *time = INFINITY;
    return PN_OK;
}

pn_status pn_first_order_time(double *time, double *unit, pn_objective *objective, const pn_request *request,
                              const pn_arg *start, pn_err *err)
{
    double moved = pn_contributions(request->neighbours);
    pn_first_order of = { 0 };
    pn_status status;

    *time = INFINITY;
    *unit = 0.0;
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    status = pn_first_order_read(&of, "solver", objective, start, NULL, NULL, err);
    if (status == PN_OK && isfinite(of.lipschitz)) {
        *unit = moved * of.lipschitz / (of.n * sqrt(2.0 * pn_gradient_noise_rho(request)));
        status = read_time(&of, time, *unit, err);
    }
    pn_first_order_clear(&of);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

double pn_longest_time(double smoothness, double steps)
{
    return steps / smoothness * fmax(1.0, steps / FORGET);
}

double pn_momentum_for(double time, double step, double steps)
{
    double beta = fmin(1.0 - step * steps / time, 1.0 - FORGET / steps);

    return beta > 1e-9 ? beta : 0.0;
}

double pn_fewest_steps(double smoothness, double time)
{
    double plain = smoothness * time;

    return fmin(plain, sqrt(FORGET * plain));
}

double pn_usual_excess(double distance, double time, double noise)
{
    return (distance * distance / (4.0 * time) + noise) / 3.0;
}

static double length(size_t p, const double *x)
{
    return pn_lp_norm(PN_L2, p, x) * (1.0 + 1e-9);
}

/* *gap: the largest loss over `margin` less the least value that losses have; +inf when none is known. */
static pn_status loss_above_least(const pn_first_order *self, double *gap, pn_interval margin, pn_err *err)
{
    const pn_loss_bounds *all = &pn_objective_bounds(self->objective)->loss;
    pn_loss_bounds here;
    bool known;

    *gap = all->value.high - all->value.low;
    if (pn_objective_loss(self->objective)->extra > 0) /* their ranges are the set's */
        return PN_OK;
    PN_TRY(certify_over(&here, &known, self->objective, margin, err));
    *gap = known ? here.value.high - all->value.low : INFINITY;
    return PN_OK;
}

pn_status pn_first_order_loss_gap(const pn_first_order *self, double *gap, pn_err *err)
{
    double far = length(self->p, self->start), within;

    PN_TRY(loss_above_least(self, gap, (pn_interval){ 0.0, 0.0 }, err));
    if (far == 0.0)
        return PN_OK;
    PN_TRY(loss_above_least(self, &within, pn_objective_bounds(self->objective)->margin, err));
    *gap = fmin(*gap + self->lipschitz * far, within);
    return PN_OK;
}

/* r at the start less its minimum, and the norm of its subgradient there; infinite where they are not known. */
static pn_status regulariser_at_start(const pn_first_order *self, double *above, double *slope, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->objective);

    *above = *slope = INFINITY;
    if (self->composite.extra)
        return PN_OK;
    PN_TRY(pn_objective_regular_slope(self->objective, self->start, above, slope, err));
    if (reg && !pn_regulariser_in_table(reg)) /* the least value of the table's is 0, of a typed one anything */
        *above = INFINITY;
    return PN_OK;
}

pn_status pn_first_order_gap(const pn_first_order *self, double mu, double *gap, pn_err *err)
{
    double G = self->lipschitz, above, slope;

    PN_TRY(regulariser_at_start(self, &above, &slope, err));
    PN_TRY(pn_first_order_loss_gap(self, gap, err));
    *gap += above;
    if (pn_objective_bounds(self->objective)->convex)
        *gap = fmin(*gap, (G + slope) * self->diameter);
    if (mu > 0.0)
        *gap = fmin(*gap, (G + slope) * (G + slope) / (2.0 * mu));
    if (isnan(*gap))
        *gap = INFINITY;
    return PN_OK;
}

pn_status pn_first_order_need_smooth(const pn_first_order *self, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(self->objective);

    if (self->smoothness == 0.0)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "the %s loss has no curvature over the margins that can occur, so no step size follows; use solve.sgd "
            "with step=, or solve.mirror_descent",
            loss->name);
    if (isfinite(self->smoothness))
        return PN_OK;
    if (!pn_objective_bounds(self->objective)->loss.smooth)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the slope of the %s loss jumps, and this solver needs a smooth loss; use smooth_hinge, "
                       "huber or logistic, or solve.sgd, solve.mirror_descent",
                       loss->name);
    if (isfinite(pn_objective_data(self->objective)->bounds.norm[PN_L2]))
        return pn_fail(err, PN_EUNSUPPORTED, "nothing bounds the curvature of the %s loss: give step=, or %s%.200s",
                       loss->name,
                       pn_objective_set(self->objective) ? "see why: " : "the objective a bounded constraint set",
                       pn_objective_set(self->objective) ? pn_objective_bounds(self->objective)->loss.missing : "");
    return pn_fail(err, PN_EUNSUPPORTED, "the smoothness of the %s loss is not bounded: " PN_HOW_TO_BOUND_ROWS,
                   loss->name);
}

void pn_first_order_explain(const pn_first_order *self, pn_plan *plan)
{
    char text[224];

    pn_plan_add(plan, "records n", self->n, "public");
    if (isfinite(self->lipschitz))
        pn_plan_add(plan, "gradient bound G", self->lipschitz, "%s",
                    self->lipschitz == pn_objective_clip(self->objective)
                        ? "l2 norm to which each record's gradient is clipped"
                        : "max l2 norm of a record's gradient, certified");
    if (isfinite(self->smoothness))
        pn_plan_add(plan, "smoothness L", self->smoothness, "of every record's loss, certified%s",
                    self->composite.smooth ? ", and of the regulariser" : "");
    if (self->strong_convexity > 0.0)
        pn_plan_add(plan, "convexity mu", self->strong_convexity, "%s",
                    self->strong_convexity > self->certified ? "as claimed" : "certified");
    if (self->strong_convexity > self->certified)
        pn_plan_warn(plan,
                     "strong convexity %g is claimed, certified is %g: predictions rest on the claim, privacy does not",
                     self->strong_convexity, self->certified);
    pn_composite_describe(&self->composite, text, sizeof text);
    if (text[0])
        pn_plan_add_text(plan, "public part", self->composite.prox ? "proximal step" : "gradient", "%s", text);
}

void pn_first_order_explain_usual(const pn_first_order *self, pn_plan *plan)
{
    if (plan->request.kind != PN_NONPRIVATE &&
        noise_share(self->usual) > fmax(PN_NOISE_SHARE, FEW_COLUMNS / (double)self->p))
        pn_plan_add(plan, "usual row norm", self->usual,
                    "of the bound: a guess by the recipe's form, which makes the time longer; no bound or noise rests "
                    "on it");
}

void pn_first_order_check_step(pn_plan *plan, double step, double limit, const char *because)
{
    if (step > limit * (1.0 + 1e-9))
        pn_plan_warn(plan, "step = %g is beyond %g, %s: the run may diverge", step, limit, because);
}

bool pn_has_diverged(pn_state *state, const double *x, size_t p)
{
    size_t j = 0;

    while (j < p && fabs(x[j]) <= REACH) /* false for NaN */
        j++;
    if (j == p)
        return false;
    state->finished = true;
    state->stopped = "diverged";
    return true;
}
