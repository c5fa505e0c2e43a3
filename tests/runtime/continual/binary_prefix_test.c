/* binary_prefix_test.c -- the binary tree: which nodes make a prefix, what it varies by,
 * and that the noise that is drawn has that
 * variance.  Numbers are those of tree-mechanism.md, section 9 and the table of section 7.
 * Seeds are fixed; a true law fails each statistical check with probability below 1e-6.
 * Depends on: check.h, prefix_kit.h, continual/. */
#include <string.h>

#include "runtime/continual/prefix_kit.h"

/* ---- variances ---- */

static void knows_the_variance_of_every_prefix_at_unit_node_noise(void)
{
    static const double plain[16] = { 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 1 };
    static const double honaker[16] = { 1,      .6667, 1.6667, .5714,  1.5714, 1.2381, 2.2381, .5333,
                                        1.5333, 1.2,   2.2,    1.1048, 2.1048, 1.7714, 2.7714, .5161 };
    static const double full[16] = { .6074, .4295, .7997,  .3846, .8986,  .6273, .9041,  .3957,
                                     .9687, .7564, 1.0922, .6427, 1.1223, .8166, 1.0590, .5161 };
    const double *const tables[] = { plain, honaker, full };

    for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_FULL; estimator++) {
        pn_prefix_options options = unit_noise(1, 16);
        pn_prefix_design *design;
        double all[16];

        options.estimator = (pn_prefix_estimator)estimator;
        options.keep_root = true;
        design = design_of(options);
        pn_prefix_variances(design, 16, all);
        for (size_t t = 1; t <= 16; t++) {
            CHECK_CLOSE(pn_prefix_design_variance(design, t), tables[estimator][t - 1], 5e-5);
            CHECK_CLOSE(all[t - 1], pn_prefix_design_variance(design, t), 1e-14);
        }
        CHECK(isnan(pn_prefix_design_variance(design, 0)) && isnan(pn_prefix_design_variance(design, 17)));
        pn_prefix_design_free(design);
    }
}

typedef struct factor_row {
    size_t horizon;
    pn_prefix_estimator estimator;
    double most, mean;
} factor_row;

/* Var rho^2/s^2 in the article's rho: here mu = 1 and s = 1. */
static void has_the_factors_of_the_comparison(void)
{
    static const factor_row rows[] = {
        { 8, PN_PREFIX_PLAIN, 9, 5.25 },
        { 8, PN_PREFIX_HONAKER, 6.7143, 3.7857 },
        { 8, PN_PREFIX_FULL, 4.0381, 2.7429 },
        { 16, PN_PREFIX_PLAIN, 16, 8.5 },
        { 16, PN_PREFIX_HONAKER, 11.0857, 5.8095 },
        { 16, PN_PREFIX_FULL, 5.6114, 3.7565 },
        { 256, PN_PREFIX_PLAIN, 64, 32.0625 },
        { 256, PN_PREFIX_HONAKER, 38.4111, 19.2369 },
        { 256, PN_PREFIX_FULL, 14.1160, 9.6239 },
        { 1024, PN_PREFIX_PLAIN, 100, 50.0195 },
        { 1024, PN_PREFIX_HONAKER, 58.0286, 29.0241 },
        { 1024, PN_PREFIX_FULL, 19.6986, 13.5878 },
        { 16384, PN_PREFIX_PLAIN, 196, 98.0017 },
        { 16384, PN_PREFIX_HONAKER, 109.2464, 54.6241 },
    };
    static double all[16384];

    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        pn_prefix_options options = unit_noise(1, rows[r].horizon);
        pn_prefix_design *design;
        double most = 0.0, sum = 0.0;

        options.sigma = 0.0;
        options.rho = 0.5;
        options.estimator = rows[r].estimator;
        design = design_of(options);
        pn_prefix_variances(design, rows[r].horizon, all);
        for (size_t t = 0; t < rows[r].horizon; t++) {
            most = fmax(most, all[t]);
            sum += all[t];
        }
        CHECK_CLOSE(most, rows[r].most, 6e-5);
        CHECK_CLOSE(sum / (double)rows[r].horizon, rows[r].mean, 6e-5);
        pn_prefix_design_free(design);
    }
}

static void calibrates_a_hundred_leaves_as_the_article_does(void)
{
    pn_prefix_options options = unit_noise(1, 100);
    pn_prefix_design *design;
    double worst = 0.0;
    size_t where = 0;

    options.sigma = 0.0;
    options.rho = 0.5;
    design = design_of(options);
    CHECK_CLOSE(pn_prefix_gain(design), sqrt(7.0), 1e-15);
    CHECK_CLOSE(pn_prefix_design_sigma(design), 2.6458, 5e-5);
    for (size_t t = 1; t <= 100; t++) {
        if (pn_prefix_design_variance(design, t) > worst) {
            worst = pn_prefix_design_variance(design, t);
            where = t;
        }
    }
    CHECK(where == 63);
    CHECK_CLOSE(sqrt(worst), 6.4807, 5e-5);
    CHECK_CLOSE(pn_prefix_design_variance(design, 95), worst, 1e-12);
    pn_prefix_design_free(design);
}

/* ---- nodes ---- */

/* With leaves of zero a release is its noise.  Differences of releases are single nodes, drawn once. */
static void uses_each_node_again_in_every_prefix_that_holds_it(void)
{
    enum { DIM = 9, LEAVES = 100 };
    static double out[LEAVES + 1][DIM];
    pn_prefix_design *design = design_of(unit_noise(DIM, LEAVES));
    pn_prefix *stream = stream_of(design, 11);

    push_zeros(stream, LEAVES, DIM, out[1]);
    for (size_t t = 1; t <= LEAVES; t++) { /* N_t = N_(t without its lowest bit) + the node that ends at t */
        size_t low = t & (~t + 1), level = (size_t)__builtin_ctzll(t), rest = t - low;

        for (size_t j = 0; j < DIM; j++)
            CHECK_CLOSE(out[t][j] - out[rest][j], node_noise(stream, level, t >> level, j), 1e-11);
    }
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* Item 1 and 3 of the spec's list, node by node. */
static void sums_the_nodes_of_the_spec(void)
{
    enum { LEAVES = 100 };
    static const struct {
        size_t t, count;
        struct {
            unsigned level, index;
        } nodes[3];
    } lists[] = {
        { 7, 3, { { 2, 1 }, { 1, 3 }, { 0, 7 } } },    /* [1,4] [5,6] [7,7] */
        { 6, 2, { { 2, 1 }, { 1, 3 } } },              /* [1,4] [5,6] */
        { 8, 1, { { 3, 1 } } },                        /* [1,8] */
        { 100, 3, { { 6, 1 }, { 5, 3 }, { 2, 25 } } }, /* [1,64] [65,96] [97,100] */
    };
    static double out[LEAVES + 1];
    pn_prefix_design *design = design_of(unit_noise(1, LEAVES));
    pn_prefix *stream = stream_of(design, 2);

    push_zeros(stream, LEAVES, 1, out + 1);
    for (size_t i = 0; i < 4; i++) {
        double sum = 0.0;

        for (size_t v = 0; v < lists[i].count; v++)
            sum += node_noise(stream, lists[i].nodes[v].level, lists[i].nodes[v].index, 0);
        CHECK_CLOSE(out[lists[i].t], sum, 1e-11);
    }
    CHECK_CLOSE(out[5] - out[4], node_noise(stream, 0, 5, 0), 1e-11);
    CHECK_CLOSE(out[12] - out[8], node_noise(stream, 2, 3, 0), 1e-11);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* Weights 1, 2/3, 4/7 on a node's own measurement: releases of zeros, by hand, up to four leaves. */
static void joins_a_node_with_its_children_by_inverse_variance(void)
{
    pn_prefix_options options = unit_noise(1, 5);
    pn_prefix_design *design;
    pn_prefix *stream;
    double out[5], z[3][5], left, right;

    options.estimator = PN_PREFIX_HONAKER;
    design = design_of(options);
    stream = stream_of(design, 8);
    push_zeros(stream, 5, 1, out);
    for (unsigned level = 0; level < 3; level++) {
        for (unsigned index = 1; index <= 5U >> level; index++)
            z[level][index - 1] = node_noise(stream, level, index, 0);
    }
    left = 2.0 / 3.0 * z[1][0] + (z[0][0] + z[0][1]) / 3.0;
    right = 2.0 / 3.0 * z[1][1] + (z[0][2] + z[0][3]) / 3.0;
    CHECK_CLOSE(out[0], z[0][0], 1e-12);
    CHECK_CLOSE(out[1], left, 1e-12);
    CHECK_CLOSE(out[2], left + z[0][2], 1e-12);
    CHECK_CLOSE(out[3], 4.0 / 7.0 * z[2][0] + 3.0 / 7.0 * (left + right), 1e-12);
    CHECK_CLOSE(out[4], out[3] + z[0][4], 1e-12);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

int main(void)
{
    sums_the_nodes_of_the_spec();
    joins_a_node_with_its_children_by_inverse_variance();
    knows_the_variance_of_every_prefix_at_unit_node_noise();
    has_the_factors_of_the_comparison();
    calibrates_a_hundred_leaves_as_the_article_does();
    uses_each_node_again_in_every_prefix_that_holds_it();
    return check_summary();
}
