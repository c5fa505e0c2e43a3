/* checkpoint_mark.c -- what a file itself remembers, whatever is written into it: how far the stream in it has come.  Somebody who
 * puts an earlier copy back with cp writes over the contents and leaves the file, its inode and this mark.
 * Depends on: checkpoint_file.h, extended attributes (Linux).  Used by: checkpoint_file.c. */
#include <stdint.h>
#include <string.h>

#include "continual/checkpoint_file.h"

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
