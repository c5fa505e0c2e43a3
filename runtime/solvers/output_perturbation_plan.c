/* output_perturbation_plan.c -- steps, sensitivity, noise and predicted risk of output perturbation.
 * Depends on: output_perturbation.h, privacy, objective.  Used by: output_perturbation.c.
 *
 * After steps of total length s = eta T the point is within D^2/(2 s) of the minimum, D its distance from the start, and a record moves
 * it by at most k G s/n, so that the noise grows with s: T is taken where the sum of both risks is least.  Noise z of variance sigma^2
 * costs little where losses see one margin: E l(<a, x + z>) - l(<a, x>) <= l'' sigma^2 ||a||^2/2, whatever the dimension. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "numeric/blas.h"
#include "privacy/calibrate.h"
#include "random/noise.h"
#include "solvers/output_perturbation.h"

static const char owner[] = "solve.output_perturbation";
static const char *const methods[] = { "gd", "exact", "sgd", NULL };

/* In G/L: how far the minimum is taken to be from the start where nothing bounds it; see best_steps. */
#define DISTANCE 3.0
#define PASSES   10
#define BATCH    64

const pn_param output_params[] = {
    { "method", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, methods,
      "gd: gradient descent; exact: the minimum of a strongly convex objective, to a certificate; sgd: passes over "
      "batches in a fixed public order" },
    { "step", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "eta of every step, at most 2/L; by default 1/L or less, of sgd with strong convexity min(1/L, 1/(mu t))" },
    { "passes", PN_COUNT, PN_OPTIONAL, PN_ANY, (double)PASSES, NULL, "of sgd over the data" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, (double)BATCH, NULL,
      "of sgd: records of one step; what n is no multiple of is left out, at the end of the order" },
    { "seed", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "of sgd: of the order of the records, which is public" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "of exact: certified l2 distance to the minimum, public; by default what rounding allows" },
    PN_PARAM_END,
};

/* Everything while a plan is made. */
typedef struct draft {
    output_plan *plan;
    output_problem at;
    output_bounds bounds;
    double unit;      /* standard deviation of an entry of the noise for sensitivity 1, nearly; 0 without privacy */
    double distance;  /* D: bound on ||minimum - start||; +inf */
    double assumed;   /* what predictions take it to be */
    double bias;      /* predicted risk before the noise */
    double proven;    /* the same for the bound; +inf */
    const char *rule; /* for the number of steps */
} draft;

/* ---- risk ---- */

static double contraction_risk(const output_problem *at, const output_schedule *s, double distance)
{
    double T = (double)s->passes * (double)s->batches, eta = s->step, c = output_contraction(at, eta);
    double slow = distance * distance / (2.0 * eta * T);

    if (s->decreasing > 0.0)
        return at->lipschitz * at->lipschitz * (1.0 + log(T)) / (2.0 * s->decreasing * T);
    return c < 1.0 ? fmin(slow, distance * distance * pow(c, 2.0 * (T - 1.0)) / (2.0 * eta)) : slow;
}

/* Of noise of standard deviation sigma on each entry, not projected: smooth parts by their traces, kinks by their slope. */
static double noise_risk(const output_problem *at, double sigma)
{
    double margins = (double)pn_objective_loss(at->objective)->margins, bent = at->smooth - at->loss_smooth;
    double smooth = 0.5 * sigma * sigma * (fmin(margins, at->p) * at->loss_smooth + at->p * bent);

    return smooth + (at->prox ? at->bounds->reg.gradient * at->p * sigma * 0.79788456080286541 : 0.0);
}

static double predict(const draft *of, const output_schedule *s)
{
    const output_problem *at = &of->at;
    double T = (double)s->passes * (double)s->batches, c = output_contraction(at, s->step), weight = s->step * T;
    double sampled = s->batches > 1 ? at->lipschitz * at->lipschitz * s->step / 2.0 : 0.0;

    if (c < 1.0)
        weight = s->step * (1.0 - pow(c, T)) / (1.0 - c);
    return contraction_risk(at, s, of->assumed) + sampled +
           noise_risk(at, of->unit * at->records * at->lipschitz * weight / at->n);
}

static double unit_noise(const draft *of)
{
    const pn_request *request = &of->plan->base.request;

    if (request->kind == PN_NONPRIVATE)
        return 0.0;
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return sqrt(2.0 * of->at.p) / request->epsilon;
    return 1.0 / sqrt(2.0 * pn_gradient_noise_rho(request));
}

static void measure_distance(draft *of)
{
    const output_problem *at = &of->at;

    of->distance = at->away;
    if (at->strong > 0.0)
        of->distance = fmin(of->distance, (at->lipschitz + at->pull) / at->strong * (1.0 + 1e-9));
    of->assumed =
        fmin(of->distance, at->loss_smooth > 0.0 && isfinite(at->lipschitz) ? DISTANCE * at->lipschitz / at->loss_smooth
                                                                            : of->distance);
    if (!isfinite(of->assumed))
        of->assumed = 1.0;
}

/* ---- options ---- */

static pn_status refuse(const char *option, const char *method, const char *instead, pn_err *err)
{
    return pn_fail(err, PN_EINVAL, "%s: method=\"%s\" takes no %s%s", owner, method, option, instead);
}

static pn_status check_options(const output_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const char *name = methods[plan->method];

    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: has no calibration=\"paper\": the articles' constants are larger without being safer",
                       owner);
    if (common[PN_OPT_ITERATIONS].given && plan->method == OUTPUT_SGD)
        return refuse("iterations", name, "; give passes", err);
    if (common[PN_OPT_ITERATIONS].given && plan->method == OUTPUT_EXACT)
        return refuse("iterations", name, ": it ends at its certificate", err);
    if (own[OUTPUT_OPT_STEP].given && plan->method == OUTPUT_EXACT)
        return refuse("step", name, "", err);
    for (int i = OUTPUT_OPT_PASSES; i <= OUTPUT_OPT_SEED; i++) {
        if (own[i].given && plan->method != OUTPUT_SGD)
            return refuse(output_params[i].name, name, "; give method=\"sgd\"", err);
    }
    if (own[OUTPUT_OPT_TOLERANCE].given && plan->method != OUTPUT_EXACT)
        return refuse("tolerance", name, "; give method=\"exact\"", err);
    return PN_OK;
}

/* ---- gradient descent ---- */

static pn_status check_step(const draft *of, double step, bool given, pn_err *err)
{
    const output_problem *at = &of->at;

    if (!(step > 0.0 && isfinite(step)))
        return pn_fail(err, PN_EINVAL,
                       "%s: the objective has no curvature that a step would follow from; give step=", owner);
    if (given && step * at->smooth > 2.0 && at->request->kind != PN_NONPRIVATE)
        return pn_fail(err, PN_EINVAL,
                       "%s: step = %g is beyond 2/L = %g: steps would move neighbouring data sets apart", owner, step,
                       2.0 / at->smooth);
    return PN_OK;
}

/* 1/L, where D^2/(2 eta T) is proven; across a set on which the loss is a line. */
static double longest_step(const output_problem *at)
{
    if (at->smooth > 0.0)
        return (1.0 - 0x1p-30) / at->smooth;
    return isfinite(at->away) && at->away > 0.0 && isfinite(at->lipschitz) && at->lipschitz > 0.0
               ? at->away / at->lipschitz
               : INFINITY;
}

/* The number of steps with the least predicted risk.  On R^p nothing bounds the distance D to the minimum; 3 G/L = 12 for the logistic
 * loss and unit rows was looked for on ijcnn1; T changes with D^(2/3) only. */
static size_t best_steps(const draft *of, const output_schedule *from, double most)
{
    output_schedule s = *from;
    double best = INFINITY, found = 1.0;

    for (double T = 1.0; T <= most; T = floor(fmax(T + 1.0, T * 1.05))) {
        double risk;

        s.passes = (size_t)T;
        risk = predict(of, &s);
        if (risk < best) {
            best = risk;
            found = T;
        }
    }
    return (size_t)found;
}

static pn_status choose_gd(draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    output_schedule *s = &of->plan->schedule;
    bool given = common[PN_OPT_ITERATIONS].given;
    size_t most = pn_gradient_steps_max(of->at.objective);

    *s = (output_schedule){ .batches = 1,
                            .batch = (size_t)of->at.n,
                            .step = own[OUTPUT_OPT_STEP].given ? own[OUTPUT_OPT_STEP].real : longest_step(&of->at) };
    if (given)
        s->passes = common[PN_OPT_ITERATIONS].count;
    else if (of->unit > 0.0)
        s->passes = best_steps(of, s, (double)most);
    else
        s->passes = most < 1000 ? most : 1000;
    of->rule = given                                     ? "as given"
               : !(of->unit > 0.0)                       ? "the default without noise"
               : (double)s->passes * 1.05 > (double)most ? "as many as about 1e10 multiplications allow"
                                                         : "least predicted risk: a longer way costs more noise";
    return check_step(of, s->step, own[OUTPUT_OPT_STEP].given, err);
}

/* ---- passes over batches ---- */

static pn_status draw_order(output_plan *plan, size_t n, size_t seed, pn_err *err)
{
    pn_rng *rng = NULL;
    pn_status status;

    plan->order = pn_alloc(n, sizeof *plan->order);
    if (!plan->order)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for the order of %zu records", owner, n);
    status = pn_rng_seeded(&rng, seed, err);
    if (status == PN_OK)
        pn_rng_permutation(rng, n, plan->order);
    pn_rng_free(rng);
    return status;
}

/* A constant step that spends the length that gradient descent would have. */
static double step_of_passes(const draft *of, double steps)
{
    output_schedule s = { .batches = 1, .batch = (size_t)of->at.n, .step = longest_step(&of->at) };
    double longest = s.step;

    if (!(of->unit > 0.0) || !isfinite(longest))
        return longest;
    return fmin(longest, longest * (double)best_steps(of, &s, 1e6) / steps);
}

static pn_status choose_sgd(draft *of, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    output_schedule *s = &plan->schedule;
    size_t n = (size_t)of->at.n, batch = own[OUTPUT_OPT_BATCH].count;
    pn_status status;

    if (own[OUTPUT_OPT_BATCH].given && batch > n)
        return pn_fail(err, PN_EINVAL, "%s: batch = %zu is larger than the %zu records", owner, batch, n);
    batch = batch < n ? batch : n;
    *s = (output_schedule){ .passes = own[OUTPUT_OPT_PASSES].count, .batches = n / batch, .batch = batch };
    if (own[OUTPUT_OPT_STEP].given) {
        s->step = own[OUTPUT_OPT_STEP].real;
    } else if (of->at.strong_smooth > 0.0) {
        s->step = longest_step(&of->at);
        s->decreasing = of->at.strong_smooth * (1.0 - 1e-12);
    } else {
        s->step = step_of_passes(of, (double)s->passes * (double)s->batches);
    }
    of->rule = own[OUTPUT_OPT_PASSES].given ? "as given" : "the default";
    status = check_step(of, s->step, own[OUTPUT_OPT_STEP].given, err);
    return status == PN_OK ? draw_order(plan, n, own[OUTPUT_OPT_SEED].count, err) : status;
}

/* ---- the exact minimum ---- */

static pn_status check_exact(const draft *of, pn_err *err)
{
    const output_problem *at = &of->at;

    if (at->prox)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: method=\"exact\" certifies minima of smooth objectives, and the regulariser has kinks; use "
                       "method=\"gd\"",
                       owner);
    if (pn_objective_loss(at->objective)->margins != 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: method=\"exact\" takes losses of one linear predictor; use method=\"gd\"", owner);
    if (!(at->strong > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: method=\"exact\" needs a strongly convex objective, e.g. reg=pn.reg.l2(0.01); without, one "
                       "record may move the minimum as far as it likes",
                       owner);
    if (at->set && !isfinite(at->away))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: method=\"exact\" needs a bounded set or none, %s is unbounded", owner,
                       at->set->ops->name);
    if (at->set && !(at->set->ops->project && at->set->ops->support))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the set %s has no %s of its own, which the certificate of the minimum needs", owner,
                       at->set->ops->name, at->set->ops->project ? "support function" : "projection");
    return PN_OK;
}

/* Minima of neighbours are at most k G/(n mu) apart: the sum of F_r is n mu-strongly convex, and the gradient of the other sum at its
 * minimum is at most k G.  What is computed is within the certified offset of each. */
static pn_status choose_exact(draft *of, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    const output_problem *at = &of->at;
    op_problem *minimum = &plan->minimum;
    pn_status status = check_exact(of, err);

    if (status == PN_OK)
        status = op_read(minimum, owner, at->objective, at->request, plan->start, err);
    if (status != PN_OK)
        return status;
    if (!isfinite(minimum->lipschitz))
        minimum->lipschitz = 1.0; /* without privacy: the scale of a certificate only */
    op_begin(minimum, 0.0, &plan->certificate);
    if (own[OUTPUT_OPT_TOLERANCE].given)
        minimum->tau = 0.5 * plan->certificate.strong * own[OUTPUT_OPT_TOLERANCE].real * own[OUTPUT_OPT_TOLERANCE].real;
    if (at->request->kind != PN_NONPRIVATE && (status = op_check_set(minimum, err)) != PN_OK)
        return status;
    status = op_tolerance(minimum, &plan->certificate, err);
    of->bounds.exact = at->records * at->lipschitz / minimum->regular * (1.0 + 1e-12);
    of->bounds.sensitivity = (of->bounds.exact + 2.0 * plan->certificate.noise.offset) * (1.0 + 1e-12);
    of->bounds.entry = plan->certificate.noise.bound;
    of->bias = of->proven = plan->certificate.tau / at->n;
    plan->schedule = (output_schedule){ .passes = 1, .batches = 1, .batch = (size_t)at->n };
    return status;
}

/* ---- noise ---- */

/* l1 sensitivity sqrt(p) Delta: the scale at which it is epsilon, rounding to the lattice of that scale included. */
static double laplace_scale(const pn_gradient_noise *noise, double epsilon)
{
    double l1 = sqrt((double)noise->dim) * noise->sensitivity * (1.0 + 0x1p-50);
    double left = epsilon * (1.0 - 1e-12) - 4.0 * (double)noise->dim * PN_LAPLACE_ETA, scale = l1 / left;

    for (int i = 0; i < 8; i++)
        scale = pn_lattice_l1(l1, scale, noise->dim, noise->bound, 1) / left;
    return scale * (1.0 + 1e-12);
}

static pn_status attach_noise(draft *of, pn_err *err)
{
    output_plan *plan = of->plan;
    const pn_request *request = &plan->base.request;
    pn_gradient_noise *noise = &plan->noise;
    pn_mechanism *mechanism = NULL;
    pn_status status;

    *noise = (pn_gradient_noise){ .lipschitz = of->at.lipschitz,
                                  .sensitivity = of->bounds.sensitivity,
                                  .bound = of->bounds.entry,
                                  .dim = (size_t)of->at.p,
                                  .neighbours = request->neighbours };
    if (PN_MUTANT("output_sensitivity"))
        noise->sensitivity /= 2.0;
    plan->laplace = request->kind == PN_EPSILON_DELTA && request->delta == 0.0;
    noise->sigma = plan->laplace ? laplace_scale(noise, request->epsilon) : pn_gradient_noise_tight(noise, request, 1);
    if (!(noise->sigma >= 0x1p-900 && noise->sigma <= 0x1p900))
        return pn_fail(err, PN_EBUDGET, "%s: no noise on the lattice fits the budget", owner);
    status = output_open(&mechanism, plan, err);
    if (status != PN_OK)
        return status;
    plan->base.event = pn_event_keep(mechanism->event);
    pn_mechanism_free(mechanism);
    plan->base.charges = 1;
    plan->base.sigma = noise->sigma;
    return PN_OK;
}

pn_status output_open(pn_mechanism **out, const output_plan *plan, pn_err *err)
{
    const pn_gradient_noise *noise = &plan->noise;
    pn_arg args[] = { { .given = true, .real = noise->sigma },
                      { .given = false },
                      { .given = true, .real = sqrt((double)noise->dim) * noise->sensitivity * (1.0 + 0x1p-50) },
                      { .given = true, .count = noise->dim },
                      { .given = true, .real = noise->bound },
                      { .given = false } };

    if (!plan->laplace)
        return pn_gradient_noise_open(out, noise, err);
    *out = NULL;
    return pn_mechanism_new(out, "laplace", args, noise->neighbours, err);
}

/* ---- explanation ---- */

static void explain_problem(const draft *of)
{
    const output_problem *at = &of->at;
    pn_plan *plan = &of->plan->base;

    pn_plan_add(plan, "records n", at->n, "public");
    if (isfinite(at->lipschitz))
        pn_plan_add(plan, "gradient bound G", at->lipschitz, "%s",
                    at->bounds->source == PN_BOUND_CLIPPED ? "l2 norm to which each record's gradient is clipped"
                                                           : "max l2 norm of a record's gradient, certified");
    pn_plan_add(plan, "smoothness L", at->smooth, "of every record's loss%s, certified",
                at->smooth > at->loss_smooth ? " and the regulariser" : "");
    if (at->strong > 0.0)
        pn_plan_add(plan, "strong convexity mu", at->strong, "certified; of the regulariser");
}

static void explain_steps(const draft *of, bool given)
{
    const output_plan *plan = of->plan;
    const output_schedule *s = &plan->schedule;
    pn_plan *base = &of->plan->base;

    pn_plan_add_text(base, "method", methods[plan->method], "%s",
                     plan->method == OUTPUT_GD      ? "full gradients; one noisy release of the last point"
                     : plan->method == OUTPUT_EXACT ? "the minimum to a certificate; one noisy release of it"
                                                    : "batches in a fixed public order; one noisy release at the end");
    if (plan->method == OUTPUT_EXACT) {
        pn_plan_add(base, "tolerance tau", plan->certificate.noise.offset,
                    "certified distance to the exact minimum, public");
        return;
    }
    pn_plan_add(base, plan->method == OUTPUT_GD ? "steps T" : "passes k", (double)s->passes, "%s", of->rule);
    if (plan->method == OUTPUT_SGD)
        pn_plan_add(base, "batch b", (double)s->batch, "%zu batches a pass, %zu records left out", s->batches,
                    (size_t)of->at.n - s->batches * s->batch);
    if (s->decreasing > 0.0)
        pn_plan_add(base, "first step eta", s->step, "step t is min(1/L, 1/(mu t))");
    else
        pn_plan_add(base, "step eta", s->step, "%s",
                    given                       ? "as given"
                    : plan->method == OUTPUT_GD ? "1/L"
                                                : "at most 1/L");
}

static const char *sensitivity_rule(const draft *of)
{
    const output_plan *plan = of->plan;
    bool two = of->at.records == 2.0;

    if (plan->method == OUTPUT_EXACT)
        return two ? "2 G/(n mu) + 2 tau" : "G/(n mu) + 2 tau";
    if (plan->schedule.decreasing > 0.0)
        return two ? "at most 2 G/(mu b m), m batches a pass" : "at most G/(mu b m), m batches a pass";
    if (of->at.strong_prox > 0.0)
        return two ? "(2 G/n) (1 - c^T)/mu, c = 1/(1 + eta mu)" : "(G/n) (1 - c^T)/mu, c = 1/(1 + eta mu)";
    if (plan->method == OUTPUT_SGD)
        return of->at.strong > 0.0 ? "sum over passes of eta k G/b x what later steps leave"
               : two               ? "2 k G eta/b"
                                   : "k G eta/b";
    if (of->at.strong > 0.0)
        return two ? "(2 G eta/n) (1 - (1 - eta mu)^T)/(eta mu)" : "(G eta/n) (1 - (1 - eta mu)^T)/(eta mu)";
    return two ? "2 G eta T/n" : "G eta T/n";
}

static void explain_noise(const draft *of)
{
    const output_plan *plan = of->plan;
    pn_plan *base = &of->plan->base;
    bool rho = base->request.kind == PN_RHO;

    pn_plan_add(base, "exact sensitivity", of->bounds.exact, "%s", sensitivity_rule(of));
    pn_plan_add(base, "sensitivity Delta", plan->noise.sensitivity,
                "l2, of the point as computed: %.3g is for rounding", plan->noise.sensitivity - of->bounds.exact);
    if (plan->laplace)
        pn_plan_add(base, "noise scale", plan->noise.sigma,
                    "Laplace, per coordinate: sqrt(p) Delta/epsilon, on the lattice");
    else
        pn_plan_add(base, "noise sigma", plan->noise.sigma, "per coordinate, once: Delta %s, on the lattice",
                    rho ? "/ sqrt(2 rho)" : "/ mu(epsilon, delta)");
}

/* ---- risk, for people ---- */

/* Why there is no bound, or NULL.  With a set the noisy point is projected, and only the slope tells what that may cost. */
static const char *no_bound(const draft *of, double slope)
{
    const output_problem *at = &of->at;
    const output_plan *plan = of->plan;

    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are not those of f";
    if (plan->method == OUTPUT_SGD)
        return "none is proven for the last iterate of passes in a fixed order";
    if (plan->method == OUTPUT_GD && plan->schedule.step * at->smooth > 1.0 + 0x1p-20)
        return "the step is longer than 1/L";
    if (!isfinite(of->proven))
        return "without a set or strong convexity nothing bounds the distance to the minimum";
    return at->set && !isfinite(slope) ? "the slope of the regulariser is not bounded" : NULL;
}

static void explain_risk(draft *of)
{
    const output_problem *at = &of->at;
    pn_plan *plan = &of->plan->base;
    double sigma = of->plan->noise.sigma * (of->plan->laplace ? sqrt(2.0) : 1.0), slope, noise = noise_risk(at, sigma);
    const char *none;

    slope = at->lipschitz + (at->smooth > at->loss_smooth ? at->bounds->reg.gradient * sqrt(at->p) : 0.0);
    none = no_bound(of, slope);
    if (of->plan->method != OUTPUT_EXACT)
        pn_plan_add(plan, "distance D", of->assumed, "to the minimum: %s",
                    of->assumed < of->distance ? "assumed, 3 G/L of the loss; for predictions only"
                                               : "at most, by the set or strong convexity");
    pn_plan_add(plan, "risk before noise", of->bias, "%s",
                of->plan->method == OUTPUT_EXACT ? "of stopping at the tolerance" : "predicted: how far steps get");
    if (plan->request.kind != PN_NONPRIVATE)
        pn_plan_add(plan, "risk from noise", noise, "sigma^2/2 x trace of curvature");
    plan->predicted = of->bias + noise;
    plan->bound = none ? NAN : of->proven + (at->set ? slope * sigma * sqrt(at->p) : noise);
    if (none)
        pn_plan_add_text(plan, "excess risk bound", "none", "%s", none);
    else
        pn_plan_add(plan, "excess risk bound", plan->bound, "expected: D^2/(2 eta T) or less%s",
                    plan->request.kind == PN_NONPRIVATE ? ""
                    : at->set                           ? " + slope x sqrt(p) sigma"
                                                        : " + risk from noise");
}

/* ---- the plan ---- */

static pn_status choose(draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    pn_status status;

    if (plan->method == OUTPUT_EXACT)
        return choose_exact(of, own, err);
    status = plan->method == OUTPUT_GD ? choose_gd(of, common, own, err) : choose_sgd(of, own, err);
    if (status != PN_OK)
        return status;
    of->bias = contraction_risk(&of->at, &plan->schedule, of->assumed);
    of->proven = contraction_risk(&of->at, &plan->schedule, of->distance);
    return plan->base.request.kind == PN_NONPRIVATE ? PN_OK
                                                    : output_measure(&of->at, &plan->schedule, &of->bounds, err);
}

static pn_status fill(draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    const output_schedule *s = &plan->schedule;
    bool is_private = plan->base.request.kind != PN_NONPRIVATE;
    pn_status status = check_options(plan, common, own, err);

    if (status == PN_OK)
        status = output_read(&of->at, plan, err);
    if (status != PN_OK)
        return status;
    of->unit = unit_noise(of);
    measure_distance(of);
    if ((status = choose(of, common, own, err)) != PN_OK || (is_private && (status = attach_noise(of, err)) != PN_OK))
        return status;
    plan->base.iterations = s->passes;
    if (plan->method != OUTPUT_EXACT)
        plan->base.gradients = (double)s->passes * (double)s->batches * (double)s->batch;
    explain_problem(of);
    explain_steps(of, own[OUTPUT_OPT_STEP].given);
    if (is_private)
        explain_noise(of);
    explain_risk(of);
    return PN_OK;
}

static pn_status copy_start(output_plan *plan, const pn_arg *start, pn_err *err)
{
    const pn_set *set = pn_objective_set(plan->base.objective);
    size_t p = pn_objective_dim(plan->base.objective);

    plan->start = pn_calloc(p, sizeof(double));
    if (!plan->start)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for %zu coordinates", owner, p);
    if (start->given)
        memcpy(plan->start, start->vector.data, p * sizeof(double));
    else if (set)
        set->ops->center(set, plan->start);
    return PN_OK;
}

pn_status output_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                          const pn_arg *own, pn_err *err)
{
    output_plan *plan = pn_calloc(1, sizeof *plan);
    draft of = { .plan = plan };
    pn_status status;

    if (!plan)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", owner);
    plan->base.solver = pn_solver_find("output_perturbation");
    plan->base.objective = objective;
    plan->base.request = *request;
    plan->base.proven = true;
    plan->base.bound = NAN;
    plan->method = (output_method)own[OUTPUT_OPT_METHOD].count;
    status = copy_start(plan, &common[PN_OPT_START], err);
    if (status == PN_OK)
        status = fill(&of, common, own, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    plan->minimum.request = NULL; /* lived with this call */
    *out = &plan->base;
    return PN_OK;
}

void output_plan_destroy(pn_plan *plan)
{
    output_plan *self = (output_plan *)plan;

    pn_prox_free(self->prox);
    pn_free(self->start);
    pn_free(self->order);
    pn_free(self);
}
