/* hessian.c -- the Hessian of the mean loss as a matrix, X^T D X / n with D the losses' second derivatives: one pass of
 * O(n p^2), for solvers that take Newton steps in moderate dimension.
 * Depends on: objective_impl.h, data/rows.h, BLAS.  Used by: objective.h's callers.
 *
 * Records belong to a fixed number of groups, each with a matrix of its own; these are added in order, so the result is the same
 * for any number of threads. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas_threads.h"
#include "data/rows.h"
#include "objective/objective_impl.h"

#define GROUPS_MAX  16
#define GROUP_ROOM  ((size_t)1 << 22) /* doubles in all matrices together, when one has less */
#define HESSIAN_MAX 4096

typedef struct forming {
    pn_objective *objective;
    const double *theta;
    pn_partition part;
    double *matrices; /* [part.chunks][p * p], upper triangles */
    double *scratch;  /* [part.chunks][room] */
    size_t room;
} forming;

/* Where clipping acts the loss continues in a straight line. */
static void flatten_clipped(const pn_objective *objective, const pn_block *block, const double *slope, double *bend)
{
    for (size_t r = 0; r < block->count; r++) {
        if (!(fabs(slope[r]) * objective->norms[block->first + r] <= objective->clip))
            bend[r] = 0.0;
    }
}

/* bend[r] = second derivative of record r's loss, within its certified range; `z` and `along` are scratch. */
static void bends_of(const forming *self, const pn_block *block, double *z, double *along, double *bend)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;
    const double *y = objective->data->y + block->first;
    double most = objective->bounds.loss.curvature.high;

    pn_block_times(block, self->theta, z);
    for (size_t r = 0; r < block->count; r++)
        along[r] = 1.0;
    loss->ops->curve(loss, block->count, z, y, along, bend);
    for (size_t r = 0; r < block->count; r++)
        bend[r] = !(bend[r] > 0.0) ? 0.0 : bend[r] > most ? most : bend[r];
    if (objective->norms) {
        loss->ops->evaluate(loss, block->count, z, y, NULL, along);
        flatten_clipped(objective, block, along, bend);
    }
}

static void add_sparse(const pn_block *block, const double *bend, double *matrix)
{
    const pn_dataset *data = block->data;

    for (size_t r = 0; r < block->count; r++) {
        size_t begin = data->csr.start[block->first + r], end = data->csr.start[block->first + r + 1];

        for (size_t a = begin; a < end; a++) {
            double *row = matrix + (size_t)data->csr.column[a] * data->p;
            double weight = bend[r] * (data->csr_single ? (double)data->csr_single[a] : data->csr.value[a]);

            for (size_t b = a; b < end; b++)
                row[data->csr.column[b]] +=
                    weight * (data->csr_single ? (double)data->csr_single[b] : data->csr.value[b]);
        }
    }
}

/* The rows times the roots of their weights, to `rows`, and then their products. */
static void add_dense(const pn_block *block, const double *bend, double *rows, double *matrix)
{
    const pn_dataset *data = block->data;
    size_t p = data->p;

    for (size_t r = 0; r < block->count; r++) {
        double *row = rows + r * p, root = sqrt(bend[r]);

        if (data->single)
            pn_widen(row, data->single + (block->first + r) * p, p);
        else
            memcpy(row, data->dense + (block->first + r) * p, p * sizeof *row);
        for (size_t j = 0; j < p; j++)
            row[j] *= root;
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)p, (int)block->count, 1.0, rows, (int)p, 1.0, matrix,
                (int)p);
}

static void form_group(void *context, size_t group, unsigned worker)
{
    const forming *self = context;
    const pn_dataset *data = self->objective->data;
    size_t rows = self->objective->block_rows;
    double *matrix = self->matrices + group * data->p * data->p, *z = self->scratch + group * self->room;
    pn_block block = { 0 };

    (void)worker;
    memset(matrix, 0, data->p * data->p * sizeof *matrix);
    while (pn_block_next(&block, self->objective, NULL, self->part, group)) {
        bends_of(self, &block, z, z + rows, z + 2 * rows);
        if (data->sparse)
            add_sparse(&block, z + 2 * rows, matrix);
        else
            add_dense(&block, z + 2 * rows, z + 3 * rows, matrix);
    }
}

/* out = the mean, both triangles. */
static void combine(const forming *self, double *out)
{
    size_t p = self->objective->data->p;
    double n = (double)self->objective->data->n;

    for (size_t i = 0; i < p; i++) {
        for (size_t j = i; j < p; j++) {
            double sum = 0.0;

            for (size_t group = 0; group < self->part.chunks; group++)
                sum += self->matrices[(group * p + i) * p + j];
            out[i * p + j] = out[j * p + i] = sum / n;
        }
    }
}

static pn_partition groups_of(const pn_objective *objective)
{
    size_t p = objective->data->p, rows = objective->block_rows, n = objective->data->n;
    size_t groups = GROUP_ROOM / (p * p), blocks = (n + rows - 1) / rows;

    groups = groups < 1 ? 1 : groups > GROUPS_MAX ? GROUPS_MAX : groups;
    blocks = (blocks + groups - 1) / groups;
    return (pn_partition){ (n + blocks * rows - 1) / (blocks * rows), blocks * rows };
}

static pn_status check(const pn_objective *objective, const double *theta, pn_err *err)
{
    if (objective->loss->margins != 1 || !objective->loss->ops->curve)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: the Hessian of %s is not formed as a matrix",
                       objective->loss->name);
    if (!objective->bounds.loss.convex)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: the Hessian is formed for convex losses; %s is not known to be",
                       objective->loss->name);
    if (objective->data->p > HESSIAN_MAX)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: a Hessian is formed for at most %d features, the data has %zu",
                       HESSIAN_MAX, objective->data->p);
    return pn_check_point("objective", "theta", theta, objective->dim, err);
}

pn_status pn_objective_hessian(pn_objective *objective, const double *theta, double *out, pn_task *task, pn_err *err)
{
    forming self = { .objective = objective, .theta = theta };
    size_t p = objective->data->p;
    pn_status status = check(objective, theta, err);

    if (status != PN_OK)
        return status;
    if (objective->gram.matrix) {
        memcpy(out, objective->gram.matrix, p * p * sizeof *out);
        return PN_OK;
    }
    self.part = groups_of(objective);
    self.room = objective->block_rows * (3 + (objective->data->sparse ? 0 : p));
    self.matrices = pn_alloc(self.part.chunks, p * p * sizeof(double));
    self.scratch = pn_alloc(self.part.chunks, self.room * sizeof(double));
    if (self.matrices && self.scratch) {
        bool alone = pn_blas_alone(
            0); /* whatever the size: the workers call it, and OpenBLAS's own threads would wait for them */

        status = pn_parallel(task, self.part.chunks, form_group, &self, err);
        pn_blas_alone_end(alone);
    } else {
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for a Hessian of order %zu", p);
    }
    if (status == PN_OK)
        combine(&self, out);
    pn_free(self.matrices);
    pn_free(self.scratch);
    return status;
}
