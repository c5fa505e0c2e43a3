/* text.c -- widths and line breaks of text for people.  Depends on: text.h.  Used by: plans, bindings, readers. */
#include "core/text.h"

#include <stdint.h>
#include <string.h>

static int continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

size_t pn_text_columns(const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++)
        columns += !continues(text[i]);
    return columns;
}

/* The byte at which character number `columns` begins. */
static size_t byte_of(const char *text, size_t length, size_t columns)
{
    size_t at = 0;

    for (size_t seen = 0; at < length; at++) {
        if (!continues(text[at]) && seen++ == columns)
            break;
    }
    return at;
}

size_t pn_text_line(const char *text, size_t length, size_t columns, size_t *skip)
{
    size_t end, cut;

    *skip = 0;
    if (columns < 1)
        columns = 1;
    end = byte_of(text, length, columns);
    if (end == length)
        return length;
    for (cut = end; cut > 0 && text[cut] != ' '; cut--)
        continue;
    if (cut == 0)
        return end;
    *skip = 1;
    return cut;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t pn_text_printable(const char *bytes, size_t size)
{
    const unsigned char *text = (const unsigned char *)bytes;
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = text[0] < 0x80             ? 1
                    : (text[0] & 0xe0) == 0xc0 ? 2
                    : (text[0] & 0xf0) == 0xe0 ? 3
                    : (text[0] & 0xf8) == 0xf0 ? 4
                                               : 0;
    uint32_t c;

    if (length == 0 || length > size)
        return 0;
    c = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (text[i] & 0x3fu);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || is_control(c))
        return 0;
    return length;
}

/* The Unicode Standard, table 3-7. */
bool pn_text_is_utf8(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;

    while (at < end) {
        size_t bytes = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : *at < 0xf5 ? 4 : 0;

        if (bytes == 0 || bytes > (size_t)(end - at))
            return false;
        for (size_t i = 1; i < bytes; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return false;
        }
        if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
            (*at == 0xf4 && at[1] > 0x8f))
            return false;
        at += bytes;
    }
    return true;
}

const char *pn_text_cell(char *out, const char *text, size_t columns, bool right)
{
    static const char dots[] = "...";
    size_t used = 0, shown = 0, kept = 0; /* kept: bytes of the first columns - 3 characters */

    while (*text && shown <= columns) {
        size_t length = pn_text_printable(text, 4); /* a NUL ends what it reads */

        if (shown == columns - 3)
            kept = used;
        if (shown < columns) {
            memcpy(out + used, length ? text : " ", length ? length : 1);
            used += length ? length : 1;
        }
        text += length ? length : 1;
        shown++;
    }
    if (shown > columns) {
        memcpy(out + kept, dots, 3);
        used = kept + 3;
        shown = columns;
    }
    if (right) {
        memmove(out + columns - shown, out, used);
        memset(out, ' ', columns - shown);
    } else {
        memset(out + used, ' ', columns - shown);
    }
    out[used + columns - shown] = '\0';
    return out;
}
