/* file_place_test.c -- a copy is told from its original, a file from its past, one's own file from a stranger's.  What
 * needs a stranger is tested where the tests run as root.
 * Depends on: check.h, core/file_place.h, POSIX. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file_place.h"

#include "check.h"

static char folder[] = "/tmp/penumbra-place-XXXXXX", path[64], other[64];

static int open_new(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    return fd;
}

static void a_file_that_is_renamed_keeps_its_place_and_another_has_none_of_it(void)
{
    int fd = open_new(path), copy = open_new(other);
    pn_file_place before, after, elsewhere;

    CHECK(pn_file_find(&before, fd) == 0 && pn_file_find(&elsewhere, copy) == 0);
    CHECK(!pn_file_same(&before, &elsewhere));
    CHECK(rename(path, other) == 0);
    (void)close(fd);
    fd = open(other, O_RDWR);
    CHECK(pn_file_find(&after, fd) == 0 && pn_file_same(&before, &after));
    CHECK(ftruncate(fd, 0) == 0 && write(fd, "y", 1) == 1);
    CHECK(pn_file_find(&after, fd) == 0 && pn_file_same(&before, &after)); /* whatever is written into it */
    CHECK(pn_file_find(&after, -1) != 0);
    (void)close(fd);
    (void)close(copy);
}

static void what_has_birth_is_told_by_it_and_by_inode(void)
{
    const pn_file_place a = { .inode = 1, .device = 2, .born = 3, .nanoseconds = 4 };
    pn_file_place b = a;

    b.device = 7; /* another number after a restart */
    CHECK(pn_file_same(&a, &b));
    b.nanoseconds = 5;
    CHECK(!pn_file_same(&a, &b));
    b = (pn_file_place){ .inode = 1, .device = 2 };
    CHECK(!pn_file_same(&a, &b) && pn_file_same(&b, &b));
}

static void a_mark_is_of_one_kind_and_one_id(void)
{
    static const unsigned char mine[PN_FILE_ID] = { 1 }, theirs[PN_FILE_ID] = { 2 };
    int fd = open_new(path);

    CHECK(pn_file_marked(fd, PN_FILE_LEDGER, mine) == 0);
    pn_file_mark(fd, PN_FILE_LEDGER, mine, 7);
    if (pn_file_marked(fd, PN_FILE_LEDGER, mine) == 7) { /* else there are no attributes here */
        CHECK(pn_file_marked(fd, PN_FILE_STREAM, mine) == 0 && pn_file_marked(fd, PN_FILE_LEDGER, theirs) == 0);
        CHECK(ftruncate(fd, 0) == 0 && pn_file_marked(fd, PN_FILE_LEDGER, mine) == 7);
    }
    (void)close(fd);
}

static void others_may_not_use_a_secret_nor_everybody_write(void)
{
    static const mode_t modes[] = { 0400, 0600, 0640, 0604, 0620, 0644, 0660, 0662, 0666 };
    int fd = open_new(path);
    pn_err err;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        bool secret = (modes[i] & 077) == 0, ours = (modes[i] & 02) == 0;

        CHECK(fchmod(fd, modes[i]) == 0);
        CHECK((pn_file_check_owner(fd, PN_FILE_SECRET, "test", path, &err) == PN_OK) == secret);
        CHECK(secret || (strstr(err.message, "; chmod 600 /tmp/") && err.status == PN_EIO));
        CHECK((pn_file_check_owner(fd, PN_FILE_OURS, "test", path, &err) == PN_OK) == ours);
        CHECK(ours || strstr(err.message, "; chmod o-w /tmp/"));
    }
    (void)close(fd);
}

static void a_stranger_is_not_trusted(void)
{
    int fd = open_new(path);
    pn_err err;

    (void)unlink(other);
    CHECK(pn_file_check_link("test", path, &err) == PN_OK && pn_file_check_link("test", other, &err) == PN_OK);
    CHECK(symlink(path, other) == 0 && pn_file_check_link("test", other, &err) == PN_OK);
    if (geteuid() == 0) {
        CHECK(lchown(other, 65534, 65534) == 0 && pn_file_check_link("test", other, &err) == PN_EIO);
        CHECK(strstr(err.message, "symbolic link of user 65534") != NULL);
        CHECK(fchmod(fd, 0600) == 0 && fchown(fd, 65534, 65534) == 0);
        CHECK(pn_file_check_owner(fd, PN_FILE_OURS, "test", path, &err) == PN_EIO);
        CHECK(strstr(err.message, "belongs to user 65534") != NULL);
        CHECK(fchown(fd, 0, 0) == 0 && seteuid(65534) == 0); /* root's is good for all */
        CHECK(pn_file_check_owner(fd, PN_FILE_SECRET, "test", path, &err) == PN_OK);
        CHECK(seteuid(0) == 0);
    }
    (void)unlink(other);
    (void)close(fd);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_summary();
    (void)snprintf(path, sizeof path, "%s/file", folder);
    (void)snprintf(other, sizeof other, "%s/other", folder);
    a_file_that_is_renamed_keeps_its_place_and_another_has_none_of_it();
    what_has_birth_is_told_by_it_and_by_inode();
    a_mark_is_of_one_kind_and_one_id();
    others_may_not_use_a_secret_nor_everybody_write();
    a_stranger_is_not_trusted();
    (void)unlink(path);
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
