/* npy.c -- NumPy's .npy files.  Depends on: npy.h, POSIX files.  Used by: data, bindings. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "numeric/npy.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define HEADER_MOST 65536
#define CHUNK       8192 /* entries read or written at a time */

/* ---- the header: a Python dictionary with three known keys ---- */

typedef struct header {
    char type[8]; /* "<f8" */
    bool fortran;
    size_t dims, shape[2];
} header;

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
static pn_status parse_shape(cursor *in, header *out)
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

static pn_status parse_entry(cursor *in, header *out, unsigned *seen)
{
    char key[16];

    if (!take_string(in, key, sizeof key) || !take(in, ':'))
        return malformed(in, "'key':");
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        if (!take_string(in, out->type, sizeof out->type))
            return pn_fail(in->err, PN_EUNSUPPORTED, "%s: entries are records; '<f8', '<f4', '<i8' and '<i4' are read",
                           in->path);
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

static pn_status parse_header(const char *path, const char *text, header *out, pn_err *err)
{
    cursor in = { path, text, err };
    unsigned seen = 0;

    memset(out, 0, sizeof *out);
    if (!take(&in, '{'))
        return malformed(&in, "'{'");
    while (!take(&in, '}')) {
        pn_status status = parse_entry(&in, out, &seen);

        if (status != PN_OK)
            return status;
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

/* ---- entries ---- */

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;

    for (size_t i = count; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

static bool read_f8(double *out, const unsigned char *bytes)
{
    uint64_t bits = little_endian(bytes, 8);

    memcpy(out, &bits, sizeof bits);
    return isfinite(*out);
}

static bool read_f4(double *out, const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)little_endian(bytes, 4);
    float value;

    memcpy(&value, &bits, sizeof bits);
    *out = (double)value;
    return isfinite(*out);
}

static bool read_i8(double *out, const unsigned char *bytes)
{
    uint64_t bits = little_endian(bytes, 8);
    int64_t value;

    memcpy(&value, &bits, sizeof bits);
    *out = (double)value;
    return *out < 0x1p63 && (int64_t)*out == value;
}

static bool read_i4(double *out, const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)little_endian(bytes, 4);
    int32_t value;

    memcpy(&value, &bits, sizeof bits);
    *out = value;
    return true;
}

typedef struct entry_type {
    const char *name;
    size_t bytes;
    bool (*read)(double *out, const unsigned char *bytes); /* false: not a number that we take */
    const char *refused;
} entry_type;

static const entry_type entry_types[] = {
    { "<f8", 8, read_f8, "is not finite" },
    { "<f4", 4, read_f4, "is not finite" },
    { "<i8", 8, read_i8, "is a whole number beyond 2^53 that no double equals" },
    { "<i4", 4, read_i4, "" },
};

static const entry_type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof entry_types / sizeof entry_types[0]; i++) {
        if (strcmp(entry_types[i].name, name) == 0)
            return &entry_types[i];
    }
    return NULL;
}

/* ---- reading ---- */

typedef struct source {
    FILE *file;
    const char *path;
    pn_err *err;
} source;

static pn_status read_header(source *in, char *text, header *out)
{
    unsigned char start[MAGIC_BYTES + 6];
    size_t length, prefix;

    if (fread(start, 1, MAGIC_BYTES + 4, in->file) != MAGIC_BYTES + 4 || memcmp(start, MAGIC, MAGIC_BYTES) != 0)
        return ferror(in->file) ? pn_fail(in->err, PN_EIO, "%s: %s", in->path, strerror(errno))
                                : pn_fail(in->err, PN_EPARSE, "%s: not a .npy file", in->path);
    if (start[6] < 1 || start[6] > 3)
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: .npy version %u; 1 to 3 are read", in->path, start[6]);
    prefix = start[6] == 1 ? 2 : 4;
    if (prefix == 4 && fread(start + MAGIC_BYTES + 4, 1, 2, in->file) != 2)
        return pn_fail(in->err, PN_EPARSE, "%s: the .npy header is cut short", in->path);
    length = (size_t)little_endian(start + MAGIC_BYTES + 2, prefix);
    if (length >= HEADER_MOST)
        return pn_fail(in->err, PN_EPARSE, "%s: malformed .npy header: %zu bytes long", in->path, length);
    if (fread(text, 1, length, in->file) != length)
        return pn_fail(in->err, PN_EPARSE, "%s: the .npy header is cut short", in->path);
    text[length] = '\0';
    return parse_header(in->path, text, out, in->err);
}

/* The size of the file tells whether the shape is true before memory is asked for. */
static pn_status check_size(source *in, const header *head, size_t bytes)
{
    struct stat info;
    long at = ftell(in->file);
    size_t rows = head->shape[0], cols = head->shape[1], wanted;

    if (cols != 0 && rows > SIZE_MAX / cols / sizeof(double))
        return pn_fail(in->err, PN_EPARSE, "%s: a shape of %zu x %zu is beyond any memory", in->path, rows, cols);
    if (head->dims == 2 && (rows == 0 || cols == 0))
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: an empty matrix, %zu x %zu", in->path, rows, cols);
    wanted = rows * cols * bytes;
    if (at < 0 || fstat(fileno(in->file), &info) != 0)
        return pn_fail(in->err, PN_EIO, "%s: %s", in->path, strerror(errno));
    if (S_ISREG(info.st_mode) && (size_t)(info.st_size - at) != wanted)
        return pn_fail(in->err, PN_EPARSE, "%s: the header announces %zu bytes of entries, the file has %zu", in->path,
                       wanted, (size_t)(info.st_size - at));
    return PN_OK;
}

/* Where entry k of the file goes. */
static size_t place_of(const header *head, size_t k)
{
    return head->fortran ? k % head->shape[0] * head->shape[1] + k / head->shape[0] : k;
}

static pn_status refuse_entry(source *in, const header *head, size_t place, const entry_type *type)
{
    if (head->dims == 1)
        return pn_fail(in->err, PN_EDOMAIN, "%s: entry %zu %s", in->path, place + 1, type->refused);
    return pn_fail(in->err, PN_EDOMAIN, "%s: entry (%zu, %zu) %s", in->path, place / head->shape[1] + 1,
                   place % head->shape[1] + 1, type->refused);
}

static pn_status read_entries(source *in, const header *head, const entry_type *type, double *data)
{
    unsigned char buffer[CHUNK * 8];
    size_t count = head->shape[0] * head->shape[1];

    for (size_t done = 0; done < count;) {
        size_t wanted = count - done < CHUNK ? count - done : CHUNK;

        if (fread(buffer, type->bytes, wanted, in->file) != wanted)
            return pn_fail(in->err, PN_EIO, "%s: %s", in->path,
                           ferror(in->file) ? strerror(errno) : "ended while being read");
        for (size_t k = 0; k < wanted; k++) {
            size_t place = place_of(head, done + k);

            if (!type->read(&data[place], buffer + k * type->bytes))
                return refuse_entry(in, head, place, type);
        }
        done += wanted;
    }
    return PN_OK;
}

static pn_status load_open_file(pn_npy *out, source *in, char *text)
{
    header head;
    const entry_type *type;
    pn_status status = read_header(in, text, &head);

    if (status != PN_OK)
        return status;
    type = find_type(head.type);
    if (!type)
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: entries of type '%s'; '<f8', '<f4', '<i8' and '<i4' are read",
                       in->path, head.type);
    status = check_size(in, &head, type->bytes);
    if (status != PN_OK)
        return status;
    *out = (pn_npy){ NULL, head.dims, { head.shape[0], head.shape[1] } };
    out->data = pn_alloc(head.shape[0] * head.shape[1], sizeof *out->data);
    if (!out->data)
        return pn_fail(in->err, PN_ENOMEM, "%s: not enough memory for %zu numbers", in->path,
                       head.shape[0] * head.shape[1]);
    status = read_entries(in, &head, type, out->data);
    if (status != PN_OK) {
        pn_free(out->data);
        out->data = NULL;
    }
    return status;
}

pn_status pn_npy_load(pn_npy *out, const char *path, pn_err *err)
{
    source in = { fopen(path, "rb"), path, err };
    char *text = NULL;
    pn_status status;

    memset(out, 0, sizeof *out);
    if (!in.file)
        return pn_fail(err, PN_EIO, "%s: %s", path, strerror(errno));
    text = pn_alloc(HEADER_MOST, 1);
    status = text ? load_open_file(out, &in, text) : pn_fail(err, PN_ENOMEM, "%s: not enough memory", path);
    pn_free(text);
    (void)fclose(in.file);
    return status;
}

/* ---- writing ---- */

static bool write_header(FILE *file, size_t dims, const size_t *shape)
{
    char text[256];
    unsigned char start[MAGIC_BYTES + 4] = MAGIC "\x01";
    int length =
        dims == 1 ? snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu,), }", shape[0])
                  : snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }",
                             shape[0], shape[1]);

    /* Padded with spaces so that the entries start at a multiple of 64 bytes; the last byte is a newline. */
    while ((length + (int)sizeof start + 1) % 64 != 0)
        text[length++] = ' ';
    text[length++] = '\n';
    start[MAGIC_BYTES + 2] = (unsigned char)(length & 0xff);
    start[MAGIC_BYTES + 3] = (unsigned char)(length >> 8);
    return fwrite(start, 1, sizeof start, file) == sizeof start &&
           fwrite(text, 1, (size_t)length, file) == (size_t)length;
}

static bool write_entries(FILE *file, const double *data, size_t count)
{
    unsigned char buffer[CHUNK * 8];

    for (size_t done = 0; done < count;) {
        size_t some = count - done < CHUNK ? count - done : CHUNK;

        for (size_t k = 0; k < some; k++) {
            uint64_t bits;

            memcpy(&bits, &data[done + k], sizeof bits);
            for (size_t b = 0; b < 8; b++)
                buffer[8 * k + b] = (unsigned char)(bits >> (8 * b));
        }
        if (fwrite(buffer, 8, some, file) != some)
            return false;
        done += some;
    }
    return true;
}

/* A new file beside `path`; its name goes to temporary. */
static FILE *open_beside(const char *path, char *temporary, size_t size)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        int fd, length = snprintf(temporary, size, "%s.tmp-%ld-%u", path, (long)getpid(), attempt);

        if (length < 0 || (size_t)length >= size)
            return NULL;
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            FILE *file = fdopen(fd, "wb");

            if (!file) {
                (void)close(fd);
                (void)unlink(temporary);
            }
            return file;
        }
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

pn_status pn_npy_save(const char *path, const double *data, size_t dims, const size_t *shape, pn_err *err)
{
    size_t size = strlen(path) + 40;
    char *temporary = pn_alloc(size, 1);
    FILE *file = temporary ? open_beside(path, temporary, size) : NULL;
    pn_status status = PN_OK;
    bool written;

    if (!file) {
        status = temporary ? pn_fail(err, PN_EIO, "%s: %s", path, strerror(errno))
                           : pn_fail(err, PN_ENOMEM, "%s: not enough memory", path);
        goto done;
    }
    written = write_header(file, dims, shape) && write_entries(file, data, shape[0] * (dims == 2 ? shape[1] : 1)) &&
              fflush(file) == 0 && fsync(fileno(file)) == 0;
    written = fclose(file) == 0 && written;
    if (!written || rename(temporary, path) != 0) {
        status = pn_fail(err, PN_EIO, "%s: %s", path, strerror(errno));
        (void)unlink(temporary);
    }
done:
    pn_free(temporary);
    return status;
}
