/* alloc_test.c -- the allocator: sizes that overflow, replacing it, and core's own objects when it refuses.
 * Depends on: check.h, fail_alloc.h. */
#include <stdint.h>

#include "core/task.h"

#include "fail_alloc.h"

static void sizes_that_overflow_are_refused(void)
{
    void *block = pn_alloc(4, 8);
    volatile size_t huge = SIZE_MAX / 2;

    CHECK(pn_alloc(huge, 4) == NULL);
    CHECK(pn_calloc(huge, 4) == NULL);
    CHECK(block && pn_resize(block, huge, 4) == NULL); /* and the old block still stands */
    pn_free(block);
    pn_free(NULL);
}

static void nothing_asked_for_is_still_a_block(void)
{
    void *none = pn_alloc(0, 8), *zeros = pn_calloc(8, 0);

    CHECK(none != NULL);
    CHECK(zeros != NULL);
    pn_free(none);
    pn_free(zeros);
}

static pn_status use_every_function(void *self, pn_err *err)
{
    pn_status status = PN_ENOMEM;
    unsigned char *bytes = pn_calloc(100, 1), *longer = NULL;
    char *copy = pn_strdup("penumbra");
    bool zero = true;

    (void)self;
    if (!bytes || !copy)
        goto done;
    for (size_t i = 0; i < 100; i++)
        zero = zero && bytes[i] == 0;
    CHECK(zero);
    CHECK(strcmp(copy, "penumbra") == 0);
    CHECK(pn_strdup(NULL) == NULL);
    bytes[99] = 7;
    longer = pn_resize(bytes, 1000, 1);
    if (!longer)
        goto done;
    bytes = longer;
    CHECK(bytes[99] == 7);
    status = PN_OK;
done:
    pn_free(copy);
    pn_free(bytes);
    return status == PN_OK ? PN_OK : pn_fail(err, status, "out of memory");
}

static void add_one(void *self, size_t block, unsigned worker)
{
    (void)worker;
    ((int *)self)[block]++;
}

static pn_status make_a_task(void *self, pn_err *err)
{
    int seen[16] = { 0 };
    pn_task *task;
    pn_status status = pn_task_new(&task, 3, err);

    (void)self;
    if (status != PN_OK)
        return status;
    status = pn_parallel(task, 16, add_one, seen, err);
    pn_task_free(task);
    return status;
}

int main(void)
{
    sizes_that_overflow_are_refused();
    nothing_asked_for_is_still_a_block();
    CHECK(fail_alloc_sweep("alloc", use_every_function, NULL) == 3);
    CHECK(fail_alloc_sweep("task", make_a_task, NULL) == 2);
    return check_summary();
}
