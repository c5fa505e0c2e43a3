/* secret.c -- guarded memory.  Depends on: secret.h, core/account.h, core/alloc.h, libsodium.
 * Used by: random/rng.c, privacy/ledger_*.c. */
#include <string.h>

#include <sodium.h>

#include "core/account.h"
#include "core/alloc.h"
#include "random/secret.h"

/* The pages around it are not counted. */
pn_secret pn_secret_new(size_t size)
{
    pn_secret made = { .size = size, .account = pn_account_current() };

    if (sodium_init() < 0 || (made.account && !pn_account_charge(made.account, size)))
        return (pn_secret){ 0 };
    made.bytes = sodium_malloc(size);
    if (made.bytes)
        memset(made.bytes, 0, size);
    else if (made.account)
        pn_account_credit(made.account, size);
    return made.bytes ? made : (pn_secret){ 0 };
}

pn_secret pn_secret_none(size_t size)
{
    return (pn_secret){ .bytes = pn_calloc(1, size), .size = size, .open_to_all = true };
}

void pn_secret_clear(pn_secret *secret)
{
    if (!secret->bytes)
        return;
    if (secret->open_to_all) {
        sodium_memzero(secret->bytes, secret->size);
        pn_free(secret->bytes);
    } else {
        sodium_free(secret->bytes);
    }
    if (secret->account)
        pn_account_credit(secret->account, secret->size);
    *secret = (pn_secret){ 0 };
}

void pn_secret_close(const pn_secret *secret)
{
    (void)sodium_mprotect_noaccess(secret->bytes);
}

void pn_secret_open(const pn_secret *secret)
{
    (void)sodium_mprotect_readonly(secret->bytes);
}
