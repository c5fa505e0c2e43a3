/* fail_calls.c -- see fail_calls.h: the memory of who failed, and the wrappers of what the runtime calls.
 * Depends on: fail_calls.h, the libraries that the runtime calls. */
#define _GNU_SOURCE /* dladdr, vasprintf */
#include "fail_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <sodium.h>
#include <zlib.h>
#include <zmq.h>

#include "core/account.h"
#include "core/alloc.h"

/* ---- places ---- */

enum { SITES = 1 << 14, CHAIN = 8 /* about four of them the runtime's: the rest lead from its call to here */ };

typedef struct site {
    _Atomic(const void *) at;
    atomic_bool failed;
} site;

/* By a hash of the address; never full: some thousand calls there are.  What a forked child notes is noted. */
static site before_main[SITES], *sites = before_main;
static _Thread_local const void *here;
static _Atomic(fail_calls_fn) ask;
static void *asked;

FAIL_CALLS_DECLARE(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset))

__attribute__((constructor)) static void share_sites(void)
{
    void *shared = __real_mmap(NULL, sizeof before_main, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return;
    memcpy(shared, before_main, sizeof before_main);
    sites = shared;
}

static uint64_t mixed(uint64_t hash, const void *at)
{
    hash = (hash ^ (uint64_t)(size_t)at) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static site *site_of(const void *at)
{
    for (uint64_t i = mixed(0, at);; i++) {
        site *one = &sites[i % SITES];
        const void *empty = NULL;

        if (atomic_load(&one->at) == at || atomic_compare_exchange_strong(&one->at, &empty, at) || empty == at)
            return one;
    }
}

void fail_calls_ask(fail_calls_fn refuses, void *self)
{
    atomic_store(&ask, NULL);
    asked = self;
    atomic_store(&ask, refuses);
}

const void *fail_calls_site(void)
{
    return here;
}

void fail_calls_note(const void *at)
{
    here = at;
    (void)site_of(at);
}

bool fail_calls_refuses(const void *at)
{
    fail_calls_fn refuses = atomic_load(&ask);

    fail_calls_note(at);
    return refuses && refuses(asked, at);
}

void fail_calls_failed(const void *at)
{
    if (at)
        atomic_store(&site_of(at)->failed, true);
}

bool fail_calls_has_failed(const void *at)
{
    return atomic_load(&site_of(at)->failed);
}

uint64_t fail_calls_chain(void)
{
    void *frames[CHAIN];
    uint64_t hash = 1;

    for (int i = 0, n = backtrace(frames, CHAIN); i < n; i++)
        hash = mixed(hash, frames[i]);
    return hash;
}

__attribute__((destructor)) static void write_sites(void)
{
    const char *folder = getenv("PN_FAILED_CALLS");
    char path[4096];
    FILE *file;
    Dl_info in;

    (void)snprintf(path, sizeof path, "%s/%ld", folder ? folder : "", (long)getpid());
    file = folder && *folder ? fopen(path, "w") : NULL;

    if (file)
        (void)fprintf(file, "program %s\n", program_invocation_short_name);
    for (size_t i = 0; file && i < SITES; i++) {
        const void *at = atomic_load(&sites[i].at);

        if (at && dladdr(at, &in))
            (void)fprintf(file, "%s %tx %c\n", in.dli_fname, (const char *)at - (const char *)in.dli_fbase,
                          atomic_load(&sites[i].failed) ? 'F' : 'S');
    }
    if (file)
        (void)fclose(file);
}

/* ---- the runtime's allocator, which is asked behind these ---- */

FAIL_CALLS_NOTE(void *, pn_alloc, (size_t count, size_t size), (count, size))
FAIL_CALLS_NOTE(void *, pn_alloc_large, (size_t count, size_t size), (count, size))
FAIL_CALLS_NOTE(void *, pn_calloc, (size_t count, size_t size), (count, size))
FAIL_CALLS_NOTE(void *, pn_resize, (void *block, size_t count, size_t size), (block, count, size))
FAIL_CALLS_NOTE(void *, pn_plain_resize, (void *block, size_t bytes), (block, bytes))
FAIL_CALLS_NOTE(void *, pn_account_resize, (pn_account * account, void *block, size_t from, size_t to),
                (account, block, from, to))
FAIL_CALLS_NOTE(char *, pn_strdup, (const char *text), (text))

/* ---- libc and the system ---- */

#define NO_MEMORY(value) (errno = ENOMEM, (value))

FAIL_CALLS_WRAP(void *, malloc, (size_t size), (size), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(void *, calloc, (size_t count, size_t size), (count, size), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(void *, realloc, (void *block, size_t size), (block, size), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(char *, strdup, (const char *text), (text), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(char *, strndup, (const char *text, size_t most), (text, most), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(ssize_t, __getdelim, (char **line, size_t *size, int end, FILE *file), (line, size, end, file),
                NO_MEMORY(-1))
FAIL_CALLS_WRAP(ssize_t, getline, (char **line, size_t *size, FILE *file), (line, size, file), NO_MEMORY(-1))
FAIL_CALLS_WRAP(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
                (at, size, protection, flags, fd, offset), NO_MEMORY(MAP_FAILED))
FAIL_CALLS_WRAP(DIR *, opendir, (const char *path), (path), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(DIR *, fdopendir, (int fd), (fd), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(gzFile, gzdopen, (int fd, const char *mode), (fd, mode), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(void *, sodium_malloc, (size_t size), (size), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(int, pthread_create,
                (pthread_t * thread, const pthread_attr_t *attributes, void *(*body)(void *), void *self),
                (thread, attributes, body, self), EAGAIN)
FAIL_CALLS_WRAP(int, pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attributes),
                (mutex, attributes), ENOMEM)
FAIL_CALLS_WRAP(int, pthread_cond_init, (pthread_cond_t * cond, const pthread_condattr_t *attributes),
                (cond, attributes), ENOMEM)

static atomic_long started;

long fail_calls_started(void)
{
    return atomic_load(&started);
}

static pid_t *starting(pid_t *child)
{
    atomic_fetch_add(&started, 1);
    return child;
}

FAIL_CALLS_WRAP(int, posix_spawn,
                (pid_t * child, const char *path, const posix_spawn_file_actions_t *files,
                 const posix_spawnattr_t *attributes, char *const *words, char *const *environment),
                (starting(child), path, files, attributes, words, environment), ENOMEM)
FAIL_CALLS_WRAP(int, posix_spawnp,
                (pid_t * child, const char *path, const posix_spawn_file_actions_t *files,
                 const posix_spawnattr_t *attributes, char *const *words, char *const *environment),
                (starting(child), path, files, attributes, words, environment), ENOMEM)
FAIL_CALLS_WRAP(int, posix_spawn_file_actions_addopen,
                (posix_spawn_file_actions_t * files, int fd, const char *path, int flags, mode_t mode),
                (files, fd, path, flags, mode), ENOMEM)
FAIL_CALLS_WRAP(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t * files, int from, int to),
                (files, from, to), ENOMEM)
FAIL_CALLS_WRAP(int, posix_spawn_file_actions_addclosefrom_np, (posix_spawn_file_actions_t * files, int from),
                (files, from), ENOMEM)
FAIL_CALLS_WRAP(pid_t, fork, (void), (), NO_MEMORY(-1))

FAIL_CALLS_DECLARE(int, __asprintf_chk, (char **text, int flag, const char *format, ...))
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...)
{
    va_list list;
    int size;

    (void)flag;
    if (fail_calls_refuses(FAIL_CALLS_HERE))
        return NO_MEMORY(-1);
    va_start(list, format);
    size = vasprintf(text, format, list);
    va_end(list);
    return size;
}

/* ---- jansson: a refused call takes what it was given, as the real one does ---- */

FAIL_CALLS_WRAP(json_t *, json_array, (void), (), NULL)
FAIL_CALLS_WRAP(json_t *, json_object, (void), (), NULL)
FAIL_CALLS_WRAP(json_t *, json_string, (const char *text), (text), NULL)
FAIL_CALLS_WRAP(json_t *, json_stringn, (const char *text, size_t size), (text, size), NULL)
FAIL_CALLS_WRAP(json_t *, json_real, (double value), (value), NULL)
FAIL_CALLS_WRAP(json_t *, json_integer, (json_int_t value), (value), NULL)
/* Of no memory for the first buffer jansson says nothing. */
static json_t *unread(json_error_t *error)
{
    if (error)
        *error = (json_error_t){ .line = -1, .column = -1 };
    return NULL;
}

FAIL_CALLS_WRAP(json_t *, json_loads, (const char *text, size_t flags, json_error_t *error), (text, flags, error),
                unread(error))
FAIL_CALLS_WRAP(json_t *, json_loadb, (const char *text, size_t size, size_t flags, json_error_t *error),
                (text, size, flags, error), unread(error))
FAIL_CALLS_WRAP(char *, json_dumps, (const json_t *json, size_t flags), (json, flags), NULL)
FAIL_CALLS_WRAP(int, json_dump_callback, (const json_t *json, json_dump_callback_t callback, void *self, size_t flags),
                (json, callback, self, flags), -1)
FAIL_CALLS_WRAP(int, json_array_append_new, (json_t * array, json_t *value), (array, value), (json_decref(value), -1))
FAIL_CALLS_WRAP(int, json_object_set_new, (json_t * object, const char *key, json_t *value), (object, key, value),
                (json_decref(value), -1))

FAIL_CALLS_DECLARE(json_t *, json_pack, (const char *format, ...))
json_t *__wrap_json_pack(const char *format, ...)
{
    va_list list;
    json_t *made;

    va_start(list, format);
    made = json_vpack_ex(NULL, 0, format, list);
    va_end(list);
    if (made && fail_calls_refuses(FAIL_CALLS_HERE)) { /* it has taken what "o" names */
        json_decref(made);
        made = NULL;
    }
    return made;
}

/* ---- libzmq ---- */

FAIL_CALLS_WRAP(void *, zmq_ctx_new, (void), (), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(void *, zmq_socket, (void *context, int kind), (context, kind), NO_MEMORY(NULL))
FAIL_CALLS_WRAP(int, zmq_bind, (void *socket, const char *address), (socket, address), NO_MEMORY(-1))
FAIL_CALLS_WRAP(int, zmq_connect, (void *socket, const char *address), (socket, address), NO_MEMORY(-1))

/* Without an address it ends what watches the socket, and needs nothing for that. */
FAIL_CALLS_DECLARE(int, zmq_socket_monitor, (void *socket, const char *address, int events))
int __wrap_zmq_socket_monitor(void *socket, const char *address, int events)
{
    return address && fail_calls_refuses(FAIL_CALLS_HERE) ? NO_MEMORY(-1)
                                                          : __real_zmq_socket_monitor(socket, address, events);
}
