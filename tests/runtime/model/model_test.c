/* model_test.c -- model files through the C API: whole round trips, files that are spoiled in any byte or cut anywhere,
 * disks that are full, memory that runs out.
 * Depends on: model_kit.h, fail_alloc.h. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <sys/resource.h>

#include "fail_alloc.h"
#include "runtime/model/model_kit.h"

/* ---- what comes back ---- */

static void write_file(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void comes_back(bool private, const double *value)
{
    run of = { 0 };
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_err err = { 0 };
    struct stat info;
    bool found;
    char text[8192];

    CHECK(make(&of, private, &err) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, value, &err) == PN_OK);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(pn_model_look(path, &found, NULL) == PN_OK && found);
    if (!CHECK(pn_model_load(&fit, &about, path, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    if (fit) {
        bool figures = value || !private;

        CHECK(fit->p == DIM && memcmp(fit->theta, of.fit->theta, DIM * sizeof(double)) == 0);
        CHECK(fit->steps == STEPS && fit->rows == of.fit->rows && !fit->stopped && fit->proven == of.fit->proven);
        CHECK(fit->is_private == private && !fit->simulated && fit->neighbours == of.fit->neighbours);
        CHECK(same(fit->rho, of.fit->rho) && same(fit->charged_rho, of.fit->charged_rho));
        CHECK(isnan(fit->epsilon) == isnan(of.fit->epsilon) && isnan(fit->delta) == isnan(of.fit->delta));
        CHECK(figures ? fit->gradients == of.fit->gradients : fit->gradients == PN_NOT_SAVED);
        CHECK(figures ? same(fit->seconds, of.fit->seconds) : isnan(fit->seconds));
        CHECK(value ? same(about->value, *value) && about->raw : isnan(about->value) && !about->raw);
        for (size_t i = 0; i < fit->rows; i++) {
            const pn_trace_row *got = &fit->trace[i], *want = &of.fit->trace[i];

            CHECK(got->step == want->step && got->atom == want->atom && same(got->step_size, want->step_size));
            CHECK(figures ? got->gradients == want->gradients : got->gradients == PN_NOT_SAVED);
            CHECK(value && !isnan(want->value) ? same(got->value, want->value) : isnan(got->value));
        }
        CHECK(strcmp(about->solver, "frank_wolfe") == 0 && strcmp(about->loss, "logistic") == 0);
        CHECK(about->iterations == STEPS && about->records == 200 && about->margins == 1 && !about->bias);
        CHECK(private ? strcmp(about->accountant, "zcdp") == 0 : !about->accountant);
        CHECK(pn_plan_describe(of.plan, text, sizeof text) > 0 && strcmp(text, about->plan) == 0);
    }
    pn_fit_free(fit);
    pn_model_about_free(about);
    clear(&of);
}

/* What was loaded and written again is the same file, byte for byte; without its raw values,
 * that of a fit saved without. */
static void can_be_written_again(void)
{
    static unsigned char first[MOST], second[MOST], paid[MOST];
    const double value = 0.5;
    run of = { 0 };
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    size_t size, paid_size;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    paid_size = read_file(paid);
    CHECK(pn_model_save(path, of.fit, of.plan, &value, NULL) == PN_OK);
    size = read_file(first);
    CHECK(size > paid_size && paid_size > 0);
    CHECK(pn_model_load(&fit, &about, path, NULL) == PN_OK);
    CHECK(pn_model_write(path, fit, about, PN_MODEL_FILE, NULL) == PN_OK);
    CHECK(read_file(second) == size && memcmp(first, second, size) == 0);
    about->raw = false;
    CHECK(pn_model_write(path, fit, about, PN_MODEL_FILE, NULL) == PN_OK);
    CHECK(read_file(second) == paid_size && memcmp(paid, second, paid_size) == 0);
    pn_fit_free(fit);
    pn_model_about_free(about);
    clear(&of);
}

/* ---- damage ---- */

static bool refused(pn_status want_one, pn_status or_other)
{
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_err err = { 0 };
    pn_status status = pn_model_load(&fit, &about, path, &err);

    if (status == PN_OK) {
        pn_fit_free(fit);
        pn_model_about_free(about);
        return false;
    }
    return !fit && !about && (status == want_one || status == or_other) && strstr(err.message, path);
}

static void damage_is_refused(void)
{
    bool found = true;
    static unsigned char bytes[MOST];
    static const unsigned char spoils[] = { 0x01, 0x80, 0xff };
    run of = { 0 };
    size_t size, bad = 0;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    size = read_file(bytes);
    for (size_t at = 0; at < size; at++) {
        for (size_t k = 0; k < sizeof spoils; k++) {
            bytes[at] ^= spoils[k];
            write_file(bytes, size);
            bad += !refused(PN_EPARSE, PN_EUNSUPPORTED);
            bytes[at] ^= spoils[k];
        }
    }
    for (size_t cut = 0; cut < size; cut++) {
        write_file(bytes, cut);
        bad += !refused(PN_EPARSE, PN_EPARSE);
    }
    write_file(bytes, size + 1);
    bad += !refused(PN_EPARSE, PN_EPARSE);
    CHECK(bad == 0);
    write_file(bytes, size); /* as it was: the loop above refuses for what was spoiled */
    CHECK(!refused(PN_EPARSE, PN_EPARSE));
    bytes[8] = 3;
    write_file(bytes, size);
    CHECK(refused(PN_EUNSUPPORTED, PN_EUNSUPPORTED));
    CHECK(unlink(path) == 0 && refused(PN_EIO, PN_EIO) && pn_model_look(path, &found, NULL) == PN_EIO && !found);
    clear(&of);
}

/* A length that says a thousand times what is there takes no memory: the size of the file is looked at first. */
static void huge_lengths_are_refused_at_once(void)
{
    static const unsigned char head[24] = { 0x89, 'P', 'N', 'M', '\r', '\n', 0x1a, '\n', 1,    0,    0,    0,
                                            0,    0,   0,   0,   0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
    unsigned char bytes[100] = { 0 };

    memcpy(bytes, head, sizeof head);
    write_file(bytes, sizeof bytes);
    CHECK(refused(PN_EPARSE, PN_EPARSE));
    CHECK(truncate(path, (off_t)(PN_MODEL_MOST + 2 * PN_MODEL_HEAD + PN_MODEL_DIGEST)) == 0); /* a sparse file */
    CHECK(refused(PN_EPARSE, PN_EPARSE));
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0 && refused(PN_EIO, PN_EIO) && rmdir(path) == 0);
}

/* ---- the disk, memory ---- */

static size_t files_in_folder(void)
{
    char command[128];
    FILE *list;
    size_t count = 0;
    int c;

    (void)snprintf(command, sizeof command, "ls -A %s", folder);
    list = popen(command, "r");
    while (list && (c = fgetc(list)) != EOF)
        count += c == '\n';
    if (list)
        (void)pclose(list);
    return count;
}

static double a_number = 1.0;

/* Beyond a limit on the size of files nothing is written, and what was there stays. */
static void a_full_disk_leaves_the_old_file(void)
{
    static unsigned char before[MOST], after[MOST];
    struct rlimit limit, kept;
    run of = { 0 };
    pn_err err = { 0 };
    size_t size;

    CHECK(make(&of, true, NULL) == PN_OK);
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, NULL) == PN_OK);
    size = read_file(before);
    CHECK(getrlimit(RLIMIT_FSIZE, &kept) == 0);
    limit = kept;
    limit.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(pn_model_save(path, of.fit, of.plan, &a_number, &err) == PN_EIO && strstr(err.message, path));
    CHECK(setrlimit(RLIMIT_FSIZE, &kept) == 0);
    CHECK(read_file(after) == size && memcmp(before, after, size) == 0);
    CHECK(files_in_folder() == 1);
    of.fit->theta[2] = NAN;
    CHECK(pn_model_save(path, of.fit, of.plan, NULL, &err) == PN_EINVAL && strstr(err.message, "theta[3]"));
    CHECK(read_file(after) == size && files_in_folder() == 1);
    clear(&of);
}

static run ready; /* made with the usual allocator, which the sweep replaces */

static pn_status save_and_load(void *self, pn_err *err)
{
    pn_fit *fit = NULL;
    pn_model_about *about = NULL;
    pn_status status = pn_model_save(path, ready.fit, ready.plan, &a_number, err);

    (void)self;
    if (status == PN_OK)
        status = pn_model_load(&fit, &about, path, err);
    pn_fit_free(fit);
    pn_model_about_free(about);
    return status;
}

int main(void)
{
    const double value = 0.6875;

    if (!open_folder("model_test"))
        return check_summary();
    comes_back(true, NULL);
    comes_back(true, &value);
    comes_back(false, NULL);
    comes_back(false, &value);
    can_be_written_again();
    damage_is_refused();
    huge_lengths_are_refused_at_once();
    a_full_disk_leaves_the_old_file();
    CHECK(make(&ready, true, NULL) == PN_OK);
    fail_alloc_sweep("save and load", save_and_load, NULL);
    clear(&ready);
    close_folder();
    return check_summary();
}
