/* ledger_text.c -- a text that grows, quoted texts, and sizes in texts.  Depends on: ledger_text.h, core/.
 * Used by: event_text.c, event_read.c, ledger_record.c. */
#define _POSIX_C_SOURCE 200809L

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "privacy/text/ledger_text.h"

static bool make_room(pn_text *text, size_t more)
{
    size_t room = text->room ? text->room : 128;
    char *data;

    if (text->failed || text->room - text->used > more)
        return !text->failed;
    while (room - text->used <= more)
        room *= 2;
    data = pn_resize(text->data, room, 1);
    text->failed = !data;
    if (data) {
        text->data = data;
        text->room = room;
    }
    return data != NULL;
}

void pn_text_add(pn_text *text, const char *format, ...)
{
    va_list args, again;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        text->failed = true;
    else if (make_room(text, (size_t)length))
        text->used += (size_t)vsnprintf(text->data + text->used, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
}

void pn_text_quote(pn_text *text, const char *plain)
{
    pn_text_add(text, "\"");
    for (; *plain; plain++) {
        unsigned char c = (unsigned char)*plain;

        if (c == '"' || c == '\\')
            pn_text_add(text, "\\%c", c);
        else if (c == '\n')
            pn_text_add(text, "\\n");
        else if (c < 32 || c == 127)
            pn_text_add(text, "\\x%02x", c);
        else
            pn_text_add(text, "%c", c);
    }
    pn_text_add(text, "\"");
}

void pn_text_clear(pn_text *text)
{
    pn_free(text->data);
    *text = (pn_text){ 0 };
}

pn_status pn_text_malformed(pn_err *err, const char *what, const char *where)
{
    return pn_fail(err, PN_EPARSE, "expected %s at \"%.40s\"", what, where);
}

pn_status pn_text_size(size_t *out, const char **cursor, pn_err *err)
{
    char *end;
    unsigned long long value = strtoull(*cursor, &end, 10);

    if (**cursor < '0' || **cursor > '9' || value > PN_SIZE_MAX) /* no sign and no space, which strtoull would skip */
        return pn_text_malformed(err, "a whole number up to 2^48", *cursor);
    *cursor = end;
    *out = (size_t)value;
    return PN_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One character of a quoted text; -1 for one that pn_text_quote does not make. */
static int unquote_one(const char **cursor)
{
    const char *at = *cursor;
    int high, low;

    if (*at != '\\') {
        *cursor = at + 1;
        return (unsigned char)*at;
    }
    *cursor = at + 2;
    if (at[1] == '"' || at[1] == '\\')
        return at[1];
    if (at[1] == 'n')
        return '\n';
    if (at[1] != 'x' || (high = hex_digit(at[2])) < 0 || (low = hex_digit(at[3])) < 0)
        return -1;
    *cursor = at + 4;
    return 16 * high + low;
}

pn_status pn_text_unquote(char **out, const char **cursor, pn_err *err)
{
    const char *at = *cursor;
    size_t used = 0;

    *out = NULL;
    if (*at != '"')
        return pn_text_malformed(err, "a quoted text", at);
    PN_TRY(pn_new(out, strlen(at) + 1, err, "out of memory for a text"));
    for (at++; *at && *at != '"';) {
        int c = unquote_one(&at);

        if (c < 0)
            break;
        (*out)[used++] = (char)c;
    }
    (*out)[used] = '\0';
    if (*at != '"') {
        pn_free(*out);
        *out = NULL;
        return pn_text_malformed(err, "the end of a quoted text", *cursor);
    }
    *cursor = at + 1;
    return PN_OK;
}

/* ---- numbers ---- */

pn_status pn_plain_begin(pn_plain_numbers *self, pn_err *err)
{
    *self = (pn_plain_numbers){ newlocale(LC_ALL_MASK, "C", (locale_t)0), NULL };
    if (!self->plain)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for a locale");
    self->before = uselocale((locale_t)self->plain);
    return PN_OK;
}

void pn_plain_end(pn_plain_numbers *self)
{
    (void)uselocale((locale_t)self->before);
    freelocale((locale_t)self->plain);
}
