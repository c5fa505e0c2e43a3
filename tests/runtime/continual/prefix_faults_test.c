/* prefix_faults_test.c -- the faults that an audit of prefix sums must find: here with what each does to the numbers,
 * so that a check which did not notice would be a check that cannot fail.
 *   node_redrawn      every prefix draws its nodes anew: averages of releases lose the noise
 *   node_skipped      only the last node of a prefix has noise
 *   leaf_sensitivity  sigma for half of what a leaf moves
 *   participates_once sigma for a record in one leaf, of a matrix and a record in several
 * Seeds are fixed; |z| > 6 for a true law has a probability of 2e-9.
 * Depends on: check.h, prefix_kit.h, continual/ (built here with its faults). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define PN_MUTANTS
#include "continual/binary_push.c"
#include "continual/participation.c"
#include "continual/prefix_design.c"

#include "runtime/continual/prefix_kit.h"

enum { DIM = 4000, LEAVES = 16 };

static double out[(LEAVES + 1) * DIM];

/* How far the mean square of N_t - N_s is from `variance`, in standard deviations of such a mean. */
static double off(size_t t, size_t s, double variance)
{
    double sum = 0.0;

    for (size_t j = 0; j < DIM; j++) {
        double noise = out[t * DIM + j] - out[s * DIM + j];

        sum += noise * noise / variance;
    }
    return fabs(sum - DIM) / sqrt(2.0 * DIM);
}

static void run(void)
{
    pn_prefix_design *design = design_of(unit_noise(DIM, 17)); /* nodes of 16 leaves */
    pn_prefix *stream = stream_of(design, 31);

    push_zeros(stream, LEAVES, DIM, out + DIM);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* N_5 - N_4 is the noise of leaf 5; N_7 has three nodes. */
static void sees(const char *fault, bool redrawn, bool skipped)
{
    if (fault)
        CHECK(setenv("PENUMBRA_MUTANT", fault, 1) == 0);
    run();
    CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    CHECK((off(5, 4, 1.0) > 6.0) == (redrawn || skipped));
    CHECK((off(7, 0, 3.0) > 6.0) == skipped);
    CHECK(off(16, 0, 1.0) < 6.0);
}

/* The shift of one leaf in all nodes, over their noise, against what the event says. */
static void sees_half_a_sensitivity(const char *fault, bool wrong)
{
    pn_prefix_options options = unit_noise(1, 16);
    pn_prefix_design *design;
    double moved;

    options.keep_root = true;
    options.sigma = 0.0;
    options.rho = 0.5;
    if (fault)
        CHECK(setenv("PENUMBRA_MUTANT", fault, 1) == 0);
    design = design_of(options);
    CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    moved = sqrt(5.0) / pn_prefix_design_sigma(design); /* the first leaf is in 5 nodes */
    CHECK((moved * moved / 2.0 > 0.5) == wrong);
    pn_prefix_design_free(design);
}

/* A record in leaves 1, 3 and 5 moves C r by the norm of the sum of its columns, which is (1, 2, 2, 3, 3). */
static void sees_a_record_in_one_leaf_only(const char *fault, bool wrong)
{
    double C[25] = { 1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 1, 1, 0, 1, 0, 1, 1, 1 };
    pn_prefix_options options = unit_noise(1, 5);
    pn_prefix_design *design;
    double moved;

    options.factorization = "matrix";
    options.matrix = (pn_mat){ C, 5, 5 };
    options.participations = 3;
    options.separation = 2;
    options.sigma = 0.0;
    options.rho = 0.5;
    if (fault)
        CHECK(setenv("PENUMBRA_MUTANT", fault, 1) == 0);
    design = design_of(options);
    CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    moved = sqrt(1 + 4 + 4 + 9 + 9) / pn_prefix_design_sigma(design);
    CHECK((moved * moved / 2.0 > 0.5) == wrong);
    pn_prefix_design_free(design);
}

int main(void)
{
    sees(NULL, false, false);
    sees("node_redrawn", true, false);
    sees("node_skipped", false, true);
    sees_half_a_sensitivity(NULL, false);
    sees_half_a_sensitivity("leaf_sensitivity", true);
    sees_a_record_in_one_leaf_only(NULL, false);
    sees_a_record_in_one_leaf_only("leaf_sensitivity", true);
    sees_a_record_in_one_leaf_only("participates_once", true);
    return check_summary();
}
