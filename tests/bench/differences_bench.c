/* differences_bench.c -- differences of a loss along as many directions as theta has entries, one thread: against the
 * product of matrices that their margins are, and against evaluating the loss at every point;
 * and a smoothed gradient of one record. */
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/blas_threads.h"
#include "numeric/simd/simd.h"
#include "objective/measures/smoothed.h"

#define SMOOTHED_LIMIT 2.0

typedef struct world {
    size_t n, p;
    pn_dataset *data;
    pn_loss *loss;
    pn_objective *objective;
    double *theta, *directions, *turned, *margins, *out;
    size_t *rows;
    pn_address_key key;
    pn_rng *rng;
    pn_smoothing how;
} world;

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "differences_bench: %s\n", err.message);
        exit(1);
    }
}

static void differences(void *context)
{
    world *self = context;

    must(pn_objective_differences(self->objective, NULL, self->theta, self->directions, self->p, 0.1, self->out, NULL,
                                  &err));
}

static void product(void *context)
{
    world *self = context;
    bool alone = pn_blas_alone(0);

    pn_mat_transpose(self->turned, (pn_mat){ self->directions, self->p, self->p });
    must(pn_mat_times_mat((pn_mat){ self->margins, self->n, self->p }, (pn_mat){ self->data->dense, self->n, self->p },
                          (pn_mat){ self->turned, self->p, self->p }, &err));
    pn_blas_alone_end(alone);
}

/* Both sides of every direction. */
static void one_by_one(void *context)
{
    world *self = context;

    for (size_t k = 0; k < 2 * self->p; k++)
        must(pn_objective_losses(self->objective, NULL, self->directions + k / 2 * self->p, self->out, NULL, NULL,
                                 &err));
}

static void smoothed(void *context)
{
    world *self = context;
    pn_smoothed_call call = { .rows = self->rows, .count = self->n, .key = &self->key };

    must(pn_smoothed_gradient(self->objective, &self->how, &call, self->theta, self->out, NULL, &err));
}

static void open_world(world *self, const char *loss, size_t n, size_t p)
{
    double *x = pn_alloc(n * p, sizeof *x), *y = pn_alloc(n, sizeof *y);
    const pn_objective_parts *parts;
    pn_arg args[8] = { { .given = false } };

    memset(self, 0, sizeof *self);
    self->n = n;
    self->p = p;
    must(pn_rng_seeded(&self->rng, 1, &err));
    pn_rng_many_normals(self->rng, n * p, x);
    for (size_t i = 0; i < n; i++)
        y[i] = i % 2 ? 1.0 : -1.0;
    must(pn_dataset_from_dense(&self->data, x, n, p, y, "made", &err));
    must(pn_loss_from_args(&self->loss, loss, args, &err));
    parts = &(pn_objective_parts){ .data = self->data, .loss = self->loss };
    must(pn_objective_new(&self->objective, parts, &err));
    self->theta = pn_calloc(p, sizeof(double));
    self->directions = pn_alloc(p * p, sizeof(double));
    self->turned = pn_alloc(p * p, sizeof(double));
    self->margins = pn_alloc(n * p, sizeof(double));
    self->out = pn_alloc(p, sizeof(double));
    self->rows = pn_alloc(n, sizeof(size_t));
    for (size_t i = 0; i < n; i++)
        self->rows[i] = i;
    pn_rng_many_normals(self->rng, p * p, self->directions);
    pn_address_key_draw(&self->key, self->rng);
    pn_free(x);
    pn_free(y);
}

static void close_world(world *self)
{
    pn_rng_free(self->rng);
    pn_objective_free(self->objective);
    pn_loss_free(self->loss);
    pn_dataset_free(self->data);
    pn_free(self->theta);
    pn_free(self->directions);
    pn_free(self->turned);
    pn_free(self->margins);
    pn_free(self->out);
    pn_free(self->rows);
}

static int run_differences(const char *loss, size_t n, size_t p, int runs, double limit, double alone)
{
    char name[64];
    world self;
    int over = 0;

    open_world(&self, loss, n, p);
    (void)snprintf(name, sizeof name, "%s, n = %zu: differences / product", loss, n);
    over += bench_line_busy(name, differences, &self, product, &self, runs, limit);
    (void)snprintf(name, sizeof name, "%s, n = %zu: differences / one by one", loss, n);
    over += bench_line_busy(name, differences, &self, one_by_one, &self, 1, alone);
    close_world(&self);
    return over;
}

/* d - 1 reflections, each of which waits for the result of the one before. */
static void reflect(const pn_simd *simd, size_t p, const double *h, double *w)
{
    for (size_t k = 0; k + 1 < p; h += p - k, k++) {
        double along;

        simd->dense_times(h, 1, p - k, w + k, &along);
        along *= -1e-3;
        simd->dense_add_transposed(h, 1, p - k, &along, w + k);
    }
}

/* What a record's directions cannot do without: its normal numbers, and two products with d x d numbers, of which
 * orthogonal ones are chains of reflections. */
static void least_work(void *context)
{
    world *self = context;
    const bool orthogonal = self->how.directions == PN_DIRECTIONS_ORTHOGONAL;
    const size_t p = self->p, rows = self->how.directions == PN_DIRECTIONS_ONE ? 1 : p;
    const pn_simd *simd = pn_simd_best();

    for (size_t i = 0; i < self->n; i++) {
        pn_rng_many_normals(self->rng, orthogonal ? p * (p + 1) / 2 : rows * p, self->turned);
        if (orthogonal) {
            reflect(simd, p, self->turned, self->margins);
            reflect(simd, p, self->turned, self->out);
            continue;
        }
        simd->dense_times(self->directions, rows, p, self->theta, self->margins);
        simd->dense_add_transposed(self->directions, rows, p, self->margins, self->out);
    }
}

static int run_smoothed(pn_directions directions, size_t p, size_t n)
{
    char name[64];
    world self;
    int over;

    open_world(&self, "logistic", n, p);
    self.how = (pn_smoothing){ .directions = directions, .radius = 0.1, .lipschitz = 1.0 };
    (void)snprintf(name, sizeof name, "smoothed gradient, %s, p = %zu", pn_directions_names[directions], p);
    over = bench_line_busy(name, smoothed, &self, least_work, &self, 7, SMOOTHED_LIMIT);
    close_world(&self);
    return over;
}

int main(void)
{
    static const size_t dims[] = { 10, 54, 200 };
    int over = run_differences("hinge", 2000, 1000, 9, 1.3, 0.0); /* in the last cache: the product alone is a tenth */

    over += run_differences("logistic", 2000, 1000, 9, 1.3, 0.0); /* two logarithms a pair beside the product */
    over += run_differences("hinge", 8000, 1000, 3, 1.3, 0.1);    /* beyond the last cache, as data are */
    over += run_differences("logistic", 8000, 1000, 3, 1.3, 0.1);
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        over += run_smoothed(PN_DIRECTIONS_ORTHOGONAL, dims[k], 20000 / dims[k]);
        over += run_smoothed(PN_DIRECTIONS_IID, dims[k], 20000 / dims[k]);
        over += run_smoothed(PN_DIRECTIONS_ONE, dims[k], 20000 / dims[k]);
    }
    return over > 0;
}
