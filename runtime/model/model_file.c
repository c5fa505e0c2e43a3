/* model_file.c -- model files on the disk: what kind and version they are, whole or not at all.
 * Depends on: model_file.h, privacy/ledger/ledger_disk.h, libsodium, POSIX.  Used by: model.c, model_read.c. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "privacy/ledger/ledger_disk.h"
#include "model/model_file.h"

#define MAGIC_BYTES 8
#define VERSION     2 /* 1 is read, too */

/* As that of PNG: a file that went through a conversion of line ends or of characters shows it. */
static const unsigned char magic[MAGIC_BYTES] = { 0x89, 'P', 'N', 'M', '\r', '\n', 0x1a, '\n' };

static void put_number(unsigned char *out, uint64_t number, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        out[k] = (unsigned char)(number >> (8 * k));
}

static uint64_t number_at(const unsigned char *in, size_t bytes)
{
    uint64_t number = 0;

    for (size_t k = 0; k < bytes; k++)
        number |= (uint64_t)in[k] << (8 * k);
    return number;
}

static void digest_of(unsigned char *out, const unsigned char *bytes, size_t size)
{
    (void)crypto_generichash(out, PN_MODEL_DIGEST, bytes, size, NULL, 0);
}

/* ---- writing ---- */

pn_status pn_model_file_put(const char *path, unsigned char *bytes, size_t size, pn_err *err)
{
    int error;

    memcpy(bytes, magic, MAGIC_BYTES);
    put_number(bytes + 8, VERSION, 4);
    put_number(bytes + 12, 0, 4);
    put_number(bytes + 16, size, 8);
    digest_of(bytes + PN_MODEL_HEAD + size, bytes, PN_MODEL_HEAD + size);
    error = pn_file_put(path, bytes, PN_MODEL_HEAD + size + PN_MODEL_DIGEST, 0600, true);
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "model: out of memory for a path");
    return error ? pn_fail(err, PN_EIO, "model: %.300s: cannot be written: %s", path, strerror(error)) : PN_OK;
}

/* ---- reading ---- */

/* A regular file open for reading, its size in *size, and its head, ended by a zero byte, where it has one; -1 with
 * errno set. */
static int open_file(const char *path, unsigned char head[PN_MODEL_HEAD + 1], size_t *size)
{
    int fd = pn_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    struct stat info;
    ssize_t got;

    if (fd < 0)
        return -1;
    memset(head, 0, PN_MODEL_HEAD + 1);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        errno = S_ISDIR(info.st_mode) ? EISDIR : ENOTSUP;
        return -1;
    }
    do
        got = pread(fd, head, PN_MODEL_HEAD, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        int error = errno;

        (void)close(fd);
        errno = error;
        return -1;
    }
    *size = (size_t)info.st_size;
    return fd;
}

/* Whether an object begins: what `head` has no room for may be blank. */
static bool is_json(const unsigned char *head)
{
    size_t k = strspn((const char *)head, " \t\r\n");

    return head[k] == '{';
}

pn_status pn_model_look(const char *path, bool *found, pn_err *err)
{
    unsigned char head[PN_MODEL_HEAD + 1];
    size_t size;
    int fd = open_file(path, head, &size);

    *found = false;
    if (fd < 0)
        return errno == EISDIR || errno == ENOTSUP ? PN_OK : pn_fail(err, PN_EIO, "%.300s: %s", path, strerror(errno));
    (void)close(fd);
    *found = memcmp(head, magic, MAGIC_BYTES) == 0 || is_json(head);
    return PN_OK;
}

/* What the head says, before anything is read for it: *size bytes are between head and digest. */
static pn_status check_head(const unsigned char *head, size_t file, const char *path, size_t *size, pn_err *err)
{
    uint64_t version = number_at(head + 8, 4), length = number_at(head + 16, 8);

    if (memcmp(head, magic, MAGIC_BYTES) != 0)
        return pn_fail(err, PN_EPARSE,
                       "model: %.300s: this is not a model file; fit:save and pn_model_save write "
                       "them",
                       path);
    if (file < PN_MODEL_HEAD + PN_MODEL_DIGEST)
        return pn_fail(err, PN_EPARSE, "model: %.300s: cut: it has %zu bytes", path, file);
    if (version < 1 || version > VERSION)
        return pn_fail(err, PN_EUNSUPPORTED, "model: %.300s: a model file of version %llu, this library reads 1 to %d",
                       path, (unsigned long long)version, VERSION);
    if (file - PN_MODEL_HEAD - PN_MODEL_DIGEST > PN_MODEL_MOST)
        return pn_fail(err, PN_EPARSE, "model: %.300s: it has %zu bytes, model files at most %zu", path, file,
                       PN_MODEL_MOST + PN_MODEL_HEAD + PN_MODEL_DIGEST);
    *size = file - PN_MODEL_HEAD - PN_MODEL_DIGEST;
    if (length != *size)
        return pn_fail(err, PN_EPARSE, "model: %.300s: cut, or damaged: its header states %llu bytes, and it holds %zu",
                       path, (unsigned long long)length, *size);
    return PN_OK;
}

static pn_status check_digest(const unsigned char *bytes, size_t size, const char *path, pn_err *err)
{
    unsigned char digest[PN_MODEL_DIGEST];

    digest_of(digest, bytes, PN_MODEL_HEAD + size);
    if (sodium_memcmp(digest, bytes + PN_MODEL_HEAD + size, sizeof digest) != 0)
        return pn_fail(err, PN_EPARSE, "model: %.300s: damaged: its checksum does not fit its contents", path);
    return PN_OK;
}

pn_status pn_model_file_get(const char *path, unsigned char **bytes, size_t *size, pn_err *err)
{
    unsigned char head[PN_MODEL_HEAD + 1];
    char *data = NULL;
    size_t file = 0, got = 0;
    int fd = open_file(path, head, &file);
    pn_status status;

    *bytes = NULL;
    if (fd < 0)
        return pn_fail(err, PN_EIO, "model: %.300s: cannot be read: %s", path, strerror(errno));
    status = check_head(head, file, path, size, err);
    if (status == PN_OK)
        status = pn_disk_read(fd, "model", path, &data, &got, err);
    (void)close(fd);
    if (status == PN_OK && (got != file || memcmp(data, head, PN_MODEL_HEAD) != 0))
        status = pn_fail(err, PN_EIO, "model: %.300s: it was changed while it was read", path);
    if (status == PN_OK)
        status = check_digest((unsigned char *)data, *size, path, err);
    if (status != PN_OK) {
        pn_free(data);
        return status;
    }
    *bytes = (unsigned char *)data;
    return PN_OK;
}

pn_status pn_model_file_text(const char *path, char **text, size_t *size, pn_err *err)
{
    unsigned char head[PN_MODEL_HEAD + 1];
    size_t file = 0;
    int fd = open_file(path, head, &file);
    pn_status status = PN_OK;

    *text = NULL;
    if (fd < 0)
        return pn_fail(err, PN_EIO, "model: %.300s: cannot be read: %s", path, strerror(errno));
    if (is_json(head) && file > PN_MODEL_JSON_MOST)
        status = pn_fail(err, PN_EPARSE, "model: %.300s: it has %zu bytes, models as JSON at most %zu", path, file,
                         PN_MODEL_JSON_MOST);
    else if (is_json(head))
        status = pn_disk_read(fd, "model", path, text, size, err);
    (void)close(fd);
    return status;
}
