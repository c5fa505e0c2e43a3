/* differences.c -- central differences of the mean loss along many directions, in one pass over the data: a block's margins at
 * theta and along every direction are all that is needed.
 * Depends on: objective_impl.h.  Used by: objective.h's callers.  Spec: zeroth-order.md. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/objective_impl.h"

typedef struct sweep {
    pn_objective *objective;
    const pn_batch *batch;
    const double *theta, *directions;
    size_t count;
    double radius;
    pn_partition part;
    double *partial; /* [chunks * count] */
    double *scratch; /* [threads * scratch_size] */
    size_t scratch_size;
} sweep;

/* One block's margins, moved margins, two rows of values, labels and gathered rows. */
static size_t room_size(const sweep *self)
{
    const pn_objective *objective = self->objective;
    size_t rows = objective->block_rows;

    return rows * (3 * objective->loss->margins + 3) + pn_batch_room(objective, self->batch);
}

/* Losses at margins z + radius u. */
static void move(const pn_objective *objective, const pn_block *block, const double *z, const double *u, double radius,
                 const double *y, double *moved, double *values)
{
    for (size_t i = 0; i < block->count * objective->loss->margins; i++)
        moved[i] = z[i] + radius * u[i];
    objective->loss->ops->evaluate(objective->loss, block->count, moved, y, values, NULL);
}

static void run_block(const sweep *self, pn_block *block, double *room, double *sums)
{
    const pn_objective *objective = self->objective;
    size_t rows = objective->block_rows, each = rows * objective->loss->margins;
    double *z = room, *u = z + each, *moved = u + each, *ahead = moved + each, *behind = ahead + rows;
    double *labels = behind + rows;
    const double *y;

    pn_block_gather(block, labels + rows);
    y = pn_block_labels(block, labels);
    pn_block_margins(self->objective, block, self->theta, z);
    for (size_t k = 0; k < self->count; k++) {
        pn_block_margins(self->objective, block, self->directions + k * objective->dim, u);
        move(objective, block, z, u, self->radius, y, moved, ahead);
        move(objective, block, z, u, -self->radius, y, moved, behind);
        for (size_t r = 0; r < block->count; r++)
            sums[k] += ahead[r] - behind[r];
    }
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const sweep *self = context;
    double *sums = self->partial + chunk * self->count;
    pn_block block = { 0 };

    memset(sums, 0, self->count * sizeof *sums);
    while (pn_block_next(&block, self->objective, self->batch, self->part, chunk))
        run_block(self, &block, self->scratch + worker * self->scratch_size, sums);
}

static pn_status run_sweep(sweep *self, double *out, pn_task *task, pn_err *err)
{
    size_t records = pn_batch_records(self->objective, self->batch);
    double denominator = self->batch ? self->batch->denominator : (double)self->objective->data->n;
    pn_status status;

    self->part = records ? pn_objective_partition(self->objective, records) : (pn_partition){ 0, 1 };
    self->scratch_size = room_size(self);
    self->partial = pn_alloc(self->part.chunks + 1, self->count * sizeof(double));
    self->scratch = pn_alloc(pn_task_threads(task), self->scratch_size * sizeof(double));
    status = self->partial && self->scratch
                 ? pn_parallel(task, self->part.chunks, run_chunk, self, err)
                 : pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu differences", self->count);
    for (size_t k = 0; status == PN_OK && k < self->count; k++) {
        double total = 0.0;

        for (size_t chunk = 0; chunk < self->part.chunks; chunk++)
            total += self->partial[chunk * self->count + k];
        out[k] = 0.5 * (total / self->radius / denominator);
    }
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
