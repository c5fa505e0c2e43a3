/* file_place.c -- what belongs to a file and not to its contents: its place, a mark of how far what is in it has come,
 * its owner.  A copy is in another place.  Somebody who puts an earlier copy back with cp writes over the contents and
 * leaves the file, its inode and the mark.
 * Depends on: file_place.h, POSIX, Linux where it is there.  Used by: whatever keeps state in files. */
#define _GNU_SOURCE /* statx: when a file was made */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#include <sys/xattr.h>
#endif

#include "core/file_place.h"

/* ---- the place ---- */

int pn_file_find(pn_file_place *out, int fd)
{
    struct stat info;
#ifdef STATX_BTIME
    struct statx more;
#endif

    *out = (pn_file_place){ 0 };
    if (fstat(fd, &info) != 0)
        return errno;
    out->inode = (uint64_t)info.st_ino;
    out->device = (uint64_t)info.st_dev;
#ifdef STATX_BTIME
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME)) {
        out->born = (uint64_t)more.stx_btime.tv_sec;
        out->nanoseconds = more.stx_btime.tv_nsec;
    }
#endif
    return 0;
}

/* The number of a device may change when a machine is started again: the time of birth is the better mark. */
bool pn_file_same(const pn_file_place *a, const pn_file_place *b)
{
    if (a->born || b->born)
        return a->inode == b->inode && a->born == b->born && a->nanoseconds == b->nanoseconds;
    return a->inode == b->inode && a->device == b->device;
}

bool pn_file_place_lasts(int fd)
{
#ifdef __linux__
    static const unsigned long numbered_anew[] = { 0x65735546ul /* FUSE */, 0xff534d42ul /* CIFS */,
                                                   0xfe534d42ul /* SMB2 */, 0x517bul /* SMB */ };
    struct statfs about;

    if (fstatfs(fd, &about) != 0)
        return false;
    for (size_t i = 0; i < sizeof numbered_anew / sizeof numbered_anew[0]; i++) {
        if (((unsigned long)about.f_type & 0xfffffffful) == numbered_anew[i])
            return false;
    }
#else
    (void)fd;
#endif
    return true;
}

/* ---- the mark ---- */

#ifdef __linux__
typedef struct mark {
    unsigned char id[PN_FILE_ID];
    uint64_t sequence;
} mark;

static const char *const mark_names[] = { "user.penumbra.stream", "user.penumbra.ledger" };

void pn_file_mark(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID], uint64_t sequence)
{
    mark now = { .sequence = sequence };

    memcpy(now.id, id, sizeof now.id);
    (void)fsetxattr(fd, mark_names[kind], &now, sizeof now, 0);
}

uint64_t pn_file_marked(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID])
{
    mark found;

    if (fgetxattr(fd, mark_names[kind], &found, sizeof found) != (ssize_t)sizeof found)
        return 0;
    return memcmp(found.id, id, sizeof found.id) == 0 ? found.sequence : 0;
}
#else
void pn_file_mark(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID], uint64_t sequence)
{
    (void)fd, (void)kind, (void)id, (void)sequence;
}

uint64_t pn_file_marked(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID])
{
    (void)fd, (void)kind, (void)id;
    return 0;
}
#endif

/* ---- the owner ---- */

static bool is_trusted(uid_t user)
{
    return user == geteuid() || user == 0;
}

pn_status pn_file_check_owner(int fd, pn_file_trust trust, const char *owner, const char *path, pn_err *err)
{
    mode_t too_much = trust == PN_FILE_SECRET ? S_IRWXG | S_IRWXO : S_IWOTH;
    struct stat info;

    if (fstat(fd, &info) != 0)
        return pn_fail(err, PN_EIO, "%s: %.300s: cannot be read: %s", owner, path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return PN_OK;
    if (!is_trusted(info.st_uid))
        return pn_fail(err, PN_EIO,
                       "%s: %.300s: belongs to user %lu, not to you (user %lu) or to root; give another path, or run "
                       "as its owner",
                       owner, path, (unsigned long)info.st_uid, (unsigned long)geteuid());
    if ((info.st_mode & too_much) == 0)
        return PN_OK;
    return pn_fail(err, PN_EIO, "%s: %.300s: others than its owner may %s it (mode %03o); chmod %s %.300s", owner, path,
                   trust == PN_FILE_SECRET ? "read or write" : "write", (unsigned)(info.st_mode & 0777),
                   trust == PN_FILE_SECRET ? "600" : "o-w", path);
}

pn_status pn_file_check_link(const char *owner, const char *path, pn_err *err)
{
    struct stat info;

    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode) || is_trusted(info.st_uid))
        return PN_OK;
    return pn_fail(err, PN_EIO,
                   "%s: %.300s: is a symbolic link of user %lu, which is not followed; give the path of the file",
                   owner, path, (unsigned long)info.st_uid);
}
