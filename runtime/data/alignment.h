/* alignment.h -- the same records in the same order at parties that share nothing but an identifier and a key.
 * Each row's identifier is hashed under the shared key (BLAKE2b, libsodium); rows are sorted by hash.  The digest is a
 * keyed hash over n, the sorted hashes and the labels: parties whose digests agree have the same people, in the same
 * order, with the same labels.  What this reveals: the digest, 32 bytes, tells nothing to who lacks the key, but
 * whether two parties' are equal; who has the key can test a guess of the whole list.  Hashes of single identifiers
 * never leave a party.  The order itself is a secret of the parties.  Labels are compared as numbers, bit for bit but
 * for the sign of 0: parties prepare them alike.
 * Depends on: dataset.h, libsodium.  Used by: bindings. */
#ifndef PN_DATA_ALIGNMENT_H
#define PN_DATA_ALIGNMENT_H

#include "data/dataset.h"

#define PN_ALIGNMENT_KEY    32
#define PN_ALIGNMENT_DIGEST 32

/* Identifiers of rows.  All zeros: none. */
typedef struct pn_identifiers {
    const char **ids; /* [count] */
    size_t *sizes;    /* [count] bytes of each */
    size_t count;
    char *text; /* what ids point into */
} pn_identifiers;

/** Free what the list holds, not the list; zeroed is allowed. */
void pn_identifiers_clear(pn_identifiers *list);

/* Which column of a CSV file.  One separator of , ; tab; fields as pn_dataset_load_csv reads them,
 * without blanks around them and quotes. */
typedef struct pn_csv_column_options {
    const char *name; /* by the header's name, or NULL */
    size_t column;  /* else by number from 1; then the first line is a header if there is one line more than records */
    size_t records; /* how many there must be */
} pn_csv_column_options;

/** One column of a CSV file as text, gzip or plain.  Lines that are blank are passed over.
 *  Errors: PN_EINVAL for a column that is not there; PN_EDIM for another number of records, naming both; PN_EPARSE,
 *  PN_EIO, PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_csv_column(pn_identifiers *out, const char *path, const pn_csv_column_options *options, pn_task *task,
                        pn_err *err);

/**
 * *out: `data` with its rows sorted by the hash of ids[i] (length sizes[i]); enforced bounds stay.
 * Errors: PN_EINVAL for an empty identifier or one that stands twice (names both rows, from 1); PN_ENOMEM.
 */
pn_status pn_dataset_align(pn_dataset **out, const pn_dataset *data, const char *const *ids, const size_t *sizes,
                           const unsigned char key[PN_ALIGNMENT_KEY], unsigned char digest[PN_ALIGNMENT_DIGEST],
                           pn_err *err);

/** A key file, 64 hex digits on a line: made with mode 600 when there is none (`create`), else read.
 *  Errors: PN_EIO, PN_EPARSE, PN_ENOMEM. */
pn_status pn_alignment_key(const char *path, bool create, unsigned char key[PN_ALIGNMENT_KEY], pn_err *err);

#endif
