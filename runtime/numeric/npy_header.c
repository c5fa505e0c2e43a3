/* npy_header.c -- the header of a .npy file: a Python dictionary with three known keys.
 * Depends on: npy_header.h, core.  Used by: npy.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/npy_header.h"

typedef struct cursor {
    const char *path, *at;
    pn_err *err;
} cursor;

static pn_status malformed(cursor *in, const char *wanted)
{
    return pn_fail(in->err, PN_EPARSE, "%s: malformed .npy header: expected %s at \"%.20s\"", in->path, wanted, in->at);
}

static void skip_space(cursor *in)
{
    while (*in->at == ' ' || *in->at == '\n' || *in->at == '\t')
        in->at++;
}

static bool take(cursor *in, char c)
{
    skip_space(in);
    if (*in->at != c)
        return false;
    in->at++;
    return true;
}

/* 'text' or "text", without escapes; longer ones are cut, which no known word survives. */
static bool take_string(cursor *in, char *text, size_t size)
{
    char quote;
    size_t length = 0;

    skip_space(in);
    quote = *in->at;
    if (quote != '\'' && quote != '"')
        return false;
    for (in->at++; *in->at && *in->at != quote; in->at++) {
        if (length + 1 < size)
            text[length++] = *in->at;
    }
    text[length] = '\0';
    return take(in, quote);
}

static bool take_word(cursor *in, const char *word)
{
    size_t length = strlen(word);

    skip_space(in);
    if (strncmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

/* (), (3,), (3, 4) */
static pn_status parse_shape(cursor *in, pn_npy_header *out)
{
    if (!take(in, '('))
        return malformed(in, "a shape such as (3, 4)");
    while (!take(in, ')')) {
        char *end;
        unsigned long long size;

        if (*in->at < '0' || *in->at > '9')
            return malformed(in, "a number of entries");
        errno = 0;
        size = strtoull(in->at, &end, 10);
        if (errno != 0)
            return malformed(in, "a number of entries below 2^64");
        in->at = end;
        if (out->dims < 2)
            out->shape[out->dims] = (size_t)size;
        out->dims++;
        if (!take(in, ',') && *in->at != ')')
            return malformed(in, "',' or ')'");
    }
    return PN_OK;
}

static pn_status parse_entry(cursor *in, pn_npy_header *out, unsigned *seen)
{
    char key[16];

    if (!take_string(in, key, sizeof key) || !take(in, ':'))
        return malformed(in, "'key':");
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        if (!take_string(in, out->type, sizeof out->type))
            return pn_fail(in->err, PN_EUNSUPPORTED, "%s: entries are records; " PN_NPY_TYPES, in->path);
    } else if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        out->fortran = take_word(in, "True");
        if (!out->fortran && !take_word(in, "False"))
            return malformed(in, "True or False");
    } else if (strcmp(key, "shape") == 0) {
        *seen |= 4;
        out->dims = 0;
        return parse_shape(in, out);
    } else {
        return pn_fail(in->err, PN_EPARSE, "%s: malformed .npy header: unknown key '%s'", in->path, key);
    }
    return PN_OK;
}

pn_status pn_npy_header_read(pn_npy_header *out, const char *path, const char *text, pn_err *err)
{
    cursor in = { path, text, err };
    unsigned seen = 0;

    memset(out, 0, sizeof *out);
    if (!take(&in, '{'))
        return malformed(&in, "'{'");
    while (!take(&in, '}')) {
        PN_TRY(parse_entry(&in, out, &seen));
        if (!take(&in, ',') && *in.at != '}')
            return malformed(&in, "',' or '}'");
    }
    if (seen != 7)
        return pn_fail(err, PN_EPARSE, "%s: malformed .npy header: descr, fortran_order and shape are needed", path);
    if (out->dims != 1 && out->dims != 2)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: an array with %zu dimensions; 1 and 2 are read", path, out->dims);
    if (out->dims == 1)
        out->shape[1] = 1;
    return PN_OK;
}
