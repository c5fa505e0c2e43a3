/* ahead_test.c -- a file that is read ahead, when memory or threads run out: nothing, or the pieces all the same.
 * Depends on: data/files/ahead.h, fail_alloc.h, zlib. */
#define _GNU_SOURCE /* mkstemp */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "data/files/ahead.h"
#include "fail_alloc.h"

static const char text[] = "1 1:0.5 3:2\n-1 2:1\n";

/* All that fails before the thread starts fails; when that fails, the piece comes without it. */
static void pieces_without_a_thread(const char *path)
{
    bool alone = false;

    for (long k = 1; k < 100 && !alone; k++) {
        fail_alloc memory = { .fail_at = k };
        const pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &memory };
        gzFile file = gzopen(path, "rb");
        const pn_piece *piece;
        pn_ahead *ahead;

        pn_allocator_set(&allocator);
        fail_calls_ask(fail_alloc_asked, &memory);
        ahead = pn_ahead_open(file, 4096, true);
        fail_calls_ask(NULL, NULL);
        piece = ahead ? pn_ahead_next(ahead) : NULL;
        alone = ahead != NULL;
        CHECK(!piece || (piece->last && piece->used == sizeof text - 1 && atomic_load(&memory.calls) == k));
        CHECK(!piece || memcmp(piece->bytes, text, piece->used) == 0);
        pn_ahead_close(ahead);
        pn_allocator_set(NULL);
        CHECK(atomic_load(&memory.live) == 0);
        CHECK(gzclose(file) == Z_OK);
    }
    CHECK(alone);
}

int main(void)
{
    char path[] = "/tmp/penumbra_ahead_XXXXXX";
    int fd = mkstemp(path);

    if (CHECK(fd >= 0) && CHECK(write(fd, text, sizeof text - 1) == sizeof text - 1))
        pieces_without_a_thread(path);
    (void)close(fd);
    (void)unlink(path);
    return check_summary();
}
