/* prefix_fuzz.c -- checkpoints of running sums.  The first byte says what the rest is: the state, which gets its two
 * sectors here, so that it is read, or a whole file.  A stream that goes on from it takes a leaf, is saved, and goes on
 * again from what it wrote.  What takes long looks at a task that ends it.
 * Depends on: fuzz.h, continual/checkpoint_file.h, core/stop.h. */
#include <string.h>

#include "continual/checkpoint_file.h"
#include "continual/prefix_impl.h"
#include "core/stop.h"
#include "fuzz/fuzz.h"

enum { STATE, FILE_AS_IT_IS, KINDS, LARGEST = 1 << 16 };

#define SECONDS 3.0

static void write_state(const char *path, const uint8_t *data, size_t size)
{
    static const pn_checkpoint_owner owner = { .name = "prefix", .what = "stream" };
    static const unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    pn_checkpoint_file *file = NULL;
    bool published;

    FUZZ_HOLDS(pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_PARKED, data, size, &published, NULL) ==
               PN_OK);
    pn_checkpoint_close(file);
}

static void go_on(pn_prefix *stream, const char *path)
{
    size_t dim = stream->design->options.dim;
    pn_prefix *again = NULL;
    pn_err err = { 0 };
    uint64_t count;
    double *leaf;

    if (dim <= LARGEST) {
        leaf = calloc(dim, sizeof *leaf);
        FUZZ_HOLDS(leaf != NULL);
        (void)pn_prefix_read(stream, leaf, &err);
        memset(leaf, 0, dim * sizeof *leaf);
        (void)pn_prefix_push(stream, leaf, NULL, NULL, &err);
        free(leaf);
    }
    count = pn_prefix_count(stream);
    if (pn_prefix_save(stream, path, &err) == PN_OK) {
        pn_status status = pn_prefix_resume(&again, path, &err);

        FUZZ_HOLDS(status == PN_OK ? pn_prefix_count(again) == count : status == PN_ELIMIT);
        pn_prefix_free(again);
    }
}

static void begin_task(void)
{
    static pn_task *task;

    if (!task)
        FUZZ_HOLDS(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_govern(task, SECONDS);
    (void)pn_stop_enter(task);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    pn_prefix *stream = NULL;
    pn_err err = { 0 };
    const char *path;
    pn_status status;

    if (size == 0)
        return 0;
    fuzz_sweep();
    begin_task();
    path = fuzz_path("stream");
    if (*data % KINDS == STATE)
        write_state(path, data + 1, size - 1);
    else
        path = fuzz_file("stream", data + 1, size - 1);
    status = pn_prefix_resume(&stream, path, &err);
    FUZZ_HOLDS((status == PN_OK) == (stream != NULL));
    if (status == PN_OK)
        go_on(stream, fuzz_path("stream"));
    else
        FUZZ_HOLDS(err.message[0] != '\0');
    pn_prefix_free(stream);
    (void)pn_stop_enter(NULL);
    return 0;
}
