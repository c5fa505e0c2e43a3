/* hessian_packed.c -- adding to a packed Hessian: sparse records, tiles of products.
 * Depends on: hessian_impl.h.  Used by: hessian.c. */
#include <string.h>

#include "objective/passes/hessian_impl.h"

void pn_packed_add_sparse(double *packed, const pn_block *block, size_t k, size_t l, const double *bend)
{
    for (size_t r = 0; r < block->count; r++) {
        size_t i = block->rows ? block->rows[r] : block->first + r;
        const pn_dataset *data = pn_lent_source(block->lent, block->data, &i);
        size_t begin = pn_csr_place(data, i), end = begin + data->csr.start[i + 1] - data->csr.start[i];

        for (size_t b = begin; b < end && bend[r] != 0.0; b++) {
            size_t j = l * data->p + data->csr.column[b], last = k < l ? end : b + 1;
            double *column = packed + j * (j + 1) / 2 + k * data->p;
            double weight = bend[r] * (data->csr_single ? (double)data->csr_single[b] : data->csr.value[b]);

            for (size_t a = begin; a < last; a++)
                column[data->csr.column[a]] +=
                    weight * (data->csr_single ? (double)data->csr_single[a] : data->csr.value[a]);
        }
    }
}

void pn_packed_add_tile(double *packed, size_t p, size_t k, size_t l, const pn_tile *tile)
{
    size_t i = tile->i, j = tile->j, from = k * p, to = l * p;

    for (size_t c = 0; c < tile->columns; c++) {
        const double *values = tile->values + c * tile->side;
        double *column = packed + (to + j + c) * (to + j + c + 1) / 2 + from + i;
        size_t count = i == j ? c + 1 : tile->rows;

        for (size_t r = 0; r < count; r++)
            column[r] += values[r];
        for (size_t r = 0; from < to && r < count && i + r < j + c; r++)
            packed[(to + i + r) * (to + i + r + 1) / 2 + from + j + c] += values[r];
    }
}

void pn_packed_copy(double *packed, const double *matrix, size_t p)
{
    for (size_t j = 0; j < p; j++, packed += j)
        memcpy(packed, matrix + j * p, (j + 1) * sizeof *packed);
}
