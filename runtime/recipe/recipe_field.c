/* recipe_field.c -- fields of CSV text: RFC 4180, with blanks around fields, and Windows-1252 made UTF-8.
 * Depends on: recipe_field.h, core.  Used by: recipe_file.c. */
#include <string.h>

#include "core/alloc.h"
#include "recipe/recipe_field.h"

/* After the closing quote; `at` is behind the opening one.  NULL when there is none before `end`. */
static const char *quote_end(const char *at, const char *end)
{
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        if (at + 1 < end && at[1] == '"')
            at += 2; /* a doubled quote stands for one */
        else
            return at + 1;
    }
    return NULL;
}

static const char *plain_end(const char *at, char separator)
{
    while (*at != separator && !pn_csv_is_end(at))
        at++;
    return at;
}

const char *pn_field_record_end(const char *line, const char *end, char separator)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));

    if (!newline || !memchr(line, '"', (size_t)(newline - line)))
        return newline;
    for (;;) {
        line = pn_csv_skip_blanks(line, separator);
        if (*line == '"')
            line = quote_end(line + 1, end);
        if (!line)
            return NULL;
        line = plain_end(line, separator);
        if (*line != separator)
            return line + (*line == '\r');
        line++;
    }
}

/* In a whole record every quote is closed, long before this. */
static const char *closing_quote(const char *start)
{
    return quote_end(start + 1, start + PN_TEXT_RECORD);
}

const char *pn_field_end(const char *at, char separator)
{
    at = pn_csv_skip_blanks(at, separator);
    if (*at == '"')
        at = closing_quote(at);
    return plain_end(at, separator);
}

void pn_field_clear(pn_field_reader *reader)
{
    pn_free(reader->plain.bytes);
    pn_free(reader->utf8.bytes);
    memset(reader, 0, sizeof *reader);
}

static pn_status make_room(pn_field_text *text, size_t bytes, pn_err *err)
{
    char *larger;

    if (text->room >= bytes)
        return PN_OK;
    larger = pn_resize(text->bytes, 2 * bytes, 1);
    PN_TRY(pn_made(larger, err, "out of memory for a text"));
    text->bytes = larger;
    text->room = 2 * bytes;
    return PN_OK;
}

/* "start[..stop)": between the quotes, with doubled ones among it. */
static pn_status unquote(pn_field_reader *reader, pn_recipe_value *value, pn_err *err)
{
    const char *from = value->text, *end = from + value->length;
    size_t length = 0;

    if (!memchr(from, '"', value->length))
        return PN_OK;
    PN_TRY(make_room(&reader->plain, value->length + 1, err));
    for (; from < end; from++) {
        reader->plain.bytes[length++] = *from;
        from += *from == '"';
    }
    reader->plain.bytes[length] = '\n'; /* no part of a number */
    value->text = reader->plain.bytes;
    value->length = length;
    return PN_OK;
}

/* ---- Windows-1252 ---- */

static size_t put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3F));
    out[2] = (char)(0x80 | (code & 0x3F));
    return 3;
}

/* Code points of 0x80 to 0x9F; the five that stand for nothing are control characters, as browsers read them. */
static const unsigned short windows[32] = { 0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                            0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                            0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                            0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178 };

static pn_status decode(pn_field_reader *reader, pn_recipe_value *value, pn_err *err)
{
    size_t ascii = 0, length = 0;

    while (ascii < value->length && (unsigned char)value->text[ascii] < 0x80)
        ascii++;
    if (ascii == value->length)
        return PN_OK;
    PN_TRY(make_room(&reader->utf8, 3 * value->length + 1, err));
    for (size_t k = 0; k < value->length; k++) {
        unsigned byte = (unsigned char)value->text[k];

        length += put_utf8(reader->utf8.bytes + length, byte >= 0x80 && byte < 0xA0 ? windows[byte - 0x80] : byte);
    }
    reader->utf8.bytes[length] = '\n';
    value->text = reader->utf8.bytes;
    value->length = length;
    return PN_OK;
}

/* ---- fields ---- */

pn_status pn_field_read(pn_field_reader *reader, const char *at, pn_recipe_value *value, const char **after,
                        pn_err *err)
{
    const char *start = pn_csv_skip_blanks(at, reader->separator), *stop;

    *value = (pn_recipe_value){ .text = start };
    if (*start == '"') {
        stop = closing_quote(start);
        value->text = start + 1;
        value->length = (size_t)(stop - 1 - value->text);
        *after = pn_csv_skip_blanks(stop, reader->separator);
        if (**after != reader->separator && !pn_csv_is_end(*after))
            return pn_fail(err, PN_EPARSE, "expected the separator after a quoted text");
        PN_TRY(unquote(reader, value, err));
    } else {
        *after = stop = plain_end(start, reader->separator);
        while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        value->length = (size_t)(stop - start);
    }
    if (memchr(value->text, '\0', value->length))
        return pn_fail(err, PN_EPARSE, "expected text without zero bytes");
    return reader->encoding == PN_WINDOWS_1252 ? decode(reader, value, err) : PN_OK;
}
