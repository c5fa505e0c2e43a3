/* npy.c -- reads NumPy's .npy files, gzip or plain.  Depends on: npy.h, npy_header.h, core, zlib, POSIX files.
 * Used by: data, bindings. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/size.h"
#include "core/vault.h"
#include "numeric/npy.h"
#include "numeric/npy_header.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define HEADER_MOST 65536
#define CHUNK       8192 /* entries read at a time */
#define INFLATION   1032 /* deflate makes nothing longer than this many times its bytes */

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

/* Two's complement of `bytes` bytes, as a double if one equals it. */
static bool read_signed(double *out, const unsigned char *from, size_t bytes)
{
    uint64_t bits = little_endian(from, bytes), sign = (uint64_t)1 << (8 * bytes - 1);
    int64_t value = (int64_t)((bits ^ sign) - sign);

    *out = (double)value;
    return *out < 0x1p63 && (int64_t)*out == value;
}

static bool read_unsigned(double *out, const unsigned char *from, size_t bytes)
{
    uint64_t value = little_endian(from, bytes);

    *out = (double)value;
    return *out < 0x1p64 && (uint64_t)*out == value;
}

static bool read_i8(double *out, const unsigned char *bytes)
{
    return read_signed(out, bytes, 8);
}

static bool read_i4(double *out, const unsigned char *bytes)
{
    return read_signed(out, bytes, 4);
}

static bool read_i2(double *out, const unsigned char *bytes)
{
    return read_signed(out, bytes, 2);
}

static bool read_i1(double *out, const unsigned char *bytes)
{
    return read_signed(out, bytes, 1);
}

static bool read_u8(double *out, const unsigned char *bytes)
{
    return read_unsigned(out, bytes, 8);
}

static bool read_u4(double *out, const unsigned char *bytes)
{
    return read_unsigned(out, bytes, 4);
}

static bool read_u2(double *out, const unsigned char *bytes)
{
    return read_unsigned(out, bytes, 2);
}

static bool read_u1(double *out, const unsigned char *bytes)
{
    return read_unsigned(out, bytes, 1);
}

static bool read_b1(double *out, const unsigned char *bytes)
{
    *out = *bytes;
    return *bytes <= 1;
}

typedef struct entry_type {
    const char *name;
    size_t bytes;
    bool (*read)(double *out, const unsigned char *bytes); /* false: not a number that we take */
    const char *refused;
} entry_type;

#define INEXACT "is a whole number beyond 2^53 that no double equals"

static const entry_type entry_types[] = {
    { "<f8", 8, read_f8, "is not finite" },
    { "<f4", 4, read_f4, "is not finite" },
    { "<i8", 8, read_i8, INEXACT },
    { "<i4", 4, read_i4, "" },
    { "<i2", 2, read_i2, "" },
    { "|i1", 1, read_i1, "" },
    { "<u8", 8, read_u8, INEXACT },
    { "<u4", 4, read_u4, "" },
    { "<u2", 2, read_u2, "" },
    { "|u1", 1, read_u1, "" },
    { "|b1", 1, read_b1, "is neither 0 nor 1, as a boolean is" },
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
    gzFile file;
    int fd; /* of the file; belongs to it */
    const char *path;
    const pn_ranks *ranks;
    bool records; /* the numbers are records: where the vault puts them */ /* whose share is wanted; NULL: all */
    pn_task *task;
    pn_err *err;
} source;

/* Why fewer bytes came than were asked for; `cut` when the file ended in good order. */
static pn_status read_failed(source *in, const char *cut)
{
    int code = Z_OK;
    const char *why = gzerror(in->file, &code);

    if (code == Z_ERRNO)
        return pn_fail(in->err, PN_EIO, "%s: %s", in->path, strerror(errno));
    if (code == Z_MEM_ERROR)
        return pn_fail(in->err, PN_ENOMEM, "%s: not enough memory", in->path);
    if (code == Z_BUF_ERROR)
        return pn_fail(in->err, PN_EIO, "%s: the gzip stream is cut short (truncated file)", in->path);
    if (code != Z_OK && code != Z_STREAM_END)
        return pn_fail(in->err, PN_EIO, "%s: the gzip stream is damaged (corrupt file): %.60s", in->path, why);
    return pn_fail(in->err, PN_EPARSE, "%s: %s", in->path, cut);
}

static bool take_bytes(source *in, void *bytes, size_t count)
{
    return gzread(in->file, bytes, (unsigned)count) == (int)count;
}

static pn_status read_header(source *in, char *text, pn_npy_header *out)
{
    unsigned char start[MAGIC_BYTES + 6];
    size_t length, prefix;

    if (!take_bytes(in, start, MAGIC_BYTES + 4))
        return read_failed(in, "not a .npy file");
    if (memcmp(start, MAGIC, MAGIC_BYTES) != 0)
        return pn_fail(in->err, PN_EPARSE, "%s: not a .npy file", in->path);
    if (start[6] < 1 || start[6] > 3)
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: .npy version %u; 1 to 3 are read", in->path, start[6]);
    prefix = start[6] == 1 ? 2 : 4;
    if (prefix == 4 && !take_bytes(in, start + MAGIC_BYTES + 4, 2))
        return read_failed(in, "the .npy header is cut short");
    length = (size_t)little_endian(start + MAGIC_BYTES + 2, prefix);
    if (length >= HEADER_MOST)
        return pn_fail(in->err, PN_EPARSE, "%s: malformed .npy header: %zu bytes long", in->path, length);
    if (!take_bytes(in, text, length))
        return read_failed(in, "the .npy header is cut short");
    text[length] = '\0';
    return pn_npy_header_read(out, in->path, text, in->err);
}

/* The size of the file tells whether the shape is true before memory is asked for; that of a compressed one only
 * whether it can be. */
static pn_status check_size(source *in, const pn_npy_header *head, size_t bytes)
{
    struct stat info;
    z_off_t at = gztell(in->file);
    size_t rows = head->shape[0], cols = head->shape[1], wanted = 0, size;

    if (!pn_size_multiply(&wanted, rows, cols))
        return pn_fail(in->err, PN_EPARSE, "%s: a shape of %zu x %zu is beyond any memory", in->path, rows, cols);
    if (head->dims == 2 && (rows == 0 || cols == 0))
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: an empty matrix, %zu x %zu", in->path, rows, cols);
    wanted *= bytes;
    if (at < 0 || fstat(in->fd, &info) != 0)
        return pn_fail(in->err, PN_EIO, "%s: %s", in->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return PN_OK;
    size = (size_t)info.st_size;
    if (!gzdirect(in->file) && wanted / INFLATION > size)
        return pn_fail(in->err, PN_EPARSE,
                       "%s: the header announces %zu bytes of entries, more than %zu compressed bytes can hold",
                       in->path, wanted, size);
    if (gzdirect(in->file) && size - (size_t)at != wanted)
        return pn_fail(in->err, PN_EPARSE, "%s: the header announces %zu bytes of entries, the file has %zu", in->path,
                       wanted, size - (size_t)at);
    return PN_OK;
}

/* Where entry k of the file goes. */
static size_t place_of(const pn_npy_header *head, size_t k)
{
    return head->fortran ? k % head->shape[0] * head->shape[1] + k / head->shape[0] : k;
}

static pn_status refuse_entry(source *in, const pn_npy_header *head, size_t place, const entry_type *type)
{
    if (head->dims == 1)
        return pn_fail(in->err, PN_EDOMAIN, "%s: entry %zu %s", in->path, place + 1, type->refused);
    return pn_fail(in->err, PN_EDOMAIN, "%s: entry (%zu, %zu) %s", in->path, place / head->shape[1] + 1,
                   place % head->shape[1] + 1, type->refused);
}

/* Nothing is left, and the check sums of a compressed file are right. */
static pn_status read_end(source *in)
{
    char more;
    int code = Z_OK, count = gzread(in->file, &more, 1);

    (void)gzerror(in->file, &code);
    if (count > 0)
        return pn_fail(in->err, PN_EPARSE, "%s: more entries than the header announces", in->path);
    return count < 0 || (code != Z_OK && code != Z_STREAM_END) ? read_failed(in, "") : PN_OK;
}

/* Entries begin .. end - 1 of the file, all of rows that are wanted. */
static pn_status read_run(source *in, const pn_npy_header *head, const entry_type *type, size_t begin, size_t end,
                          pn_npy *out)
{
    unsigned char buffer[CHUNK * 8];
    size_t skipped = out->first * head->shape[1], count = head->shape[0] * head->shape[1];

    while (begin < end) {
        size_t wanted = end - begin < CHUNK ? end - begin : CHUNK;

        PN_TRY(pn_task_report(in->task, "reading entries", (double)begin, (double)count, in->err));
        if (!take_bytes(in, buffer, wanted * type->bytes))
            return read_failed(in, "fewer entries than the header announces");
        for (size_t k = 0; k < wanted; k++) {
            size_t place = place_of(head, begin + k);

            if (!type->read(&out->data[place - skipped], buffer + k * type->bytes))
                return refuse_entry(in, head, place, type);
        }
        begin += wanted;
    }
    return PN_OK;
}

/* Some of the rows: one stretch of the file, or one of each column. */
static pn_status read_rows(source *in, const pn_npy_header *head, const entry_type *type, pn_npy *out)
{
    size_t runs = head->fortran ? head->shape[1] : 1, width = head->fortran ? 1 : head->shape[1];
    z_off_t start = gztell(in->file);

    for (size_t r = 0; r < runs; r++) {
        size_t begin = (r * head->shape[0] + out->first) * width;

        if (gzseek(in->file, start + (z_off_t)(begin * type->bytes), SEEK_SET) < 0)
            return read_failed(in, "fewer entries than the header announces");
        PN_TRY(read_run(in, head, type, begin, begin + out->rows * width, out));
    }
    return PN_OK;
}

static pn_status read_entries(source *in, const pn_npy_header *head, const entry_type *type, pn_npy *out)
{
    if (out->rows < head->shape[0])
        return read_rows(in, head, type, out);
    PN_TRY(read_run(in, head, type, 0, head->shape[0] * head->shape[1], out));
    return read_end(in);
}

static pn_status load_open_file(pn_npy *out, source *in, char *text)
{
    pn_npy_header head;
    const entry_type *type;
    pn_status status;

    PN_TRY(read_header(in, text, &head));
    type = find_type(head.type);
    if (!type)
        return pn_fail(in->err, PN_EUNSUPPORTED, "%s: entries of type '%s'; " PN_NPY_TYPES, in->path, head.type);
    PN_TRY(check_size(in, &head, type->bytes));
    *out = (pn_npy){ NULL, head.dims, { head.shape[0], head.shape[1] }, 0, 0 };
    pn_ranks_hold(in->ranks, head.shape[0], 0, &out->first, &out->rows);
    out->rows -= out->first;
    out->data = in->records ? pn_vault_alloc(out->rows * head.shape[1], sizeof *out->data)
                            : pn_alloc(out->rows * head.shape[1], sizeof *out->data);
    PN_TRY(pn_made(out->data, in->err, "%s: %s for %zu numbers", in->path,
                   in->records ? pn_vault_lack() : "not enough memory", out->rows * head.shape[1]));
    status = read_entries(in, &head, type, out);
    if (status != PN_OK) {
        pn_vault_free(out->data);
        out->data = NULL;
    }
    return status;
}

static pn_status open_source(source *in)
{
    errno = 0;
    in->fd = pn_file_open(in->path, O_RDONLY, 0);
    if (in->fd < 0)
        return pn_fail(in->err, PN_EIO, "%s: %s", in->path, strerror(errno));
    in->file = gzdopen(in->fd, "rb");
    if (!in->file) {
        (void)close(in->fd);
        return pn_fail(in->err, PN_ENOMEM, "%s: not enough memory", in->path);
    }
    (void)gzbuffer(in->file, CHUNK * 8);
    return PN_OK;
}

static pn_status load(pn_npy *out, source *in)
{
    pn_status status;
    char *text;

    memset(out, 0, sizeof *out);
    PN_TRY(open_source(in));
    text = pn_alloc(HEADER_MOST, 1);
    status = text ? load_open_file(out, in, text) : pn_fail(in->err, PN_ENOMEM, "%s: not enough memory", in->path);
    pn_free(text);
    (void)gzclose(in->file);
    return status;
}

pn_status pn_npy_load(pn_npy *out, const char *path, pn_task *task, pn_err *err)
{
    return load(out, &(source){ NULL, -1, path, NULL, false, task, err });
}

pn_status pn_npy_load_records(pn_npy *out, const char *path, const pn_ranks *ranks, pn_task *task, pn_err *err)
{
    return load(out, &(source){ NULL, -1, path, ranks, true, task, err });
}
