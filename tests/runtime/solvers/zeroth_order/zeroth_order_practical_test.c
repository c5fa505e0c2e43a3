/* zeroth_order_practical_test.c -- sizes of zeroth-order runs where bounds say nothing: the rule as it is written down,
 * what it keeps, and that it asks for no more than there is.
 * Depends on: solvers/zeroth_order/zeroth_order.h, check.h. */
#include "check.h"
#include "solvers/zeroth_order/zeroth_order.h"

static const zo_method naive = { ZO_NAIVE, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE };
static const zo_method chain = { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_SQRT };

static zo_problem small_problem(double records)
{
    return (zo_problem){ .records = records, .dim = 10, .rho = 1, .lipschitz = 2, .gap = 2, .radius = 0.5 };
}

static double records_of(const zo_choice *at)
{
    return (double)at->epochs * ((double)at->first + ((double)at->rounds - 1.0) * (double)at->others);
}

/* 3/(.8 * .35) epochs of 909 records, mu/(2 D) = 10 first ones for each later one,
 * step by the noise and an eighth of L. */
static void test_chains_follow_the_rule(void)
{
    zo_problem problem = small_problem(1e4);
    zo_choice at = { 0 };

    CHECK(zo_practical(&problem, chain, 1.0, NULL, &at));
    CHECK_CLOSE(at.smoothing, 0.35, 1e-15);
    CHECK_CLOSE(at.ball, 0.8 * 0.35 / 16.0, 1e-15);
    CHECK(at.rounds == 16 && at.epochs == 11 && at.others == 36 && at.first == 369);
    CHECK_CLOSE(at.sensitivity, 2.0 * sqrt(10.0) * 2.0 * 0.1 / 36.0, 1e-11);
    CHECK_CLOSE(at.step, at.ball / (4.0 * sqrt(0.0625 + at.noise * at.noise)), 1e-15);
    CHECK(at.smoothing + at.ball * 17.0 / 2.0 <= 0.5);
    problem.radius = 1e3; /* leaves room for all that the distance allows */
    CHECK(zo_practical(&problem, chain, 1.0, NULL, &at));
    CHECK_CLOSE(at.smoothing, 0.4, 1e-15);
}

static void test_naive_runs_follow_the_rule(void)
{
    zo_problem problem = small_problem(1e4);
    zo_choice at = { 0 };

    CHECK(zo_practical(&problem, naive, 1.0, NULL, &at));
    CHECK_CLOSE(at.smoothing, 0.1, 1e-15);
    CHECK_CLOSE(at.ball, 0.8 / 17.0, 1e-15);
    CHECK(at.rounds == 16 && at.epochs == 4 && at.others == 156 && at.first == 156);
    CHECK_CLOSE(at.step, at.ball / (4.0 * sqrt(0.0625 + at.noise * at.noise)), 1e-15);
    CHECK_CLOSE(at.smoothing + at.ball * 17.0 / 2.0, 0.5, 1e-15);
    problem.radius = 1e3;
    CHECK(zo_practical(&problem, naive, 1.0, NULL, &at));
    CHECK_CLOSE(at.ball, 1.0 / 16.0, 1e-15);
}

/* Twice all lengths with L half of it is the same problem. */
static void test_units_of_length_do_not_matter(void)
{
    zo_problem problem = small_problem(5e3), scaled = problem;
    zo_choice at = { 0 }, other = { 0 };
    int m;

    scaled.radius *= 2.0;
    scaled.lipschitz /= 2.0;
    for (m = 0; m < ZO_METHODS; m++) {
        CHECK(zo_practical(&problem, zo_methods[m], 1.5, NULL, &at));
        CHECK(zo_practical(&scaled, zo_methods[m], 3.0, NULL, &other));
        CHECK(at.epochs == other.epochs && at.first == other.first && at.others == other.others);
        CHECK_CLOSE(other.ball, 2.0 * at.ball, 1e-12);
        CHECK_CLOSE(other.step, 4.0 * at.step, 1e-12);
        CHECK_CLOSE(other.bound, at.bound / 2.0, 1e-12);
    }
}

static void test_what_is_given_is_kept(void)
{
    zo_problem problem = small_problem(1e4);
    zo_choice fixed = { .epochs = 5, .rounds = 20, .first = 100, .smoothing = 0.2, .step = 0.01 }, at = { 0 };

    CHECK(zo_practical(&problem, chain, 1.0, &fixed, &at));
    CHECK(at.epochs == 5 && at.rounds == 20 && at.first == 100 && at.smoothing == 0.2 && at.step == 0.01);
    CHECK(at.others == 100); /* (2000 - 100)/19 */
    fixed = (zo_choice){ .others = 7, .ball = 0.01 };
    CHECK(zo_practical(&problem, chain, 1.0, &fixed, &at));
    CHECK(at.others == 7 && at.ball == 0.01 && at.first == 112); /* .35/.02 is more than 16 rounds */
    CHECK(at.epochs == 46);                                      /* 10000/217: all records */
    fixed = (zo_choice){ .first = 100 };
    CHECK(zo_practical(&problem, naive, 1.0, &fixed, &at));
    CHECK(at.first == 100 && at.others == 100 && at.epochs == 6);
}

static void test_no_choice_uses_more_records_than_there_are(void)
{
    size_t rounds, n;
    int m;

    for (m = 0; m < ZO_METHODS; m++) {
        for (n = 1; n < 200000; n += 1 + n / 3) {
            for (rounds = 0; rounds < 40; rounds += 13) {
                zo_problem problem = small_problem((double)n);
                zo_choice fixed = { .rounds = rounds }, at = { 0 };

                if (zo_practical(&problem, zo_methods[m], 1.0, &fixed, &at)) {
                    CHECK(at.epochs >= 1 && at.first >= 1 && at.others >= 1 && records_of(&at) <= (double)n);
                    CHECK(records_of(&at) >= 0.5 * (double)n && at.step > 0.0);
                } else {
                    CHECK(rounds > 0 && (double)n < 2.0 * (double)rounds);
                }
            }
        }
    }
}

static void test_impossible_wishes_are_refused(void)
{
    zo_problem problem = small_problem(100);
    zo_choice fixed = { .rounds = 101 }, at = { 0 };

    CHECK(!zo_practical(&problem, chain, 1.0, &fixed, &at));
    CHECK(!zo_practical(&problem, naive, 1.0, &fixed, &at));
    fixed = (zo_choice){ .epochs = 101 };
    CHECK(!zo_practical(&problem, chain, 1.0, &fixed, &at));
    fixed = (zo_choice){ .epochs = 2, .others = 60 };
    CHECK(!zo_practical(&problem, naive, 1.0, &fixed, &at));
}

/* As the study measured: .070, .084, .160, .193 (excess + .01). */
static void test_methods_compare_as_runs_do(void)
{
    static const zo_method ordered[] = {
        { ZO_NAIVE, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE },
        { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_SQRT },
        { ZO_NAIVE, PN_DIRECTIONS_ONE, PN_SUM_TREE },
        { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_SQRT },
    };
    zo_problem problem = small_problem(1e4);
    double last = 0.0, now;
    int m;

    for (m = 0; m < 4; m++) {
        zo_choice at = { 0 };

        CHECK(zo_practical(&problem, ordered[m], 1.0, NULL, &at));
        now = zo_practical_error(&at);
        CHECK(now > last);
        last = now;
    }
}

int main(void)
{
    test_methods_compare_as_runs_do();
    test_chains_follow_the_rule();
    test_naive_runs_follow_the_rule();
    test_units_of_length_do_not_matter();
    test_what_is_given_is_kept();
    test_no_choice_uses_more_records_than_there_are();
    test_impossible_wishes_are_refused();
    return check_summary();
}
