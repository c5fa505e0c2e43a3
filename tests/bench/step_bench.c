/* step_bench.c -- a private Frank-Wolfe step on sparse records over an l1 ball, beside one streaming pass over p
 * doubles (their sum): of a logistic loss, whose gradient is computed anew, on almost no records (64 of one entry),
 * so that what is measured is the choice, and on n records of 75 entries; and of the squared loss, whose gradient is
 * kept, on those.  "Plain" draws for each vertex (selection="laplace") and computes the gradient anew.
 *
 *     build/tests/bench/step_bench                       synthetic records
 *     build/tests/bench/step_bench 1e7                   of so many features
 *     build/tests/bench/step_bench news20.libsvm.gz ...  LIBSVM files
 *
 * A feature of the n records is popular with a chance that falls like 1/its number.  Means over the steps of a run,
 * without its first eight, their median and the largest; the processor's time. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "geometry/sets/sets.h"
#include "random/rng.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

#define SKIPPED 8

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "step_bench: %s\n", err.message);
        exit(1);
    }
}

/* ---- records ---- */

static pn_dataset *bounded(pn_dataset *raw)
{
    pn_dataset *rows = NULL, *out = NULL;

    must(pn_dataset_clip_rows(&rows, raw, PN_LINF, 1.0, &err));
    must(pn_dataset_clip_labels(&out, rows, -1.0, 1.0, &err));
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    return out;
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Columns of a record rise, and some are twice the same: these are made one. */
static size_t draw_record(pn_rng *rng, uint32_t *column, size_t each, size_t p)
{
    size_t kept = 0;

    for (size_t k = 0; k < each; k++) {
        double place = k % 2 ? pow((double)p, pn_rng_uniform(rng)) - 1.0 : (double)p * pn_rng_uniform(rng);

        column[k] = (uint32_t)fmin(place, (double)p - 1.0);
    }
    qsort(column, each, sizeof *column, by_size);
    for (size_t k = 0; k < each; k++) {
        if (k == 0 || column[k] != column[k - 1])
            column[kept++] = column[k];
    }
    return kept;
}

static pn_dataset *bag(size_t n, size_t p, size_t each)
{
    pn_dataset *out = NULL;
    pn_csr X = { 0 };
    double *y = pn_calloc(n, sizeof *y);
    pn_rng *rng = NULL;

    must(pn_rng_seeded(&rng, 1, &err));
    must(pn_csr_init(&X, n, p, n * each, &err));
    for (size_t i = 0; i < n; i++) {
        X.start[i + 1] = X.start[i] + draw_record(rng, X.column + X.start[i], each, p);
        for (size_t e = X.start[i]; e < X.start[i + 1]; e++)
            X.value[e] = 1.0;
        y[i] = pn_rng_uniform(rng) < 0.5 ? -1.0 : 1.0;
    }
    must(pn_dataset_from_csr(&out, &X, y, "bag", &err));
    pn_csr_clear(&X);
    pn_free(y);
    pn_rng_free(rng);
    return bounded(out);
}

static pn_dataset *file(const char *path)
{
    pn_libsvm_options options = { .storage = PN_STORAGE_SPARSE };
    pn_dataset *out = NULL;

    must(pn_dataset_load_libsvm(&out, path, &options, NULL, &err));
    return bounded(out);
}

/* ---- times ---- */

static double pass_over(size_t p)
{
    double *x = pn_calloc(p, sizeof *x), best = INFINITY;

    for (size_t j = 0; j < p; j++)
        x[j] = 1.0;
    for (int i = 0; i < 9; i++) {
        double begun = bench_busy(), lane[8] = { 0.0 };

        for (size_t j = 0; j + 8 <= p; j += 8) {
            for (size_t k = 0; k < 8; k++)
                lane[k] += x[j + k];
        }
        __asm__ volatile("" : : "r"(lane) : "memory"); /* the sum is wanted */
        best = fmin(best, bench_busy() - begun);
    }
    pn_free(x);
    return best;
}

enum { EXACT, LINEARISED, STALE, PLAIN }; /* `gradient`, and what is beside it */

static void time_run(const pn_dataset *data, const char *name, const char *loss_name, size_t gradient, size_t steps)
{
    static const char *const gradients[] = { "exact", "linearised", "stale", "exact" };
    static const char *const marks[] = { "", ", lin.", ", stale", ", plain" };
    char title[24];
    pn_arg set_args[3] = { { .given = true, .count = data->p }, { .given = true, .real = 1.0 }, { 0 } };
    pn_arg common[PN_OPT_COUNT] = { 0 }, own[8] = { 0 };
    pn_run_options run = { 0 };
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_loss *loss = NULL;
    pn_set *set = NULL;
    double sum = 0.0, opened, pass = pass_over(data->p), *times = pn_calloc(steps, sizeof *times);
    pn_trace_row row;
    bool done;

    must(pn_loss_from_args(&loss, loss_name, NULL, &err));
    must(pn_set_from_args(&set, "l1_ball", set_args, &err));
    must(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss, .set = set }, &err));
    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    own[0] = (pn_arg){ .given = gradient == PLAIN, .text = "laplace" };
    own[3] = (pn_arg){ .given = true, .text = gradients[gradient] };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = steps };
    must(pn_plan_from_args(&plan, "frank_wolfe", objective, NULL, common, own, NULL, &err));
    opened = bench_busy();
    must(pn_walk_new(&walk, plan, &run, &err));
    opened = bench_busy() - opened;
    for (size_t t = 0; t < steps; t++) {
        double begun = bench_busy();

        must(pn_walk_step(walk, &row, &done, &err));
        times[t] = bench_busy() - begun;
        sum += t < SKIPPED ? 0.0 : times[t];
    }
    qsort(times + SKIPPED, steps - SKIPPED, sizeof *times, bench_compare);
    (void)snprintf(title, sizeof title, "%s%s", loss_name, marks[gradient]);
    printf("%-20.20s %-15s %9zu %9zu %9.4f %9.4f %9.4f %9.4f %9.1f\n", name, title, data->n, data->p,
           1e3 * sum / (double)(steps - SKIPPED), 1e3 * times[SKIPPED + (steps - SKIPPED) / 2], 1e3 * times[steps - 1],
           1e3 * pass, 1e3 * opened);
    fflush(stdout);
    pn_free(times);
    pn_walk_free(walk);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_set_free(set);
}

static void time_all(const pn_dataset *data, const char *name, size_t passes)
{
    time_run(data, name, "logistic", PLAIN, passes);
    time_run(data, name, "logistic", EXACT, passes);
    time_run(data, name, "logistic", LINEARISED, 400);
    time_run(data, name, "logistic", STALE, 400);
    time_run(data, name, "squared", EXACT, 400);
}

int main(int argc, char **argv)
{
    static const size_t records[] = { 20000, 200000 };
    double only = argc == 2 ? strtod(argv[1], NULL) : 0.0; /* 0: a file */

    printf("%-20s %-15s %9s %9s %9s %9s %9s %9s %9s\n", "records", "loss", "n", "p", "ms a step", "median", "largest",
           "ms a pass", "ms to open");
    for (int i = 1; i < argc && only == 0.0; i++) {
        pn_dataset *data = file(argv[i]);
        const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];

        time_all(data, name, 40);
        pn_dataset_free(data);
    }
    for (size_t p = only > 0.0 ? (size_t)only : 10000; (argc < 2 || only > 0.0) && p <= 10000000; p *= 10) {
        pn_dataset *few = bag(64, p, 1);

        time_run(few, "one entry each", "logistic", PLAIN, 20);
        time_run(few, "one entry each", "logistic", EXACT, 40);
        pn_dataset_free(few);
        for (size_t k = 0; k < 2; k++) {
            pn_dataset *many = bag(records[k], p, 75);

            time_all(many, "75 entries each", 20);
            pn_dataset_free(many);
        }
    }
    return 0;
}
