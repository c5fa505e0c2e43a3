/* npy_fuzz.c -- NumPy files.  What is read is written and read again to the same bits.
 * Depends on: fuzz.h, numeric/npy.h. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "fuzz/fuzz.h"
#include "numeric/npy.h"

static void write_and_read(const pn_npy *array, size_t entries)
{
    const char *path = fuzz_path("again.npy");
    pn_npy again;

    FUZZ_HOLDS(pn_npy_save(path, array->data, array->dims, array->shape, NULL) == PN_OK);
    FUZZ_HOLDS(pn_npy_load(&again, path, NULL, NULL) == PN_OK);
    FUZZ_HOLDS(again.dims == array->dims && again.shape[0] == array->shape[0] && again.shape[1] == array->shape[1]);
    FUZZ_HOLDS(entries == 0 || memcmp(again.data, array->data, entries * sizeof *array->data) == 0);
    pn_free(again.data);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    pn_npy array;
    pn_err err = { 0 };
    size_t entries;

    if (pn_npy_load(&array, fuzz_file("array.npy", data, size), NULL, &err) != PN_OK) {
        FUZZ_HOLDS(err.message[0] != '\0');
        return 0;
    }
    FUZZ_HOLDS((array.dims == 1 && array.shape[1] == 1) || array.dims == 2);
    FUZZ_HOLDS(array.first == 0 && array.rows == array.shape[0]);
    entries = array.shape[0] * array.shape[1];
    for (size_t i = 0; i < entries; i++)
        FUZZ_HOLDS(isfinite(array.data[i]));
    write_and_read(&array, entries);
    pn_free(array.data);
    return 0;
}
