/* covertype_test.c -- value, gradient and Hessian of the experiments' objective on the real Covertype, against figures
 * of an independent program (numpy and LAPACK): standardised, divided by 4, rows clipped to norm 1, logistic loss,
 * nonconvex regulariser with 1e-3.  Does nothing unless PENUMBRA_DATA names a folder with covtype.libsvm.binary.gz.
 * Depends on: check.h, objective/passes/second_order.h, numeric/lapack.h. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "objective/passes/second_order.h"

enum { N = 581012, P = 54, NUMERIC = 10, FIRST = 1, PACKED = P * (P + 1) / 2 };

static pn_status load(pn_dataset **out, const char *folder, pn_err *err)
{
    static const double from[2] = { 1.0, 2.0 }, to[2] = { 1.0, -1.0 };
    pn_libsvm_options options = { .cols = P, .storage = PN_STORAGE_DENSE, .labels = { false, from, to, NULL, 2 } };
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/covtype.libsvm.binary.gz", folder);
    return pn_dataset_load_libsvm(out, path, &options, NULL, err);
}

static void standardise(pn_dataset *data)
{
    for (size_t j = 0; j < P; j++) {
        double mean = 0.0, squares = 0.0, deviation = 1.0;

        for (size_t i = 0; i < N && j < NUMERIC; i++)
            mean += data->dense[i * P + j] / N;
        for (size_t i = 0; i < N && j < NUMERIC; i++)
            squares += (data->dense[i * P + j] - mean) * (data->dense[i * P + j] - mean) / N;
        if (j < NUMERIC)
            deviation = sqrt(squares);
        for (size_t i = 0; i < N; i++)
            data->dense[i * P + j] = (data->dense[i * P + j] - mean) / deviation / 4.0;
    }
}

static size_t long_rows(const pn_dataset *data)
{
    size_t count = 0;

    for (size_t i = 0; i < N; i++)
        count += pn_lp_norm(PN_L2, P, data->dense + i * P) > 1.0;
    return count;
}

static pn_status experiment(pn_objective **out, const pn_dataset *data, pn_err *err)
{
    pn_arg none[4] = { { 0 } }, strength[4] = { { .given = true, .real = 1e-3 } };
    pn_objective_parts parts = { .data = data };
    pn_status status = pn_loss_from_args(&parts.loss, "logistic", none, err);

    if (status == PN_OK)
        status = pn_regulariser_from_args(&parts.reg, "nonconvex", strength, err);
    if (status == PN_OK)
        status = pn_objective_new(out, &parts, err);
    pn_loss_free(parts.loss);
    pn_regulariser_free(parts.reg);
    return status;
}

static double least_eigenvalue(const double *packed)
{
    static double full[P * P], vectors[P * P];
    double values[P], least = INFINITY;

    for (size_t j = 0; j < P; j++) {
        for (size_t i = 0; i <= j; i++)
            full[i * P + j] = full[j * P + i] = packed[j * (j + 1) / 2 + i];
    }
    CHECK(pn_eigen_symmetric(values, vectors, (pn_mat){ full, P, P }, NULL) == PN_OK);
    for (size_t j = 0; j < P; j++)
        least = fmin(least, values[j]);
    return least;
}

/* Hessian of f times v against the difference of two gradients of f. */
static void compare_with_differences(pn_objective *objective, const double *theta, const double *packed)
{
    double v[P], above[P], below[P], there[P], step = 1e-5;

    for (size_t j = 0; j < P; j++)
        v[j] = cos((double)(3 * j));
    for (size_t j = 0; j < P; j++)
        there[j] = theta[j] + step * v[j];
    CHECK(pn_objective_evaluate(objective, there, NULL, above, NULL, NULL) == PN_OK);
    for (size_t j = 0; j < P; j++)
        there[j] = theta[j] - step * v[j];
    CHECK(pn_objective_evaluate(objective, there, NULL, below, NULL, NULL) == PN_OK);
    for (size_t i = 0; i < P; i++) {
        double product = 0.0;

        for (size_t j = 0; j < P; j++)
            product += packed[i <= j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j] * v[j];
        CHECK_CLOSE(product, (above[i] - below[i]) / (2.0 * step), 1e-9);
    }
}

static void test_figures(pn_objective *objective)
{
    double theta[P] = { 0.0 }, value, gradient[P], packed[PACKED], loss, mean[P];
    pn_hessian_bounds bounds;

    CHECK(pn_objective_evaluate(objective, theta, &value, gradient, NULL, NULL) == PN_OK);
    CHECK_CLOSE(value, 0.693147, 5e-7);
    CHECK_CLOSE(pn_lp_norm(PN_L2, P, gradient), 0.0325683096304, 1e-11);
    for (size_t j = 0; j < P; j++)
        theta[j] = sin((double)FIRST + (double)j);
    CHECK(pn_objective_evaluate(objective, theta, &value, gradient, NULL, NULL) == PN_OK);
    CHECK_CLOSE(value, 0.732957, 5e-7);
    CHECK_CLOSE(pn_lp_norm(PN_L2, P, gradient), 0.046153, 5e-7);
    CHECK(pn_objective_quadratic(objective, NULL, theta, &loss, mean, packed, NULL, NULL) == PN_OK);
    CHECK(loss < value && loss > value - 1e-3 * P);
    CHECK(least_eigenvalue(packed) >=
          -(double)P * DBL_EPSILON); /* of a convex loss; rounding of a matrix of norm 1/4 */
    CHECK(pn_objective_add_regular_hessian(objective, theta, packed, NULL) == PN_OK);
    CHECK_CLOSE(least_eigenvalue(packed), -0.000487, 5e-7);
    compare_with_differences(objective, theta, packed);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == PN_OK);
    CHECK_CLOSE(bounds.replace, sqrt(2.0) / 4.0, 1e-9);
    CHECK_CLOSE(bounds.lipschitz + 4.6685593e-3, 0.1008936, 5e-8); /* M with the regulariser's */
    /* What rounding adds to a sensitivity is nothing. */
    CHECK(pn_objective_hessian_error(objective, N) * bounds.zero < 1e-6 * bounds.replace);
}

int main(void)
{
    const char *folder = getenv("PENUMBRA_DATA");
    pn_dataset *raw = NULL, *data = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    if (!folder || !folder[0]) {
        (void)fprintf(stderr, "skipped: PENUMBRA_DATA is not set\n");
        CHECK(true);
        return check_summary();
    }
    if (CHECK(load(&raw, folder, &err) == PN_OK) && CHECK(raw->n == N && raw->p == P)) {
        standardise(raw);
        CHECK_CLOSE((double)long_rows(raw) / N, 0.183, 5e-4);
        CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, &err) == PN_OK);
        CHECK(experiment(&objective, data, &err) == PN_OK);
        test_figures(objective);
    }
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_dataset_free(raw);
    return check_summary();
}
