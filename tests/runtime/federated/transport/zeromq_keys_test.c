/* zeromq_keys_test.c -- keys in files: made once, readable by their owner only, never mistaken for each other. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "federated/transport/zeromq.h"

static char folder[] = "/tmp/penumbra-keys-XXXXXX";
static char path[128], public_path[128];

static void put(const char *where, const char *text, mode_t mode)
{
    FILE *file = fopen(where, "w");

    if (file) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    (void)chmod(where, mode);
}

static bool exists(const char *where)
{
    return access(where, F_OK) == 0;
}

static unsigned mode_of(const char *where)
{
    struct stat info;

    return stat(where, &info) == 0 ? (unsigned)(info.st_mode & 0777) : 0;
}

static void a_pair_is_made_and_read_again(void)
{
    pn_curve_keys made, read;
    char key[PN_CURVE_TEXT], line[200] = "";
    pn_err err;
    FILE *file;

    CHECK(pn_curve_make(path, &made, &err) == PN_OK);
    CHECK(strlen(made.public_key) == 40 && strlen(made.secret_key) == 40);
    CHECK(strcmp(made.public_key, made.secret_key) != 0);
    CHECK(mode_of(path) == 0600 && mode_of(public_path) == 0644);
    CHECK(pn_curve_read(path, &read, &err) == PN_OK);
    CHECK(strcmp(read.public_key, made.public_key) == 0 && strcmp(read.secret_key, made.secret_key) == 0);
    CHECK(pn_curve_public(public_path, key, &err) == PN_OK && strcmp(key, made.public_key) == 0);
    CHECK(pn_curve_public(made.public_key, key, &err) == PN_OK && strcmp(key, made.public_key) == 0);
    file = fopen(path, "r");
    CHECK(file && fgets(line, sizeof line, file) && strncmp(line, "# Secret key of Penumbra", 24) == 0);
    if (file)
        (void)fclose(file);
}

static void nothing_is_overwritten(void)
{
    pn_curve_keys keys, before;
    pn_err err;

    CHECK(pn_curve_read(path, &before, &err) == PN_OK);
    CHECK(pn_curve_make(path, &keys, &err) == PN_EINVAL && strstr(err.message, "not overwritten") != NULL);
    (void)unlink(public_path);
    CHECK(pn_curve_make(path, &keys, &err) == PN_OK && exists(public_path)); /* of a maker that was killed */
    CHECK(strcmp(keys.secret_key, before.secret_key) == 0 && strcmp(keys.public_key, before.public_key) == 0);
    (void)unlink(path);
    (void)unlink(public_path);
    put(path, "something else\n", 0600);
    CHECK(pn_curve_make(path, &keys, &err) == PN_EINVAL && !exists(public_path) && keys.secret_key[0] == '\0');
    (void)unlink(path);
    put(public_path, "something else\n", 0644);
    CHECK(pn_curve_make(path, &keys, &err) == PN_EINVAL && !exists(path));
    (void)unlink(public_path);
    CHECK(pn_curve_make("/nonexistent/keys", &keys, &err) == PN_EIO);
    CHECK(strstr(err.message, "/nonexistent/keys: cannot be written") != NULL);
}

static void a_secret_that_others_may_read_is_refused(void)
{
    static const mode_t modes[] = { 0640, 0604, 0620, 0644, 0660 };
    pn_curve_keys keys;
    pn_err err;

    CHECK(pn_curve_make(path, &keys, &err) == PN_OK);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        (void)chmod(path, modes[i]);
        CHECK(pn_curve_read(path, &keys, &err) == PN_EIO && strstr(err.message, "chmod 600") != NULL);
        CHECK(keys.secret_key[0] == '\0');
    }
    (void)chmod(path, 0400);
    CHECK(pn_curve_read(path, &keys, &err) == PN_OK);
}

static void files_are_told_apart(void)
{
    pn_curve_keys keys;
    char key[PN_CURVE_TEXT], other[128];
    pn_err err;

    (void)snprintf(other, sizeof other, "%s/other", folder);
    CHECK(pn_curve_public(path, key, &err) == PN_EPARSE && strstr(err.message, "this is a secret key") != NULL);
    (void)chmod(public_path, 0600);
    CHECK(pn_curve_read(public_path, &keys, &err) == PN_EPARSE && strstr(err.message, "this is a public key") != NULL);
    put(other, "", 0600);
    CHECK(pn_curve_read(other, &keys, &err) == PN_EPARSE);
    CHECK(pn_curve_public(other, key, &err) == PN_EPARSE);
    put(other, "secret 0123456789012345678901234567890123456789x\n", 0600);
    CHECK(pn_curve_read(other, &keys, &err) == PN_EPARSE);
    put(other, "secret ~123456789012345678901234567890123456789\n", 0600);
    CHECK(pn_curve_read(other, &keys, &err) == PN_EPARSE);
    put(other, "# by hand, without a line end\nsecret 0123456789012345678901234567890123456789", 0600);
    CHECK(pn_curve_read(other, &keys, &err) == PN_OK && strlen(keys.public_key) == 40);
    CHECK(pn_curve_public("no-such-file", key, &err) == PN_EPARSE &&
          strstr(err.message, "40 characters of Z85") != NULL);
    CHECK(pn_curve_public("", key, &err) == PN_EPARSE);
    CHECK(pn_curve_read("no-such-file", &keys, &err) == PN_EIO);
    CHECK(pn_curve_read(folder, &keys, &err) == PN_EPARSE);
    CHECK(pn_curve_read("/dev/zero", &keys, &err) == PN_EPARSE);
    (void)unlink(other);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(path, sizeof path, "%s/clinic.key", folder);
    (void)snprintf(public_path, sizeof public_path, "%s/clinic.key.pub", folder);
    a_pair_is_made_and_read_again();
    nothing_is_overwritten();
    a_secret_that_others_may_read_is_refused();
    files_are_told_apart();
    (void)unlink(path);
    (void)unlink(public_path);
    CHECK(rmdir(folder) == 0); /* no other file was left behind */
    return check_summary();
}
