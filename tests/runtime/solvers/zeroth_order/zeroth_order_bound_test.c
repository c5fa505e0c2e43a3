/* zeroth_order_bound_test.c -- numbers of the plans of private zeroth-order optimization against the published ones
 * (zeroth-order.md) and against sums written out.
 * Depends on: solvers/zeroth_order/zeroth_order.h, check.h. */
#include <string.h>

#include "check.h"
#include "solvers/zeroth_order/zeroth_order.h"

static const zo_method naive_one = { ZO_NAIVE, PN_DIRECTIONS_ONE, PN_SUM_TREE };
static const zo_method naive_orthogonal = { ZO_NAIVE, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE };
static const zo_method iid_tree = { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_TREE };
static const zo_method orthogonal_tree = { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE };
static const zo_method orthogonal_sqrt = { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_SQRT };

/* The published numbers are for a gap of 1 between values of the SMOOTHED loss, with mu = 1/4. */
static zo_problem published(double records, double dim, double rho)
{
    return (zo_problem){ .records = records,
                         .dim = dim,
                         .rho = rho,
                         .lipschitz = 1.0,
                         .gap = 1.0 - 0.25 * dim / (dim + 1.0),
                         .radius = 0.5,
                         .published = true };
}

static double best_bound(double records, double dim, double rho, zo_method method)
{
    zo_problem problem = published(records, dim, rho);
    zo_choice choice = { 0 };

    CHECK(zo_search(&problem, method, NULL, &choice));
    return choice.bound;
}

/* ---- noise of sums ---- */

static int ones(size_t number)
{
    return number == 0 ? 0 : (int)(number & 1) + ones(number >> 1);
}

/* Inverse-variance weights by their recursion, the prefix of all 2^k leaves as the sum of its halves. */
static double honaker_variance(size_t t, bool split)
{
    double weight = 1.0, total = 0.0, left = 0.0;

    for (; t != 0; t >>= 1) {
        if (t & 1)
            total += split ? 2.0 * left : weight;
        left = weight;
        weight = 1.0 / (1.0 + 1.0 / (2.0 * weight));
    }
    return total;
}

static bool sum_noise(pn_sum_kind sum, size_t rounds, double *gain, double *spread)
{
    pn_sum_noise noise;
    bool has = pn_sum_noise_of(sum, sum == PN_SUM_TREE, rounds, &noise);

    *gain = noise.gain;
    *spread = noise.spread;
    return has;
}

static void test_trees_have_the_mean_variance_of_their_prefixes(void)
{
    size_t rounds, t;
    double gain, spread, plain, weighted;
    bool power;

    for (rounds = 1; rounds <= 300; rounds++) {
        power = rounds > 1 && (rounds & (rounds - 1)) == 0;
        plain = weighted = 0.0;
        for (t = 1; t <= rounds; t++) {
            plain += ones(t);
            weighted += honaker_variance(t, power && t == rounds);
        }
        CHECK(sum_noise(PN_SUM_TREE, rounds, &gain, &spread));
        CHECK_CLOSE(gain, sqrt(floor(log2((double)rounds)) + 1.0), 1e-14);
        CHECK_CLOSE(spread, plain / (double)rounds, 1e-12);
        CHECK(sum_noise(PN_SUM_HONAKER, rounds, &gain, &spread));
        CHECK_CLOSE(gain, sqrt(floor(log2((double)rounds)) + (power ? 0.0 : 1.0)), 1e-14);
        CHECK_CLOSE(spread, weighted / (double)rounds, 1e-12);
    }
}

/* tree-mechanism.md, table of section 7 and section 2.2. */
static void test_mean_factors_are_the_published_ones(void)
{
    static const double rounds[] = { 8, 16, 256, 1024, 16384 };
    static const double honaker[] = { 3.7857, 5.8095, 19.2369, 29.0241, 54.6241 };
    static const double roots[] = { 2.5149, 3.2285, 7.1224, 9.6708, 15.9431 };
    double gain, spread, k;
    int i;

    for (i = 0; i < 5; i++) {
        size_t t = (size_t)rounds[i];
        CHECK(sum_noise(PN_SUM_HONAKER, t, &gain, &spread));
        CHECK_CLOSE(gain * gain * spread, honaker[i], 5e-5);
        CHECK(sum_noise(PN_SUM_SQRT, t, &gain, &spread));
        CHECK_CLOSE(gain * gain * spread, roots[i], 5e-5);
        CHECK(sum_noise(PN_SUM_TREE, t, &gain, &spread));
        k = log2(rounds[i]);
        CHECK_CLOSE(gain * gain * spread, (k + 1.0) * (k / 2.0 + 1.0 / rounds[i]), 1e-10);
    }
    CHECK(sum_noise(PN_SUM_SQRT, 1000, &gain, &spread));
    CHECK_CLOSE(gain * gain * gain * gain, 10.660245, 5e-7);
    CHECK_CLOSE(gain * gain * spread, 9.623887, 5e-7);
}

static void test_long_square_roots_go_on_where_sums_end(void)
{
    double a = 1.0, s = 0.0, total = 0.0, gain, spread;
    size_t j;

    for (j = 0; j < 20000; j++) {
        double odd = ((double)j + 0.5) / ((double)j + 1.0);

        s += a;
        total += s;
        a *= odd * odd;
        if (j + 1 == 4096 || j + 1 == 4097 || j + 1 == 20000) {
            CHECK(sum_noise(PN_SUM_SQRT, j + 1, &gain, &spread));
            CHECK_CLOSE(gain * gain, s, 1e-11);
            CHECK_CLOSE(spread, total / (double)(j + 1), 1e-11);
        }
    }
}

/* ---- choices ---- */

/* zeroth-order.md section 9, item 4. */
static void test_calibration_is_the_published_one(void)
{
    zo_problem problem = { .records = 1e6, .dim = 10, .rho = 1, .lipschitz = 1, .gap = 1, .radius = 0.5 };
    zo_choice choice = {
        .method = iid_tree, .epochs = 1, .rounds = 128, .first = 64, .others = 2, .smoothing = 0.05, .ball = 0.001
    };

    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sensitivity, 0.4, 1e-12);
    CHECK_CLOSE(choice.sigma, 1.131371, 5e-7);
    CHECK_CLOSE(choice.sigma * sqrt(10.0 * 7.0), 9.4657, 5e-5); /* the worst t is 127 */
    choice.others = 200;
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sensitivity, 0.3125, 1e-12);
    choice.method = orthogonal_tree;
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sensitivity, 0.098821, 5e-7);
    choice.others = 2;
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sensitivity, 0.126491, 5e-7);
    CHECK_CLOSE(choice.sigma, 0.357771, 5e-7);
    CHECK_CLOSE(choice.sigma * sqrt(70.0), 2.9933, 5e-5);
}

/* Item 8: sigma of both modes. */
static void test_end_to_end_noise_is_the_published_one(void)
{
    zo_problem problem = { .records = 11280, .dim = 5, .rho = 2, .lipschitz = 1, .gap = 1.3416, .radius = 0.5 };
    zo_choice choice = {
        .method = orthogonal_tree, .epochs = 60, .rounds = 32, .first = 64, .others = 4, .smoothing = 0.1, .ball = 0.01
    };

    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sigma, 0.273861, 5e-7);
    choice.method = iid_tree;
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sigma, 0.612372, 5e-7);
}

/* zeroth-order.md section 9, item 6. */
static void test_plans_are_the_published_ones(void)
{
    zo_problem problem = published(1e6, 10, 1);
    zo_choice choice = { 0 };

    CHECK(zo_search(&problem, iid_tree, NULL, &choice));
    CHECK(choice.epochs == 24 && choice.rounds == 2048 && choice.first == 8192 && choice.others == 16);
    CHECK_CLOSE(choice.sigma, 0.0084573, 5e-8);
    CHECK_CLOSE(choice.bound, 0.295286, 5e-7);
    CHECK(zo_search(&problem, orthogonal_tree, NULL, &choice));
    CHECK(choice.epochs == 24 && choice.rounds == 32768 && choice.first == 8192 && choice.others == 1);
    CHECK_CLOSE(choice.bound, 0.203930, 5e-7);
    problem = published(1e7, 54, 1);
    CHECK(zo_search(&problem, iid_tree, NULL, &choice));
    CHECK(choice.epochs == 15 && choice.rounds == 4096);
    CHECK_CLOSE(choice.bound, 0.284301, 5e-7);
    CHECK(zo_search(&problem, orthogonal_tree, NULL, &choice));
    CHECK(choice.epochs == 30 && choice.rounds == 131072 && choice.first == 65536 && choice.others == 2);
    CHECK_CLOSE(choice.bound, 0.160747, 5e-7);
}

/* The table of section 6, to its digits, but for two: 0.146498 is printed there as .147, and 1.622 knows of differences
 * that they are at most L r/mu but not that they are 2 L-Lipschitz, by which their variance is less for T = 2. */
static void test_bounds_of_all_methods_are_the_published_ones(void)
{
    static const struct {
        double records, dim, rho, bound[5], half;
    } rows[] = {
        { 1e5, 10, .1, { .908, .621, 1.608, 1.030, .850 }, 5e-4 },
        { 1e6, 10, .1, { .417, .292, .647, .394, .295 }, 5e-4 },
        { 1e7, 10, .1, { .194, .132, .242, .1465, .111 }, 5e-4 },
        { 1e8, 10, .1, { .0916, .0608, .0896, .0551, .0443 }, 5e-5 },
        { 1e7, 54, 1, { .214, .108, .284, .161, .152 }, 5e-4 },
        { 1e7, 54, .1, { .456, .234, .716, .302, .226 }, 5e-4 },
    };
    const zo_method methods[] = { naive_one, naive_orthogonal, iid_tree, orthogonal_tree, orthogonal_sqrt };
    size_t row, m;

    for (row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (m = 0; m < 5; m++)
            CHECK_CLOSE(best_bound(rows[row].records, rows[row].dim, rows[row].rho, methods[m]), rows[row].bound[m],
                        rows[row].half);
    }
}

/* Spread, past and drift by dense matrices, node by node, of an independent program: a tree with its root and one
 * without, honaker without, sqrt. */
static void test_noise_that_was_seen_and_noise_of_the_mean_are_those_of_matrices(void)
{
    static const struct {
        size_t rounds;
        double want[4][3];
    } rows[] = {
        { 1, { { 1, 0, 1 }, { 1, 0, 1 }, { 1, 0, 1 }, { 1, 0, 1 } } },
        { 2, { { 1, 0, .5 }, { 1.5, .5, 1.25 }, { 1.5, .5, 1.25 }, { 1.125, .125, .8125 } } },
        { 3,
          { { 1.3333333333, .3333333333, .6666666667 },
            { 1.3333333333, .3333333333, .6666666667 },
            { 1.1111111111, .2592592593, .6666666667 },
            { 1.2135416667, .2135416667, .7517361111 } } },
        { 8,
          { { 1.625, .625, .453125 },
            { 1.75, .75, .59375 },
            { 1.2619047619, .5158730159, .5803571429 },
            { 1.4635558426, .4635558426, .6782497652 } } },
        { 13,
          { { 1.9230769231, .9230769231, .4437869822 },
            { 1.9230769231, .9230769231, .4437869822 },
            { 1.3560439560, .5943833944, .4870667794 },
            { 1.6004966817, .6004966817, .6619137397 } } },
        { 100,
          { { 3.19, 2.19, .3913 },
            { 3.19, 2.19, .3913 },
            { 1.9914684697, 1.2532893335, .4476281215 },
            { 2.2201653843, 1.2201653843, .6398245859 } } },
    };
    static const pn_sum_kind sums[] = { PN_SUM_TREE, PN_SUM_TREE, PN_SUM_HONAKER, PN_SUM_SQRT };
    pn_sum_noise noise, buffers;
    size_t row, k;

    for (row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (k = 0; k < 4; k++) {
            CHECK(pn_sum_noise_of(sums[k], k == 0, rows[row].rounds, &noise));
            CHECK_CLOSE(noise.spread, rows[row].want[k][0], 1e-9);
            CHECK_CLOSE(noise.past, rows[row].want[k][1], 1e-9);
            CHECK_CLOSE(noise.drift, rows[row].want[k][2], 1e-9);
        }
    }
    CHECK(pn_sum_noise_of(PN_SUM_SQRT, false, 4096, &noise) && pn_sum_noise_of(PN_SUM_BLT, false, 4096, &buffers));
    CHECK_CLOSE(buffers.drift * buffers.gain * buffers.gain, noise.drift * noise.gain * noise.gain, 0.02);
    CHECK(pn_sum_noise_of(PN_SUM_SQRT, false, 4097, &buffers)); /* by the expansion */
    CHECK_CLOSE(noise.drift, buffers.drift, 1e-4);
}

/* Errors apart, written out for T = 4: differences with variance v, of which round t has t - 1, t - 2 of them seen
 * before, and the mean over rounds 3/4, 2/4 and 1/4. */
static void test_errors_that_were_seen_and_errors_of_the_mean_count_once(void)
{
    zo_problem problem = { .records = 1e5, .dim = 4, .rho = INFINITY, .lipschitz = 2, .gap = 3, .radius = 0.5 };
    zo_choice choice = {
        .method = orthogonal_sqrt, .epochs = 10, .rounds = 4, .first = 50, .others = 10, .smoothing = 0.25, .ball = 0.02
    };
    double first = 4.0 * (4.0 / 3.0) / 50.0, v = 4.0 * 4.0 * 7.0 / 6.0 * (0.08 * 0.08) / 10.0;
    double gap = (3.0 + 2.0 * 0.25 * 4.0 / 5.0) / (0.02 * 40.0), error, past, drift, square;
    pn_sum_noise noise = { .gain = 1.0, .spread = 2.0, .past = 1.0, .drift = 0.5 };

    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.error, sqrt(first + v * 6.0 / 4.0), 1e-12);
    CHECK_CLOSE(choice.past, sqrt(first * 3.0 / 4.0 + v * 3.0 / 4.0), 1e-12);
    CHECK_CLOSE(choice.drift, sqrt(first + v * (9.0 + 4.0 + 1.0) / 16.0), 1e-12);
    CHECK_CLOSE(choice.bound, gap + (2.0 + choice.error) / 2.0 + choice.past + choice.drift, 1e-12);
    problem.rho = 10.0;
    error = choice.error, past = choice.past, drift = choice.drift;
    choice.step = 0.0;
    zo_evaluate_sum(&problem, &noise, &choice);
    square = choice.noise * choice.noise;
    CHECK(square > 0.0);
    CHECK_CLOSE(choice.error, sqrt(error * error + square), 1e-12);
    CHECK_CLOSE(choice.past, sqrt(past * past + square / 2.0), 1e-12);
    CHECK_CLOSE(choice.drift, sqrt(drift * drift + square / 4.0), 1e-12);
    choice =
        (zo_choice){ .method = naive_one, .epochs = 10, .rounds = 16, .first = 100, .smoothing = 0.25, .ball = 0.02 };
    zo_evaluate(&problem, &choice);
    CHECK(choice.past == 0.0);
    CHECK_CLOSE(choice.drift, choice.error / 4.0, 1e-12);
    CHECK_CLOSE(choice.bound,
                (3.0 + 2.0 * 0.25 * 4.0 / 5.0) / (0.02 * 160.0) +
                    (sqrt(4.0 + choice.error * choice.error) + choice.error) / 4.0,
                1e-12);
}

/* The best bounds on the grid of the search, by an independent program. */
static void test_the_bounds_that_are_used_are_below_the_published_ones(void)
{
    static const double rows[][8] = {
        /* M, d, rho and the bounds */
        { 1e6, 10, .1, .36121, .24880, .53020, .31774, .22377 },
        { 1e6, 10, 1, .17499, .11444, .21335, .14937, .13012 },
        { 1e7, 10, .1, .16573, .11689, .18936, .11745, .08079 },
        { 1e7, 54, 1, .18379, .09327, .22471, .11219, .09649 },
    };
    const zo_method methods[] = { naive_one, naive_orthogonal, iid_tree, orthogonal_tree, orthogonal_sqrt };

    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (size_t m = 0; m < 5; m++) {
            zo_problem problem = published(rows[row][0], rows[row][1], rows[row][2]);
            zo_choice choice = { 0 };

            problem.published = false;
            CHECK(zo_search(&problem, methods[m], NULL, &choice));
            CHECK_CLOSE(choice.bound, rows[row][3 + m], 2e-5);
            CHECK(choice.bound < best_bound(rows[row][0], rows[row][1], rows[row][2], methods[m]));
        }
    }
}

/* d = 4, L = 2, mu = .25, written out: a naive run, and what a given step costs. */
static void test_naive_choices_are_evaluated_by_their_formulas(void)
{
    zo_problem problem = {
        .records = 1e5, .dim = 4, .rho = 0.5, .lipschitz = 2, .gap = 3, .radius = 0.5, .published = true
    };
    zo_choice choice = {
        .method = naive_one, .epochs = 10, .rounds = 16, .first = 100, .smoothing = 0.25, .ball = 0.02
    };
    double variance, scale, gap = 3.0 + 2.0 * 0.25 * 4.0 / 5.0, sigma = 2.0 * 4.0 * 2.0 / (100.0 * 0.5);

    zo_evaluate(&problem, &choice);
    variance = 4.0 * 16.0 / (3.0 * 100.0) + 4.0 * sigma * sigma;
    scale = sqrt(4.0 + variance);
    CHECK(choice.others == 100);
    CHECK_CLOSE(choice.sigma, sigma, 1e-12);
    CHECK_CLOSE(choice.noise, 2.0 * sigma, 1e-12);
    CHECK_CLOSE(choice.error, sqrt(variance), 1e-12);
    CHECK_CLOSE(choice.step, 0.02 / (scale * 4.0), 1e-15);
    CHECK_CLOSE(choice.bound, gap / (0.02 * 160.0) + 2.0 * scale / 4.0, 1e-12);
    choice.step *= 3.0; /* is kept, and the regret of projected steps grows */
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.step, 0.06 / (scale * 4.0), 1e-15);
    CHECK_CLOSE(choice.bound, gap / (0.02 * 160.0) + ((1.0 / 3.0 + 3.0) / 2.0 + 1.0) * scale / 4.0, 1e-12);
    choice.method = naive_orthogonal;
    choice.step = 0.0;
    zo_evaluate(&problem, &choice);
    CHECK_CLOSE(choice.sigma, sigma / 2.0, 1e-12);
    CHECK_CLOSE(choice.error, sqrt(4.0 * 4.0 / (3.0 * 100.0) + sigma * sigma), 1e-12);
}

/* d = 4 and directions of both kinds, mean of (t - 1) over 8 rounds = 3.5, distance 2 D. */
static void test_chains_are_evaluated_by_their_formulas(void)
{
    zo_problem problem = {
        .records = 1e5, .dim = 4, .rho = INFINITY, .lipschitz = 2, .gap = 3, .radius = 0.5, .published = true
    };
    zo_choice choice = {
        .method = orthogonal_sqrt, .epochs = 10, .rounds = 8, .first = 50, .others = 10, .smoothing = 0.25, .ball = 0.02
    };
    double first = 4.0 * (4.0 / 3.0) / 50.0, others = 3.5 * 4.0 * 4.0 * (0.16 * 0.16) / 10.0;
    double e = sqrt(first + others), gap = 3.0 + 2.0 * 0.25 * 4.0 / 5.0;
    pn_sum_noise noise = { .gain = 3.0, .spread = 0.7, .past = 0.7, .drift = 0.7 };

    zo_evaluate(&problem, &choice);
    CHECK(choice.sigma == 0.0 && choice.noise == 0.0);
    CHECK_CLOSE(choice.error, e, 1e-12);
    CHECK_CLOSE(choice.step, 0.02 / ((2.0 + e) * sqrt(8.0)), 1e-15);
    CHECK_CLOSE(choice.bound, gap / (0.02 * 80.0) + (2.0 + e) / sqrt(8.0) + 2.0 * e, 1e-12);
    choice.method.directions = PN_DIRECTIONS_IID;
    zo_evaluate(&problem, &choice);
    first = 4.0 * (4.0 / 3.0 + 1.0 - 0.25) / 50.0;
    CHECK_CLOSE(choice.error, sqrt(first + others * 1.75), 1e-12);
    problem.rho = 0.5;
    zo_evaluate_sum(&problem, &noise, &choice);
    CHECK_CLOSE(choice.sigma, 3.0 * 2.0 * 8.0 * fmax(1.0 / 50.0, 0.16 / 10.0) / 0.5, 1e-12);
    CHECK_CLOSE(choice.noise, choice.sigma * sqrt(4.0 * 0.7), 1e-12);
    choice.ball = 10.0; /* two gradients differ by 2 L at most, however far apart they are */
    zo_evaluate_sum(&problem, &noise, &choice);
    CHECK_CLOSE(choice.sensitivity, 2.0 * 8.0 * 2.0 / 10.0, 1e-12);
}

static void test_the_best_choice_keeps_what_is_given(void)
{
    zo_problem problem = published(1e6, 10, 1);
    zo_choice fixed = { .rounds = 100, .others = 30, .epochs = 7 }, choice = { 0 }, free_choice = { 0 };
    double half;

    CHECK(zo_search(&problem, orthogonal_tree, NULL, &free_choice));
    CHECK(zo_search(&problem, orthogonal_tree, &fixed, &choice));
    CHECK(choice.rounds == 100 && choice.others == 30 && choice.epochs == 7);
    CHECK(choice.bound > free_choice.bound);
    CHECK_CLOSE(choice.smoothing + choice.ball * 101.0 / 2.0, 0.5, 1e-12);
    fixed = (zo_choice){ .first = 500, .smoothing = 0.4 };
    CHECK(zo_search(&problem, orthogonal_sqrt, &fixed, &choice));
    half = ((double)choice.rounds + 1.0) / 2.0;
    CHECK(choice.first == 500 && choice.smoothing == 0.4);
    CHECK_CLOSE(choice.ball * half, 0.1, 1e-12);
    fixed = (zo_choice){ .ball = 0.001, .step = 0.0001 };
    CHECK(zo_search(&problem, naive_orthogonal, &fixed, &choice));
    half = ((double)choice.rounds + 1.0) / 2.0;
    CHECK(choice.ball == 0.001 && choice.step == 0.0001);
    CHECK_CLOSE(choice.smoothing, 0.5 - 0.001 * half, 1e-12);
    fixed = (zo_choice){ .first = 100 };
    CHECK(zo_search(&problem, naive_orthogonal, &fixed, &choice));
    CHECK(choice.first == 100 && choice.others == 100);
}

static void test_a_search_without_a_choice_says_so(void)
{
    zo_problem problem = published(1, 10, 1);
    zo_choice fixed = { .smoothing = 0.5 }, choice = { 0 };

    CHECK(!zo_search(&problem, orthogonal_tree, NULL, &choice)); /* one record is no epoch */
    problem.records = 1e5;
    CHECK(!zo_search(&problem, orthogonal_tree, &fixed, &choice)); /* no room for a ball */
    fixed = (zo_choice){ .epochs = 1000, .rounds = 64, .first = 64, .others = 1 };
    CHECK(!zo_search(&problem, orthogonal_tree, &fixed, &choice)); /* 127000 records */
    problem.records = 127000.0;
    CHECK(zo_search(&problem, orthogonal_tree, &fixed, &choice));
}

static void test_no_choice_uses_more_records_than_there_are(void)
{
    static const double records[] = { 3, 17, 1000, 54321, 1e6 };
    size_t m, i;

    for (m = 0; m < ZO_METHODS; m++) {
        for (i = 0; i < 5; i++) {
            zo_problem problem = published(records[i], 7, 0.3);
            zo_choice choice = { 0 };

            if (zo_search(&problem, zo_methods[m], NULL, &choice))
                CHECK((double)choice.epochs *
                          ((double)choice.first + ((double)choice.rounds - 1.0) * (double)choice.others) <=
                      records[i]);
        }
    }
}

/* BOUND is met at the records that are named and missed at half of them; slope -1/3 in log-log (item 9). */
static void test_records_are_named_for_a_wanted_bound(void)
{
    zo_problem problem = published(1, 10, 1);
    double records = zo_records_for(&problem, orthogonal_tree, 0.2), slope;
    zo_choice choice = { 0 };

    CHECK(records == 0x1p21); /* item 6: 0.203930 at 10^6, a little below 2^20 */
    problem.records = records;
    CHECK(zo_search(&problem, orthogonal_tree, NULL, &choice) && choice.bound <= 0.2);
    problem.records = records / 2.0;
    CHECK(zo_search(&problem, orthogonal_tree, NULL, &choice) && choice.bound > 0.2);
    CHECK(zo_records_for(&problem, orthogonal_tree, 1e-9) == INFINITY);
    slope = log(best_bound(1e10, 10, 1, orthogonal_tree) / best_bound(1e7, 10, 1, orthogonal_tree)) / log(1e3);
    CHECK_CLOSE(slope, -1.0 / 3.0, 0.03);
}

/* Orders of section 5 and 6: private terms d^(3/2) or d over rho delta eps^2;
 * naive d^(3/2) or d over rho delta eps^3. */
static void test_complexity_has_the_published_orders(void)
{
    zo_problem problem = { .records = 1, .dim = 9, .rho = 0.5, .lipschitz = 1, .gap = 2, .radius = 0.1 };
    double learning, privacy;

    zo_complexity(&problem, iid_tree, 0.2, &learning, &privacy);
    CHECK_CLOSE(learning, 2.0 * 9.0 / (0.1 * 0.008), 1e-8);
    CHECK_CLOSE(privacy, 2.0 * 27.0 / (0.5 * 0.1 * 0.04), 1e-8);
    CHECK_CLOSE(privacy / learning, sqrt(9.0) * 0.2 / 0.5, 1e-12); /* free when rho >= sqrt(d) eps */
    zo_complexity(&problem, orthogonal_sqrt, 0.2, &learning, &privacy);
    CHECK_CLOSE(privacy, 2.0 * 9.0 / (0.5 * 0.1 * 0.04), 1e-8);
    zo_complexity(&problem, naive_one, 0.2, &learning, &privacy);
    CHECK_CLOSE(learning, 2.0 * 9.0 / (0.1 * 0.008), 1e-8);
    CHECK_CLOSE(privacy, 2.0 * 27.0 / (0.5 * 0.1 * 0.008), 1e-8);
    zo_complexity(&problem, naive_orthogonal, 0.2, &learning, &privacy);
    CHECK_CLOSE(learning, 2.0 / (0.1 * 0.008), 1e-8);
    CHECK_CLOSE(privacy, 2.0 * 9.0 / (0.5 * 0.1 * 0.008), 1e-8);
    problem.rho = INFINITY;
    zo_complexity(&problem, iid_tree, 0.2, &learning, &privacy);
    CHECK(privacy == 0.0);
}

static void test_methods_are_listed_once(void)
{
    for (size_t i = 0; i < ZO_METHODS; i++) {
        for (size_t k = 0; k < i; k++) {
            const zo_method *a = &zo_methods[i], *b = &zo_methods[k];

            CHECK(a->oracle != b->oracle || a->directions != b->directions || a->sum != b->sum);
        }
    }
}

int main(void)
{
    test_trees_have_the_mean_variance_of_their_prefixes();
    test_mean_factors_are_the_published_ones();
    test_long_square_roots_go_on_where_sums_end();
    test_calibration_is_the_published_one();
    test_end_to_end_noise_is_the_published_one();
    test_plans_are_the_published_ones();
    test_bounds_of_all_methods_are_the_published_ones();
    test_noise_that_was_seen_and_noise_of_the_mean_are_those_of_matrices();
    test_errors_that_were_seen_and_errors_of_the_mean_count_once();
    test_the_bounds_that_are_used_are_below_the_published_ones();
    test_naive_choices_are_evaluated_by_their_formulas();
    test_chains_are_evaluated_by_their_formulas();
    test_the_best_choice_keeps_what_is_given();
    test_a_search_without_a_choice_says_so();
    test_no_choice_uses_more_records_than_there_are();
    test_records_are_named_for_a_wanted_bound();
    test_complexity_has_the_published_orders();
    test_methods_are_listed_once();
    return check_summary();
}
