/* terms_test.c -- which terms are refused and how; which columns are sampled, and that every subset is equally likely.
 * Seeds are fixed; a true law fails each statistical check with probability below 1e-6.
 * Depends on: check.h, chi_square.h, fail_alloc.h, federated/wire/terms.h. */
#include <math.h>
#include <string.h>

#include "federated/wire/terms.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

static pn_terms good(void)
{
    pn_terms terms = { .mode = PN_FEDERATED_PRODUCT,
                       .loss = PN_FEDERATED_SQUARED,
                       .neighbours = PN_REPLACE_ONE,
                       .is_private = true,
                       .records = 1000,
                       .parties = 3,
                       .iterations = 20,
                       .feature_bound = 1.0,
                       .label_bound = 1.0,
                       .sketch = { PN_SKETCH_GAUSSIAN, 64, 1000, 9 },
                       .party = 2,
                       .columns = 10,
                       .sampled = 4,
                       .radius = 0.5,
                       .epsilon0 = 0.1,
                       .sigma_feature = 2.0,
                       .stay = true };

    return terms;
}

static pn_terms ball(void)
{
    pn_terms terms = good();

    terms.mode = PN_FEDERATED_BALL;
    terms.sigma_score = 1.0;
    return terms;
}

static pn_terms paper(void)
{
    pn_terms terms = good();

    terms.mode = PN_FEDERATED_PAPER;
    terms.epsilon0 = 0.0;
    terms.laplace_scale = 1.0;
    terms.stay = false;
    return terms;
}

static void takes(pn_terms terms)
{
    pn_err err = { PN_OK, "" };

    if (!CHECK(pn_terms_check(&terms, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
}

static void refuse(const pn_terms *terms, const char *message)
{
    pn_err err = { PN_OK, "" };

    CHECK(pn_terms_check(terms, &err) == PN_EINVAL);
    if (!CHECK(strcmp(err.message, message) == 0))
        (void)fprintf(stderr, "    got  %s\n    want %s\n", err.message, message);
}

/* Terms that are good but for one field. */
#define REFUSE(base, field, wrong, message)                                                                            \
    do {                                                                                                               \
        pn_terms terms = base();                                                                                       \
        terms.field = wrong;                                                                                           \
        refuse(&terms, message);                                                                                       \
    } while (0)

static void takes_terms_that_make_sense(void)
{
    pn_terms terms = good();

    takes(good());
    takes(ball());
    takes(paper());
    terms.clip = 1.5;
    terms.loss = PN_FEDERATED_LOGISTIC;
    terms.neighbours = PN_ZERO_OUT;
    terms.stay = false; /* for comparison */
    takes(terms);
    terms.is_private = false;
    terms.epsilon0 = terms.sigma_feature = 0.0;
    takes(terms);
    terms = ball();
    terms.sampled = terms.columns;
    takes(terms); /* another party samples fewer, so all release it */
    terms.stay = false;
    takes(terms);
}

static void refuses_what_is_out_of_range(void)
{
    REFUSE(good, mode, (pn_federated_mode)3, "terms: mode 3 does not exist; there are 0 to 2");
    REFUSE(good, loss, (pn_federated_loss)2, "terms: loss 2 does not exist; there are 0 to 1");
    REFUSE(good, neighbours, PN_ADD_REMOVE,
           "terms: neighbours must be replace_one or zero_out, since the number of records is public");
    REFUSE(good, records, 0, "terms: records must be from 1 to 281474976710656, got 0");
    REFUSE(good, records, 999, "terms: the sketch is of 1000 records, the run of 999");
    REFUSE(good, parties, 4097, "terms: parties must be from 1 to 4096, got 4097");
    REFUSE(good, iterations, 0, "terms: iterations must be from 1 to 1099511627776, got 0");
    REFUSE(good, columns, UINT32_MAX, "terms: columns must be from 1 to 4294967294, got 4294967295");
    REFUSE(good, sampled, 11, "terms: sampled columns must be from 1 to 10, got 11");
    REFUSE(good, sampled, 0, "terms: sampled columns must be from 1 to 10, got 0");
    REFUSE(good, party, 3, "terms: party 3 of 3; they are counted from 0");
    REFUSE(good, sketch.m, 0, "terms: sketch: m must be from 1 to 16777216, got 0");
    REFUSE(good, feature_bound, 0.0, "terms: feature_bound must be from 2^-400 to 2^400, got 0");
    REFUSE(good, label_bound, INFINITY, "terms: label_bound must be from 2^-400 to 2^400, got inf");
    REFUSE(good, radius, -1.0, "terms: radius must be from 2^-400 to 2^400, got -1");
    REFUSE(good, radius, 1e200, "terms: radius must be from 2^-400 to 2^400, got 1e+200");
    REFUSE(good, clip, -2.0, "terms: clip must be from 2^-400 to 2^400, got -2");
}

static bool refused(pn_terms terms)
{
    return pn_terms_check(&terms, NULL) == PN_EINVAL;
}

static void refuses_what_is_no_number(void)
{
    double *fields[8];
    pn_terms terms = good();

    fields[0] = &terms.feature_bound, fields[1] = &terms.label_bound, fields[2] = &terms.radius;
    fields[3] = &terms.epsilon0, fields[4] = &terms.laplace_scale, fields[5] = &terms.sigma_feature;
    fields[6] = &terms.sigma_score, fields[7] = &terms.clip;
    for (size_t i = 0; i < 8; i++) {
        double kept = *fields[i];

        *fields[i] = (double)NAN;
        CHECK(refused(terms));
        *fields[i] = kept;
        CHECK(!refused(terms));
    }
}

/* A private run has all its noise, and only its noise. */
static void refuses_noise_that_does_not_belong_to_the_run(void)
{
    REFUSE(good, epsilon0, 0.0, "terms: epsilon0 must be positive and at most 2^400, got 0");
    REFUSE(good, sigma_feature, -1.0, "terms: sigma_feature must be positive and at most 2^400, got -1");
    REFUSE(good, laplace_scale, 1.0, "terms: laplace_scale must be 0 in this run, got 1");
    REFUSE(good, sigma_score, 1.0, "terms: sigma_score must be 0 in this run, got 1");
    REFUSE(ball, sigma_score, 0.0, "terms: sigma_score must be positive and at most 2^400, got 0");
    REFUSE(paper, laplace_scale, 0.0, "terms: laplace_scale must be positive and at most 2^400, got 0");
    REFUSE(paper, epsilon0, 0.1, "terms: epsilon0 must be 0 in this run, got 0.1");
    REFUSE(good, is_private, false, "terms: epsilon0 must be 0 in this run, got 0.1");
}

static void refuses_modes_that_cannot_be_right(void)
{
    REFUSE(ball, stay, false, "terms: mode ball with 4 of 10 columns sampled needs \"stay\"; or sample all columns");
    REFUSE(paper, stay, true, "terms: mode paper has no candidate \"stay\"");
    REFUSE(paper, loss, PN_FEDERATED_LOGISTIC, "terms: mode paper has the loss squared only, got logistic");
}

static void shares_columns_out_evenly(void)
{
    for (size_t d = 1; d < 40; d++) {
        for (size_t parties = 1; parties <= d; parties++) {
            size_t sum = 0;

            for (size_t k = 0; k < parties; k++) {
                size_t mine = pn_terms_columns(d, parties, k);

                CHECK(mine == d / parties + (k < d % parties ? 1 : 0));
                sum += mine;
            }
            CHECK(sum == d);
        }
    }
}

/* ---- sampling ---- */

static uint64_t mask_of(const pn_terms *terms, uint64_t round)
{
    uint32_t indices[64];
    uint64_t mask = 0;
    bool rising = true;

    CHECK(pn_terms_sample(terms, round, indices, NULL) == PN_OK);
    for (size_t i = 0; i < terms->sampled; i++) {
        rising = rising && indices[i] < terms->columns && (i == 0 || indices[i] > indices[i - 1]);
        mask |= UINT64_C(1) << indices[i];
    }
    if (!rising)
        CHECK(rising);
    return mask;
}

static void looks_at_all_columns_when_all_are_sampled(void)
{
    pn_terms terms = good();

    terms.sampled = terms.columns;
    CHECK(mask_of(&terms, 1) == 1023 && mask_of(&terms, 77) == 1023);
}

/* Public randomness: who knows seed, party and round has the columns, and nothing else counts. */
static void depends_on_seed_party_and_round_only(void)
{
    pn_terms terms = good(), other = good();
    unsigned differ[3] = { 0 };

    terms.columns = other.columns = 60;
    other.radius = 7.0;
    other.epsilon0 = 3.0;
    other.run[3] = 9;
    other.mode = PN_FEDERATED_BALL;
    for (uint64_t round = 1; round <= 20; round++) {
        uint64_t mask = mask_of(&terms, round);

        CHECK(mask == mask_of(&other, round) && mask == mask_of(&terms, round));
        differ[0] += mask != mask_of(&terms, round + 1);
        terms.party = 1;
        differ[1] += mask != mask_of(&terms, round);
        terms.party = 2;
        terms.sketch.seed++;
        differ[2] += mask != mask_of(&terms, round);
        terms.sketch.seed--;
    }
    CHECK(differ[0] >= 19 && differ[1] >= 19 && differ[2] >= 19); /* one of 487,635 subsets twice */
}

/* Ten subsets of two of five columns over rounds, and of three over parties;
 * pairs of successive rounds are independent. */
static void makes_every_subset_equally_likely(void)
{
    pn_terms terms = good();
    double counts[32] = { 0.0 }, law[10] = { 0.0 }, cells[10] = { 0.0 }, both = 0.0;
    const double rounds = 20000.0;
    uint64_t last = 0;
    size_t found = 0;

    terms.columns = 5;
    terms.sampled = 2;
    for (uint64_t round = 1; round <= (uint64_t)rounds; round++) {
        uint64_t mask = mask_of(&terms, round);

        counts[mask] += 1.0;
        both += mask == last;
        last = mask;
    }
    for (size_t mask = 0; mask < 32; mask++) {
        bool pair = mask != 0 && (mask & (mask - 1)) != 0 && ((mask & (mask - 1)) & ((mask & (mask - 1)) - 1)) == 0;

        CHECK(pair || counts[mask] == 0.0);
        if (pair) {
            law[found] = 0.1;
            cells[found++] = counts[mask];
        }
    }
    CHECK(found == 10 && chi_square(cells, law, 10) < CHI2_9);
    CHECK(fabs(both - 0.1 * rounds) < 5.2 * sqrt(0.09 * rounds));
}

/* P(i in S) = tau/c and P(i, j in S) = tau (tau - 1) / (c (c - 1)), over parties at one round. */
static void includes_columns_and_pairs_as_the_theory_says(void)
{
    pn_terms terms = good();
    const double draws = 20000.0, p = 7.0 / 20.0, pair = 7.0 * 6.0 / (20.0 * 19.0);
    double one[20] = { 0.0 }, two = 0.0;

    terms.columns = 20;
    terms.sampled = 7;
    for (uint32_t party = 0; party < (uint32_t)draws; party++) {
        uint64_t mask;

        terms.party = party;
        mask = mask_of(&terms, 5);
        for (size_t i = 0; i < 20; i++)
            one[i] += (double)(mask >> i & 1);
        two += (mask & 3) == 3 ? 1.0 : 0.0;
    }
    for (size_t i = 0; i < 20; i++)
        CHECK(fabs(one[i] - p * draws) < 5.6 * sqrt(p * (1.0 - p) * draws));
    CHECK(fabs(two - pair * draws) < 5.2 * sqrt(pair * (1.0 - pair) * draws));
}

static pn_status sampling(void *self, pn_err *err)
{
    uint32_t indices[4];

    return pn_terms_sample(self, 1, indices, err);
}

int main(void)
{
    pn_terms terms = good();

    takes_terms_that_make_sense();
    refuses_what_is_out_of_range();
    refuses_what_is_no_number();
    refuses_noise_that_does_not_belong_to_the_run();
    refuses_modes_that_cannot_be_right();
    shares_columns_out_evenly();
    looks_at_all_columns_when_all_are_sampled();
    depends_on_seed_party_and_round_only();
    makes_every_subset_equally_likely();
    includes_columns_and_pairs_as_the_theory_says();
    CHECK(fail_alloc_sweep("sample", sampling, &terms) == 3);
    return check_summary();
}
