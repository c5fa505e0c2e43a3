/* smoothed_helpers.h -- records, black boxes and calls for the tests of smoothed gradients.
 * Depends on: objective/measures/smoothed.h, check.h.  Used by: smoothed_test.c, smoothed_law_test.c. */
#ifndef PN_TESTS_SMOOTHED_HELPERS_H
#define PN_TESTS_SMOOTHED_HELPERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "objective/measures/smoothed.h"

#define DIM_MAX 64

/* A function of theta and the record for a black box, and what else it needs. */
typedef double (*point_fn)(const void *context, size_t dim, const double *theta, const pn_record *record);

typedef struct box {
    point_fn f;
    const void *context;
    size_t calls, points; /* of the callback, over all calls */
    pn_status fails;
    pn_task *cancels;
} box;

static pn_status box_values(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                            double *values, pn_err *err)
{
    box *of = self;

    of->calls++;
    of->points += count;
    if (of->cancels)
        pn_task_cancel(of->cancels);
    if (of->fails != PN_OK)
        return pn_fail(err, of->fails, "the box fails");
    for (size_t k = 0; k < count; k++)
        values[k] = of->f(of->context, dim, thetas + k * dim, record);
    return PN_OK;
}

/* n records of p features; of a black box theta has dim entries. */
typedef struct world {
    pn_dataset *data;
    pn_loss *loss;
    pn_objective *objective;
    box box;
    pn_address_key key;
    size_t rows[4096];
} world;

static inline void world_open(world *self, pn_loss *loss, const double *X, size_t n, size_t p, const double *y)
{
    pn_objective_parts parts = { 0 };
    pn_rng *rng = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&self->data, X, n, p, y, "made", &err) == PN_OK);
    self->loss = loss;
    parts.data = self->data;
    parts.loss = loss;
    if (!CHECK(pn_objective_new(&self->objective, &parts, &err) == PN_OK))
        fprintf(stderr, "%s\n", err.message);
    for (size_t r = 0; r < 4096; r++)
        self->rows[r] = r % n;
    CHECK(pn_rng_seeded(&rng, 20240707, &err) == PN_OK);
    pn_address_key_draw(&self->key, rng);
    pn_rng_free(rng);
}

static inline void world_close(world *self)
{
    pn_objective_free(self->objective);
    pn_dataset_free(self->data);
    pn_loss_free(self->loss);
}

/* One record of no features that matter. */
static inline void world_of_box(world *self, point_fn f, const void *context, size_t dim)
{
    const double x = 0.0, y = 0.0;
    pn_loss *loss = NULL;
    pn_err err;

    memset(self, 0, sizeof *self);
    self->box = (box){ .f = f, .context = context };
    CHECK(pn_loss_black_box(&loss, box_values, NULL, &self->box, dim, 1.0, &err) == PN_OK);
    world_open(self, loss, &x, 1, 1, &y);
}

static inline pn_smoothed_call call_of(const world *self, size_t count, uint64_t call)
{
    return (pn_smoothed_call){ .rows = self->rows, .count = count, .key = &self->key, .call = call };
}

static inline void gradient(world *self, const pn_smoothing *how, size_t count, uint64_t call, const double *theta,
                            double *out)
{
    pn_smoothed_call of = call_of(self, count, call);
    pn_err err;

    if (!CHECK(pn_smoothed_gradient(self->objective, how, &of, theta, out, NULL, &err) == PN_OK))
        fprintf(stderr, "%s\n", err.message);
}

static inline void difference(world *self, const pn_smoothing *how, size_t count, uint64_t call, const double *theta,
                              const double *other, double distance, double *out)
{
    pn_smoothed_call of = call_of(self, count, call);
    pn_err err;

    if (!CHECK(pn_smoothed_difference(self->objective, how, &of, theta, other, distance, out, NULL, &err) == PN_OK))
        fprintf(stderr, "%s\n", err.message);
}

static inline double length(size_t dim, const double *x)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < dim; j++)
        sum += (long double)x[j] * (long double)x[j];
    return (double)sqrtl(sum);
}

#endif
