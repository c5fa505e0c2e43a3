/* objective_perturbation_test.c -- what Lua cannot ask of objective perturbation: other numbers of threads, runs that
 * are stopped in the middle, memory that runs out, and the steps of the worst case.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "solvers/catalogue/solvers.h"
#include "minimise/descent.h"
#include "solvers/engine/solver.h"
#include "solvers/perturbation/objective_perturbation.h"
#include "minimise/perturbed_minimum.h"

#define OWN_MAX 8

/* Over the unit l2 ball around `center` [p], or R^p for NULL. */
static pn_status make_around(pn_dataset **data, pn_objective **objective, size_t n, size_t p, double clip,
                             double *center, pn_err *err)
{
    pn_synthetic_options how = { .n = n, .p = p, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { .clip = clip };
    pn_arg none[4] = { { 0 } };
    pn_arg ball[4] = { { .given = true, .count = p }, { .given = true, .real = 1.0 }, { 0 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    parts.data = *data;
    if (center && center[0] != 0.0)
        ball[2] = (pn_arg){ .given = true, .vector = { center, p } };
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK && center)
        status = pn_set_from_args(&parts.set, "l2_ball", ball, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_set_free(parts.set);
    return status;
}

static pn_status make(pn_dataset **data, pn_objective **objective, size_t n, size_t p, double clip, bool bounded,
                      pn_err *err)
{
    static double origin[2100] = { 0.0 };

    return make_around(data, objective, n, p, clip, bounded ? origin : NULL, err);
}

/* At epsilon 4 a loss distribution is quickest. */
static pn_status priced_plan(pn_plan **out, pn_objective *objective, bool pld, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };

    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 4.0 };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1e-6 };
    own[OP_ACCOUNTANT] = (pn_arg){ .given = true, .text = pld ? "pld" : "rdp" };
    return pn_plan_from_args(out, "objective_perturbation", objective, NULL, common, own, NULL, err);
}

static pn_status plan_of(pn_plan **out, pn_objective *objective, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };

    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 1.0 };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1e-6 };
    return pn_plan_from_args(out, "objective_perturbation", objective, NULL, common, own, NULL, err);
}

static pn_status teaching(pn_ledger **out, pn_err *err)
{
    pn_budget budget = { .epsilon = 1.0, .delta = 1e-6, .rho = NAN, .teaching = true };

    return pn_ledger_new(out, &budget, err);
}

/* ---- threads ---- */

static void run_with(pn_plan *plan, unsigned threads, double *theta, size_t p)
{
    pn_task *task = NULL;
    pn_rng *rng = NULL;
    pn_fit *fit = NULL;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK && pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng, .task = task }, NULL) == PN_OK);
    memcpy(theta, fit->theta, p * sizeof *theta);
    CHECK(fit->steps == 1 && fit->gradients > 0 && !fit->stopped);
    pn_fit_free(fit);
    pn_rng_free(rng);
    pn_task_free(task);
}

static void test_threads(size_t p, double clip, bool bounded)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    static double one[3000], four[3000];

    CHECK(make(&data, &objective, 1500, p, clip, bounded, NULL) == PN_OK && plan_of(&plan, objective, NULL) == PN_OK);
    run_with(plan, 1, one, p);
    run_with(plan, 4, four, p);
    for (size_t j = 0; j < p; j++)
        CHECK_CLOSE(four[j], one[j], 1e-12);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- stopped in the middle ---- */

typedef struct stopper {
    pn_task *task;
    int reports, stop_at;
} stopper;

static pn_status stop(void *self, const pn_progress *progress, pn_err *err)
{
    stopper *at = self;

    (void)err;
    if (strcmp(progress->label, "objective perturbation") == 0 && ++at->reports >= at->stop_at)
        pn_task_cancel(at->task);
    return PN_OK;
}

/* Progress is told every few milliseconds, so the search for the minimum has to last: a clipped loss over a set. */
static void test_interrupted_and_resumed(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_fit *fit = NULL;
    pn_rng *rng = NULL, *same = NULL;
    pn_ledger *ledger = NULL, *second = NULL;
    stopper at = { .stop_at = 1 };
    pn_trace_row row;
    bool done = false;
    double zero[40] = { 0 };

    CHECK(make(&data, &objective, 30000, 40, 0.0, true, NULL) == PN_OK && plan_of(&plan, objective, NULL) == PN_OK);
    CHECK(pn_task_new(&at.task, 1, NULL) == PN_OK && teaching(&ledger, NULL) == PN_OK &&
          teaching(&second, NULL) == PN_OK);
    CHECK(pn_rng_seeded(&rng, 4, NULL) == PN_OK && pn_rng_seeded(&same, 4, NULL) == PN_OK);
    pn_task_listen(at.task, stop, &at);
    CHECK(pn_walk_new(&walk, plan, &(pn_run_options){ .ledger = ledger, .rng = rng, .task = at.task }, NULL) == PN_OK);
    CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_ECANCELLED);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 1);
    CHECK(memcmp(pn_walk_theta(walk), zero, sizeof zero) == 0); /* nothing but the public start */
    pn_task_listen(at.task, NULL, NULL);
    pn_task_reset(at.task);
    CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_OK);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 1);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .ledger = second, .rng = same }, NULL) == PN_OK);
    CHECK(memcmp(fit->theta, pn_walk_theta(walk), sizeof zero) == 0);
    pn_fit_free(fit);
    pn_walk_free(walk);
    pn_rng_free(rng);
    pn_rng_free(same);
    pn_ledger_free(ledger);
    pn_ledger_free(second);
    pn_task_free(at.task);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- what a real run may not tell ---- */

static void test_a_real_run_does_not_count_gradients(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;

    CHECK(make(&data, &objective, 200, 5, 0.0, false, NULL) == PN_OK && plan_of(&plan, objective, NULL) == PN_OK);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ 0 }, NULL) == PN_OK);
    CHECK(fit->gradients == 0 && !fit->simulated && fit->steps == 1);
    CHECK(isnan(fit->trace[0].value) && isnan(fit->trace[0].gap) && fit->trace[0].gradients == 0);
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    const bool *bounded = self;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_rng *rng = NULL;
    pn_fit *fit = NULL;
    pn_status status = make(&data, &objective, 60, 3, 0.0, *bounded, err);

    if (status == PN_OK)
        status = priced_plan(&plan, objective, !*bounded, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng }, err);
    pn_fit_free(fit);
    pn_rng_free(rng);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

/* ---- the steps of the worst case ---- */

/* f(x) = (x_0^2 + kappa x_1^2)/2 + <c, x> */
static pn_status bowl(void *self, const double *x, double *gradient, pn_err *err)
{
    const double *kappa = self;

    (void)err;
    gradient[0] = x[0] - 1.0;
    gradient[1] = *kappa * x[1] + 3.0;
    return PN_OK;
}

/* At most sqrt(kappa) ln(||g||^2/(m h)) steps to f - f* <= h, which implies ||g|| <= sqrt(2 L h). */
static void test_constant_steps_keep_their_rate(void)
{
    for (double kappa = 1.5; kappa < 1e6; kappa *= 7.0) {
        double x[2] = { 0.0, 0.0 }, certificate = NAN, tolerance = 1e-9;
        double near = tolerance * tolerance / (2.0 * kappa);
        double most = 1.0 + sqrt(kappa) * log((1.0 + 9.0) / near);
        bool reached = false;
        pn_descent how = { .owner = "test",
                           .label = "test",
                           .gradient = bowl,
                           .self = &kappa,
                           .p = 2,
                           .strong_convexity = 1.0,
                           .smoothness = kappa,
                           .tolerance = tolerance,
                           .most_steps = (size_t)most };

        CHECK(pn_descend(&how, x, &certificate, &reached, NULL) == PN_OK);
        CHECK(reached && certificate <= tolerance);
        CHECK_CLOSE(x[0], 1.0, 2e-9);
        how.most_steps = 1;
        x[0] = x[1] = 0.0;
        CHECK(pn_descend(&how, x, &certificate, &reached, NULL) == PN_OK);
        CHECK(!reached);
    }
}

/* ---- the certificate over a set whose projection has a known error ---- */

typedef struct known {
    double n, p, slope, beta, sigma, weight, smooth, strong, center; /* of the plan; ||center||_2 */
} known;

/* What rounding may hide of a residual of size T, term by term as objective_perturbation_problem.c derives it. */
static double hidden(const pn_objective *objective, const known *at, double size)
{
    double u = 0x1p-53, reach = 1.0 + 2.0 * at->center < 2.0 ? 1.0 + 2.0 * at->center : 2.0, far = reach + at->center;
    double noise = 13.01 * sqrt(at->p) * at->sigma, slope = at->n * at->slope + noise + at->weight * reach;
    double pass = at->n * sqrt(at->p) * pn_objective_gradient_error(objective);
    double gradient = pass + at->n * at->beta * (at->p + 4.0) * u * far + at->n * at->slope * 128.0 * u +
                      8.0 * u * (at->weight * far + noise + at->n * at->slope);
    double terms = 2.0 * slope + gradient + size, away = 1.0 + at->center + terms / at->smooth;

    return gradient + 3.0 * at->smooth * pn_set_projection_error(pn_objective_set(objective), away) + 8.0 * u * terms +
           (at->p + 8.0) * u * size;
}

static void test_certificate(double offset, double tau)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };
    double center[4] = { offset, -offset, offset, offset }, size, near, steps;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    const op_plan *made;
    known at;

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    own[OP_LAMBDA] = (pn_arg){ .given = true, .real = 0.02 };
    own[OP_TOLERANCE] = (pn_arg){ .given = tau > 0.0, .real = tau };
    CHECK(make_around(&data, &objective, 1000, 4, 0.0, center, NULL) == PN_OK &&
          pn_plan_from_args(&plan, "objective_perturbation", objective, NULL, common, own, NULL, NULL) == PN_OK);
    made = (const op_plan *)plan;
    at = (known){ 1000.0,
                  4.0,
                  pn_objective_bounds(objective)->lipschitz[PN_L2],
                  pn_objective_bounds(objective)->loss.curvature.high,
                  made->choice.noise.sigma,
                  made->choice.weight,
                  made->problem.n * made->problem.beta + made->choice.weight,
                  made->choice.strong,
                  2.0 * offset };
    size = tau > 0.0 ? sqrt(2.0 * tau * at.strong) : made->choice.noise.offset * at.strong;
    CHECK(made->problem.set && !made->problem.by_gap);
    CHECK_CLOSE((size - made->choice.computed) / hidden(objective, &at, size), 1.0,
                1e-4 + (tau > 0.0 ? 0x1p-51 * size / hidden(objective, &at, size) : 0.0));
    CHECK(tau > 0.0 || size >= 4.0 * hidden(objective, &at, 0.0) * (1.0 - 1e-8));
    CHECK(tau > 0.0 || size >= 0x1p-40 * 1000.0 * at.slope * (1.0 - 1e-8));
    near = made->choice.computed * made->choice.computed * at.strong / (64.0 * at.smooth * at.smooth);
    size = 1000.0 * at.slope + 13.01 * 2.0 * at.sigma;
    steps = 10.0 + sqrt(at.smooth / at.strong) * log(size * size / (at.strong * near));
    CHECK_CLOSE(made->choice.most_steps, steps, 1e-6 * steps);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* A certificate counts for a step of 1/smoothness only: steps so short that rounding is all of them never have one,
 * although the search before them finds the minimum. */
static void test_the_last_step_has_the_known_size(void)
{
    double theta[4], linear[4] = { 2000.0, 0.0, 0.0, 100.0 }, center[4] = { 0.0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    uint64_t gradients = 0;

    CHECK(make(&data, &objective, 1000, 4, 0.0, true, NULL) == PN_OK);
    for (int longer = 0; longer < 2; longer++) {
        pn_perturbed_problem problem = { .owner = "test",
                                         .label = "test",
                                         .objective = objective,
                                         .linear = linear,
                                         .center = center,
                                         .weight = 20.0,
                                         .strong_convexity = 20.0,
                                         .smoothness = longer ? 270.0 : 1e30,
                                         .tolerance = 1e-8,
                                         .residual = true,
                                         .most_steps = longer ? 1.0 : 100.0 };

        CHECK(pn_perturbed_minimum(&problem, theta, &gradients, NULL, NULL) == (longer ? PN_OK : PN_ENUMERIC));
    }
    CHECK_CLOSE(pn_lp_norm(PN_L2, 4, theta), 1.0, 1e-12);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    bool bounded;

    test_threads(8, 0.0, false);
    test_threads(2100, 0.0, false);
    test_threads(8, 0.2, false);
    test_threads(8, 0.0, true);
    test_interrupted_and_resumed();
    test_a_real_run_does_not_count_gradients();
    bounded = true;
    CHECK(fail_alloc_sweep("objective perturbation over a ball", scenario, &bounded) > 0);
    bounded = false; /* by a loss distribution, which takes a tenth of a second a round */
    CHECK(check_thorough() ? fail_alloc_sweep("objective perturbation", scenario, &bounded) > 0
                           : fail_alloc_places("objective perturbation", scenario, &bounded, false));
    test_constant_steps_keep_their_rate();
    test_certificate(0.0, 0.0);
    test_certificate(0.3, 0.0);
    test_certificate(0.3, 2e7);
    test_certificate(1e4, 0.0);
    test_the_last_step_has_the_known_size();
    return check_summary();
}
