/* ledger_disk.c -- what a ledger asks of the disk.  Depends on: ledger_disk.h, core/, libsodium, POSIX.
 * Used by: ledger_file.c, continual/checkpoint_file.c. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/file_place.h"
#include "privacy/ledger/ledger_disk.h"

/* ---- reading ---- */

int pn_disk_open(const char *path, bool create, unsigned mode)
{
    int fd = pn_file_open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | (create ? O_CREAT | O_EXCL : 0), mode);
    struct stat info;

    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        errno = ENOTSUP;
        return -1;
    }
    return fd;
}

pn_status pn_disk_read(int fd, const char *owner, const char *path, char **data, size_t *size, pn_err *err)
{
    struct stat info;
    size_t used = 0;

    *data = NULL;
    if (fstat(fd, &info) != 0)
        return pn_fail(err, PN_EIO, "%s: %.300s: cannot be read: %s", owner, path, strerror(errno));
    *size = (size_t)info.st_size;
    PN_TRY(pn_new(data, *size + 1, err, "%s: %.300s: out of memory for %zu bytes", owner, path, *size));
    while (used < *size) {
        ssize_t got = pread(fd, *data + used, *size - used, (off_t)used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            pn_free(*data);
            *data = NULL;
            return pn_fail(err, PN_EIO, "%s: %.300s: cannot be read: %s", owner, path, strerror(errno));
        }
        if (got == 0)
            break;
        used += (size_t)got;
    }
    *size = used;
    (*data)[used] = '\0';
    return PN_OK;
}

/* ---- the key ---- */

static const char key_magic[] = "penumbra-key 1 ";

#define KEY_TEXT (sizeof key_magic - 1 + 2 * PN_KEY_BYTES + 1) /* with the newline */

static pn_status parse_key(unsigned char key[PN_KEY_BYTES], const char *text, ssize_t got, const char *path,
                           pn_err *err)
{
    size_t length = 0;

    if (got == (ssize_t)KEY_TEXT && memcmp(text, key_magic, sizeof key_magic - 1) == 0 &&
        sodium_hex2bin(key, PN_KEY_BYTES, text + sizeof key_magic - 1, 2 * PN_KEY_BYTES, NULL, &length, NULL) == 0 &&
        length == PN_KEY_BYTES)
        return PN_OK;
    return pn_fail(err, PN_EPARSE, "ledger: %.300s: this is no key of a ledger", path);
}

pn_status pn_disk_read_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err)
{
    struct stat info;
    char text[KEY_TEXT + 2] = "";
    ssize_t got = -1;
    pn_status status = pn_file_check_link("ledger", path, err);
    int fd;

    if (status != PN_OK)
        return status;
    fd = pn_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return pn_fail(err, PN_EIO,
                       "ledger: %.300s: the key cannot be opened: %s; without it nobody can tell whether the ledger "
                       "was changed",
                       path, strerror(errno));
    status = pn_file_check_owner(fd, PN_FILE_SECRET, "ledger", path, err);
    if (status == PN_OK && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        got = read(fd, text, sizeof text - 1);
        if (got < 0)
            status = pn_fail(err, PN_EIO, "ledger: %.300s: the key cannot be read: %s", path, strerror(errno));
    }
    (void)close(fd);
    if (status == PN_OK)
        status = parse_key(key, text, got, path, err);
    sodium_memzero(text, sizeof text);
    return status;
}

static int write_key(const unsigned char key[PN_KEY_BYTES], const char *path)
{
    char hex[2 * PN_KEY_BYTES + 1], text[KEY_TEXT + 1];
    int error;

    (void)sodium_bin2hex(hex, sizeof hex, key, PN_KEY_BYTES);
    (void)snprintf(text, sizeof text, "%s%s\n", key_magic, hex);
    error = pn_file_put(path, text, KEY_TEXT, 0600, false);
    sodium_memzero(hex, sizeof hex);
    sodium_memzero(text, sizeof text);
    return error;
}

pn_status pn_disk_make_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err)
{
    int error;

    if (access(path, F_OK) == 0)
        return pn_disk_read_key(key, path, err);
    randombytes_buf(key, PN_KEY_BYTES);
    error = write_key(key, path);
    if (error == EEXIST) /* somebody else was faster */
        return pn_disk_read_key(key, path, err);
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory for a path");
    return error ? pn_fail(err, PN_EIO, "ledger: %.300s: the key cannot be written: %s", path, strerror(error)) : PN_OK;
}
