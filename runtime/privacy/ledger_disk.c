/* ledger_disk.c -- what a ledger asks of the disk.  Depends on: ledger_disk.h, core/, libsodium, POSIX.
 * Used by: ledger_file.c, continual/checkpoint_file.c. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "privacy/ledger_disk.h"

/* ---- writing ---- */

static int write_all(int fd, const char *data, size_t size, size_t offset)
{
    while (size > 0) {
        ssize_t done = pwrite(fd, data, size, (off_t)offset);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        data += done;
        size -= (size_t)done;
        offset += (size_t)done;
    }
    return 0;
}

/* A write beyond RLIMIT_FSIZE raises SIGXFSZ in the writing thread, which would end the host.  It is held back, and taken away
 * unless it was there before. */
int pn_disk_write(int fd, const void *data, size_t size, size_t offset)
{
    const struct timespec now = { 0, 0 };
    sigset_t limit, before, pending;
    int error;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    error = write_all(fd, data, size, offset);
    if (!sigismember(&pending, SIGXFSZ)) {
        while (sigtimedwait(&limit, NULL, &now) < 0 && errno == EINTR)
            continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int pn_disk_sync(int fd)
{
    while (fdatasync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int pn_disk_sync_entry(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char directory[4096];
    int fd, error;

    if (length >= sizeof directory)
        return ENAMETOOLONG;
    memcpy(directory, slash ? path : ".", length);
    directory[length] = '\0';
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    error = fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a file system that has no such thing */
    (void)close(fd);
    return error;
}

bool pn_disk_in_place(int fd, const char *path)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

int pn_disk_name(const char *other, const char *path, bool replace, bool *named)
{
    int error = replace ? EPERM : link(other, path) == 0 ? 0 : errno;

    if (error == EPERM || error == ENOTSUP ||
        error == ENOSYS) /* a file system without links, or what is to be replaced */
        error = rename(other, path) == 0 ? 0 : errno;
    if (named)
        *named = error == 0;
    (void)unlink(other);
    return error ? error : pn_disk_sync_entry(path);
}

/* ---- reading ---- */

int pn_disk_open(const char *path, bool create, unsigned mode)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (create ? O_CREAT | O_EXCL : 0), (mode_t)mode);
    struct stat info;

    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        errno = ENOTSUP;
        return -1;
    }
    return fd;
}

pn_status pn_disk_read(int fd, const char *owner, const char *path, char **data, size_t *size, pn_err *err)
{
    struct stat info;
    size_t used = 0;

    *data = NULL;
    if (fstat(fd, &info) != 0)
        return pn_fail(err, PN_EIO, "%s: %.300s: cannot be read: %s", owner, path, strerror(errno));
    *size = (size_t)info.st_size;
    *data = pn_alloc(*size + 1, 1);
    if (!*data)
        return pn_fail(err, PN_ENOMEM, "%s: %.300s: out of memory for %zu bytes", owner, path, *size);
    while (used < *size) {
        ssize_t got = pread(fd, *data + used, *size - used, (off_t)used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            pn_free(*data);
            *data = NULL;
            return pn_fail(err, PN_EIO, "%s: %.300s: cannot be read: %s", owner, path, strerror(errno));
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    *size = used;
    (*data)[used] = '\0';
    return PN_OK;
}

/* ---- the key ---- */

static const char key_magic[] = "penumbra-key 1 ";

#define KEY_TEXT (sizeof key_magic - 1 + 2 * PN_KEY_BYTES + 1) /* with the newline */

pn_status pn_disk_read_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat info;
    char text[KEY_TEXT + 2] = "";
    ssize_t got = -1;
    size_t length = 0;
    bool holds;

    if (fd < 0)
        return pn_fail(err, PN_EIO,
                       "ledger: %.300s: the key cannot be opened: %s; without it nobody can tell whether the "
                       "ledger was changed",
                       path, strerror(errno));
    holds = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (holds)
        got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (holds && (info.st_mode & S_IRWXO))
        return pn_fail(err, PN_EIO,
                       "ledger: %.300s: everybody may read or write this key (mode %03o); make it yours: chmod 600",
                       path, (unsigned)(info.st_mode & 0777));
    holds = got == (ssize_t)KEY_TEXT && memcmp(text, key_magic, sizeof key_magic - 1) == 0 &&
            sodium_hex2bin(key, PN_KEY_BYTES, text + sizeof key_magic - 1, 2 * PN_KEY_BYTES, NULL, &length, NULL) == 0;
    sodium_memzero(text, sizeof text);
    return holds && length == PN_KEY_BYTES
               ? PN_OK
               : pn_fail(err, PN_EPARSE, "ledger: %.300s: this is no key of a ledger", path);
}

/* Written whole under another name and then linked, so that a key is there or not. */
static int write_key(const unsigned char key[PN_KEY_BYTES], const char *path, const char *other)
{
    char hex[2 * PN_KEY_BYTES + 1], text[KEY_TEXT + 1];
    int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), error;

    if (fd < 0)
        return errno;
    (void)sodium_bin2hex(hex, sizeof hex, key, PN_KEY_BYTES);
    (void)snprintf(text, sizeof text, "%s%s\n", key_magic, hex);
    error = pn_disk_write(fd, text, KEY_TEXT, 0);
    if (!error)
        error = pn_disk_sync(fd);
    (void)close(fd);
    if (!error)
        error = pn_disk_name(other, path, false, NULL);
    (void)unlink(other);
    sodium_memzero(hex, sizeof hex);
    sodium_memzero(text, sizeof text);
    return error;
}

pn_status pn_disk_make_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err)
{
    size_t room = strlen(path) + 32;
    char *other;
    int error;

    if (access(path, F_OK) == 0)
        return pn_disk_read_key(key, path, err);
    other = pn_alloc(room, 1);
    if (!other)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for a path");
    (void)snprintf(other, room, "%s.%ld.new", path, (long)getpid());
    randombytes_buf(key, PN_KEY_BYTES);
    error = write_key(key, path, other);
    pn_free(other);
    if (error == EEXIST) /* somebody else was faster */
        return pn_disk_read_key(key, path, err);
    return error ? pn_fail(err, PN_EIO, "ledger: %.300s: the key cannot be written: %s", path, strerror(error)) : PN_OK;
}
