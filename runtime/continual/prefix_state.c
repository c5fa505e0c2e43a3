/* prefix_state.c -- where a stream keeps what it knows, how that grows, and what threads need to work on it.
 * Depends on: prefix_state.h, libsodium (erasing), POSIX (getpid).  Used by: prefix_stream.c, solvers, bindings. */
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "continual/prefix_state.h"
#include "core/alloc.h"
#include "core/process.h"
#include "core/size.h"

/* What one thread needs for a block. */
struct pn_prefix_worker {
    pn_rng *rng;
    size_t bytes;             /* of all of this */
    pn_prefix_wide scratch[]; /* 3 * room: two vectors each: sums; noise, whole; work */
};

/* Words of 8 bytes per coordinate beside the method's: the release, and what earlier epochs ended with. */
static size_t common_words(const pn_prefix_design *design)
{
    return design->doubling ? 2 : 1;
}

static size_t method_words(const pn_prefix *stream, uint64_t t)
{
    return stream->design->options.noiseless ? 0 : stream->method->ops->words(stream->method, t);
}

/* ---- blocks ---- */

size_t pn_prefix_blocks(const pn_prefix *stream)
{
    return (stream->design->options.dim - 1) / PN_PREFIX_BLOCK + 1;
}

pn_prefix_block pn_prefix_view(const pn_prefix *stream, size_t block)
{
    const pn_prefix_design *design = stream->design;
    size_t first = block * PN_PREFIX_BLOCK, left = design->options.dim - first;
    size_t count = left < PN_PREFIX_BLOCK ? left : PN_PREFIX_BLOCK, stride = count + count % 2;
    size_t method_bytes = 8 * stride * stream->words;
    unsigned char *at = stream->state + 8 * first * (stream->words + common_words(design));
    double *prefix = (double *)(void *)(at + method_bytes);

    return (
        pn_prefix_block){ first, count, stride, at, method_bytes, prefix, design->doubling ? prefix + stride : NULL };
}

/* ---- making ---- */

uint64_t pn_prefix_before(const pn_prefix *stream)
{
    return stream->design->doubling ? ((uint64_t)1 << stream->epoch) - 1 : 0;
}

/* Of `words` of a method; SIZE_MAX: more than there can be. */
static size_t bytes_of(const pn_prefix *stream, size_t words)
{
    size_t dim = stream->design->options.dim, bytes;

    return pn_size_add(&bytes, words, common_words(stream->design)) && pn_size_multiply(&bytes, bytes, dim + dim % 2) &&
                   pn_size_multiply(&bytes, bytes, 8)
               ? bytes
               : SIZE_MAX;
}

/* Room for more, if the horizon has so much: what is not used yet costs nothing, and a move to other memory does. */
static size_t room_for(const pn_prefix *stream, size_t words)
{
    const uint64_t horizon = stream->method->horizon;
    const bool known = horizon < UINT64_MAX;
    const size_t most = known ? method_words(stream, horizon) : SIZE_MAX,
                 more = known && !stream->design->doubling ? 8 : 2;

    return bytes_of(stream, words > most / more ? most : more * words);
}

/* Where everything is after `count` >= 1 leaves, and room for it, in new memory when there is not enough;
 * epoch and method are set. */
static pn_status make_state(pn_prefix *stream, uint64_t count, pn_err *err)
{
    size_t words = method_words(stream, count - pn_prefix_before(stream)), bytes = bytes_of(stream, words);

    stream->words = words;
    stream->state_bytes = bytes;
    if (bytes > stream->state_room) {
        stream->state_room = room_for(stream, words);
        stream->state = stream->state_room < SIZE_MAX ? pn_alloc_large(1, stream->state_room) : NULL;
        stream->state_touched = 0;
    }
    PN_TRY(pn_made(stream->state, err, "prefix: out of memory for a stream of %zu words a coordinate",
                   words + common_words(stream->design)));
    if (stream->state_touched < bytes)
        stream->state_touched = bytes;
    return PN_OK;
}

static uint64_t epoch_of(const pn_prefix_design *design, uint64_t count)
{
    return design->doubling ? 63U - (unsigned)__builtin_clzll(count) : 0;
}

static pn_status enter_epoch(pn_prefix *stream, uint64_t epoch, pn_err *err)
{
    stream->epoch = epoch;
    if (stream->design->doubling)
        return pn_prefix_epoch(&stream->method, stream->design, epoch, err);
    stream->method = stream->design->method;
    return PN_OK;
}

/* A file of a few bytes may claim as many leaves as it likes: it has to be as long as their state. */
static pn_status check_claimed(const pn_prefix *stream, uint64_t leaves, uint64_t claimed, pn_err *err)
{
    size_t bytes = bytes_of(stream, method_words(stream, leaves - pn_prefix_before(stream)));

    if (claimed == 0 || claimed == bytes)
        return PN_OK;
    return pn_fail(err, PN_EPARSE, "prefix: a stream of %llu leaves has %zu bytes, not %llu",
                   (unsigned long long)leaves, bytes, (unsigned long long)claimed);
}

pn_status pn_prefix_make(pn_prefix **out, pn_prefix_design *design, uint64_t count, uint64_t bytes, pn_err *err)
{
    pn_prefix *stream = pn_calloc(1, sizeof *stream);
    uint64_t leaves = count > 0 ? count : 1;
    pn_status status;

    *out = NULL;
    PN_TRY(pn_made(stream, err, "prefix: out of memory"));
    stream->design = pn_prefix_design_keep(design);
    stream->owner = pn_process();
    stream->count = count;
    status = enter_epoch(stream, epoch_of(design, leaves), err);
    if (status == PN_OK)
        status = check_claimed(stream, leaves, bytes, err);
    if (status == PN_OK)
        status = make_state(stream, leaves, err);
    if (status == PN_OK) {
        memset(stream->state, 0, stream->state_bytes);
        stream->done = pn_calloc(pn_prefix_blocks(stream), 1);
        status = stream->done ? PN_OK : pn_fail(err, PN_ENOMEM, "prefix: out of memory");
    }
    if (status != PN_OK) {
        pn_prefix_free(stream);
        return status;
    }
    *out = stream;
    return PN_OK;
}

pn_status pn_prefix_new(pn_prefix **out, pn_prefix_design *design, pn_rng *rng, pn_err *err)
{
    pn_status status;

    *out = NULL;
    if (design->options.noiseless != !rng)
        return pn_fail(err, PN_EINVAL,
                       rng ? "prefix: a stream without noise takes no random source"
                           : "prefix: a stream with noise needs a random source");
    status = pn_prefix_make(out, design, 0, 0, err);
    if (status == PN_OK && rng)
        pn_address_key_draw(&(*out)->key, rng);
    return status;
}

static void erase_state(pn_prefix *stream)
{
    if (stream->state)
        sodium_memzero(stream->state, stream->state_touched);
    pn_free(stream->state);
}

static void leave_epoch(pn_prefix *stream)
{
    if (stream->design->doubling && stream->method)
        stream->method->ops->destroy(stream->method);
}

static void free_worker(pn_prefix_worker *worker)
{
    pn_rng_free(worker->rng);
    sodium_memzero(worker, worker->bytes);
    pn_free(worker);
}

void pn_prefix_free(pn_prefix *stream)
{
    if (!stream)
        return;
    if (stream->follower.destroy)
        stream->follower.destroy(stream->follower.self);
    for (unsigned i = 0; i < stream->worker_count; i++)
        free_worker(stream->workers[i]);
    pn_free(stream->workers);
    erase_state(stream);
    leave_epoch(stream);
    pn_free(stream->done);
    pn_address_key_erase(&stream->key);
    pn_prefix_design_free(stream->design);
    pn_free(stream);
}

/* ---- threads ---- */

static size_t scratch_room(const pn_prefix *stream)
{
    size_t dim = stream->design->options.dim;

    return dim < PN_PREFIX_BLOCK ? dim + dim % 2 : PN_PREFIX_BLOCK; /* a stride of the state */
}

static pn_status add_worker(pn_prefix *stream, pn_err *err)
{
    size_t bytes = sizeof(pn_prefix_worker) + 4 * scratch_room(stream) * sizeof(pn_prefix_wide);
    pn_prefix_worker *worker = pn_alloc(1, bytes);
    pn_status status;

    PN_TRY(pn_made(worker, err, "prefix: out of memory"));
    worker->rng = NULL;
    worker->bytes = bytes;
    status = pn_rng_for_key(&worker->rng, &stream->key, err); /* pn_prefix_noise gives it its addresses */
    if (status != PN_OK) {
        pn_free(worker);
        return status;
    }
    stream->workers[stream->worker_count++] = worker;
    return PN_OK;
}

pn_status pn_prefix_hire(pn_prefix *stream, pn_task *task, pn_err *err)
{
    unsigned want = pn_prefix_blocks(stream) > 1 ? pn_task_threads(task) : 1;
    pn_prefix_worker **workers;
    pn_status status = PN_OK;

    if (want <= stream->worker_count || stream->design->options.noiseless)
        return PN_OK;
    workers = pn_resize(stream->workers, want, sizeof *workers);
    PN_TRY(pn_made(workers, err, "prefix: out of memory"));
    stream->workers = workers;
    while (status == PN_OK && stream->worker_count < want)
        status = add_worker(stream, err);
    return status;
}

/* Of one epoch, from the places of *from to those of *to, which are further on,
 * in the same memory: from the last block to the first. */
static void spread(const pn_prefix *from, const pn_prefix *to)
{
    for (size_t block = pn_prefix_blocks(from); block-- > 0;) {
        pn_prefix_block old = pn_prefix_view(from, block), new = pn_prefix_view(to, block);

        memmove(new.prefix, old.prefix, 8 * old.stride * common_words(from->design));
        memmove(new.state, old.state, old.method_bytes);
        memset(new.state + old.method_bytes, 0, new.method_bytes - old.method_bytes);
    }
}

/* To the next epoch, in the same memory: first what the last one ended with, one block after the other,
 * then everything in its place. */
static void begin_epoch(const pn_prefix *from, const pn_prefix *to)
{
    double *totals = (double *)(void *)to->state;

    for (size_t block = 0; block < pn_prefix_blocks(from); block++) {
        pn_prefix_block old = pn_prefix_view(from, block);

        for (size_t j = 0; j < old.count; j++)
            totals[old.first + j] = old.base[j] + old.prefix[j];
    }
    for (size_t block = pn_prefix_blocks(to); block-- > 0;) {
        pn_prefix_block new = pn_prefix_view(to, block);

        memmove(new.base, totals + new.first, 8 * new.count);
        memset(new.base + new.count, 0, 8 * (new.stride - new.count));
        memset(new.state, 0, (size_t)((unsigned char *)(void *)new.base - new.state));
    }
}

/* *from's state in the memory and the places of *to, and its own memory given back if that is another. */
static void move_state(pn_prefix *from, const pn_prefix *to)
{
    pn_prefix here = *from;

    if (to->state != from->state) {
        memcpy(to->state, from->state, from->state_bytes);
        erase_state(from);
        here.state = to->state;
    }
    if (from->epoch == to->epoch)
        spread(&here, to);
    else
        begin_epoch(&here, to);
}

/* Room for one leaf more: the next epoch of doubling when this one is full, a layer more of a tree.
 * All that can fail comes first. */
pn_status pn_prefix_grow(pn_prefix *stream, pn_err *err)
{
    uint64_t leaves = stream->count + 1, epoch = epoch_of(stream->design, leaves);
    pn_prefix next = *stream;
    pn_status status = PN_OK;

    if (epoch == stream->epoch && method_words(stream, leaves - pn_prefix_before(stream)) == stream->words)
        return PN_OK;
    if (epoch != stream->epoch) {
        next.method = NULL;
        status = enter_epoch(&next, epoch, err);
    }
    if (status == PN_OK)
        status = make_state(&next, leaves, err);
    if (status != PN_OK) {
        if (next.method != stream->method)
            leave_epoch(&next);
        return status;
    }
    move_state(stream, &next);
    if (next.method != stream->method)
        leave_epoch(stream);
    *stream = next;
    return PN_OK;
}

pn_prefix_step pn_prefix_step_of(const pn_prefix *stream, const pn_prefix_block *view, size_t block, unsigned worker)
{
    pn_prefix_worker *own = stream->workers[worker];
    size_t room = scratch_room(stream);
    int64_t *sums = (int64_t *)(void *)own->scratch, *noise = sums + 2 * room;
    double *work = (double *)(void *)(own->scratch + 2 * room);

    return (pn_prefix_step){
        .t = stream->count - pn_prefix_before(stream),
        .count = view->count,
        .stride = view->stride,
        .prefix = view->prefix,
        .rng = own->rng,
        .key = &stream->key,
        .epoch = stream->epoch,
        .block = block,
        .noise = noise,
        .whole = noise + room,
        .work = { work, work + room },
        .clamped = work + 2 * room,
        .sums = { sums, sums + room },
    };
}
