/* vault.c -- a list of pages and their protection.  Depends on: vault.h, account.h, alloc.h, POSIX.
 * Used by: data/, objective/, solvers/, bindings/curator/. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/account.h"
#include "core/alloc.h"
#include "core/vault.h"

typedef struct region {
    void *pages;
    size_t bytes;
    bool ours;           /* made by pn_vault_alloc: to be written, and freed */
    pn_account *account; /* that pays for it, or NULL */
} region;

/* Of the process, as the protection of pages is; written by its one thread that starts work. */
static struct vault {
    bool armed;
    unsigned inside; /* calls of pn_vault_enter that have not left */
    void (*on_enter)(void);
    region *regions;
    size_t count, room;
} vault;

static bool protect(const region *at, bool open)
{
    int rights = !open ? PROT_NONE : at->ours ? PROT_READ | PROT_WRITE : PROT_READ;

    return mprotect(at->pages, at->bytes, rights) == 0;
}

/* Pages that the system does not unlock end the process at the first read, as they should. */
static void protect_all(bool open)
{
    for (size_t i = 0; i < vault.count; i++)
        (void)protect(&vault.regions[i], open);
}

void pn_vault_enter(void)
{
    if (!vault.armed || vault.inside++ > 0)
        return;
    vault.on_enter();
    protect_all(true);
}

void pn_vault_leave(void)
{
    if (vault.armed && --vault.inside == 0)
        protect_all(false);
}

void pn_vault_arm(void (*on_enter)(void))
{
    vault.on_enter = on_enter;
    vault.armed = true;
    protect_all(false);
}

/* ---- the list ---- */

static bool make_room(void)
{
    size_t room = vault.room ? 2 * vault.room : 16;
    region *more = vault.count == vault.room ? pn_plain_resize(vault.regions, room * sizeof *more) : vault.regions;

    if (!more)
        return false;
    if (vault.count == vault.room)
        vault.room = room;
    vault.regions = more;
    return true;
}

pn_status pn_vault_add(void *pages, size_t bytes, pn_err *err)
{
    region made = { .pages = pages, .bytes = bytes };

    if (!make_room())
        return pn_fail(err, PN_ENOMEM, "vault: out of memory");
    if (vault.armed && vault.inside == 0 && !protect(&made, false))
        return pn_fail(err, PN_EINVAL, "vault: the system does not lock %zu bytes", bytes);
    vault.regions[vault.count++] = made;
    return PN_OK;
}

/* ---- blocks ---- */

/* Whole pages for count * size bytes; 0 on overflow. */
static size_t pages_for(size_t count, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - page)
        return 0;
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

/* The lock of a new block is that of the others. */
static void *map_block(size_t bytes, pn_account *account)
{
    int rights = vault.inside ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *pages = make_room() ? mmap(NULL, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

    if (pages == MAP_FAILED)
        return NULL;
    vault.regions[vault.count++] = (region){ pages, bytes, true, account };
    return pages;
}

void *pn_vault_alloc(size_t count, size_t size)
{
    pn_account *account = pn_account_current();
    size_t bytes;
    void *block;

    if (!vault.armed)
        return pn_alloc_large(count, size);
    bytes = pages_for(count, size);
    if (bytes == 0 || (account && !pn_account_charge(account, bytes)))
        return NULL;
    block = map_block(bytes, account);
    if (!block && account)
        pn_account_credit(account, bytes);
    return block;
}

void pn_vault_free(void *block)
{
    region freed;
    size_t i = 0;

    while (i < vault.count && vault.regions[i].pages != block)
        i++;
    if (i == vault.count) {
        pn_free(block);
        return;
    }
    freed = vault.regions[i];
    vault.regions[i] = vault.regions[--vault.count];
    (void)munmap(freed.pages, freed.bytes);
    if (freed.account)
        pn_account_credit(freed.account, freed.bytes);
}
