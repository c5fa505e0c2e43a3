/* train.c -- a C program that trains a private model through the C API alone: no Lua.
 *
 *     cc train.c $(pkg-config --cflags --libs penumbra) -o train
 *     ./train                 on made-up records
 *     ./train records.svm     on LIBSVM text, gzip or plain
 *
 * The way of the data: records -> clipped to public bounds -> objective (loss, set) -> plan -> run, which charges a ledger -> model.
 * Every call that can fail returns a pn_status and leaves a message in a pn_err. */
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

/* ---- options by name, as the tables of sets, losses and solvers have them ---- */

#define MOST_OPTIONS 32

static pn_arg *option(const pn_param *table, pn_arg *args, const char *name)
{
    size_t row = pn_param_find(table, name);

    if (row == pn_param_count(table)) { /* a slip of this program, which would go unseen */
        (void)fprintf(stderr, "train: there is no option %s\n", name);
        abort();
    }
    args[row].given = true;
    return &args[row];
}

/* { theta : ||theta||_1 <= 1 } */
static pn_status l1_ball(pn_set **out, size_t dim, pn_err *err)
{
    const pn_param *table = pn_set_find("l1_ball")->params;
    pn_arg args[MOST_OPTIONS] = { { 0 } };

    option(table, args, "dim")->count = dim;
    option(table, args, "radius")->real = 1.0;
    return pn_set_from_args(out, "l1_ball", args, err);
}

/* ---- the parts ---- */

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

/* What no record may exceed is a public promise, which the sensitivity rests on: so records that do are scaled down to it. */
static pn_status load(model *all, const char *path, pn_err *err)
{
    pn_synthetic_options made_up = { .n = 5000, .p = 50, .sparsity = 5, .noise = 0.05, .signal = 1.0, .seed = 1 };
    pn_dataset *raw = NULL, *clipped = NULL;
    pn_status status =
        path ? pn_load_libsvm(&raw, path, NULL, all->task, err) : pn_synthetic_lasso(&raw, &made_up, NULL, err);

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
    pn_arg no_options[MOST_OPTIONS] = { { 0 } };
    pn_status status = pn_task_new(&all->task, 1, err); /* 0 threads: one per processor */

    if (status == PN_OK) {
        pn_task_listen(all->task, show_progress, NULL);
        status = load(all, path, err);
    }
    if (status == PN_OK)
        status = pn_loss_from_args(&all->loss, "squared", no_options, err);
    if (status == PN_OK)
        status = l1_ball(&all->set, all->data->p, err);
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

/* Planning spends nothing: it finds the noise, the steps and what they cost.  The run charges the ledger before it releases. */
static pn_status train(model *all, pn_err *err)
{
    const pn_solver_ops *solver = pn_solver_find("frank_wolfe");
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[MOST_OPTIONS] = { { 0 } };
    pn_run_options options = { .ledger = all->ledger, .task = all->task };
    char text[4096];
    pn_status status;

    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 0.8 };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 5e-7 };
    status = pn_plan_from_args(&all->plan, solver->name, all->objective, all->ledger, common, own, all->task, err);
    if (status != PN_OK)
        return status;
    (void)pn_plan_print(all->plan, text, sizeof text);
    (void)printf("%s\n", text);
    return pn_run(&all->fit, all->plan, &options, err);
}

static void report(const model *all)
{
    const pn_fit *fit = all->fit;

    (void)printf("model of %zu steps%s%s:\n", fit->steps, fit->stopped ? ", ended by: " : "",
                 fit->stopped ? fit->stopped : "");
    for (size_t j = 0; j < fit->p; j++)
        if (fabs(fit->theta[j]) > 0.05)
            (void)printf("  theta[%zu] = %+.3f\n", j + 1, fit->theta[j]);
    if (fit->is_private && fit->proven && !fit->simulated)
        (void)printf("(%.3g, %.1g)-differentially private, neighbours: %s\n", fit->epsilon, fit->delta,
                     pn_neighbours_names[fit->neighbours]);
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

    pn_set_allocator(&allocator); /* before the first object */
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
