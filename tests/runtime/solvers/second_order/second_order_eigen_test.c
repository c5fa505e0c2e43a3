/* second_order_eigen_test.c -- least eigenpairs of stored Hessians: by LAPACK or by steps to tau, each within the error
 * that it states.  Seeds are fixed; each run of steps may miss its error with probability 1e-9.
 * Depends on: check.h, numeric/symmetric.h, oracle/second_order/least_eigen.h, BLAS. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "numeric/symmetric.h"
#include "random/noise.h"
#include "oracle/second_order/least_eigen.h"

enum { MOST = 300 };
#define TAU 0.02

static double packed[MOST * (MOST + 1) / 2], image[MOST], x[MOST], start[MOST];

/* Twenty directions of positive curvature, one of -depth, and noise of norm 1/10: a Hessian as released. */
static void fill(pn_rng *rng, size_t n, double depth)
{
    double v[MOST], scale = 0.05 / sqrt((double)n);

    pn_rng_many_normals(rng, n * (n + 1) / 2, packed);
    for (size_t k = 0; k < n * (n + 1) / 2; k++)
        packed[k] *= scale;
    for (int r = 0; r < 21; r++) {
        double length, weight = r == 20 ? -depth : 1.0 / (1 + r);

        pn_rng_many_normals(rng, n, v);
        length = cblas_dnrm2((int)n, v, 1);
        cblas_dspr(CblasColMajor, CblasUpper, (int)n, weight / (length * length), v, 1, packed);
    }
}

/* value = x^T H x for the unit x, no less than the least eigenvalue, and within the error of it. */
static pn_least found(pn_eigen how, size_t n, double least)
{
    pn_least_options options = { .how = how, .tau = TAU, .failure = 1e-9, .start = start };
    pn_least out = { 0 };

    CHECK(pn_least_stored(&out, x, packed, n, &options, NULL, NULL) == PN_OK);
    pn_packed_times(1.0, packed, n, x, 0.0, image);
    CHECK(fabs(cblas_dnrm2((int)n, x, 1) - 1.0) <= 1e-12);
    CHECK(fabs(cblas_ddot((int)n, x, 1, image, 1) - out.value) <= 1e-12);
    CHECK(out.value >= least - 1e-13 && out.value - least <= out.error && out.error <= TAU + 1e-10);
    return out;
}

static void errors_hold_and_reach_tau(void)
{
    static const size_t orders[] = { 1, 54, PN_SYMMETRIC_DIRECT, PN_SYMMETRIC_DIRECT + 1, MOST };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        for (int run = 0; run < 6; run++) {
            size_t n = orders[k];
            bool many = n > PN_SYMMETRIC_DIRECT;
            pn_smallest exact;
            pn_least direct;

            fill(rng, n, run < 3 ? 0.5 : 0.0); /* isolated, and in the crowd of the noise */
            CHECK(pn_smallest_in_full(&exact, x, packed, n, NULL) == PN_OK);
            pn_rng_many_normals(rng, n, start);
            direct = found(PN_EIGEN_DENSE, n, exact.value);
            CHECK(!direct.steps && direct.error < 1e-10);
            CHECK(found(PN_EIGEN_LANCZOS, n, exact.value).steps);
            CHECK(many || !found(PN_EIGEN_AUTO, n, exact.value).steps);
            CHECK(!many || run >= 3 || found(PN_EIGEN_AUTO, n, exact.value).steps);
            CHECK(pn_least_needs_start(PN_EIGEN_AUTO, n) == many && !pn_least_needs_start(PN_EIGEN_DENSE, n) &&
                  pn_least_needs_start(PN_EIGEN_LANCZOS, n));
        }
    }
    pn_rng_free(rng);
}

static void zero_and_no_number(void)
{
    pn_least_options options = { .how = PN_EIGEN_LANCZOS, .tau = TAU, .failure = 1e-9, .start = start };
    pn_least out;

    for (size_t k = 0; k < 6; k++)
        packed[k] = 0.0;
    CHECK(pn_least_stored(&out, x, packed, 3, &options, NULL, NULL) == PN_OK && out.value == 0.0 && !out.steps);
    packed[4] = NAN;
    CHECK(pn_least_stored(&out, x, packed, 3, &options, NULL, NULL) == PN_EDOMAIN);
}

int main(void)
{
    errors_hold_and_reach_tau();
    zero_and_no_number();
    return check_summary();
}
