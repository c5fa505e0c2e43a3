/* account.c -- see account.h.  One atomic word counts handles and bytes together, so that whoever brings it to zero,
 * and nobody else, knows that the account can go.  Depends on: account.h, alloc.h.  Used by: core/alloc.c,
 * core/task.c, hosts. */
#include <stdatomic.h>
#include <stdint.h>

#include "core/account.h"
#include "core/alloc.h"

#define HANDLE    ((uint64_t)1 << 48) /* one handle; below it are the bytes */
#define BYTES(at) ((at) & (HANDLE - 1))

struct pn_account {
    _Atomic uint64_t held;
    _Atomic uint64_t peak;
    _Atomic uint64_t worth_a_look; /* bytes from which on pn_account_pressed says yes */
    uint64_t limit;                /* 0: none */
};

static _Thread_local pn_account *current;

#define FIRST_LOOK ((uint64_t)4 << 20)

static uint64_t next_look(uint64_t used, uint64_t limit)
{
    uint64_t twice = 2 * used > FIRST_LOOK ? 2 * used : FIRST_LOOK, half_way = used + (limit - used) / 2;

    return limit && half_way < twice ? half_way : twice;
}

pn_status pn_account_new(pn_account **out, size_t limit, pn_err *err)
{
    pn_account *account, *before;

    if (limit >= HANDLE)
        return pn_fail(err, PN_EINVAL, "memory limit: %zu bytes are more than can be counted", limit);
    before = pn_account_enter(NULL); /* it does not pay for itself */
    account = pn_alloc(1, sizeof *account);
    (void)pn_account_enter(before);
    PN_TRY(pn_made(account, err, "memory limit: out of memory"));
    atomic_init(&account->held, HANDLE);
    atomic_init(&account->peak, 0);
    atomic_init(&account->worth_a_look, next_look(0, limit));
    account->limit = limit;
    *out = account;
    return PN_OK;
}

static void give_up(pn_account *account, uint64_t amount)
{
    if (atomic_fetch_sub_explicit(&account->held, amount, memory_order_acq_rel) == amount)
        pn_free(account);
}

void pn_account_free(pn_account *account)
{
    if (account)
        give_up(account, HANDLE);
}

pn_account *pn_account_enter(pn_account *account)
{
    pn_account *before = current;

    current = account;
    return before;
}

pn_account *pn_account_current(void)
{
    return current;
}

void pn_account_usage(const pn_account *account, size_t *used, size_t *peak)
{
    if (used)
        *used = (size_t)BYTES(atomic_load(&account->held));
    if (peak)
        *peak = (size_t)atomic_load(&account->peak);
}

bool pn_account_pressed(const pn_account *account)
{
    return account && BYTES(atomic_load_explicit(&account->held, memory_order_relaxed)) >=
                          atomic_load_explicit(&account->worth_a_look, memory_order_relaxed);
}

void pn_account_rest(pn_account *account)
{
    atomic_store(&account->worth_a_look, next_look(BYTES(atomic_load(&account->held)), account->limit));
}

/* What is dead by now may be what is missing: let it be looked for. */
static bool refuse(pn_account *account)
{
    atomic_store_explicit(&account->worth_a_look, 0, memory_order_relaxed);
    return false;
}

/* Never beyond the limit, not even for a moment: another thread would be refused what it may have. */
bool pn_account_charge(pn_account *account, size_t bytes)
{
    uint64_t held = atomic_load_explicit(&account->held, memory_order_relaxed), used, peak;

    do {
        if (bytes >= HANDLE)
            return false;
        used = BYTES(held) + bytes;
        if (used >= HANDLE || (account->limit && used > account->limit))
            return refuse(account);
    } while (!atomic_compare_exchange_weak_explicit(&account->held, &held, held + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    peak = atomic_load_explicit(&account->peak, memory_order_relaxed);
    while (peak < used && !atomic_compare_exchange_weak_explicit(&account->peak, &peak, used, memory_order_relaxed,
                                                                 memory_order_relaxed))
        ;
    return true;
}

void pn_account_credit(pn_account *account, size_t bytes)
{
    give_up(account, bytes);
}

void *pn_account_resize(pn_account *account, void *block, size_t old_size, size_t new_size)
{
    size_t before = block ? old_size : 0;
    void *moved;

    if (new_size > before && !pn_account_charge(account, new_size - before))
        return NULL;
    moved = pn_plain_resize(block, new_size);
    if (!moved && new_size > before) {
        pn_account_credit(account, new_size - before);
        return NULL;
    }
    if (new_size < before)
        pn_account_credit(account, before - new_size);
    return moved || new_size == 0 ? moved : block; /* what should shrink and would not is as good as it was */
}
