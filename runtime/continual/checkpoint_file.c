/* checkpoint_file.c -- two sectors and a state: making, opening, committing.
 * Depends on: checkpoint_file.h, privacy/ledger/ledger_disk.h,
 * libsodium, POSIX.  Used by: checkpoint.c. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "continual/checkpoint_file.h"
#include "core/alloc.h"
#include "core/file.h"
#include "core/mutant.h"
#include "privacy/ledger/ledger_disk.h"

#define MAGIC   "penumbra stream\n"
#define VERSION 1
#define ORDER   UINT64_C(0x0102030405060708)
#define SECTOR  512
#define STATES  (2 * SECTOR) /* where states begin */
#define DIGEST  32

/* As in the file: no padding, numbers as the machine has them. */
typedef struct sector {
    char magic[16];
    uint64_t version, order, sequence, mode;
    unsigned char id[PN_CHECKPOINT_ID];
    pn_file_place place;
    uint64_t offset, size; /* of the state */
    unsigned char state[DIGEST];
    unsigned char rest[SECTOR - 16 - 4 * 8 - PN_CHECKPOINT_ID - 4 * 8 - 2 * 8 - 2 * DIGEST];
    unsigned char digest[DIGEST]; /* of everything before */
} sector;

_Static_assert(sizeof(sector) == SECTOR, "a sector has no padding");

struct pn_checkpoint_file {
    const pn_checkpoint_owner *owner;
    char *path;
    int fd;
    sector now; /* what counts */
    const char *broken;
};

/* "OWNER: PATH: " and the rest. */
static pn_status PN_PRINTF(4, 5)
    file_fail(pn_err *err, const pn_checkpoint_file *file, pn_status status, const char *format, ...)
{
    char text[PN_ERR_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pn_fail(err, status, "%s: %.300s: %s", file->owner->name, file->path, text);
}

static pn_status cannot(const pn_checkpoint_file *file, const char *what, int error, pn_err *err)
{
    return file_fail(err, file, PN_EIO, "cannot be %s: %s", what, strerror(error));
}

/* ---- sectors ---- */

static void digest_of(unsigned char out[DIGEST], const void *data, size_t size)
{
    (void)crypto_generichash(out, DIGEST, data, size, NULL, 0);
}

static void seal(sector *s)
{
    digest_of(s->digest, s, offsetof(sector, digest));
}

static bool is_whole(const sector *s)
{
    unsigned char want[DIGEST];

    digest_of(want, s, offsetof(sector, digest));
    return memcmp(want, s->digest, DIGEST) == 0;
}

/* ---- making ---- */

static pn_checkpoint_file *new_file(const pn_checkpoint_owner *owner, const char *path)
{
    pn_checkpoint_file *file = pn_calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->owner = owner;
    file->fd = -1;
    file->path = pn_alloc(strlen(path) + 1, 1);
    if (!file->path) {
        pn_free(file);
        return NULL;
    }
    memcpy(file->path, path, strlen(path) + 1);
    return file;
}

void pn_checkpoint_close(pn_checkpoint_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    pn_free(file->path);
    pn_free(file);
}

const char *pn_checkpoint_path(const pn_checkpoint_file *file)
{
    return file->path;
}

const unsigned char *pn_checkpoint_id(const pn_checkpoint_file *file)
{
    return file->now.id;
}

pn_checkpoint_mode pn_checkpoint_mode_of(const pn_checkpoint_file *file)
{
    return (pn_checkpoint_mode)file->now.mode;
}

static int lock(int fd)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* All of the file while it has another name; nobody else knows it, so the order of writes is free. */
static int write_new(pn_checkpoint_file *file, const void *state)
{
    int error = fchmod(file->fd, 0600) == 0 ? 0 : errno;

    if (!error)
        error = lock(file->fd);
    if (!error)
        error = pn_file_find(&file->now.place, file->fd);
    seal(&file->now);
    if (!error)
        error = pn_file_write(file->fd, state, (size_t)file->now.size, STATES);
    PN_CRASH("stream_crash_making");
    if (!error)
        error = pn_file_write(file->fd, &file->now, SECTOR, 0);
    if (!error)
        error = pn_file_write(file->fd, &file->now, SECTOR, SECTOR);
    pn_file_mark(file->fd, PN_FILE_STREAM, file->now.id, file->now.sequence);
    if (!error)
        error = fsync(file->fd) == 0 ? 0 : errno;
    PN_CRASH("stream_crash_made");
    return error;
}

/* Only the mark that this very stream left when it was taken out of here may be overwritten. */
static pn_status check_replaced(const pn_checkpoint_file *file, bool *there, pn_err *err)
{
    struct stat info;
    sector old;
    int fd = pn_file_open(file->path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    ssize_t got;

    *there = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return PN_OK;
    if (fd < 0)
        return cannot(file, "written", errno, err);
    got = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? pread(fd, &old, SECTOR, SECTOR) : -1;
    (void)close(fd);
    if (got == SECTOR && is_whole(&old) && old.mode == PN_CHECKPOINT_TAKEN &&
        memcmp(old.id, file->now.id, sizeof old.id) == 0)
        return PN_OK;
    return file_fail(err, file, PN_EINVAL, "there is a file already that is not this %s's; give another path",
                     file->owner->what);
}

static pn_status publish(pn_checkpoint_file *file, const void *state, bool replace, bool *published, pn_err *err)
{
    pn_file_draft draft;
    pn_status status = PN_OK;
    int error = pn_file_begin(&draft, file->path, 0600);

    if (error == ENOMEM)
        return file_fail(err, file, PN_ENOMEM, "out of memory for a path");
    if (error)
        return cannot(file, "written", error, err);
    file->fd = draft.fd;
    error = write_new(file, state);
    if (!error)
        error = pn_file_name(&draft, replace, published);
    PN_CRASH("stream_crash_named");
    if (error == EEXIST)
        status = file_fail(err, file, PN_EINVAL, "somebody else has just made this file; give another path");
    else if (error)
        status = cannot(file, *published ? "made durable" : "written", error, err);
    if (error && !*published) /* nothing to go on from may stay behind, under any name */
        (void)!ftruncate(file->fd, 0);
    draft.fd = -1; /* it is the checkpoint's own now */
    pn_file_end(&draft);
    return status;
}

pn_status pn_checkpoint_make(pn_checkpoint_file **out, const pn_checkpoint_owner *owner, const char *path,
                             const unsigned char id[PN_CHECKPOINT_ID], pn_checkpoint_mode mode, const void *state,
                             size_t size, bool *published, pn_err *err)
{
    pn_checkpoint_file *file = new_file(owner, path);
    bool there;
    pn_status status;

    *out = NULL;
    *published = false;
    PN_TRY(pn_made(file, err, "%s: out of memory for a file", owner->name));
    memcpy(file->now.magic, MAGIC, sizeof file->now.magic);
    file->now.version = VERSION;
    file->now.order = ORDER;
    file->now.sequence = 1;
    file->now.mode = (uint64_t)mode;
    memcpy(file->now.id, id, PN_CHECKPOINT_ID);
    file->now.offset = STATES;
    file->now.size = size;
    digest_of(file->now.state, state, size);
    status = check_replaced(file, &there, err);
    if (status == PN_OK)
        status = publish(file, state, there, published, err);
    if (status != PN_OK) {
        pn_checkpoint_close(file);
        return status;
    }
    *out = file;
    return PN_OK;
}

/* ---- opening ---- */

static pn_status cannot_open(const pn_checkpoint_file *file, int error, pn_err *err)
{
    if (error == ENOENT)
        return file_fail(err, file, PN_EIO, "there is no such checkpoint");
    if (error == EISDIR || error == ENOTSUP)
        return file_fail(err, file, PN_EPARSE, "is no regular file, so no checkpoint");
    return cannot(file, "opened for reading and writing", error, err);
}

static pn_status open_locked(pn_checkpoint_file *file, pn_err *err)
{
    pn_status status = pn_file_check_link(file->owner->name, file->path, err);
    int error;

    if (status != PN_OK)
        return status;
    file->fd = pn_disk_open(file->path, false, 0);
    if (file->fd < 0)
        return cannot_open(file, errno, err);
    PN_TRY(pn_file_check_owner(file->fd, PN_FILE_SECRET, file->owner->name, file->path, err));
    error = lock(file->fd);
    if (error == EWOULDBLOCK)
        return file_fail(
            err, file, PN_EIO,
            "a %s that is alive keeps itself in this file, here or in another process; go on with that one, or let go "
            "of it",
            file->owner->what);
    if (error)
        return cannot(file, "locked", error, err);
    if (!pn_file_in_place(file->fd, file->path))
        return file_fail(err, file, PN_EIO, "was replaced while it was opened; try again");
    return PN_OK;
}

/* The state of a whole sector lies in the file and is what it was. */
static bool holds(const sector *s, const unsigned char *data, size_t size)
{
    unsigned char want[DIGEST];

    if (!is_whole(s) || s->mode < PN_CHECKPOINT_PARKED || s->mode > PN_CHECKPOINT_TAKEN || s->offset < STATES ||
        s->offset % 16 != 0 || s->offset > size || s->size > size - s->offset)
        return false;
    digest_of(want, data + s->offset, (size_t)s->size);
    return memcmp(want, s->state, DIGEST) == 0;
}

static pn_status check_kind(const pn_checkpoint_file *file, const sector *first, const sector *second, pn_err *err)
{
    bool known[2] = { memcmp(first->magic, MAGIC, sizeof first->magic) == 0,
                      memcmp(second->magic, MAGIC, sizeof second->magic) == 0 };
    const sector *s = known[1] ? second : first;

    if (!known[0] && !known[1])
        return file_fail(err, file, PN_EPARSE, "this is no checkpoint of a %s", file->owner->what);
    if (s->order != ORDER)
        return file_fail(err, file, PN_EPARSE,
                         "was written on a machine with another order of bytes, or changed; go on there");
    if (s->version != VERSION)
        return file_fail(err, file, PN_EPARSE, "is of format %llu, or changed; this program reads format %d",
                         (unsigned long long)s->version, VERSION);
    return PN_OK;
}

/* The second sector counts; the first is there for when a crash of the machine tore the second. */
static pn_status choose(pn_checkpoint_file *file, const unsigned char *data, size_t size, pn_err *err)
{
    sector first, second;
    const sector *counts;

    if (size < STATES)
        return file_fail(err, file, PN_EPARSE, "this is no checkpoint of a %s, or it was cut off", file->owner->what);
    memcpy(&first, data, SECTOR);
    memcpy(&second, data + SECTOR, SECTOR);
    PN_TRY(check_kind(file, &first, &second, err));
    counts = is_whole(&second) ? &second : &first;
    if (!holds(counts, data, size))
        return file_fail(err, file, PN_EPARSE,
                         "was changed or cut off; going on from an older copy would draw noise twice, so this %s is "
                         "over (what it has released stays good)",
                         file->owner->what);
    file->now = *counts;
    return PN_OK;
}

static pn_status check_use(const pn_checkpoint_file *file, pn_err *err)
{
    pn_file_place here;
    int error = pn_file_find(&here, file->fd);

    if (error)
        return cannot(file, "read", error, err);
    if (file->now.mode == PN_CHECKPOINT_TAKEN)
        return file_fail(err, file, PN_EPRIVACY,
                         "was resumed before; a second %s from the same state would reuse noise.  Go on with the "
                         "first, and save it again",
                         file->owner->what);
    if (!pn_file_same(&here, &file->now.place))
        return file_fail(err, file, PN_EPRIVACY,
                         "is a copy of the file that was written; a second %s from the same state would reuse noise.  "
                         "Resume the file itself (it may be renamed, not copied)",
                         file->owner->what);
    if (file->now.sequence < pn_file_marked(file->fd, PN_FILE_STREAM, file->now.id))
        return file_fail(err, file, PN_EPRIVACY,
                         "an earlier copy was put back into it; a second %s from that state would reuse noise, so this "
                         "one is over (what it has released stays good)",
                         file->owner->what);
    return PN_OK;
}

static pn_status read_file(pn_checkpoint_file *file, void **state, size_t *size, pn_err *err)
{
    char *data;
    size_t all;
    pn_status status;

    PN_TRY(pn_disk_read(file->fd, file->owner->name, file->path, &data, &all, err));
    status = choose(file, (const unsigned char *)data, all, err);
    if (status == PN_OK)
        status = check_use(file, err);
    if (status == PN_OK) {
        *size = (size_t)file->now.size;
        memmove(data, data + file->now.offset, *size);
        sodium_memzero(data + *size, all - *size);
        *state = data;
        return PN_OK;
    }
    sodium_memzero(data, all);
    pn_free(data);
    return status;
}

pn_status pn_checkpoint_open(pn_checkpoint_file **out, const pn_checkpoint_owner *owner, const char *path, void **state,
                             size_t *size, pn_err *err)
{
    pn_checkpoint_file *file = new_file(owner, path);
    pn_status status;

    *out = NULL;
    *state = NULL;
    PN_TRY(pn_made(file, err, "%s: out of memory for a file", owner->name));
    status = open_locked(file, err);
    if (status == PN_OK)
        status = read_file(file, state, size, err);
    if (status != PN_OK) {
        pn_checkpoint_close(file);
        return status;
    }
    *out = file;
    return PN_OK;
}

/* ---- committing ---- */

/* Behind what counts, or before it where there is room. */
static uint64_t free_offset(const sector *now, size_t size)
{
    uint64_t end = now->offset + now->size;

    return size <= now->offset - STATES ? STATES : (end + SECTOR - 1) / SECTOR * SECTOR;
}

/* Nobody can tell any more what the disk has: nothing may be handed out, and what is read on opening counts. */
static pn_status give_up(pn_checkpoint_file *file, int error, pn_err *err)
{
    file->broken = "it could not be made durable";
    return file_fail(err, file, PN_EIO,
                     "cannot be made durable: %s; nothing was released, and this %s goes no further; let go of it and "
                     "resume the file",
                     strerror(error), file->owner->what);
}

static pn_status prepare(pn_checkpoint_file *file, const sector *next, const void *state, pn_err *err)
{
    int error;

    PN_CRASH("stream_crash_before");
    if (PN_MUTANT("stream_crash_in_state")) {
        (void)pn_file_write(file->fd, state, (size_t)next->size / 2, (size_t)next->offset);
        PN_CRASH("stream_crash_in_state");
    }
    error = pn_file_write(file->fd, state, (size_t)next->size, (size_t)next->offset);
    PN_CRASH("stream_crash_after_state");
    if (PN_MUTANT("stream_crash_in_first")) {
        (void)pn_file_write(file->fd, next, SECTOR / 4, 0);
        PN_CRASH("stream_crash_in_first");
    }
    if (!error)
        error = pn_file_write(file->fd, next, SECTOR, 0);
    if (error) /* the second sector and its state are as they were */
        return file_fail(err, file, PN_EIO,
                         "cannot be written: %s; nothing was released; the file is as it was: make room, let go of "
                         "this %s and resume it from there",
                         strerror(error), file->owner->what);
    PN_CRASH("stream_crash_first");
    error = pn_file_sync(file->fd);
    PN_CRASH("stream_crash_prepared");
    return error ? give_up(file, error, err) : PN_OK;
}

static pn_status confirm(pn_checkpoint_file *file, const sector *next, pn_err *err)
{
    int error;

    if (PN_MUTANT("stream_crash_in_second")) {
        (void)pn_file_write(file->fd, next, SECTOR / 4, SECTOR);
        PN_CRASH("stream_crash_in_second");
    }
    error = pn_file_write(file->fd, next, SECTOR, SECTOR);
    PN_CRASH("stream_crash_second");
    if (!error)
        error = pn_file_sync(file->fd);
    PN_CRASH("stream_crash_after");
    return error ? give_up(file, error, err) : PN_OK;
}

pn_status pn_checkpoint_commit(pn_checkpoint_file *file, pn_checkpoint_mode mode, const void *state, size_t size,
                               pn_err *err)
{
    sector next = file->now;
    pn_status status;

    if (file->broken)
        return file_fail(err, file, PN_EIO, "goes no further: %s; let go of this %s and resume the file", file->broken,
                         file->owner->what);
    if (!pn_file_in_place(file->fd, file->path))
        return file_fail(err, file, PN_EIO,
                         "is no longer the file that this %s keeps itself in (removed, moved, replaced, or a relative "
                         "path after a change of directory); put it back; nothing was released",
                         file->owner->what);
    next.sequence++;
    next.mode = (uint64_t)mode;
    next.offset = free_offset(&file->now, size);
    next.size = size;
    digest_of(next.state, state, size);
    seal(&next);
    status = prepare(file, &next, state, err);
    if (status == PN_OK)
        status = confirm(file, &next, err);
    if (status != PN_OK)
        return status;
    file->now = next;
    pn_file_mark(file->fd, PN_FILE_STREAM, next.id, next.sequence);
    if (mode == PN_CHECKPOINT_TAKEN) /* sums and key are nobody's business any more */
        (void)!ftruncate(file->fd, STATES);
    return PN_OK;
}
