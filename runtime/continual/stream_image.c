/* stream_image.c -- the layout of a stream in a file: a fixed part, arrays of the options, the state.
 * Depends on: stream_image.h, prefix_impl.h, libsodium.  Used by: checkpoint.c. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "continual/prefix_impl.h"
#include "continual/stream_image.h"
#include "core/alloc.h"

#define ALIGNED 16

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

void pn_stream_image_clear(pn_stream_image *self)
{
    if (self->bytes)
        sodium_memzero(self->bytes, self->room);
    pn_free(self->bytes);
    *self = (pn_stream_image){ 0 };
}

static pn_status make_room(pn_stream_image *self, size_t bytes, pn_err *err)
{
    unsigned char *room;

    if (bytes <= self->room)
        return PN_OK;
    PN_TRY(pn_new(&room, bytes, err, "prefix: out of memory for a checkpoint of %zu bytes", bytes));
    pn_stream_image_clear(self);
    self->bytes = room;
    self->room = bytes;
    return PN_OK;
}

pn_status pn_stream_image_write(pn_stream_image *self, const pn_prefix *stream, pn_err *err)
{
    const pn_prefix_options *options = &stream->design->options;
    unsigned char *at;
    image fixed;
    pn_status status;

    fill_image(&fixed, stream);
    status = make_room(self, (size_t)fixed.bytes, err);
    if (status == PN_OK) {
        memset(self->bytes, 0, padded(sizeof fixed) + padded(array_bytes(&fixed)));
        memcpy(self->bytes, &fixed, sizeof fixed);
        at = put_numbers(self->bytes + padded(sizeof fixed), options->sensitivities, fixed.sensitivities);
        at = put_numbers(at, options->coefficients.data, fixed.coefficients);
        at = put_numbers(at, options->theta.data, fixed.theta);
        at = put_numbers(at, options->omega.data, fixed.omega);
        (void)put_numbers(at, options->matrix.data, matrix_entries(&fixed));
        if (stream->state_bytes > 0)
            memcpy(self->bytes + fixed.bytes - fixed.state_bytes, stream->state, stream->state_bytes);
        self->size = (size_t)fixed.bytes;
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

/* Making a banded method takes horizon * bands steps, and finding its coefficients seconds; of a file with so many
 * bands the state has them, but where there is no noise to remember. */
static bool bands_have_state(const image *fixed)
{
    uint64_t leaves = fixed->horizon, bands;

    if (strcmp(fixed->factorization, pn_prefix_banded.name) != 0 || (fixed->flags & NOISELESS))
        return true;
    if (leaves == 0) /* those of the epoch */
        leaves = UINT64_C(1) << (63U - (unsigned)__builtin_clzll(fixed->count | 1));
    bands = fixed->bands < leaves ? fixed->bands : leaves;
    return bands <= 1 || (fixed->dim > 0 && bands - 1 <= fixed->state_bytes / sizeof(double) / fixed->dim);
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
        !memchr(fixed->factorization, '\0', sizeof fixed->factorization) || matrix_entries(fixed) > size ||
        !bands_have_state(fixed))
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

pn_status pn_stream_image_read(pn_prefix **out, const unsigned char *data, size_t size, const char *path, pn_err *err)
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
