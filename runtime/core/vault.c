/* vault.c -- pages of records and their protection.  Depends on: vault.h, account.h, alloc.h, file.h, POSIX.
 * Used by: data/, objective/, solvers/, bindings/curator/. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise, O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/account.h"
#include "core/alloc.h"
#include "core/file.h"
#include "core/size.h"
#include "core/vault.h"

/* Blocks lie one behind another in an address range of their own, so that one call locks all of them; on large pages
 * where the system has them, for what a call costs goes with the number of pages. */
#define LARGE_PAGE ((size_t)2 << 20)

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

typedef struct block {
    size_t at, bytes;    /* in the range; whole pages */
    pn_account *account; /* that pays for it, or NULL */
    bool used;
} block;

/* Mapped by others. */
typedef struct region {
    void *pages;
    size_t bytes;
} region;

/* Of the process, as the protection of pages is; written by its one thread that starts work. */
static struct vault {
    bool armed;
    unsigned inside; /* calls of pn_vault_enter that have not left */
    void (*on_enter)(void);
    region *regions;
    size_t region_count;
    char *range;      /* NULL until the first block */
    size_t room, top; /* of it, and of what was ever used of it */
    block *blocks;
    size_t block_count, block_room;
} vault;

static void protect_range(bool open)
{
    if (vault.top > 0)
        (void)mprotect(vault.range, round_up(vault.top, LARGE_PAGE), open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/* Pages that the system does not unlock end the process at the first read, as they should. */
static void protect_all(bool open)
{
    for (size_t i = 0; i < vault.region_count; i++)
        (void)mprotect(vault.regions[i].pages, vault.regions[i].bytes, open ? PROT_READ : PROT_NONE);
    protect_range(open);
}

void pn_vault_enter(void)
{
    if (!vault.armed || vault.inside++ > 0)
        return;
    vault.on_enter();
    protect_all(true);
}

#define DEEPEST                                                                                                        \
    ((size_t)128                                                                                                       \
     << 10) /* bytes of stack that work on records takes: batch.c's run_small has 86 kB, the rest below 14 */

static void __attribute__((noinline)) overwrite_stack(void)
{
    unsigned char room[DEEPEST];

    explicit_bzero(room, sizeof room);
}

void pn_vault_burn(void)
{
    if (vault.armed)
        overwrite_stack();
}

void pn_vault_leave(void)
{
    if (!vault.armed || --vault.inside > 0)
        return;
    overwrite_stack();
    protect_all(false);
}

void pn_vault_arm(size_t room, void (*on_enter)(void))
{
    vault.room = round_up(room, LARGE_PAGE);
    vault.on_enter = on_enter;
    vault.armed = true;
    protect_all(false);
}

pn_status pn_vault_add(void *pages, size_t bytes, pn_err *err)
{
    region *more = pn_plain_resize(vault.regions, (vault.region_count + 1) * sizeof *more);

    PN_TRY(pn_made(more, err, "vault: out of memory"));
    vault.regions = more;
    if (vault.armed && vault.inside == 0 && mprotect(pages, bytes, PROT_NONE) != 0)
        return pn_fail(err, PN_EINVAL, "vault: the system cannot lock %zu bytes of memory", bytes);
    vault.regions[vault.region_count++] = (region){ pages, bytes };
    return PN_OK;
}

void *pn_vault_pages(size_t i)
{
    return i < vault.region_count ? vault.regions[i].pages : NULL;
}

/* ---- blocks ---- */

/* Whole pages for count * size bytes; 0 on overflow. */
static size_t pages_for(size_t count, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;

    if (!pn_size_multiply(&bytes, count, size))
        return 0;
    return bytes == 0 ? page : round_up(bytes, page);
}

static bool reserve_range(void)
{
    /* cppcheck-suppress invalidFunctionArg ; there is no file */
    void *range = mmap(NULL, vault.room + LARGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (range == MAP_FAILED)
        return false;
    vault.range = (char *)round_up((size_t)range, LARGE_PAGE);
#ifdef MADV_HUGEPAGE
    (void)madvise(vault.range, vault.room, MADV_HUGEPAGE); /* a hint */
#endif
    return true;
}

/* One that was freed and has this very size, or a new one at the top; NULL when memory is short. */
static block *find_block(size_t bytes)
{
    for (size_t i = 0; i < vault.block_count; i++) {
        if (!vault.blocks[i].used && vault.blocks[i].bytes == bytes)
            return &vault.blocks[i];
    }
    if (vault.block_count == vault.block_room) {
        size_t room = vault.block_room ? 2 * vault.block_room : 64;
        block *more = pn_plain_resize(vault.blocks, room * sizeof *more);

        if (!more)
            return NULL;
        vault.blocks = more;
        vault.block_room = room;
    }
    if (!vault.range && !reserve_range())
        return NULL;
    if (bytes > vault.room - vault.top)
        return NULL;
    vault.blocks[vault.block_count] = (block){ .at = vault.top, .bytes = bytes };
    vault.top += bytes;
    return &vault.blocks[vault.block_count++];
}

static void *take_block(size_t bytes, pn_account *account)
{
    block *found = find_block(bytes);

    if (!found)
        return NULL;
    if (vault.inside)
        protect_range(true);
    found->used = true;
    found->account = account;
    return vault.range + found->at;
}

/* ---- blocks on disk ---- */

typedef struct paged {
    struct paged *next;
    void *at;
    size_t bytes;
} paged;

static pthread_mutex_t paged_lock = PTHREAD_MUTEX_INITIALIZER;
static paged *paged_first;
static atomic_size_t paged_count; /* for who frees a block while there are none */
static _Thread_local const char *place;
static _Thread_local char lack[200];

const char *pn_vault_place(const char *folder)
{
    const char *before = place;

    place = folder;
    return before;
}

bool pn_vault_placed(void)
{
    return place != NULL;
}

const char *pn_vault_lack(void)
{
    return lack[0] ? lack : "out of memory";
}

/* The disk gives its room now: a page that it could not take later would end the process. */
static void *map_file(const char *folder, size_t bytes, int *why)
{
    int fd = pn_file_open(folder, O_TMPFILE | O_RDWR, 0600);
    void *at = MAP_FAILED;

    *why = fd < 0 ? errno : pn_file_reserve(fd, bytes);
    if (*why == 0) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        *why = at == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    if (at == MAP_FAILED)
        return NULL;
    return at;
}

static void *take_paged(size_t bytes)
{
    paged *entry = pn_alloc(1, sizeof *entry);
    int why = ENOMEM;
    void *at = entry ? map_file(place, bytes, &why) : NULL;

    if (!at) {
        (void)snprintf(lack, sizeof lack, "no room for %zu bytes in the folder %.80s: %s", bytes, place, strerror(why));
        pn_free(entry);
        return NULL;
    }
    (void)pthread_mutex_lock(&paged_lock);
    *entry = (paged){ paged_first, at, bytes };
    paged_first = entry;
    atomic_fetch_add(&paged_count, 1);
    (void)pthread_mutex_unlock(&paged_lock);
    return at;
}

static bool drop_paged(void *at)
{
    paged **link = &paged_first, *found;

    if (!at || atomic_load(&paged_count) == 0)
        return false;
    (void)pthread_mutex_lock(&paged_lock);
    while (*link && (*link)->at != at)
        link = &(*link)->next;
    found = *link;
    if (found) {
        *link = found->next;
        atomic_fetch_sub(&paged_count, 1);
    }
    (void)pthread_mutex_unlock(&paged_lock);
    if (!found)
        return false;
    (void)munmap(found->at, found->bytes);
    pn_free(found);
    return true;
}

/* ---- all blocks ---- */

void *pn_vault_alloc(size_t count, size_t size)
{
    pn_account *account = pn_account_current();
    size_t bytes;
    void *made;

    lack[0] = '\0';
    if (!vault.armed && !place)
        return pn_alloc_large(count, size);
    bytes = pages_for(count, size);
    if (!vault.armed)
        return bytes == 0 ? NULL : take_paged(bytes);
    if (bytes == 0 || (account && !pn_account_charge(account, bytes)))
        return NULL;
    made = take_block(bytes, account);
    if (!made && account)
        pn_account_credit(account, bytes);
    return made;
}

static block *block_at(const void *at)
{
    for (size_t i = 0; i < vault.block_count; i++) {
        if (vault.blocks[i].used && vault.range + vault.blocks[i].at == at)
            return &vault.blocks[i];
    }
    return NULL;
}

void pn_vault_free(void *at)
{
    block *freed = at ? block_at(at) : NULL;

    if (!freed) {
        if (!drop_paged(at))
            pn_free(at);
        return;
    }
    (void)madvise(at, freed->bytes, MADV_DONTNEED);
    freed->used = false;
    if (freed->account)
        pn_account_credit(freed->account, freed->bytes);
}
