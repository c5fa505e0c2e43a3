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

/* Dense records from i on, which are here. */
static const double *dense_rows(const pn_dataset *data, size_t i)
{
    return data->dense + (i - data->first) * data->p;
}

static const float *single_rows(const pn_dataset *data, size_t i)
{
    return data->single + (i - data->first) * data->p;
}

static double sparse_dot(const pn_dataset *data, size_t i, const double *w)
{
    size_t k = data->csr.start[i], end = data->csr.start[i + 1];
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
static double sparse_dots(const pn_dataset *data, size_t i, const double *w, const double *v, double *along)
{
    size_t k = data->csr.start[i], end = data->csr.start[i + 1];
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
    size_t k = data->csr.start[i], end = data->csr.start[i + 1];

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
            z[r] = sparse_dot(data, record(block, r), w);
    } else if (block->single) {
        block->simd->dense_times_single(block->single, block->count, data->p, w, z);
    } else if (block->dense) {
        block->simd->dense_times(block->dense, block->count, data->p, w, z);
    } else if (data->single) {
        block->simd->dense_times_single(single_rows(data, block->first), block->count, data->p, w, z);
    } else {
        block->simd->dense_times(dense_rows(data, block->first), block->count, data->p, w, z);
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
        z[r] = sparse_dots(block->data, record(block, r), w, v, along + r);
}

void pn_block_add(const pn_block *block, const double *weight, double *g)
{
    const pn_dataset *data = block->data;

    if (data->sparse) {
        for (size_t r = 0; r < block->count; r++)
            sparse_add(data, record(block, r), weight[r], g);
    } else if (block->single) {
        block->simd->dense_add_transposed_single(block->single, block->count, data->p, weight, g);
    } else if (block->dense) {
        block->simd->dense_add_transposed(block->dense, block->count, data->p, weight, g);
    } else if (data->single) {
        block->simd->dense_add_transposed_single(single_rows(data, block->first), block->count, data->p, weight, g);
    } else {
        block->simd->dense_add_transposed(dense_rows(data, block->first), block->count, data->p, weight, g);
    }
}

/* The bytes of rows that are picked by number, one after the other. */
static void gather(const char *from, const size_t *rows, size_t count, size_t bytes, char *to)
{
    for (size_t r = 0; r < count; r++)
        memcpy(to + r * bytes, from + rows[r] * bytes, bytes);
}

void pn_block_gather(pn_block *block, double *room)
{
    const pn_dataset *data = block->data;

    if (data->sparse || !block->rows)
        return;
    if (data->single) {
        gather((const char *)data->single, block->rows, block->count, data->p * sizeof(float), (char *)room);
        block->single = (const float *)(const void *)room;
    } else {
        gather((const char *)data->dense, block->rows, block->count, data->p * sizeof(double), (char *)room);
        block->dense = room;
    }
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
    const pn_dataset *data = block->data;
    size_t p = data->p;

    if (data->single)
        pn_widen(x, block->single ? block->single + r * p : single_rows(data, block->first + r), p);
    else
        memcpy(x, block->dense ? block->dense + r * p : dense_rows(data, block->first + r), p * sizeof *x);
}

void pn_record_features(const pn_dataset *data, size_t i, double *x)
{
    if (data->sparse) {
        memset(x, 0, data->p * sizeof *x);
        sparse_add(data, i, 1.0, x);
    } else if (data->single) {
        pn_widen(x, single_rows(data, i), data->p);
    } else {
        memcpy(x, dense_rows(data, i), data->p * sizeof *x);
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
                         .simd = pn_simd_best(),
                         .rows = batch ? batch->rows + first : NULL,
                         .first = first,
                         .count = end - first < objective->block_rows ? end - first : objective->block_rows };
    return true;
}
