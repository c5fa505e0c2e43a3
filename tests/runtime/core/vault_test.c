/* vault_test.c -- the vault of a process that is armed, when memory runs out: who asks for pages gets none, nothing is
 * charged, and the next one gets them.
 * Depends on: core/vault.h, core/account.h, fail_alloc.h. */
#include <string.h>

#include "core/account.h"
#include "core/vault.h"
#include "fail_alloc.h"

#define ROOM ((size_t)8 << 20)

static void nothing(void)
{
}

/* The k-th call fails, for k = 1, 2, ..., until there is a block. */
static char *pages_in_the_end(pn_account *account, size_t bytes, long *failures)
{
    char *made = NULL;

    for (*failures = 0; !made && *failures < 100; ++*failures) {
        fail_alloc memory = { .fail_at = *failures + 1 };
        const pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &memory };
        pn_account *before = pn_account_enter(account);
        size_t used;

        pn_allocator_set(&allocator);
        fail_calls_ask(fail_alloc_asked, &memory);
        made = pn_vault_alloc(bytes, 1);
        fail_calls_ask(NULL, NULL);
        pn_allocator_set(NULL);
        (void)pn_account_enter(before);
        pn_account_usage(account, &used, NULL);
        CHECK(made ? used >= bytes : used == 0);
        CHECK(made || strcmp(pn_vault_lack(), "out of memory") == 0);
    }
    return made;
}

static void blocks_are_refused_until_there_is_memory(void)
{
    pn_account *account = NULL;
    long failures;
    size_t used;
    char *pages;
    pn_err err;

    CHECK(pn_account_new(&account, 0, &err) == PN_OK);
    pages = pages_in_the_end(account, 5000, &failures);
    CHECK(pages && failures > 2); /* the list of blocks and the range of addresses were refused */
    pn_vault_enter();
    memset(pages, 7, 5000);
    CHECK(pages[4999] == 7);
    pn_vault_leave();
    pn_vault_free(pages);
    pn_account_usage(account, &used, NULL);
    CHECK(used == 0);
    CHECK(pages_in_the_end(account, 5000, &failures) == pages && failures == 1); /* it needs none now */
    pn_vault_free(pages);
    pn_account_free(account);
}

int main(void)
{
    pn_vault_arm(ROOM, nothing);
    blocks_are_refused_until_there_is_memory();
    return check_summary();
}
