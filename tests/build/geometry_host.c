/* geometry_host.c -- what a program that embeds the library does: a set and a potential of its own for private mirror
 * descent, a composed set for objective perturbation.  Depends on: the installed headers only.
 * Used by: install_spec.lua. */
#include <math.h>
#include <penumbra.h>
#include <stdio.h>

enum { P = 6 };

/* The l2 ball of radius 2, by its two functions. */
static pn_status ball_support(void *self, const double *g, size_t n, double *point, pn_err *err)
{
    double norm = 0.0;

    (void)self, (void)err;
    for (size_t j = 0; j < n; j++)
        norm += g[j] * g[j];
    for (size_t j = 0; j < n; j++)
        point[j] = norm > 0.0 ? 2.0 * g[j] / sqrt(norm) : 0.0;
    return PN_OK;
}

static pn_status ball_project(void *self, double *x, size_t n, pn_err *err)
{
    double norm = 0.0;

    (void)self, (void)err;
    for (size_t j = 0; j < n; j++)
        norm += x[j] * x[j];
    for (size_t j = 0; norm > 4.0 && j < n; j++)
        x[j] *= 2.0 / sqrt(norm);
    return PN_OK;
}

/* ||x||_2^2, which is 2-strongly convex in the l2 norm. */
static pn_status square(void *self, const double *x, size_t n, double *value, pn_err *err)
{
    (void)self, (void)err;
    *value = 0.0;
    for (size_t j = 0; j < n; j++)
        *value += x[j] * x[j];
    return PN_OK;
}

static pn_status twice(void *self, const double *x, size_t n, double *out, pn_err *err)
{
    (void)self, (void)err;
    for (size_t j = 0; j < n; j++)
        out[j] = 2.0 * x[j];
    return PN_OK;
}

static pn_status make_data(pn_dataset **data, pn_err *err)
{
    pn_synthetic_options how = { .n = 2000, .p = P, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    return status;
}

static pn_status make_own_set(pn_set **set, pn_err *err)
{
    pn_custom_set ball = {
        .dim = P, .radius = 2.0, .name = "my_ball", .symmetric = true, .support = ball_support, .project = ball_project
    };

    return pn_set_custom(set, &ball, err);
}

/* The l1 ball of radius 2, shifted by 0.1 in every coordinate. */
static pn_status make_composed_set(pn_set **set, pn_err *err)
{
    static const double shift[P] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
    pn_options *options = NULL;
    pn_set *ball = NULL;
    pn_status status = pn_options_new(&options, err);

    if (status == PN_OK) {
        pn_options_count(options, "dim", P);
        pn_options_set(options, "radius", "2");
        status = pn_set_new(&ball, "l1_ball", options, err);
    }
    if (status == PN_OK)
        status = pn_set_shift(set, ball, shift, P, err);
    pn_set_free(ball); /* the shifted set keeps it */
    pn_options_free(options);
    return status;
}

static pn_status solve(const char *solver, pn_objective *objective, const pn_potential *potential, pn_task *task,
                       pn_err *err)
{
    pn_options *options = NULL;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_status status = pn_options_new(&options, err);

    if (status != PN_OK)
        return status;
    pn_options_real(options, "epsilon", 1.0);
    pn_options_set(options, "delta", "1e-6");
    if (potential) {
        pn_options_object(options, "potential", "pn.potential", potential);
        pn_options_real(options, "step", 0.01); /* its range is not known */
        pn_options_count(options, "iterations", 50);
    }
    status = pn_plan_new(&plan, solver, objective, NULL, options, task, err);
    pn_options_free(options);
    if (status == PN_OK)
        status = pn_plan_run(&fit, plan, &(pn_run_options){ .task = task }, err);
    if (status == PN_OK)
        printf("%s: %s in %zu of %zu steps, epsilon <= 1: %d\n", pn_plan_solver(plan),
               pn_fit_is_private(fit) ? "private" : "open", pn_fit_steps(fit), pn_plan_iterations(plan),
               pn_fit_epsilon(fit) <= 1.0);
    pn_fit_free(fit);
    pn_plan_free(plan);
    return status;
}

static pn_status make_own_potential(pn_potential **potential, pn_err *err)
{
    pn_custom_potential parts = { .dim = P, .strong_convexity = 2.0, .value = square, .gradient = twice };
    pn_status status = pn_norm_new(&parts.norm, "l2", NULL, err);

    if (status == PN_OK)
        status = pn_potential_custom(potential, &parts, err);
    pn_norm_free(parts.norm);
    return status;
}

static pn_status print_width(const pn_set *set, pn_task *task, pn_err *err)
{
    pn_width width;
    pn_status status = pn_set_width(set, &(pn_width_options){ .tolerance = 0.1, .task = task }, &width, err);

    if (status == PN_OK) /* 2 E ||b||_2 = 2 sqrt(2) Gamma(3.5) / Gamma(3) */
        printf("width of 4.70 in [%d, %d]\n", width.low <= 4.70, width.high >= 4.70);
    return status;
}

int main(void)
{
    pn_task *task = NULL;
    pn_dataset *data = NULL;
    pn_loss *loss = NULL;
    pn_objective_parts parts = { 0 };
    pn_potential *potential = NULL;
    pn_objective *own = NULL, *composed = NULL;
    pn_set *own_set = NULL, *composed_set = NULL;
    pn_err err;
    bool fine = pn_task_new(&task, 2, &err) == PN_OK && make_data(&data, &err) == PN_OK &&
                pn_loss_new(&loss, "logistic", NULL, &err) == PN_OK && make_own_set(&own_set, &err) == PN_OK &&
                make_composed_set(&composed_set, &err) == PN_OK && make_own_potential(&potential, &err) == PN_OK;

    parts = (pn_objective_parts){ .data = data, .loss = loss, .set = own_set };
    fine = fine && pn_objective_new(&own, &parts, &err) == PN_OK;
    parts.set = composed_set;
    fine = fine && pn_objective_new(&composed, &parts, &err) == PN_OK && print_width(own_set, task, &err) == PN_OK &&
           solve("mirror_descent", own, NULL, task, &err) == PN_OK &&
           solve("mirror_descent", own, potential, task, &err) == PN_OK &&
           solve("objective_perturbation", composed, NULL, task, &err) == PN_OK;
    if (!fine)
        fprintf(stderr, "%s\n", err.message);
    pn_objective_free(own);
    pn_objective_free(composed);
    pn_potential_free(potential);
    pn_set_free(own_set);
    pn_set_free(composed_set);
    pn_loss_free(loss);
    pn_dataset_free(data);
    pn_task_free(task);
    return fine ? 0 : 1;
}
