/* ledger_crash_test.c -- a process with a ledger's file dies: at each step of a charge,
 * and by kill -9 at any moment; or the disk
 * does.  Everything that was released is charged, and nothing twice.  The file is built here with its crash points.
 * Depends on: check.h, fail_alloc.h, privacy/, POSIX. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "core/file.h"
#include "privacy/ledger/ledger_disk.h"

/* The last steps that the ledger's file took on the disk; a sync may be made to fail. */
static struct {
    char step[16];
    int fd[16];
    int count, fail_sync; /* the sync from now that fails, from 1; 0: none */
} disk;

static void note(char step, int fd)
{
    disk.step[disk.count % 16] = step;
    disk.fd[disk.count++ % 16] = fd;
}

static int noted_write(int fd, const void *data, size_t size, size_t offset)
{
    note('w', fd);
    return pn_file_write(fd, data, size, offset);
}

static int noted_sync(int fd)
{
    note('s', fd);
    return disk.fail_sync > 0 && --disk.fail_sync == 0 ? 5 /* EIO */ : pn_file_sync(fd);
}

#include "core/file_draft.c"
#define pn_file_write noted_write
#define pn_file_sync  noted_sync
#include "privacy/ledger/ledger_file.c"
#include "privacy/ledger/ledger_head.c"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "fail_alloc.h"
#include "privacy/ledger/ledger_impl.h"
#include "privacy/mechanism/mechanism.h"

static char directory[200], path[256];

static void remove_files(void)
{
    static const char *const ends[] = { "", ".key", ".head" };

    for (size_t i = 0; i < 3; i++) {
        char file[300];

        (void)snprintf(file, sizeof file, "%s%s", path, ends[i]);
        (void)unlink(file);
    }
}

/* A pure budget of whole releases. */
static pn_status open_ledger(pn_ledger **out, bool create, pn_err *err)
{
    pn_budget budget = { .epsilon = 1e6, .rho = NAN, .teaching = true };

    return pn_ledger_open(out, path, NULL, create ? &budget : NULL, err);
}

static pn_status spend(pn_ledger *ledger, size_t count, pn_err *err)
{
    pn_event *event = NULL;
    pn_status status = pn_event_exponential(&event, 1.0, PN_REPLACE_ONE, err);

    if (status == PN_OK)
        status = pn_ledger_spend(ledger, event, count, "release", err);
    pn_event_free(event);
    return status;
}

/* What the file says has been charged, and whether something was cut off; -1 when it does not open. */
static double charged(bool *recovered)
{
    pn_ledger *ledger = NULL;
    pn_err err;
    double spent = -1.0;

    if (CHECK(open_ledger(&ledger, false, &err) == PN_OK)) {
        spent = pn_ledger_spent(ledger);
        if (recovered)
            *recovered = pn_ledger_recovered(ledger);
    } else {
        (void)fprintf(stderr, "    %s\n", err.message);
    }
    pn_ledger_free(ledger);
    return spent;
}

/* ---- each step of a charge ---- */

typedef struct window {
    const char *point;
    bool kept, cut; /* whether a charge that dies here counts, and leaves a torn line */
} window;

static const window windows[] = {
    { "crash_in_head", false, false },      { "crash_before_head_sync", false, false },
    { "crash_before_write", false, false }, { "crash_in_write", false, true },
    { "crash_before_sync", true, false },   { "crash_before_head", true, false },
    { "file_crash_written", true, false },  { "file_crash_named", true, false },
    { "crash_after_head", true, false },
};

#define WINDOWS (sizeof windows / sizeof windows[0])

/* A child that dies at the point, in its charge after `charges` good ones (in opening, for 0 and `opening`). */
static void die_at(const char *point, int charges, bool opening)
{
    pid_t child = fork();
    int ended = 0;

    if (child == 0) {
        pn_ledger *ledger = NULL;

        if (opening)
            (void)setenv("PENUMBRA_MUTANT", point, 1);
        if (open_ledger(&ledger, true, NULL) != PN_OK)
            _exit(1);
        for (int i = 0; i < charges; i++) {
            if (spend(ledger, 1, NULL) != PN_OK)
                _exit(2);
        }
        (void)setenv("PENUMBRA_MUTANT", point, 1);
        (void)spend(ledger, 1, NULL);
        _exit(3);
    }
    CHECK(waitpid(child, &ended, 0) == child);
    CHECK(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
}

static void test_every_window(void)
{
    for (size_t i = 0; i < WINDOWS; i++) {
        for (int charges = 0; charges <= 3; charges++) {
            pn_ledger *ledger = NULL;
            bool recovered = false;
            double expected = charges + (windows[i].kept ? 1.0 : 0.0);

            remove_files();
            die_at(windows[i].point, charges, false);
            CHECK(charged(&recovered) == expected);
            CHECK(recovered == windows[i].cut);
            CHECK(open_ledger(&ledger, true, NULL) == PN_OK && !pn_ledger_recovered(ledger));
            CHECK(spend(ledger, 2, NULL) == PN_OK && pn_ledger_spent(ledger) == expected + 2.0);
            pn_ledger_free(ledger);
            CHECK(charged(NULL) == expected + 2.0);
        }
    }
}

static void test_every_window_of_the_beginning(void)
{
    for (size_t i = 0; i < WINDOWS; i++) {
        pn_ledger *ledger = NULL;
        pn_err err;

        remove_files();
        die_at(windows[i].point, 0, true);
        CHECK(open_ledger(&ledger, true, &err) == PN_OK);
        CHECK(ledger && spend(ledger, 1, NULL) == PN_OK);
        pn_ledger_free(ledger);
        CHECK(charged(NULL) == 1.0);
    }
}

/* Ledger and head as cp makes them. */
static void copy_files(void)
{
    static const char *const ends[] = { "", ".head" };

    for (size_t i = 0; i < 2; i++) {
        char from[300], to[300], content[8192];
        size_t size = 0;
        FILE *file;

        (void)snprintf(to, sizeof to, "%s%s", path, ends[i]);
        (void)snprintf(from, sizeof from, "%s%s.from", path, ends[i]);
        file = rename(to, from) == 0 ? fopen(from, "rb") : NULL;
        if (!CHECK(file != NULL))
            return;
        size = fread(content, 1, sizeof content, file);
        (void)fclose(file);
        file = fopen(to, "wb");
        if (!CHECK(file != NULL))
            return;
        CHECK(fwrite(content, 1, size, file) == size);
        CHECK(fclose(file) == 0);
        CHECK(unlink(from) == 0);
    }
}

/* Whoever dies in telling a ledger that it was moved can tell it again, or need not. */
static void test_every_window_of_a_move(void)
{
    for (size_t i = 0; i < WINDOWS; i++) {
        pn_ledger *ledger = NULL;
        int ended = 0;
        pid_t child;
        pn_err err;

        remove_files();
        CHECK(open_ledger(&ledger, true, NULL) == PN_OK && spend(ledger, 2, NULL) == PN_OK);
        pn_ledger_free(ledger);
        copy_files();
        CHECK(open_ledger(&ledger, false, &err) == PN_EPRIVACY && strstr(err.message, "is a copy") != NULL);
        child = fork();
        if (child == 0) {
            (void)setenv("PENUMBRA_MUTANT", windows[i].point, 1);
            (void)pn_ledger_open_moved(&ledger, path, NULL, NULL, NULL);
            _exit(1);
        }
        CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
        if (open_ledger(&ledger, false, NULL) != PN_OK)
            CHECK(pn_ledger_open_moved(&ledger, path, NULL, NULL, &err) == PN_OK);
        CHECK(ledger && pn_ledger_spent(ledger) == 2.0 && spend(ledger, 1, NULL) == PN_OK);
        pn_ledger_free(ledger);
        CHECK(charged(NULL) == 3.0);
    }
}

/* ---- kill -9 at any moment ---- */

/* Releases as fast as it can; each is told to the parent after it has been released. */
static void release_for_ever(int tell)
{
    pn_selection_options options = { .epsilon = 1.0, .sensitivity = 1.0, .score_bound = 100.0 };
    const double scores[3] = { 1.0, 2.0, 3.0 };
    pn_mechanism *mechanism = NULL;
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;

    if (open_ledger(&ledger, true, NULL) != PN_OK || pn_mechanism_selection(&mechanism, &options, NULL) != PN_OK ||
        pn_rng_secure(&rng, NULL) != PN_OK)
        _exit(1);
    for (;;) {
        pn_release release = { 0 };
        char index;

        if (pn_mechanism_release(mechanism, ledger, NULL, rng, scores, 3, &release, NULL) != PN_OK)
            _exit(2);
        index = (char)('0' + release.index);
        if (write(tell, &index, 1) != 1)
            _exit(3);
    }
}

static size_t count_bytes(int from)
{
    char bytes[256];
    size_t count = 0;
    ssize_t got;

    while ((got = read(from, bytes, sizeof bytes)) > 0)
        count += (size_t)got;
    return count;
}

/* How many releases a child has told of that was killed about `delay` microseconds after its start, or after its first
 * release, however long that takes on this disk. */
static size_t killed_run(useconds_t delay, bool after_a_release)
{
    int ends[2], ended = 0;
    size_t released = 0;
    pid_t child;
    char first;

    if (pipe(ends) != 0)
        return 0;
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        release_for_ever(ends[1]);
    }
    (void)close(ends[1]);
    if (after_a_release)
        released += read(ends[0], &first, 1) == 1;
    (void)usleep(delay);
    (void)kill(child, SIGKILL);
    released += count_bytes(ends[0]);
    (void)close(ends[0]);
    CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    return released;
}

/* On a disk most of the time is spent in syncs; in memory it is spent between them. */
static void test_kills(int kills, useconds_t most)
{
    size_t total = 0, between = 0, cut = 0;
    double before = 0.0;

    remove_files();
    for (int i = 0; i < kills; i++) {
        size_t released = killed_run((useconds_t)randombytes_uniform(i % 3 ? most : most / 10), i % 4 == 0);
        pn_ledger *ledger = NULL;
        double now;

        if (!CHECK(open_ledger(&ledger, true, NULL) == PN_OK))
            return;
        now = pn_ledger_spent(ledger);
        cut += pn_ledger_recovered(ledger);
        CHECK(now >= before + (double)released);       /* everything released is charged */
        CHECK(now <= before + (double)released + 1.0); /* and at most one charge was still on its way */
        between += now > before + (double)released;
        CHECK(spend(ledger, 1, NULL) == PN_OK);
        before = now + 1.0;
        total += released;
        pn_ledger_free(ledger);
    }
    CHECK(charged(NULL) == before);
    CHECK(total > 0);
    (void)printf("    %d kills, %zu releases, %zu charges without release, %zu torn lines\n", kills, total, between,
                 cut);
}

/* ---- the disk ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static rlim_t file_size(void)
{
    struct stat info;

    return stat(path, &info) == 0 ? (rlim_t)info.st_size : 0;
}

static bool signal_waits(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
}

static void test_full_disk(void)
{
    pn_ledger *ledger = NULL;
    pn_err err;

    remove_files();
    CHECK(open_ledger(&ledger, true, &err) == PN_OK);
    for (int i = 0; i < 30; i++)
        CHECK(spend(ledger, 1, &err) == PN_OK);
    for (rlim_t more = 0; more < 40; more++) { /* the line does not fit, or only a part of it does */
        rlim_t size = file_size();

        limit_file_size(size + more);
        CHECK(spend(ledger, 1, &err) == PN_EIO);
        CHECK(strstr(err.message, "cannot be written: File too large; nothing was charged or released") != NULL);
        CHECK(!signal_waits() && file_size() == size);
        CHECK(pn_ledger_spent(ledger) == 30.0 && !pn_ledger_ended(ledger));
    }
    limit_file_size(RLIM_INFINITY);
    CHECK(spend(ledger, 1, &err) == PN_OK);
    pn_ledger_free(ledger);
    CHECK(charged(NULL) == 31.0);
    remove_files();
    for (rlim_t size = 0; size < 2000; size += 64) { /* there is no room to begin in */
        limit_file_size(size);
        if (open_ledger(&ledger, true, &err) == PN_OK)
            pn_ledger_free(ledger);
        else
            CHECK(err.status == PN_EIO && strstr(err.message, "File too large"));
    }
    limit_file_size(RLIM_INFINITY);
    CHECK(open_ledger(&ledger, true, &err) == PN_OK && pn_ledger_spent(ledger) == 0.0);
    pn_ledger_free(ledger);
}

/* A charge returns after the next head and then the record are on the disk, before the head gets its name; kill -9
 * would not show a sync that is missing. */
static void test_order_of_writes(void)
{
    pn_ledger *ledger = NULL;

    remove_files();
    CHECK(open_ledger(&ledger, true, NULL) == PN_OK);
    for (int i = 0; i < 3; i++) {
        int record = ledger->store->fd, before = ledger->store->head;

        disk.count = 0;
        CHECK(spend(ledger, 1, NULL) == PN_OK);
        CHECK(disk.count == 4 && memcmp(disk.step, "wsws", 4) == 0);
        CHECK(disk.fd[2] == record && disk.fd[3] == record && disk.fd[0] == disk.fd[1]);
        CHECK(disk.fd[0] != before && disk.fd[0] == ledger->store->head);
    }
    pn_ledger_free(ledger);
}

static void test_sync_that_fails(void)
{
    for (int sync = 1; sync <= 2; sync++) {
        pn_ledger *ledger = NULL;
        pn_err err;

        remove_files();
        CHECK(open_ledger(&ledger, true, NULL) == PN_OK && spend(ledger, 1, NULL) == PN_OK);
        disk.fail_sync = sync;
        CHECK(spend(ledger, 1, &err) == PN_EIO);
        if (sync == 1) { /* of the next head, which has no name yet */
            CHECK(strstr(err.message, "cannot be written: Input/output error; nothing was charged") != NULL);
            CHECK(pn_ledger_spent(ledger) == 1.0 && spend(ledger, 1, &err) == PN_OK);
            pn_ledger_free(ledger);
            CHECK(charged(NULL) == 2.0);
            continue;
        }
        CHECK(strstr(err.message, "cannot be made durable: Input/output error; nothing was released, the charge counts "
                                  "as made, and this ledger takes no more") != NULL);
        CHECK(pn_ledger_spent(ledger) == 2.0 && spend(ledger, 1, &err) == PN_EBUDGET);
        pn_ledger_free(ledger);
        CHECK(charged(NULL) == 2.0);
    }
}

/* The file behind `fd` takes no writes any more. */
static void spoil(int fd, const char *file)
{
    int dead = open(file, O_RDONLY);

    CHECK(dead >= 0 && dup2(dead, fd) == fd);
    (void)close(dead);
}

static void test_disk_that_cannot_even_be_restored(void)
{
    char head[300], aside[300];
    pn_ledger *ledger = NULL;
    pn_err err;

    (void)snprintf(head, sizeof head, "%s.head", path);
    (void)snprintf(aside, sizeof aside, "%s.aside", path);
    for (int named = 0; named < 2; named++) {
        remove_files();
        CHECK(open_ledger(&ledger, true, &err) == PN_OK && spend(ledger, 1, &err) == PN_OK);
        if (named) /* nothing can get the head's name */
            CHECK(rename(head, aside) == 0 && mkdir(head, 0700) == 0);
        else
            spoil(ledger->store->fd, ledger->store->path);
        CHECK(spend(ledger, 1, &err) == PN_EIO);
        CHECK(strstr(err.message, "nothing was released") && strstr(err.message, "takes no more"));
        CHECK(pn_ledger_ended(ledger) != NULL && pn_ledger_remaining(ledger) == 0.0);
        CHECK(spend(ledger, 1, &err) == PN_EBUDGET);
        pn_ledger_free(ledger);
        if (named)
            CHECK(rmdir(head) == 0 && rename(aside, head) == 0);
        CHECK(charged(NULL) == (named ? 2.0 : 1.0)); /* the line was whole when the head failed */
    }
}

static void test_read_only(void)
{
    pn_ledger *ledger = NULL;
    int ended = 0;
    pid_t child;

    remove_files();
    CHECK(open_ledger(&ledger, true, NULL) == PN_OK && spend(ledger, 1, NULL) == PN_OK);
    pn_ledger_free(ledger);
    CHECK(chmod(path, 0444) == 0 && chmod(directory, 0755) == 0);
    child = fork();
    if (child == 0) { /* as somebody whom permissions bind */
        pn_err err;
        bool refused;

        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(1);
        refused = open_ledger(&ledger, false, &err) == PN_EIO &&
                  strstr(err.message, "cannot be opened for reading and writing: Permission denied");
        _exit(refused ? 0 : 2);
    }
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    CHECK(chmod(path, 0644) == 0 && charged(NULL) == 1.0);
}

/* ---- charged before drawn ---- */

static pn_rng *seeded(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 7, NULL) == PN_OK);
    return rng;
}

static void test_no_charge_no_noise(void)
{
    pn_selection_options options = { .epsilon = 1.0, .sensitivity = 1.0, .score_bound = 100.0 };
    const double scores[3] = { 1.0, 2.0, 3.0 };
    pn_rng *used = seeded(), *fresh = seeded();
    pn_release release = { .index = 99 };
    pn_mechanism *mechanism = NULL;
    pn_ledger *ledger = NULL;
    pn_err err;

    remove_files();
    CHECK(pn_mechanism_selection(&mechanism, &options, &err) == PN_OK);
    CHECK(open_ledger(&ledger, true, &err) == PN_OK);
    limit_file_size(file_size() > PN_HEAD_BYTES ? file_size() : PN_HEAD_BYTES);
    while (spend(ledger, 1, &err) == PN_OK)
        continue;
    CHECK(pn_mechanism_release(mechanism, ledger, NULL, used, scores, 3, &release, &err) == PN_EIO);
    limit_file_size(RLIM_INFINITY);
    CHECK(pn_ledger_retire(ledger, &err) == PN_OK);
    CHECK(pn_mechanism_release(mechanism, ledger, NULL, used, scores, 3, &release, &err) == PN_EBUDGET);
    CHECK(release.index == 99);
    CHECK(pn_rng_u64(used) == pn_rng_u64(fresh));
    pn_ledger_free(ledger);
    pn_mechanism_free(mechanism);
    pn_rng_free(used);
    pn_rng_free(fresh);
}

static void test_child_does_not_charge(void)
{
    pn_ledger *ledger = NULL;
    int ended = 0;
    pid_t child;

    remove_files();
    CHECK(open_ledger(&ledger, true, NULL) == PN_OK);
    child = fork();
    if (child == 0) {
        pn_ledger *part = NULL;
        pn_err err;
        bool refused = spend(ledger, 1, &err) == PN_EUNSUPPORTED && strstr(err.message, "only process") &&
                       pn_ledger_spent(ledger) == 0.0 && pn_ledger_split(ledger, 1, &part, &err) == PN_EUNSUPPORTED &&
                       pn_ledger_retire(ledger, &err) == PN_EUNSUPPORTED;

        pn_ledger_free(ledger); /* and letting go of it takes nothing from the parent */
        _exit(refused ? 0 : 1);
    }
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    CHECK(spend(ledger, 1, NULL) == PN_OK);
    pn_ledger_free(ledger);
    CHECK(charged(NULL) == 1.0);
}

/* ---- the host ---- */

static void test_decimal_commas(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "pt_BR.UTF-8", NULL };
    pn_ledger *ledger = NULL;
    pn_event *event = NULL;
    size_t i = 0;

    remove_files();
    while (names[i] && !setlocale(LC_NUMERIC, names[i]))
        i++;
    CHECK(open_ledger(&ledger, true, NULL) == PN_OK);
    CHECK(pn_event_exponential(&event, 0.3, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 1, "a", NULL) == PN_OK);
    pn_ledger_free(ledger);
    CHECK(charged(NULL) == 0.3);
    (void)setlocale(LC_NUMERIC, "C");
    CHECK(charged(NULL) == 0.3);
    pn_event_free(event);
}

static pn_status use_family(pn_ledger *ledger, pn_err *err)
{
    pn_budget budget = { .epsilon = 50.0, .delta = 1e-6, .rho = NAN, .teaching = true };
    pn_ledger *slice = NULL, *parts[2] = { NULL, NULL };
    pn_status status = pn_ledger_slice(&slice, ledger, "ann", &budget, err);

    if (status == PN_OK)
        status = spend(slice, 1, err);
    if (status == PN_OK)
        status = spend(ledger, 2, err);
    pn_ledger_free(slice);
    slice = NULL;
    if (status == PN_OK)
        status = pn_ledger_slice(&slice, ledger, NULL, &budget, err);
    if (status == PN_OK)
        status = pn_ledger_split(slice, 2, parts, err);
    if (status == PN_OK)
        status = spend(parts[1], 1, err);
    pn_ledger_free(parts[0]);
    pn_ledger_free(parts[1]);
    pn_ledger_free(slice);
    return status;
}

static pn_status file_scenario(void *self, pn_err *err)
{
    pn_ledger *ledger = NULL;
    pn_status status;

    (void)self;
    remove_files();
    status = open_ledger(&ledger, true, err);
    if (status == PN_OK)
        status = use_family(ledger, err);
    pn_ledger_free(ledger);
    ledger = NULL;
    if (status == PN_OK)
        status = open_ledger(&ledger, false, err);
    if (status == PN_OK)
        CHECK(pn_ledger_spent(ledger) == 4.0);
    pn_ledger_free(ledger);
    return status;
}

static bool enter(const char *place)
{
    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", place);
    if (!mkdtemp(directory))
        return false;
    (void)snprintf(path, sizeof path, "%s/ledger", directory);
    return true;
}

/* Who was killed while a key was made has left it under another name. */
static void leave(void)
{
    DIR *all = opendir(directory);
    struct dirent *entry;

    while (all && (entry = readdir(all)))
        (void)unlinkat(dirfd(all), entry->d_name, 0);
    (void)closedir(all);
    CHECK(rmdir(directory) == 0);
}

int main(void)
{
    const char *place = getenv("TMPDIR");

    if (enter("/dev/shm")) {
        test_kills((int)check_draws(check_times(60, 300), 12), 4000);
        leave();
    }
    if (!CHECK(enter(place ? place : "/tmp")))
        return check_summary();
    test_kills((int)check_draws(check_times(30, 150), 6), 25000);
    test_every_window();
    test_every_window_of_the_beginning();
    test_every_window_of_a_move();
    test_full_disk();
    test_order_of_writes();
    test_sync_that_fails();
    test_disk_that_cannot_even_be_restored();
    test_read_only();
    test_no_charge_no_noise();
    test_child_does_not_charge();
    test_decimal_commas();
    fail_alloc_sweep("ledger in a file", file_scenario, NULL);
    leave();
    return check_summary();
}
