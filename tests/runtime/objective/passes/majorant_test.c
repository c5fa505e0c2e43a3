/* majorant_test.c -- the weights of pn_objective_majorant: how far one record moves the matrix, as its noise takes for
 * granted, and that huber's quadratic stays above it on the way down.  Depends on: hessian_helpers.h,
 * objective/passes/second_order.h. */
#include <math.h>

#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { N = 6, P = 3, PACKED = P * (P + 1) / 2, TRIALS = 400 };

static double frobenius(const double *a, const double *b)
{
    double sum = 0.0;

    for (size_t j = 0, k = 0; j < P; j++) {
        for (size_t i = 0; i <= j; i++, k++)
            sum += (i < j ? 2.0 : 1.0) * (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(sum);
}

/* The matrix at theta of the records with the first one replaced by row and label. */
static void matrix_of(double *packed, double *most, const char *loss, double clip, double *X, double *y,
                      const double *theta)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;

    CHECK(store(&data, X, y, N, P, DENSE, 1.0, NULL) == PN_OK &&
          objective_of(&objective, data, loss, clip, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_majorant(objective, theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    *most = pn_objective_bounds(objective)->loss.curvature.high;
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Two matrices of neighbours are within sqrt(2) B R^2/n, R = 1, and the bound is nearly reached: half of it would not
 * do. */
static void test_neighbours(const char *loss, double clip)
{
    double X[N * P], y[N], theta[P], one[PACKED], other[PACKED], most, bound, largest = 0.0;
    unsigned state = 11;

    fill_records(X, y, N, P, 5);
    for (int trial = 0; trial < TRIALS; trial++) {
        double scale = trial < 2 ? 0.0 : pow(10.0, 4.0 * unit(&state) - 2.0);

        for (size_t j = 0; j < P; j++) {
            theta[j] = scale * (2.0 * unit(&state) - 1.0);
            X[j] = trial < 2 ? (double)(j == 0) : 2.0 * unit(&state) - 1.0;
        }
        matrix_of(one, &most, loss, clip, X, y, theta);
        for (size_t j = 0; j < P; j++)
            X[j] = trial < 2 ? (double)(j == 1) : 2.0 * unit(&state) - 1.0;
        y[0] = -y[0];
        matrix_of(other, &most, loss, clip, X, y, theta);
        bound = sqrt(2.0) * most / N;
        CHECK(frobenius(one, other) <= bound * (1.0 + 1e-12));
        largest = fmax(largest, frobenius(one, other) / bound);
    }
    CHECK(largest > 0.9);
}

/* One record of one feature 1: theta is its margin, the matrix its weight.  Of huber, whose weight is psi(r)/r, the
 * quadratic is above the loss everywhere. */
static void test_above(void)
{
    for (double z = -6.0; z <= 6.0; z += 0.5) {
        double X = 1.0, y = 1.0, value, slope, weight, at, below, left;
        pn_dataset *data = NULL;
        pn_objective *objective = NULL;

        CHECK(store(&data, &X, &y, 1, 1, DENSE, 1.0, NULL) == PN_OK &&
              objective_of(&objective, data, "huber", 0.0, 0.0, NULL) == PN_OK);
        CHECK(pn_objective_majorant(objective, &z, &value, &slope, &weight, NULL, NULL) == PN_OK);
        for (double h = 0.01; h < 8.0; h *= 1.3) {
            at = z - copysign(h, slope);
            CHECK(pn_objective_losses(objective, NULL, &at, &below, &left, NULL, NULL) == PN_OK);
            if (left * slope <= 0.0) /* past the minimum */
                break;
            /* the search ends within a twentieth of the weight */
            CHECK(below <= value - fabs(slope) * h + 1.05 * weight * h * h / 2.0 + 1e-14);
        }
        pn_objective_free(objective);
        pn_dataset_free(data);
    }
}

int main(void)
{
    static const char *const losses[] = { "logistic", "huber", "smooth_hinge" };

    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
        test_neighbours(losses[k], 0.0);
    }
    test_above();
    test_neighbours("squared", 1.0);
    return check_summary();
}
