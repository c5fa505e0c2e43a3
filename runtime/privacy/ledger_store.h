/* ledger_store.h -- what writing and opening a ledger's file share.  Private to ledger_file.c and ledger_open.c.
 * Depends on: ledger_file.h, ledger_disk.h. */
#ifndef PN_PRIVACY_LEDGER_STORE_H
#define PN_PRIVACY_LEDGER_STORE_H

#include "privacy/ledger_disk.h"
#include "privacy/ledger_file.h"
#include "random/secret.h"

#define PN_MAC_BYTES  16
#define PN_MAC_HEX    (2 * PN_MAC_BYTES)
#define PN_MAC_PLACE  (3 + PN_MAC_HEX) /* " | " and the MAC at the end of a line */
#define PN_SLOT       512              /* one sector */
#define PN_HEAD_BYTES (3 * PN_SLOT)    /* two slots, and who has the ledger open */

#define PN_STORE_MAGIC "penumbra-ledger "
#define PN_STORE_FIRST PN_STORE_MAGIC "1 "

struct pn_store {
    char *path, *key_path, *head_path;
    int fd, head;
    size_t end;   /* bytes of whole, valid lines */
    size_t count; /* records */
    char name[PN_MAC_HEX + 1];
    pn_secret key;                   /* PN_KEY_BYTES, closed but in pn_store_chain */
    unsigned char mac[PN_MAC_BYTES]; /* of the last record */
    char *content;                   /* what was read, until it is replayed */
    bool created, cut;
    const char *broken;
};

/** mac = H(before, text). */
void pn_store_chain(const pn_store *store, unsigned char mac[PN_MAC_BYTES], const unsigned char before[PN_MAC_BYTES],
                    const char *text, size_t length);
/** What stands before the first record: the MAC of the ledger's first line. */
void pn_store_chain_start(const pn_store *store, unsigned char mac[PN_MAC_BYTES]);
/** The MAC in hexadecimal at `hex`; false when it is none. */
bool pn_store_read_mac(unsigned char mac[PN_MAC_BYTES], const char *hex);

/* The newest valid slot of the head. */
typedef struct pn_head {
    size_t count; /* records that there were; 0: no slot holds */
    unsigned char mac[PN_MAC_BYTES];
} pn_head;

pn_status pn_store_read_head(const pn_store *store, pn_head *best, pn_err *err);
/** Durably; 0 or errno. */
int pn_store_write_head(const pn_store *store);
pn_status pn_store_make_head(pn_store *store, pn_err *err);
/** Say who has the ledger open, for the message of who finds it locked; nothing depends on it. */
void pn_store_sign(const pn_store *store);

/** Whether the path still names the file that is open: not removed, not replaced. */
bool pn_store_in_place(const pn_store *store);

#endif
