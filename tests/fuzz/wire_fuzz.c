/* wire_fuzz.c -- messages of federated runs.  What is believed the writer writes again, in as many bytes, and reads the
 * same; what is not is refused with a reason and leaves nothing.  Either takes no more memory than a small multiple of
 * the message.
 * Depends on: fuzz.h, federated/wire/wire.h, wire_kit.h, wire_memory.h. */
#include "fuzz/fuzz.h"
#include "runtime/federated/wire/wire_kit.h"
#include "runtime/federated/wire/wire_memory.h"

static pn_status read_counted(pn_message *message, const uint8_t *data, size_t size, pn_err *err)
{
    pn_status status;

    wire_count_memory();
    status = pn_wire_read(message, data, size, NULL, err);
    FUZZ_HOLDS(wire_memory_is_small(size));
    pn_allocator_set(NULL);
    return status;
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    pn_message message = { 0 }, same = { 0 };
    unsigned char *bytes = NULL;
    size_t written = 0;
    pn_err err = { 0 };
    pn_status status = read_counted(&message, data, size, &err);

    if (status != PN_OK) {
        FUZZ_HOLDS(status == PN_EPARSE || status == PN_EUNSUPPORTED);
        FUZZ_HOLDS(strncmp(err.message, "wire: ", 6) == 0 && message.kind == PN_MESSAGE_NONE);
        FUZZ_HOLDS(!message.index && !message.value && !message.vector && !message.pick && !message.terms.block);
        return 0;
    }
    FUZZ_HOLDS(pn_wire_write(&message, &bytes, &written, NULL) == PN_OK && written == size);
    FUZZ_HOLDS(pn_wire_read(&same, bytes, written, NULL, NULL) == PN_OK && kit_same(&same, &message));
    pn_free(bytes);
    pn_message_clear(&same);
    pn_message_clear(&message);
    return 0;
}
