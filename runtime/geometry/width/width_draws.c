/* width_draws.c -- draws of max_{v in C} <b, v>, in blocks over the threads of a task; for lists of vertices that lie
 * in memory, one matrix product for many draws.  Depends on: width_draws.h, numeric/.  Used by: width.c. */
#include <math.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/width/width_draws.h"
#include "numeric/blas.h"

#define BLOCK_NUMBERS   ((size_t)1 << 15) /* normal numbers of a block: 256 KiB stay in the cache */
#define BLOCK_MOST      1024              /* draws */
#define ROUND_BLOCKS    64                /* between two looks at the progress */
#define PRODUCT_MOST    256               /* draws of one matrix product */
#define PRODUCT_NUMBERS ((size_t)1 << 22) /* of its operand and result */

/* What one worker leaves when the set fails: the failure of the first block is reported, whatever the order. */
typedef struct failure {
    pn_status status;
    size_t block;
    pn_err err;
} failure;

typedef struct sampler {
    const pn_set *set;
    bool both;
    pn_rng *rng;    /* only split */
    uint64_t first; /* stream of the first block of this round */
    pn_task *task;  /* NULL when the set keeps to one thread */
    pn_task *stop;  /* what a single draw stops with */
    size_t in_round, in_block;
    size_t count;      /* of this round */
    double *draws;     /* [in_round] */
    double *normals;   /* [workers][in_block * dim]; for products [dim * in_round] */
    failure *failures; /* [workers] */
    pn_mat vertices;   /* borrowed of the set; no rows: by its support */
    double *scores;    /* [vertices * in_round] */
} sampler;

static void note(failure *into, size_t block, pn_status status, const pn_err *err)
{
    if (into->status != PN_OK && into->block < block)
        return;
    into->status = status;
    into->block = block;
    into->err = *err;
}

static pn_status first_failure(const sampler *self, pn_err *err)
{
    const failure *first = NULL;

    for (unsigned w = 0; w < pn_task_threads(self->task); w++) {
        const failure *here = &self->failures[w];

        if (here->status != PN_OK && (!first || here->block < first->block))
            first = here;
    }
    if (first && err)
        *err = first->err;
    return first ? first->status : PN_OK;
}

/* The normal numbers of stream `block` of the round. */
static pn_status fill(const sampler *self, size_t block, double *out, size_t n, pn_err *err)
{
    pn_rng *stream;
    pn_status status = pn_rng_split(&stream, self->rng, self->first + block, err);

    if (status == PN_OK) {
        pn_rng_many_normals(stream, n, out);
        pn_rng_free(stream);
    }
    return status;
}

/* ---- by the support function ---- */

static pn_status draw_one(const sampler *self, double *b, double *draw, pn_err *err)
{
    const pn_set *set = self->set;
    double back;
    pn_status status = set->ops->support(set, b, NULL, draw, err);

    if (status != PN_OK || !self->both)
        return status;
    for (size_t j = 0; j < set->dim; j++)
        b[j] = -b[j];
    status = set->ops->support(set, b, NULL, &back, err);
    *draw = 0.5 * (*draw + back);
    return status;
}

static void draw_block(void *ud, size_t block, unsigned worker)
{
    sampler *self = ud;
    size_t dim = self->set->dim, begin = block * self->in_block;
    size_t count = self->count - begin < self->in_block ? self->count - begin : self->in_block;
    double *b = self->normals + worker * self->in_block * dim;
    pn_status status = PN_OK;
    pn_err err;

    const pn_task *before;

    if (self->failures[worker].status != PN_OK)
        return;
    before = pn_stop_enter(self->stop);
    status = fill(self, block, b, count * dim, &err);
    for (size_t i = 0; i < count && status == PN_OK; i++)
        status = draw_one(self, b + i * dim, &self->draws[begin + i], &err);
    (void)pn_stop_enter(before);
    if (status != PN_OK)
        note(&self->failures[worker], block, status, &err);
}

static pn_status round_by_support(sampler *self, pn_err *err)
{
    size_t blocks = (self->count + self->in_block - 1) / self->in_block;
    pn_status status = pn_parallel(self->task, blocks, draw_block, self, err);
    pn_status failed = first_failure(self, err);

    self->first += blocks;
    return failed != PN_OK ? failed : status;
}

/* ---- by a product with the vertices ---- */

typedef struct product {
    sampler *sampler;
    size_t rows; /* of the normal numbers, in a block */
} product;

static void fill_block(void *ud, size_t block, unsigned worker)
{
    const product *self = ud;
    sampler *of = self->sampler;
    size_t begin = block * self->rows, left = of->set->dim - begin;
    pn_err err;
    pn_status status =
        fill(of, block, of->normals + begin * of->count, (left < self->rows ? left : self->rows) * of->count, &err);

    if (status != PN_OK)
        note(&of->failures[worker], block, status, &err);
}

/* draws[j] = max_i scores[i][j], or half of max - min */
static void reduce(sampler *self, const double *scores, size_t vertices)
{
    size_t count = self->count;
    double least[PRODUCT_MOST];

    for (size_t j = 0; j < count; j++)
        self->draws[j] = least[j] = scores[j];
    for (size_t i = 1; i < vertices; i++) {
        const double *row = scores + i * count;

        for (size_t j = 0; j < count; j++) {
            self->draws[j] = self->draws[j] > row[j] ? self->draws[j] : row[j];
            least[j] = least[j] < row[j] ? least[j] : row[j];
        }
    }
    for (size_t j = 0; self->both && j < count; j++)
        self->draws[j] = 0.5 * (self->draws[j] - least[j]);
}

static pn_status round_by_product(sampler *self, pn_err *err)
{
    size_t dim = self->set->dim, vertices = self->vertices.rows;
    product fills = { self, BLOCK_NUMBERS / self->count + 1 };
    size_t blocks = (dim + fills.rows - 1) / fills.rows;
    pn_mat normals = { self->normals, dim, self->count }, scores = { self->scores, vertices, self->count };
    pn_status status = pn_parallel(self->task, blocks, fill_block, &fills, err), failed = first_failure(self, err);

    self->first += blocks;
    if (failed != PN_OK || status != PN_OK)
        return failed != PN_OK ? failed : status;
    status = pn_mat_times_mat(scores, self->vertices, normals, err);
    if (status == PN_OK)
        reduce(self, self->scores, vertices);
    return status;
}

/* The vertices as a matrix where the set keeps them as one, else no rows. */
static pn_status find_vertices(const pn_set *set, pn_mat *found, pn_err *err)
{
    size_t count = pn_set_is_polytope(set) ? set->ops->atom_count(set) : 0;
    double *scratch = pn_alloc(set->dim, sizeof *scratch);

    *found = (pn_mat){ NULL, 0, set->dim };
    PN_TRY(pn_made(scratch, err, "width: out of memory"));
    for (size_t i = 0; i < count; i++) {
        pn_atom atom;

        set->ops->atom(set, i, &atom, scratch);
        if (atom.index || atom.value == scratch || (i > 0 && atom.value != found->data + i * set->dim))
            break;
        if (i == 0)
            found->data = (double *)(size_t)atom.value;
        found->rows = i + 1 == count ? count : 0;
    }
    pn_free(scratch);
    return PN_OK;
}

/* ---- running mean ---- */

static void fold(pn_draws_mean *of, const double *draws, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double from = draws[i] - of->mean;

        of->count++;
        of->mean += from / (double)of->count;
        of->squares += from * (draws[i] - of->mean);
    }
}

static pn_status run(sampler *self, size_t draws, pn_task *task, pn_draws_mean *of, pn_err *err)
{
    bool by_product = self->vertices.rows > 0;
    size_t most = by_product ? self->in_round : self->in_block; /* at first few, so that a slow set is heard of soon */
    pn_status status = PN_OK;

    for (size_t done = 0; done < draws && status == PN_OK; done += self->count) {
        const pn_progress now = { "width", (double)done, (double)draws, done > 0 ? of->mean : NAN, NAN, NAN, NULL };

        self->count = draws - done < most ? draws - done : most;
        most = most < self->in_round / 2 ? 2 * most : self->in_round;
        status = pn_task_tell(task, &now, err);
        if (status == PN_OK)
            status = by_product ? round_by_product(self, err) : round_by_support(self, err);
        if (status == PN_OK)
            fold(of, self->draws, self->count);
    }
    return status == PN_OK ? pn_task_report(task, "width", (double)draws, (double)draws, err) : status;
}

static size_t clamp(size_t n, size_t most)
{
    return n < 1 ? 1 : (n > most ? most : n);
}

/* Sizes that depend on the set alone; memory for them. */
static pn_status prepare(sampler *self, size_t draws, pn_err *err)
{
    size_t dim = self->set->dim, threads = pn_task_threads(self->task), vertices = self->vertices.rows;

    if (vertices > 0) {
        self->in_round = clamp(PRODUCT_NUMBERS / (vertices > dim ? vertices : dim), PRODUCT_MOST);
    } else {
        self->in_block = clamp(BLOCK_NUMBERS / dim, BLOCK_MOST);
        self->in_round = self->in_block * (self->task ? ROUND_BLOCKS : 1);
    }
    self->in_round = clamp(draws, self->in_round);
    self->failures = pn_calloc(threads, sizeof *self->failures);
    self->draws = pn_alloc(self->in_round, sizeof *self->draws);
    self->scores = vertices > 0 ? pn_alloc(vertices * self->in_round, sizeof *self->scores) : NULL;
    self->normals = pn_alloc(dim * (vertices > 0 ? self->in_round : threads * self->in_block), sizeof *self->normals);
    if (!self->failures || !self->draws || !self->normals || (vertices > 0 && !self->scores))
        return pn_fail(err, PN_ENOMEM, "width: out of memory");
    return PN_OK;
}

pn_status pn_draw_widths(const pn_set *set, size_t draws, bool both, pn_rng *rng, pn_task *task, pn_draws_mean *of,
                         pn_err *err)
{
    sampler self = { .set = set, .both = both, .rng = rng, .first = pn_rng_u64(rng), .stop = task };
    pn_status status = find_vertices(set, &self.vertices, err);

    self.task = set->ops->single_thread ? NULL : task;
    if (status == PN_OK)
        status = prepare(&self, draws, err);
    if (status == PN_OK)
        status = run(&self, draws, task, of, err);
    pn_free(self.failures);
    pn_free(self.draws);
    pn_free(self.scores);
    pn_free(self.normals);
    return status;
}
