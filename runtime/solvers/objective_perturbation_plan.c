/* objective_perturbation_plan.c -- noise, quadratic term, tolerance and predicted risk of objective perturbation.
 * Depends on: objective_perturbation.h, privacy, geometry.  Used by: objective_perturbation.c.
 * Source: mirror-descent.md section 3, beside each number.
 *
 * Everything is in sums over records: Lam is n times the zeta of the mean form.  Of the total mu^2-like cost the answer's noise gets
 * the share 1 - split: both releases are charged by one Renyi curve, where their squares add, which costs less than giving each a
 * part of epsilon and delta. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/root.h"
#include "privacy/perturbed_objective.h"
#include "privacy/accountant.h"
#include "solvers/objective_perturbation.h"

static const char owner[] = "solve.objective_perturbation";

const pn_param op_params[] = {
    { "lambda", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.0, NULL,
      "weight of the added term lambda/2 ||theta - start||^2 in the mean objective; by default what the risk bound "
      "favours" },
    { "split", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "share of the squared noise ratios that the objective's linear term gets, the answer's noise has the rest; by "
      "default 0.99, over a set what the risk bound favours" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "certified excess of the sum that is minimised; by default 2^-40 of its scale" },
    { "approximate", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL,
      "false: no noise on the answer, exact up to rounding, which is not private: simulated runs only" },
    { "unproven", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "true: take calibration=\"paper\" although its claim does not hold" },
    PN_PARAM_END,
};

#define MOST_SPLIT 0.99 /* by default the answer's noise costs half a per cent of s */

/* What the numbers below are computed from. */
typedef struct problem {
    const pn_objective *objective;
    const pn_set *set; /* or NULL */
    const pn_bounds *bounds;
    const pn_request *request;
    const double *start;
    double n, p;
    double lipschitz;   /* L: of one record's gradient, l2 */
    double beta;        /* largest eigenvalue of one record's Hessian */
    double sensitivity; /* of the sum of gradients */
    int rank;
    double regular; /* strong convexity of n r */
    double pull;    /* n ||grad r(start)||_2 */
    double fall;    /* bound on sum_i l_i(start) - min l_i, or +inf */
    double reach;   /* max ||theta - start||_2 over the set; +inf without */
    double split;
    double tau; /* given tolerance, or 0 */
} problem;

/* ---- assumptions ---- */

static pn_status check_loss(const problem *at, pn_err *err)
{
    const pn_loss *loss = pn_objective_loss(at->objective);

    if (loss->margins != 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: needs a loss of one linear predictor <x, theta>, whose Hessian has rank one; %s %s", owner,
                       loss->name, loss->margins ? "has one predictor for each class" : "is a black box");
    if (!at->bounds->loss.convex)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: the loss %s is not known to be convex%s%s", owner, loss->name,
                       at->bounds->loss.missing[0] ? ": " : "", at->bounds->loss.missing);
    if (!at->bounds->loss.smooth || !isfinite(at->bounds->loss.curvature.high))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the slope of the loss %s jumps, so that a record may move the minimum without moving the "
                       "linear term; use a smooth loss, e.g. logistic or a smoothed hinge",
                       owner, loss->name);
    if (!isfinite(at->beta))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the curvature of one record's loss is not bounded; bound the records, e.g. "
                       "data:clip_rows(\"l2\", 1)",
                       owner);
    return PN_OK;
}

static pn_status check_rest(const problem *at, const pn_arg *common, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);

    if (common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL, "%s: it ends at its certificate; leave iterations out", owner);
    if (reg && (!at->bounds->reg.convex || !isfinite(at->bounds->reg.smoothness)))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: the regulariser %s must be convex and without kinks%s%s", owner,
                       reg->row->name, at->bounds->reg.missing[0] ? ": " : "", at->bounds->reg.missing);
    if (at->set && !(isfinite(at->reach) && at->set->ops->project && at->set->ops->support))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the set %s is not bounded or has no projection or support function of its own", owner,
                       at->set->ops->name);
    if (at->request->kind == PN_NONPRIVATE)
        return PN_OK;
    if (at->request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: neighbours=\"add_remove\" makes n secret, and the objective divides by n; "
                       "use \"replace_one\" or \"zero_out\"",
                       owner);
    if (at->request->kind == PN_EPSILON_DELTA && at->request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise has no pure epsilon; give delta, e.g. %.1g", owner,
                       1.0 / (at->n * at->n));
    if (!isfinite(at->lipschitz))
        return pn_fail(err, PN_EPRIVACY,
                       "%s: no l2 bound on a record's gradient is enforced; bound the records' l2 norm, "
                       "e.g. data:clip_rows(\"l2\", 1)",
                       owner);
    return PN_OK;
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
static pn_status measure_pull(problem *at, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    size_t p = (size_t)at->p;
    double *g;
    pn_status status;

    if (!reg)
        return PN_OK;
    g = pn_calloc(p, sizeof(double));
    if (!g)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", owner);
    status = reg->ops->evaluate(reg, p, at->start, NULL, g, err);
    at->pull = at->n * norm2(g, at->p) * (1.0 + 1e-9);
    pn_free(g);
    return status;
}

/* The losses at the start cannot fall by more than this, whatever the records. */
static pn_status measure_fall(problem *at, pn_err *err)
{
    const pn_record_bounds *records = &pn_objective_data(at->objective)->bounds;
    double margin = records->norm[PN_L2] * norm2(at->start, at->p), low = at->bounds->loss.value.low;
    pn_interval labels = { records->label_low, records->label_high };
    pn_loss_bounds there;
    pn_status status;

    at->fall = INFINITY;
    if (pn_objective_clip(at->objective) > 0.0 || !isfinite(low) || !isfinite(margin))
        return PN_OK; /* a clipped loss falls otherwise than the loss */
    if (!(isfinite(labels.low) && isfinite(labels.high)))
        labels = (pn_interval){ -INFINITY, INFINITY };
    status = pn_loss_certify(pn_objective_loss(at->objective), (pn_interval){ -margin, margin }, labels, &there, err);
    if (status == PN_ENOMEM || status == PN_ECANCELLED)
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

static pn_status gather(problem *at, const op_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const pn_objective *objective = plan->base.objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);
    double l2 = pn_objective_data(objective)->bounds.norm[PN_L2];
    pn_status status;

    *at = (problem){ .objective = objective,
                     .set = pn_objective_set(objective),
                     .bounds = bounds,
                     .request = &plan->base.request,
                     .start = plan->start,
                     .n = (double)pn_objective_data(objective)->n,
                     .p = (double)pn_objective_dim(objective),
                     .lipschitz = bounds->lipschitz[PN_L2],
                     .beta = isnan(l2) ? INFINITY : fmax(bounds->loss.curvature.high, 0.0) * l2 * l2 * (1.0 + 1e-12),
                     .split = own[OP_SPLIT].given ? own[OP_SPLIT].real : MOST_SPLIT,
                     .tau = own[OP_TOLERANCE].given ? own[OP_TOLERANCE].real : 0.0 };
    at->regular = at->n * fmax(bounds->reg.strong_convexity, 0.0) * (1.0 - 1e-12);
    if (!pn_objective_regulariser(objective))
        at->regular = 0.0;
    at->reach = reach_of(at->set, at->start, at->p);
    at->sensitivity = (at->request->neighbours == PN_REPLACE_ONE ? 2.0 : 1.0) * at->lipschitz;
    at->rank = at->request->neighbours == PN_REPLACE_ONE && at->p > 1.0 ? 2 : 1;
    if ((status = check_loss(at, err)) != PN_OK || (status = check_rest(at, common, err)) != PN_OK ||
        (status = measure_pull(at, err)) != PN_OK)
        return status;
    return measure_fall(at, err);
}

/* ---- the numbers of one choice ---- */

typedef struct choice {
    double weight; /* Lam that is added */
    double strong; /* with the regulariser's */
    double jacobian;
    double s;
    double tau, computed; /* certified excess; the certificate as computed */
    double most_steps;
    pn_perturbation_options noise;
} choice;

/* How far the minimum can be from the start: by strong convexity from the gradient there, or from how far the losses can fall. */
static double reach_of_minimum(const problem *at, double strong, double sigma)
{
    double aside = 13.01 * sqrt(at->p) * sigma + at->pull;
    double by_gradient = (at->n * at->lipschitz + aside) / strong;
    double by_value = (aside + sqrt(aside * aside + 2.0 * strong * at->fall)) / strong;

    return fmin(at->reach, fmin(by_gradient, by_value) * (1.0 + 1e-9));
}

/* Public bound on the l2 error of the gradient of the sum as it is computed: that of the pass, of margins p 2^-53 off, of slopes to
 * 2^-46, and of adding the public terms. */
static double gradient_error(const problem *at, double reach, double sigma, double weight)
{
    double size = reach + norm2(at->start, at->p);
    double pass = at->n * sqrt(at->p) * pn_objective_gradient_error(at->objective);
    double margins = at->n * at->beta * (at->p + 4.0) * 0x1p-53 * size;
    double slopes = at->n * at->lipschitz * 0x1p-46;
    double rest = weight * size + 13.01 * sqrt(at->p) * sigma + at->n * at->lipschitz + at->pull +
                  at->n * at->bounds->reg.smoothness * size;

    return (isfinite(pass) ? pass : 0.0) + margins + slopes + 8.0 * 0x1p-53 * rest;
}

/* Certificates.  On R^p the excess is at most ||g||^2/(2 Lam), over a set the gap; what is computed is off by `error`. */
static pn_status set_tolerance(const problem *at, choice *made, pn_err *err)
{
    double reach = reach_of_minimum(at, made->strong, made->noise.sigma);
    double error = gradient_error(at, reach, made->noise.sigma, made->weight);
    double scale = at->set ? at->set->ops->diameter(at->set, PN_L2) : 1.0;
    double least = fmax(0x1p-40 * at->n * at->lipschitz, 4.0 * error) * scale;
    double least_tau = at->set ? least : least * least / (2.0 * made->strong);
    double largest = at->n * at->lipschitz + 13.01 * sqrt(at->p) * made->noise.sigma + at->pull;
    double smooth = at->n * (at->beta + at->bounds->reg.smoothness) + made->weight, near;

    made->tau = at->tau > 0.0 ? at->tau : least_tau;
    if (made->tau < least_tau)
        return pn_fail(err, PN_EINVAL, "%s: tolerance = %g is below %.3g, which rounding allows to certify", owner,
                       made->tau, least_tau);
    made->computed = (at->set ? made->tau : sqrt(2.0 * made->tau * made->strong)) - error * scale;
    made->noise.offset = sqrt(2.0 * made->tau / made->strong) * (1.0 + 1e-9);
    made->noise.bound =
        (at->set ? at->set->ops->radius(at->set, PN_LINF) : reach + norm2(at->start, at->p)) + made->noise.offset;
    made->noise.bound *= 1.0 + 1e-6;
    /* f - f* below `near` implies the certificate: ||g|| <= sqrt(2 smooth near); gap <= sqrt(2 smooth near) diameter + near. */
    near = at->set ? fmin(made->computed / 2.0, made->computed * made->computed / (8.0 * smooth * scale * scale))
                   : made->computed * made->computed / (8.0 * smooth);
    made->most_steps = 10.0 + sqrt(smooth / made->strong) * fmax(1.0, log(largest * largest / (made->strong * near)));
    return PN_OK;
}

/* Fill in everything that follows from Lam and s. */
static pn_status follow(const problem *at, double s, choice *made, pn_err *err)
{
    double lattice, ratio = s * sqrt(1.0 / at->split - 1.0);
    pn_status status;

    made->s = s;
    made->noise = (pn_perturbation_options){ .dim = (size_t)at->p,
                                             .sigma = at->sensitivity / s * (1.0 + 0x1p-50),
                                             .sensitivity = at->sensitivity,
                                             .jacobian = made->jacobian,
                                             .strong_convexity = made->strong,
                                             .neighbours = at->request->neighbours };
    if ((status = set_tolerance(at, made, err)) != PN_OK)
        return status;
    lattice = sqrt(at->p) * ldexp(made->noise.sigma, -40) / (2.0 * made->strong);
    made->noise.sigma_out = fmax(2.0 * (made->noise.offset + lattice) / ratio, made->noise.bound * 0x1p-20);
    return PN_OK;
}

static void begin(const problem *at, double weight, choice *made)
{
    *made = (choice){ .weight = weight, .strong = (weight + at->regular) * (1.0 - 1e-12) };
    made->jacobian = log1p(at->beta / made->strong) * (1.0 + 1e-12);
}

/* ---- the noise that a budget allows ---- */

typedef struct search {
    const problem *at;
    choice *made;
    pn_status status;
    pn_err *err;
} search;

/* Whether noise of this s costs more than the budget. */
static bool too_costly(void *self, double s)
{
    search *at = self;
    const pn_request *request = at->at->request;
    pn_event *event = NULL;
    bool over = true;

    if (at->status == PN_OK)
        at->status = follow(at->at, s, at->made, at->err);
    if (at->status == PN_OK)
        at->status = pn_perturbation_event(&event, &at->made->noise, at->err);
    if (at->status == PN_OK)
        over = request->kind == PN_RHO ? !(event->ops->zcdp(event) <= request->rho)
                                       : !(pn_event_epsilon(event, 1, request->delta, NULL) <= request->epsilon);
    pn_event_free(event);
    return over;
}

/* An s that the objective alone could have: no less than what both together can. */
static double most_s(const problem *at, double jacobian)
{
    const pn_request *request = at->request;
    double left = request->rho - jacobian;

    if (request->kind == PN_EPSILON_DELTA)
        return pn_perturbed_s(request->epsilon, request->delta, jacobian, at->rank);
    return left > 0.0 ? left / (at->rank == 1 ? 0.7978845608 : 1.2533141373) : 0.0;
}

static pn_status calibrate(const problem *at, choice *made, pn_err *err)
{
    search by = { at, made, PN_OK, err };
    double high = most_s(at, made->jacobian), low = high;

    while (low > high * 0x1p-20 && too_costly(&by, low) && by.status == PN_OK)
        low /= 2.0;
    if (by.status == PN_OK && !(low > high * 0x1p-20))
        return pn_fail(
            err, PN_EBUDGET,
            "%s: the budget is too small for lambda = %.4g: ln(1 + beta/Lam) = %.4g alone is of its size; give "
            "a larger lambda",
            owner, made->weight / at->n, made->jacobian);
    if (by.status == PN_OK && low < high)
        low = pn_bisect(too_costly, &by, low, high);
    return by.status == PN_OK ? follow(at, low, made, err) : by.status;
}

/* ---- the quadratic term ---- */

typedef struct risk {
    const problem *at;
    double width;  /* of the set */
    double radius; /* that the quadratic term is charged for */
} risk;

/* Over a set: sigma G + (Lam/2) reach^2, a bound on the excess of the sum.  On R^p nothing bounds the minimum, and the same trade is
 * made with the noise's worth where only Lam holds it, sigma^2 p/(2 Lam), against a minimum at a distance of 4 L/beta.  L/beta is
 * the margin over which the slope of a loss changes by its bound, and records are seldom aligned with theta; the 4 was looked for
 * on ijcnn1 and covtype, where half and twice of it cost little. */
#define DISTANCE 4.0

static double risk_of(void *self, double log_strong)
{
    const risk *by = self;
    const problem *at = by->at;
    double strong = exp(log_strong), s = most_s(at, log1p(at->beta / strong)), sigma = at->sensitivity / s;
    double weight = fmax(strong - at->regular, 0.0);

    if (!(s > 0.0))
        return INFINITY;
    if (at->set)
        return sigma * by->width + 0.5 * weight * by->radius * by->radius;
    return sigma * sigma * at->p / (2.0 * strong) + 0.5 * weight * by->radius * by->radius;
}

static double best_weight(const problem *at, double width)
{
    const pn_request *request = at->request;
    double budget = request->kind == PN_RHO ? request->rho : request->epsilon;
    double least = fmax(at->beta / expm1(fmin(0.98 * budget, 700.0)), at->n * at->lipschitz * 0x1p-60);
    risk by = { at, width, at->set ? at->reach : at->beta > 0.0 ? DISTANCE * at->lipschitz / at->beta : 1.0 };
    double low = log(fmax(least, at->regular)), high = low + 60.0;

    double weight = exp(pn_golden_min(risk_of, &by, low, high, 1e-3)) - at->regular;

    return weight > 1e-6 * at->regular ? weight : 0.0;
}

/* ---- the answer's share ---- */

static double slope_of_mean(const problem *at)
{
    return at->lipschitz + at->bounds->reg.gradient * sqrt(at->p);
}

/* What both noises may cost in the mean objective over a set. */
static double noise_risk(const problem *at, const choice *made, double width)
{
    return made->noise.sigma / at->n * width + made->noise.sigma_out * sqrt(at->p) * slope_of_mean(at);
}

/* Over a set the gap leaves an offset that shows, so the share of the noise that hides it is chosen by the risk bound. */
static pn_status calibrate_split(problem *at, bool fixed, double width, choice *made, pn_err *err)
{
    static const double shares[] = { 0.97, 0.93, 0.87, 0.8, 0.7, 0.6, 0.5 };
    pn_status status = calibrate(at, made, err);
    choice other = *made;

    for (size_t i = 0; status == PN_OK && at->set && !fixed && i < sizeof shares / sizeof shares[0]; i++) {
        double before = at->split;

        at->split = shares[i];
        status = calibrate(at, &other, err);
        if (status == PN_OK && !(noise_risk(at, &other, width) < noise_risk(at, made, width))) {
            at->split = before;
            break;
        }
        *made = other;
    }
    return status;
}

/* ---- the plan ---- */

static void explain_problem(pn_plan *plan, const problem *at)
{
    const bool replaces = at->request->neighbours == PN_REPLACE_ONE;

    pn_plan_add(plan, "records n", at->n, "public");
    pn_plan_add(plan, "Lipschitz L", at->lipschitz, "l2 norm of one record's gradient, %s",
                at->bounds->source == PN_BOUND_CLIPPED ? "enforced: the loss goes on in a straight line beyond"
                                                       : "certified");
    pn_plan_add(plan, "curvature beta", at->beta, "max l'' x (record bound)^2, certified");
    pn_plan_add(plan, "sensitivity", at->sensitivity, "%s of the sum of gradients", replaces ? "2 L" : "L");
}

static void explain_choice(pn_plan *plan, const problem *at, const choice *made, const char *rule)
{
    pn_plan_add(plan, "lambda = Lam/n", made->weight / at->n, "%s", rule);
    pn_plan_add(plan, "Jacobian Jl", made->jacobian, "ln(1 + beta/Lam)%s",
                at->regular > 0.0 ? ", Lam with the regulariser's strong convexity" : "");
    pn_plan_add(plan, "noise ratio s", made->s,
                "largest whose cost, Jl + s^2/2 + s chi_%d and the answer's noise together, is covered", at->rank);
    pn_plan_add(plan, "std of b, sigma/n", made->noise.sigma / at->n,
                "sensitivity / (s n), of the linear term <b, theta>");
    pn_plan_add(plan, "tolerance tau", made->tau,
                at->set ? "certified by the Frank-Wolfe gap of the sum"
                        : "certified by ||gradient||^2 / (2 Lam) of the sum");
    pn_plan_add(plan, "offset a", made->noise.offset, "sqrt(2 tau/Lam), from the exact minimum");
    if (made->noise.sigma_out > 0.0)
        pn_plan_add(plan, "answer noise", made->noise.sigma_out,
                    "std sigma_o, hides 2 (a + sqrt(p) 2^-41 sigma/Lam); mu_o = %.3g of s = %.3g",
                    pn_perturbation_masked(&made->noise) / made->noise.sigma_out, made->s);
}

/* (sigma/n) G_C + (lambda/2) max ||theta - start||^2, and what stopping early and the answer's noise may add. */
static void explain_risk(pn_plan *plan, const problem *at, const choice *made, double width)
{
    double answer;

    plan->bound = NAN;
    if (!at->set) {
        pn_plan_add_text(plan, "excess risk bound", "none", "without a set nothing bounds the distance to the minimum");
        return;
    }
    answer = made->tau / at->n + made->noise.sigma_out * sqrt(at->p) * slope_of_mean(at);
    pn_plan_add(plan, "risk from b", made->noise.sigma / at->n * width, "(sigma/n) x Gaussian width %.6g", width);
    pn_plan_add(plan, "risk from lambda", 0.5 * made->weight / at->n * at->reach * at->reach,
                "(lambda/2) max ||theta - start||^2, at most %.4g^2", at->reach);
    if (!isfinite(answer) || at->bounds->source == PN_BOUND_CLIPPED) {
        pn_plan_add_text(plan, "excess risk bound", "none", "%s",
                         isfinite(answer) ? "clipped gradients are not those of f"
                                          : "the regulariser has no slope bound");
        return;
    }
    pn_plan_add(plan, "risk from the end", answer, "tau/n + sigma_o sqrt(p) x slope of f");
    plan->bound = made->noise.sigma / at->n * width + 0.5 * made->weight / at->n * at->reach * at->reach + answer;
    pn_plan_add(plan, "excess risk bound", plan->bound, "expected, over the noise; sum of the three");
}

/* The Gaussian width of the set, from above. */
static pn_status measure_width(const problem *at, double *width, pn_err *err)
{
    pn_width found;
    pn_status status;

    *width = NAN;
    if (!at->set)
        return PN_OK;
    status = pn_set_width(at->set, NULL, &found, err);
    *width = status == PN_OK ? found.high : NAN;
    return status;
}

static void adopt(op_plan *plan, const problem *at, const choice *made)
{
    plan->base.iterations = 1;
    plan->noise = made->noise;
    plan->weight = made->weight;
    plan->smoothness = at->n * (at->beta + at->bounds->reg.smoothness) + made->weight;
    plan->tolerance = made->computed;
    plan->most_steps = made->most_steps;
}

/* The article's constants: zeta = 2 lambda_max/(n epsilon), b ~ N(0, 2 L^2 ln(1/delta)/(n epsilon)^2). */
static pn_status choose_paper(const problem *at, const pn_arg *own, choice *made, pn_err *err)
{
    const pn_request *request = at->request;
    double sigma;

    if (!own[OP_UNPROVEN].flag)
        return pn_fail(
            err, PN_EPRIVACY,
            "%s: calibration=\"paper\" is not (epsilon, delta)-DP for replaced records (its noise is too small by "
            "half and more); to run it all the same, at its real cost, give unproven=true",
            owner);
    if (request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration=\"paper\" is stated for epsilon and delta; give both",
                       owner);
    begin(at, fmax(2.0 * at->beta / request->epsilon - at->regular, 0.0), made);
    if (!(made->strong > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration=\"paper\" adds no quadratic term for a linear loss",
                       owner);
    sigma = at->lipschitz * sqrt(-2.0 * log(request->delta)) / request->epsilon;
    return follow(at, at->sensitivity / sigma, made, err);
}

static pn_status choose(problem *at, const pn_arg *common, const pn_arg *own, double width, choice *made,
                        const char **rule, pn_err *err)
{
    bool given = own[OP_LAMBDA].given;

    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0) {
        *rule = "max(2 beta/(n epsilon) - strong convexity, 0), the article's";
        return choose_paper(at, own, made, err);
    }
    begin(at, given ? own[OP_LAMBDA].real * at->n : best_weight(at, width), made);
    *rule = given     ? "as given"
            : at->set ? "minimises the risk bound"
                      : "balances sigma^2 p/(2 Lam) and (Lam/2) (4 L/beta)^2: n, p, L, beta and the budget only";
    if (!(made->strong > 0.0))
        return pn_fail(err, PN_EINVAL, "%s: lambda must be positive, since the regulariser is not strongly convex",
                       owner);
    return calibrate_split(at, own[OP_SPLIT].given, width, made, err);
}

static pn_status attach_event(op_plan *plan, bool approximate, pn_err *err)
{
    const pn_perturbation_options *noise = &plan->noise;

    if (approximate)
        return pn_perturbation_event(&plan->base.event, noise, err);
    return pn_event_objective_perturbation(&plan->base.event, noise->sigma, noise->sensitivity, noise->jacobian,
                                           noise->dim, noise->neighbours, err);
}

static pn_status plan_private(op_plan *plan, problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0;
    double width = NAN;
    const char *rule = NULL;
    choice made;
    pn_status status = measure_width(at, &width, err);

    if (status == PN_OK)
        status = choose(at, common, own, width, &made, &rule, err);
    if (status != PN_OK)
        return status;
    if (!own[OP_APPROXIMATE].flag)
        made.noise.sigma_out = 0.0;
    adopt(plan, at, &made);
    plan->base.proven = !paper && own[OP_APPROXIMATE].flag;
    explain_problem(&plan->base, at);
    explain_choice(&plan->base, at, &made, rule);
    explain_risk(&plan->base, at, &made, width);
    if (paper)
        pn_plan_warn(&plan->base,
                     "the article's (epsilon, delta) claim is false for replaced records; the cost above is "
                     "what is proven");
    if (!own[OP_APPROXIMATE].flag)
        pn_plan_warn(&plan->base,
                     "approximate=false: exact up to rounding only, which has no guarantee; teaching ledgers "
                     "and seeded noise only");
    return attach_event(plan, own[OP_APPROXIMATE].flag, err);
}

/* The minimum with lambda as given and no noise. */
static pn_status plan_nonprivate(op_plan *plan, problem *at, const pn_arg *own, pn_err *err)
{
    double weight = own[OP_LAMBDA].given ? own[OP_LAMBDA].real * at->n : 0.0;
    choice made;

    if (!isfinite(at->lipschitz))
        at->lipschitz = 1.0; /* of the scale of tolerances only */
    if (!(weight + at->regular > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "%s: without noise give lambda > 0, or a strongly convex regulariser: the minimum must exist",
                       owner);
    begin(at, weight, &made);
    made.noise = (pn_perturbation_options){ .strong_convexity = made.strong };
    if (set_tolerance(at, &made, err) != PN_OK)
        return PN_EINVAL;
    adopt(plan, at, &made);
    plan->base.proven = true;
    plan->base.bound = NAN;
    pn_plan_add(&plan->base, "records n", at->n, "public");
    pn_plan_add(&plan->base, "lambda = Lam/n", weight / at->n, "as given");
    pn_plan_add(&plan->base, "tolerance tau", made.tau, "certified excess of the sum");
    return PN_OK;
}

static pn_status copy_start(op_plan *plan, const pn_arg *start, pn_err *err)
{
    const pn_set *set = pn_objective_set(plan->base.objective);
    size_t p = pn_objective_dim(plan->base.objective);

    plan->start = pn_calloc(p, sizeof(double));
    if (!plan->start)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", owner);
    if (start->given)
        memcpy(plan->start, start->vector.data, p * sizeof(double));
    else if (set)
        set->ops->center(set, plan->start);
    return PN_OK;
}

pn_status op_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err)
{
    op_plan *plan = pn_calloc(1, sizeof *plan);
    problem at;
    pn_status status;

    if (!plan)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", owner);
    plan->base.solver = pn_solver_find("objective_perturbation");
    plan->base.objective = objective;
    plan->base.request = *request;
    status = copy_start(plan, &common[PN_OPT_START], err);
    if (status == PN_OK)
        status = gather(&at, plan, common, own, err);
    if (status == PN_OK)
        status = request->kind == PN_NONPRIVATE ? plan_nonprivate(plan, &at, own, err)
                                                : plan_private(plan, &at, common, own, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

void op_plan_destroy(pn_plan *plan)
{
    op_plan *self = (op_plan *)plan;

    pn_free(self->start);
    pn_free(self);
}
