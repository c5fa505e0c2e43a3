/* wire_memory_test.c -- what reading a message takes of memory: little even of bytes that would unfold into much, and
 * where there is none, it says so and leaves nothing.  Other bytes: tests/fuzz/wire_fuzz.c.
 * Depends on: check.h, fail_alloc.h, wire_kit.h, wire_memory.h. */
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "runtime/federated/wire/wire_kit.h"
#include "runtime/federated/wire/wire_memory.h"

/* An input that unfolds into far more than it is: refused for that, before the memory is taken. */
static void fields_without_end_are_refused_within_the_memory_of_a_message(void)
{
    size_t size = (size_t)1 << 22;
    unsigned char *input = malloc(size);
    pn_message m = { 0 };
    pn_err err = { .message = "" };

    if (!CHECK(input != NULL))
        return;
    for (size_t i = 0; i < size; i += 2) {
        input[i] = 0x08; /* the version, two million times */
        input[i + 1] = PN_WIRE_VERSION;
    }
    wire_count_memory();
    CHECK(pn_wire_read(&m, input, size, NULL, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "unfold into more than a message does") != NULL);
    CHECK(wire_memory_is_small(size));
    pn_allocator_set(NULL);
    free(input);
}

typedef struct sample {
    unsigned char *bytes;
    size_t size;
} sample;

static pn_status read_and_write(void *self, pn_err *err)
{
    const sample *s = self;
    pn_message m = { 0 };
    unsigned char *bytes;
    size_t size;
    pn_status status = pn_wire_read(&m, s->bytes, s->size, NULL, err);

    if (status == PN_OK)
        status = pn_wire_write(&m, &bytes, &size, err);
    if (status == PN_OK)
        pn_free(bytes);
    pn_message_clear(&m);
    return status;
}

static void every_allocation_may_fail(void)
{
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++) {
        pn_message m = { 0 };
        sample s = { 0 };

        CHECK(kit_message(&m, (pn_message_kind)kind) == PN_OK);
        CHECK(pn_wire_write(&m, &s.bytes, &s.size, NULL) == PN_OK);
        CHECK(fail_alloc_sweep(pn_message_names[kind], read_and_write, &s) > 2);
        pn_free(s.bytes);
        pn_message_clear(&m);
    }
}

int main(void)
{
    fields_without_end_are_refused_within_the_memory_of_a_message();
    every_allocation_may_fail();
    return check_summary();
}
