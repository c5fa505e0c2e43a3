/* pass.c -- one pass over the records: value, gradient, Hessian-vector product, predictions.
 * Depends on: objective_impl.h, numeric/simd.h.  Used by: objective.h's callers.
 *
 * A block of rows is read from memory once: its margins are computed, the loss turns them into one weight per record, and the
 * weighted sum of the rows is added while the block is still in the first-level cache.  Blocks belong to chunks, each chunk
 * has its own partial sum, and partial sums are added in chunk order: the result is the same for any number of threads. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/simd.h"
#include "objective/objective_impl.h"

typedef struct pass {
    pn_objective *objective;
    const pn_simd *simd;
    const double *theta;
    const double *direction; /* Hessian-vector product when not NULL */
    bool want_value, want_vector;
} pass;

/* Rows [first, first + rows) of the data times w. */
static void block_times(const pn_dataset *data, const pn_simd *simd, size_t first, size_t rows, const double *w,
                        double *z)
{
    if (data->single)
        simd->dense_times_single(data->single + first * data->p, rows, data->p, w, z);
    else if (!data->sparse)
        simd->dense_times(data->dense + first * data->p, rows, data->p, w, z);
    for (size_t r = 0; data->sparse && r < rows; r++) {
        double sum = 0.0;
        size_t k = data->csr.start[first + r], end = data->csr.start[first + r + 1];

        if (data->csr_single) {
            for (; k < end; k++)
                sum += (double)data->csr_single[k] * w[data->csr.column[k]];
        }
        for (; k < end; k++)
            sum += data->csr.value[k] * w[data->csr.column[k]];
        z[r] = sum;
    }
}

static void block_add(const pn_dataset *data, const pn_simd *simd, size_t first, size_t rows, const double *weight,
                      double *g)
{
    if (data->single)
        simd->dense_add_transposed_single(data->single + first * data->p, rows, data->p, weight, g);
    else if (!data->sparse)
        simd->dense_add_transposed(data->dense + first * data->p, rows, data->p, weight, g);
    for (size_t r = 0; data->sparse && r < rows; r++) {
        size_t k = data->csr.start[first + r], end = data->csr.start[first + r + 1];

        if (data->csr_single) {
            for (; k < end; k++)
                g[data->csr.column[k]] += weight[r] * (double)data->csr_single[k];
        }
        for (; k < end; k++)
            g[data->csr.column[k]] += weight[r] * data->csr.value[k];
    }
}

/* The certified sensitivity is that of clamped slopes: a vector function that is off by an ulp cannot exceed it. */
static void clamp_slopes(const pn_bounds *bounds, size_t rows, double *slope)
{
    if (!bounds->certified)
        return;
    for (size_t r = 0; r < rows; r++)
        slope[r] = fmin(fmax(slope[r], bounds->loss.slope.low), bounds->loss.slope.high);
}

static double block_sum(const double *x, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* One block into g[p] and value. */
static void run_block(const pass *self, size_t first, size_t rows, double *g, double *value)
{
    double z[PN_BLOCK_ROWS_MAX], weight[PN_BLOCK_ROWS_MAX], along[PN_BLOCK_ROWS_MAX];
    const pn_objective *objective = self->objective;
    const pn_dataset *data = objective->data;
    const pn_loss *loss = objective->loss;
    const double *y = data->y + first;

    block_times(data, self->simd, first, rows, self->theta, z);
    if (self->direction) {
        block_times(data, self->simd, first, rows, self->direction, along);
        loss->ops->evaluate(loss, rows, z, y, NULL, NULL, weight);
        for (size_t r = 0; r < rows; r++)
            weight[r] *= along[r];
    } else {
        loss->ops->evaluate(loss, rows, z, y, self->want_value ? along : NULL, self->want_vector ? weight : NULL, NULL);
        if (self->want_value)
            *value += block_sum(along, rows);
        if (self->want_vector)
            clamp_slopes(&objective->bounds, rows, weight);
    }
    if (self->want_vector)
        block_add(data, self->simd, first, rows, weight, g);
}

static void run_chunk(void *context, size_t chunk, unsigned worker)
{
    const pass *self = context;
    const pn_objective *objective = self->objective;
    size_t p = objective->data->p, n = objective->data->n;
    size_t first = chunk * objective->chunk_rows;
    size_t last = first + objective->chunk_rows < n ? first + objective->chunk_rows : n;
    double *g = objective->partial + chunk * (p + 1), *value = g + p;

    (void)worker;
    memset(g, 0, (p + 1) * sizeof *g);
    for (; first < last; first += objective->block_rows) {
        size_t rows = last - first < objective->block_rows ? last - first : objective->block_rows;

        run_block(self, first, rows, g, value);
    }
}

/* Add the partial sums in chunk order and divide by n. */
static void combine(const pn_objective *objective, double *value, double *vector)
{
    size_t p = objective->data->p;
    double n = (double)objective->data->n, total = 0.0;

    for (size_t chunk = 0; chunk < objective->chunks; chunk++)
        total += objective->partial[chunk * (p + 1) + p];
    if (value)
        *value = total / n;
    if (!vector)
        return;
    memcpy(vector, objective->partial, p * sizeof *vector);
    for (size_t chunk = 1; chunk < objective->chunks; chunk++) {
        const double *g = objective->partial + chunk * (p + 1);

        for (size_t j = 0; j < p; j++)
            vector[j] += g[j];
    }
    for (size_t j = 0; j < p; j++)
        vector[j] /= n;
}

static pn_status check_point(const char *who, const char *what, const double *x, size_t p, pn_err *err)
{
    size_t bad = pn_first_nonfinite(x, p);

    if (bad < p)
        return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at entry %zu", who, what, x[bad],
                       bad + 1);
    return PN_OK;
}

pn_status pn_objective_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient,
                                pn_task *task, pn_err *err)
{
    pass self = { objective, pn_simd_best(), theta, NULL, value != NULL, gradient != NULL };
    pn_status status = check_point("objective", "theta", theta, objective->data->p, err);

    if (status != PN_OK)
        return status;
    if (objective->gram.matrix) {
        pn_gram_evaluate(objective, theta, value, gradient);
        return PN_OK;
    }
    status = pn_parallel(task, objective->chunks, run_chunk, &self, err);
    if (status == PN_OK)
        combine(objective, value, gradient);
    return status;
}

pn_status pn_objective_hessian_times(pn_objective *objective, const double *theta, const double *v, double *out,
                                     pn_task *task, pn_err *err)
{
    pass self = { objective, pn_simd_best(), theta, v, false, true };
    pn_status status = check_point("objective", "theta", theta, objective->data->p, err);

    if (status == PN_OK)
        status = check_point("objective", "v", v, objective->data->p, err);
    if (status == PN_OK)
        status = pn_parallel(task, objective->chunks, run_chunk, &self, err);
    if (status == PN_OK)
        combine(objective, NULL, out);
    return status;
}

/* ---- predictions ---- */

#define PREDICT_ROWS 4096

typedef struct prediction {
    const pn_dataset *data;
    const pn_simd *simd;
    const double *theta;
    double *z;
} prediction;

static void predict_rows(void *context, size_t block, unsigned worker)
{
    const prediction *self = context;
    size_t first = block * PREDICT_ROWS;
    size_t rows = self->data->n - first < PREDICT_ROWS ? self->data->n - first : PREDICT_ROWS;

    (void)worker;
    block_times(self->data, self->simd, first, rows, self->theta, self->z + first);
}

pn_status pn_predict(const pn_dataset *data, const double *theta, size_t p, double *z, pn_task *task, pn_err *err)
{
    prediction self = { data, pn_simd_best(), theta, z };

    if (p != data->p)
        return pn_fail(err, PN_EDIM, "predict: the model has %zu entries, the data has %zu features", p, data->p);
    return pn_parallel(task, (data->n + PREDICT_ROWS - 1) / PREDICT_ROWS, predict_rows, &self, err);
}

pn_status pn_objective_accuracy(pn_objective *objective, const double *theta, double *accuracy, pn_task *task,
                                pn_err *err)
{
    const pn_dataset *data = objective->data;
    double *z;
    size_t right = 0;
    pn_status status;

    if (!data->bounds.labels_binary)
        return pn_fail(err, PN_EUNSUPPORTED, "accuracy: needs labels -1 and 1; load with labels=\"binary\"");
    z = pn_alloc(data->n, sizeof *z);
    if (!z)
        return pn_fail(err, PN_ENOMEM, "accuracy: out of memory for %zu predictions", data->n);
    status = pn_predict(data, theta, data->p, z, task, err);
    for (size_t i = 0; status == PN_OK && i < data->n; i++)
        right += (z[i] >= 0.0 ? 1.0 : -1.0) == data->y[i];
    if (status == PN_OK)
        *accuracy = (double)right / (double)data->n;
    pn_free(z);
    return status;
}
