/* hessian_helpers.h -- records of every storage, objectives by name, and sums over records taken plainly.
 * Depends on: check.h, objective/passes/objective.h.  Used by: hessian_test.c, quadratic_test.c,
 * line_test.c, hessian_bounds_test.c. */
#ifndef PN_TESTS_HESSIAN_HELPERS_H
#define PN_TESTS_HESSIAN_HELPERS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/rows.h"
#include "expr/formula.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "objective/passes/objective.h"

typedef enum storage { DENSE, SINGLE, SPARSE, SPARSE_SINGLE, STORAGES } storage;

static inline double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* X[n * p], four in ten of them zero, floats; labels -1 and 1. */
static inline void fill_records(double *X, double *y, size_t n, size_t p, unsigned state)
{
    for (size_t i = 0; i < n * p; i++)
        X[i] = unit(&state) < 0.4 ? 0.0 : (double)(float)(2.0 * unit(&state) - 1.0);
    for (size_t i = 0; i < n; i++)
        y[i] = unit(&state) < 0.5 ? -1.0 : 1.0;
}

static inline pn_status sparse_of(pn_dataset **out, const double *X, const double *y, size_t n, size_t p, pn_err *err)
{
    size_t *start = malloc((n + 1) * sizeof *start), k = 0;
    uint32_t *column = malloc(n * p * sizeof *column);
    double *value = malloc(n * p * sizeof *value);
    pn_status status;

    for (size_t i = 0; i < n; i++) {
        start[i] = k;
        for (size_t j = 0; j < p; j++) {
            if (X[i * p + j] != 0.0) {
                column[k] = (uint32_t)j;
                value[k++] = X[i * p + j];
            }
        }
    }
    start[n] = k;
    status = pn_dataset_from_csr(out, &(pn_csr){ n, p, start, column, value }, y, "made", err);
    free(start);
    free(column);
    free(value);
    return status;
}

/* clip > 0: rows within that l2 norm, enforced. */
static inline pn_status store(pn_dataset **out, const double *X, const double *y, size_t n, size_t p, storage how,
                              double clip, pn_err *err)
{
    pn_dataset *wide = NULL, *narrow = NULL;
    pn_status status =
        how >= SPARSE ? sparse_of(&wide, X, y, n, p, err) : pn_dataset_from_dense(&wide, X, n, p, y, "made", err);

    if (status == PN_OK && (how == SINGLE || how == SPARSE_SINGLE)) {
        status = pn_dataset_to_float32(&narrow, wide, err);
        pn_dataset_free(wide);
        wide = narrow;
    }
    if (status == PN_OK && clip > 0.0) {
        status = pn_dataset_clip_rows(out, wide, PN_L2, clip, err);
        pn_dataset_free(wide);
    } else if (status == PN_OK) {
        *out = wide;
    }
    return status;
}

static inline pn_status made(pn_dataset **out, size_t n, size_t p, storage how, double clip, pn_err *err)
{
    double *X = malloc(n * p * sizeof *X), *y = malloc(n * sizeof *y);
    pn_status status;

    fill_records(X, y, n, p, 7);
    status = store(out, X, y, n, p, how, clip, err);
    free(X);
    free(y);
    return status;
}

/* z^2 y/2 - sin(z)/3: its second derivative, y + sin(z)/3, has either sign. */
static inline pn_status wavy_loss(pn_loss **out, pn_err *err)
{
    static const char *const names[2] = { "z", "y" };
    const pn_labels labels = { .kind = PN_LABELS_VALUES, .count = 2, .values = { -1.0, 1.0 } };
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);
    pn_node z, y, bowl, wave;

    if (status != PN_OK)
        return status;
    z = pn_x_var(graph, 0);
    y = pn_x_var(graph, 1);
    bowl = pn_x_mul(graph, pn_x_mul(graph, pn_x_const(graph, 0.5), y), pn_x_square(graph, z));
    wave = pn_x_div(graph, pn_x_unary(graph, PN_X_SIN, z), pn_x_const(graph, 3.0));
    status = pn_loss_from_graph(out, graph, pn_x_sub(graph, bowl, wave), &labels, err);
    pn_graph_free(graph);
    return status;
}

/* `loss`: a name of the table's without required parameters, or "wavy".  radius > 0: within that l2 ball. */
static inline pn_status objective_of(pn_objective **out, const pn_dataset *data, const char *loss, double clip,
                                     double radius, pn_err *err)
{
    pn_arg args[4] = { { 0 } }, ball[4] = { { .given = true, .count = data->p }, { .given = true, .real = radius } };
    pn_objective_parts parts = { .data = data, .clip = clip };
    pn_status status =
        strcmp(loss, "wavy") == 0 ? wavy_loss(&parts.loss, err) : pn_loss_from_args(&parts.loss, loss, args, err);

    if (status == PN_OK && radius > 0.0)
        status = pn_set_from_args(&parts.set, "l2_ball", ball, err);
    if (status == PN_OK)
        status = pn_objective_new(out, &parts, err);
    pn_set_free(parts.set);
    pn_loss_free(parts.loss);
    return status;
}

/* x[p] = record i, with its zeros. */
static inline void record_features(const pn_dataset *data, size_t i, double *x)
{
    size_t count;
    pn_rows read;
    const double *stored;

    memset(x, 0, data->p * sizeof *x);
    CHECK(pn_rows_open(&read, data, NULL) == PN_OK);
    stored = pn_rows_get(&read, i, &count);
    for (size_t k = 0; k < count; k++)
        x[data->sparse ? data->csr.column[data->csr.start[i] + k] : k] = stored[k];
    pn_rows_close(&read);
}

static inline void point(double *theta, size_t p)
{
    for (size_t j = 0; j < p; j++)
        theta[j] = 0.3 * (double)(j % 4) - 0.4;
}

#endif
