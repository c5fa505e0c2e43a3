/* file_test.c -- descriptors keep out of the way of the standard files, and files appear whole or not at all.  What is
 * there after a writer was killed: tests/crash.
 * Depends on: check.h, fail_alloc.h, core/, POSIX. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/file.h"
#include "fail_alloc.h"

static char directory[] = "/tmp/penumbra-file-XXXXXX", path[64];

static int files_in_directory(void)
{
    DIR *folder = opendir(directory);
    int count = -2; /* . and .. */

    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

static bool holds(const char *text)
{
    char got[64] = "";
    int fd = open(path, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, got, sizeof got - 1);

    (void)close(fd);
    return size == (ssize_t)strlen(text) && strcmp(got, text) == 0;
}

/* Runs body() in a child; its exit status, or minus the signal that ended it. */
static int in_child(int (*body)(const char *), const char *word)
{
    int ended = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(body(word));
    CHECK(waitpid(child, &ended, 0) == child);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
}

/* ---- descriptors ---- */

/* word: which of the standard files are closed, as "12". */
static int opens_above(const char *word)
{
    int ends[2], fd;

    for (; *word; word++)
        (void)close(*word - '0');
    fd = pn_file_open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 3 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
        return 1;
    if (!pn_file_pipe(ends) || ends[0] < 3 || ends[1] < 3 ||
        !(fcntl(ends[0], F_GETFD) & fcntl(ends[1], F_GETFD) & FD_CLOEXEC))
        return 2;
    return pn_file_open_folder(path) < 3 ? 3 : 0;
}

static int fills(const char *word)
{
    char byte = 0;

    for (; *word; word++)
        (void)close(*word - '0');
    if (!pn_file_fill_standard())
        return 1;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) != 0)
            return 2;
    }
    /* each of them fails as it did when it was closed */
    return read(0, &byte, 1) == -1 && write(1, &byte, 1) == -1 && write(2, &byte, 1) == -1 ? 0 : 3;
}

static int keeps(const char *word)
{
    struct stat before, after;

    (void)word;
    return fstat(1, &before) == 0 && pn_file_fill_standard() && fstat(1, &after) == 0 && before.st_ino == after.st_ino
               ? 0
               : 1;
}

static void test_descriptors(void)
{
    static const char *const closed[] = { "", "0", "1", "2", "01", "12", "02", "012" };

    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        CHECK(in_child(opens_above, closed[i]) == 0);
    CHECK(in_child(fills, "012") == 0);
    CHECK(in_child(keeps, "") == 0);
    (void)unlink(path);
}

/* With no number left, nothing is open. */
static int runs_out(const char *word)
{
    const struct rlimit few = { 3, 3 };
    int ends[2];

    (void)word;
    (void)close(1);
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        return 1;
    if (pn_file_open("/dev/null", O_RDONLY, 0) != -1 || errno != EINVAL)
        return 2;
    return !pn_file_pipe(ends) && ends[0] == -1 && ends[1] == -1 && fcntl(1, F_GETFD) == -1 ? 0 : 3;
}

/* ---- drafts ---- */

static void test_put(void)
{
    struct stat info;

    CHECK(pn_file_put(path, "one", 3, 0600, false) == 0 && holds("one"));
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(pn_file_put(path, "two", 3, 0600, false) == EEXIST && holds("one"));
    CHECK(pn_file_put(path, "three", 5, 0600, true) == 0 && holds("three"));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    {
        int reader = open(path, O_RDONLY | O_NONBLOCK);
        char got[8] = "";

        CHECK(pn_file_put(path, "four", 4, 0600, true) == 0 && read(reader, got, sizeof got) == 4);
        CHECK(strcmp(got, "four") == 0 && files_in_directory() == 1 && close(reader) == 0);
    }
    CHECK(unlink(path) == 0 && symlink("/dev/full", path) == 0);
    CHECK(pn_file_put(path, "five", 4, 0600, true) == ENOSPC && readlink(path, (char[16]){ 0 }, 16) == 9);
    CHECK(unlink(path) == 0 && pn_file_put(path, "three", 5, 0600, true) == 0);
    CHECK(pn_file_put("/no/such/folder/file", "", 0, 0600, true) == ENOENT);
    CHECK(files_in_directory() == 1);
    (void)unlink(path);
}

/* All of a text at the end, or nothing; and no signal where the limit on sizes does not let it grow. */
static int grows_within_limits(const char *word)
{
    const struct rlimit limit = { 10, RLIM_INFINITY };
    int fd = pn_file_open(path, O_RDWR | O_CREAT, 0600);

    (void)word;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (pn_file_reserve(fd, 11) != EFBIG || pn_file_reserve(fd, 4) != 0 || ftruncate(fd, 0) != 0)
        return 2;
    if (pn_file_append(path, "one ", 4, 0600, true) != 0 || pn_file_append(path, "two", 3, 0600, false) != 0)
        return 3;
    if (pn_file_append(path, "three", 5, 0600, true) != EFBIG || !holds("one two"))
        return 4;
    return pn_file_append("/no/such/folder/file", "", 0, 0600, true) == ENOENT ? 0 : 5;
}

/* What lives, what is no draft of this file, and what is no file stays. */
static void test_others_stay(void)
{
    static const char *const names[] = { ".tmp-0123456789abcde", ".tmp-0123456789abcdeg", ".tmp-0123456789abcdef0",
                                         ".new", "2.tmp-0123456789abcdef" };
    pn_file_draft draft;
    char other[128], link[128];

    CHECK(pn_file_begin(&draft, path, 0600) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(other, sizeof other, "%s%s", path, names[i]);
        CHECK(close(open(other, O_WRONLY | O_CREAT, 0600)) == 0);
    }
    (void)snprintf(link, sizeof link, "%s.tmp-00000000000000aa", path);
    CHECK(symlink(other, link) == 0);
    CHECK(pn_file_put(path, "mine", 4, 0600, true) == 0);
    CHECK(files_in_directory() == 8); /* the draft, the five, the link, the file */
    CHECK(pn_file_write(draft.fd, "draft", 5, 0) == 0 && pn_file_name(&draft, true, NULL) == 0 && holds("draft"));
    pn_file_end(&draft);
    CHECK(unlink(link) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(other, sizeof other, "%s%s", path, names[i]);
        CHECK(unlink(other) == 0);
    }
    (void)unlink(path);
}

/* A draft that is not named is gone with its end. */
static void test_ends(void)
{
    pn_file_draft draft;

    CHECK(pn_file_begin(&draft, path, 0600) == 0 && files_in_directory() == 1);
    pn_file_end(&draft);
    CHECK(files_in_directory() == 0);
}

/* Out of memory leaves no descriptor open and no file. */
static pn_status put_with_little_memory(void *self, pn_err *err)
{
    int error = pn_file_put(path, "some", 4, 0600, true);

    (void)self;
    (void)unlink(path);
    CHECK(files_in_directory() == 0);
    return error == ENOMEM ? pn_fail(err, PN_ENOMEM, "file: out of memory") : error ? PN_EIO : PN_OK;
}

int main(void)
{
    if (CHECK(mkdtemp(directory) != NULL)) {
        (void)snprintf(path, sizeof path, "%s/file", directory);
        test_descriptors();
        CHECK(in_child(runs_out, "") == 0);
        test_put();
        CHECK(in_child(grows_within_limits, "") == 0);
        (void)unlink(path);
        test_others_stay();
        test_ends();
        fail_alloc_sweep("file", put_with_little_memory, NULL);
        CHECK(rmdir(directory) == 0);
    }
    return check_summary();
}
