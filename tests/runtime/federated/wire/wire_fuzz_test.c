/* wire_fuzz_test.c -- 200,000 inputs that are cut, changed, spliced or drawn at random never make the reader crash,
 * take more memory than a small multiple of their length, or believe a message that the writer would refuse.
 * Deterministic: the same inputs in every run. */
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "runtime/federated/wire/wire_kit.h"

#define INPUTS   200000
#define LONGEST  4096
#define FACTOR   8     /* decoded once with at most four bytes for one, copied once */
#define OVERHEAD 20480 /* structs and the decoder's notes */

/* ---- memory that is counted ---- */

static size_t taken;

static void *count_allocate(void *self, size_t bytes)
{
    (void)self;
    taken += bytes;
    return malloc(bytes);
}

static void *count_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    taken += bytes;
    return realloc(block, bytes);
}

static void count_release(void *self, void *block)
{
    (void)self;
    free(block);
}

/* ---- inputs ---- */

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % below);
}

typedef struct sample {
    unsigned char *bytes;
    size_t size;
} sample;

static sample samples[PN_MESSAGE_REFUSED + 1];

static void make_samples(void)
{
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++) {
        pn_message m = { 0 };

        CHECK(kit_message(&m, (pn_message_kind)kind) == PN_OK);
        CHECK(pn_wire_write(&m, &samples[kind].bytes, &samples[kind].size, NULL) == PN_OK);
        pn_message_clear(&m);
    }
}

static const sample *any_sample(void)
{
    return &samples[PN_MESSAGE_HELLO + (int)draw(PN_MESSAGE_REFUSED)];
}

static size_t take_sample(unsigned char *out)
{
    const sample *s = any_sample();

    memcpy(out, s->bytes, s->size);
    return s->size;
}

static void change_bytes(unsigned char *out, size_t size)
{
    static const unsigned char odd[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a };

    for (uint32_t n = 1 + draw(4); n > 0 && size > 0; n--) {
        size_t at = draw((uint32_t)size);

        if (draw(2))
            out[at] ^= (unsigned char)(1u << draw(8));
        else
            out[at] = odd[draw(sizeof odd)];
    }
}

/* Copy a piece of a message into the middle of another, or of itself. */
static size_t splice(unsigned char *out, size_t size)
{
    const sample *from = any_sample();
    size_t first = draw((uint32_t)from->size), length = draw((uint32_t)(from->size - first) + 1);
    size_t at = draw((uint32_t)size + 1);

    memmove(out + at + length, out + at, size - at);
    memcpy(out + at, from->bytes + first, length);
    return size + length;
}

/* Very many short fields, which a decoder notes one by one. */
static size_t crowd(unsigned char *out)
{
    size_t size = 2 + draw(LONGEST - 2), period = 1 + draw(3);
    unsigned char field[3] = { (unsigned char)(8 * (1 + draw(16)) + draw(6)), (unsigned char)draw(4),
                               (unsigned char)draw(256) };

    out[0] = 0x08;
    out[1] = 0x01;
    for (size_t i = 2; i < size; i++)
        out[i] = field[(i - 2) % period];
    return size;
}

static size_t make_input(unsigned char out[2 * LONGEST])
{
    size_t size;

    switch (draw(8)) {
    case 0: /* at random, behind a version */
        size = 2 + draw(200);
        for (size_t i = 0; i < size; i++)
            out[i] = (unsigned char)draw(256);
        out[0] = 0x08;
        out[1] = (unsigned char)(draw(8) ? PN_WIRE_VERSION : draw(256));
        return size;
    case 1:
        return crowd(out);
    case 2:
        return draw((uint32_t)take_sample(out) + 1); /* cut */
    case 3:
        size = splice(out, take_sample(out));
        return size;
    case 4:
        size = splice(out, take_sample(out));
        change_bytes(out, size);
        return size;
    default:
        size = take_sample(out);
        change_bytes(out, size);
        return size;
    }
}

/* ---- what must hold ---- */

static void no_input_is_believed_that_would_not_be_written(void)
{
    static const pn_allocator counting = { count_allocate, count_resize, count_release, NULL };
    long believed = 0, over = 0, unwritable = 0, changed = 0, quiet = 0, left = 0;

    pn_allocator_set(&counting);
    for (long i = 0; i < INPUTS; i++) {
        unsigned char input[2 * LONGEST], *again;
        size_t size = make_input(input), size_again;
        pn_message m = { 0 };
        pn_err err = { .message = "" };
        pn_status status;

        taken = 0;
        status = pn_wire_read(&m, input, size, NULL, &err);
        over += taken > FACTOR * size + OVERHEAD;
        if (status != PN_OK) {
            quiet += strncmp(err.message, "wire: ", 6) != 0 || (status != PN_EPARSE && status != PN_EUNSUPPORTED);
            left += m.kind != PN_MESSAGE_NONE || m.index || m.value || m.vector;
        } else {
            believed++;
            if (pn_wire_write(&m, &again, &size_again, NULL) == PN_OK) {
                changed += size_again != size;
                pn_free(again);
            } else {
                unwritable++;
            }
        }
        pn_message_clear(&m);
    }
    pn_allocator_set(NULL);
    CHECK(over == 0);
    CHECK(quiet == 0);
    CHECK(left == 0);
    CHECK(unwritable == 0);
    CHECK(changed == 0);
    CHECK(believed > INPUTS / 100 && believed < INPUTS / 2); /* both sides of the border were tried */
}

/* An input that unfolds into far more than it is: refused for that, before the memory is taken. */
static void fields_without_end_are_refused_within_the_memory_of_a_message(void)
{
    static const pn_allocator counting = { count_allocate, count_resize, count_release, NULL };
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
    pn_allocator_set(&counting);
    taken = 0;
    CHECK(pn_wire_read(&m, input, size, NULL, &err) == PN_EPARSE);
    CHECK(strstr(err.message, "unfold into more than a message does") != NULL);
    CHECK(taken <= FACTOR * size + OVERHEAD);
    pn_allocator_set(NULL);
    free(input);
}

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
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++)
        CHECK(fail_alloc_sweep(pn_message_names[kind], read_and_write, &samples[kind]) > 2);
}

int main(void)
{
    make_samples();
    no_input_is_believed_that_would_not_be_written();
    fields_without_end_are_refused_within_the_memory_of_a_message();
    every_allocation_may_fail();
    for (int kind = PN_MESSAGE_HELLO; kind <= PN_MESSAGE_REFUSED; kind++)
        pn_free(samples[kind].bytes);
    return check_summary();
}
