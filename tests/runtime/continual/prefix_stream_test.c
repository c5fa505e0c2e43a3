/* prefix_stream_test.c -- a stream of prefix sums: paid once and before the first leaf, the same numbers whatever the
 * threads or the memory, nothing changed by a push that failed.
 * Depends on: check.h, fail_alloc.h, prefix_kit.h, continual/, fork. */
#include <sys/wait.h>
#include <unistd.h>

#include "privacy/accounting/accountant.h"

#include "fail_alloc.h"
#include "runtime/continual/prefix_kit.h"

enum { WIDE = 3 * PN_PREFIX_BLOCK + 77, LEAVES = 21 };

static bool says(const pn_err *err, const char *text)
{
    return strstr(err->message, text) != NULL;
}

/* ---- the same numbers ---- */

static void make_leaf(size_t dim, size_t t, double *leaf)
{
    for (size_t j = 0; j < dim; j++)
        leaf[j] = cos((double)(3 * j + t));
}

/* out[LEAVES * WIDE], in the order of pushes; some of them after a push that is refused. */
static void run(pn_prefix_options options, unsigned threads, double *out)
{
    static double leaf[WIDE];
    pn_prefix_design *design = design_of(options);
    pn_prefix *stream = stream_of(design, 77);
    pn_task *task = NULL;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK);
    for (size_t t = 0; t < LEAVES; t++) {
        make_leaf(WIDE, t, leaf);
        if (t % 3 == 1) {
            leaf[WIDE - 1] = NAN;
            CHECK(pn_prefix_push(stream, leaf, leaf, task, NULL) == PN_EDOMAIN);
            make_leaf(WIDE, t, leaf);
        }
        CHECK(pn_prefix_push(stream, leaf, out + t * WIDE, task, NULL) == PN_OK);
        CHECK(pn_prefix_read(stream, leaf, NULL) == PN_OK);
        CHECK(memcmp(leaf, out + t * WIDE, sizeof leaf) == 0);
    }
    CHECK(pn_prefix_count(stream) == LEAVES);
    pn_task_free(task);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

static void gives_the_same_bits_for_any_number_of_threads(void)
{
    static double one[LEAVES * WIDE], more[LEAVES * WIDE];

    for (size_t horizon = 0; horizon <= LEAVES; horizon += LEAVES) {
        for (int estimator = PN_PREFIX_PLAIN; estimator <= PN_PREFIX_HONAKER; estimator++) {
            pn_prefix_options options = unit_noise(WIDE, horizon);

            options.estimator = (pn_prefix_estimator)estimator;
            run(options, 1, one);
            run(options, 4, more);
            CHECK(memcmp(one, more, sizeof one) == 0);
        }
    }
}

static void gives_the_same_bits_when_noise_is_drawn_again(void)
{
    static const size_t horizons[] = { 0, LEAVES, 32, 100 };
    static double kept[LEAVES * WIDE], again[LEAVES * WIDE];

    for (size_t h = 0; h < 4; h++) {
        pn_prefix_options options = unit_noise(WIDE, horizons[h]);
        pn_prefix_design *keeping = design_of(options), *drawing;

        run(options, 1, kept);
        options.memory = PN_PREFIX_REGENERATE;
        run(options, 2, again);
        CHECK(memcmp(kept, again, sizeof kept) == 0);
        drawing = design_of(options);
        CHECK(pn_prefix_room(drawing, LEAVES) < pn_prefix_room(keeping, LEAVES));
        CHECK(pn_prefix_room(drawing, LEAVES) <= 4.0 * WIDE);
        pn_prefix_design_free(keeping);
        pn_prefix_design_free(drawing);
    }
}

/* The last of 2^k leaves without a root: two halves, in both memories. */
static void gives_the_same_bits_at_the_last_leaf_without_a_root(void)
{
    for (size_t k = 0; k <= 5; k++) {
        size_t horizon = (size_t)1 << k;
        pn_prefix_options options = unit_noise(5, horizon);
        pn_prefix_design *keeping = design_of(options), *drawing;
        pn_prefix *one = stream_of(keeping, 4), *two;
        double kept[32][5], again[32][5];

        options.memory = PN_PREFIX_REGENERATE;
        drawing = design_of(options);
        two = stream_of(drawing, 4);
        push_zeros(one, horizon, 5, kept[0]);
        push_zeros(two, horizon, 5, again[0]);
        CHECK(memcmp(kept, again, horizon * sizeof kept[0]) == 0);
        pn_prefix_free(one);
        pn_prefix_free(two);
        pn_prefix_design_free(keeping);
        pn_prefix_design_free(drawing);
    }
}

/* Stopped while its blocks run, a push still ends: half of it would be a release of its own. */
static pn_task *stopped;

static void push_and_stop(const pn_prefix_method *self, void *state, const pn_prefix_step *step)
{
    pn_task_cancel(stopped);
    pn_prefix_binary.push(self, state, step);
}

static void ends_a_push_that_is_stopped_meanwhile(void)
{
    static double leaf[WIDE], whole[WIDE], out[WIDE];
    pn_prefix_design *plain = design_of(unit_noise(WIDE, 4)), *stopping = design_of(unit_noise(WIDE, 4));
    pn_prefix *one = stream_of(plain, 6), *two = stream_of(stopping, 6);
    pn_prefix_ops ops = pn_prefix_binary;

    ops.push = push_and_stop;
    stopping->method->ops = &ops;
    for (unsigned threads = 1; threads <= 3; threads++) {
        CHECK(pn_task_new(&stopped, threads, NULL) == PN_OK);
        make_leaf(WIDE, threads, leaf);
        CHECK(pn_prefix_push(one, leaf, whole, NULL, NULL) == PN_OK);
        CHECK(pn_prefix_push(two, leaf, out, stopped, NULL) == PN_OK);
        CHECK(memcmp(whole, out, sizeof out) == 0);
        pn_task_free(stopped);
    }
    pn_prefix_free(one);
    pn_prefix_free(two);
    pn_prefix_design_free(plain);
    pn_prefix_design_free(stopping);
}

/* What follows a stream sees the new state before the caller sees the release; when it fails the stream is over. */
static pn_status follow(void *self, const pn_prefix *stream, pn_err *err)
{
    const double *out = self;

    CHECK(out[0] == 7.0 && pn_prefix_count(stream) >= 1);
    return pn_prefix_count(stream) < 2 ? PN_OK : pn_fail(err, PN_EIO, "full");
}

static void hands_out_after_its_follower_only(void)
{
    pn_prefix_design *design = design_of(unit_noise(1, 4));
    pn_prefix *stream = stream_of(design, 6);
    double leaf = 1.0, out = 7.0;

    stream->follower = (pn_prefix_follower){ .pushed = follow, .self = &out };
    CHECK(pn_prefix_push(stream, &leaf, &out, NULL, NULL) == PN_OK && out != 7.0);
    out = 7.0;
    CHECK(pn_prefix_push(stream, &leaf, &out, NULL, NULL) == PN_EIO && out == 7.0);
    CHECK(pn_prefix_push(stream, &leaf, &out, NULL, NULL) == PN_EINVAL && out == 7.0);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* Ties, both signs, the ends of the fast path and the clamp: the integers of pn_lattice_round. */
static void rounds_leaves_as_releases_do(void)
{
    static const double odd[] = { 0.0,   -0.0,   0.5,    -0.5,    1.5,    2.5,         -2.5,
                                  1e300, -1e300, 0x1p50, -0x1p50, 0x1p62, 0x1p49 + 0.5 };
    double leaf[101], work[101];
    int64_t whole[101];

    for (size_t large = 0; large <= 1; large++) {
        pn_prefix_step step = { .count = 101, .leaf = leaf, .work = { work } };

        for (size_t j = 0; j < 101; j++)
            leaf[j] = 0.25 * (j < 13 && (large || fabs(odd[j]) < 0x1p50) ? odd[j] : 1e5 * sin((double)j));
        pn_prefix_round(&step, 0.25, whole);
        for (size_t j = 0; j < 101; j++)
            CHECK(whole[j] == pn_lattice_round(leaf[j], 0.25, 0x1p62));
    }
}

static void gives_every_coordinate_noise_of_its_own(void)
{
    static double out[WIDE];
    pn_prefix_design *design = design_of(unit_noise(WIDE, 4));
    pn_prefix *stream = stream_of(design, 6);
    size_t equal = 0;

    push_zeros(stream, 1, WIDE, out);
    for (size_t j = PN_PREFIX_BLOCK; j < WIDE; j++)
        equal += out[j] == out[j % PN_PREFIX_BLOCK];
    CHECK(equal == 0); /* 2^40 steps in a standard deviation */
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* ---- paying ---- */

static pn_prefix *unpaid(pn_prefix_design *design, bool secure)
{
    pn_prefix *stream = NULL;
    pn_rng *rng = NULL;

    CHECK((secure ? pn_rng_secure(&rng, NULL) : pn_rng_seeded(&rng, 1, NULL)) == PN_OK);
    CHECK(pn_prefix_new(&stream, design, rng, NULL) == PN_OK);
    pn_rng_free(rng);
    return stream;
}

static void is_paid_for_once_and_before_the_first_leaf(void)
{
    pn_prefix_options options = unit_noise(2, 8);
    pn_budget terms = { .epsilon = NAN, .rho = 1.0, .neighbours = PN_REPLACE_ONE };
    pn_prefix_design *design;
    pn_prefix *stream, *seeded;
    pn_ledger *ledger = NULL, *other = teaching_ledger(PN_ZERO_OUT);
    double leaf[2] = { 0.0 };
    pn_err err;

    options.sigma = 0.0;
    options.rho = 1.0;
    design = design_of(options);
    stream = unpaid(design, true);
    seeded = unpaid(design, false);
    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    CHECK(pn_prefix_push(stream, leaf, leaf, NULL, &err) == PN_EPRIVACY && says(&err, "paid"));
    CHECK(pn_prefix_pay(stream, NULL, NULL, false, NULL) == PN_EINVAL);
    CHECK(pn_prefix_pay(stream, other, NULL, false, NULL) == PN_EPRIVACY);
    CHECK(pn_prefix_pay(seeded, ledger, NULL, false, &err) == PN_EPRIVACY && says(&err, "seeded"));
    CHECK(pn_ledger_spent(ledger) == 0.0 && !pn_prefix_is_paid(stream));
    CHECK(pn_prefix_pay(stream, ledger, "sums", false, NULL) == PN_OK && pn_prefix_is_paid(stream));
    CHECK_CLOSE(pn_ledger_spent(ledger), 1.0, 1e-12);
    CHECK(pn_prefix_pay(stream, ledger, "sums", false, NULL) == PN_EINVAL);
    CHECK(pn_prefix_push(stream, leaf, leaf, NULL, NULL) == PN_OK);
    CHECK(!pn_prefix_simulated(stream) && pn_prefix_simulated(seeded));
    pn_prefix_free(stream);
    stream = unpaid(design, true);
    CHECK(pn_prefix_pay(stream, ledger, "sums", false, NULL) == PN_EBUDGET && !pn_prefix_is_paid(stream));
    CHECK(pn_prefix_pay(stream, ledger, "sums", true, NULL) == PN_OK && pn_prefix_is_paid(stream));
    CHECK_CLOSE(pn_ledger_spent(ledger), 1.0, 1e-12);
    pn_prefix_free(stream);
    pn_prefix_free(seeded);
    pn_ledger_free(ledger);
    pn_ledger_free(other);
    pn_prefix_design_free(design);
}

/* Every way to say how much: what the event then costs is within it, and not far below. */
static void costs_what_was_asked_for(void)
{
    static const size_t horizons[] = { 0, 1, 2, 100, 1024 };

    for (size_t h = 0; h < 5; h++) {
        for (size_t dim = 1; dim <= 1000; dim *= 1000) {
            pn_prefix_options options = unit_noise(dim, horizons[h]);
            pn_prefix_design *design;

            options.sigma = 0.0;
            options.rho = 0.3;
            options.bound = 10.0;
            design = design_of(options);
            CHECK(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)) <= 0.3);
            CHECK_CLOSE(pn_prefix_design_event(design)->ops->zcdp(pn_prefix_design_event(design)), 0.3, 1e-12);
            CHECK_CLOSE(pn_prefix_design_mu(design), sqrt(0.6), 1e-12);
            pn_prefix_design_free(design);
            options.rho = 0.0;
            options.epsilon = 0.8;
            options.delta = 1e-7;
            design = design_of(options);
            CHECK(pn_event_epsilon(pn_prefix_design_event(design), 1, 1e-7, NULL) <= 0.8);
            CHECK(pn_event_epsilon(pn_prefix_design_event(design), 1, 1e-7, NULL) >= 0.8 - 1e-6);
            pn_prefix_design_free(design);
        }
    }
}

/* Item 10 of the spec's list: exact epsilon at mu = 1 and mu = 0.1, delta = 1e-6. */
static void has_the_exact_epsilon_of_a_gaussian(void)
{
    static const double rho[] = { 0.5, 0.005 }, epsilon[] = { 4.886554, .396857 };

    for (size_t i = 0; i < 2; i++) {
        pn_prefix_options options = unit_noise(3, 64);
        pn_prefix_design *design;

        options.sigma = 0.0;
        options.rho = rho[i];
        design = design_of(options);
        CHECK_CLOSE(pn_event_epsilon(pn_prefix_design_event(design), 1, 1e-6, NULL), epsilon[i], 2e-6);
        pn_prefix_design_free(design);
    }
}

/* ---- refusals ---- */

static void refuses(pn_prefix_options options, pn_status status, const char *text)
{
    pn_prefix_design *design = NULL;
    pn_err err = { 0 };

    if (!CHECK(pn_prefix_design_new(&design, &options, &err) == status) || !CHECK(says(&err, text)))
        (void)fprintf(stderr, "    \"%s\" is not in \"%s\"\n", text, err.message);
    CHECK(design == NULL);
}

static void refuses_options_that_make_no_sense(void)
{
    static const double zeros[4] = { 0 }, negative[4] = { 1, -1, 1, 1 }, spread[4] = { 1, 1e-4, 1, 1 };
    pn_prefix_options ok = unit_noise(3, 4), bad;

#define REFUSES(change, status, text)                                                                                  \
    do {                                                                                                               \
        bad = ok;                                                                                                      \
        change;                                                                                                        \
        refuses(bad, status, text);                                                                                    \
    } while (0)
    REFUSES(bad.dim = 0, PN_EDIM, "dim");
    REFUSES(bad.horizon = SIZE_MAX, PN_EINVAL, "horizon");
    REFUSES(bad.sensitivity = 0.0, PN_EINVAL, "sensitivity");
    REFUSES(bad.sensitivity = -1.0, PN_EINVAL, "-1");
    REFUSES(bad.sensitivity = NAN, PN_EINVAL, "nan");
    REFUSES(bad.sensitivity = INFINITY, PN_EINVAL, "inf");
    REFUSES(bad.sigma = 0.0, PN_EINVAL, "none");
    REFUSES(bad.rho = 1.0, PN_EINVAL, "more than one");
    REFUSES(bad.noiseless = true, PN_EINVAL, "more than one");
    REFUSES((bad.sigma = 0.0, bad.rho = -1.0), PN_EINVAL, "rho");
    REFUSES((bad.sigma = 0.0, bad.rho = NAN), PN_EINVAL, "rho");
    REFUSES((bad.sigma = 0.0, bad.epsilon = 1.0), PN_EINVAL, "delta");
    REFUSES((bad.sigma = 0.0, bad.delta = 0.1), PN_EINVAL, "epsilon");
    REFUSES((bad.sigma = 0.0, bad.epsilon = 1.0, bad.delta = 1.0), PN_EINVAL, "delta");
    REFUSES((bad.sigma = 0.0, bad.rho = 1e-30), PN_EBUDGET, "no noise");
    REFUSES(bad.bound = -1.0, PN_EINVAL, "bound");
    REFUSES(bad.neighbours = PN_ADD_REMOVE, PN_EUNSUPPORTED, "add_remove");
    REFUSES(bad.separation = 2, PN_EINVAL, "separation");
    REFUSES((bad.horizon = 0, bad.participations = 2), PN_EUNSUPPORTED, "participations");
    REFUSES(bad.factorization = "tertiary", PN_EUNSUPPORTED, "tertiary");
    REFUSES(bad.growth = PN_PREFIX_ENDLESS, PN_EINVAL, "endless");
    REFUSES(bad.sensitivities = zeros, PN_EINVAL, "not both");
    REFUSES((bad.sensitivity = 0.0, bad.sensitivities = zeros), PN_EINVAL, "positive");
    REFUSES((bad.sensitivity = 0.0, bad.sensitivities = negative), PN_EINVAL, "-1 for leaf 2");
    REFUSES((bad.sensitivity = 0.0, bad.sensitivities = negative, bad.horizon = 0), PN_EINVAL, "horizon");
    REFUSES((bad.sensitivity = 0.0, bad.sensitivities = spread, bad.scale = PN_PREFIX_BY_NODE), PN_EUNSUPPORTED,
            "factor of 1024");
    REFUSES(bad.scale = PN_PREFIX_BY_NODE, PN_EINVAL, "sensitivities");
    REFUSES((bad.estimator = PN_PREFIX_HONAKER, bad.memory = PN_PREFIX_REGENERATE), PN_EUNSUPPORTED, "regenerate");
    REFUSES((bad.estimator = PN_PREFIX_FULL, bad.horizon = 5), PN_EUNSUPPORTED, "power of two");
    REFUSES((bad.estimator = PN_PREFIX_FULL, bad.horizon = 0), PN_EUNSUPPORTED, "horizon");
#undef REFUSES
}

static void refuses_leaves_that_cannot_be_and_stays_as_it_was(void)
{
    pn_prefix_options options = unit_noise(3, 2);
    pn_prefix_design *design;
    pn_prefix *stream;
    pn_task *task = NULL;
    double good[3] = { 1, -2, 0 }, high[3] = { 0, 2.5, 0 }, bad[3] = { 0, 0, NAN }, out[3] = { 7, 7, 7 }, again[3];
    pn_err err;

    options.bound = 2.0;
    design = design_of(options);
    stream = stream_of(design, 1);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    CHECK(pn_prefix_read(stream, out, NULL) == PN_EINVAL);
    CHECK(pn_prefix_push(stream, bad, out, NULL, &err) == PN_EDOMAIN && says(&err, "entry 3") && !says(&err, "nan"));
    CHECK(pn_prefix_push(stream, high, out, NULL, &err) == PN_EDOMAIN && says(&err, "entry 2") && !says(&err, "2.5"));
    pn_task_cancel(task);
    CHECK(pn_prefix_push(stream, good, out, task, NULL) == PN_ECANCELLED);
    CHECK(out[0] == 7 && out[2] == 7 && pn_prefix_count(stream) == 0);
    CHECK(pn_prefix_push(stream, good, out, NULL, NULL) == PN_OK);
    CHECK(pn_prefix_push(stream, good, NULL, NULL, NULL) == PN_OK && pn_prefix_read(stream, out, NULL) == PN_OK);
    CHECK(pn_prefix_push(stream, good, again, NULL, &err) == PN_EBUDGET && says(&err, "2 leaves"));
    CHECK(pn_prefix_read(stream, again, NULL) == PN_OK && memcmp(out, again, sizeof out) == 0);
    CHECK(pn_prefix_all(stream, out, NULL, NULL) == PN_EUNSUPPORTED);
    CHECK(pn_prefix_complete(stream, out, NULL, NULL, NULL) == PN_EUNSUPPORTED);
    pn_task_free(task);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

static void takes_nothing_after_it_was_completed(void)
{
    pn_prefix_options options = unit_noise(1, 4);
    pn_prefix_design *design;
    pn_prefix *stream;
    double out = 0.0;

    options.keep_root = true;
    design = design_of(options);
    stream = stream_of(design, 1);
    CHECK(pn_prefix_complete(stream, &out, NULL, NULL, NULL) == PN_EINVAL);
    push_zeros(stream, 3, 1, NULL);
    CHECK(pn_prefix_complete(stream, &out, NULL, NULL, NULL) == PN_OK);
    CHECK_CLOSE(out, node_noise(stream, 2, 1, 0), 1e-12);
    CHECK(pn_prefix_push(stream, &out, NULL, NULL, NULL) == PN_EBUDGET);
    CHECK(pn_prefix_complete(stream, &out, NULL, NULL, NULL) == PN_EBUDGET);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* A child that went on would draw the noise of its parent for other leaves. */
static void refuses_a_child_process(void)
{
    pn_prefix_design *design = design_of(unit_noise(1, 8));
    pn_prefix *stream = stream_of(design, 1);
    int result = -1;
    pid_t child;
    double leaf = 0.0;

    push_zeros(stream, 1, 1, NULL);
    child = fork();
    if (child == 0)
        _exit(pn_prefix_push(stream, &leaf, &leaf, NULL, NULL) == PN_EPRIVACY ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
    push_zeros(stream, 1, 1, NULL);
    pn_prefix_free(stream);
    pn_prefix_design_free(design);
}

/* ---- without noise ---- */

static void sums_without_noise_when_that_was_asked_for(void)
{
    pn_prefix_options options = { .dim = 2, .noiseless = true };
    pn_prefix_design *design;
    pn_prefix *stream;
    pn_rng *rng = NULL;
    double leaf[2] = { 1.5, -2.0 }, out[2];

    for (options.horizon = 0; options.horizon <= 10; options.horizon += 10) {
        design = design_of(options);
        CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
        CHECK(pn_prefix_new(&stream, design, rng, NULL) == PN_EINVAL && stream == NULL);
        pn_rng_free(rng);
        CHECK(pn_prefix_new(&stream, design, NULL, NULL) == PN_OK && pn_prefix_is_paid(stream));
        CHECK(pn_prefix_pay(stream, NULL, NULL, false, NULL) == PN_OK);
        for (int t = 1; t <= 10; t++) {
            CHECK(pn_prefix_push(stream, leaf, out, NULL, NULL) == PN_OK);
            CHECK(out[0] == 1.5 * t && out[1] == -2.0 * t);
            CHECK(pn_prefix_design_variance(design, (uint64_t)t) == 0.0);
        }
        CHECK(pn_prefix_design_event(design) == NULL && pn_prefix_design_mu(design) == 0.0 &&
              pn_prefix_design_sigma(design) == 0.0);
        pn_prefix_free(stream);
        pn_prefix_design_free(design);
    }
}

/* ---- short memory ---- */

static pn_status scenario(void *self, pn_err *err)
{
    const pn_prefix_options *options = self;
    pn_prefix_design *design = NULL;
    pn_prefix *stream = NULL;
    pn_rng *rng = NULL;
    static double leaf[PN_PREFIX_BLOCK + 1], out[4 * (PN_PREFIX_BLOCK + 1)];
    pn_status status = pn_prefix_design_new(&design, options, err);

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_prefix_new(&stream, design, rng, err);
    for (size_t t = 0; status == PN_OK && t < 4; t++) {
        stream->paid = true;
        status = pn_prefix_push(stream, leaf, out, NULL, err);
        CHECK(pn_prefix_count(stream) == t + (status == PN_OK)); /* nothing happened when it failed */
    }
    if (status == PN_OK && options->estimator == PN_PREFIX_FULL)
        status = pn_prefix_all(stream, out, NULL, err);
    pn_prefix_free(stream);
    pn_rng_free(rng);
    pn_prefix_design_free(design);
    return status;
}

static void survives_every_failing_allocation(void)
{
    static const double sensitivities[4] = { 1, 2, 1, 1 };
    pn_prefix_options options = unit_noise(PN_PREFIX_BLOCK + 1, 4);

    fail_alloc_sweep("plain", scenario, &options);
    options.estimator = PN_PREFIX_FULL;
    fail_alloc_sweep("full", scenario, &options);
    options.estimator = PN_PREFIX_HONAKER;
    options.horizon = 0;
    fail_alloc_sweep("doubling", scenario, &options);
    options.growth = PN_PREFIX_ENDLESS;
    fail_alloc_sweep("endless", scenario, &options);
    options.growth = PN_PREFIX_DOUBLING;
    options.horizon = 4;
    options.sensitivity = 0.0;
    options.sensitivities = sensitivities;
    options.scale = PN_PREFIX_BY_NODE;
    fail_alloc_sweep("by node", scenario, &options);
}

int main(void)
{
    gives_the_same_bits_for_any_number_of_threads();
    gives_the_same_bits_when_noise_is_drawn_again();
    gives_the_same_bits_at_the_last_leaf_without_a_root();
    ends_a_push_that_is_stopped_meanwhile();
    hands_out_after_its_follower_only();
    rounds_leaves_as_releases_do();
    gives_every_coordinate_noise_of_its_own();
    is_paid_for_once_and_before_the_first_leaf();
    costs_what_was_asked_for();
    has_the_exact_epsilon_of_a_gaussian();
    refuses_options_that_make_no_sense();
    refuses_leaves_that_cannot_be_and_stays_as_it_was();
    takes_nothing_after_it_was_completed();
    refuses_a_child_process();
    sums_without_noise_when_that_was_asked_for();
    survives_every_failing_allocation();
    return check_summary();
}
