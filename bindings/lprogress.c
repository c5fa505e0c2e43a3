/* lprogress.c -- the frame around a long call: cancelling it, drawing its bar, calling a user's progress function.
 * Depends on: progress.h, POSIX terminal calls.  Used by: loaders and solvers; the program's Ctrl-C.
 *
 * A frame is a userdata in the registry; its user values hold the outer frame and the user's function. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define QUIET_SECONDS  0.3 /* shorter work draws nothing */
#define REDRAW_SECONDS 0.1
#define LINE_MAX_BYTES 512
#define ECHO_COLUMNS   2 /* left free behind the bar: the terminal writes ^C there */
#define BAR_MIN        8
#define BAR_MAX        40

enum { KEPT_OUTER = 1, KEPT_FUNCTION = 2 };

typedef struct run {
    lua_State *L;
    struct run *outer; /* kept by user value 1 */
    pn_progress_fn listener;
    char label[48];
    double begun;      /* seconds on the monotonic clock */
    double phase_base; /* `done` and the time at the first report under this label: the rate is measured from there */
    double phase_begun;
    double drawn_at;
    int drawn_columns; /* 0: nothing to clear */
} run;

static const char run_key = 'p';

/* What Ctrl-C stops.  A lock-free atomic, so that a signal handler may read it. */
static _Atomic(pn_task *) running = NULL;

bool pnl_run_cancel(void)
{
    pn_task *task = atomic_load(&running);

    if (task)
        pn_task_cancel(task);
    return task != NULL;
}

static double now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the bar ---- */

static int terminal_columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* 12:34 or 1:02:03. */
static void format_time(char *out, size_t size, double seconds)
{
    long whole = seconds < 3.6e6 ? lround(seconds) : -1;

    if (!(seconds >= 0.0) || whole < 0)
        (void)snprintf(out, size, "--:--");
    else if (whole < 3600)
        (void)snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
    else
        (void)snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

/* Three significant digits and a unit: 12.3k. */
static void format_count(char *out, size_t size, double value)
{
    static const char *const units[] = { "", "k", "M", "G", "T" };
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000.0;
        unit++;
    }
    (void)snprintf(out, size, "%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

/* What stands right of the bar; the share done, or a negative number when the total is unknown. */
static double describe(char *out, size_t size, const run *self, const pn_progress *progress, double now)
{
    double share = progress->total > 0.0 ? fmin(fmax(progress->done / progress->total, 0.0), 1.0) : -1.0;
    double rate = (progress->done - self->phase_base) / (now - self->phase_begun);
    char count[24], speed[24], elapsed[24], left[24];
    bool known = isfinite(rate) && rate > 0.0; /* not yet at the first report */

    format_count(count, sizeof count, progress->done);
    format_count(speed, sizeof speed, known ? rate : 0.0);
    format_time(elapsed, sizeof elapsed, now - self->begun);
    format_time(left, sizeof left, known ? (progress->total - progress->done) / rate : 0.0);
    if (share >= 0.0 && known)
        (void)snprintf(out, size, "%3.0f%%  %s/s  %s, %s left", floor(100.0 * share), speed, elapsed, left);
    else if (share >= 0.0)
        (void)snprintf(out, size, "%3.0f%%  %s", floor(100.0 * share), elapsed);
    else if (known)
        (void)snprintf(out, size, "%s done  %s/s  %s", count, speed, elapsed);
    else
        (void)snprintf(out, size, "%s done  %s", count, elapsed);
    return share;
}

static void clear_bar(run *self)
{
    char line[LINE_MAX_BYTES + ECHO_COLUMNS + 2];
    size_t columns = (size_t)self->drawn_columns + ECHO_COLUMNS;

    if (self->drawn_columns == 0)
        return;
    line[0] = '\r';
    memset(line + 1, ' ', columns);
    line[columns + 1] = '\r';
    (void)fwrite(line, 1, columns + 2, stderr);
    self->drawn_columns = 0;
}

/* "label  [=====>    ]  45%  1.2k/s  0:03, 0:04 left", cut to `columns`. */
static int compose(char *line, size_t size, int columns, const run *self, double share, const char *text)
{
    int fixed = (int)strlen(self->label) + (int)strlen(text) + 6, width = columns - fixed, used;
    char bar[BAR_MAX + 1];

    if (share >= 0.0 && width >= BAR_MIN) {
        int filled;

        width = width < BAR_MAX ? width : BAR_MAX;
        filled = (int)(share * width);
        memset(bar, ' ', (size_t)width);
        memset(bar, '=', (size_t)filled);
        if (filled < width)
            bar[filled] = '>';
        bar[width] = '\0';
        used = snprintf(line, size, "%s  [%s]  %s", self->label, bar, text);
    } else {
        used = snprintf(line, size, "%s  %s", self->label, text);
    }
    return used < columns ? used : columns;
}

static void draw(run *self, const pn_progress *progress, double now)
{
    char line[LINE_MAX_BYTES], text[128], frame[2 * LINE_MAX_BYTES + 2];
    int columns = terminal_columns() - 1 - ECHO_COLUMNS, used, bytes;
    double share = describe(text, sizeof text, self, progress, now);

    if (columns < 1)
        return;
    if (columns > LINE_MAX_BYTES - 1)
        columns = LINE_MAX_BYTES - 1;
    used = compose(line, sizeof line, columns, self, share, text);
    if (self->drawn_columns == 0)
        (void)fflush(stdout); /* what a script has written so far comes before the bar */
    bytes =
        snprintf(frame, sizeof frame, "\r%-*.*s", self->drawn_columns > used ? self->drawn_columns : used, used, line);
    (void)fwrite(frame, 1, (size_t)bytes, stderr); /* one write, so that the bar does not flicker */
    self->drawn_columns = used;
}

static void note_phase(run *self, const pn_progress *progress, double now)
{
    if (strncmp(self->label, progress->label, sizeof self->label - 1) == 0)
        return;
    (void)snprintf(self->label, sizeof self->label, "%s", progress->label);
    self->phase_base = progress->done;
    self->phase_begun = now;
}

static pn_status listen_for_bar(void *ud, const pn_progress *progress, pn_err *err)
{
    run *self = ud;
    double now = now_seconds();

    (void)err;
    note_phase(self, progress, now);
    if (now - self->begun < QUIET_SECONDS || now - self->drawn_at < REDRAW_SECONDS)
        return PN_OK;
    self->drawn_at = now;
    draw(self, progress, now);
    return PN_OK;
}

/* ---- a user's function ---- */

/* Under pcall, with the pn_progress as its argument. */
static int call_function(lua_State *L)
{
    const pn_progress *progress = lua_touserdata(L, 1);

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    lua_getiuservalue(L, -1, KEPT_FUNCTION);
    lua_pushnumber(L, progress->done);
    if (progress->total > 0.0)
        lua_pushnumber(L, progress->total);
    else
        lua_pushnil(L);
    lua_pushstring(L, progress->label);
    lua_call(L, 3, 0);
    return 0;
}

static int remember_error(lua_State *L)
{
    pnl_set_error(L);
    return 0;
}

static pn_status listen_for_function(void *ud, const pn_progress *progress, pn_err *err)
{
    run *self = ud;
    lua_State *L = self->L;

    if (!lua_checkstack(L, LUA_MINSTACK))
        return pn_fail(err, PN_ENOMEM, "progress: out of memory");
    lua_pushcfunction(L, call_function);
    lua_pushlightuserdata(L, (void *)(size_t)progress);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return PN_OK;
    lua_pushcfunction(L, remember_error); /* entering it may need memory: not outside a protected call */
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        lua_pop(L, 1);
    return pn_fail(err, PN_ECALLBACK, "%s: the progress function raised an error", progress->label);
}

/* ---- the frame ---- */

/* `function` is a stack index, or 0. */
static void begin(lua_State *L, pn_progress_fn listener, int function)
{
    pn_task *task = pnl_task(L);
    run *self = lua_newuserdatauv(L, sizeof *self, 2);

    memset(self, 0, sizeof *self);
    self->L = L;
    self->listener = listener;
    self->begun = self->phase_begun = now_seconds();
    if (function) {
        lua_pushvalue(L, function);
        lua_setiuservalue(L, -2, KEPT_FUNCTION);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self->outer = lua_touserdata(L, -1);
    lua_setiuservalue(L, -2, KEPT_OUTER);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &run_key);

    if (self->outer)
        clear_bar(self->outer);
    else
        pn_task_reset(task);
    pn_task_listen(task, listener, self);
    atomic_store(&running, task);
}

void pnl_run_begin(lua_State *L, bool progress)
{
    begin(L, progress && isatty(STDERR_FILENO) ? listen_for_bar : NULL, 0);
}

void pnl_run_begin_at(lua_State *L, int index, const char *owner)
{
    index = lua_absindex(L, index);
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        pnl_run_begin(L, true);
        break;
    case LUA_TBOOLEAN:
        pnl_run_begin(L, lua_toboolean(L, index));
        break;
    case LUA_TFUNCTION:
        begin(L, listen_for_function, index);
        break;
    default:
        luaL_error(L, "%s: progress must be true, false or a function(done, total, label), got %s", owner,
                   luaL_tolstring(L, index, NULL));
    }
}

void pnl_run_end(lua_State *L)
{
    pn_task *task = pnl_task(L);
    run *self;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self = lua_touserdata(L, -1);
    if (self) {
        clear_bar(self);
        pn_task_listen(task, self->outer ? self->outer->listener : NULL, self->outer);
        if (!self->outer) {
            atomic_store(&running, (pn_task *)NULL);
            pn_task_reset(task);
        }
        lua_getiuservalue(L, -1, KEPT_OUTER);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &run_key); /* the key is there: nothing is allocated */
    }
    lua_pop(L, 1);
}

lua_State *pnl_run_state(lua_State *L)
{
    run *self;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return self ? self->L : L;
}

bool pnl_run_active(lua_State *L)
{
    bool active = lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key) == LUA_TUSERDATA;

    lua_pop(L, 1);
    return active;
}
