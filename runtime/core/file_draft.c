/* file_draft.c -- files that are written beside their place and then named: whole, or not there.
 * Depends on: file.h, alloc.h, mutant.h.
 * Used by: whatever saves a file.
 *
 * A draft is locked as long as its writer lives, and its name is the path with a suffix of chance.  So the next writer
 * of the path can tell what a killed one has left, and takes it away.
 * Locks that a file system does not have leave everything where it is. */
#define _GNU_SOURCE /* flock, syscall */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/mutant.h"

#define MARK   ".tmp-"
#define DIGITS 16

_Static_assert(sizeof MARK - 1 + DIGITS == PN_FILE_SUFFIX, "the suffix is a mark and digits");

/* ---- what was left behind ---- */

static bool is_draft_of(const char *name, const char *base, size_t length)
{
    const char *digits = name + length + sizeof MARK - 1;

    return strncmp(name, base, length) == 0 && strncmp(name + length, MARK, sizeof MARK - 1) == 0 &&
           strlen(digits) == DIGITS && strspn(digits, "0123456789abcdef") == DIGITS;
}

/* Gone unless its writer holds it, or it is no file of anybody's. */
static void remove_dead(int folder, const char *name)
{
    int fd = pn_file_open_at(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    struct stat mine, there;

    if (fd < 0)
        return;
    if (fstat(fd, &mine) == 0 && S_ISREG(mine.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && mine.st_ino == there.st_ino &&
        mine.st_dev == there.st_dev)
        (void)unlinkat(folder, name, 0);
    (void)close(fd);
}

static void remove_leftovers(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    int fd = pn_file_open_folder(path);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);

    if (!folder) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    /* cppcheck-suppress readdirCalled ; the folder is opened here and nobody else reads it */
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (is_draft_of(entry->d_name, base, strlen(base)))
            remove_dead(fd, entry->d_name);
    }
    (void)closedir(folder);
}

/* ---- making ---- */

/* 0, EEXIST for another try, or errno. */
static int open_draft(pn_file_draft *self, unsigned mode)
{
    uint64_t chance;
    struct stat info;

    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        return errno == EINTR ? EEXIST : errno;
    (void)snprintf(self->name, strlen(self->path) + PN_FILE_SUFFIX + 1, "%s" MARK "%016llx", self->path,
                   (unsigned long long)chance);
    self->fd = pn_file_open(self->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (self->fd < 0)
        return errno;
    while (flock(self->fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
    if (fstat(self->fd, &info) == 0 && info.st_nlink > 0)
        return 0;
    (void)close(self->fd); /* somebody else took it for a leftover before it was locked */
    self->fd = -1;
    return EEXIST;
}

int pn_file_begin(pn_file_draft *out, const char *path, unsigned mode)
{
    remove_leftovers(path);
    return pn_file_begin_next(out, path, mode);
}

int pn_file_begin_next(pn_file_draft *out, const char *path, unsigned mode)
{
    int error = EEXIST;

    *out = (pn_file_draft){ .path = path, .name = pn_alloc(strlen(path) + PN_FILE_SUFFIX + 1, 1), .fd = -1 };
    if (!out->name)
        return ENOMEM;
    for (int attempt = 0; attempt < 100 && error == EEXIST; attempt++)
        error = open_draft(out, mode);
    if (error) {
        pn_free(out->name);
        out->name = NULL;
    }
    return error;
}

/* Without a moment at which the file has two names, where the system can. */
static int name_new(const char *name, const char *path)
{
#ifdef SYS_renameat2 /* younger in C libraries than in systems */
    if (syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, path, 1u /* RENAME_NOREPLACE */) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
#endif
    if (link(name, path) == 0)
        return 0;
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS)
        return errno;
    return rename(name, path) == 0 ? 0 : errno; /* a file system without links */
}

int pn_file_name(pn_file_draft *self, bool replace, bool *named)
{
    int error;

    PN_CRASH("file_crash_written");
    error = !replace ? name_new(self->name, self->path) : rename(self->name, self->path) == 0 ? 0 : errno;
    if (named)
        *named = error == 0;
    (void)unlink(self->name);
    PN_CRASH("file_crash_named");
    pn_free(self->name);
    self->name = NULL;
    return error ? error : pn_file_sync_entry(self->path);
}

void pn_file_end(pn_file_draft *self)
{
    if (self->name)
        (void)unlink(self->name);
    pn_free(self->name);
    self->name = NULL;
    if (self->fd >= 0)
        (void)close(self->fd);
    self->fd = -1;
}

/* A device or a pipe, also by a name such as /dev/stdout: what is named in its place would take it away. */
static bool is_stream(const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode)))
        return true;
    return strncmp(path, "/dev/", 5) == 0 && lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static int write_stream(const char *path, const char *data, size_t size)
{
    int fd = pn_file_open(path, O_WRONLY | O_NOCTTY, 0), error = fd < 0 ? errno : 0;

    while (!error && size > 0) {
        ssize_t done = write(fd, data, size);

        if (done < 0 && errno != EINTR)
            error = errno;
        data += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    return error;
}

int pn_file_put(const char *path, const void *data, size_t size, unsigned mode, bool replace)
{
    pn_file_draft draft;
    int error;

    if (replace && is_stream(path))
        return write_stream(path, data, size);
    error = pn_file_begin(&draft, path, mode);
    if (error)
        return error;
    error = pn_file_write(draft.fd, data, size, 0);
    if (!error)
        error = pn_file_sync(draft.fd);
    if (!error)
        error = pn_file_name(&draft, replace, NULL);
    pn_file_end(&draft);
    return error;
}
