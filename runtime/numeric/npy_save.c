/* npy_save.c -- writes NumPy's .npy files.  Depends on: npy.h, core.  Used by: bindings. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "numeric/npy.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define CHUNK       8192 /* entries written at a time */

/* 0 or errno; *at is behind it. */
static int write_header(int fd, size_t dims, const size_t *shape, size_t *at)
{
    unsigned char head[256 + MAGIC_BYTES + 4] = MAGIC "\x01";
    char *text = (char *)head + MAGIC_BYTES + 4;
    int length = dims == 1
                     ? snprintf(text, 192, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu,), }", shape[0])
                     : snprintf(text, 192, "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }", shape[0],
                                shape[1]);

    /* Padded with spaces so that the entries start at a multiple of 64 bytes; the last byte is a newline. */
    while ((length + MAGIC_BYTES + 4 + 1) % 64 != 0)
        text[length++] = ' ';
    text[length++] = '\n';
    head[MAGIC_BYTES + 2] = (unsigned char)(length & 0xff);
    head[MAGIC_BYTES + 3] = (unsigned char)(length >> 8);
    *at = MAGIC_BYTES + 4 + (size_t)length;
    return pn_file_write(fd, head, *at, 0);
}

/* 0 or errno. */
static int write_entries(int fd, const double *data, size_t count, size_t at)
{
    unsigned char buffer[CHUNK * 8];

    for (size_t done = 0; done < count;) {
        size_t some = count - done < CHUNK ? count - done : CHUNK;
        int error;

        for (size_t k = 0; k < some; k++) {
            uint64_t bits;

            memcpy(&bits, &data[done + k], sizeof bits);
            for (size_t b = 0; b < 8; b++)
                buffer[8 * k + b] = (unsigned char)(bits >> (8 * b));
        }
        error = pn_file_write(fd, buffer, 8 * some, at + 8 * done);
        if (error)
            return error;
        done += some;
    }
    return 0;
}

pn_status pn_npy_save(const char *path, const double *data, size_t dims, const size_t *shape, pn_err *err)
{
    pn_file_draft draft;
    size_t at = 0;
    int error = pn_file_begin(&draft, path, 0666);

    if (!error) {
        error = write_header(draft.fd, dims, shape, &at);
        if (!error)
            error = write_entries(draft.fd, data, shape[0] * (dims == 2 ? shape[1] : 1), at);
        if (!error)
            error = pn_file_sync(draft.fd);
        if (!error)
            error = pn_file_name(&draft, true, NULL);
        pn_file_end(&draft);
    }
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "%s: not enough memory", path);
    return error ? pn_fail(err, PN_EIO, "%s: %s", path, strerror(error)) : PN_OK;
}
