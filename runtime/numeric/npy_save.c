/* npy_save.c -- writes NumPy's .npy files.  Depends on: npy.h, core, POSIX files.  Used by: bindings. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "numeric/npy.h"

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define CHUNK       8192 /* entries written at a time */

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
