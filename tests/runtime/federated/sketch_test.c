/* sketch_test.c -- J is the same matrix however it is made, its products are those of the matrix within the stated rounding, and it has the
 * laws that it should.  Seeds are fixed; a true law fails each statistical check with probability below 1e-6.
 * Depends on: check.h, federated/sketch.h, numeric/lapack.h. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "federated/sketch_impl.h"
#include "geometry/upper.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

#include "check.h"

static pn_sketch *sketch_of(pn_sketch_kind kind, size_t m, size_t n, uint64_t seed, pn_task *task)
{
    pn_sketch_shape shape = { kind, m, n, seed };
    pn_sketch *sketch = NULL;
    pn_err err = { PN_OK, "" };

    if (!CHECK(pn_sketch_new(&sketch, &shape, task, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return sketch;
}

/* J itself, column after column: J^T of unit vectors gives its rows exactly (one product by 1, the rest 0). */
static double *matrix_of(const pn_sketch *sketch)
{
    const pn_sketch_shape *shape = pn_sketch_shape_of(sketch);
    double *columns = malloc(shape->n * shape->m * sizeof *columns), *row = malloc(shape->n * sizeof *row);
    double *unit = calloc(shape->m, sizeof *unit);

    for (size_t r = 0; r < shape->m; r++) {
        unit[r] = 1.0;
        CHECK(pn_sketch_transpose(sketch, unit, row, NULL, NULL) == PN_OK);
        unit[r] = 0.0;
        for (size_t j = 0; j < shape->n; j++)
            columns[j * shape->m + r] = row[j];
    }
    free(row);
    free(unit);
    return columns;
}

static void fill(double *x, size_t n, uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    for (size_t i = 0; i < n; i++)
        x[i] = 2.0 * pn_rng_uniform(rng) - 1.0;
    pn_rng_free(rng);
}

/* sum_j J_rj a_j in long double: its own error is 2^-11 of what is measured. */
static long double exact_entry(const double *J, size_t m, size_t n, size_t r, const double *a)
{
    long double sum = 0.0L;

    for (size_t j = 0; j < n; j++)
        sum += (long double)J[j * m + r] * (long double)a[j];
    return sum;
}

static double worst_error(const double *J, size_t m, size_t n, const double *a, size_t c, const double *out)
{
    double worst = 0.0;

    for (size_t i = 0; i < c; i++) {
        for (size_t r = 0; r < m; r++)
            worst = fmax(worst, (double)fabsl(out[i * m + r] - exact_entry(J, m, n, r, a + i * n)));
    }
    return worst;
}

/* What the entries of a sparse J are off by: 1/sqrt(s) as a double. */
static double entry_error(pn_sketch_kind kind, double bound, size_t n)
{
    return kind == PN_SKETCH_SPARSE ? 0x1p-52 * bound * (double)n : 0.0;
}

static void multiplies_as_the_matrix_does(pn_sketch_kind kind, size_t m, size_t n, size_t c)
{
    pn_sketch *sketch = sketch_of(kind, m, n, 7, NULL);
    double *J = matrix_of(sketch), *a = malloc(c * n * sizeof *a), *out = malloc(c * m * sizeof *out);
    double *q = malloc(m * sizeof *q), *z = malloc(n * sizeof *z), worst = 0.0, error = pn_sketch_error(sketch, 1.0);

    fill(a, c * n, 1);
    fill(q, m, 2);
    CHECK(pn_sketch_columns(sketch, a, c, out, NULL, NULL) == PN_OK);
    CHECK(worst_error(J, m, n, a, c, out) <= error + entry_error(kind, 1.0, n));
    CHECK(error <= 2e-12 * (double)n);
    CHECK(pn_sketch_transpose(sketch, q, z, NULL, NULL) == PN_OK);
    for (size_t j = 0; j < n; j++) {
        long double sum = 0.0L;

        for (size_t r = 0; r < m; r++)
            sum += (long double)J[j * m + r] * (long double)q[r];
        worst = fmax(worst, (double)fabsl(z[j] - sum));
    }
    error = pn_sketch_transpose_error(sketch, pn_lp_norm(PN_L2, m, q));
    CHECK(worst <= error + entry_error(kind, 1.0, 8));
    CHECK(error <= 1e-15 * (double)(m + 16) * pn_lp_norm(PN_L2, m, q));
    free(z);
    free(q);
    free(out);
    free(a);
    free(J);
    pn_sketch_free(sketch);
}

int main(void)
{
    multiplies_as_the_matrix_does(PN_SKETCH_GAUSSIAN, 64, 9000, 5);
    multiplies_as_the_matrix_does(PN_SKETCH_GAUSSIAN, 64, 9000, 1);
    multiplies_as_the_matrix_does(PN_SKETCH_SPARSE, 64, 20000, 11);
    multiplies_as_the_matrix_does(PN_SKETCH_SPARSE, 3, 20000, 1);
    return check_summary();
}
