/* file.c -- descriptors above those of the standard files, whole writes, durability.  Depends on: file.h.
 * Used by: whatever opens files. */
#define _GNU_SOURCE /* pipe2, memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"

/* ---- descriptors ---- */

/* fd, or in its place one above those of the standard files; -1 with errno set. */
static int above(int fd)
{
    int moved, error;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    error = errno;
    (void)close(fd);
    errno = error;
    return moved;
}

int pn_file_open_at(int folder, const char *path, int flags, unsigned mode)
{
    return above(openat(folder, path, flags | O_CLOEXEC, (mode_t)mode));
}

int pn_file_open(const char *path, int flags, unsigned mode)
{
    return pn_file_open_at(AT_FDCWD, path, flags, mode);
}

int pn_file_open_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char folder[4096];

    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return pn_file_open(folder, O_RDONLY | O_DIRECTORY, 0);
}

/* Two that were just made, or were not. */
static bool both_above(bool made, int ends[2])
{
    int error;

    if (!made) {
        ends[0] = ends[1] = -1;
        return false;
    }
    ends[0] = above(ends[0]);
    error = errno;
    ends[1] = above(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return true;
    error = ends[0] < 0 ? error : errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            (void)close(ends[i]);
        ends[i] = -1;
    }
    errno = error;
    return false;
}

bool pn_file_pipe(int ends[2])
{
    return both_above(pipe2(ends, O_CLOEXEC) == 0, ends);
}

bool pn_file_socket_pair(int ends[2])
{
    return both_above(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, ends);
}

bool pn_file_stand_in(int standard, int fd, int *before)
{
    int kept = before ? fcntl(standard, F_DUPFD_CLOEXEC, 3) : -1;

    if ((before && kept < 0) || dup2(fd, standard) < 0) {
        if (kept >= 0)
            (void)close(kept);
        return false;
    }
    if (before)
        *before = kept;
    return true;
}

int pn_file_memory(const char *name)
{
#ifdef MFD_ALLOW_SEALING
    return above(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
#else
    (void)name;
    errno = ENOSYS;
    return -1;
#endif
}

/* Not closed on exec: what the process starts would be without them in turn. */
bool pn_file_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    }
    return true;
}

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

/* What makes a file larger than RLIMIT_FSIZE raises SIGXFSZ in its thread, which would end the host.  The signal is
 * held back, and taken away unless it was there before. */
typedef struct held {
    sigset_t limit, before, pending;
} held;

static void hold(held *self)
{
    sigemptyset(&self->limit);
    sigaddset(&self->limit, SIGXFSZ);
    sigpending(&self->pending);
    (void)pthread_sigmask(SIG_BLOCK, &self->limit, &self->before);
}

static void let_go(const held *self)
{
    const struct timespec now = { 0, 0 };

    if (!sigismember(&self->pending, SIGXFSZ)) {
        while (sigtimedwait(&self->limit, NULL, &now) < 0 && errno == EINTR)
            continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &self->before, NULL);
}

int pn_file_write(int fd, const void *data, size_t size, size_t offset)
{
    held limit;
    int error;

    hold(&limit);
    error = write_all(fd, data, size, offset);
    let_go(&limit);
    return error;
}

int pn_file_reserve(int fd, size_t size)
{
    held limit;
    int error;

    hold(&limit);
    error = posix_fallocate(fd, 0, (off_t)size);
    let_go(&limit);
    return error;
}

int pn_file_append(const char *path, const void *data, size_t size, unsigned mode, bool durable)
{
    int fd = pn_file_open(path, O_RDWR | O_CREAT | O_NOCTTY, mode), error = fd < 0 ? errno : 0;
    struct stat info = { 0 };

    if (fd < 0)
        return error;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
        continue; /* a file system without locks has one writer */
    if (fstat(fd, &info) != 0)
        error = errno;
    if (!error) {
        error = pn_file_write(fd, data, size, (size_t)info.st_size);
        if (!error && durable)
            error = pn_file_sync(fd);
        if (error)
            (void)!ftruncate(fd, info.st_size);
    }
    if (close(fd) != 0 && !error && errno != EINTR)
        error = errno;
    return error;
}

int pn_file_sync(int fd)
{
    while (fdatasync(fd) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

int pn_file_sync_entry(const char *path)
{
    int fd = pn_file_open_folder(path), error;

    if (fd < 0)
        return errno;
    error = fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: a file system that has no such thing */
    (void)close(fd);
    return error;
}

bool pn_file_in_place(int fd, const char *path)
{
    struct stat mine, there;

    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}
