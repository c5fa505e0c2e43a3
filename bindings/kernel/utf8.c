/* utf8.c -- see utf8.h.  Source: RFC 3629, section 4. */
#include <string.h>

#include "bindings/kernel/utf8.h"

/* Bytes of the character that begins with `lead`, 0 where none does, and the range of its second byte. */
static size_t length_of(unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (lead < 0x80)
        return 1;
    return lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* How many bytes at text agree with one character, and *wanted how many it has; 0 of 0 where none begins. */
static size_t agrees(const char *text, size_t size, size_t *wanted)
{
    unsigned char low, high;
    size_t got = 1;

    *wanted = length_of((unsigned char)text[0], &low, &high);
    if (*wanted == 0)
        return 0;
    for (; got < *wanted && got < size; got++, low = 0x80, high = 0xBF) {
        unsigned char byte = (unsigned char)text[got];

        if (byte < low || byte > high)
            break;
    }
    return got;
}

size_t pnl_utf8_whole(const char *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        size_t wanted, got = agrees(text + size - back, back, &wanted);

        if (got == back && got < wanted)
            return size - back;
    }
    return size;
}

size_t pnl_utf8_clean(const char *text, size_t size, char *out)
{
    size_t used = 0;

    for (size_t at = 0; at < size;) {
        size_t wanted, got = agrees(text + at, size - at, &wanted);

        if (wanted > 0 && got == wanted) {
            memcpy(out + used, text + at, got);
            used += got;
            at += got;
        } else {
            memcpy(out + used, "\xEF\xBF\xBD", 3);
            used += 3;
            at++;
        }
    }
    return used;
}
