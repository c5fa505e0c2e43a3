/* potential_checks.h -- what the tests of potentials share: objects by name, and what holds for each step, range and
 * gradient.  Header only.  Depends on: geometry/potentials/potential.h, check.h.
 * Used by: potential_test.c, potential_laws_test.c. */
#ifndef PN_TESTS_POTENTIAL_CHECKS_H
#define PN_TESTS_POTENTIAL_CHECKS_H

#include <string.h>

#include "check.h"
#include "geometry/potentials/potential.h"
#include "geometry/sets/sets.h"

#define COUNT(value)                                                                                                   \
    {                                                                                                                  \
        .given = true, .count = (value)                                                                                \
    }
#define REAL(value)                                                                                                    \
    {                                                                                                                  \
        .given = true, .real = (value)                                                                                 \
    }
#define NONE                                                                                                           \
    {                                                                                                                  \
        .given = false                                                                                                 \
    }

static inline pn_set *new_set(const char *name, pn_arg *args)
{
    pn_set *set = NULL;
    pn_err err;

    if (!CHECK(pn_set_from_args(&set, name, args, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return set;
}

static inline pn_potential *new_potential(const char *name, pn_arg *args)
{
    pn_potential *p = NULL;
    pn_err err;

    if (!CHECK(pn_potential_from_args(&p, name, args, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return p;
}

/* ---- what holds for each step ---- */

static inline double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)*state / 2147483648.0 - 1.0;
}

static inline void fill(double *x, size_t n, double size, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1u;

    for (size_t j = 0; j < n; j++)
        x[j] = size * uniform(&state);
}

/* <c - grad Psi(x), v - x> <= 1e-7 for all v in C, x in C (spec section 4), and in place gives the same. */
static inline void check_step(const pn_potential *p, const pn_set *set, double size, unsigned seed)
{
    enum { MOST = 64 };
    double c[MOST], x[MOST], slope[MOST], most = NAN, here = 0.0, largest = 1.0;
    size_t n = set->dim;
    bool inside = false;
    pn_err err;

    fill(c, n, size, seed);
    if (!CHECK(pn_potential_step(p, set, c, x, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s over %s: %s\n", p->ops->name, set->ops->name, err.message);
        return;
    }
    CHECK(pn_set_contains(set, x, n, 1e-9, &inside, &err) == PN_OK && inside);
    CHECK(pn_potential_gradient(p, x, n, slope, &err) == PN_OK);
    for (size_t j = 0; j < n; j++) {
        slope[j] = c[j] - slope[j];
        here += slope[j] * x[j];
        largest = fmax(largest, fabs(c[j]));
    }
    CHECK(pn_set_support(set, slope, n, &most, NULL, &err) == PN_OK);
    if (!CHECK(most - here <= 1e-7 * largest))
        (void)fprintf(stderr, "    %s over %s: gap %g at size %g\n", p->ops->name, set->ops->name, most - here, size);
    CHECK(pn_potential_step(p, set, c, c, &err) == PN_OK && memcmp(c, x, n * sizeof *x) == 0);
}

static inline void check_steps_between(const pn_potential *p, const pn_set *set, double least, double most)
{
    const double sizes[] = { 0.0, 1e-3, 0.3, 1.0, 10.0, 1e3 };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] < least || sizes[i] > most)
            continue;
        for (unsigned seed = 1; seed <= 3; seed++)
            check_step(p, set, sizes[i], seed);
    }
}

static inline void check_steps(const pn_potential *p, const pn_set *set)
{
    check_steps_between(p, set, 0.0, INFINITY);
}

/* The range bounds Psi(v) - Psi(start) for support points in random directions. */
static inline void check_range(const pn_potential *p, const pn_set *set)
{
    double x[64], g[64], range = NAN, least = NAN, value = NAN;
    pn_err err;

    CHECK(pn_potential_range(p, set, &range, &err) == PN_OK);
    CHECK(pn_potential_start(p, set, x, &err) == PN_OK);
    CHECK(pn_potential_value(p, x, set->dim, &least, &err) == PN_OK);
    for (unsigned seed = 1; seed <= 20; seed++) {
        fill(g, set->dim, 1.0, seed);
        CHECK(pn_set_support(set, g, set->dim, NULL, x, &err) == PN_OK);
        CHECK(pn_potential_value(p, x, set->dim, &value, &err) == PN_OK);
        CHECK(value - least <= range);
    }
}

/* grad Psi*(grad Psi(x)) = x, and Psi's gradient is that of its values. */
static inline void check_gradient(const pn_potential *p, const double *x, size_t n)
{
    double slope[64], back[64], moved[64], up = NAN, down = NAN;
    pn_err err;

    CHECK(pn_potential_gradient(p, x, n, slope, &err) == PN_OK);
    for (size_t j = 0; j < n; j++) {
        double h = 1e-5 * fmax(fabs(x[j]), 1e-2);

        memcpy(moved, x, n * sizeof *x);
        moved[j] = x[j] + h;
        CHECK(pn_potential_value(p, moved, n, &up, &err) == PN_OK);
        moved[j] = x[j] - h;
        CHECK(pn_potential_value(p, moved, n, &down, &err) == PN_OK);
        CHECK_CLOSE(slope[j], (up - down) / (2.0 * h), 1e-5 * (1.0 + fabs(slope[j])));
    }
    if (!p->ops->inverse_gradient)
        return;
    CHECK(pn_potential_inverse_gradient(p, slope, n, back, &err) == PN_OK);
    for (size_t j = 0; j < n; j++)
        CHECK_CLOSE(back[j], x[j], 1e-12);
}

#endif
