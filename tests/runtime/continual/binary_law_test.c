/* binary_law_test.c -- that the noise that is drawn has the variance that is promised, for every prefix of every kind
 * of tree, and that it comes on top of the true sums.
 * Each check of a variance: N = 40000 independent numbers, (sum of squares / variance - N) / sqrt(2 N) is within 6.2,
 * which a true law exceeds with probability 3e-9 (chi^2, also with the skewness of N = 40000), all checks of this file
 * together below 1e-6; noise with a sigma 1.1 times too large or small is off by 28 of these.
 * Depends on: check.h, prefix_kit.h, continual/. */
#include "runtime/continual/prefix_kit.h"

enum { DIM = 1000, SEEDS = 40, MOST = 40, N = DIM * SEEDS };

static double squares[MOST + 1];
static double rows[(MOST + 1) * DIM];

/* Sums of squares of N_t over all seeds and coordinates; leaves of zero. */
static void gather(pn_prefix_design *design, size_t leaves, bool after)
{
    memset(squares, 0, sizeof squares);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pn_prefix *stream = stream_of(design, 1000 + seed);

        push_zeros(stream, leaves, DIM, rows);
        if (after)
            CHECK(pn_prefix_all(stream, rows, NULL, NULL) == PN_OK);
        for (size_t t = 1; t <= leaves; t++) {
            for (size_t j = 0; j < DIM; j++)
                squares[t] += rows[(t - 1) * DIM + j] * rows[(t - 1) * DIM + j];
        }
        pn_prefix_free(stream);
    }
}

static void check_square(double sum, double variance)
{
    CHECK(fabs(sum / variance - N) <= 6.2 * sqrt(2.0 * N));
}

static void has_its_law(pn_prefix_options options, size_t leaves)
{
    pn_prefix_design *design = design_of(options);

    gather(design, leaves, options.estimator == PN_PREFIX_FULL);
    for (size_t t = 1; t <= leaves; t++)
        check_square(squares[t], pn_prefix_design_variance(design, t));
    pn_prefix_design_free(design);
}

static void every_prefix_has_the_variance_that_is_promised(void)
{
    for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_FULL; estimator++) {
        pn_prefix_options options = unit_noise(DIM, 16);

        options.estimator = (pn_prefix_estimator)estimator;
        has_its_law(options, 16); /* without a root but for full */
        options.keep_root = true;
        has_its_law(options, 16);
        options.horizon = 8;
        has_its_law(options, 8);
        if (estimator != PN_PREFIX_FULL) {
            options.horizon = 13;
            options.keep_root = false;
            has_its_law(options, 13);
        }
    }
}

static void unequal_nodes_have_the_variance_that_is_promised(void)
{
    static const double sensitivities[11] = { 1, 2, .5, 3, .1, .1, .1, .2, 1.7, 1, .25 };
    pn_prefix_options options = unit_noise(DIM, 11);

    options.sensitivity = 0.0;
    options.sensitivities = sensitivities;
    options.scale = PN_PREFIX_BY_NODE;
    has_its_law(options, 11);
    options.estimator = PN_PREFIX_HONAKER;
    has_its_law(options, 11);
    options.horizon = 8; /* without its root */
    has_its_law(options, 8);
    options.keep_root = true;
    has_its_law(options, 8);
}

static void streams_without_a_horizon_have_the_variance_that_is_promised(void)
{
    for (int growth = PN_PREFIX_DOUBLING; growth <= PN_PREFIX_ENDLESS; growth++) {
        for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_HONAKER; estimator++) {
            pn_prefix_options options = unit_noise(DIM, 0);

            options.growth = (pn_prefix_growth)growth;
            options.estimator = (pn_prefix_estimator)estimator;
            has_its_law(options, 33);
        }
    }
}

static void completes(pn_prefix_options options, size_t leaves)
{
    pn_prefix_design *design = design_of(options);
    double sum = 0.0, variance = 0.0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pn_prefix *stream = stream_of(design, 1000 + seed);

        push_zeros(stream, leaves, DIM, NULL);
        CHECK(pn_prefix_complete(stream, rows, &variance, NULL, NULL) == PN_OK);
        for (size_t j = 0; j < DIM; j++)
            sum += rows[j] * rows[j];
        pn_prefix_free(stream);
    }
    check_square(sum, variance);
    CHECK(variance <= pn_prefix_design_variance(design, leaves) * (1.0 + 1e-12));
    if (options.horizon > 0 && options.scale == PN_PREFIX_EQUAL && options.estimator == PN_PREFIX_PLAIN)
        CHECK(variance == 1.0);
    pn_prefix_design_free(design);
}

static void a_completed_stream_has_the_variance_that_is_promised(void)
{
    static const double sensitivities[16] = { 1, 2, .5, 3, .1, .1, .1, .2, 1.7, 1, .25, 1, 1, 1, 1, 2 };

    for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_HONAKER; estimator++) {
        pn_prefix_options options = unit_noise(DIM, 13);

        options.estimator = (pn_prefix_estimator)estimator;
        options.keep_root = true;
        for (size_t leaves = 1; leaves <= 13; leaves++)
            completes(options, leaves);
        options.horizon = 0;
        completes(options, 13);
        options.horizon = 16;
        options.scale = PN_PREFIX_BY_NODE;
        options.sensitivity = 0.0;
        options.sensitivities = sensitivities;
        if (estimator == PN_PREFIX_HONAKER)
            completes(options, 11);
    }
}

/* N_5 and N_7 share the block of the first four leaves: correlation 1/sqrt(2 * 3) = .408.  The sum of 40000 products of
 * unit normals with correlation c has the variance 40000 (1 + c^2). */
static void prefixes_that_share_a_block_are_correlated(void)
{
    pn_prefix_design *design = design_of(unit_noise(DIM, 7));
    const double c = 1.0 / sqrt(6.0);
    double sum = 0.0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pn_prefix *stream = stream_of(design, seed);

        push_zeros(stream, 7, DIM, rows);
        for (size_t j = 0; j < DIM; j++)
            sum += rows[4 * DIM + j] * rows[6 * DIM + j] / sqrt(6.0);
        pn_prefix_free(stream);
    }
    CHECK(fabs(sum - N * c) <= 5.5 * sqrt(N * (1.0 + c * c)));
    pn_prefix_design_free(design);
}

/* The same noise on leaves of zero and on others: the difference is the true sum. */
static void adds_its_noise_to_the_true_sums(pn_prefix_options options, size_t leaves)
{
    static double zero[(MOST + 1) * DIM], leaf[DIM], sum[DIM];
    pn_prefix_design *design = design_of(options);
    pn_prefix *still = stream_of(design, 3), *moving = stream_of(design, 3);
    bool all = options.estimator == PN_PREFIX_FULL;
    double worst = 0.0;

    memset(sum, 0, sizeof sum);
    push_zeros(still, leaves, DIM, zero);
    for (size_t t = 1; t <= leaves; t++) {
        for (size_t j = 0; j < DIM; j++)
            leaf[j] = (j % 7 == 0 ? 1e5 : 1.0) * sin((double)(t * DIM + j));
        CHECK(pn_prefix_push(moving, leaf, rows + (t - 1) * DIM, NULL, NULL) == PN_OK);
    }
    if (all)
        CHECK(pn_prefix_all(still, zero, NULL, NULL) == PN_OK && pn_prefix_all(moving, rows, NULL, NULL) == PN_OK);
    for (size_t t = 1; t <= leaves; t++) {
        for (size_t j = 0; j < DIM; j++) {
            sum[j] += (j % 7 == 0 ? 1e5 : 1.0) * sin((double)(t * DIM + j));
            worst = fmax(worst, fabs(rows[(t - 1) * DIM + j] - zero[(t - 1) * DIM + j] - sum[j]));
        }
    }
    CHECK(worst <= 5e-9); /* sums of up to 4e6 in doubles */
    pn_prefix_free(still);
    pn_prefix_free(moving);
    pn_prefix_design_free(design);
}

static void every_kind_of_tree_sums(void)
{
    static const double sensitivities[16] = { 1, 2, .5, 3, .1, .1, .1, .2, 1.7, 1, .25, 1, 1, 1, 1, 2 };

    for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_FULL; estimator++) {
        pn_prefix_options options = unit_noise(DIM, 16);

        options.estimator = (pn_prefix_estimator)estimator;
        adds_its_noise_to_the_true_sums(options, 16);
        if (estimator == PN_PREFIX_FULL)
            continue;
        options.horizon = 0;
        adds_its_noise_to_the_true_sums(options, MOST);
        options.growth = PN_PREFIX_ENDLESS;
        adds_its_noise_to_the_true_sums(options, MOST);
        options.growth = PN_PREFIX_DOUBLING;
        options.horizon = 16;
        options.scale = PN_PREFIX_BY_NODE;
        options.sensitivity = 0.0;
        options.sensitivities = sensitivities;
        adds_its_noise_to_the_true_sums(options, 16);
    }
}

int main(void)
{
    every_prefix_has_the_variance_that_is_promised();
    unequal_nodes_have_the_variance_that_is_promised();
    streams_without_a_horizon_have_the_variance_that_is_promised();
    a_completed_stream_has_the_variance_that_is_promised();
    prefixes_that_share_a_block_are_correlated();
    every_kind_of_tree_sums();
    return check_summary();
}
