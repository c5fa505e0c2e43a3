/* calls.h -- the system calls by which a process changes or reads files, seen and answered by its parent: a filter
 * (seccomp) stops each of them until the parent has said what becomes of it.
 * Depends on: libseccomp 2.5, Linux 5.6.  Used by: crash_test.c. */
#ifndef PN_TESTS_CRASH_CALLS_H
#define PN_TESTS_CRASH_CALLS_H

#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEXT 4096 /* bytes of a path */

typedef enum call_kind {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_CUT,
    CALL_SYNC,
    CALL_NAME,
    CALL_REMOVE,
    CALL_MAKE,
    CALL_MARK,
    CALL_CLOSE
} call_kind;

/* Where a call says which file: `fd` an argument that is a descriptor, or `path` one that is a name, seen from the
 * folder that argument `folder` is; -1: none. */
typedef struct call_row {
    const char *name;
    int number, kind, fd, path, folder;
} call_row;

static const call_row call_rows[] = {
    { "open", SCMP_SYS(open), CALL_OPEN, -1, 0, -1 },
    { "openat", SCMP_SYS(openat), CALL_OPEN, -1, 1, 0 },
    { "creat", SCMP_SYS(creat), CALL_OPEN, -1, 0, -1 },
    { "read", SCMP_SYS(read), CALL_READ, 0, -1, -1 },
    { "pread", SCMP_SYS(pread64), CALL_READ, 0, -1, -1 },
    { "write", SCMP_SYS(write), CALL_WRITE, 0, -1, -1 },
    { "pwrite", SCMP_SYS(pwrite64), CALL_WRITE, 0, -1, -1 },
    { "writev", SCMP_SYS(writev), CALL_WRITE, 0, -1, -1 },
    { "ftruncate", SCMP_SYS(ftruncate), CALL_CUT, 0, -1, -1 },
    { "truncate", SCMP_SYS(truncate), CALL_CUT, -1, 0, -1 },
    { "fallocate", SCMP_SYS(fallocate), CALL_CUT, 0, -1, -1 },
    { "fsync", SCMP_SYS(fsync), CALL_SYNC, 0, -1, -1 },
    { "fdatasync", SCMP_SYS(fdatasync), CALL_SYNC, 0, -1, -1 },
    { "rename", SCMP_SYS(rename), CALL_NAME, -1, 0, -1 },
    { "renameat", SCMP_SYS(renameat), CALL_NAME, -1, 1, 0 },
    { "renameat2", SCMP_SYS(renameat2), CALL_NAME, -1, 1, 0 },
    { "link", SCMP_SYS(link), CALL_NAME, -1, 0, -1 },
    { "linkat", SCMP_SYS(linkat), CALL_NAME, -1, 1, 0 },
    { "unlink", SCMP_SYS(unlink), CALL_REMOVE, -1, 0, -1 },
    { "unlinkat", SCMP_SYS(unlinkat), CALL_REMOVE, -1, 1, 0 },
    { "rmdir", SCMP_SYS(rmdir), CALL_REMOVE, -1, 0, -1 },
    { "mkdir", SCMP_SYS(mkdir), CALL_MAKE, -1, 0, -1 },
    { "mkdirat", SCMP_SYS(mkdirat), CALL_MAKE, -1, 1, 0 },
    { "symlink", SCMP_SYS(symlink), CALL_MAKE, -1, 1, -1 },
    { "symlinkat", SCMP_SYS(symlinkat), CALL_MAKE, -1, 2, 1 },
    { "fchmod", SCMP_SYS(fchmod), CALL_MARK, 0, -1, -1 },
    { "chmod", SCMP_SYS(chmod), CALL_MARK, -1, 0, -1 },
    { "fchmodat", SCMP_SYS(fchmodat), CALL_MARK, -1, 1, 0 },
    { "fsetxattr", SCMP_SYS(fsetxattr), CALL_MARK, 0, -1, -1 },
    { "close", SCMP_SYS(close), CALL_CLOSE, 0, -1, -1 },
};

#define CALLS (sizeof call_rows / sizeof *call_rows)

static const call_row *call_of(int number)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (call_rows[i].number == number)
            return &call_rows[i];
    }
    return NULL;
}

/* Sends a descriptor, or takes one (-1: none came). */
static bool send_fd(int through, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } with = { 0 };
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with };

    with.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
    memcpy(CMSG_DATA(&with.head), &fd, sizeof fd);
    return sendmsg(through, &message, 0) == 1;
}

static int take_fd(int through)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } with = { 0 };
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &with, .msg_controllen = sizeof with };
    int fd = -1;

    if (recvmsg(through, &message, MSG_CMSG_CLOEXEC) == 1 && message.msg_controllen >= CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(&with.head), sizeof fd);
    return fd;
}

/* ---- which file a call of process `pid` is about ---- */

static bool link_of(pid_t pid, const char *what, char out[TEXT])
{
    char name[64];
    ssize_t length;

    (void)snprintf(name, sizeof name, "/proc/%ld/%s", (long)pid, what);
    length = readlink(name, out, TEXT - 1);
    if (length < 0)
        return false;
    out[length] = '\0';
    return true;
}

static bool file_of_fd(pid_t pid, int fd, char out[TEXT])
{
    char name[32];

    (void)snprintf(name, sizeof name, "fd/%d", fd);
    return link_of(pid, name, out);
}

static ssize_t memory_of(pid_t pid, uint64_t address, void *to, size_t size)
{
    char name[64];
    ssize_t got;
    int fd;

    (void)snprintf(name, sizeof name, "/proc/%ld/mem", (long)pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = pread(fd, to, size, (off_t)address);
    (void)close(fd);
    return got;
}

static bool file_of_path(pid_t pid, int from, uint64_t address, char out[TEXT])
{
    char path[TEXT] = "", base[TEXT] = "";
    ssize_t got = memory_of(pid, address, path, sizeof path - 1);

    if (got <= 0 || !memchr(path, '\0', (size_t)got))
        return false;
    if (path[0] != '/' && !(from == AT_FDCWD ? link_of(pid, "cwd", base) : file_of_fd(pid, from, base)))
        return false;
    return snprintf(out, TEXT, path[0] == '/' ? "%.0s%s" : "%s/%s", base, path) < TEXT;
}

static bool find_file(const struct seccomp_notif *asked, const call_row *row, char out[TEXT])
{
    const __u64 *args = asked->data.args;
    pid_t pid = (pid_t)asked->pid;

    if (row->fd >= 0)
        return file_of_fd(pid, (int)args[row->fd], out);
    return file_of_path(pid, row->folder < 0 ? AT_FDCWD : (int)args[row->folder], args[row->path], out);
}

/* From here on the calls of this process, and of those that it starts, wait for an answer. */
static bool ask_parent(int through)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool fine = filter != NULL;

    for (size_t i = 0; i < CALLS && fine; i++) /* a negative number: this machine has no such call */
        fine = call_rows[i].number < 0 || seccomp_rule_add(filter, SCMP_ACT_NOTIFY, call_rows[i].number, 0) == 0;
    fine = fine && seccomp_load(filter) == 0 && send_fd(through, seccomp_notify_fd(filter));
    return fine; /* the filter is kept: releasing it would close the descriptor, which would wait */
}

#endif
