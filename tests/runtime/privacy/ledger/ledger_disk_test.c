/* ledger_disk_test.c -- what a ledger asks of the disk reaches the system: data and directory entries are synced,
 * interrupted calls are made again, and failures are told.  The file is built here with the system's calls counted.
 * Depends on: check.h, privacy/, POSIX. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last descriptor that was synced and how often; the first `interrupted` calls end with EINTR,
 * and then with `error`. */
static struct {
    int data, entries, interrupted, error;
    mode_t mode;
} calls;

static int synced(int fd, int *count)
{
    struct stat info;

    (*count)++;
    calls.mode = fstat(fd, &info) == 0 ? info.st_mode & S_IFMT : 0;
    errno = calls.interrupted > 0 ? EINTR : calls.error;
    return calls.interrupted-- > 0 || calls.error ? -1 : 0;
}

static int counted_fdatasync(int fd)
{
    return synced(fd, &calls.data);
}

static int counted_fsync(int fd)
{
    return synced(fd, &calls.entries);
}

#define fdatasync counted_fdatasync
#define fsync     counted_fsync
#include "core/file.c"
#include "privacy/ledger/ledger_disk.c"

#include "check.h"

static void test_data_is_synced(int fd)
{
    calls.data = 0;
    CHECK(pn_file_sync(fd) == 0 && calls.data == 1 && calls.mode == S_IFREG);
    calls.interrupted = 2;
    CHECK(pn_file_sync(fd) == 0 && calls.data == 4);
    calls.interrupted = 0;
    calls.error = EIO;
    CHECK(pn_file_sync(fd) == EIO);
    calls.error = 0;
}

static void test_entries_are_synced(const char *path)
{
    calls.entries = 0;
    calls.interrupted = 0;
    CHECK(pn_file_sync_entry(path) == 0 && calls.entries == 1 && calls.mode == S_IFDIR);
    CHECK(pn_file_sync_entry("no slash") == 0 && calls.entries == 2 && calls.mode == S_IFDIR);
    calls.interrupted = 0;
    calls.error = EIO;
    CHECK(pn_file_sync_entry(path) == EIO);
    calls.error = EINVAL; /* the file system has no such thing */
    CHECK(pn_file_sync_entry(path) == 0);
    calls.error = 0;
    CHECK(pn_file_sync_entry("/no/such/directory/file") == ENOENT);
}

/* A key is on the disk before anything is authenticated with it. */
static void test_a_new_key_is_synced(const char *path)
{
    unsigned char key[PN_KEY_BYTES], again[PN_KEY_BYTES];
    struct stat info;

    CHECK(unlink(path) == 0);
    calls.data = calls.entries = calls.interrupted = 0;
    CHECK(pn_disk_make_key(key, path, NULL) == PN_OK && calls.data == 1 && calls.entries == 1);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(pn_disk_make_key(again, path, NULL) == PN_OK && memcmp(key, again, PN_KEY_BYTES) == 0);
    CHECK(unlink(path) == 0);
}

int main(void)
{
    char path[] = "/tmp/penumbra-disk-XXXXXX";
    int fd = mkstemp(path);

    if (CHECK(fd >= 0)) {
        test_data_is_synced(fd);
        test_entries_are_synced(path);
        test_a_new_key_is_synced(path);
        (void)close(fd);
    }
    return check_summary();
}
