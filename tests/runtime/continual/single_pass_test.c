/* single_pass_test.c -- records that are used once: who is handed out when, what that costs, and what no failure may
 * change.  The room is built here with its faults, each of which one of the checks must notice.
 * Depends on: check.h, fail_alloc.h, continual/, privacy/, fork. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "continual/single_pass.c"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "fail_alloc.h"

enum {
    N = 40,
    DIM = 3,
    FIRST = 5,
    OTHERS = 2,
    LEAVES = 4,
    EPOCHS = 3,
    USED = EPOCHS * (FIRST + (LEAVES - 1) * OTHERS)
};

static pn_prefix_design *design_of(size_t horizon, bool noiseless)
{
    pn_prefix_options options = { .dim = DIM,
                                  .horizon = horizon,
                                  .sensitivity = 1.0,
                                  .bound = 10.0,
                                  .rho = noiseless ? 0.0 : 0.5,
                                  .noiseless = noiseless,
                                  .neighbours = PN_REPLACE_ONE,
                                  .factorization = "binary" };
    pn_prefix_design *design = NULL;
    pn_err err;

    if (!CHECK(pn_prefix_design_new(&design, &options, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return design;
}

static pn_single_pass_options usual(pn_prefix_design *design, size_t passes)
{
    return (pn_single_pass_options){
        .design = design, .n = N, .passes = passes, .first = FIRST, .others = OTHERS, .leaves = LEAVES, .epochs = EPOCHS
    };
}

static pn_single_pass *made(size_t passes, bool noiseless)
{
    pn_prefix_design *design = design_of(LEAVES, noiseless);
    pn_single_pass_options options = usual(design, passes);
    pn_single_pass *self = NULL;

    CHECK(pn_single_pass_new(&self, &options, NULL) == PN_OK);
    pn_prefix_design_free(design);
    return self;
}

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* Takes `passes` charges of rho = 0.5 with the price of rounding. */
static pn_ledger *ledger_for(double passes)
{
    pn_budget budget = { .epsilon = NAN, .rho = 0.5 * passes + 1e-6, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static size_t charges(const pn_ledger *ledger)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        sum += pn_ledger_entry(ledger, i).count;
    return sum;
}

/* ---- who is handed out ---- */

typedef struct history {
    size_t rows[2][USED]; /* pass by pass, in the order of leaves */
    size_t count[2];
    size_t charged[2]; /* after the first records of a pass were taken */
    int wrong;         /* sizes of leaves, counters */
} history;

static void note(history *of, size_t pass, const size_t *rows, size_t count)
{
    for (size_t i = 0; i < count && of->count[pass] < USED; i++)
        of->rows[pass][of->count[pass]++] = rows[i];
}

static history walk(pn_single_pass *self, pn_ledger *ledger, pn_rng *rng, size_t passes)
{
    history of = { 0 };
    double leaf[DIM] = { 0.1, 0.2, 0.3 };

    for (size_t at = 0; at < passes * EPOCHS * LEAVES; at++) {
        size_t pass = at / (EPOCHS * LEAVES), in_epoch = at % LEAVES, count = 0;
        const size_t *rows = NULL;

        of.wrong += pn_single_pass_leaf(self) != in_epoch || pn_single_pass_epoch(self) != at / LEAVES;
        of.wrong += pn_single_pass_take(self, ledger, "walk", false, rng, &rows, &count, NULL) != PN_OK;
        of.wrong += count != (in_epoch == 0 ? FIRST : OTHERS) || pn_single_pass_paid(self) != pass + 1;
        if (at % (EPOCHS * LEAVES) == 0 && ledger)
            of.charged[pass] = charges(ledger);
        note(&of, pass, rows, count);
        of.wrong += pn_single_pass_push(self, leaf, NULL, NULL, NULL) != PN_OK;
    }
    return of;
}

/* Records that are handed out more than once in a pass. */
static int used_again(const history *of, size_t pass)
{
    int times[N] = { 0 }, again = 0;

    for (size_t i = 0; i < of->count[pass]; i++)
        again += of->rows[pass][i] >= N || times[of->rows[pass][i]]++ > 0;
    return again;
}

/* 0 when two passes use every record once each and cost one charge each, made before the first leaf. */
static int misbehaves(void)
{
    pn_single_pass *self = made(2, false);
    pn_ledger *ledger = ledger_for(2.0);
    pn_rng *rng = seeded(3);
    history of = walk(self, ledger, rng, 2);
    int wrong = of.wrong + used_again(&of, 0) + used_again(&of, 1);

    wrong += of.count[0] != USED || of.count[1] != USED;
    wrong += of.charged[0] != 1 || of.charged[1] != 2 || charges(ledger) != 2;
    wrong += memcmp(of.rows[0], of.rows[1], sizeof of.rows[0]) == 0; /* (7/40)^33 by chance */
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_single_pass_free(self);
    return wrong;
}

static void test_records_are_used_once_a_pass_and_charged_once(void)
{
    CHECK(misbehaves() == 0);
    (void)setenv("PENUMBRA_MUTANT", "records_again", 1);
    CHECK(misbehaves() > 0);
    (void)setenv("PENUMBRA_MUTANT", "pass_unpaid", 1);
    CHECK(misbehaves() > 0);
    (void)unsetenv("PENUMBRA_MUTANT");
}

/* By the seed, and not by how much noise is drawn. */
static void test_the_order_is_drawn_from_a_stream_of_its_own(void)
{
    pn_single_pass *noisy = made(2, false), *silent = made(2, true), *other = made(2, true);
    pn_ledger *ledger = ledger_for(2.0);
    pn_rng *one = seeded(3), *same = seeded(3), *another = seeded(4);
    history a = walk(noisy, ledger, one, 2), b = walk(silent, NULL, same, 2), c = walk(other, NULL, another, 2);

    CHECK(a.wrong == 0 && b.wrong == 0 && c.wrong == 0);
    CHECK(memcmp(a.rows, b.rows, sizeof a.rows) == 0);
    CHECK(memcmp(a.rows, c.rows, sizeof a.rows) != 0);
    pn_rng_free(one);
    pn_rng_free(same);
    pn_rng_free(another);
    pn_ledger_free(ledger);
    pn_single_pass_free(noisy);
    pn_single_pass_free(silent);
    pn_single_pass_free(other);
}

/* Every record comes first equally often: 4000 orders, 40 records, 39 degrees of freedom;
 * the statistic passes 97 once in a million. */
static void test_every_record_may_come_first(void)
{
    double times[N] = { 0 }, statistic = 0.0, want = 4000.0 / N;

    for (uint64_t seed = 0; seed < 4000; seed++) {
        pn_single_pass *self = made(1, true);
        pn_rng *rng = seeded(seed);
        const size_t *rows = NULL;
        size_t count = 0;

        CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &rows, &count, NULL) == PN_OK);
        times[rows[0]]++;
        pn_rng_free(rng);
        pn_single_pass_free(self);
    }
    for (int i = 0; i < N; i++)
        statistic += (times[i] - want) * (times[i] - want) / want;
    CHECK(statistic < 97.0);
}

/* ---- sums ---- */

static void test_sums_begin_anew_with_every_epoch(void)
{
    pn_single_pass *self = made(1, true);
    pn_rng *rng = seeded(1);

    for (int at = 0; at < EPOCHS * LEAVES; at++) {
        double leaf[DIM] = { 1.0, -2.0, 0.5 * at }, out[DIM], third = 0.0;
        const size_t *rows;
        size_t count;

        for (int k = at - at % LEAVES; k <= at; k++)
            third += 0.5 * k;
        CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &rows, &count, NULL) == PN_OK);
        CHECK(pn_single_pass_push(self, leaf, out, NULL, NULL) == PN_OK);
        CHECK_CLOSE(out[0], at % LEAVES + 1.0, 1e-12);
        CHECK_CLOSE(out[1], -2.0 * (at % LEAVES + 1.0), 1e-12);
        CHECK_CLOSE(out[2], third, 1e-12);
    }
    pn_rng_free(rng);
    pn_single_pass_free(self);
}

/* ---- refusals ---- */

static bool refused(pn_single_pass_options options, const char *word)
{
    pn_single_pass *self = NULL;
    pn_err err = { 0 };
    bool right = pn_single_pass_new(&self, &options, &err) == PN_EINVAL && !self && strstr(err.message, word);

    if (!right)
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_single_pass_free(self);
    return right;
}

static void test_sizes_that_cannot_be_are_refused_with_their_numbers(void)
{
    pn_prefix_design *design = design_of(LEAVES, false);
    pn_single_pass_options options = usual(design, 1);

    options.epochs = 4; /* 4 x 11 > 40 */
    CHECK(refused(options, "4 epochs of 5 + (4 - 1) x 2 records need more than the 40 there are"));
    options.epochs = SIZE_MAX / 2;
    CHECK(refused(options, "40"));
    options = usual(design, 1);
    options.others = SIZE_MAX / 2;
    CHECK(refused(options, "40"));
    options = usual(design, 1);
    options.leaves = LEAVES + 1;
    options.epochs = 1;
    CHECK(refused(options, "5 leaves are more than the design's horizon, 4"));
    options = usual(design, 0);
    CHECK(refused(options, "at least 1, got 0"));
    options = usual(design, 1);
    options.first = 0;
    CHECK(refused(options, "at least 1"));
    pn_prefix_design_free(design);
}

static void test_leaves_and_records_alternate_to_the_end(void)
{
    pn_single_pass *self = made(1, true);
    double leaf[DIM] = { 0.0 };
    pn_rng *rng = seeded(2);
    const size_t *rows = NULL, *again = NULL;
    size_t count = 0;

    CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_EBUDGET);
    CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &rows, &count, NULL) == PN_OK);
    CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &again, &count, NULL) == PN_OK);
    CHECK(rows == again && count == FIRST);
    CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_EBUDGET);
    for (int at = 1; at < EPOCHS * LEAVES; at++) {
        CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &rows, &count, NULL) == PN_OK);
        CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_OK);
    }
    CHECK(pn_single_pass_take(self, NULL, NULL, false, rng, &rows, &count, NULL) == PN_EBUDGET);
    CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_EBUDGET);
    pn_rng_free(rng);
    pn_single_pass_free(self);
}

/* A leaf that is refused is still owed, by the same records; nothing is charged for it again. */
static void test_a_leaf_that_is_refused_may_be_mended(void)
{
    pn_single_pass *self = made(1, false);
    double bad[DIM] = { 0.0, NAN, 0.0 }, good[DIM] = { 0.0 };
    pn_ledger *ledger = ledger_for(1.0);
    pn_rng *rng = seeded(2);
    const size_t *rows = NULL, *again = NULL;
    size_t count = 0;

    CHECK(pn_single_pass_take(self, ledger, NULL, false, rng, &rows, &count, NULL) == PN_OK);
    CHECK(pn_single_pass_push(self, bad, NULL, NULL, NULL) == PN_EDOMAIN);
    CHECK(pn_single_pass_take(self, ledger, NULL, false, rng, &again, &count, NULL) == PN_OK);
    CHECK(rows == again && pn_single_pass_leaf(self) == 0 && charges(ledger) == 1);
    CHECK(pn_single_pass_push(self, good, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_single_pass_leaf(self) == 1);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_single_pass_free(self);
}

static void test_a_pass_that_nobody_pays_for_does_not_begin(void)
{
    pn_single_pass *self = made(2, false);
    pn_ledger *ledger = ledger_for(1.5), *real = NULL;
    pn_budget budget = { .epsilon = NAN, .rho = 9.0, .neighbours = PN_REPLACE_ONE };
    pn_rng *rng = seeded(2);
    const size_t *rows = NULL;
    size_t count = 0;

    CHECK(pn_ledger_new(&real, &budget, NULL) == PN_OK);
    CHECK(pn_single_pass_take(self, real, NULL, false, rng, &rows, &count, NULL) == PN_EPRIVACY); /* seeded noise */
    CHECK(!rows && charges(real) == 0 && pn_single_pass_paid(self) == 0);
    CHECK(walk(self, ledger, rng, 1).wrong == 0);
    CHECK(pn_single_pass_take(self, ledger, NULL, false, rng, &rows, &count, NULL) == PN_EBUDGET);
    CHECK(!rows && charges(ledger) == 1 && pn_single_pass_paid(self) == 1);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_ledger_free(real);
    pn_single_pass_free(self);
}

static void test_who_has_paid_elsewhere_is_not_charged(void)
{
    pn_single_pass *self = made(1, false);
    pn_ledger *ledger = ledger_for(1.0);
    pn_rng *rng = seeded(2);
    const size_t *rows = NULL;
    size_t count = 0;

    CHECK(pn_single_pass_take(self, ledger, NULL, true, rng, &rows, &count, NULL) == PN_OK);
    CHECK(charges(ledger) == 0 && pn_single_pass_paid(self) == 1);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_single_pass_free(self);
}

/* Parent and child would put the same records into leaves of their own. */
static void test_a_forked_child_gets_no_records(void)
{
    pn_single_pass *self = made(1, false);
    pn_ledger *ledger = ledger_for(5.0);
    pn_rng *rng = seeded(2);
    double leaf[DIM] = { 0.0 };
    const size_t *rows = NULL;
    size_t count = 0;
    int code = -1;
    pid_t child;

    for (int at = 0; at < LEAVES; at++) { /* a stream of the next epoch would be the child's own */
        CHECK(pn_single_pass_take(self, ledger, NULL, false, rng, &rows, &count, NULL) == PN_OK);
        CHECK(pn_single_pass_push(self, leaf, NULL, NULL, NULL) == PN_OK);
    }
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        pn_status status = pn_single_pass_take(self, ledger, NULL, true, rng, &rows, &count, NULL);

        _exit(status == PN_EPRIVACY ? 0 : 1);
    }
    CHECK(waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0);
    CHECK(pn_single_pass_take(self, ledger, NULL, false, rng, &rows, &count, NULL) == PN_OK);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_single_pass_free(self);
}

/* ---- memory ---- */

/* What fails for want of memory is tried again: the same records at the same price. */
static pn_status scenario(void *self, pn_err *err)
{
    pn_prefix_options with = {
        .dim = DIM, .horizon = LEAVES, .sensitivity = 1.0, .rho = 0.5, .factorization = "binary"
    };
    pn_prefix_design *design = NULL;
    pn_single_pass *pass = NULL;
    pn_ledger *ledger = self;
    pn_single_pass_options options;
    pn_rng *rng = NULL;
    const size_t *rows = NULL;
    size_t count = 0;
    double leaf[DIM] = { 0.0 };
    pn_status status = pn_prefix_design_new(&design, &with, err);

    options = usual(design, 1);
    if (status == PN_OK)
        status = pn_single_pass_new(&pass, &options, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_single_pass_take(pass, ledger, NULL, true, rng, &rows, &count, err);
    if (status == PN_OK)
        status = pn_single_pass_push(pass, leaf, leaf, NULL, err);
    pn_rng_free(rng);
    pn_single_pass_free(pass);
    pn_prefix_design_free(design);
    return status;
}

int main(void)
{
    pn_ledger *ledger = ledger_for(1.0);

    test_records_are_used_once_a_pass_and_charged_once();
    test_the_order_is_drawn_from_a_stream_of_its_own();
    test_every_record_may_come_first();
    test_sums_begin_anew_with_every_epoch();
    test_sizes_that_cannot_be_are_refused_with_their_numbers();
    test_leaves_and_records_alternate_to_the_end();
    test_a_leaf_that_is_refused_may_be_mended();
    test_a_pass_that_nobody_pays_for_does_not_begin();
    test_who_has_paid_elsewhere_is_not_charged();
    test_a_forked_child_gets_no_records();
    CHECK(fail_alloc_sweep("single_pass", scenario, ledger) > 0);
    pn_ledger_free(ledger);
    return check_summary();
}
