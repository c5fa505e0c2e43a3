/* block.c -- the two products of a block of records, dense or sparse, double or float, in place or picked by number.
 * Depends on: objective_impl.h, data/rows.h, numeric/simd/simd.h.  Used by: pass.c, batch.c,
 * differences.c, smoothed*.c, record_pass.c. */
#include <string.h>

#include "data/rows.h"
#include "objective/passes/objective_impl.h"

static size_t record(const pn_block *block, size_t r)
{
    return block->rows ? block->rows[r] : block->first + r;
}

/* The dense numbers of record i, and of those that follow it in the same data set. */
static const double *dense_rows(const pn_block *block, size_t i)
{
    const pn_dataset *from = pn_lent_source(block->lent, block->data, &i);

    return from->dense + (i - from->first) * from->p;
}

static const float *single_rows(const pn_block *block, size_t i)
{
    const pn_dataset *from = pn_lent_source(block->lent, block->data, &i);

    return from->single + (i - from->first) * from->p;
}

const double *pn_block_dense(const pn_block *block)
{
    return block->dense ? block->dense : dense_rows(block, block->first);
}

const float *pn_block_single(const pn_block *block)
{
    return block->single ? block->single : single_rows(block, block->first);
}

static double sparse_dot(const pn_block *block, size_t i, const double *w)
{
    const pn_dataset *data = pn_lent_source(block->lent, block->data, &i);
    size_t k = pn_csr_place(data, i), end = k + data->csr.start[i + 1] - data->csr.start[i];
    double sum = 0.0;

    if (data->csr_single) {
        for (; k < end; k++)
            sum += (double)data->csr_single[k] * w[data->csr.column[k]];
    }
    for (; k < end; k++)
        sum += data->csr.value[k] * w[data->csr.column[k]];
    return sum;
}

/* z = <x_i, w> and *along = <x_i, v>, with the bits of two products. */
static double sparse_dots(const pn_block *block, size_t i, const double *w, const double *v, double *along)
{
    const pn_dataset *data = pn_lent_source(block->lent, block->data, &i);
    size_t k = pn_csr_place(data, i), end = k + data->csr.start[i + 1] - data->csr.start[i];
    double sum = 0.0, other = 0.0;

    if (data->csr_single) {
        for (; k < end; k++) {
            sum += (double)data->csr_single[k] * w[data->csr.column[k]];
            other += (double)data->csr_single[k] * v[data->csr.column[k]];
        }
    }
    for (; k < end; k++) {
        sum += data->csr.value[k] * w[data->csr.column[k]];
        other += data->csr.value[k] * v[data->csr.column[k]];
    }
    *along = other;
    return sum;
}

static void sparse_add(const pn_dataset *data, size_t i, double weight, double *g)
{
    size_t k = pn_csr_place(data, i), end = k + data->csr.start[i + 1] - data->csr.start[i];

    if (data->csr_single) {
        for (; k < end; k++)
            g[data->csr.column[k]] += weight * (double)data->csr_single[k];
    }
    for (; k < end; k++)
        g[data->csr.column[k]] += weight * data->csr.value[k];
}

void pn_block_times(const pn_block *block, const double *w, double *z)
{
    const pn_dataset *data = block->data;

    if (data->sparse) {
        for (size_t r = 0; r < block->count; r++)
            z[r] = sparse_dot(block, record(block, r), w);
    } else if (data->single && !block->dense) {
        block->simd->dense_times_single(pn_block_single(block), block->count, data->p, w, z);
    } else {
        block->simd->dense_times(pn_block_dense(block), block->count, data->p, w, z);
    }
}

void pn_block_times_both(const pn_block *block, const double *w, const double *v, double *z, double *along)
{
    if (!block->data->sparse) { /* the first-level cache has the block the second time */
        pn_block_times(block, w, z);
        pn_block_times(block, v, along);
        return;
    }
    for (size_t r = 0; r < block->count; r++)
        z[r] = sparse_dots(block, record(block, r), w, v, along + r);
}

void pn_block_add(const pn_block *block, const double *weight, double *g)
{
    const pn_dataset *data = block->data;

    if (data->sparse) {
        for (size_t r = 0; r < block->count; r++) {
            size_t i = record(block, r);
            const pn_dataset *from = pn_lent_source(block->lent, data, &i);

            sparse_add(from, i, weight[r], g);
        }
    } else if (data->single && !block->dense) {
        block->simd->dense_add_transposed_single(pn_block_single(block), block->count, data->p, weight, g);
    } else {
        block->simd->dense_add_transposed(pn_block_dense(block), block->count, data->p, weight, g);
    }
}

/* Rows that are picked by number, one after the other. */
void pn_block_gather(pn_block *block, double *room)
{
    size_t p = block->data->p;
    float *single = (float *)(void *)room;

    if (block->data->sparse || !block->rows)
        return;
    for (size_t r = 0; r < block->count; r++) {
        if (block->data->single)
            memcpy(single + r * p, single_rows(block, block->rows[r]), p * sizeof *single);
        else
            memcpy(room + r * p, dense_rows(block, block->rows[r]), p * sizeof *room);
    }
    if (block->data->single)
        block->single = single;
    else
        block->dense = room;
}

const double *pn_block_labels(const pn_block *block, double *room)
{
    if (!block->rows)
        return block->data->y + block->first;
    for (size_t r = 0; r < block->count; r++)
        room[r] = block->data->y[block->rows[r]];
    return room;
}

void pn_block_margins(const pn_objective *objective, const pn_block *block, const double *w, double *z)
{
    for (size_t k = 0; k < objective->loss->margins; k++)
        pn_block_times(block, w + k * objective->data->p, z + k * block->count);
    pn_block_extra(objective, block->count, w, z + objective->loss->margins * block->count);
}

void pn_block_extra(const pn_objective *objective, size_t count, const double *theta, double *out)
{
    const double *extra = theta + objective->loss->margins * objective->data->p;

    for (size_t k = 0; k < objective->loss->extra; k++) {
        for (size_t r = 0; r < count; r++)
            out[k * count + r] = extra[k];
    }
}

void pn_block_add_inputs(const pn_objective *objective, const pn_block *block, const double *weight, double *g)
{
    const pn_loss *loss = objective->loss;

    for (size_t k = 0; k < loss->margins; k++, weight += block->count, g += objective->data->p)
        pn_block_add(block, weight, g);
    for (size_t k = 0; k < loss->extra; k++, weight += block->count)
        g[k] += pn_block_sum(weight, block->count);
}

void pn_block_row(const pn_block *block, size_t r, double *x)
{
    size_t p = block->data->p;

    if (block->data->single)
        pn_widen(x, pn_block_single(block) + r * p, p);
    else
        memcpy(x, pn_block_dense(block) + r * p, p * sizeof *x);
}

void pn_record_features(const pn_objective *objective, size_t i, double *x)
{
    const pn_block block = { .data = objective->data, .lent = objective->lent, .first = i, .count = 1 };
    const pn_dataset *from = pn_lent_source(block.lent, block.data, &i);

    if (from->sparse) {
        memset(x, 0, from->p * sizeof *x);
        sparse_add(from, i, 1.0, x);
    } else {
        pn_block_row(&block, 0, x);
    }
}

/* ---- the blocks of a pass ---- */

size_t pn_batch_records(const pn_objective *objective, const pn_batch *batch)
{
    return batch ? batch->count : objective->data->n;
}

size_t pn_batch_room(const pn_objective *objective, const pn_batch *batch)
{
    return batch && !objective->data->sparse ? objective->block_rows * objective->data->p : 0;
}

/* What a chunk reads is asked for a window or two before it is needed, if it is on disk. */
static void ask_ahead(const pn_objective *objective, const size_t *rows, size_t begin, size_t at, size_t end)
{
    size_t window = pn_rows_at_once(objective->data) / objective->block_rows * objective->block_rows;
    size_t from, to;

    window = window ? window : objective->block_rows;
    if ((at - begin) % window != 0)
        return;
    from = at == begin ? at : at + window;
    to = at + 2 * window;
    pn_rows_ahead(objective->data, rows, from, to < end ? to : end);
}

bool pn_block_next(pn_block *block, const pn_objective *objective, const pn_batch *batch, pn_partition part,
                   size_t chunk)
{
    size_t records = pn_batch_records(objective, batch), begin = chunk * part.chunk_rows;
    size_t end = begin + part.chunk_rows < records ? begin + part.chunk_rows : records;
    size_t first = block->data ? block->first + block->count : begin;

    if (first >= end)
        return false;
    if (objective->data->file)
        ask_ahead(objective, batch ? batch->rows : NULL, begin, first, end);
    *block = (pn_block){ .data = objective->data,
                         .lent = batch ? objective->lent : NULL,
                         .simd = pn_simd_best(),
                         .rows = batch ? batch->rows + first : NULL,
                         .first = first,
                         .count = end - first < objective->block_rows ? end - first : objective->block_rows };
    return true;
}
