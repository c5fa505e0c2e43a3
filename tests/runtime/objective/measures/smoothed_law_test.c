/* smoothed_law_test.c -- the law of smoothed gradients: means against closed forms, variances below the proved bounds,
 * with and without shared directions.  Chances of a false alarm are below 1e-6 each: six and more standard errors,
 * or as said.
 * Depends on: smoothed_helpers.h. */
#include "runtime/objective/measures/smoothed_helpers.h"

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

/* I_{t^2}(1/2, (d + 1)/2) is the share of (1 - s^2)^((d - 1)/2) below t: by Simpson's rule after s = sin(phi). */
static double incomplete_beta(size_t dim, double t)
{
    double part[2] = { 0.0, 0.0 }, end[2] = { asin(t), acos(0.0) };

    for (int which = 0; which < 2; which++) {
        for (int i = 0; i <= 2000; i++)
            part[which] += (i == 0 || i == 2000 ? 1.0
                            : i % 2             ? 4.0
                                                : 2.0) *
                           end[which] * pow(cos(end[which] * i / 2000.0), (double)dim);
    }
    return part[0] / part[1];
}

/* Item 1: the mean of the first coordinate for |x_1| is I_{(x_1/mu)^2}(1/2, (d + 1)/2); `want` has six digits.  Six
 * standard errors of the bound on the variance, of which a coordinate has all in the worst case. */
static void check_size_mean(size_t dim, double x, double radius, double want, int which)
{
    const size_t draws = which == 2 ? 4096 : 1024, rounds = dim > 20 ? 1 : 4;
    pn_smoothing how = way(which, radius);
    double theta[DIM_MAX] = { x }, out[DIM_MAX], sum = 0.0, bound;
    world at;

    world_of_box(&at, first_size, NULL, dim);
    for (size_t round = 0; round < rounds; round++) {
        gradient(&at, &how, draws, round, theta, out);
        sum += out[0];
    }
    bound = pn_smoothed_variance(&how, dim, draws * rounds);
    CHECK_CLOSE(incomplete_beta(dim, x / radius), want, 5e-7);
    if (!CHECK(fabs(sum / (double)rounds - want) <= 6.0 * sqrt(bound) + 5e-7))
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

/* ---- item 2: the covariance of iid directions for a linear function ---- */

static double covariance_trace(const pn_smoothing *how, size_t count, const double *a, size_t draws)
{
    double theta[6] = { 0.0 }, out[6], sum = 0.0;
    world at;

    world_of_box(&at, linear, a, 6);
    for (size_t draw = 0; draw < draws; draw++) {
        gradient(&at, how, count, draw, theta, out);
        for (size_t j = 0; j < 6; j++)
            sum += (out[j] - a[j]) * (out[j] - a[j]);
    }
    world_close(&at);
    return sum / (double)draws;
}

/* 8000 draws: the standard error is below 1.1 % for B = 1 (fourth moments of a point of the sphere), less for B = 4; 5
 * % is the issue's, here 6 %. */
static void check_covariance(void)
{
    const double a[6] = { 1.0, -2.0, 0.5, 0.0, 3.0, 1.0 };
    pn_smoothing how = { .directions = PN_DIRECTIONS_IID, .radius = 0.5, .lipschitz = INFINITY };

    CHECK_CLOSE(covariance_trace(&how, 1, a, 8000), 12.7083, 0.06 * 12.7083);
    CHECK_CLOSE(covariance_trace(&how, 4, a, 8000), 3.1771, 0.06 * 3.1771);
    how.group = 4; /* one function and one U: nothing is averaged */
    CHECK_CLOSE(covariance_trace(&how, 4, a, 8000), 12.7083, 0.06 * 12.7083);
    how.group = 2;
    CHECK_CLOSE(covariance_trace(&how, 4, a, 8000), 6.3542, 0.06 * 6.3542);
    how.group = 0;
    how.directions = PN_DIRECTIONS_ORTHOGONAL;
    CHECK(covariance_trace(&how, 1, a, 100) < 1e-20);
}

/* ---- variances below the proved bounds ---- */

enum { RECORDS = 6, BATCH = 6, DRAWS = 250 };

/* 1-Lipschitz functions of a record with sign y: what is to be bad for the estimators. */
static double along(size_t dim, const double *theta)
{
    double sum = 0.0;

    for (size_t j = 0; j < dim; j++)
        sum += theta[j] * (double)(j + 1);
    return sum * sqrt(6.0 / ((double)dim * (double)(dim + 1) * (double)(2 * dim + 1)));
}

static double signed_linear(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context;
    return record->y * along(dim, theta);
}

static double common_linear(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context, (void)record;
    return along(dim, theta);
}

static double common_kink(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context, (void)record;
    return fabs(along(dim, theta) - 0.05);
}

/* Waves across the sphere: little of it is linear. */
static double common_wave(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context, (void)record;
    return 0.1 * sin(10.0 * theta[0] + (dim > 1 ? 0.0 : 1.0));
}

static double shifted_size(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    double sum = 0.0;

    (void)context;
    for (size_t j = 0; j < dim; j++)
        sum += (theta[j] - 0.1 * record->y) * (theta[j] - 0.1 * record->y);
    return sqrt(sum);
}

static double mixed_kinks(const void *context, size_t dim, const double *theta, const pn_record *record)
{
    (void)context;
    return record->row % 3 == 0   ? fabs(theta[0])
           : record->row % 3 == 1 ? -fabs(theta[dim - 1] - 0.1)
                                  : record->y * theta[0];
}

static const point_fn functions[] = {
    signed_linear, common_linear, common_kink, common_wave, shifted_size, mixed_kinks
};

typedef struct spread {
    double variance, error; /* measured, and its standard error */
} spread;

/* Means over BATCH records that are drawn independently; of gradients, or of differences at `distance`. */
static spread measure(world *at, const pn_smoothing *how, size_t dim, double distance, unsigned seed)
{
    static double out[DRAWS][DIM_MAX];
    const size_t all = (size_t)check_draws(DRAWS, DRAWS / 5), draws = dim > 10 ? all / 6 : all;
    const double count = (double)draws;
    double theta[DIM_MAX] = { 0.0 }, other[DIM_MAX] = { 0.0 }, mean[DIM_MAX] = { 0.0 }, sum = 0.0, squares = 0.0;

    other[0] = distance;
    for (size_t draw = 0; draw < draws; draw++) {
        for (size_t r = 0; r < BATCH; r++) {
            seed = seed * 1664525u + 1013904223u;
            at->rows[r] = (seed >> 8) % RECORDS;
        }
        if (distance > 0.0)
            difference(at, how, BATCH, draw, theta, other, distance, out[draw]);
        else
            gradient(at, how, BATCH, draw, theta, out[draw]);
        for (size_t j = 0; j < dim; j++)
            mean[j] += out[draw][j] / count;
    }
    for (size_t draw = 0; draw < draws; draw++) {
        double square = 0.0;

        for (size_t j = 0; j < dim; j++)
            square += (out[draw][j] - mean[j]) * (out[draw][j] - mean[j]);
        sum += square;
        squares += square * square;
    }
    return (spread){ sum / (count - 1.0),
                     sqrt(fmax(squares / count - sum / count * sum / count, 0.0) / (count - 1.0)) };
}

static void world_of_records(world *at, point_fn f, size_t dim)
{
    const double x[RECORDS] = { 0.0 }, y[RECORDS] = { 1.0, -1.0, 1.0, -1.0, 1.0, -1.0 };
    pn_loss *loss = NULL;
    pn_err err;

    memset(at, 0, sizeof *at);
    at->box = (box){ .f = f };
    CHECK(pn_loss_black_box(&loss, box_values, NULL, &at->box, dim, 1.0, &err) == PN_OK);
    world_open(at, loss, x, RECORDS, 1, y);
}

/* Seven standard errors, since squares have heavier tails than the normal law. */
static void check_variances(size_t dim)
{
    static const size_t groups[] = { 0, 4, BATCH };
    double most[4][3] = { { 0.0 } };
    static world at;

    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        world_of_records(&at, functions[f], dim);
        for (int which = 0; which < (dim > 10 ? 3 : 4); which++) { /* a level is dear in 54 dimensions */
            for (size_t g = 0; g < 3; g++) {
                pn_smoothing how = way(which, 0.3);
                double bound, far;
                spread of;

                how.group = groups[g];
                bound = pn_smoothed_variance(&how, dim, BATCH);
                of = measure(&at, &how, dim, 0.0, 1);
                if (!CHECK(of.variance - 7.0 * of.error <= bound * (1.0 + 1e-9)))
                    fprintf(stderr, "    %s, dim %zu, function %zu, group %zu: %g > %g\n", names[which], dim, f,
                            groups[g], of.variance, bound);
                most[which][g] = fmax(most[which][g], of.variance / bound);
                for (far = 0.05; far < 2.0; far *= 6.0) {
                    bound = pn_smoothed_difference_variance(&how, dim, BATCH, far);
                    of = measure(&at, &how, dim, far, 2);
                    if (!CHECK(of.variance - 7.0 * of.error <= bound * (1.0 + 1e-9)))
                        fprintf(stderr, "    %s, dim %zu, function %zu, group %zu, at %g: %g > %g\n", names[which], dim,
                                f, groups[g], far, of.variance, bound);
                }
            }
        }
        world_close(&at);
    }
    /* The bounds are not idle: something reaches much of each. */
    for (int which = 0; which < 3; which++)
        CHECK(dim == 1 || most[which][0] > 0.3);
    CHECK(dim == 1 || most[1][2] > 0.3);
    CHECK(dim == 1 || most[2][2] > 0.3);
}

/* Sharing costs: for one linear function and one U of iid rows nothing is averaged, and the bound for directions of
 * their own is broken, while the bound for a group holds (above). */
static void check_sharing_costs(void)
{
    static world at;
    pn_smoothing how = way(1, 0.3);
    double alone = pn_smoothed_variance(&how, 10, BATCH);
    spread of;

    how.group = BATCH;
    world_of_records(&at, common_linear, 10);
    of = measure(&at, &how, 10, 0.0, 1);
    CHECK(of.variance - 7.0 * of.error > alone);
    world_close(&at);
}

/* The figures of section 3. */
static void check_constants(void)
{
    pn_smoothing how = way(0, 0.5);

    CHECK_CLOSE(pn_smoothed_variance(&how, 1, 1), 1.0, 1e-12);
    CHECK_CLOSE(pn_smoothed_variance(&how, 2, 1), 1.171573, 1e-6);
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 4), 10.0 / 9.0 / 4.0, 1e-12);
    CHECK_CLOSE(pn_smoothed_difference_variance(&how, 10, 4, 0.01), 10.0 * 0.0004 / 4.0, 1e-12);
    how.group = 2; /* and the share of what two have in common: 10 / 33 */
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 4), (10.0 / 9.0 + 10.0 / 33.0) / 4.0, 1e-12);
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 5), (10.0 / 9.0 + 0.8 * 10.0 / 33.0) / 5.0, 1e-12);
    how = way(1, 0.5);
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 1), 10.0 / 9.0 + 0.9, 1e-12);
    CHECK_CLOSE(pn_smoothed_difference_variance(&how, 10, 1, 0.01), 10.0 * 0.0004 * 1.9, 1e-12);
    how = way(2, 0.5);
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 1), 100.0 / 9.0, 1e-12);
    how.lipschitz = 3.0;
    CHECK_CLOSE(pn_smoothed_variance(&how, 10, 1), 100.0, 1e-11);
    for (size_t i = 0; i < 3; i++) { /* E |v_1| over the ball: what |x_1| is smoothed to at 0 */
        static const double sizes[] = { 0.5, 0.424413, 0.235173 };
        static const size_t dims[] = { 1, 2, 10 };

        CHECK_CLOSE(pn_smoothed_curvature(dims[i]) / (double)(dims[i] + 1), sizes[i], 5e-7);
    }
}

int main(void)
{
    static const size_t dims[] = { 1, 2, 3, 5, 10, 54 };

    for (int which = 0; which < 4; which++) {
        check_size_mean(5, 0.1, 0.5, 0.365120, which);
        if (which == 3) /* at a level each draw is a decomposition */
            continue;
        check_size_mean(20, 0.05, 0.5, 0.350156, which);
        check_size_mean(54, 0.2, 1.0, 0.864204, which);
    }
    check_exact(1);
    check_exact(2);
    check_exact(6);
    check_exact(54);
    check_covariance();
    check_constants();
    for (size_t i = check_thorough() ? 0 : 1; i < sizeof dims / sizeof dims[0]; i += (size_t)check_times(3, 1))
        check_variances(dims[i]);
    check_sharing_costs();
    return check_summary();
}
