/* batch_bench.c -- gradients and clipped differences of gradients over small batches, as stochastic solvers take them
 * by the million: nanoseconds per record against a streaming read of as many bytes of the matrix, one thread.
 * Rows are picked at random unless
 * said.  Covertype's shape (581,012 x 54), long rows, and sparse rows; random values: the time depends on the shape. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "objective/passes/objective.h"
#include "random/rng.h"

#define PICKS 200000
#define RUNS  21

static pn_err err;

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    double *theta, *factors, *out;
    size_t *rows; /* [PICKS] */
    size_t count; /* of a batch */
    size_t calls; /* of a run */
    size_t at;    /* in rows */
    double bytes; /* of a record */
    size_t read;  /* bytes of the matrix read by the streaming run so far */
    volatile double sink;
} world;

static void must(pn_status status)
{
    if (status == PN_OK)
        return;
    fprintf(stderr, "batch_bench: %s\n", err.message);
    exit(1);
}

static pn_batch next_batch(world *self)
{
    pn_batch batch;

    if (self->at + self->count > PICKS)
        self->at = 0;
    batch = (pn_batch){ self->rows + self->at, self->count, (double)self->count };
    self->at += self->count;
    return batch;
}

static void gradients(void *context)
{
    world *self = context;

    for (size_t i = 0; i < self->calls; i++) {
        pn_batch batch = next_batch(self);

        must(pn_objective_losses(self->objective, &batch, self->theta, NULL, self->out, NULL, &err));
    }
}

static void differences(void *context)
{
    world *self = context;

    for (size_t i = 0; i < self->calls; i++) {
        pn_batch batch = next_batch(self);

        must(pn_objective_batch_differences(self->objective, &batch, self->theta, self->factors, 0.1, self->out, NULL,
                                            &err));
    }
}

static void record_differences(void *context)
{
    world *self = context;
    double difference;

    for (size_t i = 0; i < self->calls; i++) {
        pn_batch batch = next_batch(self);

        must(pn_objective_record_difference(self->objective, batch.rows[0], self->theta, self->factors, &difference,
                                            &err));
        self->sink += difference;
    }
}

/* As many bytes of the matrix as the records have, one after the other, from where the last run stopped. */
static void streaming_read(void *context)
{
    world *self = context;
    const pn_dataset *data = &self->data;
    const double *x = data->sparse    ? data->csr.value
                      : data->float32 ? (const double *)(void *)data->single
                                      : data->dense;
    size_t all = (data->sparse ? data->csr.start[data->n] * 8 : data->n * (size_t)self->bytes) / 128;
    size_t left = (size_t)((double)(self->calls * self->count) * self->bytes) / 128, at = self->read;
    double sum[16] = { 0 };

    for (; left > 0; left--) {
        for (size_t k = 0; k < 16; k++)
            sum[k] += x[at * 16 + k];
        at = at + 1 < all ? at + 1 : 0;
    }
    self->read = at;
    for (size_t k = 0; k < 16; k++)
        self->sink += sum[k];
}

/* ---- data ---- */

static void fill(world *self, size_t n, size_t p, pn_rng *rng)
{
    memset(self, 0, sizeof *self);
    self->data.n = n;
    self->data.p = p;
    self->data.y = pn_alloc(n, sizeof(double));
    self->theta = pn_calloc(p, sizeof(double));
    self->out = pn_calloc(p, sizeof(double));
    self->factors = pn_calloc(n, sizeof(double));
    self->rows = pn_alloc(PICKS, sizeof(size_t));
    for (size_t i = 0; i < n; i++)
        self->data.y[i] = pn_rng_below(rng, 2) ? 1.0 : -1.0;
    for (size_t j = 0; j < p; j++)
        self->theta[j] = (pn_rng_uniform(rng) - 0.5) / (double)p;
    for (size_t i = 0; i < PICKS; i++)
        self->rows[i] = (size_t)pn_rng_below(rng, n);
    self->data.bounds = (pn_record_bounds){
        .norm = { NAN, sqrt((double)p), 1.0 }, .label_low = -1.0, .label_high = 1.0, .labels_binary = true
    };
}

static void open_objective(world *self, double clip)
{
    pn_loss *loss = NULL;

    must(pn_loss_from_args(&loss, "logistic", NULL, &err));
    must(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss, .clip = clip },
                          &err));
    pn_loss_free(loss);
}

static void close_world(world *self)
{
    pn_free(self->data.dense);
    pn_free(self->data.single);
    pn_csr_clear(&self->data.csr);
    pn_free(self->data.y);
    pn_free(self->theta);
    pn_free(self->factors);
    pn_free(self->out);
    pn_free(self->rows);
}

/* Dense rows of uniform numbers; the same bits read as float32 would be no numbers, so those are made apart. */
static void make_dense(world *self, size_t n, size_t p, bool single, pn_rng *rng)
{
    fill(self, n, p, rng);
    self->data.float32 = single;
    self->bytes = (double)p * (single ? 4.0 : 8.0);
    if (single)
        self->data.single = pn_alloc(n * p, sizeof(float));
    else
        self->data.dense = pn_alloc(n * p, sizeof(double));
    for (size_t i = 0; i < n * p; i++) {
        double x = pn_rng_uniform(rng);

        if (single)
            self->data.single[i] = (float)x;
        else
            self->data.dense[i] = x;
    }
}

/* Bytes of a record are those of its values: the streaming read does not read columns. */
static void make_sparse(world *self, size_t n, size_t p, size_t per_row, pn_rng *rng)
{
    fill(self, n, p, rng);
    self->data.sparse = true;
    self->bytes = (double)per_row * 12.0;
    must(pn_csr_init(&self->data.csr, n, p, n * per_row, &err));
    for (size_t r = 0; r < n; r++) {
        uint32_t column = 0;

        self->data.csr.start[r + 1] = (r + 1) * per_row;
        for (size_t k = 0; k < per_row; k++) {
            column += 1 + (uint32_t)pn_rng_below(rng, p / per_row - 1);
            self->data.csr.column[r * per_row + k] = column;
            self->data.csr.value[r * per_row + k] = pn_rng_uniform(rng);
        }
    }
}

/* ---- lines ---- */

static void line(const char *name, bench_fn fn, world *self, size_t count, size_t calls)
{
    double seconds = 1e300, read = 1e300, records = (double)(count * calls);

    self->count = count;
    self->calls = calls;
    for (int i = 0; i < RUNS; i++) {
        seconds = bench_least(fn, self, seconds);
        read = bench_least(streaming_read, self, read);
    }
    printf("  %-44s %9.1f ns a record, read %8.1f ns: %6.2f\n", name, 1e9 * seconds / records, 1e9 * read / records,
           seconds / read);
    fflush(stdout);
}

static void dense_lines(size_t n, size_t p, bool single, size_t small, size_t large, pn_rng *rng)
{
    world self;

    make_dense(&self, n, p, single, rng);
    printf("dense logistic, %zu x %zu%s\n", n, p, single ? ", float32" : "");
    open_objective(&self, 0.0);
    line("gradient, batch 1", gradients, &self, 1, small);
    line("difference, batch 1", differences, &self, 1, small);
    line("gradient, batch 1000", gradients, &self, 1000, large);
    line("difference, batch 1000", differences, &self, 1000, large);
    pn_objective_free(self.objective);
    open_objective(&self, 1.0);
    line("clipped gradient, batch 1000", gradients, &self, 1000, large);
    line("clipped difference, batch 1000", differences, &self, 1000, large);
    for (size_t i = 0; i < PICKS; i++)
        self.rows[i] = i % n;
    line("clipped difference, batch 1000 in order", differences, &self, 1000, large);
    pn_objective_free(self.objective);
    close_world(&self);
}

static void sparse_lines(size_t n, size_t p, size_t per_row, pn_rng *rng)
{
    world self;

    make_sparse(&self, n, p, per_row, rng);
    open_objective(&self, 0.0);
    printf("sparse logistic, %zu x %zu, %zu entries a row\n", n, p, per_row);
    line("record's difference", record_differences, &self, 1, 20000);
    line("difference, batch 1", differences, &self, 1, 2000);
    line("gradient, batch 1000", gradients, &self, 1000, 20);
    line("difference, batch 1000", differences, &self, 1000, 20);
    pn_objective_free(self.objective);
    close_world(&self);
}

int main(void)
{
    pn_rng *rng = NULL;

    must(pn_rng_seeded(&rng, 1, &err));
    dense_lines(581012, 54, false, 20000, 50, rng);
    dense_lines(581012, 54, true, 20000, 50, rng);
    dense_lines(2500, 10000, false, 500, 1, rng);
    dense_lines(20000, 1000, false, 2000, 4, rng);
    sparse_lines(400000, 123, 14, rng);
    sparse_lines(200000, 50000, 50, rng);
    pn_rng_free(rng);
    return 0;
}
