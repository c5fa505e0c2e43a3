/* secret.h -- memory for keys, and for streams that follow from them: between pages that cannot be touched, kept out of
 * swap and core dumps where the system allows it, erased when it is freed.  A secret that is closed cannot be read
 * either, until it is opened for its use.
 * Depends on: core/account.h, libsodium.  Used by: random/rng.c, privacy/ledger_*.c. */
#ifndef PN_RANDOM_SECRET_H
#define PN_RANDOM_SECRET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pn_account pn_account;

typedef struct pn_secret {
    void *bytes; /* NULL: there is none */
    size_t size;
    pn_account *account; /* that pays for it, or NULL */
    bool open_to_all;    /* by pn_secret_none: memory like any other */
} pn_secret;

/** Room for `size` bytes, zeroed and open, charged to the account of this thread.
 *  `bytes` is NULL when memory is short. */
pn_secret pn_secret_new(size_t size);
/** As pn_secret_new, without any of the protection, for what could be a secret but is not: guarded pages cost some 50
 *  microseconds of system calls. */
pn_secret pn_secret_none(size_t size);
/** Erase and give back; again, nothing. */
void pn_secret_clear(pn_secret *secret);

/** No access until it is opened, for reading alone. */
void pn_secret_close(const pn_secret *secret);
void pn_secret_open(const pn_secret *secret);

#endif
