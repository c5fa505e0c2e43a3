/* ledger_store.h -- what writing and opening a ledger's file share.  Private to ledger_file.c,
 * ledger_head.c and ledger_open.c.
 * Depends on: core/file.h, core/file_place.h, ledger_file.h, ledger_disk.h. */
#ifndef PN_PRIVACY_LEDGER_STORE_H
#define PN_PRIVACY_LEDGER_STORE_H

#include "core/file.h"
#include "core/file_place.h"
#include "privacy/ledger/ledger_disk.h"
#include "privacy/ledger/ledger_file.h"
#include "random/secret.h"

#define PN_MAC_BYTES 16
#define PN_MAC_HEX   (2 * PN_MAC_BYTES)
#define PN_MAC_PLACE (3 + PN_MAC_HEX) /* " | " and the MAC at the end of a line */
#define PN_SLOT      512              /* one sector */
#define PN_HEAD_BYTES                                                                                                  \
    (3 * PN_SLOT)        /* what counts, a second place for it that format 1 had, and who has the ledger open */
#define PN_HEAD_PLACE 72 /* a place as text */

#define PN_STORE_MAGIC "penumbra-ledger "
#define PN_STORE_FIRST PN_STORE_MAGIC "1 "

struct pn_store {
    char *path, *key_path, *head_path;
    int fd, head;
    size_t end;                     /* bytes of whole, valid lines */
    size_t count;                   /* records */
    unsigned char id[PN_MAC_BYTES]; /* random, and in hexadecimal: */
    char name[PN_MAC_HEX + 1];
    pn_secret key;                   /* PN_KEY_BYTES, closed but in pn_store_chain */
    unsigned char mac[PN_MAC_BYTES]; /* of the last record */
    char *content;                   /* what was read, until it is replayed */
    bool created, cut, swept;        /* swept: what a killed process left of heads is gone */
    bool moved;                      /* the owner says that the files were copied here, and they were */
    const char *broken;
};

/** mac = H(before, text). */
void pn_store_chain(const pn_store *store, unsigned char mac[PN_MAC_BYTES], const unsigned char before[PN_MAC_BYTES],
                    const char *text, size_t length);
/** What stands before the first record: the MAC of the ledger's first line. */
void pn_store_chain_start(const pn_store *store, unsigned char mac[PN_MAC_BYTES]);
/** The MAC in hexadecimal at `hex`; false when it is none. */
bool pn_store_read_mac(unsigned char mac[PN_MAC_BYTES], const char *hex);

/* What the head says. */
typedef struct pn_head {
    size_t count; /* records that there were; 0: it does not hold */
    int format;   /* 1 did not say: */
    unsigned char mac[PN_MAC_BYTES];
    char ledger[PN_HEAD_PLACE], self[PN_HEAD_PLACE]; /* which files; "-" where they have no lasting numbers */
} pn_head;

pn_status pn_store_read_head(const pn_store *store, pn_head *best, pn_err *err);
/** Whether the files that are open are the ones that the head means. */
bool pn_store_knows_ledger(const pn_store *store, const pn_head *head);
bool pn_store_knows_head(const pn_store *store, const pn_head *head);

/** The head that says `count` and `mac`, durable, under a name that does not count yet; 0,
 *  or errno and nothing is there. */
int pn_store_prepare_head(pn_store *store, pn_file_draft *draft, size_t count, const unsigned char mac[PN_MAC_BYTES]);
/** It takes the place of the one before, durably, and the ledger is marked; 0 or errno.  The draft has ended. */
int pn_store_name_head(pn_store *store, pn_file_draft *draft);
/** Both, for the records that there are. */
int pn_store_write_head(pn_store *store);
/** Say who has the ledger open, for the message of who finds it locked; nothing depends on it. */
void pn_store_sign(const pn_store *store);
/** Who said so last; 0: nobody. */
long pn_store_signed(const pn_store *store);

/** Whether the path still names the file that is open: not removed, not replaced. */
bool pn_store_in_place(const pn_store *store);

#endif
