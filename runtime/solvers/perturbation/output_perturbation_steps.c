/* output_perturbation_steps.c -- which steps output perturbation makes, and the risk to expect of them.
 * Depends on: output_perturbation.h, objective.  Used by: output_perturbation_plan.c.
 *
 * After steps of total length s = eta T the point is within D^2/(2 s) of the minimum, D its distance from the start,
 * and a record moves it by at most k G s/n, so that the noise grows with s: T is taken where the sum of both risks, as
 * they are to be expected, is least.  Noise z of variance sigma^2 costs little where losses see one margin: E
 * l(<a, x + z>) - l(<a, x>) <= l'' sigma^2 ||a||^2/2, whatever the dimension. */
#include <math.h>

#include "core/alloc.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/work.h"
#include "solvers/perturbation/output_perturbation.h"

/* In G/L: how far the minimum is taken to be from the start where nothing bounds it; see best_steps. */
#define DISTANCE 3.0

#define PLAIN_STEPS 1000 /* without privacy */
#define LARGE       50.0 /* an epsilon whose price is no longer that of an ideal Gaussian */

/* ---- risk ---- */

double output_step_risk(const output_problem *at, const output_schedule *s, double distance)
{
    double T = (double)s->passes * (double)s->batches, eta = s->step, c = output_contraction(at, eta);
    double slow = distance * distance / (2.0 * eta * T);

    if (s->decreasing > 0.0)
        return at->lipschitz * at->lipschitz * (1.0 + log(T)) / (2.0 * s->decreasing * T);
    return c < 1.0 ? fmin(slow, distance * distance * pow(c, 2.0 * (T - 1.0)) / (2.0 * eta)) : slow;
}

/* No start has all the excess of the bound's first steps.  G^2/(8 L), which is 1/2 for the logistic loss and unit rows,
 * is near what a9a, ijcnn1, reuters, cal_housing and abalone start with; where budgets are small,
 * steps are fewer for it. */
double output_expected_risk(const output_problem *at, const output_schedule *s, double distance)
{
    double bound = output_step_risk(at, s, distance), first = at->lipschitz * at->lipschitz / (8.0 * at->loss_smooth);

    return first > 0.0 && isfinite(first) ? bound / (1.0 + bound / first) : bound;
}

/* Smooth parts by their traces; a norm of the sum of two points is at most the sum of their norms. */
double output_noise_risk(const output_problem *at, double sigma)
{
    double margins = (double)pn_objective_loss(at->objective)->margins;
    double regular = at->p * (at->smooth - at->loss_smooth + at->strong_prox);

    return 0.5 * sigma * sigma * (fmin(margins, at->p) * at->loss_smooth + regular) + sigma * at->kink;
}

static double predict(const output_draft *of, const output_schedule *s)
{
    const output_problem *at = &of->at;
    double T = (double)s->passes * (double)s->batches, c = output_contraction(at, s->step), weight = s->step * T;
    double sampled = s->batches > 1 ? at->lipschitz * at->lipschitz * s->step / 2.0 : 0.0;

    if (c < 1.0)
        weight = s->step * (1.0 - pow(c, T)) / (1.0 - c);
    return output_expected_risk(at, s, of->assumed) + sampled +
           output_noise_risk(at, of->unit * at->records * at->lipschitz * weight / at->n);
}

/* What a large epsilon cannot buy: one release has noise of about 0.13 times the sensitivity at least, below which the
 * tails of drawn noise have no price (gradient_noise.c).  Steps that trust less noise would be too many. */
static double unit_at_large_epsilon(const output_draft *of, const pn_request *request, double unit)
{
    pn_gradient_noise one = {
        .sensitivity = 1.0, .bound = 1.0, .dim = (size_t)of->at.p, .neighbours = request->neighbours
    };

    return fmax(unit, pn_gradient_noise_tight(&one, request, 1));
}

static double unit_noise(const output_draft *of)
{
    const pn_request *request = &of->plan->base.request;
    double unit;

    if (request->kind == PN_NONPRIVATE)
        return 0.0;
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return sqrt(2.0 * of->at.p) / request->epsilon;
    unit = 1.0 / sqrt(2.0 * pn_gradient_noise_rho(request));
    return request->kind == PN_EPSILON_DELTA && request->epsilon >= LARGE ? unit_at_large_epsilon(of, request, unit)
                                                                          : unit;
}

void output_measure_distance(output_draft *of)
{
    const output_problem *at = &of->at;

    of->unit = unit_noise(of);
    of->distance = at->away;
    if (at->strong > 0.0)
        of->distance = fmin(of->distance, (at->lipschitz + at->pull) / at->strong * (1.0 + 1e-9));
    of->assumed =
        fmin(of->distance, at->loss_smooth > 0.0 && isfinite(at->lipschitz) ? DISTANCE * at->lipschitz / at->loss_smooth
                                                                            : of->distance);
    if (!isfinite(of->assumed))
        of->assumed = 1.0;
}

/* ---- gradient descent ---- */

static pn_status check_step(const output_draft *of, double step, bool given, pn_err *err)
{
    const output_problem *at = &of->at;

    if (!(step > 0.0 && isfinite(step)))
        return pn_fail(err, PN_EINVAL, "the objective has no curvature that a step would follow from; give step=");
    if (given && step * at->smooth > 2.0 && at->request->kind != PN_NONPRIVATE)
        return pn_fail(err, PN_EINVAL, "step = %g is beyond 2/L = %g: steps would move neighbouring data sets apart",
                       step, 2.0 / at->smooth);
    if (at->smooth > 0.0)
        pn_first_order_check_step(&of->plan->base, step, 2.0 / at->smooth, "2/L");
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

/* The number of steps with the least predicted risk.  On R^p nothing bounds the distance D to the minimum; 3 G/L = 12
 * for the logistic loss and unit rows was looked for on ijcnn1; T changes with D^(2/3) only. */
static size_t best_steps(const output_draft *of, const output_schedule *from, double most)
{
    output_schedule s = *from;
    double best = INFINITY;
    size_t found = 1;

    for (double T = 1.0; T <= most; T = floor(fmax(T + 1.0, T * 1.05))) {
        double risk;

        s.passes = (size_t)T;
        risk = predict(of, &s);
        if (risk < best) {
            best = risk;
            found = s.passes;
        }
    }
    return found;
}

/* To the 5 % of the search. */
static bool is_limited(const output_schedule *s, size_t most)
{
    return (double)s->passes * 1.05 > (double)most;
}

static pn_status choose_gd(output_draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
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
        s->passes = most < PLAIN_STEPS ? most : PLAIN_STEPS;
    of->rule = given                 ? "as given"
               : !(of->unit > 0.0)   ? "the default without noise"
               : is_limited(s, most) ? "as many as about 4 s of work allow"
                                     : "least predicted risk: a longer way costs more noise";
    if (!given && is_limited(s, most))
        of->wanted = of->unit > 0.0 ? (double)best_steps(of, s, 1e9) : PLAIN_STEPS;
    return check_step(of, s->step, own[OUTPUT_OPT_STEP].given, err);
}

/* ---- passes over batches ---- */

static pn_status draw_order(output_plan *plan, size_t n, size_t seed, pn_err *err)
{
    pn_rng *rng = NULL;
    pn_status status;

    PN_TRY(pn_new(&plan->order, n, err, "out of memory for the order of %zu records", n));
    status = pn_rng_seeded(&rng, seed, err);
    if (status == PN_OK)
        pn_rng_permutation(rng, n, plan->order);
    pn_rng_free(rng);
    return status;
}

/* A constant step that spends the length that gradient descent would have. */
static double step_of_passes(const output_draft *of, double steps)
{
    output_schedule s = { .batches = 1, .batch = (size_t)of->at.n, .step = longest_step(&of->at) };
    double longest = s.step;

    if (!(of->unit > 0.0) || !isfinite(longest))
        return longest;
    return fmin(longest, longest * (double)best_steps(of, &s, 1e6) / steps);
}

static pn_status choose_sgd(output_draft *of, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    output_schedule *s = &plan->schedule;
    size_t n = (size_t)of->at.n, batch = own[OUTPUT_OPT_BATCH].count;

    if (own[OUTPUT_OPT_BATCH].given && batch > n)
        return pn_fail(err, PN_EINVAL, "batch = %zu is larger than the %zu records", batch, n);
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
    PN_TRY(check_step(of, s->step, own[OUTPUT_OPT_STEP].given, err));
    return draw_order(plan, n, own[OUTPUT_OPT_SEED].count, err);
}

/* ---- the exact minimum ---- */

static pn_status check_exact(const output_draft *of, pn_err *err)
{
    const output_problem *at = &of->at;

    if (at->prox)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "method=\"exact\" certifies minima of smooth objectives, and the regulariser has kinks; use "
                       "method=\"gd\"");
    if (pn_objective_loss(at->objective)->margins != 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "method=\"exact\" takes losses of one linear predictor; use method=\"gd\"");
    if (!(at->strong > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "method=\"exact\" needs a strongly convex objective, e.g. reg=pn.reg.l2(0.01); without it, "
                       "nothing bounds how far one record moves the minimum");
    if (at->set && !isfinite(at->away))
        return pn_fail(err, PN_EUNSUPPORTED, "method=\"exact\" needs a bounded set or none, %s is unbounded",
                       at->set->ops->name);
    return op_need_certificate(at->set, err);
}

/* Minima of neighbours are at most k G/(n mu) apart: the sum of F_r is n mu-strongly convex, and the gradient of the
 * other sum at its minimum is at most k G.  What is computed is within the certified offset of each. */
static pn_status choose_exact(output_draft *of, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    const output_problem *at = &of->at;
    op_problem *minimum = &plan->minimum;

    PN_TRY(check_exact(of, err));
    PN_TRY(op_read(minimum, at->owner, at->objective, at->request, at->start, err));
    if (!isfinite(minimum->lipschitz))
        minimum->lipschitz = 1.0; /* without privacy: the scale of a certificate only */
    op_begin(minimum, 0.0, &plan->certificate);
    if (own[OUTPUT_OPT_TOLERANCE].given)
        minimum->tau = 0.5 * plan->certificate.strong * own[OUTPUT_OPT_TOLERANCE].real * own[OUTPUT_OPT_TOLERANCE].real;
    PN_TRY(at->request->kind == PN_NONPRIVATE ? PN_OK : op_check_set(minimum, err));
    PN_TRY(op_tolerance(minimum, &plan->certificate, err));
    of->bounds.exact = at->records * at->lipschitz / minimum->regular * (1.0 + 1e-12);
    of->bounds.sensitivity = (of->bounds.exact + 2.0 * plan->certificate.noise.offset) * (1.0 + 1e-12);
    of->bounds.entry = plan->certificate.noise.bound;
    of->bias = of->proven = plan->certificate.tau / at->n;
    plan->schedule = (output_schedule){ .passes = 1, .batches = 1, .batch = (size_t)at->n };
    return PN_OK;
}

/* ---- all ---- */

pn_status output_choose(output_draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    return of->plan->method == OUTPUT_EXACT ? choose_exact(of, own, err)
           : of->plan->method == OUTPUT_GD  ? choose_gd(of, common, own, err)
                                            : choose_sgd(of, own, err);
}
