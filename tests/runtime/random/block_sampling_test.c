/* block_sampling_test.c -- samplings of blocks: what they draw, how often, and lambda'(P) against LAPACK.
 * Frequencies: 1e5 draws; a check fails when it is more than 6.2 standard errors off, which a true law does with
 * probability 5.7e-10, and there are fewer than 1500 checks: false alarm below 1e-6.  A standard error is at most
 * 0.0016: an inclusion that is off by 0.015 is found with probability above 0.999. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numeric/lapack.h"
#include "random/block_sampling.h"
#include "random/sample.h"

enum { MOST = 12, DRAWS = 100000 };
#define Z_MANY 6.2

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_block_sampling *grouped(const char *name, size_t blocks, size_t groups, size_t tau, const double *sizes)
{
    bool distributed = strcmp(name, "distributed") == 0;
    pn_arg args[4] = { { .given = true, .count = blocks },
                       { .given = true, .count = distributed ? groups : tau },
                       { .given = true, .count = tau },
                       { .given = sizes != NULL, .vector = { (double *)(size_t)sizes, groups } } };
    pn_block_sampling *out = NULL;

    CHECK(pn_block_sampling_new(&out, name, args, NULL) == PN_OK);
    return out;
}

static pn_block_sampling *serial(size_t blocks, const double *p)
{
    pn_arg args[2] = { { .given = true, .count = blocks },
                       { .given = p != NULL, .vector = { (double *)(size_t)p, blocks } } };
    pn_block_sampling *out = NULL;

    CHECK(pn_block_sampling_new(&out, "serial", args, NULL) == PN_OK);
    return out;
}

/* A coin for each block: P_ij = p_i p_j. */
static pn_status toss(void *self, pn_rng *rng, size_t *indices, size_t *count, size_t blocks, pn_err *err)
{
    const double *p = self;

    (void)err;
    *count = 0;
    for (size_t i = blocks; i-- > 0;) { /* falling: to be sorted */
        if (pn_rng_uniform(rng) < p[i])
            indices[(*count)++] = i;
    }
    return PN_OK;
}

static const double coins[4] = { 0.9, 0.25, 0.5, 0.05 };

static pn_block_sampling *independent(bool with_pairs)
{
    const pn_block_draw draw = { .self = (void *)(size_t)coins, .draw = toss };
    pn_block_sampling *out = NULL;
    double pairs[16];

    for (size_t k = 0; k < 16; k++)
        pairs[k] = k / 4 == k % 4 ? coins[k / 4] : coins[k / 4] * coins[k % 4];
    CHECK(pn_block_sampling_custom(&out, 4, coins, with_pairs ? pairs : NULL, &draw, NULL) == PN_OK);
    return out;
}

/* ---- what is drawn ---- */

static bool frequency_fits(double hits, double p)
{
    return fabs(hits - DRAWS * p) <= Z_MANY * sqrt(DRAWS * p * (1.0 - p));
}

static void frequencies_are_those_declared(const pn_block_sampling *sampling, uint64_t seed)
{
    static double hits[MOST][MOST];
    size_t d = sampling->blocks, indices[MOST], count;
    double sizes = 0.0, p_sum = 0.0;
    pn_rng *rng = seeded(seed);
    bool in_order = true;

    memset(hits, 0, sizeof hits);
    for (int run = 0; run < DRAWS; run++) {
        CHECK(pn_block_sampling_draw(sampling, rng, indices, &count, NULL) == PN_OK);
        for (size_t a = 0; a < count; a++) {
            in_order = in_order && indices[a] < d && (a == 0 || indices[a] > indices[a - 1]);
            for (size_t b = 0; b < count; b++)
                hits[indices[a]][indices[b]] += 1.0;
        }
        sizes += (double)count;
    }
    CHECK(in_order);
    for (size_t i = 0; i < d; i++) {
        double p = sampling->ops->inclusion(sampling, i);

        p_sum += p;
        CHECK(p >= sampling->least * (1.0 - 1e-15));
        CHECK(sampling->ops->pair(sampling, i, i) == p);
        for (size_t j = 0; j < d; j++) {
            double pair = sampling->ops->pair(sampling, i, j);

            if (!isnan(pair))
                CHECK(frequency_fits(hits[i][j], pair));
        }
    }
    CHECK_CLOSE(p_sum, sampling->mean, 1e-12);
    CHECK_CLOSE(sizes / DRAWS, sampling->mean, Z_MANY * sqrt((double)d / DRAWS));
    pn_rng_free(rng);
}

static void every_sampling_draws_by_its_law(void)
{
    const double p[5] = { 0.5, 0.2, 0.15, 0.1, 0.05 }, sizes[3] = { 2, 3, 5 };
    pn_block_sampling *all[] = { grouped("full", 7, 1, 7, NULL),
                                 grouped("nice", 9, 1, 4, NULL),
                                 grouped("nice", 6, 1, 6, NULL),
                                 grouped("nice", 1, 1, 1, NULL),
                                 grouped("distributed", 12, 3, 2, NULL),
                                 grouped("distributed", 11, 3, 2, NULL),
                                 grouped("distributed", 10, 3, 2, sizes),
                                 serial(8, NULL),
                                 serial(5, p),
                                 independent(true),
                                 independent(false) };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        frequencies_are_those_declared(all[k], 100 + k);
        pn_block_sampling_free(all[k]);
    }
}

static void the_table_of_the_spec_holds(void)
{
    pn_block_sampling *nice = grouped("nice", 6, 1, 2, NULL), *far = grouped("distributed", 6, 2, 2, NULL);
    pn_block_sampling *uneven = grouped("distributed", 11, 3, 2, NULL);

    CHECK_CLOSE(nice->ops->pair(nice, 0, 5), 2.0 / 30.0, 1e-16);
    CHECK_CLOSE(far->ops->pair(far, 0, 2), 2.0 / 6.0, 1e-16);
    CHECK_CLOSE(far->ops->pair(far, 2, 3), 4.0 / 9.0, 1e-16);
    CHECK(far->least == 2.0 / 3.0 && far->mean == 4.0);
    CHECK(uneven->least == 0.5 && uneven->mean == 6.0); /* groups of 4, 4 and 3 */
    CHECK_CLOSE(uneven->ops->inclusion(uneven, 10), 2.0 / 3.0, 1e-16);
    pn_block_sampling_free(nice);
    pn_block_sampling_free(far);
    pn_block_sampling_free(uneven);
}

static void a_full_draw_needs_no_stream(void)
{
    pn_block_sampling *full = grouped("full", 3, 1, 3, NULL);
    size_t indices[3], count = 0;

    CHECK(pn_block_sampling_draw(full, NULL, indices, &count, NULL) == PN_OK);
    CHECK(count == 3 && indices[0] == 0 && indices[1] == 1 && indices[2] == 2);
    pn_block_sampling_free(full);
}

/* ---- lambda'(P) ---- */

static double top_by_lapack(const pn_block_sampling *sampling)
{
    size_t d = sampling->blocks;
    double matrix[MOST * MOST], values[MOST];

    for (size_t k = 0; k < d * d; k++)
        matrix[k] = sampling->ops->pair(sampling, k / d, k % d) /
                    sqrt(sampling->ops->inclusion(sampling, k / d) * sampling->ops->inclusion(sampling, k % d));
    CHECK(pn_eigen_symmetric(values, matrix, (pn_mat){ matrix, d, d }, NULL) == PN_OK);
    return values[d - 1];
}

static void tops_are_closed_forms(void)
{
    const double p[5] = { 0.5, 0.2, 0.15, 0.1, 0.05 }, sizes[3] = { 2, 3, 5 };
    pn_block_sampling *all[] = { grouped("full", 7, 1, 7, NULL),
                                 grouped("nice", 9, 1, 4, NULL),
                                 grouped("distributed", 12, 3, 2, NULL),
                                 grouped("distributed", 11, 3, 2, NULL),
                                 grouped("distributed", 10, 3, 2, sizes),
                                 serial(5, p),
                                 independent(true) };
    const double want[] = { 7, 4, 6, 6, 6, 1, 0 };
    pn_block_sampling *unknown = independent(false);

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double top = pn_block_sampling_top(all[k]);

        CHECK(top >= top_by_lapack(all[k]) - 1e-12);
        CHECK_CLOSE(top, top_by_lapack(all[k]), 1e-8);
        if (want[k] > 0.0)
            CHECK(top == want[k]);
        CHECK(pn_block_sampling_has_pairs(all[k]));
        pn_block_sampling_free(all[k]);
    }
    CHECK(pn_block_sampling_top(unknown) == 4.0);
    CHECK(!pn_block_sampling_has_pairs(unknown));
    pn_block_sampling_free(unknown);
}

/* ---- refusals ---- */

static pn_status refused(const char *name, pn_arg *args, const char *word)
{
    pn_block_sampling *out = NULL;
    pn_err err = { PN_OK, "" };
    pn_status status = pn_block_sampling_new(&out, name, args, &err);

    CHECK(out == NULL);
    if (!CHECK(strstr(err.message, word) != NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
    return status;
}

static void wrong_options_are_refused(void)
{
    double wrong_sum[2] = { 0.5, 0.6 }, zero[2] = { 1.0, 0.0 }, sizes[2] = { 1, 3 };
    pn_arg nice[2] = { { .given = true, .count = 3 }, { .given = true, .count = 4 } };
    pn_arg far[4] = { { .given = true, .count = 5 }, { .given = true, .count = 2 }, { .given = true, .count = 3 } };
    pn_arg sum[2] = { { .given = true, .count = 2 }, { .given = true, .vector = { wrong_sum, 2 } } };
    pn_arg none[2] = { { .given = true, .count = 2 }, { .given = true, .vector = { zero, 2 } } };
    pn_arg length[2] = { { .given = true, .count = 3 }, { .given = true, .vector = { wrong_sum, 2 } } };
    pn_arg huge[1] = { { .given = true, .count = (size_t)1 << 60 } };

    CHECK(refused("nice", nice, "tau must be at most the 3 blocks, got 4") == PN_EINVAL);
    CHECK(refused("distributed", far, "group 2") == PN_EINVAL); /* 3 and 2 blocks */
    far[1].count = 6;
    CHECK(refused("distributed", far, "groups must be at most") == PN_EINVAL);
    far[1].count = 2;
    far[3] = (pn_arg){ .given = true, .vector = { sizes, 2 } };
    CHECK(refused("distributed", far, "sum to the 5 blocks") == PN_EINVAL);
    CHECK(refused("serial", sum, "must sum to 1, got 1.1") == PN_EINVAL);
    CHECK(refused("serial", none, "entry 2") == PN_EINVAL);
    CHECK(refused("serial", length, "p has 2 entries, there are 3 blocks") == PN_EDIM);
    CHECK(refused("full", huge, "at most") == PN_EINVAL);
    CHECK(refused("half", huge, "pn_block_sampling_new: there is no sampling \"half\"; known are full, serial") ==
          PN_EUNSUPPORTED);
}

static pn_status custom_status(const double *p, const double *pairs, size_t blocks)
{
    const pn_block_draw draw = { .self = NULL, .draw = toss };
    pn_block_sampling *out = NULL;
    pn_status status = pn_block_sampling_custom(&out, blocks, p, pairs, &draw, NULL);

    pn_block_sampling_free(out);
    return status;
}

static void impossible_pairs_are_refused(void)
{
    const double half[3] = { 0.5, 0.5, 0.5 };
    const double good[9] = { 0.5, 0.1, 0.2, 0.1, 0.5, 0.3, 0.2, 0.3, 0.5 };
    double pairs[9];

    CHECK(custom_status(half, good, 3) == PN_OK);
    memcpy(pairs, good, sizeof pairs);
    pairs[1] = 0.2;
    CHECK(custom_status(half, pairs, 3) == PN_EINVAL); /* not symmetric */
    pairs[1] = pairs[3] = 0.6;
    CHECK(custom_status(half, pairs, 3) == PN_EINVAL); /* more than p */
    memcpy(pairs, good, sizeof pairs);
    pairs[4] = 0.4;
    CHECK(custom_status(half, pairs, 3) == PN_EINVAL); /* the diagonal */
    for (size_t k = 0; k < 9; k++)
        pairs[k] = k % 4 == 0 ? 0.5 : k == 1 || k == 3 ? 0.0 : 0.5;
    CHECK(custom_status(half, pairs, 3) == PN_EINVAL); /* 3 with 1 always, with 2 always, and never 1 with 2 */
}

static pn_status repeats(void *self, pn_rng *rng, size_t *indices, size_t *count, size_t blocks, pn_err *err)
{
    (void)rng;
    (void)err;
    (void)blocks;
    indices[0] = 1;
    indices[1] = *(const size_t *)self;
    *count = 2;
    return PN_OK;
}

static void what_a_callback_draws_is_checked(void)
{
    static const size_t again = 1, beyond = 4, fine = 0;
    const size_t *each[] = { &again, &beyond, &fine };
    const pn_status want[] = { PN_EINVAL, PN_EINVAL, PN_OK };

    for (size_t k = 0; k < 3; k++) {
        const pn_block_draw draw = { .self = (void *)(size_t)each[k], .draw = repeats };
        pn_block_sampling *sampling = NULL;
        size_t indices[4], count;

        CHECK(pn_block_sampling_custom(&sampling, 4, coins, NULL, &draw, NULL) == PN_OK);
        CHECK(pn_block_sampling_draw(sampling, NULL, indices, &count, NULL) == want[k]);
        if (want[k] == PN_OK)
            CHECK(indices[0] == 0 && indices[1] == 1);
        pn_block_sampling_free(sampling);
    }
}

int main(void)
{
    every_sampling_draws_by_its_law();
    the_table_of_the_spec_holds();
    a_full_draw_needs_no_stream();
    tops_are_closed_forms();
    wrong_options_are_refused();
    impossible_pairs_are_refused();
    what_a_callback_draws_is_checked();
    return check_summary();
}
