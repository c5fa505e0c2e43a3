/* zeromq_keys.c -- pairs of CURVE keys in files: made, read, told apart.  Depends on: zeromq.h, core/,
 * libzmq, libsodium,
 * POSIX.  Used by: bindings, tests.
 *
 * A file is text: a line that begins with # and says what it is, and one with the word "secret" or "public" and the key
 * in Z85.  The public key follows from the secret one, so the secret file is all that a program needs;
 * the other one is there to be given away. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>
#include <zmq.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/file_place.h"
#include "federated/transport/zeromq.h"

#define KEY_TEXT  (PN_CURVE_TEXT - 1)
#define KEY_BYTES 32
#define FILE_MAX  1024 /* no such file is longer */
#define LOOKS     "a key is 40 characters of Z85, or the path of a file that pn.federated.keygen made"

static pn_status cannot(const char *path, const char *what, int error, pn_err *err)
{
    return pn_fail(err, PN_EIO, "federated.keys: %.300s: cannot be %s: %s", path, what, strerror(error));
}

/* ---- making ---- */

static pn_status made(const char *path, int error, pn_err *err)
{
    if (error == EEXIST)
        return pn_fail(err, PN_EINVAL,
                       "federated.keys: %.300s exists already, and keys are not overwritten; give "
                       "another path",
                       path);
    if (error == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "federated.keys: out of memory for a path");
    return error ? cannot(path, "written", error, err) : PN_OK;
}

static pn_status write_public(const char *path, const pn_curve_keys *keys, pn_err *err)
{
    char text[FILE_MAX];

    (void)snprintf(
        text, sizeof text,
        "# Public key of Penumbra (CURVE): to be given to those who are to know its owner by it.\npublic %s\n",
        keys->public_key);
    return made(path, pn_file_put(path, text, strlen(text), 0644, false), err);
}

/* A secret key alone is what a maker left that failed or was killed: the pair is completed from it. */
static pn_status write_pair(const char *path, const char *public_path, pn_curve_keys *keys, pn_err *err)
{
    char text[FILE_MAX];
    pn_status status;

    if (access(public_path, F_OK) == 0)
        return made(public_path, EEXIST, err);
    if (access(path, F_OK) == 0) {
        status = pn_curve_read(path, keys, NULL) == PN_OK ? PN_OK : made(path, EEXIST, err);
    } else {
        (void)snprintf(text, sizeof text,
                       "# Secret key of Penumbra (CURVE): nobody but its owner may read this file.\nsecret %s\n",
                       keys->secret_key);
        status = made(path, pn_file_put(path, text, strlen(text), 0600, false), err);
        sodium_memzero(text, sizeof text);
    }
    return status == PN_OK ? write_public(public_path, keys, err) : status;
}

pn_status pn_curve_make(const char *path, pn_curve_keys *keys, pn_err *err)
{
    size_t room = strlen(path) + sizeof ".pub";
    char *public_path;
    pn_status status;

    memset(keys, 0, sizeof *keys);
    if (zmq_curve_keypair(keys->public_key, keys->secret_key) != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "federated.keys: this libzmq was built without CURVE");
    PN_TRY(pn_new(&public_path, room, err, "federated.keys: out of memory for a path"));
    (void)snprintf(public_path, room, "%s.pub", path);
    status = write_pair(path, public_path, keys, err);
    pn_free(public_path);
    if (status != PN_OK)
        sodium_memzero(keys, sizeof *keys);
    return status;
}

/* ---- reading ---- */

static bool is_key(const char *text, size_t length)
{
    unsigned char bytes[KEY_BYTES];
    char copy[PN_CURVE_TEXT];
    bool is;

    if (length != KEY_TEXT)
        return false;
    memcpy(copy, text, KEY_TEXT);
    copy[KEY_TEXT] = '\0';
    is = strlen(copy) == KEY_TEXT && zmq_z85_decode(bytes, copy) != NULL;
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(copy, sizeof copy);
    return is;
}

/* The key behind `word` at the start of a line; NULL when there is none. */
static const char *find_key(const char *text, const char *word)
{
    size_t length = strlen(word);

    while (*text) {
        size_t line = strcspn(text, "\n");

        if (line == length + 1 + KEY_TEXT && memcmp(text, word, length) == 0 && text[length] == ' ' &&
            is_key(text + length + 1, KEY_TEXT))
            return text + length + 1;
        text += line + (text[line] == '\n');
    }
    return NULL;
}

/* The text of a small regular file.  `secret`: nobody else may read it. */
static pn_status read_file(const char *path, bool secret, char text[FILE_MAX + 1], pn_err *err)
{
    pn_status status = pn_file_check_link("federated.keys", path, err);
    struct stat info = { 0 };
    ssize_t got = -1;
    int fd;

    if (status != PN_OK)
        return status;
    fd = pn_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return cannot(path, "opened", errno, err);
    if (secret)
        status = pn_file_check_owner(fd, PN_FILE_SECRET, "federated.keys", path, err);
    if (status == PN_OK && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        got = read(fd, text, FILE_MAX + 1);
        if (got < 0)
            status = cannot(path, "read", errno, err);
    }
    (void)close(fd);
    if (status != PN_OK)
        return status;
    if (got < 0 || got > FILE_MAX)
        return pn_fail(err, PN_EPARSE, "federated.keys: %.300s: this is not a key file", path);
    text[got] = '\0';
    return PN_OK;
}

pn_status pn_curve_read(const char *path, pn_curve_keys *keys, pn_err *err)
{
    char text[FILE_MAX + 1];
    const char *key;
    pn_status status = read_file(path, true, text, err);

    memset(keys, 0, sizeof *keys);
    if (status != PN_OK)
        return status;
    key = find_key(text, "secret");
    if (key)
        memcpy(keys->secret_key, key, KEY_TEXT);
    else if (find_key(text, "public"))
        status =
            pn_fail(err, PN_EPARSE, "federated.keys: %.300s: this is a public key; the secret one is needed", path);
    else
        status = pn_fail(err, PN_EPARSE, "federated.keys: %.300s: this is not a secret key file", path);
    sodium_memzero(text, sizeof text);
    if (status == PN_OK && zmq_curve_public(keys->public_key, keys->secret_key) != 0)
        status = pn_fail(err, PN_EUNSUPPORTED, "federated.keys: this libzmq was built without CURVE");
    if (status != PN_OK)
        sodium_memzero(keys, sizeof *keys);
    return status;
}

pn_status pn_curve_public(const char *text_or_path, char key[PN_CURVE_TEXT], pn_err *err)
{
    char text[FILE_MAX + 1];
    const char *found;
    pn_status status;

    key[0] = '\0';
    /* A path may look like a key, so a file that is there comes first. */
    if (access(text_or_path, F_OK) != 0) {
        if (!is_key(text_or_path, strlen(text_or_path)))
            return pn_fail(err, PN_EPARSE,
                           "federated.keys: \"%.300s\" is neither a public key nor a file that "
                           "holds one; " LOOKS,
                           text_or_path);
        memcpy(key, text_or_path, PN_CURVE_TEXT);
        return PN_OK;
    }
    status = read_file(text_or_path, false, text, err);
    if (status != PN_OK)
        return status;
    found = find_key(text, "public");
    if (found) {
        memcpy(key, found, KEY_TEXT);
        key[KEY_TEXT] = '\0';
    } else if (find_key(text, "secret")) {
        status =
            pn_fail(err, PN_EPARSE,
                    "federated.keys: %.300s: this is a secret key, which only its owner may hold; the public key is "
                    "in the file of that name with .pub appended",
                    text_or_path);
    } else {
        status = pn_fail(err, PN_EPARSE, "federated.keys: %.300s: no public key in it; " LOOKS, text_or_path);
    }
    sodium_memzero(text, sizeof text);
    return status;
}
