/* holdout.c -- one record of each block is held out, at a hashed place.  Depends on: holdout.h.
 * Used by: bindings/data. */
#include "data/holdout.h"

#include <stdint.h>

static uint64_t mix(uint64_t block)
{
    uint64_t z = (block + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t pn_holdout(size_t *rows, size_t n, size_t every)
{
    size_t held = n / every, kept = 0;

    for (size_t block = 0; block < held; block++) {
        size_t first = block * every, place = (size_t)(mix(block) % every);

        for (size_t i = 0; i < every; i++)
            if (i != place)
                rows[kept++] = first + i;
        rows[n - held + block] = first + place;
    }
    for (size_t i = held * every; i < n; i++)
        rows[kept++] = i;
    return held;
}
