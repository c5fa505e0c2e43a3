/* alignment.c -- see alignment.h.  Depends on: alignment.h, random/rng.h, libsodium, POSIX files.
 * Used by: bindings. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/file_place.h"
#include "data/alignment.h"

#define HASH 32
#define HEX  (2 * PN_ALIGNMENT_KEY)

void pn_identifiers_clear(pn_identifiers *list)
{
    pn_free(list->ids);
    pn_free(list->sizes);
    pn_free(list->text);
    *list = (pn_identifiers){ 0 };
}

/* ---- order ---- */

typedef struct place {
    unsigned char hash[HASH];
    size_t row;
} place;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = memcmp(x->hash, y->hash, HASH);

    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* One key, two uses: each under its own personal string. */
static const unsigned char for_rows[crypto_generichash_blake2b_PERSONALBYTES] = "align-row";
static const unsigned char for_digest[crypto_generichash_blake2b_PERSONALBYTES] = "align-digest";

static pn_status hash_rows(place *places, const char *const *ids, const size_t *sizes, size_t n,
                           const unsigned char *key, pn_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] == 0)
            return pn_fail(err, PN_EINVAL, "federated.align: the identifier of row %zu is empty", i + 1);
        (void)crypto_generichash_blake2b_salt_personal(places[i].hash, HASH, (const unsigned char *)ids[i], sizes[i],
                                                       key, PN_ALIGNMENT_KEY, NULL, for_rows);
        places[i].row = i;
    }
    qsort(places, n, sizeof *places, compare);
    for (size_t i = 1; i < n; i++) {
        if (memcmp(places[i - 1].hash, places[i].hash, HASH) == 0)
            return pn_fail(err, PN_EINVAL,
                           "federated.align: rows %zu and %zu have the same identifier; each must belong to one row",
                           places[i - 1].row + 1, places[i].row + 1);
    }
    return PN_OK;
}

static void add_word(crypto_generichash_blake2b_state *state, uint64_t word)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
    (void)crypto_generichash_blake2b_update(state, bytes, sizeof bytes);
}

/* n, the hashes in order, the labels in order. */
static void take_digest(unsigned char *digest, const place *places, const pn_dataset *aligned, const unsigned char *key)
{
    crypto_generichash_blake2b_state state;

    (void)crypto_generichash_blake2b_init_salt_personal(&state, key, PN_ALIGNMENT_KEY, PN_ALIGNMENT_DIGEST, NULL,
                                                        for_digest);
    add_word(&state, aligned->n);
    for (size_t i = 0; i < aligned->n; i++)
        (void)crypto_generichash_blake2b_update(&state, places[i].hash, HASH);
    for (size_t i = 0; i < aligned->n; i++) {
        double label = aligned->y[i] + 0.0; /* -0 becomes 0 */
        uint64_t bits;

        memcpy(&bits, &label, sizeof bits);
        add_word(&state, bits);
    }
    (void)crypto_generichash_blake2b_final(&state, digest, PN_ALIGNMENT_DIGEST);
    sodium_memzero(&state, sizeof state);
}

pn_status pn_dataset_align(pn_dataset **out, const pn_dataset *data, const char *const *ids, const size_t *sizes,
                           const unsigned char key[PN_ALIGNMENT_KEY], unsigned char digest[PN_ALIGNMENT_DIGEST],
                           pn_err *err)
{
    place *places = pn_alloc(data->n, sizeof *places);
    size_t *rows = pn_alloc(data->n, sizeof *rows);
    pn_dataset *aligned = NULL;
    pn_status status = PN_OK;

    if (!places || !rows)
        status = pn_fail(err, PN_ENOMEM, "federated.align: out of memory for %zu records", data->n);
    if (status == PN_OK)
        status = hash_rows(places, ids, sizes, data->n, key, err);
    for (size_t i = 0; status == PN_OK && i < data->n; i++)
        rows[i] = places[i].row;
    if (status == PN_OK)
        status = pn_dataset_subset(&aligned, data, rows, data->n, err);
    if (status == PN_OK) {
        take_digest(digest, places, aligned, key);
        *out = aligned;
    }
    pn_free(rows);
    pn_free(places);
    return status;
}

/* ---- key files ---- */

static pn_status file_failed(const char *path, const char *what, int error, pn_err *err)
{
    return pn_fail(err, PN_EIO, "federated.align: %.300s: the key could not be %s: %s", path, what, strerror(error));
}

static pn_status draw_key(unsigned char *key, pn_err *err)
{
    pn_rng *rng = NULL;
    pn_status status = pn_rng_secure(&rng, err);

    if (status == PN_OK)
        pn_rng_bytes(rng, key, PN_ALIGNMENT_KEY);
    pn_rng_free(rng);
    return status;
}

/* A file that is not there yet; one that somebody else has made meanwhile is left as it is. */
static pn_status make_key(const char *path, pn_err *err)
{
    unsigned char key[PN_ALIGNMENT_KEY];
    char hex[HEX + 1];
    pn_status status = draw_key(key, err);
    int error;

    if (status != PN_OK)
        return status;
    (void)sodium_bin2hex(hex, sizeof hex, key, PN_ALIGNMENT_KEY);
    hex[HEX] = '\n';
    error = pn_file_put(path, hex, sizeof hex, 0600, false);
    sodium_memzero(hex, sizeof hex);
    sodium_memzero(key, sizeof key);
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "federated.align: out of memory for a path");
    return error && error != EEXIST ? file_failed(path, "made", error, err) : PN_OK;
}

static pn_status read_key(int fd, const char *path, unsigned char *key, pn_err *err)
{
    char hex[HEX + 3]; /* room for an end of line, and for one byte too many */
    const char *end = hex;
    size_t used = 0, made = 0;
    ssize_t got = 1;
    int error;

    while (got > 0 && used < sizeof hex) {
        got = read(fd, hex + used, sizeof hex - used);
        if (got < 0 && errno == EINTR)
            got = 1;
        else
            used += got > 0 ? (size_t)got : 0;
    }
    error = errno;
    (void)close(fd);
    if (got < 0)
        return file_failed(path, "read", error, err);
    while (used > 0 && (hex[used - 1] == '\n' || hex[used - 1] == '\r'))
        used--;
    if (used != HEX || sodium_hex2bin(key, PN_ALIGNMENT_KEY, hex, used, NULL, &made, &end) != 0 || end != hex + used ||
        made != PN_ALIGNMENT_KEY)
        return pn_fail(err, PN_EPARSE, "federated.align: %.300s: expected a key of %d hex digits on one line", path,
                       HEX);
    sodium_memzero(hex, sizeof hex);
    return PN_OK;
}

pn_status pn_alignment_key(const char *path, bool create, unsigned char key[PN_ALIGNMENT_KEY], pn_err *err)
{
    pn_status status = create && access(path, F_OK) != 0 ? make_key(path, err) : PN_OK;
    int fd;

    if (status == PN_OK)
        status = pn_file_check_link("federated.align", path, err);
    if (status != PN_OK)
        return status;
    fd = pn_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return file_failed(path, "opened", errno, err);
    status = pn_file_check_owner(fd, PN_FILE_SECRET, "federated.align", path, err);
    if (status != PN_OK) {
        (void)close(fd);
        return status;
    }
    return read_key(fd, path, key, err);
}
