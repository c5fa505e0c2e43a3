/* objective_perturbation_problem.c -- the assumptions of objective perturbation, checked, and the numbers that follow
 * from a choice of the quadratic term and the noise: how far the minimum can be, what rounding hides, tolerance,
 * worst case.
 * Depends on: objective_perturbation.h, geometry, objective.  Used by: objective_perturbation*.c,
 * output_perturbation*.c.
 * Source: perturbation.md section 3, beside each number. */
#include <math.h>

#include "core/alloc.h"
#include "minimise/perturbed_minimum.h"
#include "solvers/engine/work.h"
#include "solvers/perturbation/objective_perturbation.h"

#define MOST_SPLIT 0.999 /* by default the answer's noise costs a twentieth of a per cent of s */

/* ---- assumptions ---- */

static pn_status check_loss(const op_problem *at, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(at->objective);

    if (loss->margins != 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the loss must have one linear predictor <x, theta>, so that its Hessian has rank one; %s %s",
                       loss->name, loss->margins ? "has one predictor for each class" : "is a black box");
    if (!at->bounds->loss.convex)
        return pn_fail(err, PN_EUNSUPPORTED, "the loss %s is not known to be convex%s%s", loss->name,
                       at->bounds->loss.missing[0] ? ": " : "", at->bounds->loss.missing);
    if (!at->bounds->loss.smooth || !isfinite(at->bounds->loss.curvature.high))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the slope of the loss %s jumps, so that a record may move the minimum without moving the "
                       "linear term; use a smooth loss, e.g. logistic or a smoothed hinge",
                       loss->name);
    return op_need_curvature(at->beta, err);
}

pn_status op_need_own_set(const pn_set *set, const char *instead, pn_err *err)
{
    if (!set || !set->ops->single_thread)
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "the set %s calls functions of yours, which would see points that are not private yet; use %s, "
                   "whose set sees only released points, or a set of pn.set's own",
                   set->ops->name, instead);
}

pn_status op_need_certificate(const pn_set *set, pn_err *err)
{
    if (!set || (set->ops->project && set->ops->support))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "the set %s has no %s of its own, which the certificate of the minimum needs",
                   set->ops->name, set->ops->project ? "support function" : "projection");
}

pn_status op_need_curvature(double curvature, pn_err *err)
{
    if (isfinite(curvature))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "the curvature of one record's loss is not bounded: " PN_HOW_TO_BOUND_ROWS);
}

pn_status op_need_slope(double lipschitz, pn_err *err)
{
    if (isfinite(lipschitz))
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY, "no l2 bound on a record's gradient is enforced: " PN_HOW_TO_BOUND_ROWS);
}

/* Of private runs: the set is asked about points and gradients that are as private as the data, and the offset rests on
 * its answers. */
pn_status op_check_set(const op_problem *at, pn_err *err)
{
    PN_TRY(op_need_own_set(at->set, "mirror_descent", err));
    if (at->set && !isfinite(pn_set_shortfall(at->set)))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the support function of the set %s is iterative and no certificate can rest on it; use "
                       "mirror_descent",
                       at->set->ops->name);
    return PN_OK;
}

static pn_status check_rest(const op_problem *at, const pn_arg *common, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);

    if (common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL, "the solver ends at its certificate; leave iterations out");
    if (reg && (!at->bounds->reg.convex || !isfinite(at->bounds->reg.smoothness)))
        return pn_fail(err, PN_EUNSUPPORTED, "the regulariser %s must be convex and without kinks%s%s", reg->row->name,
                       at->bounds->reg.missing[0] ? ": " : "", at->bounds->reg.missing);
    if (at->set && !isfinite(at->reach))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the set must be bounded, or left out, and %s is unbounded; intersect "
                       "it with a ball",
                       at->set->ops->name);
    PN_TRY(op_need_certificate(at->set, err));
    if (at->request->kind == PN_NONPRIVATE)
        return PN_OK;
    PN_TRY(op_check_set(at, err));
    PN_TRY(pn_request_need_n(at->request, at->owner, err));
    if (at->request->kind == PN_EPSILON_DELTA && at->request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "Gaussian noise has no pure epsilon; give delta, e.g. %.1g",
                       1.0 / (at->n * at->n));
    return op_need_slope(at->lipschitz, err);
}

/* ---- what is known of the problem ---- */

static double norm2(const double *x, double p)
{
    double sum = 0.0;

    for (size_t j = 0; (double)j < p; j++)
        sum += x[j] * x[j];
    return sqrt(sum) * (1.0 + p * 0x1p-52);
}

/* n ||grad r(start)||: data-free. */
static pn_status measure_pull(op_problem *at, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    size_t p = (size_t)at->p;
    double *g;
    pn_status status;

    if (!reg)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&g, p, err, "out of memory"));
    status = reg->ops->evaluate(reg, p, at->start, NULL, g, err);
    at->pull = at->n * norm2(g, at->p) * (1.0 + 1e-9);
    pn_free(g);
    return status;
}

/* The losses at the start cannot fall by more than this, whatever the records. */
static pn_status measure_fall(op_problem *at, pn_err *err)
{
    const pn_record_bounds *records = &pn_objective_data(at->objective)->bounds;
    double margin = records->norm[PN_L2] * norm2(at->start, at->p), low = at->bounds->loss.value.low;
    pn_loss_bounds there;
    pn_status status;

    at->fall = INFINITY;
    if (pn_objective_clip(at->objective) > 0.0 || !isfinite(low) || !isfinite(margin))
        return PN_OK; /* a clipped loss falls otherwise than the loss */
    status = pn_loss_certify(pn_objective_loss(at->objective), (pn_interval){ -margin, margin },
                             pn_objective_labels(at->objective), &there, err);
    if (status == PN_ENOMEM || pn_is_stop(status))
        return status;
    if (status == PN_OK && isfinite(there.value.high))
        at->fall = at->n * (there.value.high - low) * (1.0 + 1e-9);
    return PN_OK;
}

/* max ||theta - start|| over the set. */
static double reach_of(const pn_set *set, const double *start, double p)
{
    if (!set)
        return INFINITY;
    return fmin(set->ops->diameter(set, PN_L2), set->ops->radius(set, PN_L2) + norm2(start, p)) * (1.0 + 1e-12);
}

static void describe(op_problem *at, const char *name, pn_objective *objective, const pn_request *request,
                     const double *start)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    double l2 = pn_objective_data(objective)->bounds.norm[PN_L2];

    *at = (op_problem){ .owner = name,
                        .objective = objective,
                        .set = pn_objective_set(objective),
                        .bounds = bounds,
                        .request = request,
                        .start = start,
                        .n = (double)pn_objective_data(objective)->n,
                        .p = (double)pn_objective_dim(objective),
                        .lipschitz = bounds->lipschitz[PN_L2],
                        .beta = isnan(l2) ? INFINITY : fmax(bounds->loss.curvature.high, 0.0) * l2 * l2 * (1.0 + 1e-12),
                        .split = MOST_SPLIT };
    at->regular = at->n * fmax(bounds->reg.strong_convexity, 0.0) * (1.0 - 1e-12);
    if (!pn_objective_regulariser(objective))
        at->regular = 0.0;
    at->reach = reach_of(at->set, at->start, at->p);
    at->by_gap = at->set && !isfinite(pn_set_projection_error(at->set, 1.0));
    at->sensitivity = pn_contributions(at->request->neighbours) * at->lipschitz;
    at->rank = at->request->neighbours == PN_REPLACE_ONE && at->p > 1.0 ? 2 : 1;
}

/* ---- rounding in what a user typed ---- */

#define FAR           0x1p200 /* margins without a set, which op_tolerance keeps below that */
#define MOST_ROUNDING 0x1p-20 /* of the bound on slopes: beyond, noise that hides it would be all that is released */

static pn_status too_rough(const char *what, const char *name, double error, const char *instead, pn_err *err)
{
    if (!isfinite(error))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the rounding error of the slope of the %s %s could not be certified; write it without "
                       "differences of large numbers, %s, or use gradient_descent",
                       what, name, instead);
    return pn_fail(err, PN_EUNSUPPORTED,
                   "rounding may take the slope of the %s %s off by %.3g, too far for a certificate; write it "
                   "without differences of large numbers, %s, or use gradient_descent",
                   what, name, error, instead);
}

/* Of a private run, and of a formula of the user's: its rounding is not known beforehand. */
static bool is_typed(const op_problem *at)
{
    const pn_loss *loss = pn_objective_loss(at->objective);

    return at->request->kind != PN_NONPRIVATE && loss->row == loss->ops;
}

/* Slopes as computed, of a formula that may cancel: what the certificate of the minimum leaves room for.  Points a
 * rounding outside of the set have margins that are a little larger. */
static pn_status measure_loss_rounding(op_problem *at, pn_err *err)
{
    pn_loss *loss = pn_objective_loss(at->objective);
    const pn_record_bounds *records = &pn_objective_data(at->objective)->bounds;
    pn_interval margin = at->bounds->margin;
    double slope = at->bounds->slope, error;

    if (!is_typed(at))
        return PN_OK;
    margin.low = fmax(margin.low - 0x1p-10 * fabs(margin.low), -FAR);
    margin.high = fmin(margin.high + 0x1p-10 * fabs(margin.high), FAR);
    PN_TRY(pn_loss_rounding(loss, margin, pn_objective_labels(at->objective), 0x1p-46 * slope, &error, err));
    if (!(error <= MOST_ROUNDING * slope))
        return too_rough("loss", loss->name, error, "use a loss of pn.loss", err);
    at->rough = at->n * error * records->norm[PN_L2] * (1.0 + 1e-12);
    return PN_OK;
}

static pn_status measure_regulariser_rounding(op_problem *at, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    double radius = at->set ? at->set->ops->radius(at->set, PN_LINF) * (1.0 + 0x1p-10) : INFINITY, error = INFINITY;

    if (at->request->kind == PN_NONPRIVATE || !reg || reg->row != reg->ops)
        return PN_OK;
    if (at->set)
        PN_TRY(pn_regulariser_rounding(reg, (pn_interval){ -radius, radius }, 0x1p-50 * at->lipschitz / sqrt(at->p),
                                       &error, err));
    if (!(sqrt(at->p) * error <= MOST_ROUNDING * at->lipschitz))
        return too_rough("regulariser", reg->row->name, error,
                         at->set ? "use one of pn.reg" : "give set=, or use one of pn.reg", err);
    at->rough_reg = at->n * sqrt(at->p) * error * (1.0 + 1e-12);
    return PN_OK;
}

pn_status op_read(op_problem *at, const char *name, pn_objective *objective, const pn_request *request,
                  const double *start, pn_err *err)
{
    describe(at, name, objective, request, start);
    PN_TRY(measure_pull(at, err));
    return measure_fall(at, err);
}

pn_status op_gather(op_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    op_problem *at = &plan->problem;

    describe(at, plan->base.owner, plan->base.objective, &plan->base.request, plan->base.start);
    if (own[OP_SPLIT].given)
        at->split = own[OP_SPLIT].real;
    if (own[OP_TOLERANCE].given)
        at->tau = own[OP_TOLERANCE].real;
    PN_TRY(check_loss(at, err));
    PN_TRY(check_rest(at, common, err));
    PN_TRY(measure_loss_rounding(at, err));
    PN_TRY(measure_regulariser_rounding(at, err));
    PN_TRY(measure_pull(at, err));
    return measure_fall(at, err);
}

/* ---- the numbers of one choice ---- */

/* How far the minimum can be from the start: by strong convexity from the gradient there,
 * or from how far the losses can fall. */
static double reach_of_minimum(const op_problem *at, double strong, double sigma)
{
    double aside = 13.01 * sqrt(at->p) * sigma + at->pull;
    double by_gradient = (at->n * at->lipschitz + aside) / strong;
    double by_value = (aside + sqrt(aside * aside + 2.0 * strong * at->fall)) / strong;

    return fmin(at->reach, fmin(by_gradient, by_value) * (1.0 + 1e-9));
}

/* Public bound on the l2 error of the gradient of the sum as it is computed: that of the pass, of margins p 2^-53 off,
 * of slopes (to 2^-46 for losses of the table, certified for typed ones), and of adding the public terms. */
static double gradient_error(const op_problem *at, double reach, double sigma, double weight)
{
    double size = reach + norm2(at->start, at->p);
    double pass = at->n * sqrt(at->p) * pn_objective_gradient_error(at->objective);
    double margins = at->n * at->beta * (at->p + 4.0) * 0x1p-53 * size;
    double slopes = fmax(at->n * at->lipschitz * 0x1p-46, at->rough) + at->rough_reg;
    double rest = weight * size + 13.01 * sqrt(at->p) * sigma + at->n * at->lipschitz + at->pull +
                  at->n * at->bounds->reg.smoothness * size;

    return (isfinite(pass) ? pass : 0.0) + margins + slopes + 8.0 * 0x1p-53 * rest;
}

/* max ||grad J||_2 over the set. */
static double slope_over_set(const op_problem *at, const op_choice *made)
{
    return at->n * at->lipschitz + 13.01 * sqrt(at->p) * made->noise.sigma + at->pull +
           (made->weight + at->n * at->bounds->reg.smoothness) * at->reach;
}

static double smoothness_of_sum(const op_problem *at, const op_choice *made)
{
    return at->n * (at->beta + at->bounds->reg.smoothness) + made->weight;
}

/* The same of the gap, as it is computed: beside what the gradient's error does along the diameter, that of the two
 * products, which cancel for a set far from the origin, what support falls short of,
 * and how far outside of the set a projected point is. */
static double gap_error(const op_problem *at, const op_choice *made, double error)
{
    double radius = at->set->ops->radius(at->set, PN_L2), diameter = at->set->ops->diameter(at->set, PN_L2);

    return error * diameter +
           slope_over_set(at, made) * (pn_set_shortfall(at->set) + (at->p + 16.0) * 0x1p-51 * radius);
}

/* The same of the residual ||g(x) + M (z - x)|| where it is at most `size`, M the smoothness.  x is the computed
 * projection of z, and the exact one, x+, is within eta of it: the residual at x+ is off by (smoothness + M) eta, and x
 * is further from the minimum by eta, which Lam <= M enlarges to M eta.  z is the number that was projected, so what
 * rounding did on the way to it does not matter; its norm is at most that of x plus ||M (z - x)||/M.
 * Three roundings are of the size of both terms. */
static double residual_error(const op_problem *at, const op_choice *made, double error, double size)
{
    double smooth = smoothness_of_sum(at, made), terms = 2.0 * slope_over_set(at, made) + error + size;
    double away = at->set->ops->radius(at->set, PN_L2) * (1.0 + 0x1p-30) + terms / smooth;
    double eta = pn_set_projection_error(at->set, away * (1.0 + 0x1p-30));

    return error + 3.0 * smooth * eta + 8.0 * 0x1p-53 * terms + (at->p + 8.0) * 0x1p-53 * size;
}

/* What the certificate as computed may be off by where it is at most `size`. */
static double uncertainty(const op_problem *at, const op_choice *made, double size)
{
    double reach = reach_of_minimum(at, made->strong, made->noise.sigma);

    if (!at->set || at->by_gap) {
        double error = gradient_error(at, reach, made->noise.sigma, made->weight);

        return at->by_gap ? gap_error(at, made, error) : error;
    }
    return residual_error(at, made, gradient_error(at, at->reach, made->noise.sigma, made->weight), size);
}

/* Steps of accelerated gradients after which the certificate holds, f - f* falling from ||g||^2/Lam by 1 -
 * sqrt(Lam/smooth) a step.  f - f* below `near` implies it.  On R^p ||g|| <= sqrt(2 smooth near); the gap is at most
 * sqrt(2 smooth near) diameter + near.  A residual is (I - H/M) M (y - x), so at most M ||y - x||, and y = x' + w
 * (x' - x''), w < 1, where x, x' and x'' are within sqrt(2 near/Lam) of the minimum: at most 4 M sqrt(2 near/Lam). */
static double worst_case(const op_problem *at, const op_choice *made)
{
    double largest = at->n * at->lipschitz + 13.01 * sqrt(at->p) * made->noise.sigma + at->pull;
    double smooth = smoothness_of_sum(at, made), square = made->computed * made->computed, near;

    if (at->by_gap) {
        double diameter = at->set->ops->diameter(at->set, PN_L2);

        near = fmin(made->computed / 2.0, square / (8.0 * smooth * diameter * diameter));
    } else {
        near = at->set ? square * made->strong / (64.0 * smooth * smooth) : square / (8.0 * smooth);
    }
    return 10.0 + sqrt(smooth / made->strong) * fmax(1.0, log(largest * largest / (made->strong * near)));
}

/* Certificates.  By the gap, the excess is at most the gap.  By the norm of a subgradient, the gradient on R^p and over
 * a set the residual, it is at most norm^2/(2 Lam), and the distance to the minimum at most norm/Lam; both are
 * sqrt(2 tau/Lam) of the certified excess tau.  What is computed must leave room for what it is off by.  The tolerance
 * is public and four times that at least, and the steps are as many as the worst case needs,
 * so that no data set can miss it. */
pn_status op_tolerance(const op_problem *at, op_choice *made, pn_err *err)
{
    double scale = at->by_gap ? at->set->ops->diameter(at->set, PN_L2) : 1.0, largest;
    double least = fmax(0x1p-40 * at->n * at->lipschitz * scale, 4.0 * uncertainty(at, made, 0.0));
    double least_tau = at->by_gap ? least : least * least / (2.0 * made->strong);

    made->tau = at->tau > 0.0 ? at->tau : least_tau;
    if (made->tau < least_tau)
        return pn_fail(err, PN_EINVAL, "tolerance = %g is below %.3g, which rounding allows to certify", made->tau,
                       least_tau);
    largest = at->by_gap ? made->tau : sqrt(2.0 * made->tau * made->strong);
    made->computed = largest - uncertainty(at, made, largest);
    /* With Lam a^2 <= gap + slope x (how far outside) the half of 2 tau that is not the gap has room for the second. */
    made->noise.offset = sqrt(2.0 * made->tau / made->strong) * (1.0 + 1e-9);
    made->noise.bound = at->set ? at->set->ops->radius(at->set, PN_LINF)
                                : reach_of_minimum(at, made->strong, made->noise.sigma) + norm2(at->start, at->p);
    made->noise.bound = (made->noise.bound + made->noise.offset) * (1.0 + 1e-6);
    made->most_steps = worst_case(at, made);
    if (is_typed(at) && !at->set &&
        pn_objective_data(at->objective)->bounds.norm[PN_L2] * sqrt(at->p) * made->noise.bound > 0.5 * FAR)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the minimum may be as far as %.3g; give a larger lambda, or set=", made->noise.bound);
    return PN_OK;
}

/* Fill in everything that follows from Lam and s. */
pn_status op_follow(const op_problem *at, double s, op_choice *made, pn_err *err)
{
    double lattice, ratio = s * sqrt(1.0 / at->split - 1.0);

    made->s = s;
    made->noise = (pn_perturbation_options){ .dim = (size_t)at->p,
                                             .sigma = at->sensitivity / s * (1.0 + 0x1p-50),
                                             .sensitivity = at->sensitivity,
                                             .jacobian = made->jacobian,
                                             .strong_convexity = made->strong,
                                             .neighbours = at->request->neighbours };
    PN_TRY(op_tolerance(at, made, err));
    lattice = sqrt(at->p) * ldexp(made->noise.sigma, -40) / (2.0 * made->strong);
    made->noise.sigma_out = fmax(2.0 * (made->noise.offset + lattice) / ratio, made->noise.bound * 0x1p-20);
    return PN_OK;
}

void op_begin(const op_problem *at, double weight, op_choice *made)
{
    *made = (op_choice){ .weight = weight, .strong = (weight + at->regular) * (1.0 - 1e-12) };
    made->jacobian = log1p(at->beta / made->strong) * (1.0 + 1e-12);
}

/* ---- the minimum ---- */

/* What minima take, whatever the records: 5 to 7 Newton steps on R^p, and 40 to 95 gradients over sets.  Measured at
 * 2000 to 200,000 records of 5 to 200 columns and epsilon 0.3 to 100, within a factor of 3. */
#define NEWTON_STEPS  6.0
#define SET_PASSES    70.0
#define FORMED_MOST   2000.0 /* columns; beyond them a Newton step takes products ... */
#define PRODUCTS_EACH 50.0   /* ... of which this many are usual */

double op_seconds(const op_problem *at)
{
    double pass = pn_step_seconds(at->objective, at->n);

    if (at->set)
        return SET_PASSES * pass;
    return NEWTON_STEPS *
           (pass + (at->p <= FORMED_MOST ? pn_hessian_seconds(at->objective, at->n) : PRODUCTS_EACH * pass));
}

pn_status op_minimise(const op_problem *at, const op_choice *made, const char *label, const double *linear,
                      double *theta, pn_oracle *ask, pn_err *err)
{
    bool open = pn_ask_shows(ask);
    uint64_t gradients = 0;
    const pn_perturbed_problem problem = { .owner = at->owner,
                                           .label = label,
                                           .objective = at->objective,
                                           .linear = linear,
                                           .center = at->start,
                                           .weight = made->weight,
                                           .strong_convexity = made->strong,
                                           .smoothness = smoothness_of_sum(at, made),
                                           .tolerance = made->computed,
                                           .residual = at->set && !at->by_gap,
                                           .most_steps = made->most_steps,
                                           .quiet = !open };
    pn_status status = pn_perturbed_minimum(&problem, theta, &gradients, pn_ask_task(ask), err);

    pn_ask_count(ask, open ? gradients : 0);
    return status;
}
