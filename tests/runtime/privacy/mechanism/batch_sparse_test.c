/* batch_sparse_test.c -- a search on a secret batch: paid before it is drawn, with the law that was paid for, in one
 * process, until one answer is yes.  The source is built here with its faults, each of which one of the checks must
 * notice.  Seeds are fixed; a true law fails each statistical check with probability 1e-6,
 * a noise scale off by 1.1 never passes.
 * Depends on: check.h, fail_alloc.h, privacy/, random/noise.h, fork. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "runtime/privacy/mechanism/batch_sparse.c"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random/noise.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

static pn_batch_sparse_options options_of(size_t batch)
{
    return (pn_batch_sparse_options){ .n = 25,
                                      .batch = batch,
                                      .neighbours = PN_REPLACE_ONE,
                                      .epsilon = 1.5,
                                      .sensitivity = 0.4,
                                      .error = 0.05,
                                      .bound = 50.0 };
}

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_ledger *ledger_of(double rho, pn_neighbours neighbours, bool teaching)
{
    pn_budget terms = { .epsilon = NAN, .rho = rho, .neighbours = neighbours, .teaching = teaching };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    return ledger;
}

static pn_batch_sparse *opened(const pn_batch_sparse_options *options, pn_ledger *ledger, pn_rng *rng)
{
    pn_batch_sparse *run = NULL;
    pn_err err;

    if (!CHECK(pn_batch_sparse_open(&run, options, ledger, "search", rng, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return run;
}

/* ---- what it costs ---- */

/* eps' = ln(1 + q (e^eps - 1)) of a batch; eps of all records. */
static void a_run_costs_what_the_formula_says(void)
{
    for (size_t batch = 5; batch <= 25; batch += 10) {
        pn_batch_sparse_options options = options_of(batch);
        double q = (double)batch / 25.0, want = batch == 25 ? 1.5 : log1p(q * expm1(1.5));
        pn_event *event = NULL;

        CHECK(pn_batch_sparse_price(&event, &options, NULL) == PN_OK);
        CHECK(strcmp(event->ops->name, batch == 25 ? "sparse_vector" : "fixed_sampled") == 0);
        CHECK_CLOSE(event->ops->rdp(event, INFINITY), want, 1e-14);
        CHECK(event->ops->rdp(event, INFINITY) >= want * (1.0 - 1e-15));
        CHECK_CLOSE(event->ops->zcdp(event), want * want / 2.0, 1e-14);
        pn_event_free(event);
    }
}

/* 0 when a run charges its price, once, under its label. */
static int a_run_is_charged_once(void)
{
    int wrong = 0;

    for (size_t batch = 5; batch <= 25; batch += 20) {
        pn_batch_sparse_options options = options_of(batch);
        pn_ledger *ledger = ledger_of(10.0, PN_REPLACE_ONE, true);
        pn_rng *rng = seeded(1);
        pn_batch_sparse *run = opened(&options, ledger, rng);
        pn_event *event = NULL;
        bool above = false;

        CHECK(pn_batch_sparse_price(&event, &options, NULL) == PN_OK);
        for (int i = 0; i < 100; i++)
            (void)pn_batch_sparse_above(run, -40.0, &above, NULL);
        wrong += pn_ledger_entries(ledger) != 1 || pn_ledger_entry(ledger, 0).count != 1;
        wrong += pn_ledger_entries(ledger) == 1 && strcmp(pn_ledger_entry(ledger, 0).label, "search") != 0;
        wrong += pn_ledger_spent(ledger) != event->ops->zcdp(event);
        pn_event_free(event);
        pn_batch_sparse_free(run);
        pn_ledger_free(ledger);
        pn_rng_free(rng);
    }
    return wrong;
}

/* ---- its law ---- */

static double laplace_below(double x)
{
    return x < 0.0 ? exp(x) / 2.0 : 1.0 - exp(-x) / 2.0;
}

/* b with D'/b + 2 D'/(w b) = epsilon, where w = 1 is the best whole ratio for one answer
 * (w = 2 has 1 + 2/2 = 2 shares but noise sqrt(5) in place of 3 shares with sqrt(2));
 * D' = D + 2 error and rounding below 2^-38 b. */
static double scale_of(const pn_batch_sparse_options *options, uint32_t *ratio)
{
    double one = 3.0 * sqrt(2.0), two = 2.0 * sqrt(5.0);

    *ratio = two < one ? 2 : 1;
    return (options->sensitivity + 2.0 * options->error) * (*ratio == 2 ? 2.0 : 3.0) / options->epsilon;
}

enum { ASKED = 3, OUTCOMES = ASKED + 1 };

/* law[k]: the k-th query is the first above, law[ASKED] none is, of Laplace noise b on the threshold 0 and w b on
 * queries: the midpoint rule in the threshold at steps of b/64 over +-40 b. */
static void compute_law(double b, double w, const double *values, double law[OUTCOMES])
{
    memset(law, 0, OUTCOMES * sizeof *law);
    for (int k = -64 * 40; k < 64 * 40; k++) {
        double at = ((double)k + 0.5) / 64.0, left = laplace_below(at + 1.0 / 128.0) - laplace_below(at - 1.0 / 128.0);

        for (int i = 0; i < ASKED; i++) {
            double above = 1.0 - laplace_below((at * b - values[i]) / (w * b));

            law[i] += left * above;
            left *= 1.0 - above;
        }
        law[ASKED] += left;
    }
}

static void count_outcomes(const pn_batch_sparse_options *options, const double *values, int trials, uint64_t seed,
                           double counts[OUTCOMES])
{
    pn_ledger *ledger = ledger_of(1e12, options->neighbours, true);
    pn_rng *rng = seeded(seed);

    memset(counts, 0, OUTCOMES * sizeof *counts);
    for (int t = 0; t < trials; t++) {
        pn_batch_sparse *run = opened(options, ledger, rng);
        bool above = false;
        int i = 0;

        while (i < ASKED && pn_batch_sparse_above(run, values[i], &above, NULL) == PN_OK && !above)
            i++;
        counts[i]++;
        pn_batch_sparse_free(run);
    }
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

#define CHI2_3 30.664850 /* upper 1e-6 quantile at 3 degrees of freedom */

/* 0 when the answers have the law of the scale that was paid for, and not that of 1.1 times more or less noise. */
static int answers_have_another_law(void)
{
    enum { TRIALS = 60000 };
    int wrong = 0;

    for (size_t batch = 5; batch <= 25; batch += 20) {
        pn_batch_sparse_options options = options_of(batch);
        uint32_t w;
        double b = scale_of(&options, &w), counts[OUTCOMES], law[OUTCOMES], wide[OUTCOMES], narrow[OUTCOMES];
        const double values[ASKED] = { -1.5 * b, 2.0 * b, -2.5 * b };

        count_outcomes(&options, values, TRIALS, batch, counts);
        compute_law(b, w, values, law);
        compute_law(1.1 * b, w, values, wide);
        compute_law(b / 1.1, w, values, narrow);
        wrong += !(chi_square(counts, law, OUTCOMES) < CHI2_3);
        wrong += !(chi_square(counts, wide, OUTCOMES) > CHI2_3);
        wrong += !(chi_square(counts, narrow, OUTCOMES) > CHI2_3);
    }
    return wrong;
}

/* One query by hand: value + X >= Y with X, Y Laplace of scales w b and b.  At 0 the chance is 1/2 whatever the scales
 * are; at v > 0 it is 1 - e^(-v/b) (2 + v/b) / 4 for w = 1, else 1 - (w^2 e^(-v/(w b)) - e^(-v/b)) / (2 (w^2 - 1)). */
static void one_query_has_the_chance_of_the_closed_form(void)
{
    enum { TRIALS = 40000 };
    pn_batch_sparse_options options = options_of(5);
    uint32_t w;
    double b = scale_of(&options, &w), ww = (double)w * w, counts[OUTCOMES], law[OUTCOMES];

    CHECK(w == 2 || w == 1);
    for (int i = 0; i < 2; i++) {
        double v = i * 2.0 * b, values[ASKED] = { v, -49.0, -49.0 };
        double gap =
            w == 1 ? exp(-v / b) * (2.0 + v / b) / 4.0 : (ww * exp(-v / (w * b)) - exp(-v / b)) / (2.0 * (ww - 1.0));
        double chance = 1.0 - gap, deviation = sqrt(TRIALS * chance * (1.0 - chance));

        compute_law(b, w, values, law);
        CHECK_CLOSE(law[0], chance, 1e-4);
        count_outcomes(&options, values, TRIALS, 100 + (uint64_t)i, counts);
        CHECK(fabs(counts[0] - TRIALS * chance) < Z_MILLIONTH * deviation);
    }
}

/* The worst pair of neighbours: a query far above in both that rises, then one that falls.  1 when the log ratio of an
 * outcome's exact chances exceeds epsilon under the scale that the mechanism was given,
 * which a run that is paid for does not. */
static int neighbours_are_told_apart(void)
{
    pn_batch_sparse_options options = options_of(25);
    double d = options.sensitivity + 2.0 * options.error, p[OUTCOMES], q[OUTCOMES], b;
    pn_mechanism *mechanism = NULL;
    uint32_t w;

    (void)scale_of(&options, &w);
    CHECK(make_mechanism(&mechanism, &options, NULL) == PN_OK);
    b = charged(&options) * (1.0 + 2.0 / w) / options.epsilon;
    for (int i = 0; i < 30; i++) {
        double high = 0.4 * i * b;
        const double one[ASKED] = { high, 0.0, -40.0 }, two[ASKED] = { high + d, -d, -40.0 };

        compute_law(b, w, one, p);
        compute_law(b, w, two, q);
        for (int k = 0; k < 2; k++) {
            if (fabs(log(p[k] / q[k])) > options.epsilon * (1.0 + 1e-3)) {
                pn_mechanism_free(mechanism);
                return 1;
            }
        }
    }
    pn_mechanism_free(mechanism);
    return 0;
}

/* ---- batches ---- */

static void the_batch_is_one_of_the_samplers(void)
{
    pn_batch_sparse_options options = options_of(5), whole = options_of(25);
    pn_ledger *ledger = ledger_of(1e12, PN_REPLACE_ONE, true);
    pn_rng *rng = seeded(3);
    double hits[25] = { 0.0 }, law[25];
    size_t count;

    for (int t = 0; t < 5000; t++) {
        pn_batch_sparse *run = opened(&options, ledger, rng);
        const size_t *rows = pn_batch_sparse_rows(run, &count);

        CHECK(count == 5);
        for (size_t i = 0; i < count; i++) {
            CHECK(rows[i] < 25 && (i == 0 || rows[i] > rows[i - 1]));
            hits[rows[i]]++;
        }
        pn_batch_sparse_free(run);
    }
    for (int i = 0; i < 25; i++)
        law[i] = 1.0 / 25.0;
    CHECK(chi_square(hits, law, 25) < CHI2_24); /* without replacement the statistic is smaller still: by 20/24 */
    CHECK(chi_square(hits, law, 25) > 2.0);
    pn_batch_sparse_free(NULL);
    {
        pn_batch_sparse *run = opened(&whole, ledger, rng);

        CHECK(!pn_batch_sparse_rows(run, &count) && count == 25);
        pn_batch_sparse_free(run);
    }
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

/* ---- its end, and refusals ---- */

static void one_positive_answer_ends_it(void)
{
    pn_batch_sparse_options options = options_of(5);
    pn_ledger *ledger = ledger_of(10.0, PN_REPLACE_ONE, true);
    pn_rng *rng = seeded(4);
    pn_batch_sparse *run = opened(&options, ledger, rng);
    bool above = true;
    pn_err err;

    CHECK(pn_batch_sparse_above(run, -49.0, &above, NULL) == PN_OK && !above);
    CHECK(pn_batch_sparse_above(run, 49.0, &above, NULL) == PN_OK && above);
    CHECK(pn_batch_sparse_above(run, -49.0, &above, &err) == PN_EBUDGET && above);
    CHECK(pn_batch_sparse_above(run, 49.0, &above, &err) == PN_EBUDGET && strstr(err.message, "halted"));
    pn_batch_sparse_free(run);
    run = opened(&options, ledger, rng);
    CHECK(pn_batch_sparse_above(run, NAN, &above, &err) == PN_EDOMAIN);
    CHECK(pn_batch_sparse_above(run, 50.1, &above, &err) == PN_EDOMAIN && !strstr(err.message, "50.1"));
    CHECK(pn_batch_sparse_above(run, -49.0, &above, &err) == PN_OK);
    pn_batch_sparse_free(run);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

/* Neither a run nor a draw: the stream is where its twin is. */
static void refuses(const pn_batch_sparse_options *options, pn_ledger *ledger, pn_rng *rng, pn_rng *twin,
                    pn_status status, const char *word)
{
    pn_batch_sparse *run = (pn_batch_sparse *)rng; /* not NULL */
    pn_err err;

    if (!CHECK(pn_batch_sparse_open(&run, options, ledger, NULL, rng, &err) == status && !run &&
               strstr(err.message, word)))
        (void)fprintf(stderr, "wanted \"%s\", got: %s\n", word, err.message);
    if (twin)
        CHECK(pn_rng_uniform(rng) == pn_rng_uniform(twin));
    if (ledger)
        CHECK(pn_ledger_entries(ledger) == 0);
}

static void ledgers_that_refuse_cost_nothing(void)
{
    pn_batch_sparse_options options = options_of(5);
    pn_ledger *small = ledger_of(1e-3, PN_REPLACE_ONE, true), *other = ledger_of(10.0, PN_ADD_REMOVE, true);
    pn_ledger *real = ledger_of(10.0, PN_REPLACE_ONE, false);
    pn_rng *rng = seeded(5), *twin = seeded(5), *secure = NULL;
    pn_batch_sparse *run = NULL;

    refuses(&options, small, rng, twin, PN_EBUDGET, "Requested");
    refuses(&options, other, rng, twin, PN_EPRIVACY, "neighbours");
    refuses(&options, real, rng, twin, PN_EPRIVACY, "seeded");
    refuses(&options, NULL, rng, twin, PN_EINVAL, "ledger");
    CHECK(pn_rng_secure(&secure, NULL) == PN_OK);
    CHECK(pn_batch_sparse_open(&run, &options, real, NULL, secure, NULL) == PN_OK && pn_ledger_entries(real) == 1);
    pn_batch_sparse_free(run);
    pn_ledger_free(small);
    pn_ledger_free(other);
    pn_ledger_free(real);
    pn_rng_free(rng);
    pn_rng_free(twin);
    pn_rng_free(secure);
}

static void options_that_make_no_sense_are_refused(void)
{
    static const double bad[] = { 0.0, -1.0, NAN, INFINITY };
    pn_ledger *ledger = ledger_of(10.0, PN_REPLACE_ONE, true);
    pn_rng *rng = seeded(6);
    pn_batch_sparse_options options;

    for (int i = 0; i < 4; i++) {
        options = options_of(5);
        options.sensitivity = bad[i];
        refuses(&options, ledger, rng, NULL, PN_EINVAL, "sensitivity");
        options = options_of(5);
        options.epsilon = bad[i];
        refuses(&options, ledger, rng, NULL, PN_EINVAL, "epsilon");
        options = options_of(5);
        options.error = bad[i];
        if (i > 0)
            refuses(&options, ledger, rng, NULL, PN_EINVAL, "error");
        options = options_of(5);
        options.bound = bad[i];
        if (i < 3)
            refuses(&options, ledger, rng, NULL, PN_EINVAL, "bound");
    }
    for (size_t batch = 0; batch <= 26; batch += 26) {
        options = options_of(batch);
        refuses(&options, ledger, rng, NULL, PN_EINVAL, "from 1 to n = 25");
    }
    options = options_of(5);
    options.neighbours = PN_ADD_REMOVE;
    refuses(&options, ledger, rng, NULL, PN_EUNSUPPORTED, "fixed");
    options.batch = 25;
    refuses(&options, ledger, rng, NULL, PN_EPRIVACY, "neighbours"); /* the ledger's: all records have each relation */
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

/* 0: both the answer and a new run are refused, with a reason. */
static int ask_in_child(pn_batch_sparse *run, pn_ledger *ledger, pn_rng *rng)
{
    pn_batch_sparse_options options = options_of(5);
    pn_batch_sparse *second = NULL;
    bool above;
    pn_err err;

    if (pn_batch_sparse_above(run, 1.0, &above, &err) != PN_EPRIVACY || !strstr(err.message, "forked child"))
        return 1;
    return pn_batch_sparse_open(&second, &options, ledger, NULL, rng, &err) == PN_EUNSUPPORTED && !second ? 0 : 2;
}

static void a_forked_child_has_not_paid(void)
{
    pn_batch_sparse_options options = options_of(5);
    pn_ledger *ledger = ledger_of(100.0, PN_REPLACE_ONE, false);
    pn_batch_sparse *run;
    pn_rng *rng = NULL;
    int state = -1;
    bool above;
    pid_t child;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    run = opened(&options, ledger, rng);
    child = fork();
    if (child == 0)
        _exit(ask_in_child(run, ledger, rng));
    CHECK(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0);
    CHECK(pn_batch_sparse_above(run, -49.0, &above, NULL) == PN_OK && !above);
    pn_batch_sparse_free(run);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

/* ---- memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    pn_batch_sparse_options options = options_of(5);
    pn_batch_sparse *run = NULL;
    pn_event *event = NULL;
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;
    pn_budget terms = { .epsilon = NAN, .rho = 10.0, .teaching = true };
    bool above;
    pn_status status = pn_ledger_new(&ledger, &terms, err);

    (void)self;
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_batch_sparse_price(&event, &options, err);
    if (status == PN_OK)
        status = pn_batch_sparse_open(&run, &options, ledger, NULL, rng, err);
    if (status == PN_OK)
        status = pn_batch_sparse_above(run, 1.0, &above, err);
    pn_batch_sparse_free(run);
    pn_event_free(event);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return status;
}

/* ---- faults ---- */

static bool noticed(const char *fault, int (*check)(void))
{
    int wrong;

    CHECK(setenv("PENUMBRA_MUTANT", fault, 1) == 0);
    wrong = check();
    CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    return wrong > 0 && check() == 0;
}

static void faults_are_noticed(void)
{
    CHECK(noticed("search_unpaid", a_run_is_charged_once));
    CHECK(noticed("search_sensitivity_half", answers_have_another_law));
    CHECK(noticed("search_sensitivity_half", neighbours_are_told_apart));
}

int main(void)
{
    faults_are_noticed();
    a_run_costs_what_the_formula_says();
    one_query_has_the_chance_of_the_closed_form();
    the_batch_is_one_of_the_samplers();
    one_positive_answer_ends_it();
    ledgers_that_refuse_cost_nothing();
    options_that_make_no_sense_are_refused();
    a_forked_child_has_not_paid();
    CHECK(fail_alloc_sweep("batch_sparse", scenario, NULL) >= 8);
    return check_summary();
}
