/* hessian.c -- value, gradient and the packed Hessian of the mean loss,
 * X^T D X / n with D the losses' second derivatives, in one pass.
 * Depends on: objective_impl.h, second_order.h, data/rows.h, BLAS.  Used by: objective.h's and second_order.h's
 * callers.
 *
 * A block of rows is read from memory once: margins, slopes and second derivatives, the gradient's sum, and the rows
 * times the roots of their second derivatives, to a panel of rows that stays in the second-level cache; a full panel
 * goes through BLAS, rows of negative second derivatives with the other sign.  Records belong to the chunks of an
 * ordinary pass, so value and gradient have its bits, and chunks to a fixed number of groups, each with a packed matrix
 * of its own.  These are added in order: the result is the same for any number of
 * threads.  Of many features there is one group, and threads share the tiles of its matrix.  A loss of several margins
 * has a Hessian S in them: the block of classes k and l is X^T diag(S_kl) X / n,
 * formed like that of one margin from the rows of a panel. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/rows.h"
#include "numeric/blas_threads.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/objective_impl.h"
#include "objective/passes/second_order.h"

#define GROUP_ROOM  ((size_t)1 << 22) /* doubles in all matrices together, when one has less */
#define TILE        192               /* side of a tile, at most: it stays in the second-level cache */
#define SHARED_FROM 512               /* features above which threads share the tiles of a dense matrix */
#define PACKED_MAX  ((size_t)1 << 31)

typedef struct forming {
    pn_objective *objective;
    const pn_batch *batch; /* NULL: all records */
    const double *theta;
    bool want_value, want_gradient;
    bool majorant; /* weights of majorant.c; of several margins one matrix of order p, of weights B */
    pn_partition part;
    size_t groups, per_group; /* chunks of a group */
    size_t size;              /* of a packed matrix */
    size_t side, sides;       /* of a tile, and how many there are in a row */
    double *first, *others;   /* the packed matrix of group 0, those of the others */
    double *partial;          /* [chunks][dim + 1]: gradient and value */
    double *scratch;          /* [threads][room] */
    size_t room;
    pn_task *task;
    pn_status status; /* of the one group */
    pn_err *err;
} forming;

/* What a worker needs. */
typedef struct desk {
    double *z, *slope, *along; /* [margins][rows of a block] */
    double *bend;              /* [pairs][rows of a block] */
    double *labels;
    double *gathered;   /* [rows of a block * p] when records are picked from dense data */
    double *panel;      /* [PN_HESSIAN_ROWS * p] rows times roots, dense data */
    size_t plus, minus; /* rows of the panel: positive ones from its front, negative ones from its back */
    double *waiting;    /* of several margins: [PN_HESSIAN_ROWS * p] rows that wait for every pair's turn, */
    double *weights;    /* [pairs][PN_HESSIAN_ROWS] and their second derivatives */
    size_t count;
} desk;

/* One panel and where it goes. */
typedef struct pressing {
    const forming *self;
    const desk *at;
    double *packed;
    size_t k, l; /* the pair of margins */
} pressing;

/* ---- a worker's memory ---- */

/* Pairs of margins (k, l), k <= l, of number l (l + 1)/2 + k. */
static size_t pair_count(const pn_objective *objective)
{
    return objective->loss->margins * (objective->loss->margins + 1) / 2;
}

static size_t panel_room(const pn_objective *objective)
{
    return objective->data->sparse ? 0 : PN_HESSIAN_ROWS * objective->data->p;
}

static size_t waiting_room(const pn_objective *objective)
{
    if (objective->data->sparse || objective->loss->margins == 1)
        return 0;
    return panel_room(objective) + PN_HESSIAN_ROWS * pair_count(objective);
}

static size_t tile_room(const forming *self)
{
    return self->objective->data->sparse ? 0 : self->side * self->side;
}

static size_t worker_room(const forming *self)
{
    const pn_objective *objective = self->objective;

    return (3 * objective->loss->margins + pair_count(objective) + 1) * objective->block_rows +
           pn_batch_room(objective, self->batch) + panel_room(objective) + waiting_room(objective) + tile_room(self);
}

static desk desk_of(const forming *self, unsigned worker)
{
    const pn_objective *objective = self->objective;
    size_t rows = objective->block_rows, each = rows * objective->loss->margins;
    double *at = self->scratch + worker * self->room + tile_room(self);
    desk out = { .z = at, .slope = at + each, .along = at + 2 * each, .bend = at + 3 * each };

    out.labels = out.bend + pair_count(objective) * rows;
    out.gathered = out.labels + rows;
    out.panel = out.gathered + pn_batch_room(objective, self->batch);
    out.waiting = out.panel + panel_room(objective);
    out.weights = out.waiting + panel_room(objective);
    return out;
}

/* ---- a block: second derivatives, slopes, the gradient's sum ---- */

/* One weight a record. */
static void weigh_one(const forming *self, const pn_block *block, const desk *at, const double *y)
{
    const pn_objective *objective = self->objective;

    if (objective->loss->margins > 1) {
        for (size_t r = 0; r < block->count; r++)
            at->bend[r] = objective->bounds.loss.curvature.high;
        return;
    }
    pn_bend_one(objective, block, at->z, y, at->slope, at->along, at->bend);
    if (self->majorant)
        pn_majorant_weights(objective, block, at->z, y, at->slope, at->bend);
}

/* Value, gradient and second derivatives of a block. */
static void weigh(const forming *self, const pn_block *block, const desk *at, double *gradient, double *value)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;
    const double *y = pn_block_labels(block, at->labels);
    bool slopes = self->want_gradient || objective->norms || self->majorant;

    if (slopes || self->want_value)
        loss->ops->evaluate(loss, block->count, at->z, y, self->want_value ? at->along : NULL,
                            slopes ? at->slope : NULL);
    if (self->want_value)
        *value += pn_block_sum(at->along, block->count);
    if (loss->margins == 1 || self->majorant)
        weigh_one(self, block, at, y);
    if (self->want_gradient) {
        pn_block_enforce(objective, block, at->slope);
        for (size_t k = 0; k < loss->margins; k++)
            pn_block_add(block, at->slope + k * block->count, gradient + k * objective->data->p);
    }
    if (loss->margins > 1 && !self->majorant) /* the slopes have been added already */
        pn_bend_margins(objective, block->count, at->z, y, at->along, at->slope, at->bend);
}

/* ---- the products ---- */

/* Tile t of the panel's products: columns of the tiles (i, j), i <= j, t = j (j + 1)/2 + i. */
static void press_tile(void *context, size_t t, unsigned worker)
{
    const pressing *press = context;
    const forming *self = press->self;
    const desk *at = press->at;
    size_t p = self->objective->data->p, side = self->side, j = 0, i, rows, columns;
    double *values = self->scratch + worker * self->room;
    const double *minus = at->panel + (PN_HESSIAN_ROWS - at->minus) * p;

    while ((j + 1) * (j + 2) / 2 <= t)
        j++;
    i = (t - j * (j + 1) / 2) * side;
    j *= side;
    rows = p - i < side ? p - i : side;
    columns = p - j < side ? p - j : side;
    if (i == j) {
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)columns, (int)at->plus, 1.0, at->panel + j, (int)p,
                    0.0, values, (int)side);
        if (at->minus)
            cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)columns, (int)at->minus, -1.0, minus + j, (int)p,
                        1.0, values, (int)side);
    } else {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)rows, (int)columns, (int)at->plus, 1.0, at->panel + i,
                    (int)p, at->panel + j, (int)p, 0.0, values, (int)side);
        if (at->minus)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)rows, (int)columns, (int)at->minus, -1.0,
                        minus + i, (int)p, minus + j, (int)p, 1.0, values, (int)side);
    }
    pn_packed_add_tile(press->packed, p, press->k, press->l,
                       &(pn_tile){ .values = values, .side = side, .i = i, .j = j, .rows = rows, .columns = columns });
}

/* packed += the panel's products, of the pair of margins (k, l); the panel is empty then. */
static void press_panel(forming *self, desk *at, size_t k, size_t l, double *packed, unsigned worker)
{
    pressing press = { self, at, packed, k, l };
    size_t tiles = self->sides * (self->sides + 1) / 2;

    if (at->plus + at->minus == 0)
        return;
    if (self->groups == 1 && self->sides > 1) {
        if (self->status == PN_OK)
            self->status = pn_parallel(self->task, tiles, press_tile, &press, self->err);
    } else {
        for (size_t t = 0; t < tiles; t++)
            press_tile(&press, t, worker);
    }
    at->plus = at->minus = 0;
}

/* A row with its second derivative, to the panel.  One that is no number stays in the sum. */
static double *panel_row(desk *at, double bend, size_t p)
{
    return at->panel + (bend < 0.0 ? PN_HESSIAN_ROWS - ++at->minus : at->plus++) * p;
}

static void add_dense(forming *self, const pn_block *block, desk *at, double *packed, unsigned worker)
{
    size_t p = block->data->p;

    if (at->plus + at->minus + block->count > PN_HESSIAN_ROWS)
        press_panel(self, at, 0, 0, packed, worker);
    for (size_t r = 0; r < block->count; r++) {
        double root = sqrt(fabs(at->bend[r])), *row;

        if (at->bend[r] == 0.0)
            continue;
        row = panel_row(at, at->bend[r], p);
        pn_block_row(block, r, row);
        block->simd->multiply(p, row, 1, &root, 0, row);
    }
}

/* The rows that wait, pair after pair. */
static void press_pairs(forming *self, desk *at, double *packed, unsigned worker)
{
    size_t margins = self->objective->loss->margins, p = self->objective->data->p;
    const pn_simd *simd = pn_simd_best();

    for (size_t l = 0; l < margins; l++) {
        for (size_t k = 0; k <= l; k++) {
            const double *bend = at->weights + (l * (l + 1) / 2 + k) * PN_HESSIAN_ROWS;

            for (size_t r = 0; r < at->count; r++) {
                double root = sqrt(fabs(bend[r]));

                if (bend[r] != 0.0)
                    simd->multiply(p, at->waiting + r * p, 1, &root, 0, panel_row(at, bend[r], p));
            }
            press_panel(self, at, k, l, packed, worker);
        }
    }
    at->count = 0;
}

static void wait_dense(forming *self, const pn_block *block, desk *at, double *packed, unsigned worker)
{
    size_t p = block->data->p, pairs = pair_count(self->objective);

    if (at->count + block->count > PN_HESSIAN_ROWS)
        press_pairs(self, at, packed, worker);
    for (size_t r = 0; r < block->count; r++)
        pn_block_row(block, r, at->waiting + (at->count + r) * p);
    for (size_t pair = 0; pair < pairs; pair++)
        memcpy(at->weights + pair * PN_HESSIAN_ROWS + at->count, at->bend + pair * block->count,
               block->count * sizeof *at->bend);
    at->count += block->count;
}

/* ---- the pass ---- */

/* Margins that have blocks of their own. */
static size_t matrices(const forming *self)
{
    return self->majorant ? 1 : self->objective->loss->margins;
}

static void form_block(forming *self, pn_block *block, desk *at, double *packed, double *partial, unsigned worker)
{
    const pn_objective *objective = self->objective;

    pn_block_gather(block, at->gathered);
    pn_block_margins(objective, block, self->theta, at->z);
    weigh(self, block, at, partial, partial + objective->dim);
    if (!objective->data->sparse && matrices(self) == 1)
        add_dense(self, block, at, packed, worker);
    else if (!objective->data->sparse)
        wait_dense(self, block, at, packed, worker);
    for (size_t l = 0; objective->data->sparse && l < matrices(self); l++) {
        for (size_t k = 0; k <= l; k++)
            pn_packed_add_sparse(packed, block, k, l, at->bend + (l * (l + 1) / 2 + k) * block->count);
    }
}

static void form_group(void *context, size_t group, unsigned worker)
{
    forming *self = context;
    size_t dim = self->objective->dim, end = (group + 1) * self->per_group;
    double *packed = group == 0 ? self->first : self->others + (group - 1) * self->size;
    desk at = desk_of(self, worker);

    memset(packed, 0, self->size * sizeof *packed);
    for (size_t chunk = group * self->per_group; chunk < end && chunk < self->part.chunks; chunk++) {
        double *partial = self->partial + chunk * (dim + 1);
        pn_block block = { 0 };

        memset(partial, 0, (dim + 1) * sizeof *partial);
        while (self->status == PN_OK && pn_block_next(&block, self->objective, self->batch, self->part, chunk))
            form_block(self, &block, &at, packed, partial, worker);
    }
    if (at.count)
        press_pairs(self, &at, packed, worker);
    press_panel(self, &at, 0, 0, packed, worker);
}

static void combine(const forming *self, double *value, double *gradient)
{
    size_t dim = self->objective->dim;
    double denominator = self->batch ? self->batch->denominator : (double)self->objective->data->n;

    for (size_t group = 1; group < self->groups; group++) {
        for (size_t i = 0; i < self->size; i++)
            self->first[i] += self->others[(group - 1) * self->size + i];
    }
    for (size_t i = 0; i < self->size; i++)
        self->first[i] /= denominator;
    pn_pass_combine(self->partial, self->part.chunks, dim, denominator, value, gradient);
}

/* ---- partition ---- */

size_t pn_hessian_groups(const pn_objective *objective)
{
    size_t size = pn_hessian_size(objective->dim), groups = size ? GROUP_ROOM / size : 1;

    if (!objective->data->sparse && objective->data->p > SHARED_FROM)
        return 1;
    return groups < 1 ? 1 : groups > PN_HESSIAN_GROUPS ? PN_HESSIAN_GROUPS : groups;
}

/* All records: the chunks of an ordinary pass.  A batch: by public numbers alone, since no bit of what a batch gives
 * may depend on records outside of it. */
static void cut(forming *self)
{
    size_t records = pn_batch_records(self->objective, self->batch), rows = self->objective->block_rows;
    size_t groups = pn_hessian_groups(self->objective), p = self->objective->data->p;

    self->size = pn_hessian_size(self->majorant ? p : self->objective->dim);
    self->sides = (p + TILE - 1) / TILE;
    self->side = (p + self->sides - 1) / self->sides;
    if (records == 0) {
        self->part = (pn_partition){ 0, 1 };
    } else if (self->batch) {
        self->part.chunk_rows = ((records + groups - 1) / groups + rows - 1) / rows * rows;
        self->part.chunks = (records + self->part.chunk_rows - 1) / self->part.chunk_rows;
    } else {
        self->part = pn_objective_partition(self->objective, records);
    }
    self->per_group = (self->part.chunks + groups - 1) / groups;
    self->groups = self->part.chunks ? (self->part.chunks + self->per_group - 1) / self->per_group : 1;
}

static pn_status share_groups(forming *self, pn_status before, pn_err *err)
{
    size_t width = self->objective->dim + 1;
    const pn_ranks_part parts[] = {
        { .data = self->others, .bytes = self->size * sizeof(double), .head = self->first },
        { .data = self->partial,
          .bytes = self->per_group * width * sizeof(double),
          .total = self->part.chunks * width * sizeof(double) },
    };
    /* Whatever the size: the workers call it, and OpenBLAS's own threads would wait for them. */
    bool alone = pn_blas_alone(0);
    pn_status status = pn_share_chunks(self->objective,
                                       &(pn_shared){ .chunks = self->groups,
                                                     .chunk_rows = self->per_group * self->part.chunk_rows,
                                                     .body = form_group,
                                                     .self = self,
                                                     .parts = parts,
                                                     .part_count = 2,
                                                     .theta = self->theta,
                                                     .batch = self->batch },
                                       before, self->task, err);

    pn_blas_alone_end(alone);
    return self->status != PN_OK ? self->status : status;
}

static pn_status run(forming *self, double *value, double *gradient, pn_err *err)
{
    pn_status status = PN_OK;

    cut(self);
    self->room = worker_room(self);
    self->others = pn_alloc(self->groups - 1, self->size * sizeof(double));
    self->partial = pn_alloc(self->part.chunks + 1, (self->objective->dim + 1) * sizeof(double));
    self->scratch = pn_alloc(pn_task_threads(self->task), self->room * sizeof(double));
    if (!self->others || !self->partial || !self->scratch)
        status =
            pn_fail(err, PN_ENOMEM, "objective: out of memory for a Hessian of order %zu", self->objective->data->p);
    status = share_groups(self, status, err);
    if (status == PN_OK)
        combine(self, value, gradient);
    pn_free(self->others);
    pn_free(self->partial);
    pn_free(self->scratch);
    return status;
}

/* ---- what callers ask for ---- */

static pn_status check(const pn_objective *objective, const pn_batch *batch, const double *theta, pn_err *err)
{
    size_t size = pn_hessian_size(objective->dim);
    pn_status status = pn_need_hessian(objective, err);

    if (status == PN_OK && (size == 0 || size > PACKED_MAX))
        status = pn_fail(err, PN_EDIM,
                         "objective: the packed Hessian of %zu parameters would take %.3g GiB; at most 65535 "
                         "parameters have one",
                         objective->dim, 0x1p-28 * (double)objective->dim * (double)objective->dim);
    if (status == PN_OK)
        status = pn_check_point("objective", "theta", theta, objective->dim, err);
    return status == PN_OK ? pn_check_batch(objective, batch, err) : status;
}

static pn_status form(pn_objective *objective, const pn_batch *batch, bool majorant, const double *theta, double *value,
                      double *gradient, double *packed, pn_task *task, pn_err *err)
{
    bool constant = packed && !batch && objective->gram.matrix && pn_objective_uses_gram(objective);
    bool apart = !packed || batch || constant; /* value and gradient by themselves */
    forming self = { .objective = objective,
                     .batch = batch,
                     .theta = theta,
                     .want_value = value && !apart,
                     .want_gradient = gradient && !apart,
                     .majorant = majorant,
                     .first = packed,
                     .task = task,
                     .err = err };
    pn_status status = packed ? check(objective, batch, theta, err) : PN_OK;

    if (status == PN_OK && apart && (value || gradient))
        status = pn_objective_losses(objective, batch, theta, value, gradient, task, err);
    if (status != PN_OK || !packed)
        return status;
    if (constant) {
        pn_packed_copy(packed, objective->gram.matrix, objective->dim);
        return PN_OK;
    }
    return run(&self, apart ? NULL : value, apart ? NULL : gradient, err);
}

pn_status pn_objective_quadratic(pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                                 double *gradient, double *packed, pn_task *task, pn_err *err)
{
    return form(objective, batch, false, theta, value, gradient, packed, task, err);
}

pn_status pn_objective_majorant(pn_objective *objective, const double *theta, double *value, double *gradient,
                                double *packed, pn_task *task, pn_err *err)
{
    return form(objective, NULL, true, theta, value, gradient, packed, task, err);
}
