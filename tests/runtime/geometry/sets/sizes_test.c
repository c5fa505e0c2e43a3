/* sizes_test.c -- sets, norms and data whose sizes wrap around when they are added or multiplied: refused before memory
 * is touched, also where the C interface is called with sizes that no table of options lets through.
 * Depends on: check.h. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/size.h"
#include "data/build.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/assignment.h"
#include "geometry/kernels/order.h"
#include "geometry/potentials/potential.h"
#include "geometry/prox/prox.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "numeric/csr.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"

#include "check.h"

static const size_t huge[] = {
    PN_SIZE_MAX + 1, (size_t)1 << 61, (size_t)1 << 62, INT64_MAX, SIZE_MAX / 4 + 1, SIZE_MAX
};

#define COUNT (sizeof huge / sizeof huge[0])

/* A head of so many coordinates, which nothing may look behind. */
static pn_set headed(const char *name, size_t dim)
{
    pn_set set;

    pn_set_init(&set, pn_set_find(name), dim);
    return set;
}

static void composites(void)
{
    pn_mat A = { NULL, 3, 0 };

    for (size_t i = 0; i < COUNT; i++) {
        pn_set a = headed("l2_ball", huge[i]), b = headed("nonnegative", 3), *made = NULL;

        CHECK(pn_set_product(&made, &a, &a, NULL) == PN_EINVAL && !made);
        CHECK(pn_set_product(&made, &a, &b, NULL) == PN_EINVAL && !made);
        CHECK(pn_set_product(&made, &b, &a, NULL) == PN_EINVAL && !made);
        CHECK(pn_set_hull(&made, &a, &a, NULL) == PN_EINVAL && !made);
        CHECK(pn_set_sum(&made, &a, &a, NULL) == PN_EINVAL && !made);
        A.cols = huge[i];
        CHECK(pn_set_image(&made, &a, A, NULL) == PN_EINVAL && !made);
    }
}

/* Parts of 2^63 - 1, 2^63 - 1 and 4 coordinates made a set of 2. */
static void product_that_wrapped(void)
{
    pn_set large = headed("nonnegative", INT64_MAX), *made = NULL;
    pn_err err;

    CHECK(pn_set_product(&made, &large, &large, &err) == PN_EINVAL && !made);
    CHECK(strcmp(err.message,
                 "C:product: the dimensions of both sets, 9223372036854775807 + 9223372036854775807, must be at "
                 "most 2^48") == 0);
}

static pn_status identity(void *self, double *x, size_t n, pn_err *err)
{
    (void)self;
    (void)x;
    (void)n;
    (void)err;
    return PN_OK;
}

static pn_status same(void *self, const double *x, size_t n, double step, double *y, pn_err *err)
{
    (void)self;
    (void)step;
    (void)err;
    memcpy(y, x, n * sizeof *x);
    return PN_OK;
}

static void custom(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        double center = 0.0;
        pn_custom_set set = { .dim = huge[i], .radius = 1.0, .project = identity, .center = &center };
        pn_custom_prox prox = { .dim = huge[i], .apply = same };
        pn_set *made = NULL;
        pn_prox *made_prox = NULL;

        CHECK(pn_set_custom(&made, &set, NULL) == PN_EINVAL && !made); /* center[dim] is not read */
        CHECK(pn_prox_custom(&made_prox, &prox, NULL) == PN_EINVAL && !made_prox);
    }
}

static void matrices(void)
{
    static const char *const sets[] = { "nuclear_ball", "spectral_ball" };
    const size_t side = (size_t)1 << 32; /* whose square is 0 */
    pn_norm *norm = NULL;
    pn_potential *potential = NULL;

    for (size_t i = 0; i < 2; i++) {
        pn_arg args[8] = { { .given = true, .count = side },
                           { .given = true, .count = side },
                           { .given = true, .real = 1.0 } };
        pn_set *made = NULL;

        CHECK(pn_set_from_args(&made, sets[i], args, NULL) == PN_EINVAL && !made);
        CHECK(pn_norm_from_args(&norm, i ? "spectral" : "nuclear", args, NULL) == PN_EINVAL && !norm);
        CHECK(pn_potential_from_args(&potential, "schatten", args, NULL) == PN_EINVAL && !potential);
    }
}

static void data(void)
{
    static const double one = 1.0;
    pn_dataset *made = NULL;
    pn_record_bounds bounds = { .labels_binary = false };

    for (size_t i = 0; i < COUNT; i++) {
        CHECK(pn_dataset_from_dense(&made, &one, huge[i], 1, &one, NULL, NULL) == PN_EINVAL && !made);
        CHECK(pn_dataset_from_dense(&made, &one, 1, huge[i], &one, NULL, NULL) == PN_EINVAL && !made);
        CHECK(pn_dataset_from_dense(&made, &one, huge[i], huge[i], &one, NULL, NULL) == PN_EINVAL && !made);
        CHECK(pn_dataset_shell(&made, 1, huge[i], NULL, NULL) == PN_EINVAL && !made);
        CHECK(pn_dataset_absent(&made, huge[i], 1, &bounds, NULL, NULL) == PN_EINVAL && !made);
        CHECK(pn_dataset_alloc_rows(huge[i], 1) == NULL && pn_dataset_alloc_rows(huge[i], 8) == NULL);
    }
}

/* Rows of a csr that say where their entries are not. */
static void crooked_rows(void)
{
    static const double y[2] = { 1.0, -1.0 };
    size_t start[3] = { 0, 1, 2 };
    uint32_t column[2] = { 0, 1 };
    double value[2] = { 1.0, 2.0 };
    pn_csr X = { 2, 2, start, column, value };
    pn_dataset *made = NULL;

    CHECK(pn_dataset_from_csr(&made, &X, y, NULL, NULL) == PN_OK);
    pn_dataset_free(made);
    made = NULL;
    column[1] = 2;
    CHECK(pn_dataset_from_csr(&made, &X, y, NULL, NULL) == PN_EDIM && !made);
    column[1] = 1;
    start[1] = 3; /* the second row then ends before its start */
    CHECK(pn_dataset_from_csr(&made, &X, y, NULL, NULL) != PN_OK && !made);
    start[1] = 1;
    start[0] = 1;
    CHECK(pn_dataset_from_csr(&made, &X, y, NULL, NULL) == PN_EINVAL && !made);
    CHECK(pn_csr_init(&X, PN_SIZE_MAX + 1, 1, 1, NULL) == PN_EINVAL && !X.start);
    CHECK(pn_csr_init(&X, 1, 1, PN_SIZE_MAX + 1, NULL) == PN_EINVAL && !X.start);
}

static void dense_algebra(void)
{
    double one[4] = { 1.0, 0.0, 0.0, 1.0 }, values[2], vectors[4];
    pn_mat large = { one, (size_t)1 << 31, 1 }, wide = { one, INT32_MAX, INT32_MAX };

    CHECK(pn_svd(vectors, values, vectors, large, NULL) == PN_EDIM);
    CHECK(pn_svd(vectors, values, vectors, wide, NULL) == PN_EINVAL);
    CHECK(pn_eigen_symmetric(values, vectors, wide, NULL) == PN_EINVAL);
    CHECK(pn_linear_solve(values, wide, one, NULL) == PN_EINVAL);
    CHECK(pn_tridiagonal_top(values, vectors, one, one, (size_t)INT32_MAX, NULL) == PN_EDIM);
    CHECK(pn_packed_size((size_t)1 << 23) == ((size_t)1 << 22) * (((size_t)1 << 23) + 1));
    CHECK(pn_packed_size((size_t)1 << 32) == 0 && pn_packed_size(SIZE_MAX - 1) == 0);
}

/* What is not a number is neither larger nor equal: rows were left without a column,
 * and entries were sought past the end. */
static void not_numbers(void)
{
    const double gains[4] = { NAN, NAN, NAN, NAN }, endless[4] = { INFINITY, 0.0, 0.0, INFINITY };
    size_t column[2] = { 7, 7 };
    double scratch[4];
    bool which[4];

    CHECK(pn_assignment(column, NULL, gains, 2, NULL) == PN_EDOMAIN && column[0] == 7);
    CHECK(pn_assignment(column, NULL, endless, 2, NULL) == PN_EDOMAIN && column[0] == 7);
    pn_mark_largest(which, gains, 4, 2, scratch);
}

/* A^T g beyond the range of numbers is no direction. */
static void image_of_a_huge_direction(void)
{
    double A[4] = { 1e308, 1e308, 1e308, -1e308 }, g[2] = { 1e10, 1e10 }, point[2], value;
    pn_arg args[8] = { { .given = true, .count = 2 }, { .given = true, .count = 1 }, { .given = true, .real = 1.0 } };
    pn_set *inner = NULL, *image = NULL;

    CHECK(pn_set_from_args(&inner, "k_support", args, NULL) == PN_OK);
    CHECK(pn_set_image(&image, inner, (pn_mat){ A, 2, 2 }, NULL) == PN_OK);
    CHECK(pn_set_support(image, g, 2, &value, point, NULL) == PN_EDOMAIN);
    pn_set_free(image);
    pn_set_free(inner);
}

int main(void)
{
    composites();
    product_that_wrapped();
    custom();
    matrices();
    data();
    crooked_rows();
    dense_algebra();
    not_numbers();
    image_of_a_huge_direction();
    return check_summary();
}
