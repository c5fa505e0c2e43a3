/* width_quadrature_test.c -- the widths and uniform points of the sets that have them.
 * Widths: geometry.md section 4, and mpmath where
 * said.  Moments: closed forms; each has a false-alarm rate below 1e-9 (six standard errors).
 * Depends on: check.h, geometry/convex/set.h, geometry/width/width_quadrature.h. */
#include <stddef.h>

#include "check.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/draw.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width_quadrature.h"

#define MOST  100
#define DRAWS 40000

static pn_set *make(const char *name, pn_arg a, pn_arg b, pn_arg c)
{
    pn_arg args[4] = { a, b, c, { .given = false } };
    pn_set *set = NULL;

    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

static pn_arg count(size_t n)
{
    return (pn_arg){ .given = true, .count = n };
}

static pn_arg real(double x)
{
    return (pn_arg){ .given = true, .real = x };
}

static pn_arg vector(double *x, size_t n)
{
    return (pn_arg){ .given = true, .vector = { x, n } };
}

static const pn_arg none = { .given = false };

/* Frees the set. */
static void check_width(pn_set *set, double want, double tolerance, pn_width_method method)
{
    pn_width_options how = { 0 };
    pn_width got;

    if (!CHECK(set && set->ops->width && set->ops->width(set, &how, &got, NULL) == PN_OK))
        return;
    CHECK_CLOSE(got.value / want, 1.0, tolerance);
    CHECK(got.method == method && got.draws == 0 && got.confidence == 1.0 && got.standard_error == 0.0);
    CHECK(got.low <= got.value && got.value <= got.high && got.high - got.low <= 1e-11 * fabs(got.value));
    pn_set_free(set);
}

static void test_known_widths(void)
{
    static const double l2[] = { 1.253314137, 3.084327760, 9.975031640 };
    static const double l1[] = { 1.128379167, 1.880715694, 2.746957688 };
    static const double simplex[] = { 0.5641895835, 1.538752731, 2.507593636 };
    static const size_t dims[] = { 2, 10, 100 };
    static const double grouped[][3] = { { 12, 4, 2.469942090 }, { 10, 3, 2.203811759 }, { 100, 10, 4.202875890 } };

    for (size_t i = 0; i < 3; i++) {
        check_width(make("l2_ball", count(dims[i]), none, none), l2[i], 1e-9, PN_WIDTH_EXACT);
        check_width(make("l1_ball", count(dims[i]), none, none), l1[i], 1e-9, PN_WIDTH_QUADRATURE);
        check_width(make("simplex", count(dims[i]), none, none), simplex[i], 1e-9, PN_WIDTH_QUADRATURE);
        check_width(make("simplex", count(dims[i]), real(2.5), none), 2.5 * simplex[i], 1e-9, PN_WIDTH_QUADRATURE);
        check_width(make("group_ball", count((size_t)grouped[i][0]), count((size_t)grouped[i][1]), none), grouped[i][2],
                    1e-9, PN_WIDTH_QUADRATURE);
    }
    check_width(make("l2_ball", count(1000000), real(3.0), none), 3.0 * 999.99975000003124, 1e-14, PN_WIDTH_EXACT);
}

static void test_widths_that_agree(void)
{
    double ones[MOST], lower[3] = { -1, 0, 2 }, upper[3] = { 1, 4, 2 };
    double wide = sqrt(2.0 / 3.14159265358979323846);

    for (size_t j = 0; j < MOST; j++)
        ones[j] = 1.0;
    for (size_t p = 1; p <= MOST; p += 33) {
        double l1 = pn_width_of_l1(p).value, l2 = pn_width_of_l2(p).value;

        check_width(make("group_ball", count(p), count(p), none), l2, 1e-12, PN_WIDTH_QUADRATURE);
        check_width(make("group_ball", count(p), count(1), none), l1, 1e-12, PN_WIDTH_QUADRATURE);
        check_width(make("weighted_l1_ball", vector(ones, p), real(2.0), none), 2.0 * l1, 1e-12, PN_WIDTH_QUADRATURE);
        check_width(make("linf_ball", count(p), real(2.0), none), 2.0 * (double)p * wide, 1e-14, PN_WIDTH_EXACT);
    }
    check_width(make("box", vector(lower, 3), vector(upper, 3), none), 3.0 * wide, 1e-14, PN_WIDTH_EXACT);
    lower[1] = -2.0, upper[0] = 1.0, upper[1] = 2.0, lower[2] = upper[2] = 0.0;
    check_width(make("diamond", vector(lower, 3), vector(upper, 3), none), sqrt(5.0) * wide, 1e-12,
                PN_WIDTH_QUADRATURE); /* E max(|a|, 2|b|), by polar coordinates */
    CHECK(pn_width_of_simplex(1).value == 0.0);
    CHECK_CLOSE(pn_width_of_unit_simplex(1).value, 0.5 * wide, 1e-13);
    check_width(make("unit_simplex", count(2), real(3.0), none), 3.0 * 0.68103707217531082, 1e-13,
                PN_WIDTH_QUADRATURE);                                                /* mpmath */
    CHECK_CLOSE(pn_width_of_l1(1000000).value, 4.998561418452991641, 1e-12);         /* mpmath */
    CHECK_CLOSE(pn_width_of_groups(100000, 100).value, 12.33979053502842459, 1e-11); /* mpmath */
    CHECK(pn_width_of_groups(1000000000, 500000).value > 707.1); /* sqrt k, and far from where the integral starts */
}

/* ---- uniform points: the gauge of a point of a body of dimension n has the law t^n ---- */

typedef struct moments {
    double power; /* mean of gauge^n */
    double first; /* mean of |x_1| */
    double square;
} moments;

static moments draw(pn_set *set, size_t n)
{
    moments out = { 0.0, 0.0, 0.0 };
    double x[MOST], gauge;
    pn_rng *rng;
    bool inside;

    if (!CHECK(set && set->ops->sample) || !CHECK(pn_rng_seeded(&rng, 9, NULL) == PN_OK))
        return out;
    for (size_t i = 0; i < DRAWS; i++) {
        CHECK(set->ops->sample(set, rng, x, NULL) == PN_OK);
        CHECK(set->ops->contains(set, x, 1e-14, &inside, NULL) == PN_OK && inside);
        CHECK(pn_set_gauge(set, x, n, &gauge, NULL) == PN_OK);
        out.power += pow(gauge, (double)n) / DRAWS;
        out.first += fabs(x[0]) / DRAWS;
        out.square += x[0] * x[0] / DRAWS;
    }
    pn_rng_free(rng);
    pn_set_free(set);
    return out;
}

/* Six standard errors of a variable in [0, most] with this second moment. */
static double slack(double second)
{
    return 6.0 * sqrt(second / DRAWS);
}

static void test_samples(void)
{
    const size_t n = 5;
    double lower[2] = { -1, 2 }, upper[2] = { 3, 2 }, weights[5] = { 2, 1, 1, 1, 1 };
    moments got = draw(make("l1_ball", count(n), none, none), n);

    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.first, 1.0 / 6.0, slack(2.0 / 42.0));
    got = draw(make("weighted_l1_ball", vector(weights, n), none, none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.first, 1.0 / 12.0, slack(0.5 / 42.0));
    got = draw(make("l2_ball", count(n), real(2.0), none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.square, 4.0 / 7.0, slack(16.0 * 3.0 / 63.0)); /* E x^4 = 3/((n + 2)(n + 4)) <= 3/63 */
    got = draw(make("linf_ball", count(n), real(2.0), none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.first, 1.0, slack(4.0 / 3.0));
    got = draw(make("unit_simplex", count(n), real(2.0), none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.first, 2.0 / 6.0, slack(4.0 * 2.0 / 42.0));
    got = draw(make("simplex", count(n), real(2.0), none), n);
    CHECK_CLOSE(got.power, 1.0, 1e-10);
    CHECK_CLOSE(got.first, 2.0 / 5.0, slack(4.0 * 2.0 / 30.0));
    CHECK_CLOSE(got.square, 4.0 * 2.0 / 30.0, slack(16.0 * 24.0 / 1680.0)); /* Dirichlet: 4!/(5 6 7 8) */
    got = draw(make("group_ball", count(n), count(3), none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.first, 0.5 * 3.0 / 6.0, slack(12.0 / 42.0 / 3.0)); /* E|u_1| = 1/2 on the sphere in R^3 */
    got = draw(make("lp_ball", count(n), real(3.0), none), n);
    CHECK_CLOSE(got.power, 0.5, slack(1.0 / 3.0));
    CHECK_CLOSE(got.square, tgamma(1.0) / tgamma(1.0 / 3) * tgamma(1 + 5.0 / 3) / tgamma(1 + 7.0 / 3), slack(1.0));
    got = draw(make("box", vector(lower, 2), vector(upper, 2), none), 2);
    CHECK_CLOSE(got.first, (0.5 + 4.5) / 4.0, slack(28.0 / 12.0));
}

/* Mean and variance are the shape. */
static void test_gamma(void)
{
    static const double shapes[] = { 0.2, 1.0, 7.5 };
    pn_rng *rng;

    if (!CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK))
        return;
    for (size_t i = 0; i < 3; i++) {
        double a = shapes[i], mean = 0.0, square = 0.0;

        for (size_t k = 0; k < DRAWS; k++) {
            double x = pn_draw_gamma(rng, a);

            mean += x / DRAWS;
            square += x * x / DRAWS;
        }
        CHECK_CLOSE(mean, a, slack(a));
        CHECK_CLOSE(square, a * (a + 1.0), slack(a * (a + 1.0) * (a + 2.0) * (a + 3.0)));
    }
    pn_rng_free(rng);
}

int main(void)
{
    test_known_widths();
    test_widths_that_agree();
    test_samples();
    test_gamma();
    return check_summary();
}
