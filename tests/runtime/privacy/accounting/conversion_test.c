/* conversion_test.c -- the search over Renyi orders finds what trying them all finds; tails of drawn noise.
 * Depends on: check.h, privacy/. */
#include <stddef.h>

#include "check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/sampled_curve.h"
#include "random/noise.h"

typedef struct model {
    int kind;
    double x, y;
    size_t asked;
} model;

static double value(const model *m, double alpha)
{
    switch (m->kind) {
    case 0:
        return pn_curve_zcdp(m->x, alpha);
    case 1:
        return m->y * pn_curve_pure(m->x, alpha);
    case 2:
        return m->y * pn_curve_bounded_range(m->x, alpha);
    case 3:
        return isinf(alpha) ? INFINITY : m->y * pn_curve_poisson(m->x, 1.1, alpha);
    case 4:
        return isinf(alpha) ? INFINITY : m->y * pn_curve_poisson_replace(m->x, 3.0, alpha);
    case 5: /* pure releases and a Gaussian */
        return m->y * pn_curve_pure(m->x, alpha) + pn_curve_zcdp(0.3, alpha);
    default: /* declared at one order */
        return alpha <= m->x ? m->y : INFINITY;
    }
}

static double rdp(const void *self, double alpha)
{
    model *m = (model *)(size_t)self;

    m->asked++;
    return value(m, alpha);
}

static const model models[] = {
    { 0, 0.5, 0, 0 },    { 0, 1e-9, 0, 0 },     { 0, 1e5, 0, 0 },    { 0, 1e-3, 0, 0 },   { 1, 0.1, 100, 0 },
    { 1, 3.0, 40, 0 },   { 2, 0.05, 1000, 0 },  { 3, 0.01, 1e4, 0 }, { 3, 1e-4, 1e4, 0 }, { 3, 0.3, 10, 0 },
    { 4, 0.01, 1e3, 0 }, { 4, 0.2, 1, 0 },      { 5, 0.02, 500, 0 }, { 6, 4.0, 0.3, 0 },  { 6, 32.0, 1.0, 0 },
    { 6, 1.5, 2.0, 0 },  { 6, 2000.0, 2.0, 0 },
};

/* All orders 1 + e^x in steps of a thousandth, or five, from 1 + 2^-14 to 1 + 2^20. */
static void brute(const model *m, double delta, double epsilon, double *best_epsilon, double *best_delta)
{
    *best_epsilon = *best_delta = INFINITY;
    for (double x = -14.0 * log(2.0); x<20.0 * log(2.0); x += m->kind> 2 && m->kind < 5 ? 5e-3 : 1e-3) {
        double alpha = 1.0 + exp(x), r = value(m, alpha), a = alpha - 1.0;

        *best_epsilon = fmin(*best_epsilon, pn_rdp_epsilon(alpha, r, delta));
        *best_delta = fmin(*best_delta, a * (r - epsilon) - log(a) + alpha * log1p(-1.0 / alpha));
    }
    *best_delta = fmin(1.0, exp(*best_delta));
}

static void test_the_search_finds_the_valley(void)
{
    static const double deltas[] = { 1e-12, 1e-5, 0.1 };

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        for (size_t k = check_thorough() ? 0 : i % 3; k < 3; k += (size_t)check_times(3, 1)) {
            model m = models[i];
            pn_curve curve = { rdp, &m };
            double rho = m.kind == 0 ? m.x : INFINITY, order, want, want_delta;
            double got = pn_curve_epsilon(&curve, deltas[k], pn_zcdp_guess(rho, deltas[k]), &order);

            CHECK(m.asked <= 60);
            brute(&m, deltas[k], got, &want, &want_delta);
            want = fmin(want, value(&m, INFINITY));
            CHECK(got <= want * (1.0 + 1e-9));
            CHECK(got >= want * (1.0 - (m.kind == 6 ? 5e-3 : 2e-4)));
            CHECK(got == 0.0 || isinf(order) || pn_rdp_epsilon(order, value(&m, order), deltas[k]) == got);
            if (value(&m, INFINITY) > got)
                CHECK(pn_curve_delta(&curve, got, m.kind == 0 ? 1.0 + got / (2.0 * m.x) : 0.0) <=
                      want_delta * (1.0 + 1e-9));
        }
    }
}

static void test_declared_orders_are_hit(void)
{
    model m = { 6, 4.0, 0.3, 0 };
    pn_curve curve = { rdp, &m };
    double order;

    CHECK(pn_curve_epsilon(&curve, 1e-5, 0.0, &order) == pn_rdp_epsilon(4.0, 0.3, 1e-5));
    CHECK(order == 4.0);
    m.x = 2.3;
    CHECK(pn_curve_epsilon(&curve, 1e-5, 0.0, &order) == pn_rdp_epsilon(2.3, 0.3, 1e-5));
}

/* To the last digit of the price; the order itself may be a little below, where it has the same. */
static void test_declared_orders_that_are_not_round_are_hit(void)
{
    static const double declared[] = { 1.0123456789, 3.2932676639343943, 89.593365664751005, 12345.678912345 };

    for (size_t i = 0; i < sizeof declared / sizeof declared[0]; i++) {
        model m = { 6, declared[i], 0.3, 0 };
        pn_curve curve = { rdp, &m };
        double order, got = pn_curve_epsilon(&curve, 1e-5, 0.0, &order);

        CHECK(got == pn_rdp_epsilon(declared[i], 0.3, 1e-5));
        CHECK(order <= declared[i] && order >= declared[i] * (1.0 - 1e-11));
        CHECK(m.asked <= 110);
    }
}

/* The moments accountant of Abadi et al. (2016): min over alpha of rdp + ln(1/delta)/(alpha - 1). */
static void test_the_conversion_beats_the_moments_accountant(void)
{
    model m = { 3, 0.01, 1e4, 0 };
    pn_curve curve = { rdp, &m };
    double old = INFINITY;

    for (double alpha = 1.01; alpha < 40.0; alpha += 0.01)
        old = fmin(old, value(&m, alpha) + log(1e5) / (alpha - 1.0));
    CHECK(pn_curve_epsilon(&curve, 1e-5, 0.0, NULL) < old);
}

/* accounting.md item 1: the grid's order 4.7 gives 5.63199237; other orders are a little better. */
static void test_the_specification(void)
{
    double rdp_47 = 1e4 * pn_curve_poisson(0.01, 1.1, 4.7), a = 3.7, best = 1.0;
    model m = { 3, 0.01, 1e4, 0 };
    pn_curve curve = { rdp, &m };

    CHECK_CLOSE(pn_rdp_epsilon(4.7, rdp_47, 1e-5), 5.63199237, 6e-9);
    CHECK_CLOSE(pn_curve_epsilon(&curve, 1e-5, 0.0, NULL), 5.63199237, 2e-4);
    for (int i = 11; i < 110; i++) { /* the grid around the minimum */
        a = i / 10.0 - 1.0;
        best = fmin(best, exp(a * (value(&m, 1.0 + a) - 6.0) - log(a) + (1.0 + a) * log1p(-1.0 / (1.0 + a))));
    }
    CHECK_CLOSE(best, 2.48460e-6, 5.1e-12);
    CHECK(pn_curve_delta(&curve, 6.0, 0.0) <= best && pn_curve_delta(&curve, 6.0, 0.0) > 0.999 * best);
}

/* exp(half) (kept + exp(epsilon) tail) <= delta, the whole of the statement. */
static void check_release(double epsilon, double delta, double rho, pn_slack slack)
{
    model m = { 0, rho, 0, 0 };
    pn_curve curve = { rdp, &m };
    double ideal = epsilon - slack.epsilon, kept = pn_curve_delta(&curve, ideal, 0.0);

    CHECK(exp(slack.epsilon / 2.0) * (kept * (1.0 - 1e-9) + exp(ideal) * slack.tail) <= delta);
}

static void test_tails_take_more_of_delta_before_they_refuse(void)
{
    double order;

    for (double rho = 1e-3; rho < 200.0; rho *= 1.3) {
        for (double draws = 0.0; draws < 1e9; draws = draws * 100.0 + 1.0) {
            model m = { 0, rho, 0, 0 };
            pn_curve curve = { rdp, &m };
            pn_slack slack = { draws * 0x1p-75, draws * 0x1p-125, INFINITY };
            double epsilon = pn_curve_release_epsilon(&curve, rho, 1e-6, slack, &order);
            double ideal = pn_zcdp_epsilon(rho, 1e-6), needs = draws > 0.0 ? ideal + log(slack.tail) : -INFINITY;

            CHECK(epsilon >= ideal * (1.0 - 1e-9));
            if (isfinite(epsilon))
                check_release(epsilon, 1e-6, rho, slack);
            else
                CHECK(needs > log(0.4e-6) && order == 0.0);
            CHECK(needs > log(1e-6) - 22.0 || epsilon <= ideal * (1.0 + 1e-8)); /* room in the usual share */
        }
    }
}

/* erfc((13 - mu)/sqrt 2) to 20 digits by mpmath; it bounds what exp(epsilon) would blow up. */
static void test_the_window_of_the_neighbour_needs_no_epsilon(void)
{
    pn_slack one = pn_gaussian_slack(1000.0, 1.0), wide = pn_gaussian_slack(1.0, 5.0),
             none = pn_gaussian_slack(1.0, 40.0);

    CHECK(one.window >= 1000.0 * 3.5529642241553594e-33 && one.window <= 1000.0 * 3.55296423e-33);
    CHECK(wide.window >= 1.2441921148543566e-15 && wide.window <= 1.24419213e-15);
    CHECK(none.window >= 1.0);
    CHECK(pn_gaussian_slack(1.0, 0.0).window <= PN_GAUSSIAN_TAIL); /* 2 Q(13) */
    CHECK(pn_slack_tail(one, 0.0) >= 1000.0 * PN_GAUSSIAN_TAIL && pn_slack_tail(one, 0.0) <= 1001.0 * PN_GAUSSIAN_TAIL);
    CHECK(pn_slack_tail(one, 700.0) == one.window);
    CHECK(pn_slack_epsilon(700.0, 1e-6, one) <= nextafter(700.0, INFINITY));
}

static void test_slack_is_rounded_upward(void)
{
    CHECK(pn_slack_epsilon(1.0, 1e-6, (pn_slack){ 0.0, 0.0, 0.0 }) == 1.0);
    CHECK(pn_slack_epsilon(1.0, 1e-6, (pn_slack){ 1e-22, 0.0, 0.0 }) == nextafter(1.0, 2.0));
    CHECK(pn_slack_epsilon(1.0, 0.0, (pn_slack){ 1e-22, 0.0, 0.0 }) == nextafter(1.0, 2.0));
    CHECK(isinf(pn_slack_epsilon(1.0, 0.0, (pn_slack){ 1e-22, 1e-37, INFINITY })));
    CHECK(isinf(pn_slack_epsilon(1.0, 1e-6, (pn_slack){ 1e-8, 0.0, 0.0 }))); /* exp(1e-8/2) exceeds what 2^-30 leaves */
    CHECK(pn_slack_delta(0.0, 0.0, (pn_slack){ 1e-3, 0.0, 0.0 }) >= expm1(1e-3));
    CHECK(pn_slack_delta(1e-6, 1.0, (pn_slack){ 0.0, 1e-7, INFINITY }) >= 1e-6 + exp(1.0) * 1e-7);
    CHECK(pn_slack_delta(0.5, 800.0, (pn_slack){ 0.0, 1e-7, INFINITY }) == 1.0);
}

int main(void)
{
    test_the_search_finds_the_valley();
    test_declared_orders_are_hit();
    test_declared_orders_that_are_not_round_are_hit();
    test_the_conversion_beats_the_moments_accountant();
    test_the_specification();
    test_tails_take_more_of_delta_before_they_refuse();
    test_the_window_of_the_neighbour_needs_no_epsilon();
    test_slack_is_rounded_upward();
    return check_summary();
}
