/* repl_input.c -- lines from a terminal, with history and completion, or from a pipe.
 * Depends on: repl.h, GNU readline.  Used by: repl.c.
 *
 * Readline is one per process, and so is what this file keeps. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include <lauxlib.h>

#include "repl.h"

#define HISTORY_ENTRIES 2000
#define WAKE_KEYS       3 /* newlines sent to readline at most to make it give up a line */

static lua_State *state;
static bool terminal;
static char *line;         /* the last one, freed with the next: pushing it may raise */
static size_t line_size;   /* for getline */
static char *history_path; /* NULL: nothing is kept */
static char *candidates;   /* names, one a line: what completion offers */
static int wake_keys;
static bool interrupted;

bool repl_input_is_terminal(void)
{
    return terminal;
}

/* ---- keys ---- */

/* Wait for a key; false when a signal came first.  SIGINT stays blocked from the look at readline's own note of it until
 * the wait, so that none is lost between. */
static bool wait_for_key(int fd)
{
    sigset_t block, before;
    fd_set ready;
    int found = -1;

    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigprocmask(SIG_BLOCK, &block, &before);
    FD_ZERO(&ready);
    FD_SET(fd, &ready);
    if (rl_pending_signal() == 0)
        found = pselect(fd + 1, &ready, NULL, NULL, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return found > 0 || (found < 0 && rl_pending_signal() == 0 && errno != EINTR);
}

/* After Ctrl-C readline is fed keys that end whatever it is doing; the line is then thrown away. */
static int next_key(FILE *in)
{
    unsigned char key;

    for (;;) {
        if (repl_take_interrupt()) {
            interrupted = true;
            wake_keys = WAKE_KEYS;
        }
        if (wake_keys > 0) {
            wake_keys--;
            return RL_ISSTATE(RL_STATE_COMPLETING) ? 'n' : '\n'; /* "n" answers "Display all ...?" */
        }
        if (wait_for_key(fileno(in))) {
            ssize_t got = read(fileno(in), &key, 1);

            if (got == 1)
                return key;
            if (got == 0 || errno != EINTR)
                return EOF;
        }
        rl_check_signals();
    }
}

/* ---- completion ---- */

static char *next_candidate(const char *text, int restart)
{
    static char *rest;
    char *name;

    (void)text;
    if (restart == 0)
        rest = candidates;
    name = rest && *rest ? strsep(&rest, "\n") : NULL;
    return name ? strdup(name) : NULL;
}

/* Asks penumbra.complete for the names that may stand here; the answer is one string, a name a line. */
static void fetch_candidates(const char *before)
{
    lua_State *L = state;

    free(candidates);
    candidates = NULL;
    luaL_checkstack(L, 4, "completion");
    if (luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) &&
        lua_getfield(L, -1, "penumbra.complete") == LUA_TFUNCTION) {
        lua_pushstring(L, before);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1))
            candidates = strdup(lua_tostring(L, -1));
    }
}

static char **complete(const char *text, int start, int end)
{
    char *before;
    int top = lua_gettop(state);

    (void)start;
    if (rl_completion_quote_character)
        return NULL; /* in a string: names of files */
    rl_attempted_completion_over = 1;
    rl_completion_append_character = '\0';
    before = strndup(rl_line_buffer, (size_t)end);
    if (!before)
        return NULL;
    fetch_candidates(before);
    lua_settop(state, top);
    free(before);
    return candidates && *candidates ? rl_completion_matches(text, next_candidate) : NULL;
}

/* Where only blanks stand before the cursor there is nothing to complete: indent. */
static int tab_key(int count, int key)
{
    for (int i = 0; i < rl_point; i++) {
        if (rl_line_buffer[i] != ' ' && rl_line_buffer[i] != '\t')
            return rl_complete_internal(rl_completion_mode(tab_key));
    }
    (void)count;
    (void)key;
    return rl_insert_text("  ") < 0;
}

/* ---- history ---- */

static char *find_history_path(void)
{
    const char *asked = getenv("PENUMBRA_HISTORY"), *home = getenv("HOME");
    char *path = NULL;

    if (asked)
        return *asked ? strdup(asked) : NULL;
    if (!home || !*home || asprintf(&path, "%s/.penumbra_history", home) < 0)
        return NULL;
    return path;
}

static void open_history(void)
{
    int fd;

    using_history();
    history_write_timestamps = 1; /* they also mark where an entry of several lines begins */
    history_comment_char = '#';
    history_path = find_history_path();
    if (!history_path)
        return;
    fd = open(history_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) { /* read-only home and the like: work without */
        free(history_path);
        history_path = NULL;
        return;
    }
    close(fd);
    (void)read_history(history_path);
    if (history_length > HISTORY_ENTRIES) {
        stifle_history(HISTORY_ENTRIES);
        (void)write_history(history_path);
    }
    stifle_history(HISTORY_ENTRIES);
}

void repl_input_remember(const char *entry)
{
    HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;

    if (!terminal || entry[strspn(entry, " \t\n")] == '\0' || (last && strcmp(last->line, entry) == 0))
        return;
    add_history(entry);
    if (history_path)
        (void)append_history(1, history_path); /* at once: a crash loses nothing */
}

/* ---- lines ---- */

void repl_input_open(lua_State *L)
{
    state = L;
    terminal = isatty(STDIN_FILENO);
    if (!terminal)
        return;
    (void)setlocale(LC_CTYPE, ""); /* so that the cursor counts characters, not bytes */
    rl_readline_name = "penumbra";
    rl_outstream = isatty(STDOUT_FILENO) ? stdout : stderr;
    rl_getc_function = next_key;
    rl_variable_bind("show-all-if-ambiguous", "on"); /* one Tab is enough; an inputrc may say otherwise */
    rl_attempted_completion_function = complete;
    rl_basic_word_break_characters = " \t\n\"'><=;|&{}()+-*/%^~#,[].:";
    rl_completer_quote_characters = "\"'";
    rl_add_defun("penumbra-tab", tab_key, '\t');
    open_history();
}

static repl_input line_from_terminal(lua_State *L, const char *prompt)
{
    free(line);
    interrupted = false;
    wake_keys = 0;
    (void)repl_take_interrupt();
    line = readline(prompt);
    if (interrupted)
        return REPL_INTERRUPTED;
    if (!line)
        return REPL_END;
    lua_pushstring(L, line);
    return REPL_LINE;
}

static repl_input line_from_pipe(lua_State *L)
{
    ssize_t length = getline(&line, &line_size, stdin);

    if (length < 0) {
        if (repl_take_interrupt())
            repl_die_of_interrupt(); /* nobody sees a prompt to go on at */
        return REPL_END;
    }
    if (length > 0 && line[length - 1] == '\n')
        length--;
    lua_pushlstring(L, line, (size_t)length);
    return REPL_LINE;
}

repl_input repl_input_line(lua_State *L, const char *prompt)
{
    return terminal ? line_from_terminal(L, prompt) : line_from_pipe(L);
}
