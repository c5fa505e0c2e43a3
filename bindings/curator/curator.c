/* curator.c -- analysts' scripts over private records, each in a process of its own (process.c) or, for hosts that
 * cannot, in a state of its own (inside.c).  CURATOR.md is the threat model.
 * Depends on: curator_impl.h.  Used by: hosts, lcurator.c. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bindings/curator/curator_impl.h"
#include "core/size.h"

/* ---- making ---- */

/* What is said reaches terminals. */
static void tell(void *object, pnl_host_channel channel, const char *text, size_t size)
{
    const pnl_curator *self = object;
    char *shown = self->log ? pnl_visible(text, size) : NULL;
    const char *told = shown ? shown : "(a line of output is missing: there was not enough memory for it)";

    if (self->log)
        self->log(self->self, channel, told, strlen(told));
    pn_free(shown);
}

static pn_status watch(void *object, const pn_progress *progress, pn_err *err)
{
    const pnl_curator *self = object;

    return self->progress ? self->progress(self->self, progress, err) : PN_OK;
}

static pn_status check(const pnl_host_options *limits, const pn_ledger *ledger, pn_err *err)
{
    if (!limits || limits->memory_bytes == 0 || !(limits->seconds > 0.0 && isfinite(limits->seconds)) ||
        limits->instructions == 0)
        return pn_fail(err, PN_EINVAL, "curator: memory_bytes, seconds and instructions must all be limited");
    if (!ledger)
        return pn_fail(err, PN_EINVAL, "curator: there is no ledger to charge");
    if (pn_ledger_budget(ledger)->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EINVAL,
                       "curator: the number of records is shown to analysts, which \"add_remove\" neighbours keep "
                       "secret; open the ledger for \"replace_one\"");
    if (pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EINVAL,
                       "curator: a teaching ledger accepts noise that protects nobody; open the "
                       "ledger without teaching");
    return PN_OK;
}

PNL_API pn_status pnl_curator_new(pnl_curator **out, const pnl_host_options *limits, pn_ledger *ledger, pn_err *err)
{
    pn_status status = check(limits, ledger, err);
    pnl_curator *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (!self || pthread_mutex_init(&self->lock, NULL) != 0) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    }
    self->limits = *limits;
    self->limits.log = tell;
    self->limits.progress = limits->progress ? watch : NULL;
    self->limits.self = self;
    self->log = limits->log;
    self->progress = limits->progress;
    self->self = limits->self;
    self->ledger = pn_ledger_keep(ledger);
    self->process = -1;
    *out = self;
    return PN_OK;
}

static void free_registered(pnl_registered *self)
{
    if (self && self->shared >= 0)
        (void)close(self->shared);
    if (self)
        pn_free(self->name);
    pn_free(self);
}

PNL_API void pnl_curator_free(pnl_curator *curator)
{
    if (!curator)
        return;
    for (size_t i = 0; i < curator->count; i++)
        free_registered(curator->data[i]);
    pn_free(curator->data);
    pn_free(curator->program);
    pn_ledger_free(curator->ledger);
    (void)pthread_mutex_destroy(&curator->lock);
    pn_free(curator);
}

/* ---- data ---- */

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return name && name[0] && !strchr("0123456789", name[0]) && strspn(name, letters) == strlen(name) &&
           strlen(name) <= 64;
}

static pn_status check_data(const pnl_curator *self, const char *name, const pn_dataset *data, pn_err *err)
{
    bool bounded = false;

    if (!is_name(name))
        return pn_fail(err, PN_EINVAL, "curator: the name of a data set must be a Lua identifier, got \"%.64s\"",
                       name ? name : "");
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->data[i]->name, name) == 0)
            return pn_fail(err, PN_EINVAL, "curator: there is a data set \"%s\" already", name);
    }
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        bounded = bounded || isfinite(data->bounds.norm[norm]);
    if (!bounded)
        return pn_fail(err, PN_EINVAL, "curator: no bound on the rows of %s is enforced: " PN_HOW_TO_BOUND_ROWS, name);
    if (data->absent || data->partial)
        return pn_fail(err, PN_EINVAL, "curator: this process does not hold all records of %s", name);
    return PN_OK;
}

PNL_API pn_status pnl_curator_data(pnl_curator *curator, const char *name, const pn_dataset *data, pn_err *err)
{
    pn_status status = check_data(curator, name, data, err);
    pnl_registered **more, *made;

    if (status != PN_OK)
        return status;
    more = pn_resize(curator->data, curator->count + 1, sizeof(pnl_registered *));
    if (more)
        curator->data = more;
    made = more ? pn_calloc(1, sizeof *made) : NULL;
    if (made) {
        made->shared = -1;
        made->name = pn_strdup(name);
    }
    if (!made || !made->name) {
        free_registered(made);
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    }
    made->view = *data;
    made->view.name = made->name;
    made->view.features = NULL;
    made->view.feature_bytes = 0;
    made->view.recipe = NULL;
    curator->data[curator->count++] = made;
    return PN_OK;
}

/* ---- where scripts run ---- */

PNL_API void pnl_curator_in_process(pnl_curator *curator, bool here)
{
    curator->inside = here;
}

PNL_API pn_status pnl_curator_program(pnl_curator *curator, const char *program, pn_err *err)
{
    char *copy = pn_strdup(program);

    if (program && !copy)
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    pn_free(curator->program);
    curator->program = copy;
    return PN_OK;
}

#define MOST_LEVELS 6 /* lib/x86_64-linux-gnu/lua/5.4/penumbra, seen from the prefix */

static bool is_folder(const char *path)
{
    struct stat at;

    return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

/* "FOLDER/penumbra" or "FOLDER/bin/penumbra"; false when neither can be run. */
static bool is_there(char path[PATH_MAX], const char *folder)
{
    static const char *const places[] = { "%s/penumbra", "%s/bin/penumbra" };

    for (size_t i = 0; i < 2; i++) {
        int length = snprintf(path, PATH_MAX, places[i], folder);

        if (length > 0 && length < PATH_MAX && access(path, X_OK) == 0 && !is_folder(path))
            return true;
    }
    return false;
}

/* In the folder of this library or of the program that it is linked into, or in one above it: a build tree, or an
 * installed prefix.  A folder `penumbra`, as lua/5.4/penumbra, is none. */
bool pnl_find_program(char **out)
{
    char folder[PATH_MAX], path[PATH_MAX];
    Dl_info about = { 0 };
    bool known = dladdr((void *)(size_t)&pnl_find_program, &about) != 0 && about.dli_fname[0] == '/';

    /* A program is known by what it was called as, in a folder that may be another by now. */
    if (!realpath(known ? about.dli_fname : "/proc/self/exe", folder))
        return true;
    for (int level = 0; level < MOST_LEVELS; level++) {
        char *slash = strrchr(folder, '/');

        if (!slash || slash == folder)
            return true;
        *slash = '\0';
        if (is_there(path, folder))
            return (*out = pn_strdup(path)) != NULL;
    }
    return true;
}

/* ---- running ---- */

/* Whether the curator was free for this run. */
static bool claim(pnl_curator *curator)
{
    bool was_free;

    (void)pthread_mutex_lock(&curator->lock);
    was_free = !curator->running;
    if (was_free)
        curator->cancelled = false;
    curator->running = true;
    (void)pthread_mutex_unlock(&curator->lock);
    return was_free;
}

static void let_go(pnl_curator *curator)
{
    (void)pthread_mutex_lock(&curator->lock);
    curator->running = false;
    (void)pthread_mutex_unlock(&curator->lock);
}

/* As all that is said, also by a process that is no longer itself. */
static pn_status show(pn_status status, char **answer, pn_err *err)
{
    const char *said = status != PN_OK ? (err ? err->message : "") : answer ? *answer : "";
    char *shown = pnl_visible(said, strlen(said));

    if (!shown) {
        if (answer)
            pn_free(*answer);
        if (answer)
            *answer = NULL;
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    }
    if (status == PN_OK && answer) {
        pn_free(*answer);
        *answer = shown;
        return PN_OK;
    }
    status = status == PN_OK ? PN_OK : pn_fail(err, status, "%s", shown);
    pn_free(shown);
    return status;
}

PNL_API pn_status pnl_curator_run(pnl_curator *curator, const char *code, size_t size, const char *name, char **answer,
                                  pn_err *err)
{
    const pnl_script script = { code, name, size };
    pn_status status;

    if (answer)
        *answer = NULL;
    if (!claim(curator))
        return pn_fail(err, PN_EINVAL, "curator: a script runs already; take a curator for each thread");
    status = (curator->inside ? pnl_script_inside : pnl_script_elsewhere)(curator, &script, answer, err);
    let_go(curator);
    return show(status, answer, err);
}

PNL_API void pnl_curator_cancel(pnl_curator *curator)
{
    (void)pthread_mutex_lock(&curator->lock);
    curator->cancelled = curator->running;
    if (curator->host)
        pnl_host_cancel(curator->host);
    if (curator->process >= 0)
        (void)syscall(SYS_pidfd_send_signal, curator->process, SIGKILL, NULL, 0);
    (void)pthread_mutex_unlock(&curator->lock);
}

/* ---- what both ways share ---- */

bool pnl_growth_allowed(pnl_growth *growth, const pn_ledger *ledger)
{
    size_t entries = pn_ledger_entries(ledger);

    growth->times += growth->entries != entries;
    growth->entries = entries;
    return growth->times <= PNL_MOST_CHARGES;
}

pn_status pnl_growth_refused(pn_err *err)
{
    return pn_fail(err, PN_EPRIVACY,
                   "another kind of charge is not available to analysts: a script can add %d entries to the curator's "
                   "ledger; repeat the same event under the same label, or ask in another script",
                   PNL_MOST_CHARGES);
}

/* C0 but for tabs and ends of lines, and DEL; in UTF-8 also C1, U+0080 to U+009F. */
static size_t control_bytes(const unsigned char *text, size_t left)
{
    if ((text[0] < 0x20 && text[0] != '\n' && text[0] != '\t') || text[0] == 0x7f)
        return 1;
    return left > 1 && text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f ? 2 : 0;
}

char *pnl_visible(const char *text, size_t size)
{
    const unsigned char *from = (const unsigned char *)text;
    char *made = size < PN_SIZE_MAX ? pn_alloc(4 * size + 1, 1) : NULL, *to = made;

    for (size_t i = 0; made && i < size;) {
        size_t hidden = control_bytes(from + i, size - i);

        if (hidden == 0)
            *to++ = text[i++];
        for (; hidden > 0; hidden--)
            to += snprintf(to, 5, "\\x%02x", from[i++]);
    }
    if (made)
        *to = '\0';
    return made;
}
