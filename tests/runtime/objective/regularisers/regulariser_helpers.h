/* regulariser_helpers.h -- one of every kind of regulariser for tests.  Depends on:
 * objective/regularisers/regulariser.h, check.h.  Header-only. */
#ifndef PN_TESTS_REGULARISER_HELPERS_H
#define PN_TESTS_REGULARISER_HELPERS_H

#include <math.h>
#include <string.h>

#include "objective/regularisers/regulariser.h"

#include "check.h"

#define DIM 6

static pn_err err; /* of the last call */

/* ---- makers ---- */

static inline pn_arg real(double value)
{
    return (pn_arg){ .given = true, .real = value };
}

static inline pn_arg count(size_t value)
{
    return (pn_arg){ .given = true, .count = value };
}

static inline pn_arg vector(const double *data, size_t n)
{
    return (pn_arg){ .given = true, .vector = { (double *)(size_t)data, n } };
}

static inline pn_arg matrix(const double *data, size_t n)
{
    return (pn_arg){ .given = true, .matrix = { (double *)(size_t)data, n, n } };
}

static inline pn_regulariser *make(const char *name, pn_arg a, pn_arg b, pn_arg c, pn_arg d)
{
    pn_arg args[4] = { a, b, c, d };
    pn_regulariser *reg = NULL;

    if (!CHECK(pn_regulariser_from_args(&reg, name, args, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return reg;
}

static const pn_arg absent = { .given = false };

static inline pn_regulariser *simple(const char *name, double lambda)
{
    return make(name, real(lambda), absent, absent, absent);
}

static inline double value_at(const pn_regulariser *reg, size_t dim, const double *theta)
{
    double value = NAN;

    CHECK(reg->ops->evaluate(reg, dim, theta, &value, NULL, &err) == PN_OK);
    return value;
}

static inline void gradient_at(const pn_regulariser *reg, size_t dim, const double *theta, double *gradient)
{
    memset(gradient, 0, dim * sizeof *gradient);
    CHECK(reg->ops->evaluate(reg, dim, theta, NULL, gradient, &err) == PN_OK);
}

static inline double at_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Every kind, of DIM coordinates. */
static inline size_t make_all(pn_regulariser *all[10])
{
    static const double groups[DIM] = { 1, 2, 2, 1, 3, 2 }, weights[3] = { 1, 2, 0.5 }, blocks[4] = { 2, 0, 0, 0.5 };
    size_t n = 0;

    all[n++] = simple("none", 1.0);
    all[n++] = simple("l2", 0.7);
    all[n++] = simple("l1", 0.7);
    all[n++] = make("elastic_net", real(0.3), real(0.2), absent, absent);
    all[n++] = make("group", real(0.7), count(3), absent, absent);
    all[n++] = make("group", real(0.7), absent, vector(groups, DIM), vector(weights, 3));
    all[n++] = make("nuclear", real(0.7), count(2), count(3), absent);
    all[n++] = make("quadratic", matrix(blocks, 2), absent, real(0.7), absent);
    all[n++] = simple("nonconvex", 0.7);
    all[n] = NULL;
    return n;
}

#endif
