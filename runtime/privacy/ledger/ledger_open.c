/* ledger_open.c -- opening a ledger's file: the lock, what the lines and the head must agree on, and reading the lines.
 * Depends on: ledger_store.h, libsodium, POSIX.  Used by: ledger_record.c. */
#define _DEFAULT_SOURCE /* flock */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/file_place.h"
#include "privacy/ledger/ledger_store.h"

static pn_status cannot_open(const char *path, int error, pn_err *err)
{
    switch (error) {
    case ENOENT:
        return pn_fail(err, PN_EIO,
                       "ledger: %.300s: there is no such ledger; give a budget (epsilon = ...) to start one", path);
    case EISDIR:
        return pn_fail(err, PN_EIO, "ledger: %.300s: is a directory; give the path of a file", path);
    case ENOTSUP:
        return pn_fail(err, PN_EIO, "ledger: %.300s: is no regular file", path);
    default:
        return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be opened for reading and writing: %s", path,
                       strerror(error));
    }
}

static pn_status goes_backwards(const pn_store *store, const char *found, size_t expected, pn_err *err)
{
    return pn_fail(err, PN_EPARSE,
                   "ledger: %.200s: goes backwards: %s, but %.200s says that there were %zu; put the newest copy back",
                   store->path, found, store->head_path, expected);
}

/* Open one of the files, which must be ours; *fd stays -1 where there is none. */
static pn_status open_ours(int *fd, const char *path, pn_err *err)
{
    PN_TRY(pn_file_check_link("ledger", path, err));
    *fd = pn_disk_open(path, false, 0);
    if (*fd < 0)
        return errno == ENOENT ? PN_OK : cannot_open(path, errno, err);
    return pn_file_check_owner(*fd, PN_FILE_OURS, "ledger", path, err);
}

static pn_status make_file(pn_store *store, pn_err *err)
{
    store->fd = pn_disk_open(store->path, true, 0644);
    store->created = store->fd >= 0;
    if (store->fd < 0 && errno == EEXIST)
        return open_ours(&store->fd, store->path, err);
    if (store->fd < 0 && errno == ENOENT)
        return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be made: its directory does not exist", store->path);
    return PN_OK;
}

static pn_status open_file(pn_store *store, bool create, pn_err *err)
{
    pn_status status = open_ours(&store->fd, store->path, err);

    if (status != PN_OK || store->fd >= 0)
        return status;
    if (access(store->head_path, F_OK) == 0)
        return pn_fail(err, PN_EPARSE,
                       "ledger: %.200s: is missing, but %.200s says that there was one; put the newest copy back",
                       store->path, store->head_path);
    errno = ENOENT;
    status = create ? make_file(store, err) : PN_OK;
    return status == PN_OK && store->fd < 0 ? cannot_open(store->path, errno, err) : status;
}

static pn_status lock(pn_store *store, pn_err *err)
{
    long holder;

    if (flock(store->fd, LOCK_EX | LOCK_NB) == 0) {
        if (!pn_store_in_place(store)) /* who made it may have failed and removed it before it was locked here */
            return pn_fail(err, PN_EIO, "ledger: %.300s: was replaced while it was opened; try again", store->path);
        return PN_OK;
    }
    store->created = false;
    if (errno != EWOULDBLOCK)
        return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be locked: %s", store->path, strerror(errno));
    holder = pn_store_signed(store);
    if (holder == (long)getpid())
        return pn_fail(err, PN_EIO, "ledger: %.300s: is open in this process already; use that ledger, or let go of it",
                       store->path);
    if (holder > 0)
        return pn_fail(err, PN_EIO, "ledger: %.300s: is locked by process %ld; wait until it ends", store->path,
                       holder);
    return pn_fail(err, PN_EIO, "ledger: %.300s: is locked by another process; wait until it ends", store->path);
}

/* Each charge puts a new head in the place of the old one: in that of the file, not of a link to it. */
static pn_status follow_link(pn_store *store, pn_err *err)
{
    char whole[PATH_MAX], *path;
    struct stat info;

    if (lstat(store->head_path, &info) != 0 || !S_ISLNK(info.st_mode))
        return PN_OK;
    if (!realpath(store->head_path, whole))
        return pn_fail(err, errno == ENOMEM ? PN_ENOMEM : PN_EIO, "ledger: %.300s: the link cannot be followed: %s",
                       store->head_path, strerror(errno));
    path = pn_strdup(whole);
    PN_TRY(pn_made(path, err, "ledger: out of memory for a path"));
    pn_free(store->head_path);
    store->head_path = path;
    return PN_OK;
}

/* Who holds the lock replaces the head: it is opened behind the lock only. */
static pn_status open_files(pn_store *store, bool create, pn_err *err)
{
    pn_status status = open_file(store, create, err);

    if (status == PN_OK)
        status = lock(store, err);
    if (status == PN_OK)
        status = open_ours(&store->head, store->head_path, err);
    if (status == PN_OK && store->head >= 0)
        status = follow_link(store, err);
    if (status == PN_OK && store->head >= 0)
        pn_store_sign(store);
    return status;
}

/* The end of the line at `from`, or NULL when it does not end. */
static char *line_end(char *content, size_t size, size_t from)
{
    return from < size ? memchr(content + from, '\n', size - from) : NULL;
}

/* A start that never got to its first record: nothing was ever charged to it. */
static bool is_unborn(char *content, size_t size)
{
    size_t known = size < sizeof PN_STORE_FIRST - 1 ? size : sizeof PN_STORE_FIRST - 1;
    char *first = line_end(content, size, 0);

    return memcmp(content, PN_STORE_FIRST, known) == 0 &&
           (!first || !line_end(content, size, (size_t)(first - content) + 1));
}

static pn_status read_first_line(pn_store *store, size_t size, pn_err *err)
{
    char *end = line_end(store->content, size, 0);

    if (!end || strncmp(store->content, PN_STORE_MAGIC, sizeof PN_STORE_MAGIC - 1) != 0)
        return pn_fail(err, PN_EPARSE, "ledger: %.300s: this is no ledger", store->path);
    if (strncmp(store->content, PN_STORE_FIRST, sizeof PN_STORE_FIRST - 1) != 0)
        return pn_fail(err, PN_EPARSE, "ledger: %.300s: is of format %.*s; this program reads format 1", store->path,
                       (int)strcspn(store->content + sizeof PN_STORE_MAGIC - 1, " \n") % 20,
                       store->content + sizeof PN_STORE_MAGIC - 1);
    if ((size_t)(end - store->content) != sizeof PN_STORE_FIRST - 1 + PN_MAC_HEX ||
        !pn_store_read_mac(store->id, store->content + sizeof PN_STORE_FIRST - 1))
        return pn_fail(err, PN_EPARSE, "ledger: %.300s: line 1 was changed", store->path);
    memcpy(store->name, end - PN_MAC_HEX, PN_MAC_HEX);
    return PN_OK;
}

static bool verify_line(const pn_store *store, unsigned char mac[PN_MAC_BYTES], const char *line, size_t length)
{
    unsigned char said[PN_MAC_BYTES], want[PN_MAC_BYTES];

    if (length < PN_MAC_PLACE || memcmp(line + length - PN_MAC_PLACE, " | ", 3) != 0 ||
        !pn_store_read_mac(said, line + length - PN_MAC_HEX))
        return false;
    pn_store_chain(store, want, mac, line, length - PN_MAC_PLACE);
    if (memchr(line, '\0', length) || sodium_memcmp(said, want, PN_MAC_BYTES) != 0)
        return false;
    memcpy(mac, want, PN_MAC_BYTES);
    return true;
}

/* Count valid lines; whether the head's MAC is met at its place goes to *meets.  The rest starts at store->end. */
static void verify_lines(pn_store *store, size_t size, const pn_head *last, bool *meets)
{
    char *end = line_end(store->content, size, 0);

    pn_store_chain_start(store, store->mac);
    *meets = false;
    for (store->end = (size_t)(end - store->content) + 1; (end = line_end(store->content, size, store->end));
         store->end = (size_t)(end - store->content) + 1) {
        if (!verify_line(store, store->mac, store->content + store->end, (size_t)(end - store->content) - store->end))
            return;
        store->count++;
        *meets = *meets || (store->count == last->count && memcmp(store->mac, last->mac, PN_MAC_BYTES) == 0);
    }
}

static pn_status changed(const pn_store *store, pn_err *err)
{
    return pn_fail(err, PN_EPARSE,
                   "ledger: %.300s: line %zu was changed, or is not of this ledger and key; put the newest copy back",
                   store->path, store->count + 2);
}

/* What stands behind the valid lines is a charge that never returned only if it is one line, the one after the head. */
static bool is_torn(const pn_store *store, size_t size, size_t known)
{
    char *end = line_end(store->content, size, store->end);

    return store->count == known && (!end || end == store->content + size - 1);
}

static pn_status cut_rest(pn_store *store, size_t size, pn_err *err)
{
    if (store->end == size)
        return PN_OK;
    store->cut = true;
    if (ftruncate(store->fd, (off_t)store->end) != 0 || pn_file_sync(store->fd) != 0)
        return pn_fail(err, PN_EIO, "ledger: %.300s: a torn last line cannot be cut off: %s", store->path,
                       strerror(errno));
    return PN_OK;
}

/* Whether lines and head belong together. */
static pn_status check_content(const pn_store *store, size_t size, const pn_head *last, bool meets, pn_err *err)
{
    char found[64];

    (void)snprintf(found, sizeof found, "%zu whole record%s", store->count, store->count == 1 ? "" : "s");
    if (store->count == 0)
        return changed(store, err);
    if (last->count == 0 && (store->count != 1 || store->end != size))
        return pn_fail(err, PN_EPARSE,
                       "ledger: %.200s: has %s, but %.200s is missing or was changed, so nobody can tell whether it is "
                       "complete; put the newest copy back",
                       store->path, found, store->head_path);
    if (last->count > store->count && store->end == size)
        return goes_backwards(store, found, last->count, err);
    if (last->count > 0 && store->end != size && !is_torn(store, size, last->count))
        return changed(store, err);
    if (last->count > 0 && (!meets || store->count > last->count + 1))
        return pn_fail(err, PN_EPARSE, "ledger: %.200s: has %s, but %.200s is of another or an older ledger",
                       store->path, found, store->head_path);
    return PN_OK;
}

static pn_status is_copy(const char *which, const char *reason, pn_err *err)
{
    return pn_fail(
        err, PN_EPRIVACY,
        "ledger: %.200s: %s, and a second budget would come of it.  Open the ledger itself (it may be renamed within "
        "its file system); if that is gone for good and nothing was charged to it since, open this one with moved = "
        "true, once: the ledger records it",
        which, reason);
}

/* Whether these are the very files that were written, and the newest that was in them. */
static pn_status check_place(pn_store *store, const pn_head *last, pn_err *err)
{
    bool declared = store->moved;

    if (pn_file_marked(store->fd, PN_FILE_LEDGER, store->id) > (last->count ? store->count : 0))
        return pn_fail(err, PN_EPRIVACY,
                       "ledger: %.200s: goes backwards: an earlier copy was put back into it, which would give back "
                       "what was charged since; put the newest copy back",
                       store->path);
    store->moved = last->count > 0 &&
                   (last->format == 1 || !pn_store_knows_ledger(store, last) || !pn_store_knows_head(store, last));
    if (declared && !store->moved)
        return pn_fail(err, PN_EINVAL, "ledger: %.200s: was not moved; leave moved out", store->path);
    if (declared || !store->moved)
        return PN_OK;
    if (last->format == 1)
        return is_copy(store->head_path, "is of format 1, which does not tell a copy", err);
    return pn_store_knows_ledger(store, last)
               ? is_copy(store->head_path, "is a copy, or an earlier one that was put back", err)
               : is_copy(store->path, "is a copy of the file that was written", err);
}

static pn_status take_content(pn_store *store, size_t size, pn_err *err)
{
    pn_head last;
    bool meets;
    pn_status status = pn_store_read_head(store, &last, err);
    int error;

    if (status != PN_OK)
        return status;
    verify_lines(store, size, &last, &meets);
    status = check_content(store, size, &last, meets, err);
    if (status == PN_OK)
        status = check_place(store, &last, err);
    if (status == PN_OK)
        status = cut_rest(store, size, err);
    if (status != PN_OK || store->moved) /* where it was moved, a record of that comes, and with it a head */
        return status;
    error = store->count > last.count ? pn_store_write_head(store) : 0;
    return error ? pn_fail(err, PN_EIO, "ledger: %.300s: cannot be written: %s", store->head_path, strerror(error))
                 : PN_OK;
}

static pn_status open_content(pn_store *store, bool create, bool *is_new, pn_err *err)
{
    size_t size;
    pn_status status = pn_disk_read(store->fd, "ledger", store->path, &store->content, &size, err);

    if (status != PN_OK)
        return status;
    *is_new = is_unborn(store->content, size);
    if (!*is_new) {
        status = read_first_line(store, size, err);
        if (status == PN_OK)
            status = pn_disk_read_key(store->key.bytes, store->key_path, err);
        return status == PN_OK ? take_content(store, size, err) : status;
    }
    if (store->head >= 0)
        return pn_fail(
            err, PN_EPARSE,
            "ledger: %.200s: goes backwards: it is empty, but %.200s says that it was not; put the newest copy back",
            store->path, store->head_path);
    if (!create)
        return cannot_open(store->path, ENOENT, err);
    if (ftruncate(store->fd, 0) != 0)
        return pn_fail(err, PN_EIO, "ledger: %.300s: cannot be written: %s", store->path, strerror(errno));
    randombytes_buf(store->id, sizeof store->id);
    (void)sodium_bin2hex(store->name, sizeof store->name, store->id, sizeof store->id);
    return pn_disk_make_key(store->key.bytes, store->key_path, err);
}

static char *join(const char *path, const char *end)
{
    size_t size = strlen(path) + strlen(end) + 1;
    char *whole = pn_alloc(size, 1);

    if (whole)
        (void)snprintf(whole, size, "%s%s", path, end);
    return whole;
}

pn_status pn_store_open(pn_store **out, const char *path, const char *key, unsigned how, bool *is_new, pn_err *err)
{
    bool create = (how & PN_STORE_CREATE) && !(how & PN_STORE_MOVED);
    pn_store *store;
    pn_status status;

    *out = NULL;
    if (!*path)
        return pn_fail(err, PN_EINVAL, "ledger: path is empty; give the path of a file");
    if (sodium_init() < 0)
        return pn_fail(err, PN_EIO, "ledger: libsodium could not start; the system gives no randomness");
    PN_TRY(pn_new_zeroed(&store, 1, err, "ledger: out of memory"));
    store->fd = store->head = -1;
    store->moved = (how & PN_STORE_MOVED) != 0;
    store->path = pn_strdup(path);
    store->key_path = key ? pn_strdup(key) : join(path, ".key");
    store->head_path = join(path, ".head");
    store->key = pn_secret_new(PN_KEY_BYTES);
    status = store->path && store->key_path && store->head_path && store->key.bytes
                 ? open_files(store, create, err)
                 : pn_fail(err, PN_ENOMEM, "ledger: out of memory");
    if (status == PN_OK)
        status = open_content(store, create, is_new, err);
    if (status != PN_OK)
        pn_store_close(store);
    else
        *out = store;
    return status;
}

void pn_store_close(pn_store *store)
{
    if (!store)
        return;
    if (store->created && store->count == 0)
        (void)unlink(store->path);
    if (store->head >= 0)
        (void)close(store->head);
    if (store->fd >= 0)
        (void)close(store->fd); /* a forked child has its own copy: the lock stays with the parent */
    pn_secret_clear(&store->key);
    pn_free(store->content);
    pn_free(store->path);
    pn_free(store->key_path);
    pn_free(store->head_path);
    pn_free(store);
}

bool pn_store_moved(const pn_store *store)
{
    return store->moved;
}

/* The lines were verified; each is cut before its MAC, in place. */
pn_status pn_store_replay(pn_store *store, pn_store_take take, void *self, pn_err *err)
{
    pn_status status = PN_OK;
    char *at = store->content ? strchr(store->content, '\n') + 1 : NULL;

    for (size_t i = 0; i < store->count && status == PN_OK; i++) {
        char *end = strchr(at, '\n'), context[200];

        end[-PN_MAC_PLACE] = '\0';
        status = take(self, i, at, err);
        if (status != PN_OK) {
            (void)snprintf(context, sizeof context, "ledger: %.150s: line %zu", store->path, i + 2);
            status = pn_fail_in(err, status, context);
        }
        at = end + 1;
    }
    pn_free(store->content);
    store->content = NULL;
    return status;
}
