/* batch_release_test.c -- noisy sums over secret batches: paid first, drawn anew, released once, and charged for what
 * runs.  Seeds are fixed; a true law fails each check with probability below 1e-6.  The release is built here with its
 * faults, each of which one of the checks must notice.
 * Depends on: check.h, fail_alloc.h, chi_square.h, privacy/, fork. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "privacy/mechanism/batch_release.c"

#include <sys/wait.h>

#include "random/sample.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

enum { N = 25, BATCH = 7, DIM = 50 };

static pn_batch_release_options fixed_options(void)
{
    return (pn_batch_release_options){ .scheme = "fixed",
                                       .n = N,
                                       .batch = BATCH,
                                       .neighbours = PN_REPLACE_ONE,
                                       .dim = DIM,
                                       .contribution = 1.5,
                                       .error = 1e-9,
                                       .bound = 100.0,
                                       .sigma = 2.0 };
}

static pn_batch_release_options poisson_options(pn_neighbours neighbours)
{
    pn_batch_release_options options = fixed_options();

    options.scheme = "poisson";
    options.q = 0.3;
    options.neighbours = neighbours;
    return options;
}

static pn_batch_release *made(pn_batch_release_options options)
{
    pn_batch_release *release = NULL;
    pn_err err;

    if (!CHECK(pn_batch_release_new(&release, &options, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return release;
}

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_ledger *ledger_of(pn_budget terms)
{
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    return ledger;
}

static pn_ledger *teaching(pn_neighbours neighbours)
{
    return ledger_of((pn_budget){ .epsilon = NAN, .rho = 1e12, .neighbours = neighbours, .teaching = true });
}

/* The parameter `name` of an event. */
static pn_arg parameter(const pn_event *event, const char *name)
{
    pn_arg args[8];

    event->ops->args(event, args);
    return args[pn_param_find(event->ops->params, name)];
}

/* ---- what it costs ---- */

/* 0 when the event is that of `options` worked out by hand. */
static int misprices(pn_batch_release_options options, double factor)
{
    double contribution = factor * options.contribution * (1.0 + 0x1p-40);
    double error = 2.0 * sqrt(DIM) * options.error * (1.0 + 0x1p-40);
    double step = options.sigma * 0x1p-40, steps = 1.0 + fmin(options.bound / step, 0x1p62) * 0x1p-52;
    double want = contribution + error + sqrt(DIM) * step * steps;
    pn_batch_release *release = made(options);
    size_t per_event = 0;
    pn_event *event = pn_batch_release_event(release, &per_event);
    const pn_event *inner = parameter(event, "event").object;
    double got = parameter(inner, "sensitivity").real;
    bool poisson = strcmp(options.scheme, "poisson") == 0;
    int wrong = per_event != 1;

    wrong += strcmp(event->ops->name, poisson ? "poisson_sampled" : "fixed_sampled") != 0;
    wrong += event->neighbours != options.neighbours || inner->neighbours != options.neighbours;
    wrong += !(got >= want && got <= want * (1.0 + 1e-14)) || parameter(inner, "sigma").real != options.sigma;
    wrong += parameter(inner, "draws").count != DIM;
    if (poisson)
        wrong += parameter(event, "q").real != pn_poisson_rate(options.q);
    else
        wrong += parameter(event, "batch").count != options.batch || parameter(event, "n").count != options.n;
    pn_batch_release_free(release);
    return wrong;
}

static int every_scheme_is_charged_for_what_a_record_does(void)
{
    pn_batch_release_options unbounded = fixed_options(), exact = fixed_options();
    int wrong;

    unbounded.bound = INFINITY;
    exact.error = 0.0;
    wrong = misprices(fixed_options(), 2.0) + misprices(unbounded, 2.0) + misprices(exact, 2.0);
    for (int relation = 0; relation < 3; relation++)
        wrong += misprices(poisson_options((pn_neighbours)relation), 1.0);
    return wrong;
}

static void a_price_is_the_event_of_what_is_made(void)
{
    pn_batch_release_options options = fixed_options();
    pn_batch_release *release = made(options);
    const pn_event *event = pn_batch_release_event(release, NULL);
    size_t per_event = 0;
    pn_event *priced = NULL;

    CHECK(pn_batch_release_price(&priced, &per_event, &options, NULL) == PN_OK && per_event == 1);
    for (double alpha = 1.5; alpha < 100.0; alpha *= 2.0)
        CHECK(priced->ops->rdp(priced, alpha) == event->ops->rdp(event, alpha));
    pn_event_free(priced);
    options.scheme = "shuffled";
    CHECK(pn_batch_release_price(&priced, &per_event, &options, NULL) == PN_OK && per_event == 4);
    pn_event_free(priced);
    pn_batch_release_free(release);
}

static void charges_are_what_the_ledger_records(void)
{
    pn_batch_release *release = made(fixed_options());
    pn_ledger *ledger = teaching(PN_REPLACE_ONE);
    pn_rng *rng = seeded(1);

    CHECK(pn_batch_release_left(release) == 0 && pn_batch_release_paid(release) == 0);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 3, false, NULL) == PN_OK);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 2, false, NULL) == PN_OK);
    CHECK(pn_batch_release_left(release) == 5 && pn_batch_release_paid(release) == 5);
    CHECK(pn_ledger_entries(ledger) == 1 && pn_ledger_entry(ledger, 0).count == 5);
    CHECK(pn_ledger_entry(ledger, 0).event == pn_batch_release_event(release, NULL));
    CHECK(strcmp(pn_ledger_entry(ledger, 0).label, "step") == 0);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 4, true, NULL) == PN_OK); /* elsewhere */
    CHECK(pn_batch_release_left(release) == 9 && pn_ledger_entry(ledger, 0).count == 5);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_batch_release_free(release);
}

/* 25 records in batches of 7: 4 batches a pass. */
static void a_pass_that_is_begun_is_charged_whole(void)
{
    pn_batch_release_options options = fixed_options();
    pn_ledger *ledger = teaching(PN_REPLACE_ONE);
    pn_rng *rng = seeded(1);
    pn_batch_release *release;
    size_t per_event = 0;

    options.scheme = "shuffled";
    release = made(options);
    CHECK(strcmp(pn_batch_release_event(release, &per_event)->ops->name, "gaussian") == 0 && per_event == 4);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 5, false, NULL) == PN_OK);
    CHECK(pn_batch_release_left(release) == 8 && pn_ledger_entry(ledger, 0).count == 2);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 3, false, NULL) == PN_OK);
    CHECK(pn_batch_release_left(release) == 8 && pn_ledger_entry(ledger, 0).count == 2);
    CHECK(pn_batch_release_pay(release, ledger, "step", rng, 1, false, NULL) == PN_OK);
    CHECK(pn_batch_release_left(release) == 12 && pn_ledger_entry(ledger, 0).count == 3);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_batch_release_free(release);
}

/* ---- the law ---- */

typedef struct tally {
    double square, mean;      /* of the standardised noise */
    double times[N];          /* that each record was drawn */
    double size, size_square; /* of the batches */
    int same;                 /* batches that were the batch before */
} tally;

enum { RELEASES = 4000 };

/* Sums far from 0, at different scales: noise does not depend on them. */
static tally run(pn_batch_release_options options, double scale)
{
    pn_batch_release *release = made(options);
    pn_ledger *ledger = teaching(options.neighbours);
    double sum[DIM], out[DIM];
    pn_rng *rng = seeded(11);
    size_t before[N] = { 0 }, size_before = 0;
    tally t = { 0 };
    bool good = pn_batch_release_pay(release, ledger, NULL, rng, RELEASES, false, NULL) == PN_OK;

    for (int k = 0; k < RELEASES; k++) {
        const size_t *rows = NULL;
        size_t count = 0;

        good = good && pn_batch_release_draw(release, rng, &rows, &count, NULL) == PN_OK;
        t.same += count == size_before && memcmp(rows, before, count * sizeof *rows) == 0;
        for (size_t i = 0; i < count; i++)
            t.times[before[i] = rows[i]]++;
        size_before = count;
        t.size += (double)count;
        t.size_square += (double)count * (double)count;
        for (int j = 0; j < DIM; j++)
            sum[j] = scale * (j - 25.3);
        good = good && pn_batch_release_make(release, rng, scale, sum, out, NULL) == PN_OK;
        for (int j = 0; j < DIM; j++) {
            double z = (out[j] - sum[j]) / (scale * options.sigma);

            t.mean += z / (RELEASES * DIM);
            t.square += z * z / (RELEASES * DIM);
        }
    }
    CHECK(good && pn_batch_release_left(release) == 0);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_batch_release_free(release);
    return t;
}

/* The mean of 200000 squares has standard deviation sqrt(2/200000) = 0.0032: a factor 1.1 is 0.17 away. */
static int wrong_noise(tally t)
{
    double count = (double)RELEASES * DIM;

    return !(fabs(t.square - 1.0) < Z_MILLIONTH * sqrt(2.0 / count)) + !(fabs(t.mean) < Z_MILLIONTH / sqrt(count));
}

/* The sizes of Poisson batches are binomial: their variance has standard deviation near sqrt(2/4000) of itself. */
static int wrong_batches(tally t, double q, bool poisson)
{
    double statistic = 0.0, mean = t.size / RELEASES, variance = t.size_square / RELEASES - mean * mean;
    double want = N * q * (1.0 - q);
    int wrong = t.same > 40; /* of 4000, when the least likely pair of batches are the same once in 10^4 */

    for (int i = 0; i < N; i++)
        statistic += (t.times[i] - RELEASES * q) * (t.times[i] - RELEASES * q) / (RELEASES * q * (1.0 - q));
    statistic *= poisson ? 1.0 : (N - 1.0) / N;
    if (poisson) /* 25 degrees of freedom: one more square, below Z_MILLIONTH */
        wrong += !(statistic < CHI2_24 + Z_MILLIONTH * Z_MILLIONTH) ||
                 !(fabs(variance / want - 1.0) < Z_MILLIONTH * sqrt(2.0 / RELEASES) * 1.1);
    else
        wrong += !(statistic < CHI2_24) || variance != 0.0;
    return wrong;
}

static int batches_and_noise_have_their_law(void)
{
    tally fixed = run(fixed_options(), 1.0), poisson = run(poisson_options(PN_ZERO_OUT), 1.0);

    return wrong_noise(fixed) + wrong_noise(poisson) + wrong_batches(fixed, (double)BATCH / N, false) +
           wrong_batches(poisson, 0.3, true);
}

static void noise_scales(void)
{
    CHECK(wrong_noise(run(fixed_options(), 0x1.23p-200)) == 0);
    CHECK(wrong_noise(run(fixed_options(), 3.7)) == 0);
}

/* ---- a whole vector beside the batch ---- */

static pn_batch_release_options whole_options(void)
{
    pn_batch_release_options options = fixed_options();

    options.whole = 0.25;
    options.whole_bound = 10.0;
    return options;
}

static void both_parts_are_charged_with_their_rounding(void)
{
    pn_batch_release_options options = whole_options();
    pn_batch_release *release = made(options);
    const pn_event *event = pn_batch_release_event(release, NULL);
    double step = options.sigma * 0x1p-40;
    double sampled = (3.0 + 2.0 * sqrt(DIM) * options.error) * (1.0 + 0x1p-40), whole = options.whole;
    double got;

    sampled += sqrt(DIM) * step * (1.0 + 100.0 / step * 0x1p-52);
    whole += sqrt(DIM) * step * (1.0 + 10.0 / step * 0x1p-52);
    CHECK(strcmp(event->ops->name, "fixed_sampled_and_whole") == 0);
    CHECK(parameter(event, "batch").count == BATCH && parameter(event, "n").count == N);
    CHECK(parameter(event, "sigma").real == options.sigma && parameter(event, "draws").count == DIM);
    got = parameter(event, "sampled_sensitivity").real;
    CHECK(got >= sampled && got <= sampled * (1.0 + 1e-14));
    got = parameter(event, "whole_sensitivity").real;
    CHECK(got >= whole && got <= whole * (1.0 + 1e-14));
    pn_batch_release_free(release);
}

/* The same stream, with and without: the difference is the vector's own rounding, whatever the sum is. */
static void each_part_is_rounded_by_itself(void)
{
    const double step = 2.0 * 0x1p-40;
    double whole[DIM], sum[DIM], with[DIM], without[DIM];
    pn_batch_release *release = made(whole_options()), *plain = made(fixed_options());
    pn_ledger *ledger = teaching(PN_REPLACE_ONE);
    pn_rng *rng = seeded(3), *same = seeded(3);
    const size_t *rows;
    size_t count;
    bool apart = true;

    for (int j = 0; j < DIM; j++) {
        whole[j] = (0.3 + 0.01 * j) * step + j * 0.1;
        sum[j] = 0.3 * step;
    }
    CHECK(pn_batch_release_pay(release, ledger, NULL, rng, 2, false, NULL) == PN_OK);
    CHECK(pn_batch_release_pay(plain, ledger, NULL, rng, 2, false, NULL) == PN_OK);
    CHECK(pn_batch_release_draw(release, rng, &rows, &count, NULL) == PN_OK);
    CHECK(pn_batch_release_draw(plain, same, &rows, &count, NULL) == PN_OK);
    CHECK(pn_batch_release_make(release, rng, 1.0, sum, with, NULL) == PN_EINVAL); /* not set */
    CHECK(pn_batch_release_set_whole(plain, whole, NULL) == PN_EINVAL);
    CHECK(pn_batch_release_set_whole(release, whole, NULL) == PN_OK);
    CHECK(pn_batch_release_make(release, rng, 0.5, sum, with, NULL) == PN_EINVAL);
    CHECK(pn_batch_release_make(release, rng, 1.0, sum, with, NULL) == PN_OK);
    CHECK(pn_batch_release_make(plain, same, 1.0, sum, without, NULL) == PN_OK);
    for (int j = 0; j < DIM; j++)
        apart = apart && with[j] / step - without[j] / step == nearbyint(whole[j] / step);
    CHECK(apart);
    whole[7] = 10.5;
    CHECK(pn_batch_release_set_whole(release, whole, NULL) == PN_EDOMAIN);
    pn_rng_free(rng);
    pn_rng_free(same);
    pn_ledger_free(ledger);
    pn_batch_release_free(release);
    pn_batch_release_free(plain);
}

static void a_whole_vector_is_for_fixed_batches(void)
{
    pn_batch_release_options options = poisson_options(PN_REPLACE_ONE);
    pn_batch_release *release = NULL;

    options.whole = 1.0;
    options.whole_bound = INFINITY;
    CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EUNSUPPORTED && !release);
}

/* ---- the order of calls ---- */

typedef struct stage {
    pn_batch_release *release;
    pn_ledger *ledger;
    pn_rng *rng;
    double sum[DIM], out[DIM];
    const size_t *rows;
    size_t count;
} stage;

static stage set_up(size_t paid)
{
    stage s = { .release = made(fixed_options()), .ledger = teaching(PN_REPLACE_ONE), .rng = seeded(5) };

    if (paid > 0)
        CHECK(pn_batch_release_pay(s.release, s.ledger, NULL, s.rng, paid, false, NULL) == PN_OK);
    for (int j = 0; j < DIM; j++)
        s.out[j] = -7.0;
    return s;
}

static void clear(stage *s)
{
    pn_batch_release_free(s->release);
    pn_ledger_free(s->ledger);
    pn_rng_free(s->rng);
}

static pn_status draw(stage *s)
{
    return pn_batch_release_draw(s->release, s->rng, &s->rows, &s->count, NULL);
}

static pn_status make(stage *s, double scale)
{
    return pn_batch_release_make(s->release, s->rng, scale, s->sum, s->out, NULL);
}

static bool untouched(const stage *s)
{
    bool same = true;

    for (int j = 0; j < DIM; j++)
        same = same && s->out[j] == -7.0;
    return same;
}

/* The stream stands where a new one with the same seed, from which nothing was drawn, stands. */
static bool nothing_drawn(stage *s)
{
    pn_rng *fresh = seeded(5);
    bool same = pn_rng_u64(fresh) == pn_rng_u64(s->rng);

    pn_rng_free(fresh);
    return same;
}

static void nothing_comes_before_it_is_paid_for(void)
{
    stage s = set_up(0);

    CHECK(draw(&s) == PN_EBUDGET && make(&s, 1.0) == PN_EBUDGET);
    CHECK(untouched(&s) && nothing_drawn(&s));
    clear(&s);
    s = set_up(1);
    CHECK(make(&s, 1.0) == PN_EBUDGET && untouched(&s) && nothing_drawn(&s));
    CHECK(draw(&s) == PN_OK && make(&s, 1.0) == PN_OK && !untouched(&s));
    CHECK(draw(&s) == PN_EBUDGET && make(&s, 1.0) == PN_EBUDGET);
    clear(&s);
}

static void a_batch_stays_until_its_sum_is_released(void)
{
    stage s = set_up(2);
    size_t first[BATCH];

    CHECK(draw(&s) == PN_OK && s.count == BATCH);
    memcpy(first, s.rows, sizeof first);
    s.sum[3] = NAN;
    CHECK(make(&s, 1.0) == PN_EDOMAIN && untouched(&s) && pn_batch_release_left(s.release) == 2);
    s.sum[3] = 0.0;
    CHECK(draw(&s) == PN_OK && memcmp(first, s.rows, sizeof first) == 0);
    CHECK(make(&s, 1.0) == PN_OK && pn_batch_release_left(s.release) == 1);
    CHECK(draw(&s) == PN_OK && memcmp(first, s.rows, sizeof first) != 0); /* 1 in 480700 for another seed */
    clear(&s);
}

static void sums_outside_the_promise_are_refused(void)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY, 100.1, -1e300 };
    stage s = set_up(1);
    pn_err err;

    CHECK(draw(&s) == PN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        s.sum[17] = bad[i];
        CHECK(pn_batch_release_make(s.release, s.rng, 1.0, s.sum, s.out, &err) == PN_EDOMAIN);
        CHECK(!strstr(err.message, "17") && !strstr(err.message, "100.1") && untouched(&s));
    }
    s.sum[17] = 100.0;
    CHECK(make(&s, 0.5) == PN_EDOMAIN && untouched(&s)); /* the bound shrinks with the scale */
    CHECK(make(&s, 1.0) == PN_OK);
    clear(&s);
}

static void at_scale_zero_nothing_is_drawn(void)
{
    static const double scales[] = { 0.0, 0x1p-950, 0x1p-901 };
    bool zero = true;

    for (size_t i = 0; i < 3; i++) {
        stage s = set_up(1), other = set_up(1);

        CHECK(draw(&s) == PN_OK && draw(&other) == PN_OK);
        s.sum[0] = NAN; /* is not looked at */
        CHECK(make(&s, scales[i]) == PN_OK && pn_batch_release_left(s.release) == 0);
        for (int j = 0; j < DIM; j++)
            zero = zero && s.out[j] == 0.0;
        CHECK(zero && pn_rng_u64(s.rng) == pn_rng_u64(other.rng));
        clear(&s);
        clear(&other);
    }
}

static void scales_that_make_no_sense_are_refused(void)
{
    static const double bad[] = { -1.0, NAN, INFINITY, 0x1p900 };
    stage s = set_up(1);

    CHECK(draw(&s) == PN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(make(&s, bad[i]) == PN_EINVAL && untouched(&s));
    CHECK(pn_batch_release_left(s.release) == 1);
    clear(&s);
}

static void options_that_make_no_sense_are_refused(void)
{
    static const double bad[] = { -1.0, 0.0, NAN, 0x1p901, 0x1p-901, INFINITY };
    pn_batch_release_options options;
    pn_batch_release *release = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options = fixed_options();
        options.contribution = bad[i];
        CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EINVAL && !release);
        options = fixed_options();
        options.sigma = bad[i];
        CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EINVAL && !release);
        options = fixed_options();
        options.error = bad[i] == 0.0 ? -0x1p-2 : bad[i];
        CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EINVAL && !release);
        options = fixed_options();
        options.bound = bad[i] == INFINITY ? -INFINITY : bad[i];
        CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EINVAL && !release);
    }
    options = fixed_options();
    options.dim = 0;
    CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EDIM && !release);
    options = fixed_options();
    options.batch = N + 1;
    CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EINVAL && !release);
    options = fixed_options();
    options.neighbours = PN_ADD_REMOVE;
    CHECK(pn_batch_release_new(&release, &options, NULL) == PN_EUNSUPPORTED && !release);
}

/* ---- who pays ---- */

static void budgets_refuse_and_nothing_is_drawn(void)
{
    pn_ledger *small = ledger_of((pn_budget){ .epsilon = 1e-3, .delta = 1e-6, .rho = NAN, .teaching = true });
    pn_ledger *other = teaching(PN_ZERO_OUT);
    stage s = set_up(0);

    CHECK(pn_batch_release_pay(s.release, small, NULL, s.rng, 1000, false, NULL) == PN_EBUDGET);
    CHECK(pn_batch_release_pay(s.release, other, NULL, s.rng, 1, false, NULL) == PN_EPRIVACY);
    CHECK(pn_batch_release_pay(s.release, other, NULL, s.rng, 1, true, NULL) == PN_EPRIVACY);
    CHECK(pn_batch_release_pay(s.release, NULL, NULL, s.rng, 1, false, NULL) == PN_EINVAL);
    CHECK(pn_batch_release_pay(s.release, s.ledger, NULL, s.rng, SIZE_MAX, false, NULL) == PN_EINVAL);
    CHECK(pn_batch_release_left(s.release) == 0 && pn_batch_release_paid(s.release) == 0);
    CHECK(pn_ledger_entries(small) == 0 && pn_ledger_entries(other) == 0 && pn_ledger_entries(s.ledger) == 0);
    CHECK(draw(&s) == PN_EBUDGET && nothing_drawn(&s));
    clear(&s);
    pn_ledger_free(small);
    pn_ledger_free(other);
}

static void simulated_noise_is_for_teaching_alone(void)
{
    pn_ledger *real = ledger_of((pn_budget){ .epsilon = NAN, .rho = 1e12 });
    pn_rng *secure = NULL;
    stage s = set_up(0);

    CHECK(pn_rng_secure(&secure, NULL) == PN_OK);
    CHECK(pn_batch_release_pay(s.release, real, NULL, s.rng, 1, false, NULL) == PN_EPRIVACY);
    CHECK(pn_batch_release_pay(s.release, real, NULL, s.rng, 1, true, NULL) == PN_EPRIVACY);
    CHECK(pn_ledger_entries(real) == 0);
    CHECK(pn_batch_release_pay(s.release, real, NULL, secure, 1, false, NULL) == PN_OK);
    CHECK(pn_batch_release_pay(s.release, s.ledger, NULL, s.rng, 1, false, NULL) == PN_OK);
    CHECK(draw(&s) == PN_EPRIVACY && nothing_drawn(&s)); /* one of the payments was real */
    CHECK(pn_batch_release_draw(s.release, secure, &s.rows, &s.count, NULL) == PN_OK);
    CHECK(make(&s, 1.0) == PN_EPRIVACY && untouched(&s));
    CHECK(pn_batch_release_make(s.release, secure, 1.0, s.sum, s.out, NULL) == PN_OK);
    clear(&s);
    pn_ledger_free(real);
    pn_rng_free(secure);
}

static void a_batch_of_all_records_lists_none(void)
{
    pn_batch_release_options options = fixed_options();
    pn_ledger *ledger = teaching(PN_REPLACE_ONE);
    pn_rng *rng = seeded(5), *fresh = seeded(5);
    pn_batch_release *release;
    size_t mark = 1, count = 0;
    const size_t *rows = &mark;

    options.scheme = "full";
    release = made(options);
    CHECK(pn_batch_release_draw(release, rng, &rows, &count, NULL) == PN_EBUDGET && rows == &mark);
    CHECK(pn_batch_release_pay(release, ledger, NULL, rng, 1, false, NULL) == PN_OK);
    CHECK(pn_batch_release_draw(release, rng, &rows, &count, NULL) == PN_OK && !rows && count == N);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(fresh));
    pn_rng_free(rng);
    pn_rng_free(fresh);
    pn_ledger_free(ledger);
    pn_batch_release_free(release);
}

static int ask_in_child(stage *s)
{
    pn_err err;

    if (pn_batch_release_make(s->release, s->rng, 1.0, s->sum, s->out, &err) != PN_EPRIVACY)
        return 1;
    if (!strstr(err.message, "forked child") || !untouched(s))
        return 2;
    if (draw(s) != PN_EPRIVACY)
        return 3;
    return pn_batch_release_pay(s->release, s->ledger, NULL, s->rng, 1, true, NULL) == PN_EPRIVACY ? 0 : 4;
}

static void a_forked_child_has_not_paid(void)
{
    stage s = set_up(1);
    int state = -1;
    pid_t child;

    CHECK(draw(&s) == PN_OK);
    child = fork();
    if (child == 0)
        _exit(ask_in_child(&s));
    CHECK(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0);
    CHECK(make(&s, 1.0) == PN_OK);
    clear(&s);
}

/* ---- memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    pn_batch_release_options options = whole_options();
    pn_batch_release *release = NULL;
    pn_status status = pn_batch_release_new(&release, &options, err);

    (void)self;
    pn_batch_release_free(release);
    return status;
}

/* ---- faults ---- */

static bool noticed(const char *fault, int (*check)(void))
{
    int wrong;

    CHECK(setenv("PENUMBRA_MUTANT", fault, 1) == 0);
    wrong = check();
    CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    return wrong > 0;
}

static void faults_are_noticed(void)
{
    CHECK(batches_and_noise_have_their_law() == 0 && every_scheme_is_charged_for_what_a_record_does() == 0);
    CHECK(noticed("sensitivity_half", batches_and_noise_have_their_law));
    CHECK(noticed("batch_reuse", batches_and_noise_have_their_law));
    CHECK(noticed("batch_fixed", batches_and_noise_have_their_law));
    CHECK(noticed("batch_sensitivity", every_scheme_is_charged_for_what_a_record_does));
}

int main(void)
{
    faults_are_noticed();
    a_price_is_the_event_of_what_is_made();
    charges_are_what_the_ledger_records();
    a_pass_that_is_begun_is_charged_whole();
    noise_scales();
    both_parts_are_charged_with_their_rounding();
    each_part_is_rounded_by_itself();
    a_whole_vector_is_for_fixed_batches();
    nothing_comes_before_it_is_paid_for();
    a_batch_stays_until_its_sum_is_released();
    a_batch_of_all_records_lists_none();
    sums_outside_the_promise_are_refused();
    at_scale_zero_nothing_is_drawn();
    scales_that_make_no_sense_are_refused();
    options_that_make_no_sense_are_refused();
    budgets_refuse_and_nothing_is_drawn();
    simulated_noise_is_for_teaching_alone();
    a_forked_child_has_not_paid();
    CHECK(fail_alloc_sweep("batch_release", scenario, NULL) >= 4);
    return check_summary();
}
