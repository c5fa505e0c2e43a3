/* checkpoint_test.c -- a stream that was saved, or that followed a file, goes on as if nothing had happened, once; what
 * cannot be written is not released, and what does not fit together is refused.  (Dying: checkpoint_crash_test.c.)
 * Depends on: check.h, checkpoint_kit.h, fail_alloc.h, POSIX. */
#define _GNU_SOURCE
#include "runtime/continual/checkpoint_kit.h"

#include "fail_alloc.h"

static const pn_checkpoint_owner owner = { .name = "prefix", .what = "stream" };

#define MOST_LEAVES 40

/* ---- streams ---- */

static const double unequal[16] = { 1.0, 0.5, 2.0, 1.0, 1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0 };
static double bands[3] = { 1.0, 0.5, 0.25 }, theta[2] = { 0.9, 0.5 }, omega[2] = { 0.1, 0.3 };
static double given[25] = { 1, 0, 0, 0, 0, .5, 2, 0, 0, 0, -.5, .5, 1, 0, 0, 0, .25, .5, 1, 0, 0, 0, 1, 1, 3 };

static const pn_prefix_options streams[] = {
    { .dim = 3, .horizon = 16, .sensitivity = 1.0, .rho = 0.5, .factorization = "binary" },
    { .dim = 3,
      .horizon = 21,
      .sensitivity = 1.0,
      .epsilon = 1.0,
      .delta = 1e-6,
      .factorization = "binary",
      .estimator = PN_PREFIX_HONAKER,
      .estimator_given = true,
      .bound = 10.0 },
    { .dim = 2,
      .horizon = 16,
      .sensitivity = 1.0,
      .sigma = 2.0,
      .factorization = "binary",
      .estimator = PN_PREFIX_FULL,
      .estimator_given = true },
    { .dim = 2,
      .horizon = 21,
      .sensitivity = 1.0,
      .rho = 0.5,
      .factorization = "binary",
      .memory = PN_PREFIX_REGENERATE },
    { .dim = 2,
      .horizon = 16,
      .sensitivities = unequal,
      .rho = 0.5,
      .factorization = "binary",
      .scale = PN_PREFIX_BY_NODE },
    { .dim = 2,
      .horizon = 20,
      .sensitivity = 1.0,
      .rho = 0.5,
      .factorization = "binary",
      .participations = 3,
      .separation = 4,
      .keep_root = true,
      .neighbours = PN_ZERO_OUT },
    { .dim = 2, .sensitivity = 1.0, .rho = 0.5 },
    { .dim = 2, .sensitivity = 1.0, .rho = 0.5, .growth = PN_PREFIX_ENDLESS },
    { .dim = 2, .horizon = 24, .sensitivity = 1.0, .rho = 0.5, .factorization = "sqrt" },
    { .dim = 2, .horizon = 24, .sensitivity = 1.0, .rho = 0.5, .factorization = "banded", .bands = 3 },
    { .dim = 2,
      .horizon = 24,
      .sensitivity = 1.0,
      .rho = 0.5,
      .factorization = "banded",
      .coefficients = { bands, 3 } },
    { .dim = 2, .horizon = 24, .sensitivity = 1.0, .rho = 0.5, .factorization = "blt" },
    { .dim = 2,
      .horizon = 24,
      .sensitivity = 1.0,
      .rho = 0.5,
      .factorization = "blt",
      .theta = { theta, 2 },
      .omega = { omega, 2 } },
    { .dim = 2,
      .horizon = 5,
      .sensitivity = 1.0,
      .rho = 0.5,
      .participations = 2,
      .separation = 2,
      .factorization = "matrix",
      .matrix = { given, 5, 5 } },
    { .dim = 2, .sensitivity = 1.0, .rho = 0.5, .factorization = "sqrt" },
    { .dim = 2, .horizon = 9, .noiseless = true },
    { .dim = MOST_DIM, .horizon = 8, .sensitivity = 1.0, .rho = 0.5, .factorization = "binary" },
    { .dim = MOST_DIM, .sensitivity = 1.0, .rho = 0.5 },
};

static bool known(const pn_prefix_options *options)
{
    return !options->factorization || pn_prefix_find(options->factorization);
}

/* ---- saved ---- */

static size_t leaves_of(const pn_prefix_options *options)
{
    return options->horizon > 0 ? options->horizon : MOST_LEAVES;
}

/* Saved and resumed after every leaf, and resumed after every leaf from the file that it follows: the same bits. */
static void test_goes_on_as_if_nothing_had_happened(bool follow)
{
    static double want[MOST_DIM], got[MOST_DIM];

    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        size_t leaves = leaves_of(&streams[i]), bytes = streams[i].dim * sizeof(double);
        pn_prefix *whole, *parts;
        pn_err err;

        if (!known(&streams[i]))
            continue;
        remove_files();
        whole = started(&streams[i], false);
        parts = started(&streams[i], false);
        if (follow)
            CHECK(pn_prefix_follow(parts, path, &err) == PN_OK);
        for (size_t t = 1; t <= leaves; t++) {
            CHECK(push_next(whole, want, &err) == PN_OK);
            if (!CHECK(push_next(parts, got, &err) == PN_OK && memcmp(want, got, bytes) == 0))
                (void)fprintf(stderr, "    stream %zu, leaf %zu\n", i, t);
            if (!follow)
                CHECK(pn_prefix_save(parts, path, &err) == PN_OK);
            pn_prefix_free(parts);
            parts = resumed(path);
            if (!parts)
                break;
            CHECK(pn_prefix_count(parts) == t && pn_prefix_is_paid(parts));
            CHECK(pn_prefix_simulated(parts) == !streams[i].noiseless);
            CHECK(pn_prefix_read(parts, got, &err) == PN_OK && memcmp(want, got, bytes) == 0);
        }
        pn_prefix_free(whole);
        pn_prefix_free(parts);
    }
}

static void test_what_else_is_kept(void)
{
    const pn_prefix_options options = {
        .dim = 1, .horizon = 8, .sensitivity = 1.0, .rho = 0.5, .factorization = "binary", .keep_root = true
    };
    pn_prefix *stream = NULL;
    double total, again, variance;
    pn_err err;

    remove_files();
    CHECK(start(&stream, &options, false, &err) == PN_OK); /* not paid for */
    CHECK(pn_prefix_save(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
    stream = resumed(path);
    CHECK(!pn_prefix_is_paid(stream) && push_next(stream, NULL, &err) == PN_EPRIVACY);
    CHECK(pay(stream, &err) == PN_OK && pay(stream, &err) == PN_EINVAL);
    for (int t = 0; t < 3; t++)
        CHECK(push_next(stream, NULL, &err) == PN_OK);
    CHECK(pn_prefix_complete(stream, &total, &variance, NULL, &err) == PN_OK);
    CHECK(pn_prefix_save(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
    stream = resumed(path);
    CHECK(push_next(stream, NULL, &err) == PN_EBUDGET && strstr(err.message, "completed"));
    CHECK(pn_prefix_read(stream, &again, &err) == PN_OK && again == total);
    pn_prefix_free(stream);
}

static void test_saved_streams_are_closed(void)
{
    pn_prefix *stream = started(&streams[0], false), *again, *stranger;
    double before[3], after[3];
    pn_err err;

    remove_files();
    CHECK(push_next(stream, before, &err) == PN_OK && pn_prefix_save(stream, path, &err) == PN_OK);
    CHECK(push_next(stream, after, &err) == PN_EINVAL && strstr(err.message, path));
    CHECK(pn_prefix_save(stream, other, &err) == PN_EINVAL && strstr(err.message, "was saved"));
    CHECK(pn_prefix_follow(stream, other, &err) == PN_EINVAL && access(other, F_OK) != 0);
    CHECK(pn_prefix_read(stream, after, &err) == PN_OK && memcmp(before, after, sizeof before) == 0);
    again = resumed(path);
    CHECK(refuses(path, PN_EPRIVACY, "reuse noise"));
    CHECK(push_next(stream, after, &err) == PN_EINVAL);
    pn_prefix_free(stream);
    stranger = started(&streams[0], false);
    CHECK(pn_prefix_save(stranger, path, &err) == PN_EINVAL && strstr(err.message, "not this stream's"));
    CHECK(push_next(stranger, after, &err) == PN_OK); /* and stays open */
    CHECK(push_next(again, after, &err) == PN_OK && pn_prefix_save(again, path, &err) == PN_OK);
    CHECK(pn_prefix_save(stranger, path, &err) == PN_EINVAL);
    CHECK(pn_prefix_save(stranger, "", &err) == PN_EINVAL && strstr(err.message, "empty"));
    CHECK(pn_prefix_save(stranger, "/no/such/place/file", &err) == PN_EIO && push_next(stranger, after, &err) == PN_OK);
    pn_prefix_free(stranger);
    pn_prefix_free(again);
    again = resumed(path);
    CHECK(pn_prefix_count(again) == 2);
    pn_prefix_free(again);
}

/* ---- keys ---- */

static void test_keys(void)
{
    for (size_t i = 0; i < 8; i++) {
        for (int secure = 0; secure < 2; secure++) {
            bool stays = !secure || streams[i].memory == PN_PREFIX_REGENERATE;
            unsigned char key[PN_ADDRESS_KEY_BYTES];
            pn_prefix *stream;
            pn_err err;

            remove_files();
            stream = started(&streams[i], secure);
            memcpy(key, stream->key.bytes, sizeof key);
            CHECK(push_next(stream, NULL, &err) == PN_OK && pn_prefix_save(stream, path, &err) == PN_OK);
            pn_prefix_free(stream);
            stream = resumed(path);
            CHECK((memcmp(key, stream->key.bytes, sizeof key) == 0) == stays);
            CHECK(stream->key.simulated == !secure);
            pn_prefix_free(stream);
        }
    }
}

/* With noise of its own, what was released stays as it was, and later releases contain it. */
static void test_new_noise_is_added_to_the_old(void)
{
    const pn_prefix_options options = {
        .dim = 1, .horizon = 8, .sensitivity = 1.0, .sigma = 1e6, .factorization = "binary"
    };
    const double zero = 0.0;
    pn_prefix *stream = started(&options, true);
    double four, five, again;
    pn_err err;

    remove_files();
    for (int t = 0; t < 4; t++)
        CHECK(pn_prefix_push(stream, &zero, &four, NULL, &err) == PN_OK);
    CHECK(pn_prefix_save(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
    stream = resumed(path);
    CHECK(pn_prefix_read(stream, &again, &err) == PN_OK && again == four);
    CHECK(pn_prefix_push(stream, &zero, &five, NULL, &err) == PN_OK);
    CHECK(fabs(five - four) > 1e-3 && fabs(five - four) < 14e6); /* one more node: chance of less than 1e-9 sigma */
    pn_prefix_free(stream);
}

/* The node of all of 2^k leaves was measured at the last of them: completing is not a second measurement,
 * whatever key is at hand. */
static void test_completing_measures_no_node_again(void)
{
    static const size_t leaves[] = { 1, 2, 4, 8 };

    for (int kind = 0; kind < 12; kind++) {
        pn_prefix_options options = { .dim = 3, .horizon = kind < 6 ? 8 : 0, .sensitivity = 1.0, .sigma = 1.0 };
        double last[3], total[3], variance;

        options.factorization = "binary";
        options.keep_root = options.estimator_given = true;
        options.estimator = kind / 2 % 3 == 2 ? PN_PREFIX_HONAKER : PN_PREFIX_PLAIN;
        options.memory = kind / 2 % 3 == 1 ? PN_PREFIX_REGENERATE : PN_PREFIX_KEEP;
        for (size_t i = 0; i < 4; i++) {
            /* of an unknown horizon the last epoch's leaves */
            size_t count = kind < 6 ? leaves[i] : 15 + leaves[i];
            pn_prefix *stream = started(&options, true);
            pn_err err;

            remove_files();
            for (size_t t = 0; t < count; t++)
                CHECK(push_next(stream, last, &err) == PN_OK);
            if (kind % 2 == 1) {
                CHECK(pn_prefix_save(stream, path, &err) == PN_OK);
                pn_prefix_free(stream);
                stream = resumed(path);
            }
            CHECK(pn_prefix_complete(stream, total, &variance, NULL, &err) == PN_OK);
            CHECK(memcmp(last, total, sizeof last) == 0);
            CHECK_CLOSE(variance, pn_prefix_design_variance(pn_prefix_design_of(stream), count), 1e-12);
            pn_prefix_free(stream);
        }
    }
}

/* ---- processes ---- */

static void test_children(void)
{
    pn_prefix *stream = started(&streams[0], true);
    int ended = 0;
    pid_t child;
    pn_err err;

    remove_files();
    CHECK(push_next(stream, NULL, &err) == PN_OK);
    child = fork();
    if (child == 0)
        _exit(pn_prefix_save(stream, path, &err) == PN_EPRIVACY && strstr(err.message, "forked child") &&
                      pn_prefix_follow(stream, path, &err) == PN_EPRIVACY && access(path, F_OK) != 0
                  ? 0
                  : 1);
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    CHECK(pn_prefix_follow(stream, path, &err) == PN_OK && push_next(stream, NULL, &err) == PN_OK);
    child = fork();
    if (child == 0)
        _exit(refuses(path, PN_EIO, "alive") ? 0 : 1);
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    CHECK(refuses(path, PN_EIO, "alive"));
    CHECK(pn_prefix_follow(stream, path, &err) == PN_OK); /* it does */
    CHECK(pn_prefix_follow(stream, other, &err) == PN_EINVAL && strstr(err.message, path));
    CHECK(pn_prefix_save(stream, other, &err) == PN_EINVAL && access(other, F_OK) != 0);
    CHECK(pn_prefix_save(stream, path, &err) == PN_OK); /* from followed to parked */
    pn_prefix_free(stream);
    stream = resumed(path);
    CHECK(pn_prefix_count(stream) == 2 && refuses(path, PN_EPRIVACY, "was resumed before"));
    pn_prefix_free(stream);
}

/* ---- a disk that fails ---- */

/* Nobody gets the release of a push that is not in the file, by whatever door; and the file goes on from before. */
static void test_withheld(void)
{
    const pn_prefix_options options = { .dim = 2,
                                        .horizon = 4,
                                        .sensitivity = 1.0,
                                        .rho = 0.5,
                                        .factorization = "binary",
                                        .estimator = PN_PREFIX_FULL,
                                        .estimator_given = true };

    for (int complete = 0; complete < 2; complete++) {
        pn_prefix *stream = started(&options, false);
        double out[8] = { 99.0, 99.0 };
        pn_err err;

        remove_files();
        CHECK(pn_prefix_follow(stream, path, &err) == PN_OK);
        for (int t = 0; t < 3; t++)
            CHECK(push_next(stream, NULL, &err) == PN_OK);
        fail_write = 1;
        CHECK((complete ? pn_prefix_complete(stream, out, NULL, NULL, &err) : push_next(stream, out, &err)) == PN_EIO);
        CHECK(strstr(err.message, "nothing was released") != NULL);
        CHECK(pn_prefix_read(stream, out, &err) == PN_EIO && pn_prefix_all(stream, out, NULL, &err) != PN_OK);
        CHECK(push_next(stream, out, &err) != PN_OK && pn_prefix_complete(stream, out, NULL, NULL, &err) != PN_OK);
        CHECK(pn_prefix_save(stream, other, &err) == PN_EINVAL);
        CHECK(out[0] == 99.0 && out[1] == 99.0);
        pn_prefix_free(stream);
        stream = resumed(path);
        CHECK(pn_prefix_count(stream) == 3 && push_next(stream, out, &err) == PN_OK);
        pn_prefix_free(stream);
    }
}

static void test_a_failed_save_leaves_the_stream(void)
{
    pn_prefix *stream = started(&streams[0], false);
    pn_err err;

    remove_files();
    for (int k = 1; k <= 3; k++) {
        fail_write = k;
        CHECK(pn_prefix_save(stream, path, &err) == PN_EIO && access(path, F_OK) != 0);
        CHECK(push_next(stream, NULL, &err) == PN_OK);
    }
    fail_write = 0;
    CHECK(pn_prefix_save(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
}

/* ---- contents ---- */

static size_t image_of(unsigned char **out, const pn_prefix_options *options)
{
    pn_checkpoint_file *file = NULL;
    pn_prefix *stream = started(options, false);
    void *state = NULL;
    size_t size = 0;
    pn_err err;

    remove_files();
    CHECK(push_next(stream, NULL, &err) == PN_OK && pn_prefix_save(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
    CHECK(pn_checkpoint_open(&file, &owner, path, &state, &size, &err) == PN_OK);
    pn_checkpoint_close(file);
    *out = state;
    return size;
}

static pn_status resume_image(const void *data, size_t size, pn_err *err)
{
    static const unsigned char id[PN_CHECKPOINT_ID] = { 7 };
    static double out[MOST_DIM];
    pn_checkpoint_file *file = NULL;
    pn_prefix *stream = NULL;
    bool published;
    pn_status status;

    remove_files();
    CHECK(pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_PARKED, data, size, &published, NULL) == PN_OK);
    pn_checkpoint_close(file);
    status = pn_prefix_resume(&stream, path, err);
    if (status == PN_OK) { /* it may be pushed, or refuse, but not crash */
        for (int t = 0; t < 3; t++)
            (void)push_next(stream, NULL, NULL);
        (void)pn_prefix_complete(stream, out, NULL, NULL, NULL);
        (void)pn_prefix_design_variance(pn_prefix_design_of(stream), pn_prefix_count(stream));
        CHECK(pn_prefix_options_of(pn_prefix_design_of(stream))->dim <= MOST_DIM);
    }
    pn_prefix_free(stream);
    return status;
}

/* Contents that do not fit together under digests that do. */
static void test_contents(void)
{
    unsigned char *image, *changed;
    size_t size = image_of(&image, &streams[4]), refused = 0;
    pn_err err;

    changed = malloc(size + 16);
    CHECK(resume_image(image, size, &err) == PN_OK);
    for (size_t cut = 0; cut < size; cut += (size_t)check_times(35, 7))
        CHECK(resume_image(image, cut, &err) == PN_EPARSE);
    memcpy(changed, image, size);
    memset(changed + size, 0, 16);
    CHECK(resume_image(changed, size + 16, &err) == PN_EPARSE);
    for (size_t i = 0; i < size; i += (size_t)check_times(15, 3)) {
        memcpy(changed, image, size);
        changed[i] ^= (unsigned char)(i % 2 ? 0x81 : 0x10);
        refused += resume_image(changed, size, &err) != PN_OK;
    }
    CHECK(refused > (size_t)check_times(8, 40));
    free(changed);
    pn_free(image);
}

/* Bands without a state: refused before anything is made for them. */
static void test_claimed_bands(void)
{
    static const pn_prefix_options options = {
        .dim = 2, .horizon = 1000, .sensitivity = 1.0, .rho = 0.5, .factorization = "banded", .bands = 77
    };
    const uint64_t more = 78;
    unsigned char *image;
    size_t size = image_of(&image, &options), changed = 0;
    pn_err err;

    for (size_t at = 0; at + 8 <= size && changed == 0; at += 8) {
        if (memcmp(image + at, &(uint64_t){ 77 }, 8) == 0) {
            memcpy(image + at, &more, 8);
            changed = at;
        }
    }
    CHECK(changed > 0 && resume_image(image, size, &err) == PN_EPARSE);
    pn_free(image);
}

/* Every number of a file may be any number; under -fsanitize=undefined no sum of two of them may overflow. */
static void test_extreme_numbers(void)
{
    static const uint64_t extremes[] = {
        0, 1, 1ULL << 31, 1ULL << 32, 1ULL << 48, 1ULL << 62, INT64_MAX, 1ULL << 63, UINT64_MAX,
    };

    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        unsigned char *image = NULL, *changed;
        size_t size = streams[i].dim < MOST_DIM ? image_of(&image, &streams[i]) : 0;

        changed = malloc(size + 1);
        for (size_t at = 0; at + 8 <= size; at += 8 * (size_t)check_times(5, 1)) {
            for (size_t k = 0; k < sizeof extremes / sizeof extremes[0]; k++) {
                memcpy(changed, image, size);
                memcpy(changed + at, &extremes[k], 8);
                (void)resume_image(changed, size, NULL);
            }
        }
        free(changed);
        pn_free(image);
    }
}

static pn_status scenario(void *self, pn_err *err)
{
    static const pn_prefix_options options = { .dim = 2, .sensitivity = 1.0, .rho = 0.5 };
    const double leaf[2] = { 0.0, 1.0 };
    pn_prefix *stream = NULL;
    pn_status status;

    (void)self;
    remove_files();
    status = start(&stream, &options, false, err);
    if (status == PN_OK)
        status = pay(stream, err);
    if (status == PN_OK)
        status = pn_prefix_follow(stream, path, err);
    for (int t = 0; t < 4 && status == PN_OK; t++)
        status = pn_prefix_push(stream, leaf, NULL, NULL, err);
    if (status == PN_OK)
        status = pn_prefix_save(stream, path, err);
    pn_prefix_free(stream);
    stream = NULL;
    if (status == PN_OK)
        status = pn_prefix_resume(&stream, path, err);
    pn_prefix_free(stream);
    return status;
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    if (enter("/dev/shm")) {
        test_goes_on_as_if_nothing_had_happened(false);
        test_goes_on_as_if_nothing_had_happened(true);
        test_contents();
        test_claimed_bands();
        test_extreme_numbers();
        leave();
    }
    if (!CHECK(enter(base ? base : "/tmp")))
        return check_summary();
    test_what_else_is_kept();
    test_saved_streams_are_closed();
    test_keys();
    test_new_noise_is_added_to_the_old();
    test_completing_measures_no_node_again();
    test_children();
    test_withheld();
    test_a_failed_save_leaves_the_stream();
    fail_alloc_sweep("checkpoint", scenario, NULL);
    leave();
    return check_summary();
}
