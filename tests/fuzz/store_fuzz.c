/* store_fuzz.c -- data sets that stay on disk.  An input is a file in short: how it is sealed, the header without the
 * rest of its pages, the arrays without their check sums.  Sums are made anew, so that what lies behind them is read,
 * except where the first byte says that one of them stays wrong.
 * Depends on: fuzz.h, records.h, data/files/stored.h. */
#include <stddef.h>

#include "core/alloc.h"
#include "data/files/stored.h"
#include "fuzz/records.h"

enum { UNSEALED_HEADER = 1, UNSEALED_SUMS = 2, UNSEALED_BLOCK = 4, SHORT = 8 };

/* Check sums of the arrays that the header announces, as far as the bytes are there; their number. */
static size_t add_sums(pn_content *sums, size_t room, const uint8_t *file, size_t size, const pn_layout *layout)
{
    size_t count = 0;

    for (int i = 0; i < PN_ARRAYS; i++) {
        for (size_t at = 0; at < layout->bytes[i] && count < room; at += PN_STORED_BLOCK) {
            size_t left = layout->bytes[i] - at, place = layout->offset[i] + at;

            left = left < PN_STORED_BLOCK ? left : PN_STORED_BLOCK;
            if (place > size || left > size - place)
                return count;
            FUZZ_HOLDS(pn_stored_sum(&sums[count++], file + place, left, NULL) == PN_OK);
        }
    }
    return count;
}

static size_t seal(uint8_t *file, size_t size, pn_stored_header *header, uint8_t how)
{
    enum { ROOM = 16 };
    pn_content sums[ROOM];
    pn_layout layout;
    size_t count;

    if (!(how & SHORT))
        header->bytes = sizeof *header;
    if (pn_layout_find(&layout, &header->sizes) && layout.end <= size) {
        count = add_sums(sums, ROOM, file, size, &layout);
        if (!(how & UNSEALED_SUMS))
            FUZZ_HOLDS(pn_stored_sum(&header->checks, sums, count * sizeof *sums, NULL) == PN_OK);
        if (how & UNSEALED_BLOCK)
            file[PN_LAYOUT_FIRST] ^= 1;
        memcpy(file + layout.end, sums, count * sizeof *sums);
        size = layout.end + count * sizeof *sums;
    }
    if (!(how & UNSEALED_HEADER))
        FUZZ_HOLDS(pn_stored_header_sum(&header->self, header, NULL) == PN_OK);
    memcpy(file, header, sizeof *header);
    return size;
}

static void open_file(const uint8_t *file, size_t size)
{
    pn_dataset *records = NULL, *again = NULL;
    pn_err err = { 0 };
    pn_status status = pn_dataset_open(&records, fuzz_file("records.pnd", file, size), NULL, &err);

    fuzz_records(records, status, &err);
    if (status == PN_OK) { /* it is written as it was read */
        FUZZ_HOLDS(pn_dataset_store(records, fuzz_path("again.pnd"), NULL, &err) == PN_OK);
        FUZZ_HOLDS(pn_dataset_open(&again, fuzz_path("again.pnd"), NULL, &err) == PN_OK);
        FUZZ_HOLDS(again->n == records->n && again->p == records->p);
    }
    pn_dataset_free(again);
    pn_dataset_free(records);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    const size_t spare = 16 * sizeof(pn_content);
    pn_stored_header header;
    size_t arrays;
    uint8_t *file;

    if (size < 1 + sizeof header)
        return 0;
    memcpy(&header, data + 1, sizeof header);
    arrays = size - 1 - sizeof header;
    file = calloc(PN_LAYOUT_FIRST + arrays + spare, 1);
    FUZZ_HOLDS(file != NULL);
    if (arrays > 0)
        memcpy(file + PN_LAYOUT_FIRST, data + 1 + sizeof header, arrays);
    size = seal(file, PN_LAYOUT_FIRST + arrays, &header, *data);
    open_file(file, size);
    free(file);
    return 0;
}
