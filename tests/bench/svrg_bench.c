/* svrg_bench.c -- inner steps of svrg: passes over the coordinates on dense rows, the share of the noise in default
 * runs, and the cost of lazy steps on sparse data whatever the dimension.  One thread;
 * random values: the time depends on the shape.
 *
 * A private step with b = 1 is four loops over the p coordinates beside the noise: the margin, the weighted row, the
 * check of the bound that the price rests on, and the step itself with operator, average and distance
 * (averaged_step.c).  What they take is given in units of the least that a loop can do: x[j] = c x[j] on a vector that
 * the second-level cache holds. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "random/noise.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"
#include "solvers/variance_reduced/svrg.h"

#define RUNS         9
#define SPARSE_RUNS  3
#define SPARSE_STEPS 600000 /* all coordinates are brought up to date a few times on the way */

static pn_err err;

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    pn_plan *plan;
    pn_rng *rng;
    size_t p, calls;
    double *vector;
    int64_t *noise;
} world;

static void must(pn_status status)
{
    if (status == PN_OK)
        return;
    fprintf(stderr, "svrg_bench: %s\n", err.message);
    exit(1);
}

/* ---- worlds ---- */

static unsigned state = 1;

static double next_number(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) * 0x1p-24 - 0.5;
}

static void close_world(world *self)
{
    pn_plan_free(self->plan);
    pn_objective_free(self->objective);
    pn_csr_clear(&self->data.csr);
    pn_free(self->data.dense);
    pn_free(self->data.y);
    pn_free(self->vector);
    pn_free(self->noise);
    pn_rng_free(self->rng);
}

/* entries = 0: dense. */
static void open_world(world *self, size_t n, size_t p, size_t entries, double l1, double l2)
{
    pn_arg weights[4] = { { .given = true, .real = l1 }, { .given = true, .real = l2 } };
    pn_regulariser *reg = NULL;
    pn_loss *loss = NULL;

    *self = (world){ .p = p };
    self->data = (pn_dataset){ .n = n, .p = p, .sparse = entries > 0 };
    self->data.bounds = (pn_record_bounds){
        .norm = { INFINITY, 1.0, 1.0 }, .label_low = -1.0, .label_high = 1.0, .labels_binary = true
    };
    self->data.y = pn_alloc(n, sizeof(double));
    self->vector = pn_calloc(p, sizeof(double));
    self->noise = pn_calloc(p, sizeof(int64_t));
    for (size_t i = 0; i < n; i++)
        self->data.y[i] = next_number() > 0.0 ? 1.0 : -1.0;
    if (entries == 0) {
        self->data.dense = pn_alloc(n, p * sizeof(double));
        for (size_t i = 0; i < n * p; i++)
            self->data.dense[i] = next_number() / sqrt(0.25 * (double)p);
    } else {
        must(pn_csr_init(&self->data.csr, n, p, n * entries, &err));
        for (size_t k = 0; k < n * entries; k++) {
            size_t width = p / entries;

            self->data.csr.column[k] =
                (uint32_t)(k % entries * width + (size_t)((next_number() + 0.5) * (double)width));
            self->data.csr.value[k] = next_number() / sqrt(0.25 * (double)entries);
        }
        for (size_t i = 0; i <= n; i++)
            self->data.csr.start[i] = i * entries;
    }
    must(pn_rng_secure(&self->rng, &err));
    must(pn_loss_from_args(&loss, "logistic", NULL, &err));
    if (l1 > 0.0 || l2 > 0.0)
        must(pn_regulariser_from_args(&reg, "elastic_net", weights, &err));
    must(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss, .reg = reg },
                          &err));
    pn_loss_free(loss);
    pn_regulariser_free(reg);
}

/* epsilon 0: no privacy; inner, batch 0: the defaults. */
static void open_plan(world *self, double epsilon, size_t epochs, size_t inner, size_t batch)
{
    pn_arg common[PN_OPT_COUNT] = { 0 }, own[SVRG_PROX + 2] = { 0 };
    double n = (double)self->data.n;

    common[PN_OPT_EPSILON] = (pn_arg){ .given = epsilon > 0.0, .real = epsilon };
    common[PN_OPT_DELTA] = (pn_arg){ .given = epsilon > 0.0, .real = 1.0 / (n * n) };
    common[PN_OPT_PRIVACY] = (pn_arg){ .given = epsilon == 0.0, .count = 0 };
    own[SVRG_EPOCHS] = (pn_arg){ .given = epochs > 0, .count = epochs };
    own[SVRG_INNER] = (pn_arg){ .given = inner > 0, .count = inner };
    own[SVRG_BATCH] = (pn_arg){ .given = batch > 0, .count = batch };
    pn_plan_free(self->plan);
    self->plan = NULL;
    must(pn_plan_from_args(&self->plan, "svrg", self->objective, NULL, common, own, NULL, &err));
}

/* ---- what is measured ---- */

static void whole_run(void *context)
{
    world *self = context;
    pn_fit *fit = NULL;

    must(pn_plan_run(&fit, self->plan, &(pn_run_options){ .rng = self->rng }, &err));
    pn_fit_free(fit);
}

static void passes(void *context)
{
    world *self = context;

    for (size_t i = 0; i < self->calls; i++) {
        double c = 1.0 + (double)(i & 1) * 0x1p-52;

        for (size_t j = 0; j < self->p; j++)
            self->vector[j] *= c;
        __asm__ volatile("" ::"r"(self->vector) : "memory");
    }
}

static void fills(void *context)
{
    world *self = context;

    for (size_t i = 0; i < self->calls; i++)
        pn_noise_gaussian(self->rng, self->p, self->noise);
}

static double seconds_of(bench_fn fn, world *self, int runs)
{
    double least = 1e300;

    for (int i = 0; i < runs; i++)
        least = bench_least(fn, self, least);
    return least;
}

/* Seconds of one inner step on one record: those of a long epoch less those of a short one,
 * so that the snapshot does not count. */
static double step_seconds(world *self, double epsilon, size_t less, size_t more, int runs)
{
    double first, second;

    open_plan(self, epsilon, 1, less, 1);
    first = seconds_of(whole_run, self, runs);
    open_plan(self, epsilon, 1, more, 1);
    second = seconds_of(whole_run, self, runs);
    return (second - first) / (double)(more - less);
}

static double call_seconds(bench_fn fn, world *self, size_t calls)
{
    self->calls = calls;
    return seconds_of(fn, self, RUNS) / (double)calls;
}

static int print_ratio(const char *name, double seconds, double other, double ratio, double limit)
{
    printf("%-58s %10.3f us / %10.3f us = %6.3f", name, 1e6 * seconds, 1e6 * other, ratio);
    if (limit > 0.0)
        printf("  (limit %.2f)%s", limit, ratio <= limit ? "" : "  OVER");
    printf("\n");
    fflush(stdout);
    return limit > 0.0 && ratio > limit;
}

/* ---- the lines ---- */

/* 40 rows: the third-level cache holds them. */
static int dense_steps(double l1, double l2, const char *name)
{
    char line[80];
    double pass, noise, quiet, noisy;
    world self;
    int over = 0;

    open_world(&self, 40, 10000, 0, l1, l2);
    pass = call_seconds(passes, &self, 2000);
    noise = call_seconds(fills, &self, 200);
    noisy = step_seconds(&self, 1.0, 100, 1100, RUNS);
    quiet = step_seconds(&self, 0.0, 1000, 11000, RUNS);
    (void)snprintf(line, sizeof line, "step without noise, b = 1, p = 1e4, %s / a pass", name);
    over += print_ratio(line, quiet, pass, quiet / pass, 0.0);
    (void)snprintf(line, sizeof line, "private step less its noise, %s / a pass", name);
    over += print_ratio(line, noisy - noise, pass, (noisy - noise) / pass, 0.0);
    (void)snprintf(line, sizeof line, "noise of that step / all of it");
    over += print_ratio(line, noise, noisy, noise / noisy, 0.0);
    close_world(&self);
    return over;
}

/* A default run: noise on every snapshot and every inner step. */
static int default_run(size_t n, double epsilon)
{
    char line[80];
    double noise, all;
    size_t steps;
    world self;
    int over;

    open_world(&self, n, 10000, 0, 0.0, 0.0);
    open_plan(&self, epsilon, 0, 0, 0);
    steps = (size_t)svrg_all_steps(&((svrg_plan *)self.plan)->shape) + ((svrg_plan *)self.plan)->shape.epochs;
    noise = call_seconds(fills, &self, 200) * (double)steps;
    all = bench_least(whole_run, &self, 1e300);
    (void)snprintf(line, sizeof line, "noise / default run, n = %zu, epsilon = %g, b = %zu", n, epsilon,
                   ((svrg_plan *)self.plan)->shape.batch);
    over = print_ratio(line, noise, all, noise / all, 0.5);
    close_world(&self);
    return over;
}

/* Rows of 20 entries. */
static double sparse_step(size_t p, double l1, double l2)
{
    double seconds;
    world self;

    open_world(&self, 50000, p, 20, l1, l2);
    seconds = step_seconds(&self, 0.0, 1, SPARSE_STEPS, SPARSE_RUNS);
    close_world(&self);
    return seconds;
}

static int sparse_steps(void)
{
    static const double sizes[] = { 1e4, 1e5, 1e6 };
    double first[2] = { 0.0, 0.0 };
    int over = 0;

    for (int net = 0; net < 2; net++) {
        for (size_t i = 0; i < 3; i++) {
            char line[80];
            double seconds = sparse_step((size_t)sizes[i], net ? 1e-4 : 0.0, net ? 1e-4 : 0.0);

            first[net] = i == 0 ? seconds : first[net];
            (void)snprintf(line, sizeof line, "lazy step, 20 entries, p = %g, %s / p = 1e4", sizes[i],
                           net ? "elastic net" : "no r");
            over += print_ratio(line, seconds, first[net], seconds / first[net], 0.0);
        }
    }
    return over;
}

int main(void)
{
    int over = 0;

    over += dense_steps(0.0, 0.0, "no r");
    over += dense_steps(1e-4, 1e-4, "elastic net");
    over += sparse_steps();
    over += default_run(2000, 1.0);
    over += default_run(4000, 1.0);
    over += default_run(4000, 4.0);
    return over > 0;
}
