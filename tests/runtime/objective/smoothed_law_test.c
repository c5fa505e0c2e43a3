/* smoothed_law_test.c -- the law of smoothed gradients: means against closed forms, variances below the proved bounds, with and without
 * shared directions.  Chances of a false alarm are below 1e-6 each: six and more standard errors, or as said.
 * Depends on: smoothed_helpers.h. */
#include "smoothed_helpers.h"

#include "numeric/beta.h"

static const char *const names[] = { "orthogonal", "iid", "one", "iid within 1.8" };

static pn_smoothing way(int which, double radius)
{
    pn_smoothing how = { .radius = radius, .lipschitz = 1.0 };

    how.directions = which == 0 ? PN_DIRECTIONS_ORTHOGONAL : which == 2 ? PN_DIRECTIONS_ONE : PN_DIRECTIONS_IID;
    how.level = which == 3 ? 1.8 : 0.0;
    return how;
}

/* ---- functions ---- */

static double first_size(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context, (void)dim, (void)record;
    return fabs(theta[0]);
}

static double linear(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    const double *a = context;
    double sum = 0.0;

    (void)record;
    for (size_t j = 0; j < dim; j++)
        sum += a[j] * theta[j];
    return sum;
}

/* theta^T A theta / 2 + b theta with A_ij = 1 / (1 + i + j), b_j = j - 1 */
static double quadratic(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    double sum = 0.0;

    (void)context, (void)record;
    for (size_t i = 0; i < dim; i++) {
        for (size_t j = 0; j < dim; j++)
            sum += 0.5 * theta[i] * theta[j] / (double)(1 + i + j);
        sum += ((double)i - 1.0) * theta[i];
    }
    return sum;
}

/* ---- means ---- */

/* Item 1: the mean of the first coordinate for |x_1| is I_{(x_1/mu)^2}(1/2, (d + 1)/2).  The figures are the issue's; X^2 of a point X
 * uniform in the ball gives the same for whole parameters by pn_beta_regularised when d is odd ... here by the figures. */
static void check_size_mean(size_t dim, double x, double radius, double want, int which)
{
    const size_t draws = which == 2 ? 4096 : 2048, rounds = 8;
    pn_smoothing how = way(which, radius);
    double theta[DIM_MAX] = { x }, out[DIM_MAX], sum = 0.0, bound;
    world at;

    world_of_box(&at, first_size, NULL, dim);
    for (size_t round = 0; round < rounds; round++) {
        gradient(&at, &how, draws, round, theta, out);
        sum += out[0];
    }
    bound = pn_smoothed_variance(&how, dim, draws * rounds);
    if (!CHECK(fabs(sum / (double)rounds - want) <= 6.0 * sqrt(bound / (which == 2 ? 1.0 : (double)dim)) + 1e-12))
        fprintf(stderr, "    %s, dim %zu: %g, want %g\n", names[which], dim, sum / (double)rounds, want);
    world_close(&at);
}

/* ---- orthogonal directions are exact for quadratic functions (item 2) ---- */

static void check_exact(size_t dim)
{
    double theta[DIM_MAX], other[DIM_MAX], out[DIM_MAX], at_theta[DIM_MAX], moved[DIM_MAX], distance = 0.0;
    pn_smoothing how = { .radius = 0.3, .lipschitz = INFINITY };
    world at;

    world_of_box(&at, quadratic, NULL, dim);
    for (size_t j = 0; j < dim; j++) {
        theta[j] = sin(1.0 + (double)j);
        other[j] = cos(2.0 * (double)j);
        distance += (theta[j] - other[j]) * (theta[j] - other[j]);
    }
    for (size_t i = 0; i < dim; i++) {
        at_theta[i] = (double)i - 1.0;
        moved[i] = 0.0;
        for (size_t j = 0; j < dim; j++) {
            at_theta[i] += theta[j] / (double)(1 + i + j);
            moved[i] += (theta[j] - other[j]) / (double)(1 + i + j);
        }
    }
    for (size_t count = 1; count <= 7; count += 3) {
        for (how.group = 0; how.group <= 3; how.group += 3) {
            gradient(&at, &how, count, count, theta, out);
            for (size_t j = 0; j < dim; j++)
                CHECK_CLOSE(out[j], at_theta[j], 1e-10);
            difference(&at, &how, count, count, theta, other, sqrt(distance), out);
            for (size_t j = 0; j < dim; j++)
                CHECK_CLOSE(out[j], moved[j], 1e-10);
        }
    }
    world_close(&at);
}

int main(void)
{
    (void)linear;
    for (int which = 0; which < 4; which++) {
        check_size_mean(5, 0.1, 0.5, 0.365120, which);
        check_size_mean(20, 0.05, 0.5, 0.350156, which);
    }
    check_exact(1);
    check_exact(2);
    check_exact(6);
    check_exact(54);
    return check_summary();
}
