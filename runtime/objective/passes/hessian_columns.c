/* hessian_columns.c -- the block of the mean loss's Hessian that belongs to some of the features, X_C^T D X_C / n,
 * in one pass.
 * Depends on: objective_impl.h, hessian_impl.h, second_order.h, numeric/symmetric.h.
 * Used by: second_order.h's callers.
 *
 * As in hessian.c, chunks of an ordinary pass belong to a fixed number of groups,
 * each with a packed matrix of its own, which are added in
 * order.  A record adds the products of those of its entries that are in C: few,
 * where C is a small part of many features. */
#include <string.h>

#include "core/alloc.h"
#include "numeric/symmetric.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/second_order.h"

#define ROOM ((size_t)1 << 22) /* doubles in all matrices together, when one has less */

typedef struct forming {
    pn_objective *objective;
    const double *theta;
    const size_t *columns; /* [count] */
    size_t count, size;    /* of a packed matrix */
    size_t *place;         /* [p] number of a feature in C, from 1; 0: it is not */
    pn_partition part;
    size_t groups, per_group;
    double *first, *others; /* the packed matrix of group 0, those of the others */
    double *scratch;        /* [threads][room] */
    size_t room;
} forming;

/* What a worker needs. */
typedef struct desk {
    double *z, *ones, *bend; /* [rows of a block] */
    double *entry, *row;     /* [count] of a record in C, [p] of a dense one */
    size_t *index;           /* [count] */
} desk;

static desk desk_of(const forming *self, unsigned worker)
{
    size_t rows = self->objective->block_rows;
    double *at = self->scratch + worker * self->room;
    desk out = { .z = at, .ones = at + rows, .bend = at + 2 * rows, .entry = at + 3 * rows };

    out.row = out.entry + self->count;
    out.index = (size_t *)(void *)(out.row + self->objective->data->p);
    return out;
}

/* The entries of record r of the block that are in C, in order of their columns: how many. */
static size_t pick(const forming *self, const pn_block *block, size_t r, const desk *at)
{
    const pn_dataset *data = block->data;
    size_t found = 0, i = block->first + r;

    if (!data->sparse) {
        pn_block_row(block, r, at->row);
        for (size_t k = 0; k < self->count; k++) {
            at->entry[k] = at->row[self->columns[k]];
            at->index[k] = k;
        }
        return self->count;
    }
    for (size_t e = pn_csr_place(data, i); e < pn_csr_place(data, i + 1); e++) {
        size_t place = self->place[data->csr.column[e]];

        if (place == 0)
            continue;
        at->entry[found] = data->csr_single ? (double)data->csr_single[e] : data->csr.value[e];
        at->index[found++] = place - 1;
    }
    return found;
}

static void form_block(const forming *self, const pn_block *block, const desk *at, double *packed)
{
    const pn_objective *objective = self->objective;
    const pn_loss *loss = objective->loss;

    pn_block_times(block, self->theta, at->z);
    for (size_t r = 0; r < block->count; r++)
        at->ones[r] = 1.0;
    loss->ops->curve(loss, block->count, at->z, pn_block_labels(block, NULL), at->ones, at->bend);
    pn_clamp_bends(&objective->bounds, block->count, at->ones, at->bend);
    for (size_t r = 0; r < block->count; r++) {
        size_t found = at->bend[r] != 0.0 ? pick(self, block, r, at) : 0;

        for (size_t b = 0; b < found; b++) {
            double *column = packed + at->index[b] * (at->index[b] + 1) / 2, weight = at->bend[r] * at->entry[b];

            for (size_t a = 0; a <= b; a++)
                column[at->index[a]] += weight * at->entry[a];
        }
    }
}

static void form_group(void *context, size_t group, unsigned worker)
{
    forming *self = context;
    size_t end = (group + 1) * self->per_group;
    double *packed = group == 0 ? self->first : self->others + (group - 1) * self->size;
    desk at = desk_of(self, worker);

    memset(packed, 0, self->size * sizeof *packed);
    for (size_t chunk = group * self->per_group; chunk < end && chunk < self->part.chunks; chunk++) {
        pn_block block = { 0 };

        while (pn_block_next(&block, self->objective, NULL, self->part, chunk))
            form_block(self, &block, &at, packed);
    }
}

static void cut(forming *self)
{
    const pn_objective *objective = self->objective;
    size_t groups = ROOM / self->size;

    groups = groups < 1 ? 1 : groups > PN_HESSIAN_GROUPS ? PN_HESSIAN_GROUPS : groups;
    self->part = pn_objective_partition(objective, objective->data->n);
    self->per_group = (self->part.chunks + groups - 1) / groups;
    self->groups = (self->part.chunks + self->per_group - 1) / self->per_group;
    self->room = 3 * objective->block_rows + 2 * self->count + objective->data->p;
}

static pn_status run(forming *self, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    cut(self);
    self->first = pn_alloc(self->groups, self->size * sizeof(double));
    self->place = pn_calloc(self->objective->data->p, sizeof *self->place);
    self->scratch = pn_alloc(pn_task_threads(task), self->room * sizeof(double));
    if (!self->first || !self->place || !self->scratch)
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for a Hessian of order %zu", self->count);
    self->others = self->first ? self->first + self->size : NULL;
    for (size_t k = 0; status == PN_OK && k < self->count; k++)
        self->place[self->columns[k]] = k + 1;
    return pn_share_chunks(
        self->objective,
        &(pn_shared){ .chunks = self->groups,
                      .chunk_rows = self->per_group * self->part.chunk_rows,
                      .body = form_group,
                      .self = self,
                      .parts = &(const pn_ranks_part){ .data = self->first, .bytes = self->size * sizeof(double) },
                      .part_count = 1,
                      .theta = self->theta },
        status, task, err);
}

static pn_status check(const pn_objective *objective, const double *theta, const size_t *columns, size_t count,
                       pn_err *err)
{
    pn_status status = pn_need_hessian(objective, err);

    if (status == PN_OK && (objective->loss->margins > 1 || objective->clip > 0.0))
        status =
            pn_fail(err, PN_EUNSUPPORTED,
                    "objective: some columns of a Hessian are formed for losses of one margin that are not clipped");
    if (status == PN_OK && (count == 0 || pn_packed_size(count) == 0))
        status = pn_fail(err, PN_EDIM, "objective: a Hessian cannot have %zu columns", count);
    for (size_t k = 0; status == PN_OK && k < count; k++) {
        if (columns[k] >= objective->data->p || (k > 0 && columns[k] <= columns[k - 1]))
            status = pn_fail(err, PN_EDIM, "objective: columns must increase and be below %zu, got %zu at place %zu",
                             objective->data->p, columns[k], k);
    }
    if (status == PN_OK)
        status = pn_check_point("objective", "theta", theta, objective->dim, err);
    return status == PN_OK ? pn_dataset_need_share(objective->data, "objective", err) : status;
}

pn_status pn_objective_hessian_columns(pn_objective *objective, const double *theta, const size_t *columns,
                                       size_t count, double *out, pn_task *task, pn_err *err)
{
    forming self = {
        .objective = objective, .theta = theta, .columns = columns, .count = count, .size = pn_packed_size(count)
    };
    pn_status status = check(objective, theta, columns, count, err);

    if (status == PN_OK)
        status = run(&self, task, err);
    for (size_t group = 1; status == PN_OK && group < self.groups; group++) {
        for (size_t i = 0; i < self.size; i++)
            self.first[i] += self.others[(group - 1) * self.size + i];
    }
    for (size_t i = 0; status == PN_OK && i < self.size; i++)
        self.first[i] /= (double)objective->data->n;
    if (status == PN_OK)
        pn_packed_unpack(self.first, count, out);
    pn_free(self.first);
    pn_free(self.place);
    pn_free(self.scratch);
    return status;
}
