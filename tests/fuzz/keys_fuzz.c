/* keys_fuzz.c -- key files: of alignments, and of federated connections, secret and public.  The first byte says which.
 * Depends on: fuzz.h, data/alignment.h, penumbra/federated.h. */
#include <string.h>

#include "data/alignment.h"
#include "fuzz/fuzz.h"
#include "penumbra/federated.h"

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    unsigned char key[PN_ALIGNMENT_KEY];
    char text[PN_CURVE_TEXT];
    pn_curve_keys keys;
    pn_err err = { 0 };
    const char *path;
    pn_status status;

    if (size == 0)
        return 0;
    path = fuzz_file("key", data + 1, size - 1);
    if (*data % 3 == 0)
        status = pn_alignment_key(path, false, key, &err);
    else if (*data % 3 == 1)
        status = pn_curve_read(path, &keys, &err);
    else
        status = pn_curve_public(path, text, &err);
    FUZZ_HOLDS(status == PN_OK || err.message[0] != '\0');
    FUZZ_HOLDS(status != PN_OK || *data % 3 != 1 || strlen(keys.secret_key) == PN_CURVE_TEXT - 1);
    FUZZ_HOLDS(status != PN_OK || *data % 3 != 2 || strlen(text) == PN_CURVE_TEXT - 1);
    return 0;
}
