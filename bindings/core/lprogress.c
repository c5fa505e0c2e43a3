/* lprogress.c -- the frame around a long call: cancelling it, drawing its bar, calling a user's progress function.
 * Depends on: progress.h, progress_text.h, POSIX terminal calls.  Used by: loaders and solvers; the program's Ctrl-C.
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

#include "bindings/core/progress.h"
#include "bindings/core/progress_text.h"
#include "core/process.h"
#include "core/stop.h"

#define QUIET_SECONDS  0.3 /* shorter work draws nothing */
#define REDRAW_SECONDS 0.1
#define LINE_MAX_BYTES 512
#define ECHO_COLUMNS   2 /* left free behind the bar: the terminal writes ^C there */
#define BAR_MIN        5
#define BAR_MAX        40
#define BAR_ROOMY      20 /* with this much left for the bar, the time that has passed is shown, too */

enum { KEPT_OUTER = 1, KEPT_FUNCTION = 2 };

typedef struct run {
    lua_State *L;
    struct run *outer; /* kept by user value 1 */
    pn_progress_fn listener;
    char label[48];
    pnl_pace pace;
    double drawn_at;
    int drawn_columns; /* 0: nothing to clear */
    bool of_lua;
    bool lent;
    const pn_task *stopped_before; /* what sets stopped with outside of the frame */
} run;

static const char run_key = 'p', stop_key = 's';

/* A lock-free atomic, so that a signal handler may read it. */
struct pnl_run_stop {
    pid_t process; /* a forked child draws no bar */
    _Atomic(pn_task *) running;
    atomic_bool in_lua;                       /* the innermost frame is around Lua code */
    void (*show)(void *ud, const char *line); /* who has the bar instead of the terminal; NULL: nobody */
    void *ud;
};

pnl_run_stop *pnl_run_stopper(lua_State *L)
{
    pnl_run_stop *stop;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &stop_key) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        stop = lua_newuserdatauv(L, sizeof *stop, 0);
        stop->process = pn_process();
        atomic_init(&stop->running, (pn_task *)NULL);
        atomic_init(&stop->in_lua, false);
        stop->show = NULL;
        stop->ud = NULL;
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &stop_key);
    }
    stop = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return stop;
}

bool pnl_run_cancel(pnl_run_stop *stop)
{
    pn_task *task = atomic_load(&stop->running);

    if (task)
        pn_task_cancel(task);
    return task != NULL && !atomic_load(&stop->in_lua);
}

void pnl_run_show_bar(lua_State *L, void (*show)(void *ud, const char *line), void *ud)
{
    pnl_run_stop *stop = pnl_run_stopper(L);

    stop->show = show;
    stop->ud = ud;
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

static bool in_forked_child(const run *self)
{
    return pn_process() != pnl_run_stopper(self->L)->process;
}

/* A child's clearing goes out in one write with the line that is printed next: between two,
 * the parent could draw its bar again. */
static FILE *stream_to_clear(const run *self)
{
    return in_forked_child(self) && isatty(STDOUT_FILENO) ? stdout : stderr;
}

static void clear_bar(run *self)
{
    const pnl_run_stop *stop = pnl_run_stopper(self->L);
    char line[LINE_MAX_BYTES + ECHO_COLUMNS + 2];
    size_t columns = (size_t)self->drawn_columns + ECHO_COLUMNS;

    if (self->drawn_columns == 0)
        return;
    if (stop->show) {
        stop->show(stop->ud, "");
        self->drawn_columns = 0;
        return;
    }
    line[0] = '\r';
    memset(line + 1, ' ', columns);
    line[columns + 1] = '\r';
    (void)fwrite(line, 1, columns + 2, stream_to_clear(self));
    self->drawn_columns = 0;
}

/* Columns that are left for the bar between a label and a text. */
static int bar_room(const run *self, const char *text, int columns)
{
    return columns - (int)strlen(self->label) - (int)strlen(text) - 6;
}

/* "label  [=====>    ]  45%  1.2k/s  0:04 left", cut to `columns`. */
static int compose(char *line, size_t size, int columns, const run *self, double share, const char *text)
{
    int width = bar_room(self, text, columns), used;
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

/* The bar is drawn over that of an outer frame. */
static void take_over(run *self)
{
    for (run *outer = self->outer; outer; outer = outer->outer) {
        if (outer->drawn_columns > self->drawn_columns)
            self->drawn_columns = outer->drawn_columns;
        outer->drawn_columns = 0;
    }
}

static void draw(run *self, const pn_progress *progress, double now)
{
    const pnl_run_stop *stop = pnl_run_stopper(self->L);
    char line[LINE_MAX_BYTES], text[192], frame[2 * LINE_MAX_BYTES + 2];
    int columns = terminal_columns() - 1 - ECHO_COLUMNS, used, bytes;

    if (columns < 1 || in_forked_child(self))
        return;
    if (columns > LINE_MAX_BYTES - 1)
        columns = LINE_MAX_BYTES - 1;
    pnl_progress_describe(text, sizeof text, &self->pace, progress, now, true);
    if (bar_room(self, text, columns) < BAR_ROOMY)
        pnl_progress_describe(text, sizeof text, &self->pace, progress, now, false);
    used = compose(line, sizeof line, columns, self, pnl_progress_share(progress), text);
    take_over(self);
    if (stop->show) {
        line[used] = '\0';
        self->drawn_columns = used;
        stop->show(stop->ud, line);
        return;
    }
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
    self->pace.phase_base = progress->done;
    self->pace.phase_begun = now;
}

static pn_status listen_for_bar(void *ud, const pn_progress *progress, pn_err *err)
{
    run *self = ud;
    double now = now_seconds();

    (void)err;
    note_phase(self, progress, now);
    if (now - self->pace.begun < QUIET_SECONDS || now - self->drawn_at < REDRAW_SECONDS)
        return PN_OK;
    self->drawn_at = now;
    draw(self, progress, now);
    return PN_OK;
}

/* ---- a user's function ---- */

static void push_known(lua_State *L, double number, bool known)
{
    if (known)
        lua_pushnumber(L, number);
    else
        lua_pushnil(L);
}

/* Under pcall, with the pn_progress as its argument. */
static int call_function(lua_State *L)
{
    const pn_progress *progress = lua_touserdata(L, 1);

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    lua_getiuservalue(L, -1, KEPT_FUNCTION);
    lua_pushnumber(L, progress->done);
    push_known(L, progress->total, progress->total > 0.0);
    lua_pushstring(L, progress->label);
    push_known(L, progress->value, !isnan(progress->value));
    push_known(L, progress->spent, !isnan(progress->spent));
    lua_call(L, 5, 0);
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
    pnl_run_stop *stop = pnl_run_stopper(L);
    run *self = lua_newuserdatauv(L, sizeof *self, 2);

    memset(self, 0, sizeof *self);
    self->L = L;
    self->listener = listener;
    self->pace.begun = self->pace.phase_begun = now_seconds();
    if (function) {
        lua_pushvalue(L, function);
        lua_setiuservalue(L, -2, KEPT_FUNCTION);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self->outer = lua_touserdata(L, -1);
    lua_setiuservalue(L, -2, KEPT_OUTER);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &run_key);

    if (!self->outer)
        pn_task_reset(task);
    pn_task_listen(task, listener, self);
    atomic_store(&stop->in_lua, false);
    atomic_store(&stop->running, task);
}

void pnl_run_begin(lua_State *L, bool progress)
{
    bool seen = isatty(STDERR_FILENO) || pnl_run_stopper(L)->show;

    begin(L, progress && seen && !pnl_curated(L) && !pn_task_watched(pnl_task(L)) ? listen_for_bar : NULL, 0);
}

void pnl_run_lend_task(lua_State *L)
{
    run *self;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self = lua_touserdata(L, -1);
    lua_pop(L, 1);
    self->lent = true;
    self->stopped_before = pn_stop_enter(pnl_task(L));
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
        pnl_refuse_analyst(L, "progress = function", "when it is called depends on the records");
        begin(L, listen_for_function, index);
        break;
    default:
        luaL_error(L, "%s: progress must be true, false or a function(done, total, label, value, spent), got %s", owner,
                   pnl_text(L, index));
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
        if (self->lent)
            (void)pn_stop_enter(self->stopped_before);
        pn_task_listen(task, self->outer ? self->outer->listener : NULL, self->outer);
        atomic_store(&pnl_run_stopper(L)->in_lua,
                     self->outer && self->outer->of_lua); /* made by begin: nothing is allocated */
        if (!self->outer) {
            atomic_store(&pnl_run_stopper(L)->running, (pn_task *)NULL);
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

/* A forked child draws no bar, but prints where its parent's may be at any time. */
static void note_bar_of_parent(run *self)
{
    int columns = terminal_columns() - 1 - ECHO_COLUMNS;

    if (self->listener == listen_for_bar && columns > 0 && in_forked_child(self))
        self->drawn_columns = columns < LINE_MAX_BYTES - 1 ? columns : LINE_MAX_BYTES - 1;
}

void pnl_run_hide_bar(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key) == LUA_TUSERDATA)
        for (run *self = lua_touserdata(L, -1); self; self = self->outer) {
            note_bar_of_parent(self);
            clear_bar(self);
        }
    lua_pop(L, 1);
}

static int print_beside_bar(lua_State *L)
{
    pnl_run_hide_bar(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 0);
    return 0;
}

void pnl_run_print_beside_bar(lua_State *L)
{
    lua_getglobal(L, "print");
    lua_pushcclosure(L, print_beside_bar, 1);
    lua_setglobal(L, "print");
}

bool pnl_run_active(lua_State *L)
{
    bool active = lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key) == LUA_TUSERDATA;

    lua_pop(L, 1);
    return active;
}

void pnl_run_mark_lua(lua_State *L)
{
    run *self;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &run_key);
    self = lua_touserdata(L, -1);
    lua_pop(L, 1);
    self->of_lua = true;
    atomic_store(&pnl_run_stopper(L)->in_lua, true);
}
