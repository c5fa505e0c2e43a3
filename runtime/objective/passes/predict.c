/* predict.c -- margins of a linear model, and how often they name the right class.
 * Depends on: objective_impl.h.  Used by: objective.h's callers. */
#include "core/alloc.h"
#include "objective/passes/objective_impl.h"

#define PREDICT_ROWS 4096

typedef struct prediction {
    const pn_dataset *data;
    const pn_simd *simd;
    const double *theta;
    double *z;
} prediction;

static void predict_rows(void *context, size_t index, unsigned worker)
{
    const prediction *self = context;
    size_t first = index * PREDICT_ROWS;
    pn_block block = { .data = self->data,
                       .simd = self->simd,
                       .first = first,
                       .count = self->data->n - first < PREDICT_ROWS ? self->data->n - first : PREDICT_ROWS };

    (void)worker;
    pn_block_times(&block, self->theta, self->z + first);
}

static size_t predict_chunks(const pn_dataset *data)
{
    return (data->n + PREDICT_ROWS - 1) / PREDICT_ROWS;
}

/* z[margins][n] of all records, on all ranks. */
static pn_status predict_margins(const pn_objective *objective, const double *theta, double *z, pn_task *task,
                                 pn_err *err)
{
    const pn_dataset *data = objective->data;
    pn_status status = z ? PN_OK : pn_fail(err, PN_ENOMEM, "accuracy: out of memory for %zu predictions", data->n);

    for (size_t k = 0; k == 0 || (status == PN_OK && k < objective->loss->margins); k++) {
        prediction self = { data, pn_simd_best(), theta + k * data->p, z ? z + k * data->n : NULL };
        const pn_ranks_part part = { .data = self.z, .bytes = PREDICT_ROWS * sizeof *z, .total = data->n * sizeof *z };
        const pn_shared work = { .chunks = predict_chunks(data),
                                 .chunk_rows = PREDICT_ROWS,
                                 .body = predict_rows,
                                 .self = &self,
                                 .parts = &part,
                                 .part_count = 1,
                                 .theta = theta };

        status = pn_share_chunks(objective, &work, status, task, err);
    }
    return status;
}

pn_status pn_dataset_predict(const pn_dataset *data, const double *theta, size_t p, double *z, pn_task *task,
                             pn_err *err)
{
    prediction self = { data, pn_simd_best(), theta, z };

    PN_TRY(pn_dataset_need_records(data, "predict", err));
    if (p != data->p)
        return pn_fail(err, PN_EDIM, "predict: the model has %zu entries, the data has %zu features", p, data->p);
    return pn_parallel(task, predict_chunks(data), predict_rows, &self, err);
}

/* z[margins][n]: the first largest one is the guess. */
static size_t right_classes(const pn_dataset *data, size_t margins, const double *z)
{
    size_t right = 0;

    for (size_t i = 0; i < data->n; i++) {
        size_t best = 0;

        for (size_t k = 1; k < margins; k++)
            best = z[k * data->n + i] > z[best * data->n + i] ? k : best;
        right += (double)(best + 1) == data->y[i];
    }
    return right;
}

static size_t right_signs(const pn_dataset *data, const double *z)
{
    size_t right = 0;

    for (size_t i = 0; i < data->n; i++)
        right += (z[i] >= 0.0 ? 1.0 : -1.0) == data->y[i];
    return right;
}

pn_status pn_objective_accuracy(pn_objective *objective, const double *theta, double *accuracy, pn_task *task,
                                pn_err *err)
{
    const pn_dataset *data = objective->data;
    size_t margins = objective->loss->margins;
    pn_status status = pn_dataset_need_share(data, "accuracy", err);
    double *z;

    if (status == PN_OK)
        status = pn_check_point("accuracy", "theta", theta, objective->dim, err);
    if (status != PN_OK)
        return status;
    if (margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "accuracy: a black box has no margins");
    if (objective->loss->labels.kind != PN_LABELS_CLASSES && pn_loss_inputs(objective->loss) > 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "accuracy: nothing says which label the margins of %s mean; take them from fit:predict, or "
                       "compare labels with a formula of your own",
                       objective->loss->name);
    if (margins == 1 && !data->bounds.labels_binary)
        return pn_fail(err, PN_EUNSUPPORTED, "accuracy: needs labels -1 and 1; load with labels=\"binary\"");
    z = pn_alloc(data->n, margins * sizeof *z);
    status = predict_margins(objective, theta, z, task, err);
    if (status == PN_OK)
        *accuracy = (double)(margins > 1 ? right_classes(data, margins, z) : right_signs(data, z)) / (double)data->n;
    pn_free(z);
    return status;
}
