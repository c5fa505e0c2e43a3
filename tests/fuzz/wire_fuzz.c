/* wire_fuzz.c -- messages of federated runs.  What is believed is what the writer would write: the same bytes.
 * Depends on: fuzz.h, federated/wire/wire.h. */
#include <string.h>

#include "core/alloc.h"
#include "federated/wire/wire.h"
#include "fuzz/fuzz.h"

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    pn_message message = { 0 }, same = { 0 };
    unsigned char *bytes = NULL;
    size_t written = 0;
    pn_err err = { 0 };
    pn_status status = pn_wire_read(&message, data, size, NULL, &err);

    if (status != PN_OK) {
        FUZZ_HOLDS(strncmp(err.message, "wire: ", 6) == 0 && message.kind == PN_MESSAGE_NONE);
        FUZZ_HOLDS(!message.index && !message.value && !message.vector);
        return 0;
    }
    FUZZ_HOLDS(pn_wire_write(&message, &bytes, &written, NULL) == PN_OK && written == size);
    FUZZ_HOLDS(pn_wire_read(&same, bytes, written, NULL, NULL) == PN_OK && same.kind == message.kind);
    pn_free(bytes);
    pn_message_clear(&same);
    pn_message_clear(&message);
    return 0;
}
