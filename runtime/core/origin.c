/* origin.c -- see origin.h.  Depends on: alloc.h, xxhash (its header alone).  Used by: data, privacy/ledger. */
#include <stdatomic.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/alloc.h"
#include "core/origin.h"

/* ---- hashes ---- */

#define STATE_ALIGNMENT 64 /* of XXH3_state_t, more than an allocator promises */

struct pn_digest {
    XXH3_state_t *state; /* in `room` */
    unsigned char room[sizeof(XXH3_state_t) + STATE_ALIGNMENT];
};

pn_digest *pn_digest_new(void)
{
    pn_digest *self = pn_alloc(1, sizeof *self);

    if (!self)
        return NULL;
    self->state = (XXH3_state_t *)(void *)(self->room + STATE_ALIGNMENT - (uintptr_t)self->room % STATE_ALIGNMENT);
    (void)XXH3_128bits_reset(self->state);
    return self;
}

void pn_digest_free(pn_digest *digest)
{
    pn_free(digest);
}

void pn_digest_add(pn_digest *digest, const void *bytes, size_t count)
{
    (void)XXH3_128bits_update(digest->state, bytes, count);
}

pn_content pn_digest_content(const pn_digest *digest)
{
    XXH128_hash_t hash = XXH3_128bits_digest(digest->state);

    return (pn_content){ { hash.low64, hash.high64 } };
}

/* ---- origins ---- */

struct pn_origin {
    pn_content content;
    size_t records;
    atomic_size_t references;
    char *name;
};

pn_status pn_origin_new(pn_origin **out, pn_content content, size_t records, const char *name, pn_err *err)
{
    pn_origin *self;

    PN_TRY(pn_new_zeroed(&self, 1, err, "data: out of memory"));
    self->name = pn_strdup(name ? name : "data");
    if (!self->name) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "data: out of memory");
    }
    self->content = content;
    self->records = records;
    atomic_init(&self->references, 1);
    *out = self;
    return PN_OK;
}

pn_origin *pn_origin_keep(pn_origin *origin)
{
    if (origin)
        atomic_fetch_add(&origin->references, 1);
    return origin;
}

void pn_origin_free(pn_origin *origin)
{
    if (!origin || atomic_fetch_sub(&origin->references, 1) > 1)
        return;
    pn_free(origin->name);
    pn_free(origin);
}

bool pn_origin_same(const pn_origin *a, const pn_origin *b)
{
    return a->content.word[0] == b->content.word[0] && a->content.word[1] == b->content.word[1];
}

pn_content pn_origin_content(const pn_origin *origin)
{
    return origin->content;
}

size_t pn_origin_records(const pn_origin *origin)
{
    return origin->records;
}

const char *pn_origin_name(const pn_origin *origin)
{
    return origin->name;
}
