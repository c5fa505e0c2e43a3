/* checkpoint.c -- streams in files: each is in one place at a time.
 *
 * Why noise is not drawn twice.  A parked file is marked as taken before the stream that came out of it exists for
 * anybody.  A followed file has the state after a push before the release of that push is handed out: whoever dies and
 * is resumed has either never released leaf t + 1, or goes on after it.  A secure stream that is resumed gets a new key
 * for the measurements that are still to come; those that were made are in the state.  So even a copy that nobody could
 * notice draws independent noise, which costs its releases a second time but does not cancel.  With memory "regenerate"
 * measurements that were made are drawn again, so the key stays.  A seeded stream keeps its key too: resumed or not,
 * it gives the same bits.
 * Depends on: prefix_impl.h, stream_image.h, checkpoint_file.h, libsodium.  Used by: bindings.
 * See tree-mechanism.md section 2.1. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "continual/checkpoint_file.h"
#include "continual/prefix_impl.h"
#include "continual/stream_image.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"

static const pn_checkpoint_owner owner = { .name = "prefix", .what = "stream" };

/* What a stream knows of its file, or of the one that it came from. */
typedef struct keeper {
    unsigned char id[PN_CHECKPOINT_ID];
    pn_checkpoint_file *file; /* NULL: it follows none */
    pn_stream_image image;
    char closed[360];
} keeper;

/* ---- the keeper ---- */

static void keeper_free(void *ud)
{
    keeper *self = ud;

    pn_stream_image_clear(&self->image);
    pn_checkpoint_close(self->file);
    pn_free(self);
}

static pn_status commit(keeper *self, const pn_prefix *stream, pn_checkpoint_mode mode, pn_err *err)
{
    PN_TRY(pn_stream_image_write(&self->image, stream, err));
    return pn_checkpoint_commit(self->file, mode, self->image.bytes, self->image.size, err);
}

/* After a push: nothing is handed out before this returns. */
static pn_status keeper_pushed(void *ud, const pn_prefix *stream, pn_err *err)
{
    keeper *self = ud;

    return self->file ? commit(self, stream, PN_CHECKPOINT_FOLLOWED, err) : PN_OK;
}

/* The stream's keeper, made when it has none. */
static pn_status keeper_of(keeper **out, pn_prefix *stream, pn_err *err)
{
    keeper *self = stream->follower.self;

    if (!self) {
        PN_TRY(pn_new_zeroed(&self, 1, err, "prefix: out of memory for a checkpoint"));
        randombytes_buf(self->id, sizeof self->id);
        stream->follower = (pn_prefix_follower){ keeper_pushed, keeper_free, self };
    }
    *out = self;
    return PN_OK;
}

static void close_stream(pn_prefix *stream, keeper *self, const char *path)
{
    (void)snprintf(self->closed, sizeof self->closed, "it was saved to %.300s; resume it from there", path);
    stream->closed = self->closed;
    pn_checkpoint_close(self->file);
    self->file = NULL;
}

static pn_status check_stream(const pn_prefix *stream, const char *path, pn_err *err)
{
    if (stream->owner != pn_process())
        return pn_fail(err, PN_EPRIVACY, "prefix: process %ld owns this stream and may save it; a forked child may not",
                       (long)stream->owner);
    if (stream->closed)
        return pn_fail(err, PN_EINVAL, "prefix: the stream cannot be kept in %.200s: %s", path, stream->closed);
    if (!*path)
        return pn_fail(err, PN_EINVAL, "prefix: the path of a checkpoint is empty; give the name of a file");
    return PN_OK;
}

/* A new file with the stream in it, which is self->file then.  Once the file is there, it has the stream,
 * whatever happens. */
static pn_status move_into(pn_prefix *stream, keeper *self, const char *path, pn_checkpoint_mode mode, pn_err *err)
{
    bool published = false;
    pn_status status = pn_stream_image_write(&self->image, stream, err);

    if (status == PN_OK)
        status = pn_checkpoint_make(&self->file, &owner, path, self->id, mode, self->image.bytes, self->image.size,
                                    &published, err);
    if (status != PN_OK && published)
        close_stream(stream, self, path);
    return status;
}

static pn_status follows_other(const keeper *self, const char *path, pn_err *err)
{
    return pn_fail(err, PN_EINVAL, "prefix: this stream keeps itself in %.200s; it cannot be kept in %.200s as well",
                   pn_checkpoint_path(self->file), path);
}

/* ---- public ---- */

pn_status pn_prefix_save(pn_prefix *stream, const char *path, pn_err *err)
{
    keeper *self = NULL;
    pn_status status = check_stream(stream, path, err);

    if (status == PN_OK)
        status = keeper_of(&self, stream, err);
    if (status != PN_OK)
        return status;
    if (self->file && strcmp(pn_checkpoint_path(self->file), path) != 0)
        return follows_other(self, path, err);
    status = self->file ? commit(self, stream, PN_CHECKPOINT_PARKED, err)
                        : move_into(stream, self, path, PN_CHECKPOINT_PARKED, err);
    if (status == PN_OK)
        close_stream(stream, self, path);
    return status;
}

pn_status pn_prefix_follow(pn_prefix *stream, const char *path, pn_err *err)
{
    keeper *self = NULL;
    pn_status status = check_stream(stream, path, err);

    if (status == PN_OK)
        status = keeper_of(&self, stream, err);
    if (status != PN_OK)
        return status;
    if (self->file)
        return strcmp(pn_checkpoint_path(self->file), path) == 0 ? PN_OK : follows_other(self, path, err);
    return move_into(stream, self, path, PN_CHECKPOINT_FOLLOWED, err);
}

/* The file is marked, or written anew, before anybody has the stream. */
static pn_status take_over(pn_prefix *stream, pn_checkpoint_file *file, pn_err *err)
{
    keeper *self = NULL;
    pn_status status = keeper_of(&self, stream, err);

    if (status == PN_OK) {
        memcpy(self->id, pn_checkpoint_id(file), sizeof self->id);
        self->file = file;
    } else {
        pn_checkpoint_close(file);
        return status;
    }
    if (pn_checkpoint_mode_of(file) == PN_CHECKPOINT_FOLLOWED)
        return commit(self, stream, PN_CHECKPOINT_FOLLOWED, err);
    if (!PN_MUTANT("taken_unmarked"))
        status = pn_checkpoint_commit(file, PN_CHECKPOINT_TAKEN, NULL, 0, err);
    pn_checkpoint_close(file);
    self->file = NULL;
    return status;
}

/* The stream as the file has it, which nobody has taken over yet; *file is NULL after a failure. */
static pn_status open_stream(pn_prefix **out, pn_checkpoint_file **file, const char *path, pn_err *err)
{
    void *data = NULL;
    size_t size = 0;
    pn_status status = pn_checkpoint_open(file, &owner, path, &data, &size, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    status = pn_stream_image_read(out, data, size, path, err);
    sodium_memzero(data, size);
    pn_free(data);
    if (status != PN_OK) {
        pn_checkpoint_close(*file);
        *file = NULL;
    }
    return status;
}

pn_status pn_prefix_look(pn_prefix **out, const char *path, pn_err *err)
{
    pn_checkpoint_file *file = NULL;

    PN_TRY(open_stream(out, &file, path, err));
    pn_checkpoint_close(file);
    (*out)->closed = "it was only looked at; resume it from its file";
    return PN_OK;
}

pn_status pn_prefix_resume(pn_prefix **out, const char *path, pn_err *err)
{
    pn_checkpoint_file *file = NULL;
    pn_prefix *stream = NULL;
    pn_status status = open_stream(&stream, &file, path, err);

    *out = NULL;
    if (status != PN_OK)
        return status;
    status = take_over(stream, file, err);
    if (status != PN_OK) {
        pn_prefix_free(stream);
        return status;
    }
    *out = stream;
    return PN_OK;
}
