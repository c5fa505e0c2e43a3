/* path_helpers.h -- random sparse records for the tests of gradients along a path, and how far two paths are apart.
 * Each test says how labels are drawn.  Used by: gradient_path_test.c, gradient_path_shape_test.c,
 * slope_lines_test.c. */
#ifndef PN_TESTS_PATH_HELPERS_H
#define PN_TESTS_PATH_HELPERS_H

#include <stdlib.h>

#include "objective/passes/gradient_path.h"

#include "check.h"

enum { N = 40, P = 25, EACH = 4 };
#define XMAX 0.5
#define YMAX 2.0 /* of any label */

typedef struct records {
    size_t row[N * EACH], column[N * EACH];
    double value[N * EACH], y[N];
} records;

static pn_rng *rng;

static double draw_label(void);

static double between(double low, double high)
{
    return low + (high - low) * pn_rng_uniform(rng);
}

static void draw_record(records *to, size_t i)
{
    size_t first = (size_t)pn_rng_below(rng, P);

    for (size_t k = 0; k < EACH; k++) {
        size_t at = i * EACH + k;

        to->row[at] = i;
        to->column[at] = (first + 6 * k) % P;
        to->value[at] = pn_rng_below(rng, 3) == 0 ? XMAX : between(-XMAX, XMAX);
    }
    to->y[i] = draw_label();
}

static void draw_records(records *to)
{
    for (size_t i = 0; i < N; i++)
        draw_record(to, i);
}

static pn_dataset *dataset_of(const records *from)
{
    pn_dataset *raw = NULL, *rows = NULL, *out = NULL;
    pn_csr X = { 0 };

    if (!CHECK(pn_csr_from_triplets(&X, N, P, N * EACH, from->row, from->column, from->value, NULL) == PN_OK &&
               pn_dataset_from_csr(&raw, &X, from->y, "records", NULL) == PN_OK &&
               pn_dataset_clip_rows(&rows, raw, PN_LINF, XMAX, NULL) == PN_OK &&
               pn_dataset_clip_labels(&out, rows, -YMAX, YMAX, NULL) == PN_OK))
        exit(check_summary());
    pn_csr_clear(&X);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    return out;
}

/* The vertex +radius e_j, or -radius e_j. */
static inline void take_one(pn_gradient_path *path, size_t j, bool negative)
{
    pn_path_entry entry = { j, negative ? -PN_PATH_WHOLE : PN_PATH_WHOLE };

    pn_gradient_path_take(path, &entry, 1);
}

static uint64_t furthest(pn_gradient_path *const *path)
{
    int64_t most = 0;

    for (size_t k = 0; k < P; k++) {
        int64_t apart = pn_gradient_path_entry(path[0], k) - pn_gradient_path_entry(path[1], k);

        apart = apart < 0 ? -apart : apart;
        most = apart > most ? apart : most;
    }
    return (uint64_t)most;
}

#endif
