/* batch.c -- gradients and differences of gradients over small batches, as stochastic solvers want them by the million: one thread
 * and no allocation where the work is small, rows that are picked by number asked for ahead of their use.
 * Depends on: objective_impl.h, numeric/simd.h.  Used by: objective.h's callers.  Spec: variance-reduced.md section 2.
 *
 * The sum over a batch is cut into chunks by public numbers.  Chunk 0 adds into the output itself, the others into partial sums,
 * which are added in chunk order: the result is the same for any number of threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/objective_impl.h"

#define CHUNK_PRODUCTS                                                                                                 \
    100000.0 /* entries of a chunk, each of two multiply-adds: below twice that a second thread costs time */
#define CHUNK_RECORDS  32.0   /* at least, so that adding up chunks stays small beside making them */
#define SPARSE_RECORDS 4096.0 /* so many empty records are worth a chunk, too */
#define GATHER         3072   /* doubles of rows, three quarters of a 32 KiB first-level cache */
#define GATHER_ROWS    4      /* rows longer than GATHER / GATHER_ROWS are read where they are */
#define WEIGHTS        2048   /* doubles of margins of a block */
#define SPARSE_ENTRIES 2048.0 /* of a block */
#define STACK          (GATHER + 2 * WEIGHTS + 2 * PN_LOSS_BLOCK)
#define TAU_LEAST      0x1p-960 /* no product of a scaled factor and a row loses digits that tau has no room for */

typedef struct run {
    const pn_objective *objective;
    const pn_batch *batch;
    const double *theta;
    const double *factors; /* [margins][n] subtracted from each record's own; NULL: none */
    double tau, record;    /* of scaling; the norm of every record where each one's own is not known */
    bool want_value;
    size_t rows; /* of a block */
    pn_partition part;
    double *out;                  /* [dim] or NULL */
    double *partial;              /* [chunks - 1][dim] */
    double *scratch, *stack;      /* [threads][size], or [size] of one thread */
    size_t size;                  /* doubles of a worker */
    double values[PN_CHUNKS_MAX]; /* of each chunk */
    bool strange[PN_CHUNKS_MAX];  /* whether a margin of the chunk is no finite number */
} run;

/* ---- partition ---- */

/* Records that make a chunk as long as there are fewer than PN_CHUNKS_MAX. */
static double records_per_chunk(const pn_objective *objective)
{
    double dim = (double)objective->dim;

    return objective->data->sparse ? fmax(dim, SPARSE_RECORDS) : fmax(CHUNK_PRODUCTS / dim, CHUNK_RECORDS);
}

/* By the number of records, and of sparse data the mean number of entries: only more chunks than the public number. */
static pn_partition partition(const pn_objective *objective, size_t records)
{
    const pn_dataset *data = objective->data;
    double chunks = (double)records / records_per_chunk(objective);
    pn_partition out;

    if (data->sparse) {
        double products =
            (double)data->csr.start[data->n] / (double)data->n * (double)objective->loss->margins * (double)records;

        chunks = fmax(chunks, fmin(products / CHUNK_PRODUCTS, products / (4.0 * (double)objective->dim)));
    }
    out.chunks = (size_t)fmin(fmax(chunks, 1.0), (double)PN_CHUNKS_MAX);
    out.chunk_rows = (records + out.chunks - 1) / out.chunks;
    out.chunks = records ? (records + out.chunk_rows - 1) / out.chunk_rows : 1;
    return out;
}

/* Of a record's part in a sum: it goes through as many additions as its chunk has records and the batch chunks, but each addition
 * takes in a new record.  Chunks: q = count / R rounded down, between 1 and 64, or more of sparse data.  With q < 64 a chunk has
 * at most 2 R records (+ 1 for rounding up), else at most count / 64 + 1.  Grows with count, so that it holds for all smaller batches. */
static double depth(const pn_objective *objective, double count)
{
    double chunk = fmax(2.0 * records_per_chunk(objective), count / PN_CHUNKS_MAX) + 1.0;

    return fmin(count, chunk + PN_CHUNKS_MAX);
}

/* Each coordinate of the sum is made of `count` products of at most `contribution` in size.  A product, the additions that it
 * goes through and the division are depth + 2 roundings, each of at most 2^-53 relative: their second order is in the 1.01 as
 * long as depth < 2^46.  Sums lose nothing below 2^-1022, products there at most 2^-1075 each. */
double pn_objective_batch_error(const pn_objective *objective, size_t count, double contribution)
{
    double records = (double)count;

    return (depth(objective, records) + 4.0) * 0x1p-53 * 1.01 * records * contribution + records * 0x1p-1074;
}

/* ---- blocks ---- */

static size_t block_rows(const pn_objective *objective, size_t records)
{
    const pn_dataset *data = objective->data;
    size_t rows = WEIGHTS / objective->loss->margins, fit = GATHER / data->p;

    if (rows < 8)
        rows = 8;
    if (rows > PN_LOSS_BLOCK)
        rows = PN_LOSS_BLOCK;
    if (data->sparse)
        fit = (size_t)(SPARSE_ENTRIES / ((double)data->csr.start[data->n] / (double)data->n + 1.0)) + 1;
    else if (fit < GATHER_ROWS)
        fit = 1;
    rows = rows < fit ? rows : fit;
    return rows < records ? rows : records;
}

/* Rows that follow one another are read where they are. */
static void settle(pn_block *block, double *room)
{
    size_t r = 1;

    while (r < block->count && block->rows[r] == block->rows[0] + r)
        r++;
    if (r == block->count) {
        block->first = block->rows[0];
        block->rows = NULL;
        return;
    }
    pn_block_gather(block, room);
}

static bool all_finite(const double *z, size_t count)
{
    bool finite = true;

    for (size_t i = 0; i < count; i++)
        finite &= fabs(z[i]) <= DBL_MAX;
    return finite;
}

/* ---- differences ---- */

static inline size_t record_of(const pn_block *block, size_t r)
{
    return block->rows ? block->rows[r] : block->first + r;
}

static void subtract(const run *self, const pn_block *block, double *slope)
{
    size_t n = self->objective->data->n;

    for (size_t k = 0; k < self->objective->loss->margins; k++) {
        for (size_t r = 0; r < block->count; r++)
            slope[k * block->count + r] -= self->factors[k * n + record_of(block, r)];
    }
}

/* The largest factor that a record of that norm may have; one rounding, for which the norm has room.  Below 2^-1000, where it
 * would lose digits, 0. */
static inline double cap_of(double tau, double norm)
{
    double cap = tau / norm;

    return cap < 0x1p-1000 ? 0.0 : cap > 0x1p500 ? 0x1p500 : cap;
}

/* ||difference||_2 ||x||_2 <= tau in real arithmetic.  With one margin that clamps the difference.  A norm below 2^-960 has lost
 * digits or will in products: the larger one bounds it as well. */
static void scale(const run *self, const pn_block *block, double *slope)
{
    const double *norms = self->objective->norms;
    size_t margins = self->objective->loss->margins;

    if (self->tau < TAU_LEAST) {
        memset(slope, 0, margins * block->count * sizeof *slope);
        return;
    }
    for (size_t r = 0; r < block->count; r++) {
        double norm = norms ? norms[record_of(block, r)] : self->record;

        norm = norm > TAU_LEAST ? norm : TAU_LEAST;
        if (margins == 1) {
            double cap = cap_of(self->tau, norm), d = slope[r];

            slope[r] = d >= -cap ? (d <= cap ? d : cap) : d < -cap ? -cap : 0.0; /* 0 for NaN */
        } else {
            pn_clip_record(margins, block->count, slope + r, norm, self->tau);
        }
    }
}

/* ---- a block, a chunk ---- */

static void run_block(run *self, pn_block *block, double *room, double *g, size_t chunk)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;
    size_t each = self->rows * loss->margins;
    double *z = room, *slope = z + each, *labels = slope + each, *values = labels + self->rows;
    const double *y;

    settle(block, values + self->rows);
    y = pn_block_labels(block, labels);
    pn_block_margins(objective, block, self->theta, z);
    if (!all_finite(z, block->count * loss->margins))
        self->strange[chunk] = true;
    loss->ops->evaluate(loss, block->count, z, y, self->want_value ? values : NULL, g ? slope : NULL);
    if (self->want_value)
        self->values[chunk] += pn_block_sum(values, block->count);
    if (!g)
        return;
    pn_block_enforce(objective, block, slope);
    if (self->factors)
        subtract(self, block, slope);
    if (self->tau < INFINITY)
        scale(self, block, slope);
    for (size_t k = 0; k < loss->margins; k++)
        pn_block_add(block, slope + k * block->count, g + k * objective->data->p);
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    run *self = context;
    const pn_batch *batch = self->batch;
    size_t dim = self->objective->dim, at = chunk * self->part.chunk_rows, end = at + self->part.chunk_rows;
    double *g = self->out && chunk ? self->partial + (chunk - 1) * dim : self->out;
    double *room = self->stack ? self->stack : self->scratch + worker * self->size;

    end = end < batch->count ? end : batch->count;
    if (g)
        memset(g, 0, dim * sizeof *g);
    for (; at < end; at += self->rows) {
        pn_block block = { .data = self->objective->data,
                           .simd = pn_simd_best(),
                           .rows = batch->rows + at,
                           .count = end - at < self->rows ? end - at : self->rows };

        run_block(self, &block, room, g, chunk);
    }
}

/* Add the partial sums in chunk order and divide. */
static void combine(const run *self, double *value)
{
    const pn_simd *simd = pn_simd_best();
    size_t dim = self->objective->dim;
    double total = 0.0;

    for (size_t chunk = 0; chunk < self->part.chunks; chunk++)
        total += self->values[chunk];
    if (value)
        *value = total / self->batch->denominator;
    for (size_t chunk = 1; self->out && chunk < self->part.chunks; chunk++)
        simd->add(dim, self->out, 1, self->partial + (chunk - 1) * dim, 1, self->out);
    if (self->out && self->batch->denominator != 1.0)
        simd->divide(dim, self->out, 1, &self->batch->denominator, 0, self->out);
}

/* ---- a call ---- */

/* theta is looked at only when a margin is no finite number, which may be an overflow as well. */
static pn_status check_margins(const run *self, pn_err *err)
{
    bool strange = false;

    for (size_t chunk = 0; chunk < self->part.chunks; chunk++)
        strange = strange || self->strange[chunk];
    return strange ? pn_check_point("objective", "theta", self->theta, self->objective->dim, err) : PN_OK;
}

static pn_status run_chunks(run *self, pn_task *task, pn_err *err)
{
    size_t partials = self->out ? (self->part.chunks - 1) * self->objective->dim : 0;

    self->partial = pn_alloc(partials + self->size * pn_task_threads(task), sizeof(double));
    if (!self->partial)
        return pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu partial gradients of %zu entries",
                       self->part.chunks, self->objective->dim);
    self->scratch = self->partial + partials;
    return pn_parallel(task, self->part.chunks, run_chunk, self, err);
}

static pn_status run_small(run *self, pn_task *task, pn_err *err)
{
    double stack[STACK];

    self->stack = stack;
    return pn_parallel(task, 1, run_chunk, self, err);
}

static pn_status run_batch(run *self, double *value, pn_task *task, pn_err *err)
{
    const pn_objective *objective = self->objective;
    pn_status status = pn_check_batch(objective, self->batch, err);

    if (status != PN_OK)
        return status;
    self->want_value = value != NULL;
    self->part = partition(objective, self->batch->count);
    self->rows = block_rows(objective, self->batch->count);
    self->size = self->rows * (2 * objective->loss->margins + 2);
    if (!objective->data->sparse && self->rows > 1)
        self->size += self->rows * objective->data->p;
    status = self->part.chunks == 1 && self->size <= STACK ? run_small(self, task, err) : run_chunks(self, task, err);
    if (status == PN_OK)
        status = check_margins(self, err);
    if (status == PN_OK)
        combine(self, value);
    pn_free(self->partial);
    return status;
}

pn_status pn_batch_losses(const pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                          double *gradient, pn_task *task, pn_err *err)
{
    run self = { .objective = objective, .batch = batch, .theta = theta, .tau = INFINITY, .out = gradient };

    return run_batch(&self, value, task, err);
}

/* What bounds every record's norm, with room for pn_clip_record or the quotient of cap_of and for this product. */
static double record_above(const pn_objective *objective)
{
    return objective->data->bounds.norm[PN_L2] * (1.0 + (0.5 * (double)objective->loss->margins + 12.0) * 0x1p-53);
}

static pn_status check_tau(const pn_objective *objective, double tau, pn_err *err)
{
    if (!(tau >= 0.0))
        return pn_fail(err, PN_EINVAL, "objective: tau must be a number >= 0, or infinite, got %g", tau);
    if (tau < INFINITY && !objective->norms && !pn_is_enforced(objective->data->bounds.norm[PN_L2]))
        return pn_fail(
            err, PN_EPRIVACY,
            "objective: tau=%g needs a bound on the records; clip them first, e.g. data:clip_rows(\"l2\", 1), "
            "or give clip= to pn.objective",
            tau);
    return PN_OK;
}

pn_status pn_objective_batch_differences(pn_objective *objective, const pn_batch *batch, const double *theta,
                                         const double *factors, double tau, double *out, pn_task *task, pn_err *err)
{
    run self = { .objective = objective,
                 .batch = batch,
                 .theta = theta,
                 .factors = factors,
                 .tau = tau,
                 .record = record_above(objective),
                 .out = out };
    pn_status status = pn_need_derivatives(objective, "gradient", err);

    if (status == PN_OK)
        status = check_tau(objective, tau, err);
    return status == PN_OK ? run_batch(&self, NULL, task, err) : status;
}

pn_status pn_objective_record_difference(const pn_objective *objective, size_t row, const double *theta,
                                         const double *factors, double *difference, pn_err *err)
{
    const pn_dataset *data = objective->data;
    const pn_block block = { .data = data, .simd = pn_simd_best(), .first = row, .count = 1 };
    double z, slope;
    pn_status status = PN_OK;

    if (objective->loss->margins != 1)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: a record's difference is one number for losses of one margin");
    if (row >= data->n)
        return pn_fail(err, PN_EINVAL, "objective: there is no record %zu of %zu", row + 1, data->n);
    pn_block_times(&block, theta, &z);
    if (!isfinite(z))
        status = pn_check_point("objective", "theta", theta, objective->dim, err);
    objective->loss->ops->evaluate(objective->loss, 1, &z, data->y + row, NULL, &slope);
    pn_block_enforce(objective, &block, &slope);
    *difference = slope - factors[row];
    return status;
}
