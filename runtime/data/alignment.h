/* alignment.h -- the same records in the same order at parties that share nothing but an identifier and a key.
 * Each row's identifier is hashed under the shared key (BLAKE2b, libsodium); rows are sorted by hash.  The digest is a keyed hash over n, the
 * sorted hashes and the labels: parties whose digests agree have the same people, in the same order, with the same labels.
 * What this reveals: the digest, 32 bytes, tells nothing to who lacks the key, but whether two parties' are equal; who has the key can test a
 * guess of the whole list.  Hashes of single identifiers never leave a party.  The order itself is a secret of the parties.
 * Depends on: dataset.h, libsodium.  Used by: bindings. */
#ifndef PN_DATA_ALIGNMENT_H
#define PN_DATA_ALIGNMENT_H

#include "data/dataset.h"

#define PN_ALIGNMENT_KEY    32
#define PN_ALIGNMENT_DIGEST 32

/**
 * *out: `data` with its rows sorted by the hash of ids[i] (length sizes[i]); enforced bounds stay.
 * Errors: PN_EINVAL for an empty identifier or one that stands twice (names both rows); PN_ENOMEM.
 */
pn_status pn_dataset_align(pn_dataset **out, const pn_dataset *data, const char *const *ids, const size_t *sizes,
                           const unsigned char key[PN_ALIGNMENT_KEY], unsigned char digest[PN_ALIGNMENT_DIGEST],
                           pn_err *err);

/** A key file: made with mode 600 when there is none (`create`), else read.  Errors: PN_EIO, PN_EPARSE. */
pn_status pn_alignment_key(const char *path, bool create, unsigned char key[PN_ALIGNMENT_KEY], pn_err *err);

#endif
