/* pass.c -- one pass over the records: value, gradient, Hessian-vector product, factors.
 * Depends on: objective_impl.h, numeric/simd/simd.h.  Used by: objective.h's callers.
 *
 * A block of rows is read from memory once: its margins are computed, the loss turns them into one weight per record
 * (and margin), and the weighted sum of the rows is added while the block is still in the first-level cache.  Blocks
 * belong to chunks, each chunk has its own partial sum, and partial sums are added in chunk order: the result is the
 * same for any number of threads. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/passes/objective_impl.h"

typedef struct pass {
    pn_objective *objective;
    const pn_batch *batch; /* NULL: all records */
    const double *theta;
    const double *direction; /* Hessian-vector product when not NULL */
    bool want_value, want_vector;
    double *values, *factors; /* [n], [inputs][n]: of each record; NULL */
    pn_partition part;
    size_t width;    /* dim, or 0 when no vector is wanted */
    double *partial; /* [chunks * (width + 1)]: vector and value of each chunk */
    double *scratch; /* [threads * scratch_size] */
    size_t scratch_size;
} pass;

/* What a worker needs for a block: margins, weights, values along, labels, and gathered rows. */
typedef struct room {
    double *z, *weight, *along; /* [inputs * rows] each */
    double *labels;             /* [rows] */
    double *gathered;           /* [rows * p] when records are picked from dense data */
} room;

static size_t room_size(const pass *self)
{
    const pn_objective *objective = self->objective;
    size_t rows = objective->block_rows;

    return rows * (3 * pn_loss_inputs(objective->loss) + 1) + pn_batch_room(objective, self->batch);
}

static room room_of(const pass *self, unsigned worker)
{
    size_t rows = self->objective->block_rows, each = rows * pn_loss_inputs(self->objective->loss);
    double *at = self->scratch + worker * self->scratch_size;

    return (room){ at, at + each, at + 2 * each, at + 3 * each, at + 3 * each + rows };
}

/* Eight sums side by side: one addition need not wait for the last. */
double pn_block_sum(const double *x, size_t n)
{
    double sum[8] = { 0 };
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 8; k++)
            sum[k] += x[i + k];
    }
    for (; i < n; i++)
        sum[i % 8] += x[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void store_records(const pass *self, const pn_block *block, const double *values, const double *weight)
{
    size_t n = self->objective->data->n;

    if (self->values)
        memcpy(self->values + block->first, values, block->count * sizeof *values);
    for (size_t k = 0; self->factors && k < pn_loss_inputs(self->objective->loss); k++)
        memcpy(self->factors + k * n + block->first, weight + k * block->count, block->count * sizeof *weight);
}

/* Margins to weights, and the value when it is wanted. */
static void weigh(const pass *self, const pn_block *block, const room *at, double *value)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;
    const double *y = pn_block_labels(block, at->labels);
    bool slopes = self->want_vector || self->factors;

    if (self->direction) {
        loss->ops->curve(loss, block->count, at->z, y, at->along, at->weight);
        if (pn_loss_inputs(loss) == 1)
            pn_clamp_bends(&objective->bounds, block->count, at->along, at->weight);
        return;
    }
    loss->ops->evaluate(loss, block->count, at->z, y, self->want_value ? at->along : NULL, slopes ? at->weight : NULL);
    if (self->want_value)
        *value += pn_block_sum(at->along, block->count);
    if (slopes)
        pn_block_enforce(objective, block, at->weight);
    store_records(self, block, at->along, at->weight);
}

static void find_margins(const pass *self, const pn_block *block, const room *at)
{
    size_t p = self->objective->data->p, margins = self->objective->loss->margins, count = block->count;

    if (!self->direction) {
        pn_block_margins(self->objective, block, self->theta, at->z);
        return;
    }
    for (size_t k = 0; k < margins; k++)
        pn_block_times_both(block, self->theta + k * p, self->direction + k * p, at->z + k * count,
                            at->along + k * count);
    pn_block_extra(self->objective, count, self->theta, at->z + margins * count);
    pn_block_extra(self->objective, count, self->direction, at->along + margins * count);
}

static void run_block(const pass *self, pn_block *block, const room *at, double *g, double *value)
{
    pn_block_gather(block, at->gathered);
    find_margins(self, block, at);
    weigh(self, block, at, value);
    if (self->want_vector)
        pn_block_add_inputs(self->objective, block, at->weight, g);
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const pass *self = context;
    const pn_objective *objective = self->objective;
    double *g = self->partial + chunk * (self->width + 1), *value = g + self->width;
    room at = room_of(self, worker);
    pn_block block = { 0 };

    memset(g, 0, (self->width + 1) * sizeof *g);
    while (pn_block_next(&block, objective, self->batch, self->part, chunk))
        run_block(self, &block, &at, g, value);
}

/* Add the partial sums in chunk order and divide. */
void pn_pass_combine(const double *partial, size_t chunks, size_t dim, double denominator, double *value,
                     double *vector)
{
    double total = 0.0;

    for (size_t chunk = 0; chunk < chunks; chunk++)
        total += partial[chunk * (dim + 1) + dim];
    if (value)
        *value = total / denominator;
    if (!vector)
        return;
    memset(vector, 0, dim * sizeof *vector);
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const double *g = partial + chunk * (dim + 1);

        for (size_t j = 0; j < dim; j++)
            vector[j] += g[j];
    }
    for (size_t j = 0; j < dim; j++)
        vector[j] /= denominator;
}

/* ---- checks ---- */

pn_status pn_check_point(const char *who, const char *what, const double *x, size_t n, pn_err *err)
{
    size_t bad = pn_first_nonfinite(x, n);

    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at entry %zu", who, what, x[bad],
                       bad + 1);
    return PN_OK;
}

pn_status pn_check_batch(const pn_objective *objective, const pn_batch *batch, pn_err *err)
{
    pn_status status = pn_dataset_need_share(objective->data, "objective", err);

    if (status != PN_OK || !batch)
        return status;
    if (!(batch->denominator > 0.0) || isinf(batch->denominator))
        return pn_fail(err, PN_EINVAL, "objective: the denominator of a batch must be a positive number, got %g",
                       batch->denominator);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->rows[i] >= objective->data->n)
            return pn_fail(err, PN_EINVAL, "objective: a batch names record %zu of %zu", batch->rows[i] + 1,
                           objective->data->n);
    }
    return PN_OK;
}

pn_status pn_need_derivatives(const pn_objective *objective, const char *what, pn_err *err)
{
    if (objective->loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: a black box has values, but no %s", what);
    return PN_OK;
}

/* ---- the pass ---- */

static pn_status share_pass(pass *self, pn_status before, pn_task *task, pn_err *err)
{
    size_t n = self->objective->data->n * sizeof(double), rows = self->part.chunk_rows * sizeof(double);
    const pn_ranks_part parts[] = {
        { .data = self->partial, .bytes = (self->width + 1) * sizeof(double) },
        { .data = self->values, .bytes = rows, .total = n },
        { .data = self->factors,
          .bytes = rows,
          .total = n,
          .times = pn_loss_inputs(self->objective->loss),
          .stride = n },
    };

    return pn_share_chunks(self->objective,
                           &(pn_shared){ .chunks = self->part.chunks,
                                         .chunk_rows = self->part.chunk_rows,
                                         .body = run_chunk,
                                         .self = self,
                                         .parts = parts,
                                         .part_count = 3,
                                         .theta = self->theta,
                                         .other = self->direction,
                                         .batch = self->batch },
                           before, task, err);
}

static pn_status run_pass(pass *self, double *value, double *vector, pn_task *task, pn_err *err)
{
    const pn_objective *objective = self->objective;
    size_t records = pn_batch_records(objective, self->batch), threads = pn_task_threads(task);
    pn_status status = pn_check_batch(objective, self->batch, err);

    if (status != PN_OK)
        return status;
    self->part = records ? pn_objective_partition(objective, records) : (pn_partition){ 0, 1 };
    self->scratch_size = room_size(self);
    self->width = self->want_vector ? objective->dim : 0;
    self->partial = pn_alloc_large(self->part.chunks + 1, (self->width + 1) * sizeof(double));
    self->scratch = pn_alloc(threads, self->scratch_size * sizeof(double));
    if (!self->partial || !self->scratch)
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu partial gradients of %zu entries",
                         self->part.chunks, objective->dim);
    status = share_pass(self, status, task, err);
    if (status == PN_OK)
        pn_pass_combine(self->partial, self->part.chunks, self->width,
                        self->batch ? self->batch->denominator : (double)objective->data->n, value, vector);
    pn_free(self->partial);
    pn_free(self->scratch);
    return status;
}

pn_status pn_objective_losses(pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                              double *gradient, pn_task *task, pn_err *err)
{
    pass self = {
        .objective = objective, .theta = theta, .want_value = value != NULL, .want_vector = gradient != NULL
    };
    pn_status status = gradient ? pn_need_derivatives(objective, "gradient", err) : PN_OK;

    if (status == PN_OK && batch && objective->loss->margins > 0)
        return pn_batch_losses(objective, batch, theta, value, gradient, task, err);
    if (status == PN_OK)
        status = pn_check_point("objective", "theta", theta, objective->dim, err);
    if (status != PN_OK)
        return status;
    if (objective->loss->margins == 0)
        return value ? pn_record_means(objective, batch, theta, 1, value, NULL, task, err) : PN_OK;
    if (pn_gram_serves(objective, theta)) {
        pn_gram_evaluate(objective, theta, value, gradient);
        return PN_OK;
    }
    return run_pass(&self, value, gradient, task, err);
}

pn_status pn_objective_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient,
                                pn_task *task, pn_err *err)
{
    double extra = 0.0;
    pn_status status = pn_objective_losses(objective, NULL, theta, value, gradient, task, err);

    if (status == PN_OK && objective->reg)
        status =
            objective->reg->ops->evaluate(objective->reg, objective->dim, theta, value ? &extra : NULL, gradient, err);
    if (status == PN_OK && value)
        *value += extra;
    return status;
}

pn_status pn_objective_factors(pn_objective *objective, const double *theta, double *values, double *factors,
                               pn_task *task, pn_err *err)
{
    pass self = {
        .objective = objective, .theta = theta, .want_value = values != NULL, .values = values, .factors = factors
    };
    pn_status status = pn_check_point("objective", "theta", theta, objective->dim, err);
    double mean;

    if (status == PN_OK && factors)
        status = pn_need_derivatives(objective, "factors", err);
    if (status != PN_OK)
        return status;
    if (objective->loss->margins == 0)
        return values ? pn_record_means(objective, NULL, theta, 1, &mean, values, task, err) : PN_OK;
    return run_pass(&self, NULL, NULL, task, err);
}

pn_status pn_objective_snapshot(pn_objective *objective, const double *theta, double *factors, double *value,
                                double *gradient, pn_task *task, pn_err *err)
{
    pass self = {
        .objective = objective, .theta = theta, .want_value = value != NULL, .want_vector = true, .factors = factors
    };
    pn_status status = pn_need_derivatives(objective, "gradient", err);

    if (status == PN_OK)
        status = pn_check_point("objective", "theta", theta, objective->dim, err);
    return status == PN_OK ? run_pass(&self, value, gradient, task, err) : status;
}

pn_status pn_objective_hessian_times(pn_objective *objective, const pn_batch *batch, const double *theta,
                                     const double *v, double *out, pn_task *task, pn_err *err)
{
    pass self = { .objective = objective, .batch = batch, .theta = theta, .direction = v, .want_vector = true };
    pn_status status = pn_check_point("objective", "theta", theta, objective->dim, err);

    if (status == PN_OK)
        status = pn_check_point("objective", "v", v, objective->dim, err);
    if (status == PN_OK)
        status = pn_need_derivatives(objective, "Hessian", err);
    if (status == PN_OK && !objective->loss->ops->curve)
        status = pn_fail(err, PN_EUNSUPPORTED,
                         "objective: the second derivatives of %s have too many operations: shorten the formula, or "
                         "give it fewer margins and parameters",
                         objective->loss->name);
    if (status == PN_OK && objective->clip > 0.0)
        status =
            pn_fail(err, PN_EUNSUPPORTED, "objective: gradients clipped to norm %g have no Hessian", objective->clip);
    if (status == PN_OK)
        status = run_pass(&self, NULL, out, task, err);
    if (status == PN_OK && objective->reg && !batch)
        status = objective->reg->ops->curve(objective->reg, objective->dim, theta, v, out, err);
    return status;
}
