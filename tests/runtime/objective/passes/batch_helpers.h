/* batch_helpers.h -- records, losses and naive sums for the tests of batches.
 * Depends on: objective/passes/objective.h, check.h.  Used by: batch_test.c, batch_tau_test.c. */
#ifndef PN_TESTS_BATCH_HELPERS_H
#define PN_TESTS_BATCH_HELPERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "expr/formula.h"
#include "geometry/sets/sets.h"
#include "objective/passes/objective.h"

#define RECORD_BOUND 2.0 /* enforced, l2 */
#define SET_RADIUS   1.5

typedef enum storage { DENSE, SPARSE, FLOATS, SPARSE_FLOATS, STORAGES } storage;

static inline double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* (w_3 + w_1 tanh z_1 + w_2 tanh z_2 - y)^2 / 2, labels in [0, 1]. */
static inline pn_loss *make_network(void)
{
    const char *names[11] = { "z1", "z2", "w1", "w2", "w3", "y", "", "", "", "", "" };
    const pn_labels labels = { .kind = PN_LABELS_INTERVAL, .range = { 0.0, 1.0 } };
    pn_graph *graph = NULL;
    pn_loss *loss = NULL;
    pn_node sum;
    pn_err err;

    CHECK(pn_graph_new(&graph, names, 11, &err) == PN_OK);
    sum = pn_x_sub(graph, pn_x_var(graph, 4), pn_x_var(graph, 5));
    for (unsigned j = 0; j < 2; j++)
        sum = pn_x_add(graph, sum,
                       pn_x_mul(graph, pn_x_var(graph, 2 + j), pn_x_unary(graph, PN_X_TANH, pn_x_var(graph, j))));
    sum = pn_x_scale(graph, 0.5, pn_x_square(graph, sum));
    CHECK(pn_loss_from_joint_graph(&loss, graph, sum, 2, 3, &labels, &err) == PN_OK);
    pn_graph_free(graph);
    return loss;
}

/* The options that a loss cannot do without: three classes, a quantile of 1/4; or a network. */
static inline pn_loss *make_loss(const char *name)
{
    const pn_loss_ops *const *table = pn_loss_table();
    pn_arg args[16] = { { .given = false } };
    pn_loss *loss = NULL;
    pn_err err;

    if (strcmp(name, "network") == 0)
        return make_network();
    while (*table && strcmp((*table)->name, name) != 0)
        table++;
    for (size_t i = 0; *table && (*table)->params && (*table)->params[i].name; i++) {
        if ((*table)->params[i].need == PN_REQUIRED)
            args[i] = (pn_arg){ .given = true, .real = 0.25, .count = 3 };
    }
    CHECK(pn_loss_from_args(&loss, name, args, &err) == PN_OK);
    return loss;
}

static inline double some_label(const pn_labels *labels, size_t i, unsigned *state)
{
    if (labels->kind == PN_LABELS_VALUES)
        return labels->values[i * 7 % 5 % labels->count];
    if (labels->kind == PN_LABELS_CLASSES)
        return 1.0 + (double)(i * 7 % 5 % labels->count);
    return unit(state);
}

static inline pn_dataset *from_rows(const double *X, size_t n, size_t p, const double *y, bool sparse)
{
    size_t *start = malloc((n + 1) * sizeof *start), nnz = 0;
    uint32_t *column = malloc(n * p * sizeof *column);
    double *value = malloc(n * p * sizeof *value);
    pn_dataset *out = NULL;
    pn_err err;

    for (size_t i = 0; i < n; i++) {
        start[i] = nnz;
        for (size_t j = 0; j < p; j++) {
            if (X[i * p + j] != 0.0) {
                column[nnz] = (uint32_t)j;
                value[nnz++] = X[i * p + j];
            }
        }
    }
    start[n] = nnz;
    if (sparse)
        CHECK(pn_dataset_from_csr(&out, &(pn_csr){ n, p, start, column, value }, y, "made", &err) == PN_OK);
    else
        CHECK(pn_dataset_from_dense(&out, X, n, p, y, "made", &err) == PN_OK);
    free(start);
    free(column);
    free(value);
    return out;
}

/* Replaces *data by what `next` makes of it. */
static inline void take(pn_dataset **data, pn_dataset *next)
{
    pn_dataset_free(*data);
    *data = next;
}

/* n records with three entries in ten, some of them longer than the bound that clips them. */
static inline pn_dataset *make_data(storage kind, size_t n, size_t p, const pn_labels *labels)
{
    double *X = calloc(n * p, sizeof *X), *y = malloc(n * sizeof *y);
    pn_dataset *data, *next = NULL;
    unsigned state = 11;
    pn_err err;

    for (size_t i = 0; i < n * p; i++)
        X[i] = unit(&state) < 0.3 ? 4.0 / sqrt((double)p) * (2.0 * unit(&state) - 1.0) : 0.0;
    for (size_t i = 0; i < n; i++)
        y[i] = some_label(labels, i, &state);
    data = from_rows(X, n, p, y, kind == SPARSE || kind == SPARSE_FLOATS);
    CHECK(pn_dataset_clip_rows(&next, data, PN_L2, RECORD_BOUND, &err) == PN_OK);
    take(&data, next);
    if (labels->kind == PN_LABELS_REAL || labels->kind == PN_LABELS_INTERVAL) {
        CHECK(pn_dataset_clip_labels(&next, data, 0.0, 1.0, &err) == PN_OK);
        take(&data, next);
    }
    if (kind == FLOATS || kind == SPARSE_FLOATS) {
        CHECK(pn_dataset_to_float32(&next, data, &err) == PN_OK);
        take(&data, next);
    }
    free(X);
    free(y);
    return data;
}

/* Over an l2 ball when there is no clip. */
static inline pn_objective *make_objective(const pn_dataset *data, pn_loss *loss, double clip)
{
    pn_arg ball[4] = { { .given = true, .count = (loss->margins ? loss->margins : 1) * data->p + loss->extra },
                       { .given = true, .real = SET_RADIUS } };
    pn_objective_parts parts = { .data = data, .loss = loss, .clip = clip };
    pn_objective *objective = NULL;
    pn_err err;

    if (clip == 0.0)
        CHECK(pn_set_from_args(&parts.set, "l2_ball", ball, &err) == PN_OK);
    CHECK(pn_objective_new(&objective, &parts, &err) == PN_OK);
    pn_set_free(parts.set);
    return objective;
}

static inline double entry(const pn_dataset *data, size_t i, size_t j)
{
    if (!data->sparse)
        return data->single ? (double)data->single[i * data->p + j] : data->dense[i * data->p + j];
    for (size_t k = data->csr.start[i]; k < data->csr.start[i + 1]; k++) {
        if (data->csr.column[k] == j)
            return data->csr_single ? (double)data->csr_single[k] : data->csr.value[k];
    }
    return 0.0;
}

static inline long double row_length(const pn_dataset *data, size_t i)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < data->p; j++)
        sum += (long double)entry(data, i, j) * (long double)entry(data, i, j);
    return sqrtl(sum);
}

/* theta[dim] inside the set. */
static inline void some_point(double *theta, size_t dim, unsigned seed)
{
    for (size_t j = 0; j < dim; j++)
        theta[j] = SET_RADIUS / sqrt((double)dim) * (2.0 * unit(&seed) - 1.0);
}

#endif
