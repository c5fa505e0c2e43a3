/* mirror_descent_plan.c -- potential, steps, noise and predicted risk of noisy mirror descent.
 * Depends on: mirror_descent.h, geometry.  Used by: mirror_descent.c.  Spec: mirror-descent.md section 2.
 *
 * With Q the unit ball of the potential's norm, R its l2 radius, G its width, D2 the range of the potential over C and
 * M = L R + sigma sqrt(G^2 + R^2), T steps of size sqrt(2 D2/(T M^2)) have expected excess risk at most M sqrt(2 D2/T).
 * sigma grows like sqrt(T), so the bound falls with T toward a limit; T is taken where the two parts of M are equal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/lapack.h"
#include "oracle/gradient_batch.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/mirror_descent.h"

static const char *const potential_class[] = { "pn.potential", NULL };
static const char *const function_class[] = { "function", NULL };

const pn_param md_params[] = {
    { "potential", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, potential_class,
      "distance generating function; by default the one that fits the set" },
    PN_STEP_PARAM("eta of every iteration, in place of sqrt(2 D2 / (T M^2))"),
    { "strongly_convex", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "Delta with l(x) >= l(y) + <l'(y), x - y> + Delta D(x, y): steps 2/(Delta (t+1)), weights t" },
    { "noise.covariance", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "covariance of Gaussian noise on the gradient, without privacy: p x p, a row of p variances, or one number" },
    { "noise.oracle", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_class,
      "function(theta) -> an unbiased sample of the gradient, of that covariance, instead of the objective's "
      "gradient" },
    PN_BATCH_PARAMS,
    PN_PARAM_END,
};

typedef struct problem {
    md_plan *plan;
    const pn_objective *objective;
    pn_set *set;
    const pn_bounds *bounds;
    pn_mirror_geometry geometry;
    double n;
    double L;     /* Lipschitz constant of records in l2 */
    double root;  /* sqrt(lambda_max) of noise without privacy */
    double noise; /* that of a gradient, whatever it is from */
    double M, bound;
} problem;

/* ---- geometry ---- */

/* What the steps of a plan depend on besides the geometry. */
typedef struct terms {
    double lipschitz, sensitivity; /* of records, of the mean gradient; the second 0 without privacy */
    double rho;                    /* of the whole run; NaN without privacy */
    size_t given, most;            /* steps asked for, or 0; the most by default */
} terms;

/* T where L R = sigma sqrt(G^2 + R^2), with sigma = Delta sqrt(T / (2 rho)). */
static size_t choose_steps(const pn_mirror_geometry *of, const terms *with)
{
    double steps;

    if (with->given)
        return with->given;
    if (isnan(with->rho) || !isfinite(with->lipschitz) || with->sensitivity == 0.0)
        return with->most < MD_DEFAULT_STEPS ? with->most : MD_DEFAULT_STEPS;
    steps = with->lipschitz * of->R / with->sensitivity;
    steps = 2.0 * with->rho * steps * steps / of->G2R2;
    return (size_t)fmin(fmax(ceil(steps), 1.0), (double)with->most);
}

/* Where gradients are not bounded, what is left to compare by is what noise costs. */
static double risk_of(const pn_mirror_geometry *of, const void *self)
{
    const terms *with = self;
    double T = (double)choose_steps(of, with);
    double noise = isnan(with->rho) ? 0.0 : with->sensitivity * sqrt(T / (2.0 * with->rho));

    if (isfinite(with->lipschitz))
        return (with->lipschitz * of->R + of->regular + noise * sqrt(of->G2R2)) * sqrt(2.0 * of->D2 / T);
    return sqrt(of->D2 * of->G2R2);
}

static pn_status choose_geometry(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    md_plan *plan = at->plan;
    const pn_arg *steps = &common[PN_OPT_ITERATIONS];
    bool is_private = plan->base.request.kind != PN_NONPRIVATE;
    terms with = { .lipschitz = plan->noise.lipschitz,
                   .sensitivity = plan->noise.sensitivity,
                   .rho = is_private ? pn_gradient_noise_rho(&plan->base.request) : NAN,
                   .given = steps->given ? steps->count : 0,
                   .most = pn_planned_steps_max(at->objective, &at->plan->noise) };
    pn_mirror_wish wish = { .plan = &plan->base,
                            .potential = &own[MD_POTENTIAL],
                            .start = &common[PN_OPT_START],
                            .risk = risk_of,
                            .self = &with };

    PN_TRY(pn_mirror_geometry_choose(&at->geometry, &plan->space, &wish, err));
    plan->base.iterations = choose_steps(&at->geometry, &with);
    if (is_private && plan->noise.scheme) {
        with.sensitivity =
            pn_gradient_noise_unit(&plan->noise, &plan->base, plan->base.iterations) * sqrt(2.0 * with.rho);
        plan->base.iterations = choose_steps(&at->geometry, &with);
    }
    with.most = (size_t)1 << 53; /* as if work were no limit */
    pn_plan_work(&plan->base, pn_planned_seconds(at->objective, &plan->noise),
                 (double)choose_steps(&at->geometry, &with));
    return pn_mirror_space_open(&plan->space, &wish, err);
}

/* ---- noise without privacy ---- */

static pn_status check_covariance(const problem *at, pn_mat given, pn_err *err)
{
    size_t p = at->set->dim;

    if (at->plan->base.request.kind != PN_NONPRIVATE)
        return pn_fail(err, PN_EINVAL,
                       "solve.mirror_descent: noise= has no guarantee; give privacy=false with it, or leave it out");
    if ((given.rows == 1 && (given.cols == 1 || given.cols == p)) || (given.rows == p && given.cols == p))
        return PN_OK;
    return pn_fail(
        err, PN_EDIM,
        "solve.mirror_descent: covariance is %zu x %zu; it must be one number, a row of %zu variances, or %zu x %zu",
        given.rows, given.cols, p, p, p);
}

/* root[i] = sqrt of a variance; *largest = sqrt(lambda_max). */
static pn_status root_of_variances(double *root, const double *variance, size_t count, double *largest, pn_err *err)
{
    *largest = 0.0;
    for (size_t j = 0; j < count; j++) {
        if (!(variance[j] >= 0.0))
            return pn_fail(err, PN_EINVAL, "solve.mirror_descent: a variance must be >= 0, got %g at entry %zu",
                           variance[j], j + 1);
        root[j] = sqrt(variance[j]);
        *largest = fmax(*largest, root[j]);
    }
    return PN_OK;
}

static pn_status root_of_matrix(double *root, pn_mat A, double *largest, pn_err *err)
{
    double norm, off;

    PN_TRY(pn_psd_root(root, A, &norm, &off, err));
    if (off > 1e-9 * norm)
        return pn_fail(err, PN_EINVAL,
                       "solve.mirror_descent: covariance must be symmetric and positive semidefinite; it is off by %g",
                       off);
    *largest = sqrt(norm);
    return PN_OK;
}

static pn_status read_noise(problem *at, const pn_arg *own, pn_err *err)
{
    const pn_arg *given = &own[MD_COVARIANCE];
    md_plan *plan = at->plan;
    pn_mat A = given->matrix;
    pn_status status;

    if (own[MD_ORACLE].given && !given->given)
        return pn_fail(
            err, PN_EINVAL,
            "solve.mirror_descent: an oracle needs noise.covariance beside it: the covariance of its samples, or one "
            "number above its largest eigenvalue");
    if (own[MD_ORACLE].given)
        plan->oracle = *(const pn_gradient_oracle *)own[MD_ORACLE].object;
    if (own[MD_ORACLE].given && plan->noise.scheme)
        return pn_fail(
            err, PN_EINVAL,
            "solve.mirror_descent: batch= is of the records, which noise.oracle does not ask; leave one out");
    if (!given->given)
        return PN_OK;
    if ((status = check_covariance(at, A, err)) != PN_OK)
        return status;
    plan->root_count = A.rows * A.cols;
    plan->root = pn_alloc(plan->root_count, sizeof(double));
    plan->base.draws = true;
    PN_TRY(pn_made(plan->root, err, "solve.mirror_descent: out of memory"));
    return A.rows == 1 ? root_of_variances(plan->root, A.data, A.cols, &at->root, err)
                       : root_of_matrix(plan->root, A, &at->root, err);
}

/* ---- steps and risk ---- */

/* Why there is no bound on the excess risk, or NULL. */
static const char *no_bound(const problem *at, bool start_given, bool step_given)
{
    if (at->plan->noise.scheme)
        return PN_BATCH_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED && !at->bounds->convex)
        return "clipped gradients are not those of a convex function";
    if (!at->bounds->convex)
        return "f is not convex, or not shown to be";
    if (!isfinite(at->L) || !isfinite(at->geometry.regular))
        return "the gradients are not bounded";
    if (!isfinite(at->geometry.D2))
        return "the range of the potential over the set is not known";
    if (start_given)
        return "it holds for the potential's own starting point";
    return step_given ? "the step size is given" : NULL;
}

/* sqrt(2 D2 / (T M^2)) in units of the potential, whose strong convexity is not 1.  Where M or D2 is 0 every step is as
 * good; the second: a set of one point, or as small. */
static double default_step(const problem *at)
{
    double T = (double)at->plan->base.iterations;

    if (at->M == 0.0 || at->geometry.D2 == 0.0)
        return 1.0;
    return at->plan->space.potential->strong_convexity * sqrt(2.0 * at->geometry.D2 / (T * at->M * at->M));
}

/* (ii) of the schedules: eta_t = 2 / (Delta (t+1)) with weight t; else a constant step and equal weights. */
static pn_status choose_step(problem *at, const pn_arg *own, pn_err *err)
{
    md_plan *plan = at->plan;
    const pn_arg *convex = &own[MD_STRONGLY_CONVEX], *step = &own[MD_STEP];
    double T = (double)plan->base.iterations;

    at->M = at->L * at->geometry.R + at->geometry.regular + at->noise * sqrt(at->geometry.G2R2);
    if (step->given && convex->given)
        return pn_fail(err, PN_EINVAL, "solve.mirror_descent: strongly_convex sets the steps; leave step out");
    if (convex->given) {
        plan->step = (pn_schedule){ .law = PN_STEP_HARMONIC, .eta = convex->real };
        at->bound = 2.0 * at->M * at->M / (plan->space.potential->strong_convexity * convex->real * (T + 1.0));
        return PN_OK;
    }
    at->bound = at->M * sqrt(2.0 * at->geometry.D2 / T);
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &md_params[MD_STEP], step, err));
    plan->step.eta = step->given ? pn_step_number(&plan->step, step) : default_step(at);
    if (!isfinite(plan->step.eta) || !(plan->step.eta > 0.0))
        return pn_fail(err, PN_EINVAL, "solve.mirror_descent: no step size follows from what is known (%s); give step=",
                       isfinite(at->L)
                           ? "the range of the potential over the set is not bounded"
                           : "the gradients are not bounded: give clip= to pn.objective, or " PN_HOW_TO_BOUND_ROWS);
    return PN_OK;
}

/* ---- explanation ---- */

static void explain_lipschitz(problem *at)
{
    pn_plan *plan = &at->plan->base;

    pn_plan_add(plan, "records n", at->n, "public");
    if (at->bounds->source == PN_BOUND_CLIPPED)
        pn_plan_add(plan, "Lipschitz L", at->L,
                    "clip: each record's gradient is scaled down to that l2 norm, enforced");
    else if (isfinite(at->L))
        pn_plan_add(plan, "Lipschitz L", at->L, "max l2 norm of a record's gradient, certified");
    else
        pn_plan_add_text(plan, "Lipschitz L", "unbounded", "%.180s", at->bounds->missing);
}

static void explain_steps(problem *at, const pn_arg *common, const pn_arg *own)
{
    pn_plan *plan = &at->plan->base;
    bool given = common[PN_OPT_ITERATIONS].given;
    bool capped = !given && plan->iterations == pn_planned_steps_max(at->objective, &at->plan->noise);
    const char *rule = given                                 ? "as given"
                       : capped                              ? "capped: about 4 s of work"
                       : plan->request.kind == PN_NONPRIVATE ? "the default"
                                                             : "where L R = sigma sqrt(G^2 + R^2)";

    pn_plan_add(plan, "steps T", (double)plan->iterations, "%s", rule);
    if (at->root > 0.0)
        pn_plan_add(plan, "noise root", at->root, "square root of the largest eigenvalue of the covariance");
    pn_plan_add(plan, "size M", at->M, "L R + noise sqrt(G^2 + R^2)%s: bounds the gradients in the dual norm",
                at->geometry.regular > 0.0 ? " + |r'|" : "");
    if (at->plan->step.law == PN_STEP_HARMONIC)
        pn_plan_add(plan, "first step eta", 1.0 / at->plan->step.eta, "2 / (Delta (t + 1)), iterate t weighs t");
    else
        pn_schedule_explain(&at->plan->step, plan, "step eta", at->plan->step.eta, "%s",
                            own[MD_STEP].given ? "as given" : "sqrt(2 D2 / (T M^2))");
}

static void explain_bound(problem *at, const char *none)
{
    pn_plan *plan = &at->plan->base;

    if (at->plan->noise.scheme && isfinite(at->bound)) /* what it would be of all records: to compare by */
        plan->predicted = at->bound;
    (void)pn_plan_bounds(plan, at->bound, none, "%s",
                         at->plan->step.law == PN_STEP_HARMONIC
                             ? "2 M^2 / (Delta (T + 1)), expected; strong convexity as declared"
                             : "M sqrt(2 D2 / T), expected over the noise; Theorem 3.2");
    if (at->root > 0.0)
        pn_plan_warn(plan, "this noise is not private: no lattice, no ledger, no guarantee");
}

/* ---- the plan ---- */

pn_status md_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    md_plan *plan = (md_plan *)base;
    problem *at = &(problem){ .plan = plan,
                              .objective = base->objective,
                              .set = pn_objective_set(base->objective),
                              .bounds = pn_objective_bounds(base->objective),
                              .n = (double)pn_objective_data(base->objective)->n };

    PN_TRY(pn_plan_need_bounded_set(base, err));
    PN_TRY(pn_gradient_noise_batch(&plan->noise, base, common, &own[MD_BATCH], err));
    PN_TRY(choose_geometry(at, common, own, err));
    PN_TRY(read_noise(at, own, err));
    at->L = plan->noise.lipschitz;
    explain_lipschitz(at);
    pn_mirror_geometry_explain(&at->geometry, base);
    PN_TRY(pn_gradient_noise_attach(base, &plan->noise, common, err));
    at->noise = hypot(at->root, pn_gradient_noise_deviation(&plan->noise));
    PN_TRY(choose_step(at, own, err));
    explain_steps(at, common, own);
    explain_bound(at, no_bound(at, common[PN_OPT_START].given, own[MD_STEP].given));
    return PN_OK;
}
