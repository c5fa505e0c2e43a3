/* choices_kit.h -- sets whose vertices are made of choices: every kind, their products and sums, scaled and shifted.
 * Depends on: check.h, geometry.  Used by: choices_test.c, set_slice_test.c, federated/wire/block_test.c. */
#ifndef PN_TESTS_CHOICES_KIT_H
#define PN_TESTS_CHOICES_KIT_H

#include "check.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"

enum { DIM = 4, MOST = 64, SETS = 14 };

static inline pn_set *ball(const char *name, size_t k, double radius)
{
    pn_arg args[3] = { { .given = true, .count = DIM }, { .given = true, .real = radius }, { 0 } };
    pn_set *set = NULL;

    if (k > 0) {
        args[1] = (pn_arg){ .given = true, .count = k };
        args[2] = (pn_arg){ .given = true, .real = radius };
    }
    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

static inline pn_set *joined(pn_set *a, pn_set *b, bool product)
{
    pn_set *out = NULL;

    CHECK((product ? pn_set_product : pn_set_sum)(&out, a, b, NULL) == PN_OK);
    pn_set_free(a);
    pn_set_free(b);
    return out;
}

static inline pn_set *moved(pn_set *set, double factor)
{
    double shift[MOST];
    pn_set *scaled = NULL, *out = NULL;

    for (size_t j = 0; j < set->dim; j++)
        shift[j] = 0.25 * (double)j - 1.0;
    CHECK(pn_set_scale(&scaled, set, factor, NULL) == PN_OK);
    CHECK(pn_set_shift(&out, scaled, shift, set->dim, NULL) == PN_OK);
    pn_set_free(set);
    pn_set_free(scaled);
    return out;
}

/* A C with A of `rows` rows, of both signs and sizes. */
static inline pn_set *mapped(pn_set *set, size_t rows)
{
    double A[MOST];
    pn_set *out = NULL;

    for (size_t k = 0; k < rows * set->dim; k++)
        A[k] = (double)((k * 7 + 3) % 11) / 4.0 - 1.0;
    CHECK(pn_set_image(&out, set, (pn_mat){ A, rows, set->dim }, NULL) == PN_OK);
    pn_set_free(set);
    return out;
}

static inline pn_set *set_number(int which)
{
    switch (which) {
    case 0:
        return ball("linf_ball", 0, 0.5);
    case 1:
        return ball("hypersimplex", 2, 0.5);
    case 2:
        return ball("unit_hypersimplex", 3, 2.0);
    case 3:
        return ball("ksparse_polytope", 2, 1.5);
    case 4:
        return ball("l1_ball", 0, 2.0);
    case 5:
        return joined(ball("simplex", 0, 1.0), ball("linf_ball", 0, 3.0), true);
    case 6:
        return joined(ball("l1_ball", 0, 1.0), ball("hypersimplex", 1, 2.0), false);
    case 7:
        return moved(ball("hypersimplex", 2, 0.5), -2.0);
    case 8:
        return moved(joined(set_number(6), moved(set_number(0), -1.0), false), 0.5);
    case 9:
        return moved(joined(set_number(3), moved(joined(set_number(1), set_number(2), false), -2.0), true), -0.5);
    case 10: /* of a cube and more: no list of vertices */
        return mapped(set_number(0), 3);
    case 11:
        return mapped(moved(set_number(3), -0.5), 5);
    case 12:
        return moved(joined(mapped(joined(set_number(1), set_number(4), true), 2), set_number(0), true), -2.0);
    case 13:
        return joined(mapped(mapped(set_number(2), 6), 4), set_number(0), false);
    default:
        return NULL;
    }
}

#endif
