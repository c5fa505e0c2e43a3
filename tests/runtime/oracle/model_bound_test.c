/* model_bound_test.c -- how far a released gradient or Hessian may be from that of all records: bounds hold, and
 * are not much larger than they must be.
 * Depends on: model_kit.h, numeric/lapack.h, numeric/symmetric.h, random/sample.h. */
#include "runtime/oracle/model_kit.h"

#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "random/sample.h"

/* ---- noise ---- */

enum { N = 60, DIM = 54, PACKED = DIM * (DIM + 1) / 2, DRAWS = 400 };

/* Operator norm of (packed - exact)/unit. */
static double noise_norm(const double *packed, const double *exact, double unit)
{
    static double noise[PACKED], full[DIM * DIM], values[DIM];

    for (size_t k = 0; k < PACKED; k++)
        noise[k] = (packed[k] - exact[k]) / unit;
    pn_packed_unpack(noise, DIM, full);
    CHECK(pn_eigen_symmetric(values, full, (pn_mat){ full, DIM, DIM }, NULL) == PN_OK);
    return fmax(-values[0], values[DIM - 1]);
}

/* Mean operator norms of E at d = 54: 14.24, slightly under 2 sqrt(54) = 14.70, and 10.17 with variance 1/2 beside the
 * diagonal: by 3000 matrices of normals from a transform, +-.01.  One norm deviates by .56 (.41),
 * a mean of 400 by .028: 6 of them. */
static void test_noise_stays_within_its_bound(world *of, bool frobenius)
{
    const double z = 2.0, mean = frobenius ? 10.17 : 14.24;
    static double gradient[2][DIM], packed[2][PACKED], theta[DIM];
    pn_request requests[2] = { no_privacy(), request_for(PN_REPLACE_ONE) };
    pn_step_context context = context_of(7, 1e6);
    size_t far[2] = { 0, 0 };
    double sum = 0.0;
    pn_model model;

    for (int private = 0; private < 2; private ++) {
        pn_model_release *release = NULL;

        CHECK(pn_model_read(&model, "test", of->objective, &requests[private], 0, frobenius, false, NULL) == PN_OK);
        CHECK(pn_model_open(&release, &model, private * z, private * z, NULL) == PN_OK);
        for (int draw = 0; draw < (private ? DRAWS : 1); draw++) {
            double distance[DIM], norm;

            CHECK(pn_model_both(release, &context, "t", theta, NULL, gradient[private], packed[private], NULL, NULL) ==
                  PN_OK);
            for (size_t j = 0; j < DIM; j++)
                distance[j] = gradient[1][j] - gradient[0][j];
            if (!private)
                continue;
            norm = noise_norm(packed[1], packed[0], z * model.hessian_sensitivity);
            sum += norm / DRAWS;
            far[0] += norm * z * model.hessian_sensitivity > pn_model_hessian_noise(&model, z, 0.9);
            far[1] += l2_norm(distance, DIM) > pn_model_gradient_noise(&model, z, 0.5);
        }
        pn_model_close(release);
    }
    CHECK_CLOSE(sum, mean, 0.17);
    CHECK(far[0] <= DRAWS / 2 && far[1] <= DRAWS / 4);
    context_free(&context);
}

/* D_H z (2 sqrt(54) + 2 sqrt(ln 100)) = D_H z 18.9889; isotropic: 1/sqrt(2) of it;
 * D_g z (sqrt(54) + sqrt(2 ln 100)) = D_g z 10.3833. */
static void test_noise_bounds_are_their_formulas(void)
{
    pn_model model = { .dim = DIM, .gradient_sensitivity = 0.5, .hessian_sensitivity = 0.25 };

    CHECK_CLOSE(pn_model_gradient_noise(&model, 4.0, 0.01), 2.0 * 10.3833234871, 1e-8);
    CHECK_CLOSE(pn_model_hessian_noise(&model, 4.0, 0.01), 18.9888705093, 1e-8);
    model.frobenius = true;
    CHECK_CLOSE(pn_model_hessian_noise(&model, 4.0, 0.01), 18.9888705093 / sqrt(2.0), 1e-8);
    CHECK(pn_model_hessian_noise(&model, 0.0, 0.01) == 0.0 && pn_model_gradient_noise(&model, 0.0, 0.01) == 0.0);
}

/* ---- batches ---- */

static double log_choose(double n, double k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* P(|share of marked records in a batch of m - 1/2| > t), half of n records being marked; exactly,
 * by the hypergeometric law. */
static double share_beyond(double n, double m, double t)
{
    double half = floor(n / 2.0), sum = 0.0;

    for (double k = fmax(0.0, m - (n - half)); k <= fmin(m, half); k++) {
        if (fabs(k / m - half / n) > t)
            sum += exp(log_choose(half, k) + log_choose(n - half, m - k) - log_choose(n, m));
    }
    return sum;
}

/* The least t, on the grid of shares, that is exceeded with probability at most `failure`. */
static double share_quantile(double n, double m, double failure)
{
    double t = 0.0;

    while (share_beyond(n, m, t * (1.0 + 1e-12)) > failure)
        t += 0.25 / (n * m);
    return t;
}

static pn_model sampled(double n, double m, size_t dim, bool convex)
{
    return (pn_model){ .n = (size_t)n,
                       .batch = (size_t)m,
                       .dim = dim,
                       .convex = convex,
                       .lipschitz = 3.0,
                       .bounds = { .record = 2.0,
                                   .zero = 2.0,
                                   .replace = convex ? 2.0 * sqrt(2.0) : 4.0,
                                   .generic = 4.0 * sqrt((double)dim),
                                   .lipschitz = 1.0 } };
}

/* Half of the records have gradient +g and half -g, |g| = B_g; half a Hessian B_H e e^T and half none (convex),
 * or its negative. */
static void test_two_points_stay_within_and_are_not_far_below(size_t dim)
{
    const double sizes[] = { 2.0, 10.0, 60.0, 300.0, 4000.0 }, shares[] = { 0.02, 0.1, 0.5, 0.9, 0.99 };
    const double failures[] = { 0.3, 0.05, 1e-3, 1e-6 };

    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            for (size_t c = 0; c < 4; c++) {
                double n = sizes[a], m = fmin(fmax(1.0, round(n * shares[b])), n - 1.0), t = 0.0;
                pn_model convex = sampled(n, m, dim, true), either = sampled(n, m, dim, false);
                double g = pn_model_gradient_sampling(&convex, failures[c]) / (2.0 * 3.0);
                double h = pn_model_hessian_sampling(&convex, failures[c]) / 2.0;
                double e = pn_model_hessian_sampling(&either, failures[c]) / 4.0;

                CHECK(share_beyond(n, m, g * (1.0 + 1e-12)) <= failures[c]);
                CHECK(share_beyond(n, m, h * (1.0 + 1e-12)) <= failures[c]);
                CHECK(share_beyond(n, m, e * (1.0 + 1e-12)) <= failures[c]);
                if (n < 60.0 || n > 300.0 || failures[c] > 0.1)
                    continue;
                t = share_quantile(n, m, failures[c]);
                CHECK(g <= 2.2 * t && h <= 3.0 * t && e <= 3.0 * t);
            }
        }
    }
}

static double largest(const double *x, size_t n)
{
    double most = 0.0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Gradients B_g e_j and Hessians B_H e_j e_j^T, j running over `dim` unit vectors: dimension tells.  What is promised
 * but for a probability of `failure` does not happen more often than that and 6 deviations. */
static void test_many_directions_stay_within(size_t n, size_t m, size_t dim, double failure)
{
    enum { TRIES = 3000, MOST = 64, RECORDS = 512 };
    pn_model model = sampled((double)n, (double)m, dim, true);
    const double g = pn_model_gradient_sampling(&model, failure) / 3.0,
                 h = pn_model_hessian_sampling(&model, failure) / 2.0;
    size_t rows[RECORDS], *scratch = pn_calloc(pn_sample_scratch(n, m), sizeof *scratch), far[2] = { 0, 0 };
    double mean = 0.0, allowed = TRIES * (failure + 6.0 * sqrt(failure * (1.0 - failure) / TRIES));
    pn_rng *rng = NULL;

    CHECK(scratch && pn_rng_seeded(&rng, n + m, NULL) == PN_OK);
    for (int k = 0; k < TRIES; k++) {
        double share[MOST] = { 0 };

        pn_sample_subset(rng, n, m, scratch, rows);
        for (size_t i = 0; i < m; i++)
            share[rows[i] % dim] += 1.0 / (double)m;
        for (size_t j = 0; j < dim; j++)
            share[j] -= (double)(n / dim) / (double)n;
        far[0] += l2_norm(share, dim) > g;
        far[1] += largest(share, dim) > h;
        mean += l2_norm(share, dim) / TRIES;
    }
    CHECK((double)far[0] <= allowed && (double)far[1] <= allowed);
    CHECK(g <= 4.0 * mean);
    pn_rng_free(rng);
    pn_free(scratch);
}

static void test_all_records_leave_nothing_out(void)
{
    pn_model model = sampled(100.0, 100.0, 7, true);

    CHECK(pn_model_gradient_sampling(&model, 0.01) == 0.0 && pn_model_hessian_sampling(&model, 0.01) == 0.0);
    model.batch = 99; /* one record of a hundred: 2 B_g/100, B_H/100 at most */
    CHECK(pn_model_gradient_sampling(&model, 1e-12) <= 0.06 && pn_model_hessian_sampling(&model, 1e-12) <= 0.02);
}

/* What a model reads of a loss: its matrices are between 0 and B_H for logistic, between -B_H and B_H for sigmoid. */
static void test_convexity_is_read_from_the_loss(void)
{
    double x[8] = { 1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 0.8, 0.6 }, y[4] = { 1.0, -1.0, 1.0, -1.0 };
    pn_request request = request_for(PN_REPLACE_ONE);

    for (int k = 0; k < 2; k++) {
        recipe how = { .loss = k ? "sigmoid" : "logistic", .x = x, .y = y, .n = 4, .p = 2 };
        pn_model model;
        world made;

        CHECK(world_make(&made, &how, NULL) == PN_OK);
        CHECK(pn_model_read(&model, "test", made.objective, &request, 2, false, false, NULL) == PN_OK);
        CHECK(model.convex == (k == 0));
        CHECK_CLOSE(model.bounds.record, k ? 1.0 / (6.0 * sqrt(3.0)) : 0.25, 1e-6);
        world_free(&made);
    }
}

int main(void)
{
    static double x[N * DIM], y[N];
    recipe how = { .x = x, .y = y, .n = N, .p = DIM };
    world made;

    random_rows(1, N, DIM, x, y);
    CHECK(world_make(&made, &how, NULL) == PN_OK);
    test_noise_stays_within_its_bound(&made, false);
    test_noise_stays_within_its_bound(&made, true);
    world_free(&made);
    test_noise_bounds_are_their_formulas();
    test_two_points_stay_within_and_are_not_far_below(1);
    test_two_points_stay_within_and_are_not_far_below(DIM);
    for (double failure = 0.1; failure < 1.0; failure += 0.8) {
        test_many_directions_stay_within(480, 16, 4, failure);
        test_many_directions_stay_within(480, 240, 48, failure);
        test_many_directions_stay_within(480, 432, 60, failure);
    }
    test_all_records_leave_nothing_out();
    test_convexity_is_read_from_the_loss();
    return check_summary();
}
