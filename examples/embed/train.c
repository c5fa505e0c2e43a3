/* train.c -- a C program that trains a private model through the C API alone: no Lua.
 *
 *     cc train.c $(pkg-config --cflags --libs penumbra) -o train
 *     ./train                 on made-up records
 *     ./train records.svm     on LIBSVM text, gzip or plain
 *
 * The way of the data: records -> clipped to public bounds -> objective (loss, set) -> plan -> run, which charges a
 * ledger -> model.  Every call that can fail returns a pn_status and leaves a message in a pn_err. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <penumbra.h>

/* ---- an allocator of the program's own: all of the library's memory comes through it ---- */

typedef struct counter {
    long blocks; /* this program works on one thread; with more, count atomically */
} counter;

static void *take(void *self, size_t bytes)
{
    ((counter *)self)->blocks++;
    return malloc(bytes);
}

static void *change(void *self, void *block, size_t bytes)
{
    (void)self;
    return realloc(block, bytes);
}

static void give_back(void *self, void *block)
{
    ((counter *)self)->blocks--;
    free(block);
}

/* ---- the parts ---- */

/* { theta : ||theta||_1 <= 1 } */
static pn_status l1_ball(pn_set **out, size_t dim, pn_err *err)
{
    pn_options *options;
    pn_status status = pn_options_new(&options, err);

    if (status != PN_OK)
        return status;
    pn_options_count(options, "dim", dim);
    pn_options_real(options, "radius", 1.0); /* or as text: pn_options_set(options, "radius", "1") */
    status = pn_set_new(out, "l1_ball", options, err);
    pn_options_free(options);
    return status;
}

typedef struct model {
    pn_dataset *data;
    pn_loss *loss;
    pn_set *set;
    pn_objective *objective;
    pn_ledger *ledger;
    pn_task *task;
    pn_plan *plan;
    pn_fit *fit;
} model;

static void forget(model *all)
{
    pn_fit_free(all->fit);
    pn_plan_free(all->plan);
    pn_task_free(all->task);
    pn_ledger_free(all->ledger);
    pn_objective_free(all->objective);
    pn_set_free(all->set);
    pn_loss_free(all->loss);
    pn_dataset_free(all->data);
}

/* Told now and then how far a long call is; anything but PN_OK would stop it. */
static pn_status show_progress(void *self, const pn_progress *progress, pn_err *err)
{
    (void)self;
    (void)err;
    if (progress->total > 0.0)
        (void)fprintf(stderr, "%s: %.0f%%\n", progress->label, 100.0 * progress->done / progress->total);
    return PN_OK;
}

/* What no record may exceed is a public promise, which the sensitivity rests on: so records that do are scaled down to
 * it. */
static pn_status load(model *all, const char *path, pn_err *err)
{
    pn_synthetic_options made_up = { .n = 5000, .p = 50, .sparsity = 5, .noise = 0.05, .signal = 1.0, .seed = 1 };
    pn_dataset *raw = NULL, *clipped = NULL;
    pn_status status = path ? pn_dataset_load_libsvm(&raw, path, NULL, all->task, err)
                            : pn_dataset_synthetic_lasso(&raw, &made_up, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(&clipped, raw, PN_LINF, 1.0, err);
    if (status == PN_OK)
        status = pn_dataset_clip_labels(&all->data, clipped, -1.0, 1.0, err);
    pn_dataset_free(raw);
    pn_dataset_free(clipped);
    return status;
}

static pn_status set_up(model *all, const char *path, pn_err *err)
{
    const pn_budget budget = { .epsilon = 1.0, .delta = 1e-6, .rho = NAN };
    pn_objective_parts parts = { 0 };
    pn_status status = pn_task_new(&all->task, 1, err); /* 0 threads: one per processor */

    if (status == PN_OK) {
        pn_task_listen(all->task, show_progress, NULL);
        status = load(all, path, err);
    }
    if (status == PN_OK)
        status = pn_loss_new(&all->loss, "squared", NULL, err);
    if (status == PN_OK)
        status = l1_ball(&all->set, pn_dataset_features(all->data), err);
    if (status != PN_OK)
        return status;
    parts.data = all->data;
    parts.loss = all->loss;
    parts.set = all->set;
    status = pn_objective_new(&all->objective, &parts, err);
    if (status == PN_OK)
        status = pn_ledger_new(&all->ledger, &budget, err);
    return status;
}

/* Planning spends nothing: it finds the noise, the steps and what they cost.
 * The run charges the ledger before it releases. */
static pn_status train(model *all, pn_err *err)
{
    pn_run_options run = { .ledger = all->ledger, .task = all->task };
    pn_options *options;
    char text[4096];
    pn_status status = pn_options_new(&options, err);

    if (status != PN_OK)
        return status;
    pn_options_real(options, "epsilon", 0.8);
    pn_options_real(options, "delta", 5e-7);
    status = pn_plan_new(&all->plan, "frank_wolfe", all->objective, all->ledger, options, all->task, err);
    pn_options_free(options);
    if (status != PN_OK)
        return status;
    (void)pn_plan_describe(all->plan, text, sizeof text);
    (void)printf("%s\n", text);
    return pn_plan_run(&all->fit, all->plan, &run, err);
}

static void report(const model *all)
{
    const pn_fit *fit = all->fit;
    const double *theta = pn_fit_theta(fit);

    (void)printf("model of %zu steps%s%s:\n", pn_fit_steps(fit), pn_fit_stopped(fit) ? ", ended by: " : "",
                 pn_fit_stopped(fit) ? pn_fit_stopped(fit) : "");
    for (size_t j = 0; j < pn_fit_dim(fit); j++)
        if (fabs(theta[j]) > 0.05)
            (void)printf("  theta[%zu] = %+.3f\n", j + 1, theta[j]);
    if (pn_fit_is_private(fit))
        (void)printf("(%.3g, %.1g)-differentially private, neighbours: %s\n", pn_fit_epsilon(fit), pn_fit_delta(fit),
                     pn_neighbours_name(pn_fit_neighbours(fit)));
    else
        (void)printf("no privacy is guaranteed\n");
    (void)printf("budget: epsilon %.3g of %.3g spent\n", pn_ledger_spent(all->ledger),
                 pn_ledger_budget(all->ledger)->epsilon);
}

int main(int argc, char **argv)
{
    counter count = { 0 };
    pn_allocator allocator = { take, change, give_back, &count };
    model all = { 0 };
    pn_err err;
    pn_status status;

    pn_allocator_set(&allocator); /* before the first object */
    status = set_up(&all, argc > 1 ? argv[1] : NULL, &err);
    if (status == PN_OK)
        status = train(&all, &err);
    if (status == PN_OK)
        report(&all);
    else
        (void)fprintf(stderr, "train: %s: %s\n", pn_status_name(status), err.message);
    forget(&all);
    (void)printf("blocks left: %ld\n", count.blocks);
    return status == PN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
