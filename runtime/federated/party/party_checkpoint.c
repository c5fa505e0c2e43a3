/* party_checkpoint.c -- what a party may not forget, in a file: the key of its noise, its replies, and what has been
 * paid for.  The file is the machinery of streams (continual/checkpoint_file.h), which refuses copies and what was put
 * back; the ledger's counts tell of copies, too (party_release.c).  Everything is as the machine has it: a file does
 * not leave its machine.
 * Depends on: party_impl.h, continual/checkpoint_file.h, libsodium.  Used by: party*.c. */
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "federated/party/party_impl.h"

#define MAGIC "penumbra party 2"

static const pn_checkpoint_owner owner = { .name = "party", .what = "party" };

/* The fixed part; replies, the model, columns' states, what makes the vertices of a block and the block follow. */
typedef struct image {
    char magic[16];
    uint64_t bytes, n, columns, rounds, each, phase, epoch, simulated;
    unsigned char key[PN_ADDRESS_KEY_BYTES], session[PN_SESSION_BYTES];
    unsigned char terms_digest[PN_DIGEST_BYTES], run_digest[PN_DIGEST_BYTES];
    uint64_t count[PARTY_KINDS], known[2][PARTY_KINDS];
    pn_terms terms; /* its block is no address here */
} image;

static size_t image_bytes(size_t rounds, size_t each, size_t columns, size_t block)
{
    return sizeof(image) + rounds * (sizeof(party_reply) + each * sizeof(uint32_t)) + columns * (1 + sizeof(double)) +
           block * sizeof(double);
}

static size_t bytes_of(const pn_party *party)
{
    return image_bytes(party->rounds, party->each, party->data.columns, party->terms.block_size);
}

static void fill(image *to, const pn_party *party)
{
    memset(to, 0, sizeof *to);
    memcpy(to->magic, MAGIC, sizeof to->magic);
    to->bytes = bytes_of(party);
    to->n = party->data.n;
    to->columns = party->data.columns;
    to->rounds = party->rounds;
    to->each = party->each;
    to->phase = (uint64_t)party->phase;
    to->epoch = party->epoch;
    to->simulated = party->key.simulated;
    memcpy(to->key, party->key.bytes, sizeof to->key);
    memcpy(to->session, party->session, sizeof to->session);
    memcpy(to->terms_digest, party->terms_digest, sizeof to->terms_digest);
    memcpy(to->run_digest, party->run_digest, sizeof to->run_digest);
    memcpy(to->count, party->count, sizeof to->count);
    for (int a = 0; a < 2; a++)
        memcpy(to->known[a], party->accounts[a].known, sizeof to->known[a]);
    to->terms = party->terms;
    to->terms.block = NULL;
}

static unsigned char *put(unsigned char *at, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(at, from, bytes);
    return at + bytes;
}

/* The state; to be erased and freed. */
static unsigned char *make_image(const pn_party *party, size_t *size)
{
    unsigned char *at, *all;
    image fixed;

    *size = bytes_of(party);
    all = pn_alloc(*size, 1);
    if (!all)
        return NULL;
    fill(&fixed, party);
    at = put(all, &fixed, sizeof fixed);
    at = put(at, party->replies, party->rounds * sizeof *party->replies);
    at = put(at, party->model, party->data.columns * sizeof *party->model);
    at = put(at, party->state, party->data.columns);
    at = put(at, party->picks, party->rounds * party->each * sizeof *party->picks);
    (void)put(at, party->terms.block, party->terms.block_size * sizeof *party->terms.block);
    sodium_memzero(&fixed, sizeof fixed);
    return all;
}

static void drop(unsigned char *bytes, size_t size)
{
    if (bytes)
        sodium_memzero(bytes, size);
    pn_free(bytes);
}

pn_status party_checkpoint_write(pn_party *party, pn_err *err)
{
    unsigned char *bytes;
    size_t size;
    pn_status status;

    if (!party->file)
        return PN_OK;
    bytes = make_image(party, &size);
    PN_TRY(pn_made(bytes, err, "party: out of memory for a checkpoint of %zu bytes", size));
    status = pn_checkpoint_commit(party->file, PN_CHECKPOINT_FOLLOWED, bytes, size, err);
    drop(bytes, size);
    return status;
}

/* ---- opening ---- */

static pn_status not_ours(const char *path, pn_err *err)
{
    return pn_fail(err, PN_EPARSE, "party: %.300s: its contents do not fit together; this is no checkpoint of a party",
                   path);
}

/* A byte that is neither 0 nor 1 is no bool, and must not be looked at as one. */
static bool is_flag(const bool *flag)
{
    unsigned char byte;

    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

static bool are_flags(const pn_terms *terms)
{
    return is_flag(&terms->is_private) && is_flag(&terms->simulated) && is_flag(&terms->positive) &&
           is_flag(&terms->stay);
}

static pn_status check_image(const pn_party *party, const image *from, size_t size, const char *path, pn_err *err)
{
    if (memcmp(from->magic, MAGIC, sizeof from->magic) != 0 || from->bytes != size || from->rounds > size ||
        from->columns > size || from->each > size || from->terms.block_size > size || from->terms.block ||
        (from->each > 0 && from->rounds > size / from->each) ||
        image_bytes((size_t)from->rounds, (size_t)from->each, (size_t)from->columns, from->terms.block_size) != size ||
        from->phase > PN_PARTY_REFUSED || !are_flags(&from->terms))
        return not_ours(path, err);
    if (from->n != party->data.n || from->columns != party->data.columns)
        return pn_fail(err, PN_EPRIVACY,
                       "party: %.300s: the checkpoint is of %llu records with %llu columns, and the data have %zu "
                       "with %zu; noise drawn for one data set must not be used for another, so give another file",
                       path, (unsigned long long)from->n, (unsigned long long)from->columns, party->data.n,
                       party->data.columns);
    return PN_OK;
}

static const unsigned char *take(const unsigned char *at, void *to, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, at, bytes);
    return at + bytes;
}

static pn_status room_for(pn_party *party, const image *fixed, size_t size, pn_err *err)
{
    size_t rounds = (size_t)fixed->rounds, picks = rounds * (size_t)fixed->each;

    if (rounds > 0)
        party->replies = pn_alloc(rounds, sizeof *party->replies);
    if (picks > 0)
        party->picks = pn_alloc(picks, sizeof *party->picks);
    if (fixed->terms.block_size > 0)
        party->terms.block = pn_alloc(fixed->terms.block_size, sizeof *party->terms.block);
    return pn_made((party->replies || rounds == 0) && (party->picks || picks == 0) &&
                       (party->terms.block || fixed->terms.block_size == 0),
                   err, "party: out of memory for a checkpoint of %zu bytes", size);
}

/* Before a run there are no terms, and nothing that belongs to them: a party may have been told that it is refused. */
static bool fits(const pn_party *party)
{
    if (party->terms.iterations > 0)
        return party_terms_fit(party);
    return (party->phase == PN_PARTY_NEW || party->phase == PN_PARTY_REFUSED) && party->rounds == 0 &&
           party->each == 0 && party->terms.block_size == 0;
}

static pn_status read_image(pn_party *party, const unsigned char *data, size_t size, const char *path, pn_err *err)
{
    image fixed;
    pn_status status;

    memset(&fixed, 0, sizeof fixed);
    if (size >= sizeof fixed)
        memcpy(&fixed, data, sizeof fixed);
    status = check_image(party, &fixed, size, path, err);
    if (status == PN_OK)
        status = room_for(party, &fixed, size, err);
    if (status == PN_OK) {
        party->rounds = party->room = (size_t)fixed.rounds;
        party->each = (size_t)fixed.each;
        party->phase = (pn_party_phase)fixed.phase;
        party->epoch = fixed.epoch;
        party->key.simulated = fixed.simulated != 0;
        memcpy(party->key.bytes, fixed.key, sizeof fixed.key);
        memcpy(party->session, fixed.session, sizeof fixed.session);
        memcpy(party->terms_digest, fixed.terms_digest, sizeof fixed.terms_digest);
        memcpy(party->run_digest, fixed.run_digest, sizeof fixed.run_digest);
        memcpy(party->count, fixed.count, sizeof fixed.count);
        for (int a = 0; a < 2; a++)
            memcpy(party->accounts[a].known, fixed.known[a], sizeof fixed.known[a]);
        fixed.terms.block = party->terms.block;
        party->terms = fixed.terms;
        data = take(data + sizeof fixed, party->replies, party->rounds * sizeof *party->replies);
        data = take(data, party->model, party->data.columns * sizeof *party->model);
        data = take(data, party->state, party->data.columns);
        data = take(data, party->picks, party->rounds * party->each * sizeof *party->picks);
        (void)take(data, party->terms.block, party->terms.block_size * sizeof *party->terms.block);
        status = fits(party) ? PN_OK : not_ours(path, err);
    }
    sodium_memzero(&fixed, sizeof fixed);
    return status;
}

static pn_status resume(pn_party *party, const char *path, pn_err *err)
{
    void *data = NULL;
    size_t size = 0;
    pn_status status;

    PN_TRY(pn_checkpoint_open(&party->file, &owner, path, &data, &size, err));
    status = read_image(party, data, size, path, err);
    drop(data, size);
    if (status == PN_OK && party->phase != PN_PARTY_NEW)
        status = party_accounts_open(party, true, err);
    return status;
}

static pn_status make(pn_party *party, const char *path, pn_err *err)
{
    unsigned char id[PN_CHECKPOINT_ID], *bytes;
    bool published = false;
    size_t size;
    pn_status status;

    bytes = make_image(party, &size);
    PN_TRY(pn_made(bytes, err, "party: out of memory for a checkpoint of %zu bytes", size));
    randombytes_buf(id, sizeof id);
    status = pn_checkpoint_make(&party->file, &owner, path, id, PN_CHECKPOINT_FOLLOWED, bytes, size, &published, err);
    drop(bytes, size);
    return status;
}

pn_status party_checkpoint_open(pn_party *party, const char *path, pn_err *err)
{
    if (!*path)
        return pn_fail(err, PN_EINVAL, "party: the path of a checkpoint is empty; give the name of a file");
    return access(path, F_OK) == 0 ? resume(party, path, err) : make(party, path, err);
}
