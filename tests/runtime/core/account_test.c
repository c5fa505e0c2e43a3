/* account_test.c -- memory accounts: what is charged, to whom, up to what limit, and who credits it.
 * Depends on: check.h, fail_alloc.h, POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/account.h"
#include "core/task.h"

#include "fail_alloc.h"

#define HEADER 16 /* of each block, as account.h says */

static pn_account *new_account(size_t limit)
{
    pn_account *account = NULL;
    pn_err err;

    if (!CHECK(pn_account_new(&account, limit, &err) == PN_OK))
        exit(check_summary());
    return account;
}

static size_t used_of(const pn_account *account)
{
    size_t used;

    pn_account_usage(account, &used, NULL);
    return used;
}

static size_t peak_of(const pn_account *account)
{
    size_t peak;

    pn_account_usage(account, NULL, &peak);
    return peak;
}

static void what_is_allocated_inside_is_charged(void)
{
    pn_account *account = new_account(0);
    void *outside = pn_alloc(1, 100), *inside, *zeroed;

    CHECK(pn_account_current() == NULL);
    CHECK(pn_account_enter(account) == NULL);
    CHECK(pn_account_current() == account);
    inside = pn_alloc(10, 10);
    CHECK(used_of(account) == 100 + HEADER);
    zeroed = pn_calloc(3, 7);
    CHECK(zeroed && memcmp(zeroed, (char[21]){ 0 }, 21) == 0);
    CHECK(used_of(account) == 121 + 2 * HEADER);
    pn_free(outside); /* was nobody's */
    CHECK(used_of(account) == 121 + 2 * HEADER);
    inside = pn_resize(inside, 1000, 1);
    CHECK(used_of(account) == 1021 + 2 * HEADER);
    inside = pn_resize(inside, 1, 1);
    CHECK(used_of(account) == 22 + 2 * HEADER);
    CHECK(peak_of(account) == 1021 + 2 * HEADER);
    CHECK(pn_account_enter(NULL) == account);
    inside = pn_resize(inside, 2, 1); /* whoever paid goes on paying */
    CHECK(used_of(account) == 23 + 2 * HEADER);
    pn_free(inside);
    pn_free(zeroed);
    CHECK(used_of(account) == 0);
    pn_account_free(account);
    pn_account_free(NULL);
}

static void blocks_have_the_alignment_of_malloc(void)
{
    for (size_t bytes = 1; bytes < 200; bytes += 7) {
        void *block = pn_alloc(bytes, 1);

        CHECK((uintptr_t)block % _Alignof(max_align_t) == 0);
        pn_free(block);
    }
}

static void over_the_limit_nothing_is_given_and_nothing_charged(void)
{
    pn_account *account = new_account(1000);
    char *block, *most;

    (void)pn_account_enter(account);
    block = pn_alloc(500 - HEADER, 1);
    CHECK(block && used_of(account) == 500);
    block[0] = 'x';
    CHECK(pn_alloc(501 - HEADER, 1) == NULL);
    CHECK(pn_calloc(501 - HEADER, 1) == NULL);
    CHECK(pn_alloc_large(501 - HEADER, 1) == NULL);
    CHECK(pn_resize(block, 1001 - HEADER, 1) == NULL);
    CHECK(pn_alloc(SIZE_MAX / 2, 2) == NULL && pn_alloc(SIZE_MAX, 1) == NULL);
    CHECK(used_of(account) == 500 && peak_of(account) == 500 && block[0] == 'x');
    most = pn_alloc(500 - HEADER, 1);
    CHECK(most && used_of(account) == 1000);
    CHECK(pn_strdup("") == NULL);
    pn_free(most);
    block = pn_resize(block, 1000 - HEADER, 1);
    CHECK(block && block[0] == 'x' && used_of(account) == 1000 && peak_of(account) == 1000);
    pn_free(block);
    (void)pn_account_enter(NULL);
    pn_account_free(account);
    CHECK(pn_account_new(&account, (size_t)1 << 48, NULL) == PN_EINVAL);
}

/* An account that its owner gave up lives as long as its blocks: AddressSanitizer would see otherwise. */
static void blocks_may_outlive_the_handle(void)
{
    fail_alloc count = { .fail_at = 0 };
    pn_allocator counting = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &count };
    pn_account *account;
    void *first, *last;

    pn_allocator_set(&counting);
    account = new_account(0);
    (void)pn_account_enter(account);
    first = pn_alloc(1, 1);
    last = pn_alloc(1, 1);
    (void)pn_account_enter(NULL);
    pn_account_free(account);
    CHECK(count.live == 3);
    pn_free(first);
    CHECK(count.live == 2);
    pn_free(last);
    CHECK(count.live == 0);
    pn_allocator_set(NULL);
}

/* ---- threads ---- */

enum { BLOCKS = 200 };

static void allocate_block(void *self, size_t block, unsigned worker)
{
    void **blocks = self;

    (void)worker;
    blocks[block] = pn_alloc(100 - HEADER, 1);
}

static void free_block(void *self, size_t block, unsigned worker)
{
    (void)worker;
    pn_free(((void **)self)[block]);
}

static size_t given(void **blocks)
{
    size_t count = 0;

    for (size_t i = 0; i < BLOCKS; i++)
        count += blocks[i] != NULL;
    return count;
}

static void threads_of_a_task_charge_who_started_the_loop(void)
{
    pn_account *account = new_account(150 * 100);
    void *blocks[BLOCKS];
    pn_task *task;

    CHECK(pn_task_new(&task, 4, NULL) == PN_OK);
    (void)pn_account_enter(account);
    CHECK(pn_parallel(task, BLOCKS, allocate_block, blocks, NULL) == PN_OK);
    CHECK(given(blocks) == 150); /* exactly up to the limit, whoever was first */
    CHECK(used_of(account) == 15000 && peak_of(account) == 15000);
    (void)pn_account_enter(NULL);
    CHECK(pn_parallel(task, BLOCKS, free_block, blocks, NULL) == PN_OK);
    CHECK(used_of(account) == 0);
    CHECK(pn_parallel(task, BLOCKS, allocate_block, blocks, NULL) == PN_OK);
    CHECK(given(blocks) == BLOCKS && used_of(account) == 0); /* now it is nobody's loop */
    CHECK(pn_parallel(task, BLOCKS, free_block, blocks, NULL) == PN_OK);
    pn_task_free(task);
    pn_account_free(account);
}

typedef struct spender {
    pthread_t thread;
    pn_account *account;
    unsigned seed;
    size_t refused, over;
} spender;

static void *spend(void *argument)
{
    spender *self = argument;
    void *blocks[8] = { NULL };
    unsigned state = self->seed;

    (void)pn_account_enter(self->account);
    for (int i = 0; i < 20000; i++) {
        size_t slot = (state = state * 1664525u + 1013904223u) >> 29;

        pn_free(blocks[slot]);
        blocks[slot] = pn_alloc(1 + (state >> 8) % 400, 1);
        self->refused += blocks[slot] == NULL;
        self->over += used_of(self->account) > 1500;
    }
    for (size_t i = 0; i < 8; i++)
        pn_free(blocks[i]);
    return NULL;
}

static void many_threads_never_pass_the_limit_together(void)
{
    pn_account *account = new_account(1500);
    spender all[4];
    size_t refused = 0;

    for (unsigned i = 0; i < 4; i++) {
        all[i] = (spender){ .account = account, .seed = i + 1 };
        CHECK(pthread_create(&all[i].thread, NULL, spend, &all[i]) == 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK(pthread_join(all[i].thread, NULL) == 0);
        CHECK(all[i].over == 0);
        refused += all[i].refused;
    }
    CHECK(refused > 0); /* eight slots of 216 bytes on average are more than there are */
    CHECK(used_of(account) == 0 && peak_of(account) <= 1500 && peak_of(account) > 1000);
    pn_account_free(account);
}

/* ---- for other allocators ---- */

static void blocks_of_known_size_carry_no_header(void)
{
    pn_account *account = new_account(1000);
    char *block = pn_account_resize(account, NULL, 5, 400); /* a tag in place of the size, as Lua has it */

    CHECK(block && used_of(account) == 400);
    memset(block, 'x', 400);
    CHECK(pn_account_resize(account, block, 400, 1001) == NULL && used_of(account) == 400);
    block = pn_account_resize(account, block, 400, 1000);
    CHECK(block && block[399] == 'x' && used_of(account) == 1000);
    block = pn_account_resize(account, block, 1000, 10);
    CHECK(block && block[9] == 'x' && used_of(account) == 10 && peak_of(account) == 1000);
    CHECK(pn_account_resize(account, block, 10, 0) == NULL && used_of(account) == 0);
    CHECK(pn_account_resize(account, NULL, 0, 0) == NULL);
    pn_account_free(account);
}

static void *no_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    (void)block;
    (void)bytes;
    return NULL;
}

static void making_a_block_smaller_never_fails(void)
{
    fail_alloc count = { .fail_at = 0 };
    pn_allocator stubborn = { fail_alloc_allocate, no_resize, fail_alloc_release, &count };
    pn_account *account = new_account(0);
    void *block, *same;

    pn_allocator_set(&stubborn);
    block = pn_account_resize(account, NULL, 0, 100);
    CHECK(pn_account_resize(account, block, 100, 200) == NULL && used_of(account) == 100);
    same = pn_account_resize(account, block, 100, 50);
    CHECK(same == block && used_of(account) == 50);
    (void)pn_account_resize(account, block, 50, 0);
    CHECK(used_of(account) == 0 && count.live == 0);
    pn_allocator_set(NULL);
    pn_account_free(account);
}

static void pressure_grows_with_what_is_used(void)
{
    pn_account *account = new_account((size_t)16 << 20);
    void *block;

    CHECK(!pn_account_pressed(NULL) && !pn_account_pressed(account));
    (void)pn_account_enter(account);
    block = pn_alloc((size_t)9 << 20, 1);
    (void)pn_account_enter(NULL);
    CHECK(pn_account_pressed(account));
    pn_account_rest(account);
    CHECK(!pn_account_pressed(account));
    pn_free(block);
    pn_account_rest(account);
    CHECK(!pn_account_pressed(account));
    (void)pn_account_enter(account);
    CHECK(pn_alloc((size_t)17 << 20, 1) == NULL);
    (void)pn_account_enter(NULL);
    CHECK(pn_account_pressed(account));
    pn_account_rest(account);
    CHECK(!pn_account_pressed(account));
    pn_account_free(account);
}

static pn_status make_one(void *self, pn_err *err)
{
    pn_account *account = NULL;
    pn_status status = pn_account_new(&account, 0, err);

    (void)self;
    pn_account_free(account);
    return status;
}

int main(void)
{
    what_is_allocated_inside_is_charged();
    blocks_have_the_alignment_of_malloc();
    over_the_limit_nothing_is_given_and_nothing_charged();
    blocks_may_outlive_the_handle();
    threads_of_a_task_charge_who_started_the_loop();
    many_threads_never_pass_the_limit_together();
    blocks_of_known_size_carry_no_header();
    making_a_block_smaller_never_fails();
    pressure_grows_with_what_is_used();
    CHECK(fail_alloc_sweep("account", make_one, NULL) == 1);
    return check_summary();
}
