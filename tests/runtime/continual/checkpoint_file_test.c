/* checkpoint_file_test.c -- a process dies at each step of a commit, or the disk does: what counts afterwards is the
 * old state or the new one, never a mixture, never an older one; a copy is refused, and what is damaged says so.  The
 * file is built here with its crash points.
 * Depends on: check.h, fail_alloc.h, folder.h, continual/, POSIX. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "core/file.h"
#include "privacy/ledger/ledger_disk.h"

/* The last steps on the disk; a write or a sync may be made to fail. */
static struct {
    char step[64];
    size_t place[64]; /* of writes */
    int count, fail_sync, fail_write;
} disk;

static int noted_write(int fd, const void *data, size_t size, size_t offset)
{
    disk.step[disk.count % 64] = 'w';
    disk.place[disk.count++ % 64] = offset;
    if (disk.fail_write > 0 && --disk.fail_write == 0)
        return 28; /* ENOSPC */
    return pn_file_write(fd, data, size, offset);
}

static int noted_sync(int fd)
{
    disk.step[disk.count++ % 64] = 's';
    return disk.fail_sync > 0 && --disk.fail_sync == 0 ? 5 /* EIO */ : pn_file_sync(fd);
}

#define pn_file_write noted_write
#define pn_file_sync  noted_sync
#include "continual/checkpoint_file.c"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "check.h"
#include "fail_alloc.h"
#include "folder.h"

static const pn_checkpoint_owner owner = { .name = "prefix", .what = "stream" };

static char directory[200], path[256], other[256];
static const unsigned char id[PN_CHECKPOINT_ID] = { 1, 2, 3 }, stranger[PN_CHECKPOINT_ID] = { 4 };

static void remove_files(void)
{
    folder_empty(directory);
}

/* States that are told apart by number and differ in length. */
static size_t state_of(unsigned number, unsigned char *out)
{
    size_t size = 200 + 700 * (number % 4);

    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(number * 31 + i);
    return size;
}

static pn_status make(pn_checkpoint_file **out, unsigned number, pn_checkpoint_mode mode, pn_err *err)
{
    unsigned char state[4096];
    size_t size = state_of(number, state);
    bool published = false;
    pn_status status = pn_checkpoint_make(out, &owner, path, id, mode, state, size, &published, err);

    CHECK(published == (status == PN_OK));
    return status;
}

static pn_status commit(pn_checkpoint_file *file, unsigned number, pn_checkpoint_mode mode, pn_err *err)
{
    unsigned char state[4096];
    size_t size = state_of(number, state);

    return pn_checkpoint_commit(file, mode, state, size, err);
}

/* The number of the state that counts, or -1 - status. */
static int found(const char *file, pn_err *err)
{
    pn_checkpoint_file *opened = NULL;
    unsigned char want[4096];
    void *state = NULL;
    size_t size = 0;
    pn_status status = pn_checkpoint_open(&opened, &owner, file, &state, &size, err);
    int number = -1 - (int)status;

    for (unsigned i = 0; status == PN_OK && i < 100; i++) {
        if (state_of(i, want) == size && memcmp(state, want, size) == 0)
            number = (int)i;
    }
    pn_free(state);
    pn_checkpoint_close(opened);
    return number;
}

static bool says(const char *file, pn_status status, const char *text)
{
    pn_err err;
    bool right = found(file, &err) == -1 - (int)status && strstr(err.message, text);

    if (!right)
        (void)fprintf(stderr, "    %s\n", err.message);
    return right;
}

static void test_round_trip(void)
{
    pn_checkpoint_file *file = NULL;
    struct stat info;
    pn_err err;

    remove_files();
    CHECK(says(path, PN_EIO, "there is no such checkpoint"));
    CHECK(make(&file, 1, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(says(path, PN_EIO, "alive"));
    for (unsigned i = 2; i < 40; i++)
        CHECK(commit(file, i, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    pn_checkpoint_close(file);
    CHECK(found(path, &err) == 39);
    CHECK(stat(path, &info) == 0 && info.st_size < 3 * 2560 + STATES); /* it does not grow for ever */
    CHECK(make(&file, 1, PN_CHECKPOINT_PARKED, &err) == PN_EINVAL && strstr(err.message, "not this stream's"));
    CHECK(found(path, &err) == 39);
}

/* Both sectors and their states are synced, in this order, before anything is handed out. */
static void test_order_of_writes(void)
{
    pn_checkpoint_file *file = NULL;
    pn_err err;

    remove_files();
    CHECK(make(&file, 3, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    for (unsigned i = 4; i < 12; i++) {
        uint64_t from = file->now.offset, to = from + file->now.size;

        disk.count = 0;
        CHECK(commit(file, i, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
        CHECK(disk.count == 5 && memcmp(disk.step, "wwsws", 5) == 0);
        CHECK(disk.place[1] == 0 && disk.place[3] == SECTOR);
        CHECK(file->now.offset + file->now.size <= from ||
              file->now.offset >= to); /* what counted is not overwritten */
    }
    pn_checkpoint_close(file);
}

/* ---- dying ---- */

typedef struct point {
    const char *name;
    bool new_one;
} point;

static const point points[] = {
    { "stream_crash_before", false },   { "stream_crash_in_state", false }, { "stream_crash_after_state", false },
    { "stream_crash_in_first", false }, { "stream_crash_first", false },    { "stream_crash_prepared", false },
    { "stream_crash_in_second", true }, { "stream_crash_second", true },    { "stream_crash_after", true },
};

static void die_in(void (*body)(void))
{
    int ended = 0;
    pid_t child = fork();

    if (child == 0) {
        body();
        _exit(0);
    }
    CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
}

static const char *dies_at;
static unsigned dies_with;

static void open_and_commit(void)
{
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size;

    if (pn_checkpoint_open(&file, &owner, path, &state, &size, NULL) != PN_OK)
        _exit(1);
    (void)setenv("PENUMBRA_MUTANT", dies_at, 1);
    (void)commit(file, dies_with, PN_CHECKPOINT_FOLLOWED, NULL);
}

static void test_every_step_of_a_commit(void)
{
    for (unsigned number = 1; number < 9; number++) {
        for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
            pn_checkpoint_file *file = NULL;
            pn_err err;

            remove_files();
            CHECK(make(&file, number, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
            CHECK(commit(file, number + 1, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
            pn_checkpoint_close(file);
            dies_at = points[i].name;
            dies_with = number + 2;
            die_in(open_and_commit);
            CHECK(found(path, &err) == (int)number + 1 + points[i].new_one);
            dies_with = number + 3; /* and again, from what was left */
            die_in(open_and_commit);
            CHECK(found(path, &err) == (int)number + 1 + 2 * points[i].new_one);
        }
    }
}

static void make_and_die(void)
{
    pn_checkpoint_file *file = NULL;

    (void)setenv("PENUMBRA_MUTANT", dies_at, 1);
    (void)make(&file, 5, PN_CHECKPOINT_PARKED, NULL);
}

/* Whole or not at all; what stays behind under another name is whole or nothing, and can be taken once. */
static void test_every_step_of_the_making(void)
{
    static const char *const making[] = { "stream_crash_making", "stream_crash_made", "stream_crash_named" };
    pn_err err;

    for (size_t i = 0; i < 3; i++) {
        remove_files();
        dies_at = making[i];
        die_in(make_and_die);
        if (i < 2)
            CHECK(says(path, PN_EIO, "no such checkpoint"));
        else
            CHECK(found(path, &err) == 5);
    }
}

static void take(void)
{
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size;

    if (pn_checkpoint_open(&file, &owner, path, &state, &size, NULL) != PN_OK)
        _exit(1);
    (void)setenv("PENUMBRA_MUTANT", dies_at, 1);
    (void)pn_checkpoint_commit(file, PN_CHECKPOINT_TAKEN, NULL, 0, NULL);
}

/* Who dies while he takes a stream never had it, or it is gone. */
static void test_every_step_of_the_taking(void)
{
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        pn_checkpoint_file *file = NULL;
        pn_err err;

        remove_files();
        CHECK(make(&file, 7, PN_CHECKPOINT_PARKED, &err) == PN_OK);
        pn_checkpoint_close(file);
        dies_at = points[i].name;
        die_in(take);
        if (points[i].new_one)
            CHECK(says(path, PN_EPRIVACY, "was resumed before"));
        else
            CHECK(found(path, &err) == 7);
    }
}

/* ---- twice ---- */

static void test_taken_once(void)
{
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size = 0;
    struct stat info;
    bool published;
    pn_err err;

    remove_files();
    CHECK(make(&file, 7, PN_CHECKPOINT_PARKED, &err) == PN_OK);
    pn_checkpoint_close(file);
    CHECK(link(path, other) == 0);
    CHECK(pn_checkpoint_open(&file, &owner, path, &state, &size, &err) == PN_OK && size == 200 + 2100);
    CHECK(pn_checkpoint_commit(file, PN_CHECKPOINT_TAKEN, NULL, 0, &err) == PN_OK);
    pn_checkpoint_close(file);
    pn_free(state);
    CHECK(says(path, PN_EPRIVACY, "reuse noise"));
    CHECK(says(other, PN_EPRIVACY, "reuse noise"));
    CHECK(stat(path, &info) == 0 && info.st_size == STATES); /* nothing secret stays */
    CHECK(pn_checkpoint_make(&file, &owner, path, stranger, PN_CHECKPOINT_PARKED, "x", 1, &published, &err) ==
          PN_EINVAL);
    CHECK(!published && says(path, PN_EPRIVACY, "reuse noise"));
    CHECK(make(&file, 8, PN_CHECKPOINT_PARKED, &err) == PN_OK); /* the stream itself comes back */
    pn_checkpoint_close(file);
    CHECK(found(path, &err) == 8 && says(other, PN_EPRIVACY, "reuse noise"));
}

static void copy(const char *from, const char *to)
{
    char command[600];

    (void)snprintf(command, sizeof command, "cp -p %s %s", from, to);
    CHECK(system(command) == 0);
}

/* The time of birth of a file is that of the kernel's last tick; there are a hundred in a second at least. */
static void wait_for_a_tick(void)
{
    (void)usleep(20000);
}

static void test_copies(void)
{
    static const pn_checkpoint_mode modes[] = { PN_CHECKPOINT_PARKED, PN_CHECKPOINT_FOLLOWED };

    for (size_t i = 0; i < 2; i++) {
        pn_checkpoint_file *file = NULL;
        pn_err err;

        remove_files();
        CHECK(make(&file, 3, modes[i], &err) == PN_OK);
        pn_checkpoint_close(file);
        copy(path, other);
        CHECK(says(other, PN_EPRIVACY, "is a copy"));
        CHECK(found(path, &err) == 3);
        CHECK(unlink(path) == 0 && rename(other, path) == 0); /* under the old name */
        CHECK(says(path, PN_EPRIVACY, "is a copy"));
        wait_for_a_tick();
        copy(path, other); /* the number of the inode may now be the old one, but not with the time of birth */
        CHECK(unlink(path) == 0 && says(other, PN_EPRIVACY, "is a copy"));
        remove_files();
        CHECK(make(&file, 3, modes[i], &err) == PN_OK);
        pn_checkpoint_close(file);
        CHECK(rename(path, other) == 0 && found(other, &err) == 3); /* moved */
    }
}

/* ---- damage ---- */

static unsigned char content[8192];

static size_t read_content(void)
{
    int fd = open(path, O_RDONLY);
    ssize_t got = read(fd, content, sizeof content);

    (void)close(fd);
    return got > 0 ? (size_t)got : 0;
}

static void write_content(const unsigned char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC); /* the same inode */

    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)close(fd);
}

static bool has_attributes(void)
{
    int fd = open(path, O_RDONLY);
    bool has = pn_file_marked(fd, PN_FILE_STREAM, id) > 0;

    (void)close(fd);
    return has;
}

/* cp without -a over a file writes new contents into the old one, whose inode and birth stay. */
static void test_copies_put_back(void)
{
    static const pn_checkpoint_mode then[] = { PN_CHECKPOINT_TAKEN, PN_CHECKPOINT_FOLLOWED, PN_CHECKPOINT_PARKED };

    for (size_t i = 0; i < 3; i++) {
        pn_checkpoint_file *file = NULL;
        unsigned char earlier[sizeof content], later[sizeof content];
        size_t size, grown;
        pn_err err;

        remove_files();
        CHECK(make(&file, 1, i > 0 ? then[i] : PN_CHECKPOINT_PARKED, &err) == PN_OK);
        CHECK(commit(file, 2, i > 0 ? then[i] : PN_CHECKPOINT_PARKED, &err) == PN_OK);
        if (!has_attributes()) {
            (void)fprintf(stderr, "    no extended attributes here: not tested\n");
            pn_checkpoint_close(file);
            return;
        }
        size = read_content();
        memcpy(earlier, content, size);
        CHECK((i > 0 ? commit(file, 3, then[i], &err) : pn_checkpoint_commit(file, then[i], NULL, 0, &err)) == PN_OK);
        pn_checkpoint_close(file);
        grown = read_content();
        memcpy(later, content, grown);
        write_content(earlier, size);
        CHECK(says(path, PN_EPRIVACY, "an earlier copy was put back"));
        write_content(later, grown);
        CHECK(i > 0 ? found(path, &err) == 3 : says(path, PN_EPRIVACY, "resumed before"));
    }
}

static void test_any_changed_byte(void)
{
    pn_checkpoint_file *file = NULL;
    unsigned char changed[8192];
    size_t size, refused = 0;
    pn_err err;

    remove_files();
    CHECK(make(&file, 0, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    CHECK(commit(file, 4, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK); /* 0 lies before it */
    pn_checkpoint_close(file);
    size = read_content();
    for (size_t i = 0; i < size; i++) {
        int number;

        memcpy(changed, content, size);
        changed[i] ^= 0x40;
        write_content(changed, size);
        number = found(path, &err);
        refused += number < 0;
        CHECK(number == 4 || number == -1 - (int)PN_EPARSE); /* never the older one */
    }
    CHECK(refused >= 200); /* the state at least */
    for (size_t cut = 0; cut < size; cut++) {
        int number;

        write_content(content, cut);
        number = found(path, &err);
        CHECK(number == -1 - (int)PN_EPARSE || (number == 4 && cut >= STATES));
    }
    write_content(content, size);
    CHECK(found(path, &err) == 4);
}

static void test_other_files(void)
{
    pn_checkpoint_file *file = NULL;
    size_t size;
    pn_err err;

    remove_files();
    CHECK(make(&file, 2, PN_CHECKPOINT_PARKED, &err) == PN_OK);
    pn_checkpoint_close(file);
    size = read_content();
    for (size_t s = 0; s < 2; s++)
        content[s * SECTOR + 16] = 9; /* version */
    write_content(content, size);
    CHECK(says(path, PN_EPARSE, "format 9"));
    for (size_t s = 0; s < 2; s++) { /* a machine whose numbers run the other way */
        content[s * SECTOR + 16] = 1;
        for (size_t i = 0; i < 8; i++)
            content[s * SECTOR + 24 + i] = (unsigned char)(i + 1);
    }
    write_content(content, size);
    CHECK(says(path, PN_EPARSE, "order of bytes"));
    memset(content, 0, sizeof content);
    write_content(content, size);
    CHECK(says(path, PN_EPARSE, "no checkpoint"));
    write_content(content, 0);
    CHECK(says(path, PN_EPARSE, "no checkpoint"));
    CHECK(says(directory, PN_EPARSE, "no regular file"));
    CHECK(says("/no/such/place", PN_EIO, "no such checkpoint"));
    CHECK(make(&file, 2, PN_CHECKPOINT_PARKED, &err) == PN_EINVAL);
    (void)snprintf(path, sizeof path, "%s/none/stream", directory);
    CHECK(make(&file, 2, PN_CHECKPOINT_PARKED, &err) == PN_EIO && strstr(err.message, "cannot be written"));
    (void)snprintf(path, sizeof path, "%s/stream", directory);
}

/* ---- a disk that fails ---- */

static void test_failing_disk(void)
{
    for (int k = 1; k <= 3; k++) {
        pn_checkpoint_file *file = NULL;
        pn_err err;

        remove_files();
        CHECK(make(&file, 1, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
        disk.fail_write = k;
        CHECK(commit(file, 2, PN_CHECKPOINT_FOLLOWED, &err) == PN_EIO && strstr(err.message, "nothing was released"));
        disk.fail_write = 0;
        pn_checkpoint_close(file);
        CHECK(found(path, &err) == 1); /* a write that failed wrote nothing here */
    }
    for (int k = 1; k <= 2; k++) {
        pn_checkpoint_file *file = NULL;
        pn_err err;

        remove_files();
        CHECK(make(&file, 1, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
        disk.fail_sync = k;
        CHECK(commit(file, 2, PN_CHECKPOINT_FOLLOWED, &err) == PN_EIO && strstr(err.message, "cannot be made durable"));
        CHECK(commit(file, 2, PN_CHECKPOINT_FOLLOWED, &err) == PN_EIO && strstr(err.message, "resume the file"));
        pn_checkpoint_close(file);
        CHECK(found(path, &err) == k);
    }
    for (int k = 1; k <= 3; k++) { /* of a file that could not be written nothing stays */
        pn_checkpoint_file *file = NULL;
        char command[300];
        pn_err err;

        remove_files();
        disk.fail_write = k;
        CHECK(make(&file, 1, PN_CHECKPOINT_PARKED, &err) == PN_EIO && strstr(err.message, "No space left"));
        disk.fail_write = 0;
        (void)snprintf(command, sizeof command, "test -z \"$(ls %s)\"", directory);
        CHECK(system(command) == 0);
    }
}

static void test_file_that_is_gone(void)
{
    pn_checkpoint_file *file = NULL;
    pn_err err;

    remove_files();
    CHECK(make(&file, 1, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    CHECK(rename(path, other) == 0);
    CHECK(commit(file, 2, PN_CHECKPOINT_FOLLOWED, &err) == PN_EIO && strstr(err.message, "is no longer the file"));
    CHECK(rename(other, path) == 0);
    CHECK(commit(file, 2, PN_CHECKPOINT_FOLLOWED, &err) == PN_OK);
    pn_checkpoint_close(file);
    CHECK(found(path, &err) == 2);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size;
    bool published;
    pn_status status;

    (void)self;
    remove_files();
    status = pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_FOLLOWED, "state", 5, &published, err);
    if (status == PN_OK)
        status = pn_checkpoint_commit(file, PN_CHECKPOINT_PARKED, "later", 5, err);
    pn_checkpoint_close(file);
    file = NULL;
    if (status == PN_OK)
        status = pn_checkpoint_open(&file, &owner, path, &state, &size, err);
    pn_checkpoint_close(file);
    pn_free(state);
    return status;
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", base ? base : "/tmp");
    if (!CHECK(mkdtemp(directory) != NULL))
        return check_summary();
    (void)snprintf(path, sizeof path, "%s/stream", directory);
    (void)snprintf(other, sizeof other, "%s/other", directory);
    test_round_trip();
    test_order_of_writes();
    test_every_step_of_a_commit();
    test_every_step_of_the_making();
    test_every_step_of_the_taking();
    test_taken_once();
    test_copies();
    test_copies_put_back();
    test_any_changed_byte();
    test_other_files();
    test_failing_disk();
    test_file_that_is_gone();
    fail_alloc_sweep("checkpoint file", scenario, NULL);
    remove_files();
    CHECK(rmdir(directory) == 0);
    return check_summary();
}
