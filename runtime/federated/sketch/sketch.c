/* sketch.c -- J in blocks of columns, kept or made again; products with it in waves of blocks.
 * The blocks of a wave are multiplied by all threads, each into its own place, and the parts are added in the order of
 * blocks.  Blocks and waves follow from m alone, so a product has the same bits whatever the number of threads,
 * and whether J is kept.
 * Depends on: sketch_impl.h, core/task.h, numeric/blas_threads.h.  Used by: party, server, plan. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/sketch/sketch_impl.h"
#include "numeric/blas_threads.h"

#define KEPT_BYTES ((size_t)256 << 20)
#define PARTS      ((size_t)1 << 22) /* entries of all parts of a wave, about */
#define SUM_TILE   ((size_t)4096)
#define RECORDS    ((size_t)1 << 48)

const char *const pn_sketch_names[] = { "identity", "gaussian", "sparse", NULL };

static const sketch_ops *const sketch_table[] = { NULL /* identity needs none */, &sketch_gaussian, &sketch_sparse };

void sketch_crew_clear(sketch_crew *all)
{
    for (unsigned i = 0; all->workers && i < all->count; i++) {
        pn_rng_free(all->workers[i].rng);
        pn_free(all->workers[i].block);
        pn_free(all->workers[i].scratch);
    }
    pn_free(all->workers);
    pn_blas_alone_end(all->blas);
}

pn_status sketch_no_memory(const pn_sketch *sketch, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "sketch: not enough memory for a product with a matrix of %zu x %zu",
                   sketch->shape.m, sketch->shape.n);
}

pn_status sketch_crew_init(sketch_crew *all, const pn_sketch *sketch, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    all->count = pn_task_threads(task);
    all->blas = pn_blas_alone(0);
    all->workers = pn_calloc(all->count, sizeof *all->workers);
    if (!all->workers)
        return sketch_no_memory(sketch, err);
    for (unsigned i = 0; i < all->count && status == PN_OK; i++) {
        sketch_worker *one = &all->workers[i];

        status = pn_rng_for_key(&one->rng, &sketch->key, err);
        if (!sketch->kept)
            one->block = pn_alloc(1, sketch->block_bytes);
        one->scratch = pn_alloc(8 * sketch->shape.m, sizeof *one->scratch);
        if (status == PN_OK && (!one->scratch || (!sketch->kept && !one->block)))
            status = sketch_no_memory(sketch, err);
    }
    return status;
}

/* ---- blocks ---- */

size_t sketch_block_columns(const pn_sketch *sketch, size_t block)
{
    size_t begin = block * sketch->width;

    return sketch->shape.n - begin < sketch->width ? sketch->shape.n - begin : sketch->width;
}

void sketch_make_block(const pn_sketch *sketch, size_t block, pn_rng *rng, void *columns)
{
    const size_t words = sketch->ops->width(sketch->shape.m) * sketch->shape.m; /* of a whole block, whatever n is */
    const uint64_t address[PN_ADDRESS_WORDS] = { block, 0, 0, 0 };

    pn_rng_address(rng, &sketch->key, address, words);
    sketch->ops->make(rng, sketch->shape.m, sketch_block_columns(sketch, block), columns);
}

static const void *block_at(const pn_sketch *sketch, size_t block, sketch_worker *one)
{
    if (sketch->kept)
        return sketch->kept + block * sketch->block_bytes;
    sketch_make_block(sketch, block, one->rng, one->block);
    return one->block;
}

/* ---- waves ---- */

typedef struct wave {
    const pn_sketch *sketch;
    sketch_crew all;
    size_t first, blocks; /* of this wave */
    size_t size;          /* entries of a part */
    double *parts;        /* [blocks][size] */
    double *out;          /* [size], the sum of the parts so far */
    const double *a;      /* [c][n] */
    size_t c;
    double norm[SKETCH_WAVE], longest; /* columns: of each block, of all so far */
} wave;

static void add_parts(void *self, size_t tile, unsigned id)
{
    wave *now = self;
    size_t begin = tile * SUM_TILE, end = now->size - begin < SUM_TILE ? now->size : begin + SUM_TILE;

    (void)id;
    for (size_t i = 0; i < now->blocks; i++) {
        const double *part = now->parts + i * now->size;

        for (size_t j = begin; j < end; j++)
            now->out[j] += part[j];
    }
}

/* The body fills the part of block `first + i` of the wave; `ended` looks at a wave, and may be NULL. */
static pn_status run_waves(wave *now, pn_block_fn body, void (*ended)(wave *), pn_task *task, pn_err *err)
{
    const pn_sketch *sketch = now->sketch;
    pn_status status = PN_OK;

    memset(now->out, 0, now->size * sizeof *now->out);
    for (now->first = 0; now->first < sketch->blocks && status == PN_OK; now->first += now->blocks) {
        now->blocks = sketch->blocks - now->first < sketch->wave ? sketch->blocks - now->first : sketch->wave;
        status = pn_task_report(task, "sketch", (double)now->first, (double)sketch->blocks, err);
        if (status == PN_OK)
            status = pn_parallel(task, now->blocks, body, now, err);
        if (status == PN_OK)
            status = pn_parallel(task, (now->size + SUM_TILE - 1) / SUM_TILE, add_parts, now, err);
        if (status == PN_OK && ended)
            ended(now);
    }
    return status;
}

static void multiply_block(void *self, size_t i, unsigned id)
{
    wave *now = self;
    const pn_sketch *sketch = now->sketch;
    sketch_worker *one = &now->all.workers[id];
    size_t block = now->first + i;

    sketch->ops->multiply(block_at(sketch, block, one), sketch->shape.m, sketch_block_columns(sketch, block),
                          now->a + block * sketch->width, sketch->shape.n, now->c, now->parts + i * now->size,
                          one->scratch);
}

/* ---- making ---- */

/* Makes the block, in its place when it is kept. */
static void survey_block(void *self, size_t i, unsigned id)
{
    wave *now = self;
    const pn_sketch *sketch = now->sketch;
    size_t block = now->first + i;
    double *part = now->parts + i * now->size;

    if (sketch->kept)
        sketch_make_block(sketch, block, now->all.workers[id].rng, sketch->kept + block * sketch->block_bytes);
    memset(part, 0, now->size * sizeof *part);
    now->norm[i] = sketch->ops->survey(block_at(sketch, block, &now->all.workers[id]), sketch->shape.m,
                                       sketch_block_columns(sketch, block), part);
}

static void survey_wave(wave *now)
{
    for (size_t i = 0; i < now->blocks; i++)
        now->longest = fmax(now->longest, now->norm[i]);
}

/* How many additions lie between an entry of J and a sum over records, and a few roundings more. */
static double depth_of(const pn_sketch *sketch)
{
    return (double)(sketch->width + sketch->blocks + 8);
}

/* gamma_k = k u / (1 - k u), rounded up (Higham 2002, Lemma 3.1). */
static double gamma_of(double k)
{
    return k * 0x1p-53 / (1.0 - k * 0x1p-53) * (1.0 + 0x1p-40);
}

static pn_status survey(pn_sketch *sketch, pn_task *task, pn_err *err)
{
    const size_t m = sketch->shape.m;
    wave now = { .sketch = sketch, .size = m };
    pn_status status = sketch_crew_init(&now.all, sketch, task, err);

    now.parts = pn_alloc(sketch->wave * m, sizeof *now.parts);
    now.out = pn_alloc(m, sizeof *now.out);
    if (status == PN_OK && (!now.parts || !now.out))
        status = sketch_no_memory(sketch, err);
    if (status == PN_OK)
        status = run_waves(&now, survey_block, survey_wave, task, err);
    for (size_t r = 0; status == PN_OK && r < m; r++)
        sketch->row_sum = fmax(sketch->row_sum, now.out[r]);
    sketch->column_norm = now.longest;
    sketch->row_sum *= sketch->ops->scale(m) * (1.0 + 2.0 * gamma_of(depth_of(sketch)));
    pn_free(now.out);
    pn_free(now.parts);
    sketch_crew_clear(&now.all);
    return status;
}

static void key_of(pn_sketch *sketch)
{
    const uint64_t words[] = { (uint64_t)sketch->shape.kind, sketch->shape.m, sketch->shape.seed };

    pn_address_key_public(&sketch->key, "sketch", words, sizeof words / sizeof *words);
}

static pn_status prepare(pn_sketch *sketch, size_t kept_bytes, pn_task *task, pn_err *err)
{
    const size_t m = sketch->shape.m, n = sketch->shape.n;
    size_t column_bytes;

    if (!sketch->ops) {
        sketch->column_norm = 1.0;
        return PN_OK;
    }
    column_bytes = sketch->ops->column_bytes(m);
    sketch->width = sketch->ops->width(m);
    if (sketch->width > n)
        sketch->width = n;
    sketch->blocks = (n + sketch->width - 1) / sketch->width;
    sketch->block_bytes = sketch->width * column_bytes;
    sketch->wave = PARTS / m < 1 ? 1 : PARTS / m > SKETCH_WAVE ? SKETCH_WAVE : PARTS / m;
    sketch->wave = sketch->wave < sketch->blocks ? sketch->wave : sketch->blocks;
    key_of(sketch);
    if (n <= kept_bytes / column_bytes) {
        sketch->kept = pn_alloc_large(n, column_bytes);
        if (!sketch->kept)
            return sketch_no_memory(sketch, err);
    }
    return survey(sketch, task, err);
}

pn_status pn_sketch_check(const pn_sketch_shape *shape, pn_err *err)
{
    if ((int)shape->kind < 0 || shape->kind > PN_SKETCH_SPARSE)
        return pn_fail(err, PN_EINVAL, "sketch: kind %d does not exist; there are 0 to %d", (int)shape->kind,
                       (int)PN_SKETCH_SPARSE);
    if (shape->n < 1 || shape->n > RECORDS)
        return pn_fail(err, PN_EINVAL, "sketch: n must be from 1 to 2^48, got %zu", shape->n);
    if (shape->m < 1 || shape->m > PN_SKETCH_ROWS_MAX)
        return pn_fail(err, PN_EINVAL, "sketch: m must be from 1 to %u, got %zu", PN_SKETCH_ROWS_MAX, shape->m);
    if (shape->kind == PN_SKETCH_IDENTITY && shape->m != shape->n)
        return pn_fail(err, PN_EINVAL, "sketch: identity has as many rows as there are records, m = %zu, got %zu",
                       shape->n, shape->m);
    return PN_OK;
}

pn_status sketch_new(pn_sketch **out, const pn_sketch_shape *shape, size_t kept_bytes, pn_task *task, pn_err *err)
{
    pn_sketch *sketch;
    pn_status status;

    PN_TRY(pn_sketch_check(shape, err));
    PN_TRY(pn_new_zeroed(&sketch, 1, err, "sketch: not enough memory for a sketch"));
    sketch->shape = *shape;
    sketch->ops = sketch_table[shape->kind];
    status = prepare(sketch, kept_bytes, task, err);
    if (status == PN_OK)
        *out = sketch;
    else
        pn_sketch_free(sketch);
    return status;
}

pn_status pn_sketch_new(pn_sketch **out, const pn_sketch_shape *shape, pn_task *task, pn_err *err)
{
    return sketch_new(out, shape, KEPT_BYTES, task, err);
}

void pn_sketch_free(pn_sketch *sketch)
{
    if (!sketch)
        return;
    pn_free(sketch->kept);
    pn_free(sketch);
}

const pn_sketch_shape *pn_sketch_shape_of(const pn_sketch *sketch)
{
    return &sketch->shape;
}

double pn_sketch_column_norm(const pn_sketch *sketch)
{
    return sketch->column_norm;
}

/* ---- products ---- */

void sketch_apply_scale(const pn_sketch *sketch, double *out, size_t n)
{
    const double scale = sketch->ops->scale(sketch->shape.m);

    for (size_t i = 0; i < n && scale < 1.0; i++)
        out[i] *= scale;
}

/* So many columns at a time that the parts of a wave fit. */
static size_t columns_at_once(const pn_sketch *sketch, size_t c)
{
    size_t some = PARTS / (sketch->wave * sketch->shape.m);

    some = some < 1 ? 1 : some;
    return some < c ? some : c;
}

pn_status pn_sketch_columns(const pn_sketch *sketch, const double *columns, size_t c, double *out, pn_task *task,
                            pn_err *err)
{
    const size_t m = sketch->shape.m, n = sketch->shape.n;
    wave now = { .sketch = sketch };
    pn_status status;
    size_t some;

    if (c == 0)
        return PN_OK;
    if (!sketch->ops) {
        memcpy(out, columns, c * n * sizeof *out);
        return PN_OK;
    }
    some = columns_at_once(sketch, c);
    status = sketch_crew_init(&now.all, sketch, task, err);
    now.parts = pn_alloc_large(sketch->wave * some * m, sizeof *now.parts);
    if (status == PN_OK && !now.parts)
        status = sketch_no_memory(sketch, err);
    for (size_t begin = 0; begin < c && status == PN_OK; begin += some) {
        now.c = c - begin < some ? c - begin : some;
        now.size = now.c * m;
        now.a = columns + begin * n;
        now.out = out + begin * m;
        status = run_waves(&now, multiply_block, NULL, task, err);
    }
    if (status == PN_OK)
        sketch_apply_scale(sketch, out, c * m);
    pn_free(now.parts);
    sketch_crew_clear(&now.all);
    return status;
}

typedef struct transposed {
    const pn_sketch *sketch;
    sketch_crew all;
    const double *q;
    double *z;
} transposed;

static void transpose_block(void *self, size_t block, unsigned id)
{
    transposed *job = self;
    const pn_sketch *sketch = job->sketch;

    sketch->ops->transpose(block_at(sketch, block, &job->all.workers[id]), sketch->shape.m,
                           sketch_block_columns(sketch, block), job->q, job->z + block * sketch->width);
}

pn_status pn_sketch_transpose(const pn_sketch *sketch, const double *q, double *z, pn_task *task, pn_err *err)
{
    transposed job = { .sketch = sketch, .q = q, .z = z };
    pn_status status;

    if (!sketch->ops) {
        memcpy(z, q, sketch->shape.n * sizeof *z);
        return PN_OK;
    }
    status = sketch_crew_init(&job.all, sketch, task, err);
    if (status == PN_OK)
        status = pn_parallel(task, sketch->blocks, transpose_block, &job, err);
    sketch_crew_clear(&job.all);
    return status;
}

/* ---- what can be said about them ---- */

double pn_sketch_error(const pn_sketch *sketch, double bound)
{
    if (!sketch->ops)
        return 0.0;
    return gamma_of(depth_of(sketch)) * sketch->row_sum * bound * (1.0 + 0x1p-40) +
           (double)sketch->shape.n * DBL_MIN; /* products too small for a number */
}

double pn_sketch_transpose_error(const pn_sketch *sketch, double q_norm)
{
    if (!sketch->ops)
        return 0.0;
    return gamma_of(sketch->ops->rounding(sketch->shape.m)) * sketch->column_norm * q_norm * (1.0 + 0x1p-40) +
           (double)sketch->shape.m * DBL_MIN;
}
