/* shared_stream.c -- one secure stream for all ranks: rank 0's keys for everybody.
 * Depends on: shared_stream.h, stream.h, libsodium.  Used by: solvers, bindings. */
#include <string.h>

#include <sodium.h>

#include "random/shared_stream.h"
#include "random/stream.h"

pn_status pn_rng_shared(pn_rng **out, pn_ranks *ranks, pn_err *err)
{
    unsigned char keys[2 * PN_KEY_BYTES];
    pn_rng *rng = NULL;
    pn_status status = pn_rng_secure(&rng, err);

    if (pn_ranks_size(ranks) > 1) /* who has no stream says so, for the others wait */
        status = pn_ranks_complete(ranks, 0, NULL, NULL, 0, 0, status, err);
    if (status == PN_OK) {
        memcpy(keys, rng->key, PN_KEY_BYTES);
        memcpy(keys + PN_KEY_BYTES, rng->extra_key, PN_KEY_BYTES);
        status = pn_ranks_broadcast(ranks, keys, sizeof keys, err);
    }
    if (status == PN_OK) {
        memcpy(rng->key, keys, PN_KEY_BYTES);
        memcpy(rng->extra_key, keys + PN_KEY_BYTES, PN_KEY_BYTES);
        rng->shared = true;
        *out = rng;
    } else {
        pn_rng_free(rng);
    }
    sodium_memzero(keys, sizeof keys);
    return status;
}

bool pn_rng_is_shared(const pn_rng *rng)
{
    return rng->shared;
}
