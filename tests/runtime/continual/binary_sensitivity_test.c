/* binary_sensitivity_test.c -- what one record moves in all measurements of a tree together, against an adversary who
 * tries every leaf and every set of leaves: never more than is charged, and as much somewhere.
 * Depends on: check.h, prefix_kit.h, continual/. */
#include "continual/binary_prefix.h"

#include "runtime/continual/prefix_kit.h"

enum { LONGEST = 32 };

/* ---- one leaf ---- */

/* Sum over the measurements of (shift / noise)^2 between two runs with the same noise whose leaves `where` differ by
 * `shift`.  Plain releases are their nodes: the one that ends at t is the difference of two. */
static double moved_squared(pn_prefix_design *design, size_t leaves, size_t where, double shift)
{
    pn_prefix *one = stream_of(design, 5), *two = stream_of(design, 5);
    double out[2][LONGEST + 1] = { { 0.0 } }, sum = 0.0;

    for (size_t t = 1; t <= leaves; t++) {
        double leaf = 0.3 * (double)t, other = t == where ? leaf + shift : leaf;

        CHECK(pn_prefix_push(one, &leaf, &out[0][t], NULL, NULL) == PN_OK);
        CHECK(pn_prefix_push(two, &other, &out[1][t], NULL, NULL) == PN_OK);
    }
    for (size_t t = 1; t <= leaves; t++) {
        bool halves = binary_halves((const binary_tree *)design->method, t);
        size_t rest = halves ? t / 2 : t & (t - 1);
        double variance =
            pn_prefix_design_variance(design, t) - (rest > 0 ? pn_prefix_design_variance(design, rest) : 0.0);
        double moved = (out[1][t] - out[0][t]) - (out[1][rest] - out[0][rest]);

        sum += moved * moved / variance;
    }
    pn_prefix_free(one);
    pn_prefix_free(two);
    return sum;
}

static void no_leaf_moves_more_than_is_charged_and_one_moves_as_much(void)
{
    for (size_t horizon = 1; horizon <= LONGEST; horizon++) {
        for (int root = 0; root <= 1; root++) {
            pn_prefix_options options = unit_noise(1, horizon);
            pn_prefix_design *design;
            double worst = 0.0, mu;

            options.sigma = 3.0;
            options.bound = 100.0;
            options.sensitivity = 0.7;
            options.keep_root =
                root == 1 && (horizon & (horizon - 1)) == 0; /* else its node is not measured unless completed */
            design = design_of(options);
            mu = pn_prefix_design_mu(design);
            for (size_t where = 1; where <= horizon; where++)
                worst = fmax(worst, moved_squared(design, horizon, where, 0.7));
            CHECK(worst <= mu * mu);
            CHECK(worst >= mu * mu * (1.0 - 1e-9));
            CHECK_CLOSE(mu, 0.7 * pn_prefix_gain(design) / 3.0, 1e-11);
            pn_prefix_design_free(design);
        }
    }
}

static void unequal_leaves_move_no_more_than_is_charged(void)
{
    static const double sensitivities[16] = { 1, 2, .5, 3, .1, .1, .1, .2, 1.7, 1, .25, 1, 1, 1, 1, 2 };

    for (size_t horizon = 1; horizon <= 16; horizon++) {
        pn_prefix_options options = unit_noise(1, horizon);
        pn_prefix_design *design, *equal;
        double worst = 0.0, mu;

        options.sensitivity = 0.0;
        options.sensitivities = sensitivities;
        options.bound = 100.0;
        equal = design_of(options);
        options.scale = PN_PREFIX_BY_NODE;
        design = design_of(options);
        mu = pn_prefix_design_mu(design);
        for (size_t where = 1; where <= horizon; where++)
            worst = fmax(worst, moved_squared(design, horizon, where, sensitivities[where - 1]));
        CHECK(worst <= mu * mu);
        CHECK(mu <= pn_prefix_design_mu(equal) * 1.001); /* noise is rounded up to 1/1024 of the least */
        CHECK_CLOSE(pn_prefix_design_mu(equal),
                    (horizon < 2   ? 1.0
                     : horizon < 4 ? 2.0
                                   : 3.0) *
                        pn_prefix_gain(equal),
                    1e-10);
        pn_prefix_design_free(design);
        pn_prefix_design_free(equal);
    }
}

/* Rounding moves every coordinate by up to a step in every node that holds a leaf, and with nodes of unequal noise
 * twice; for leaves whose bound is next to nothing that is sqrt(h dim) 2^-40 standard deviations. */
static void rounding_is_charged_in_every_node(void)
{
    double equal[100];
    const double rounding = sqrt(7.0 * 1e8) * 0x1p-40;
    pn_prefix_options options = unit_noise(100000000, 100);
    pn_prefix_design *design;

    for (size_t t = 0; t < 100; t++)
        equal[t] = 1.0;
    options.bound = 1e-3;
    design = design_of(options);
    CHECK_CLOSE((pn_prefix_design_mu(design) - sqrt(7.0)) / rounding, 1.0, 1e-3);
    pn_prefix_design_free(design);
    options.sensitivity = 0.0;
    options.sensitivities = equal;
    options.scale = PN_PREFIX_BY_NODE;
    design = design_of(options);
    CHECK_CLOSE((pn_prefix_design_mu(design) - sqrt(7.0)) / rounding, 2.0, 1e-3);
    pn_prefix_design_free(design);
}

/* ---- several ---- */

static uint64_t nodes_of(size_t horizon, unsigned levels, uint32_t leaves, unsigned level)
{
    uint64_t sum = 0;

    (void)levels;
    for (size_t j = 0; (j + 1) << level <= horizon; j++) {
        uint32_t block = (uint32_t)(((UINT64_C(1) << (1U << level)) - 1) << (j << level));
        uint64_t held = (uint64_t)__builtin_popcount(leaves & block);

        sum += held * held;
    }
    return sum;
}

static bool allowed(uint32_t leaves, size_t q, size_t b)
{
    int last = -1;

    if ((size_t)__builtin_popcount(leaves) > q)
        return false;
    for (int t = 0; t < 32; t++) {
        if (leaves >> t & 1) {
            if (last >= 0 && t - last < (int)b)
                return false;
            last = t;
        }
    }
    return true;
}

static double worst_set(size_t horizon, unsigned levels, size_t q, size_t b)
{
    uint64_t worst = 0;

    for (uint32_t leaves = 1; leaves < UINT32_C(1) << horizon; leaves++) {
        uint64_t sum = 0;

        if (!allowed(leaves, q, b))
            continue;
        for (unsigned level = 0; level < levels; level++)
            sum += nodes_of(horizon, levels, leaves, level);
        worst = sum > worst ? sum : worst;
    }
    return (double)worst;
}

static void no_set_of_leaves_moves_more_than_is_charged(void)
{
    size_t attained = 0, all = 0;
    double loosest = 1.0;

    for (size_t horizon = 1; horizon <= 13; horizon++) {
        for (size_t q = 2; q <= 4; q++) {
            for (size_t b = 1; b <= 6; b++) {
                pn_prefix_options options = unit_noise(1, horizon);
                pn_prefix_design *design;
                double worst, charged;

                options.participations = q;
                options.separation = b;
                design = design_of(options);
                worst = worst_set(horizon, ((const binary_tree *)design->method)->levels, q, b);
                charged = pn_prefix_gain(design) * pn_prefix_gain(design);
                CHECK(worst <= charged * (1.0 + 1e-12));
                loosest = fmax(loosest, charged / worst);
                attained += charged <= worst * (1.0 + 1e-12);
                all++;
                CHECK(pn_prefix_design_mu(design) >= pn_prefix_gain(design));
                pn_prefix_design_free(design);
            }
        }
    }
    CHECK(attained * 2 > all);
    CHECK(loosest <= 1.5);
}

int main(void)
{
    no_leaf_moves_more_than_is_charged_and_one_moves_as_much();
    unequal_leaves_move_no_more_than_is_charged();
    rounding_is_charged_in_every_node();
    no_set_of_leaves_moves_more_than_is_charged();
    return check_summary();
}
