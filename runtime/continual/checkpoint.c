/* checkpoint.c -- streams in files: what of a stream goes into a file, and that it is in one place at a time.
 *
 * What is written is what prefix_impl.h lists: the options, from which the design is made again and compared, a few
 * scalars, the key of the noise, and the state as it lies in memory.  Everything is as the machine has it; a file does
 * not leave its machine (checkpoint_file.h).
 *
 * Why noise is not drawn twice.  A parked file is marked as taken before the stream that came out of it exists for
 * anybody.  A followed file has the state after a push before the release of that push is handed out: whoever dies and
 * is resumed has either never released leaf t + 1, or goes on after it.  A secure stream that is resumed gets a new key
 * for the measurements that are still to come; those that were made are in the state.  So even a copy that nobody could
 * notice draws independent noise, which costs its releases a second time but does not cancel.  With memory "regenerate"
 * measurements that were made are drawn again, so the key stays.  A seeded stream keeps its key too: resumed or not,
 * it gives the same bits.
 * Depends on: prefix_impl.h, checkpoint_file.h, libsodium.  Used by: bindings.  See tree-mechanism.md section 2.1. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "continual/checkpoint_file.h"
#include "continual/prefix_impl.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"

#define ALIGNED 16

static const pn_checkpoint_owner owner = { .name = "prefix", .what = "stream" };

enum { NOISELESS = 1, CLAMP = 2 }; /* flags */

/* The fixed part of what is written; arrays and the state follow. */
typedef struct image {
    uint64_t bytes; /* of all */

    uint64_t dim, horizon, flags, neighbours, participations, separation;
    double sensitivity, bound, rho, epsilon, delta, sigma;
    char factorization[16];
    uint64_t estimator, memory, scale, keep_root, growth, bands, fit, buffers;
    uint64_t sensitivities, coefficients, theta, omega; /* how many */

    uint64_t count, epoch, paid, teaching, ended, simulated;
    unsigned char key[PN_ADDRESS_KEY_BYTES];
    uint64_t state_bytes;

    double design_sigma, design_mu, stream_sigma; /* what the options must come to again */
} image;

/* What a stream knows of its file, or of the one that it came from. */
typedef struct keeper {
    unsigned char id[PN_CHECKPOINT_ID];
    pn_checkpoint_file *file; /* NULL: it follows none */
    unsigned char *room;      /* for images */
    size_t room_bytes;
    char closed[360];
} keeper;

/* ---- into bytes ---- */

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static double stream_sigma(const pn_prefix *stream)
{
    return stream->method && !stream->design->options.noiseless ? stream->method->sigma : 0.0;
}

static void fill_options(image *to, const pn_prefix_options *from)
{
    to->dim = from->dim;
    to->horizon = from->horizon;
    to->flags = (from->noiseless ? NOISELESS : 0) | (from->clamp ? CLAMP : 0);
    to->neighbours = (uint64_t)from->neighbours;
    to->participations = from->participations;
    to->separation = from->separation;
    to->sensitivity = from->sensitivity;
    to->bound = from->bound;
    to->rho = from->rho;
    to->epsilon = from->epsilon;
    to->delta = from->delta;
    to->sigma = from->sigma;
    (void)snprintf(to->factorization, sizeof to->factorization, "%s", from->factorization);
    to->estimator = (uint64_t)from->estimator;
    to->memory = (uint64_t)from->memory;
    to->scale = (uint64_t)from->scale;
    to->keep_root = from->keep_root;
    to->growth = (uint64_t)from->growth;
    to->bands = from->bands;
    to->fit = (uint64_t)from->fit;
    to->buffers = from->buffers;
    to->sensitivities = from->sensitivities ? from->horizon : 0;
    to->coefficients = from->coefficients.n;
    to->theta = from->theta.n;
    to->omega = from->omega.n;
}

/* Entries of the matrix: the factorization and the horizon say how many. */
static uint64_t matrix_entries(const image *fixed)
{
    const uint64_t horizon = fixed->horizon;

    if (strcmp(fixed->factorization, pn_prefix_matrix.name) != 0)
        return 0;
    return horizon < UINT64_C(1) << 32 ? horizon * horizon : UINT64_MAX;
}

static size_t array_bytes(const image *fixed)
{
    return (size_t)(fixed->sensitivities + fixed->coefficients + fixed->theta + fixed->omega + matrix_entries(fixed)) *
           sizeof(double);
}

static void fill_image(image *to, const pn_prefix *stream)
{
    memset(to, 0, sizeof *to);
    fill_options(to, &stream->design->options);
    to->count = stream->count;
    to->epoch = stream->epoch;
    to->paid = stream->paid;
    to->teaching = stream->teaching;
    to->ended = stream->ended;
    to->simulated = stream->key.simulated;
    memcpy(to->key, stream->key.bytes, sizeof to->key);
    to->state_bytes = stream->state_bytes;
    to->design_sigma = pn_prefix_design_sigma(stream->design);
    to->design_mu = pn_prefix_design_mu(stream->design);
    to->stream_sigma = stream_sigma(stream);
    to->bytes = padded(sizeof *to) + padded(array_bytes(to)) + stream->state_bytes;
}

static unsigned char *put_numbers(unsigned char *at, const double *from, uint64_t n)
{
    if (n > 0)
        memcpy(at, from, (size_t)n * sizeof *from);
    return at + (size_t)n * sizeof *from;
}

static pn_status make_room(keeper *self, size_t bytes, pn_err *err)
{
    unsigned char *room;

    if (bytes <= self->room_bytes)
        return PN_OK;
    PN_TRY(pn_new(&room, bytes, err, "prefix: out of memory for a checkpoint of %zu bytes", bytes));
    if (self->room)
        sodium_memzero(self->room, self->room_bytes);
    pn_free(self->room);
    self->room = room;
    self->room_bytes = bytes;
    return PN_OK;
}

/* The stream, in self->room; *size bytes. */
static pn_status write_image(keeper *self, const pn_prefix *stream, size_t *size, pn_err *err)
{
    const pn_prefix_options *options = &stream->design->options;
    unsigned char *at;
    image fixed;
    pn_status status;

    fill_image(&fixed, stream);
    status = make_room(self, (size_t)fixed.bytes, err);
    if (status == PN_OK) {
        memset(self->room, 0, padded(sizeof fixed) + padded(array_bytes(&fixed)));
        memcpy(self->room, &fixed, sizeof fixed);
        at = put_numbers(self->room + padded(sizeof fixed), options->sensitivities, fixed.sensitivities);
        at = put_numbers(at, options->coefficients.data, fixed.coefficients);
        at = put_numbers(at, options->theta.data, fixed.theta);
        at = put_numbers(at, options->omega.data, fixed.omega);
        (void)put_numbers(at, options->matrix.data, matrix_entries(&fixed));
        if (stream->state_bytes > 0)
            memcpy(self->room + fixed.bytes - fixed.state_bytes, stream->state, stream->state_bytes);
        *size = (size_t)fixed.bytes;
    }
    sodium_memzero(&fixed, sizeof fixed);
    return status;
}

/* ---- out of bytes ---- */

static pn_status not_ours(const char *path, pn_err *err)
{
    return pn_fail(err, PN_EPARSE,
                   "prefix: %.300s: its contents do not fit together; this is no checkpoint of a stream", path);
}

/* The digest says that these bytes were written by somebody who knew the format; sizes are checked all the same. */
static bool read_fixed(image *fixed, const unsigned char *data, size_t size)
{
    const uint64_t most = UINT64_C(1) << 48;

    if (size < sizeof *fixed)
        return false;
    memcpy(fixed, data, sizeof *fixed);
    if (fixed->bytes != size || fixed->sensitivities > most || fixed->coefficients > most || fixed->theta > most ||
        fixed->omega > most || fixed->state_bytes > size || fixed->dim > fixed->state_bytes / sizeof(double) ||
        fixed->neighbours > PN_ZERO_OUT || fixed->estimator > PN_PREFIX_FULL || fixed->memory > PN_PREFIX_REGENERATE ||
        fixed->scale > PN_PREFIX_BY_NODE || fixed->growth > PN_PREFIX_ENDLESS || fixed->fit > PN_PREFIX_OPTIMAL ||
        fixed->count > (fixed->horizon > 0 ? fixed->horizon : PN_PREFIX_LONGEST) ||
        !memchr(fixed->factorization, '\0', sizeof fixed->factorization) || matrix_entries(fixed) > size)
        return false;
    return fixed->sensitivities == 0 || fixed->sensitivities == fixed->horizon
               ? padded(sizeof *fixed) + padded(array_bytes(fixed)) + fixed->state_bytes == size
               : false;
}

static pn_vec take_numbers(const unsigned char **at, uint64_t n)
{
    pn_vec vector = { .data = (double *)(size_t)(const void *)*at, .n = (size_t)n };

    *at += (size_t)n * sizeof(double);
    return n > 0 ? vector : (pn_vec){ 0 };
}

/* Arrays are borrowed from `arrays`. */
static pn_prefix_options read_options(const image *from, const unsigned char *arrays)
{
    pn_prefix_options to = { .dim = (size_t)from->dim,
                             .horizon = (size_t)from->horizon,
                             .sensitivity = from->sensitivity,
                             .bound = from->bound,
                             .rho = from->rho,
                             .epsilon = from->epsilon,
                             .delta = from->delta,
                             .sigma = from->sigma,
                             .noiseless = (from->flags & NOISELESS) != 0,
                             .clamp = (from->flags & CLAMP) != 0,
                             .neighbours = (pn_neighbours)from->neighbours,
                             .participations = (size_t)from->participations,
                             .separation = (size_t)from->separation,
                             .factorization = from->factorization,
                             .estimator = (pn_prefix_estimator)from->estimator,
                             .estimator_given = true,
                             .memory = (pn_prefix_memory)from->memory,
                             .scale = (pn_prefix_scale)from->scale,
                             .keep_root = from->keep_root != 0,
                             .growth = (pn_prefix_growth)from->growth,
                             .bands = (size_t)from->bands,
                             .fit = (pn_prefix_fit)from->fit,
                             .buffers = (size_t)from->buffers };

    to.sensitivities = take_numbers(&arrays, from->sensitivities).data;
    to.coefficients = take_numbers(&arrays, from->coefficients);
    to.theta = take_numbers(&arrays, from->theta);
    to.omega = take_numbers(&arrays, from->omega);
    if (matrix_entries(from) > 0)
        to.matrix = (pn_mat){ take_numbers(&arrays, matrix_entries(from)).data, to.horizon, to.horizon };
    return to;
}

/* Of a secure stream a new one, where what was drawn need not be drawn again. */
static pn_status read_key(pn_prefix *stream, const image *from, pn_err *err)
{
    const pn_prefix_options *options = &stream->design->options;
    pn_rng *rng = NULL;
    pn_status status;

    memcpy(stream->key.bytes, from->key, sizeof from->key);
    stream->key.simulated = from->simulated != 0;
    if (stream->key.simulated || options->noiseless || options->memory == PN_PREFIX_REGENERATE)
        return PN_OK;
    status = pn_rng_secure(&rng, err);
    if (status == PN_OK)
        pn_address_key_draw(&stream->key, rng);
    pn_rng_free(rng);
    return status;
}

static pn_status read_stream(pn_prefix *stream, const image *from, const unsigned char *data, const char *path,
                             pn_err *err)
{
    if (pn_prefix_design_sigma(stream->design) != from->design_sigma ||
        pn_prefix_design_mu(stream->design) != from->design_mu || stream_sigma(stream) != from->stream_sigma)
        return pn_fail(
            err, PN_EPARSE,
            "prefix: %.300s: a version of this library that chooses other noise wrote this file (sigma %.17g there, "
            "%.17g here); resume it with that version",
            path, from->design_sigma, pn_prefix_design_sigma(stream->design));
    if (stream->state_bytes != from->state_bytes || stream->epoch != from->epoch)
        return not_ours(path, err);
    if (stream->state_bytes > 0)
        memcpy(stream->state, data + from->bytes - from->state_bytes, stream->state_bytes);
    stream->count = from->count;
    stream->paid = from->paid != 0;
    stream->teaching = from->teaching != 0;
    stream->ended = from->ended != 0;
    return read_key(stream, from, err);
}

static pn_status read_image(pn_prefix **out, const unsigned char *data, size_t size, const char *path, pn_err *err)
{
    pn_prefix_design *design = NULL;
    pn_prefix_options options;
    image fixed;
    pn_status status;

    if (!read_fixed(&fixed, data, size))
        return not_ours(path, err);
    options = read_options(&fixed, data + padded(sizeof fixed));
    status = pn_prefix_design_new(&design, &options, err);
    if (status == PN_OK)
        status = pn_prefix_make(out, design, fixed.count, fixed.state_bytes, err);
    if (status == PN_OK)
        status = read_stream(*out, &fixed, data, path, err);
    if (status == PN_EPARSE && !*out)
        status = not_ours(path, err);
    pn_prefix_design_free(design);
    sodium_memzero(&fixed, sizeof fixed);
    if (status != PN_OK) {
        pn_prefix_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- the keeper ---- */

static void keeper_free(void *ud)
{
    keeper *self = ud;

    if (self->room)
        sodium_memzero(self->room, self->room_bytes);
    pn_free(self->room);
    pn_checkpoint_close(self->file);
    pn_free(self);
}

/* After a push: nothing is handed out before this returns. */
static pn_status keeper_pushed(void *ud, const pn_prefix *stream, pn_err *err)
{
    keeper *self = ud;
    size_t size = 0;
    pn_status status;

    if (!self->file)
        return PN_OK;
    status = write_image(self, stream, &size, err);
    return status == PN_OK ? pn_checkpoint_commit(self->file, PN_CHECKPOINT_FOLLOWED, self->room, size, err) : status;
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
    size_t size = 0;
    pn_status status = write_image(self, stream, &size, err);

    if (status == PN_OK)
        status = pn_checkpoint_make(&self->file, &owner, path, self->id, mode, self->room, size, &published, err);
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
    size_t size = 0;
    pn_status status = check_stream(stream, path, err);

    if (status == PN_OK)
        status = keeper_of(&self, stream, err);
    if (status != PN_OK)
        return status;
    if (self->file && strcmp(pn_checkpoint_path(self->file), path) != 0)
        return follows_other(self, path, err);
    if (self->file) {
        status = write_image(self, stream, &size, err);
        if (status == PN_OK)
            status = pn_checkpoint_commit(self->file, PN_CHECKPOINT_PARKED, self->room, size, err);
    } else {
        status = move_into(stream, self, path, PN_CHECKPOINT_PARKED, err);
    }
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
    size_t size = 0;
    pn_status status = keeper_of(&self, stream, err);

    if (status == PN_OK) {
        memcpy(self->id, pn_checkpoint_id(file), sizeof self->id);
        self->file = file;
    } else {
        pn_checkpoint_close(file);
        return status;
    }
    if (pn_checkpoint_mode_of(file) == PN_CHECKPOINT_FOLLOWED) {
        status = write_image(self, stream, &size, err);
        return status == PN_OK ? pn_checkpoint_commit(file, PN_CHECKPOINT_FOLLOWED, self->room, size, err) : status;
    }
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
    status = read_image(out, data, size, path, err);
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
