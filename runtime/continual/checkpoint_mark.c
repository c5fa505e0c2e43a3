/* checkpoint_mark.c -- what belongs to a file and not to its contents: its place, and a mark of how far the stream in it has come.
 * A copy is in another place.  Somebody who puts an earlier copy back with cp writes over the contents and leaves the file, its
 * inode and the mark.
 * Depends on: checkpoint_file.h, POSIX, Linux where it is there (time of birth, extended attributes).  Used by: checkpoint_file.c. */
#define _GNU_SOURCE /* statx: when a file was made */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "continual/checkpoint_file.h"

/* ---- the place ---- */

int pn_checkpoint_find(pn_checkpoint_place *out, int fd)
{
    struct stat info;
#ifdef STATX_BTIME
    struct statx more;
#endif

    *out = (pn_checkpoint_place){ 0 };
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
bool pn_checkpoint_same(const pn_checkpoint_place *a, const pn_checkpoint_place *b)
{
    if (a->born || b->born)
        return a->inode == b->inode && a->born == b->born && a->nanoseconds == b->nanoseconds;
    return a->inode == b->inode && a->device == b->device;
}

/* ---- the mark ---- */

#ifdef __linux__
#include <sys/xattr.h>

#define NAME "user.penumbra.stream"

typedef struct mark {
    unsigned char id[PN_CHECKPOINT_ID];
    uint64_t sequence;
} mark;

void pn_checkpoint_mark(int fd, const unsigned char id[PN_CHECKPOINT_ID], uint64_t sequence)
{
    mark now = { .sequence = sequence };

    memcpy(now.id, id, sizeof now.id);
    (void)fsetxattr(fd, NAME, &now, sizeof now, 0);
}

uint64_t pn_checkpoint_marked(int fd, const unsigned char id[PN_CHECKPOINT_ID])
{
    mark found;

    if (fgetxattr(fd, NAME, &found, sizeof found) != (ssize_t)sizeof found)
        return 0;
    return memcmp(found.id, id, sizeof found.id) == 0 ? found.sequence : 0;
}
#else
void pn_checkpoint_mark(int fd, const unsigned char id[PN_CHECKPOINT_ID], uint64_t sequence)
{
    (void)fd, (void)id, (void)sequence;
}

uint64_t pn_checkpoint_marked(int fd, const unsigned char id[PN_CHECKPOINT_ID])
{
    (void)fd, (void)id;
    return 0;
}
#endif
