/* differences.c -- central differences of the mean loss along many directions, in one pass over the data: the margins
 * of a block of records along a panel of directions are one product of matrices, and losses are evaluated for many
 * pairs of a record and a direction at once.
 * Depends on: objective_impl.h, numeric/blas.h.  Used by: objective.h's callers.  See zeroth-order.md. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/blas_threads.h"
#include "objective/passes/objective_impl.h"

#define PANEL      512
#define BLOCK_ROWS 256
#define GATHER     ((size_t)1 << 20) /* of which so many entries fit, if they have to be gathered */

typedef struct sweep {
    pn_objective *objective;
    const pn_batch *batch;
    const double *theta, *directions;
    size_t count;
    double radius;
    size_t rows; /* of a block */
    pn_partition part;
    double *transposed; /* panel after panel: [margins][p * width] */
    double *partial;    /* [chunks * count] */
    double *scratch;    /* [threads * scratch_size] */
    size_t scratch_size;
} sweep;

/* ---- the cut ---- */

static size_t panel_width(const sweep *self, size_t first)
{
    return self->count - first < PANEL ? self->count - first : PANEL;
}

/* Whether records are copied to be doubles one after the other. */
static bool gathers(const sweep *self)
{
    return !self->objective->data->sparse && (self->batch || self->objective->data->single);
}

static void cut(sweep *self, size_t records)
{
    size_t p = self->objective->data->p, chunks;

    self->rows = gathers(self) && p > GATHER / BLOCK_ROWS ? GATHER / p : BLOCK_ROWS;
    if (self->rows == 0)
        self->rows = 1;
    self->part = (pn_partition){ 0, self->rows };
    if (records == 0)
        return;
    chunks = (records + self->rows - 1) / self->rows;
    if (chunks > PN_CHUNKS_MAX)
        self->part.chunk_rows = (chunks + PN_CHUNKS_MAX - 1) / PN_CHUNKS_MAX * self->rows;
    self->part.chunks = (records + self->part.chunk_rows - 1) / self->part.chunk_rows;
}

/* A worker's memory: margins and labels of a block, its steps along a panel, and what losses and gathering need. */
static size_t room_size(const sweep *self)
{
    size_t inputs = pn_loss_inputs(self->objective->loss), width = panel_width(self, 0);

    return self->rows * (inputs + 1) + inputs * self->rows * width + PN_MOVED_ROOM(inputs) + PN_LOSS_BLOCK +
           (gathers(self) ? self->rows * self->objective->data->p : 0);
}

/* ---- a block ---- */

static size_t record_of(const sweep *self, size_t position)
{
    return self->batch ? self->batch->rows[position] : position;
}

/* The dense records of a block, one after the other, in place or in `room`. */
static const double *dense_rows(const sweep *self, size_t first, size_t count, double *room)
{
    const pn_dataset *data = self->objective->data;

    if (!gathers(self))
        return data->dense + (first - data->first) * data->p;
    for (size_t r = 0; r < count; r++)
        pn_record_features(self->objective, record_of(self, first + r), room + r * data->p);
    return room;
}

/* steps[r][width] = sum over the entries of record r of x_rj times row j of the panel. */
static void sparse_steps(const sweep *self, size_t first, size_t count, const double *panel, size_t width,
                         double *steps)
{
    const pn_objective *objective = self->objective;
    const pn_simd *simd = pn_simd_best();

    memset(steps, 0, count * width * sizeof *steps);
    for (size_t r = 0; r < count; r++) {
        size_t i = record_of(self, first + r);
        const pn_dataset *data = pn_lent_source(objective->lent, objective->data, &i);

        for (size_t e = pn_csr_place(data, i); e < pn_csr_place(data, i + 1); e++) {
            double x = data->csr_single ? (double)data->csr_single[e] : data->csr.value[e];

            simd->dense_add_transposed(panel + data->csr.column[e] * width, 1, width, &x, steps + r * width);
        }
    }
}

/* The same for dense records: one product. */
static void dense_steps(const sweep *self, const double *x, size_t count, const double *panel, size_t width,
                        double *steps)
{
    size_t p = self->objective->data->p;

    (void)pn_mat_times_mat((pn_mat){ steps, count, width }, (pn_mat){ (double *)x, count, p },
                           (pn_mat){ (double *)panel, p, width }, NULL); /* sizes were looked at */
}

/* steps[input][r][width]: further parameters move as the directions say, whatever the record is. */
static void find_steps(const sweep *self, const double *x, size_t first, size_t count, const double *panel,
                       size_t width, double *steps)
{
    const pn_loss *loss = self->objective->loss;
    size_t rows = self->objective->data->p * width;

    for (size_t k = 0; k < loss->margins; k++, panel += rows, steps += count * width) {
        if (x)
            dense_steps(self, x, count, panel, width, steps);
        else
            sparse_steps(self, first, count, panel, width, steps);
    }
    for (size_t k = 0; k < loss->extra; k++, panel += width) {
        for (size_t r = 0; r < count; r++, steps += width)
            memcpy(steps, panel, width * sizeof *steps);
    }
}

/* sums[width] += the differences along a panel of directions. */
static void add_differences(const pn_moved *moved, double *room, double *values, double *sums)
{
    size_t pairs = moved->records * moved->lines;

    for (size_t begin = 0, count; begin < pairs; begin += count) {
        size_t j = begin % moved->lines;

        count = pn_moved_losses(moved, begin, room, values);
        for (size_t t = 0; t < count;) {
            size_t end = t + (moved->lines - j < count - t ? moved->lines - j : count - t);

            for (; t < end; t++, j++)
                sums[j] += values[t] - values[count + t];
            j = 0;
        }
    }
}

static void run_block(const sweep *self, size_t first, size_t count, double *room, double *sums)
{
    const pn_objective *objective = self->objective;
    size_t inputs = pn_loss_inputs(objective->loss), width;
    double *z = room, *y = z + self->rows * inputs, *steps = y + self->rows;
    double *slice = steps + inputs * self->rows * panel_width(self, 0), *values = slice + PN_MOVED_ROOM(inputs);
    const double *x = objective->data->sparse ? NULL : dense_rows(self, first, count, values + PN_LOSS_BLOCK);
    const pn_block block = { .data = objective->data,
                             .lent = objective->lent,
                             .simd = pn_simd_best(),
                             .rows = self->batch ? self->batch->rows + first : NULL,
                             .first = first,
                             .count = count,
                             .dense = x };

    pn_block_margins(objective, &block, self->theta, z);
    for (size_t r = 0; r < count; r++)
        y[r] = objective->data->y[record_of(self, first + r)];
    for (size_t begin = 0; begin < self->count; begin += width) {
        const double *panel = self->transposed + begin * objective->dim;
        pn_moved moved = { .loss = objective->loss, .records = count, .sides = 2, .radius = self->radius };

        width = panel_width(self, begin);
        find_steps(self, x, first, count, panel, width, steps);
        moved.lines = width;
        moved.z[0] = z;
        moved.steps = steps;
        moved.y = y;
        add_differences(&moved, slice, values, sums + begin);
    }
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const sweep *self = context;
    size_t records = pn_batch_records(self->objective, self->batch), first = chunk * self->part.chunk_rows;
    size_t end = records - first < self->part.chunk_rows ? records : first + self->part.chunk_rows;
    double *sums = self->partial + chunk * self->count;

    memset(sums, 0, self->count * sizeof *sums);
    for (; first < end; first += self->rows)
        run_block(self, first, end - first < self->rows ? end - first : self->rows,
                  self->scratch + worker * self->scratch_size, sums);
}

/* ---- a sweep ---- */

static void transpose_panels(sweep *self)
{
    size_t dim = self->objective->dim, width;

    for (size_t begin = 0; begin < self->count; begin += width) {
        width = panel_width(self, begin);
        pn_mat_transpose(self->transposed + begin * dim,
                         (pn_mat){ (double *)(self->directions + begin * dim), width, dim });
    }
}

static void combine(const sweep *self, double *out)
{
    double denominator = self->batch ? self->batch->denominator : (double)self->objective->data->n;

    for (size_t k = 0; k < self->count; k++) {
        double total = 0.0;

        for (size_t chunk = 0; chunk < self->part.chunks; chunk++)
            total += self->partial[chunk * self->count + k];
        out[k] = 0.5 * (total / self->radius / denominator);
    }
}

static pn_status share_sweep(sweep *self, pn_status before, pn_task *task, pn_err *err)
{
    const pn_ranks_part part = { .data = self->partial, .bytes = self->count * sizeof(double) };
    bool alone = pn_blas_alone(0);
    pn_status status = pn_share_chunks(self->objective,
                                       &(pn_shared){ .chunks = self->part.chunks,
                                                     .chunk_rows = self->part.chunk_rows,
                                                     .body = run_chunk,
                                                     .self = self,
                                                     .parts = &part,
                                                     .part_count = 1,
                                                     .theta = self->theta,
                                                     .batch = self->batch },
                                       before, task, err);

    pn_blas_alone_end(alone);
    return status;
}

static pn_status run_sweep(sweep *self, double *out, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    if (self->objective->data->p > INT_MAX)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: differences of more than %d features", INT_MAX);
    cut(self, pn_batch_records(self->objective, self->batch));
    self->scratch_size = room_size(self);
    self->transposed = pn_alloc(self->count + 1, self->objective->dim * sizeof(double));
    self->partial = pn_alloc(self->part.chunks + 1, self->count * sizeof(double));
    self->scratch = pn_alloc(pn_task_threads(task), self->scratch_size * sizeof(double));
    if (self->transposed && self->partial && self->scratch)
        transpose_panels(self);
    else
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu differences", self->count);
    status = share_sweep(self, status, task, err);
    if (status == PN_OK)
        combine(self, out);
    pn_free(self->transposed);
    pn_free(self->partial);
    pn_free(self->scratch);
    return status;
}

/* ---- black boxes: all points of a record in one call, as far as they fit ---- */

#define POINTS_MOST 262144 /* numbers of the points of one pass: 2 MB */

/* points[2 * count][dim]: theta moved ahead and back along directions first, first + 1 ... */
static pn_status lay_points(const sweep *self, size_t first, size_t count, double *points, pn_err *err)
{
    size_t dim = self->objective->dim;
    pn_status status = PN_OK;

    for (size_t k = 0; status == PN_OK && k < 2 * count; k++) {
        const double *direction = self->directions + (first + k / 2) * dim;
        double step = k % 2 ? -self->radius : self->radius, *point = points + k * dim;

        for (size_t j = 0; j < dim; j++)
            point[j] = self->theta[j] + step * direction[j];
        status = pn_check_point("objective", "theta moved along a direction", point, dim, err);
    }
    return status;
}

/* means[2 * count] */
static pn_status mean_passes(const sweep *self, size_t group, double *points, double *means, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t first = 0; status == PN_OK && first < self->count; first += group) {
        size_t count = self->count - first < group ? self->count - first : group;

        status = lay_points(self, first, count, points, err);
        if (status == PN_OK)
            status =
                pn_record_means(self->objective, self->batch, points, 2 * count, means + 2 * first, NULL, task, err);
    }
    return status;
}

static pn_status by_calls(const sweep *self, double *out, pn_task *task, pn_err *err)
{
    size_t dim = self->objective->dim, group = POINTS_MOST / 2 / dim;
    double *points, *means;
    pn_status status;

    group = group < 1 ? 1 : group < self->count ? group : self->count;
    points = pn_alloc(2 * group, dim * sizeof *points);
    means = pn_alloc(2 * self->count + 1, sizeof *means);
    status = points && means ? mean_passes(self, group, points, means, task, err)
                             : pn_fail(err, PN_ENOMEM, "objective: out of memory for points of %zu entries", dim);
    for (size_t k = 0; status == PN_OK && k < self->count; k++)
        out[k] = 0.5 * ((means[2 * k] - means[2 * k + 1]) / self->radius);
    pn_free(points);
    pn_free(means);
    return status;
}

pn_status pn_objective_differences(pn_objective *objective, const pn_batch *batch, const double *theta,
                                   const double *directions, size_t count, double radius, double *out, pn_task *task,
                                   pn_err *err)
{
    sweep self = { .objective = objective,
                   .batch = batch,
                   .theta = theta,
                   .directions = directions,
                   .count = count,
                   .radius = radius };
    pn_status status = pn_check_point("objective", "theta", theta, objective->dim, err);

    if (status == PN_OK)
        status = pn_check_point("objective", "directions", directions, count * objective->dim, err);
    if (status == PN_OK)
        status = pn_check_batch(objective, batch, err);
    if (status == PN_OK && (!(radius > 0.0) || isinf(radius)))
        status =
            pn_fail(err, PN_EINVAL, "objective: the radius of differences must be a positive number, got %g", radius);
    if (status != PN_OK)
        return status;
    return objective->loss->margins > 0 ? run_sweep(&self, out, task, err) : by_calls(&self, out, task, err);
}
