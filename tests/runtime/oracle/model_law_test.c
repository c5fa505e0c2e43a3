/* model_law_test.c -- the law of released gradients and Hessians: mean, variance of each entry,
 * independence of entries and queries.
 *
 * The data are copies of one record, so that every batch has the mean of all records, and released - exact is the noise
 * alone.  False alarms.  A sum of N squares of standard numbers is beyond N + 2 sqrt(N x) + 2 x, or below N - 2
 * sqrt(N x), with probability at most exp(-x) each (Laurent, Massart 2000), x = 18; a sum of N products beyond t with
 * at most 2 exp(-t^2/(2 (N + t))), t = 7 sqrt(N); a mean beyond 6 deviations with 2e-9.  All of this file: below 1e-6.
 * A factor of 1.1 in the noise is 1.21 in the squares, and 2 sqrt(N x)/N = .06.
 * Depends on: model_kit.h. */
#include "runtime/oracle/model_kit.h"

enum { N = 40, DIM = 4, PACKED = 10, ALL = DIM + PACKED, QUERIES = 20000 };

static const double theta[DIM] = { 0.3, -0.2, 0.5, 0.1 };

typedef struct setting {
    size_t batch;
    bool frobenius, both;
} setting;

typedef struct law {
    double squares[ALL], sums[ALL], cross[ALL][ALL], next[ALL][ALL];
} law;

static void exact_of(world *of, double *exact)
{
    pn_model model;
    pn_model_release *release = NULL;
    pn_step_context context = { 0 };
    pn_request request = no_privacy();

    CHECK(pn_model_read(&model, "test", of->objective, &request, 0, false, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_model_both(release, &context, NULL, theta, NULL, exact, exact + DIM, NULL, NULL) == PN_OK);
    CHECK(context.releases == 0);
    pn_model_close(release);
}

static void query(pn_model_release *release, pn_step_context *context, const setting *of, double *out)
{
    pn_status status;

    if (of->both) {
        CHECK(pn_model_both(release, context, "both", theta, NULL, out, out + DIM, NULL, NULL) == PN_OK);
        return;
    }
    status = pn_model_gradient(release, context, "gradient", theta, NULL, out, NULL, NULL);
    if (status == PN_OK)
        status = pn_model_hessian(release, context, "Hessian", theta, out + DIM, NULL, NULL);
    CHECK(status == PN_OK);
}

static void count(law *sums, const double *noise, const double *before)
{
    for (size_t k = 0; k < ALL; k++) {
        sums->sums[k] += noise[k];
        sums->squares[k] += noise[k] * noise[k];
        for (size_t l = 0; l < ALL; l++) {
            sums->cross[k][l] += noise[k] * noise[l];
            if (before)
                sums->next[k][l] += before[k] * noise[l];
        }
    }
}

static void judge(const law *sums)
{
    const double n = QUERIES, x = 18.0, half = QUERIES / 2.0;

    for (size_t k = 0; k < ALL; k++) {
        CHECK(sums->squares[k] <= n + 2.0 * sqrt(n * x) + 2.0 * x);
        CHECK(sums->squares[k] >= n - 2.0 * sqrt(n * x));
        CHECK(fabs(sums->sums[k]) <= 6.0 * sqrt(n));
        for (size_t l = 0; l < ALL; l++) {
            CHECK(l == k || fabs(sums->cross[k][l]) <= 7.0 * sqrt(n));
            CHECK(fabs(sums->next[k][l]) <= 7.0 * sqrt(half)); /* of disjoint pairs of queries */
        }
    }
}

static void test_law(world *of, setting how, uint64_t seed)
{
    const double z[2] = { 2.0, 3.0 };
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_step_context context = context_of(seed, 1e6);
    pn_model model;
    pn_model_release *release = NULL;
    double exact[ALL], noise[2][ALL];
    law sums = { 0 };

    exact_of(of, exact);
    CHECK(pn_model_read(&model, "test", of->objective, &request, how.batch, how.frobenius, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, z[0], z[1], NULL) == PN_OK);
    for (size_t q = 0; q < QUERIES; q++) {
        double *now = noise[q % 2];

        query(release, &context, &how, now);
        for (size_t k = 0; k < DIM; k++)
            now[k] = (now[k] - exact[k]) / (z[0] * model.gradient_sensitivity);
        for (size_t j = 0, k = DIM; j < DIM; j++) {
            for (size_t i = 0; i <= j; i++, k++)
                now[k] = (now[k] - exact[k]) /
                         (z[1] * model.hessian_sensitivity * (how.frobenius && i < j ? sqrt(0.5) : 1.0));
        }
        count(&sums, now, q % 2 ? noise[0] : NULL);
    }
    judge(&sums);
    CHECK(context.releases == 2 * QUERIES && charges(context.ledger) == 2 * QUERIES);
    pn_model_close(release);
    context_free(&context);
}

int main(void)
{
    double x[N * DIM], y[N];
    recipe of = { .x = x, .y = y, .n = N, .p = DIM };
    world one;

    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < DIM; j++)
            x[i * DIM + j] = 0.5 * ((double)j - 1.5) / 1.5;
        y[i] = 1.0;
    }
    CHECK(world_make(&one, &of, NULL) == PN_OK);
    test_law(&one, (setting){ 0, false, true }, 1);
    test_law(&one, (setting){ 0, true, false }, 2);
    test_law(&one, (setting){ N / 4, false, false }, 3);
    test_law(&one, (setting){ N / 4, true, true }, 4);
    world_free(&one);
    return check_summary();
}
