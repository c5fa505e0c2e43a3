/* batch.c -- gradients and differences of gradients over small batches, as stochastic solvers want them by the million:
 * one thread and no allocation where the work is small, rows that are picked by number asked for ahead of their use.
 * Depends on: objective_impl.h, numeric/simd/simd.h.  Used by: objective.h's callers.
 * See variance-reduced.md section 2.
 *
 * The sum over a batch is cut into chunks by public numbers.  Chunk 0 adds into the output itself, the others into
 * partial sums, which are added in chunk order: the result is the same for any number of threads. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "data/rows.h"
#include "objective/passes/objective_impl.h"

#define CHUNK_PRODUCTS 100000.0 /* entries of a chunk, two multiply-adds each: a thread is worth no less */
#define CHUNK_RECORDS  32.0     /* at least, so that adding up chunks stays small beside making them */
#define SPARSE_RECORDS 2048.0   /* at least in a chunk of sparse ones, */
#define SPARSE_SHARE   8.0      /* and one for as many columns, of which a chunk has a sum each */
#define GATHER         6144     /* doubles of rows: the second-level cache keeps them beside the rows that come next */
#define GATHER_ROWS    3        /* rows longer than GATHER / GATHER_ROWS are read where they are */
#define WEIGHTS        2048     /* doubles of margins of a block */
#define SPARSE_ROWS    64       /* of a block */
#define ASKED          16384    /* bytes of a row: by then the processor sees where it goes */
#define PIECE          512      /* columns of a row */
#define STACK          (GATHER + 2 * WEIGHTS + 2 * PN_LOSS_BLOCK)

/* What a chunk says beside its sum. */
typedef struct tally {
    double value;
    bool strange; /* a margin is no finite number */
} tally;

typedef struct run {
    const pn_objective *objective;
    const pn_batch *batch;
    const double *theta;
    const double *factors; /* [inputs][n] subtracted from each record's own; NULL: none */
    double tau, record;    /* of scaling; the norm of every record where each one's own is not known */
    bool want_value;
    size_t rows; /* of a block */
    pn_partition part;
    double *out;             /* [dim] or NULL */
    double *partial;         /* [chunks - 1][dim] */
    double *scratch, *stack; /* [threads][size], or [size] of one thread */
    size_t size;             /* doubles of a worker */
    tally *tallies;          /* [chunks] */
} run;

/* ---- partition ---- */

/* Records that make a chunk as long as there are fewer than PN_CHUNKS_MAX.  Not by the number of entries: a record that
 * is not in the batch must not change a bit of its sum, for that is not what sampling hides. */
static double records_per_chunk(const pn_objective *objective)
{
    double dim = (double)objective->dim;

    return objective->data->sparse ? fmax(dim / SPARSE_SHARE, SPARSE_RECORDS)
                                   : fmax(CHUNK_PRODUCTS / dim, CHUNK_RECORDS);
}

static pn_partition partition(const pn_objective *objective, size_t records)
{
    pn_partition out = { 1, records };

    if (records <= 1)
        return out;
    out.chunks = (size_t)fmin(fmax((double)records / records_per_chunk(objective), 1.0), (double)PN_CHUNKS_MAX);
    out.chunk_rows = (records + out.chunks - 1) / out.chunks;
    out.chunks = (records + out.chunk_rows - 1) / out.chunk_rows;
    return out;
}

/* Additions that a record's part in a sum goes through: as many as its chunk has records and the batch chunks, but each
 * takes in a new record.  Chunks: q = count / R rounded down, between 1 and 64.  With q < 64 a chunk has at most 2 R
 * records (+ 1 for rounding up), else at most count / 64 + 1.  Grows with count,
 * so that it holds for all smaller batches. */
static double depth(const pn_objective *objective, double count)
{
    double chunk = fmax(2.0 * records_per_chunk(objective), count / PN_CHUNKS_MAX) + 1.0;

    return fmin(count, chunk + PN_CHUNKS_MAX);
}

/* Each coordinate of the sum is made of `count` products of at most `contribution` in size.  A product, the additions
 * that it goes through and the division are depth + 2 roundings, each of at most 2^-53 relative: their second order is
 * in the 1.01 as long as depth < 2^46.  Sums lose nothing below 2^-1022, products there at most 2^-1075 each. */
double pn_objective_batch_error(const pn_objective *objective, size_t count, double contribution)
{
    double records = (double)count;

    return (depth(objective, records) + 4.0) * 0x1p-53 * 1.01 * records * contribution + records * 0x1p-1074;
}

/* ---- blocks ---- */

static size_t block_rows(const pn_objective *objective, size_t records)
{
    const pn_dataset *data = objective->data;
    size_t rows, fit;

    if (records <= 1)
        return 1;
    rows = WEIGHTS / pn_loss_inputs(objective->loss);
    fit = GATHER / data->p;
    if (rows < 8)
        rows = 8;
    if (rows > PN_LOSS_BLOCK)
        rows = PN_LOSS_BLOCK;
    if (data->sparse)
        fit = SPARSE_ROWS;
    else if (fit < GATHER_ROWS)
        fit = 1;
    rows = rows < fit ? rows : fit;
    return rows < records ? rows : records;
}

/* Rows that follow one another here are read in place. */
static void settle(pn_block *block, double *room)
{
    const pn_dataset *data = block->data;
    size_t r = 1, first = block->rows[0];

    while (r < block->count && block->rows[r] == first + r)
        r++;
    if (r == block->count && (r == 1 || (pn_dataset_holds(data, first) && pn_dataset_holds(data, first + r - 1)))) {
        block->first = first;
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

/* ---- memory that a coming block reads ---- */

/* A compiler may take a function that does nothing but ask for one that does nothing. */
#define ASKS static inline __attribute__((always_inline))

ASKS void ask(const void *from, size_t bytes)
{
    const char *at = from;

    for (size_t byte = 0; byte < bytes; byte += 64)
        __builtin_prefetch(at + byte, 0, 2);
    __builtin_prefetch(at + bytes - 1, 0, 2);
}

ASKS void ask_entries(const pn_dataset *data, size_t i)
{
    size_t first = pn_csr_place(data, i), count = pn_csr_place(data, i + 1) - first;

    count = count < 64 ? count : 64; /* the processor sees where a long row goes */
    if (count == 0)
        return;
    ask(data->csr.column + first, count * sizeof *data->csr.column);
    if (data->float32)
        ask(data->csr_single + first, count * sizeof *data->csr_single);
    else
        ask(data->csr.value + first, count * sizeof *data->csr.value);
}

ASKS void ask_row(const pn_dataset *data, size_t i)
{
    size_t bytes = data->p * (data->float32 ? sizeof(float) : sizeof(double)), at = (i - data->first) * bytes;

    if (!pn_dataset_holds(data, i))
        return;
    if (data->sparse)
        ask_entries(data, i);
    else
        ask(data->float32 ? (const char *)data->single + at : (const char *)data->dense + at,
            bytes < ASKED ? bytes : ASKED);
}

/* What belongs to a record beside its row. */
ASKS void ask_record(const pn_objective *objective, const double *factors, size_t i)
{
    size_t inputs = pn_loss_inputs(objective->loss);

    __builtin_prefetch(objective->data->y + i);
    if (objective->norms)
        __builtin_prefetch(objective->norms + i);
    for (size_t k = 0; factors && k < inputs && k < 16; k++)
        __builtin_prefetch(factors + k * objective->data->n + i);
    if (objective->data->sparse)
        __builtin_prefetch(objective->data->csr.start + i);
}

/* For the block of a chunk that begins at `first`. */
ASKS void ask_records(const run *self, size_t first, size_t end)
{
    end = end < first + self->rows ? end : first + self->rows;
    for (size_t r = first; r < end; r++)
        ask_record(self->objective, self->factors, self->batch->rows[r]);
}

ASKS void ask_rows(const run *self, size_t first, size_t end)
{
    end = end < first + self->rows ? end : first + self->rows;
    for (size_t r = first; r < end; r++)
        ask_row(self->objective->data, self->batch->rows[r]);
}

/* ---- differences ---- */

static inline size_t record_of(const pn_block *block, size_t r)
{
    return block->rows ? block->rows[r] : block->first + r;
}

static void subtract(const run *self, const pn_block *block, double *slope)
{
    size_t n = self->objective->data->n;

    for (size_t k = 0; k < pn_loss_inputs(self->objective->loss); k++) {
        for (size_t r = 0; r < block->count; r++)
            slope[k * block->count + r] -= self->factors[k * n + record_of(block, r)];
    }
}

static void scale(const run *self, const pn_block *block, double *slope)
{
    if (self->tau < PN_TAU_LEAST)
        memset(slope, 0, pn_loss_inputs(self->objective->loss) * block->count * sizeof *slope);
    else if (self->tau < INFINITY)
        pn_block_scale(self->objective, block, self->record, PN_MUTANT("tau_twice") ? 2.0 * self->tau : self->tau,
                       slope);
}

/* ---- sums ---- */

/* Whether the one record of a batch is the sum, so that it is written where others are added. */
static inline bool writes(const run *self)
{
    return self->batch->count == 1 && self->objective->data->dense;
}

/* One row that was picked at random.  The kernel asks for what follows its rows in memory; for a row cut into pieces
 * that is the next piece. */
static void add_row(const pn_block *block, double weight, double *g)
{
    for (size_t j = 0, p = block->data->p; j < p; j += PIECE) {
        size_t columns = p - j < PIECE ? p - j : PIECE;

        if (block->data->single)
            block->simd->dense_add_transposed_single(pn_block_single(block) + j, 1, columns, &weight, g + j);
        else
            block->simd->dense_add_transposed(pn_block_dense(block) + j, 1, columns, &weight, g + j);
    }
}

/* g += the block's weighted rows; g = them when the block is all there is, which reads g not at all. */
static void add_block(const run *self, const pn_block *block, const double *weight, double *g)
{
    const pn_dataset *data = block->data;
    const pn_loss *loss = self->objective->loss;

    if (block->count > 1 || data->sparse) {
        pn_block_add_inputs(self->objective, block, weight, g);
        return;
    }
    for (size_t k = 0; k < loss->margins; k++, weight++, g += data->p) {
        if (writes(self))
            block->simd->multiply(data->p, pn_block_dense(block), 1, weight, 0, g);
        else
            add_row(block, *weight, g);
    }
    for (size_t k = 0; k < loss->extra; k++)
        g[k] = writes(self) ? weight[k] : g[k] + weight[k];
}

/* ---- a block, a chunk ---- */

static void run_block(run *self, pn_block *block, double *room, double *g, size_t chunk)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;
    size_t inputs = pn_loss_inputs(loss), each = self->rows * inputs;
    double *z = room, *slope = z + each, *labels = slope + each, *values = labels + self->rows;
    const double *y;

    settle(block, values + self->rows);
    y = pn_block_labels(block, labels);
    pn_block_margins(objective, block, self->theta, z);
    if (!all_finite(z, block->count * inputs))
        self->tallies[chunk].strange = true;
    loss->ops->evaluate(loss, block->count, z, y, self->want_value ? values : NULL, g ? slope : NULL);
    if (self->want_value)
        self->tallies[chunk].value += pn_block_sum(values, block->count);
    if (!g)
        return;
    pn_block_enforce(objective, block, slope);
    if (self->factors)
        subtract(self, block, slope);
    scale(self, block, slope);
    add_block(self, block, slope, g);
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    run *self = context;
    const pn_batch *batch = self->batch;
    size_t dim = self->objective->dim, at = chunk * self->part.chunk_rows, end = at + self->part.chunk_rows;
    double *g = self->out && chunk ? self->partial + (chunk - 1) * dim : self->out;
    double *room = self->stack ? self->stack : self->scratch + worker * self->size;

    end = end < batch->count ? end : batch->count;
    self->tallies[chunk] = (tally){ 0.0, false };
    if (g && !writes(self))
        memset(g, 0, dim * sizeof *g);
    pn_rows_ahead(self->objective->data, batch->rows, at, end);
    ask_records(self, at, end);
    ask_rows(self, at, end);
    ask_records(self, at + self->rows, end);
    for (; at < end; at += self->rows) {
        pn_block block = { .data = self->objective->data,
                           .lent = self->objective->lent,
                           .simd = pn_simd_best(),
                           .rows = batch->rows + at,
                           .count = end - at < self->rows ? end - at : self->rows };

        ask_rows(self, at + self->rows, end);
        ask_records(self, at + 2 * self->rows, end);
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
        total += self->tallies[chunk].value;
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
        strange = strange || self->tallies[chunk].strange;
    return strange ? pn_check_point("objective", "theta", self->theta, self->objective->dim, err) : PN_OK;
}

static pn_status share_chunks(run *self, pn_status before, pn_task *task, pn_err *err)
{
    const pn_ranks_part parts[] = {
        { .data = self->tallies, .bytes = sizeof *self->tallies },
        { .data = self->out ? self->partial : NULL, .bytes = self->objective->dim * sizeof(double), .head = self->out },
    };

    return pn_share_chunks(self->objective,
                           &(pn_shared){ .chunks = self->part.chunks,
                                         .chunk_rows = self->part.chunk_rows,
                                         .body = run_chunk,
                                         .self = self,
                                         .parts = parts,
                                         .part_count = 2,
                                         .theta = self->theta,
                                         .batch = self->batch },
                           before, task, err);
}

static pn_status run_chunks(run *self, pn_task *task, pn_err *err)
{
    size_t partials = self->out ? (self->part.chunks - 1) * self->objective->dim : 0;
    pn_status status = PN_OK;

    self->partial = pn_alloc(partials + self->size * pn_task_threads(task), sizeof(double));
    if (self->partial)
        self->scratch = self->partial + partials;
    else
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu partial gradients of %zu entries",
                         self->part.chunks, self->objective->dim);
    return share_chunks(self, status, task, err);
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
    tally tallies[PN_CHUNKS_MAX];

    if (status != PN_OK)
        return status;
    self->tallies = tallies;
    self->want_value = value != NULL;
    self->part = partition(objective, self->batch->count);
    self->rows = block_rows(objective, self->batch->count);
    self->size = self->rows * (2 * pn_loss_inputs(objective->loss) + 2);
    if (!objective->data->sparse && self->rows > 1)
        self->size += self->rows * objective->data->p;
    status = self->part.chunks == 1 && self->size <= STACK && !objective->lent ? run_small(self, task, err)
                                                                               : run_chunks(self, task, err);
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

/* What bounds every record's norm, with room for what pn_block_scale does and for this product. */
static double record_above(const pn_objective *objective)
{
    return objective->data->bounds.norm[PN_L2] *
           (1.0 + (0.5 * (double)pn_loss_inputs(objective->loss) + 12.0) * 0x1p-53);
}

static pn_status check_tau(const pn_objective *objective, double tau, pn_err *err)
{
    if (!(tau >= 0.0))
        return pn_fail(err, PN_EINVAL, "objective: tau must be a number >= 0, or infinite, got %g", tau);
    if (tau < INFINITY && !objective->norms && !pn_is_enforced(objective->data->bounds.norm[PN_L2]))
        return pn_fail(
            err, PN_EPRIVACY,
            "objective: tau=%g needs a bound on the records; give clip= to pn.objective, or " PN_HOW_TO_BOUND_ROWS,
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
    pn_status status = pn_dataset_need_records(data, "objective: a record", err);

    if (status != PN_OK)
        return status;
    if (pn_loss_inputs(objective->loss) != 1)
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
