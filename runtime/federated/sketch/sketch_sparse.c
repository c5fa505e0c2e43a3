/* sketch_sparse.c -- J with s = min(m, 8) entries +-1/sqrt(s) in distinct rows of every column, exactly: products are
 * sums with signs, multiplied by 1/sqrt(s) once.  An entry in memory is twice its row, plus 1 for a minus.
 * Depends on: sketch_impl.h.  Used by: sketch.c's table.  Source: Kane, Nelson (2014). */
#include <math.h>
#include <string.h>

#include "federated/sketch/sketch_impl.h"

#define ENTRIES 8   /* of a column, if there are so many rows */
#define LANES   8   /* vectors that are multiplied together */
#define TILE    128 /* records of theirs that are at work at a time */

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

static size_t entries_of(size_t m)
{
    return m < ENTRIES ? m : ENTRIES;
}

/* So wide that adding up the products of blocks costs little beside them. */
static size_t sparse_width(size_t m)
{
    return m < 2048 ? 8192 : m < ((size_t)1 << 18) ? 4 * m : (size_t)1 << 20;
}

static size_t sparse_column_bytes(size_t m)
{
    return entries_of(m) * sizeof(uint32_t);
}

static double sparse_scale(size_t m)
{
    return 1.0 / sqrt((double)entries_of(m));
}

/* Rows by Floyd's method: for j = m - s .. m - 1 draw t <= j, and take j where t is taken already. */
static void sparse_make(pn_rng *rng, size_t m, size_t count, void *columns)
{
    const size_t s = entries_of(m);
    uint32_t *entry = columns;

    for (size_t k = 0; k < count; k++, entry += s) {
        uint64_t signs = pn_rng_u64(rng);

        for (size_t i = 0; i < s; i++) {
            uint32_t last = (uint32_t)(m - s + i), row = (uint32_t)pn_rng_below(rng, (uint64_t)last + 1);

            for (size_t before = 0; before < i; before++)
                row = entry[before] >> 1 == row ? last : row;
            entry[i] = row << 1 | (uint32_t)(signs >> i & 1);
        }
    }
}

static double sparse_survey(const void *columns, size_t m, size_t count, double *row_sums)
{
    const uint32_t *entry = columns;

    for (size_t k = 0; k < count * entries_of(m); k++)
        row_sums[entry[k] >> 1] += 1.0;
    return 1.0;
}

/* tile[k] holds record k of LANES vectors. */
static void load_tile(double tile[TILE][LANES], const double *a, size_t stride, size_t lanes, size_t records)
{
    for (size_t f = 0; f < lanes; f++) {
        const double *from = a + f * stride;

        for (size_t k = 0; k < records; k++)
            tile[k][f] = from[k];
    }
}

/* Pairs are named because no compiler makes vectors of this loop by itself. */
static void scatter_tile(const uint32_t *entry, size_t s, size_t records, double tile[TILE][LANES], double *sums)
{
    static const double signs[2] = { 1.0, -1.0 };

    for (size_t k = 0; k < records; k++) {
        const pair *from = (const pair *)tile[k];

        for (size_t i = 0; i < s; i++, entry++) {
            pair *to = (pair *)(sums + LANES * (size_t)(*entry >> 1));
            double sign = signs[*entry & 1];

            for (size_t f = 0; f < LANES / 2; f++)
                to[f] += from[f] * sign;
        }
    }
}

static void multiply_lanes(const uint32_t *entry, size_t m, size_t count, const double *a, size_t stride, size_t lanes,
                           double *out, double *sums)
{
    const size_t s = entries_of(m);
    double tile[TILE][LANES] = { { 0.0 } };

    memset(sums, 0, LANES * m * sizeof *sums);
    for (size_t begin = 0; begin < count; begin += TILE) {
        size_t records = count - begin < TILE ? count - begin : TILE;

        load_tile(tile, a + begin, stride, lanes, records);
        scatter_tile(entry + begin * s, s, records, tile, sums);
    }
    for (size_t f = 0; f < lanes; f++) {
        for (size_t r = 0; r < m; r++)
            out[f * m + r] = sums[LANES * r + f];
    }
}

static void sparse_add(const void *columns, size_t m, size_t k, double value, double *out)
{
    const size_t s = entries_of(m);
    const uint32_t *entry = (const uint32_t *)columns + k * s;
    const double signed_value[2] = { value, -value };

    for (size_t i = 0; i < s; i++)
        out[entry[i] >> 1] += signed_value[entry[i] & 1];
}

static void sparse_multiply(const void *columns, size_t m, size_t count, const double *a, size_t stride, size_t c,
                            double *out, double *scratch)
{
    if (c == 1) {
        memset(out, 0, m * sizeof *out);
        for (size_t k = 0; k < count; k++)
            sparse_add(columns, m, k, a[k], out);
        return;
    }
    for (size_t f = 0; f < c; f += LANES)
        multiply_lanes(columns, m, count, a + f * stride, stride, c - f < LANES ? c - f : LANES, out + f * m, scratch);
}

static void sparse_transpose(const void *columns, size_t m, size_t count, const double *q, double *z)
{
    const size_t s = entries_of(m);
    const double scale = sparse_scale(m);
    const uint32_t *entry = columns;

    for (size_t k = 0; k < count; k++, entry += s) {
        double sum = 0.0;

        for (size_t i = 0; i < s; i++)
            sum += (entry[i] & 1) != 0 ? -q[entry[i] >> 1] : q[entry[i] >> 1];
        z[k] = scale * sum;
    }
}

static double sparse_rounding(size_t m)
{
    return (double)(entries_of(m) + 4);
}

const sketch_ops sketch_sparse = {
    .name = "sparse",
    .width = sparse_width,
    .column_bytes = sparse_column_bytes,
    .scale = sparse_scale,
    .make = sparse_make,
    .survey = sparse_survey,
    .multiply = sparse_multiply,
    .add = sparse_add,
    .transpose = sparse_transpose,
    .rounding = sparse_rounding,
};
