/* repl_input.c -- entries from a terminal, with history, editing (repl_edit.c, repl_display.c) and completion
 * (repl_complete.c), or lines from a pipe.  Depends on: repl.h, GNU readline.  Used by: repl.c.
 *
 * Readline is one per process, and so is what this file keeps. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include <lauxlib.h>

#include "bindings/prompt/repl.h"
#include "core/file.h"

#define HISTORY_ENTRIES 2000
#define WAKE_KEYS       3   /* newlines sent to readline at most to make it give up a line */
#define LOOK_MS         100 /* between two looks whether a signal came */

static lua_State *state;
static bool terminal;
static char *line;         /* the last one, freed with the next: pushing it may raise */
static size_t line_size;   /* for getline */
static char *history_path; /* NULL: nothing is kept */
static int wake_keys;
static bool interrupted;
static bool searched;                   /* Ctrl-C left a search */
static bool blanked;                    /* what Ctrl-C ended is off the screen's last line */
static bool was_empty;                  /* when Ctrl-C came */
static volatile sig_atomic_t continued; /* after Ctrl-Z: the shell has written below the entry */

bool repl_input_is_terminal(void)
{
    return terminal;
}

lua_State *repl_input_state(void)
{
    return state;
}

bool repl_input_gives_up(void)
{
    return interrupted;
}

bool repl_input_was_empty(void)
{
    return was_empty;
}

/* ---- keys ---- */

/* Wait for a key; false when a signal may have come first.  One that comes just before the wait does not end it, nor
 * one that a thread of OpenBLAS takes, which blocks none: after a stop most do.  So the wait is short,
 * and the caller looks again. */
static bool wait_for_key(int fd)
{
    struct pollfd key = { .fd = fd, .events = POLLIN };
    int found = poll(&key, 1, LOOK_MS);

    return found > 0 || (found < 0 && errno != EINTR);
}

/* Leave a search, then end the line.  Readline has moved the cursor to the last line of the entry, but thinks it on the
 * first: there it is to see nothing any more. */
static int wake_key(void)
{
    static const char clear_below[] = "\033[J"; /* of what a search had found */

    if (RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH)) {
        searched = true;
        return CTRL('G');
    }
    if (!blanked)
        (void)fprintf(rl_outstream, "\r\n%s", searched ? clear_below : ""); /* readline would not leave an empty line */
    searched = false;
    blanked = true;
    rl_replace_line("", 0);
    (void)rl_set_prompt("");
    (void)rl_on_new_line();
    return '\n';
}

static void on_continue(int signal_number)
{
    (void)signal_number;
    continued = 1;
}

static void show_again(void)
{
    continued = 0;
    (void)rl_on_new_line();
    (void)rl_forced_update_display();
}

/* After Ctrl-C readline is fed keys that end whatever it is doing; the line is then thrown away. */
static int next_key(FILE *in)
{
    unsigned char key;

    for (;;) {
        if (continued)
            show_again();
        if (repl_take_interrupt()) {
            interrupted = true;
            blanked = false;
            was_empty = rl_end == 0;
            wake_keys = WAKE_KEYS;
        }
        if (wake_keys > 0) {
            wake_keys--;
            return wake_key();
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

/* ---- history ---- */

/* NULL where none is to be kept, and, with ENOMEM, where memory ran out. */
static char *find_history_path(void)
{
    const char *asked = getenv("PENUMBRA_HISTORY"), *home = getenv("HOME");
    char *path = NULL;

    errno = 0;
    if (asked)
        return *asked ? strdup(asked) : NULL;
    if (!home || !*home || asprintf(&path, "%s/.penumbra_history", home) < 0)
        return NULL;
    return path;
}

/* The entries from number `from` on as the file has them: each a time, then its lines.  NULL when memory ran out. */
static char *entries_text(int from, size_t *size)
{
    HIST_ENTRY **list = history_list();
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    bool whole;

    for (int i = 0; out && list && list[i]; i++) {
        if (i >= from && list[i]->timestamp && list[i]->timestamp[0])
            (void)fprintf(out, "%s\n", list[i]->timestamp);
        if (i >= from)
            (void)fprintf(out, "%s\n", list[i]->line);
    }
    whole = out && !ferror(out);
    if (out && fclose(out) == 0 && whole)
        return text;
    free(text);
    return NULL;
}

/* What cannot be kept is told once, and then is kept for this session only. */
static bool history_fails(int error)
{
    if (error && history_path) {
        (void)fprintf(stderr, "penumbra: the history in %s cannot be written: %s\n", history_path, strerror(error));
        free(history_path);
        history_path = NULL;
    }
    return error != 0;
}

/* All of it anew, and whole. */
static void rewrite_history(void)
{
    size_t size = 0;
    char *text = entries_text(0, &size);

    (void)history_fails(text ? pn_file_put(history_path, text, size, 0600, true) : ENOMEM);
    free(text);
}

/* The file is there, and of its last line, whose writer was killed in it, nothing is left.  0 or errno. */
static int mend_history(void)
{
    int fd = pn_file_open(history_path, O_RDWR | O_CREAT | O_NOCTTY, 0600);
    off_t end, whole;
    char last = '\0';

    if (fd < 0)
        return errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) { /* nobody is about to write */
        whole = end = lseek(fd, 0, SEEK_END);
        while (whole > 0 && pread(fd, &last, 1, whole - 1) == 1 && last != '\n')
            whole--;
        if (whole < end)
            (void)!ftruncate(fd, whole);
    }
    close(fd);
    return 0;
}

static void open_history(void)
{
    int error;

    using_history();
    history_write_timestamps = 1; /* they also mark where an entry of several lines begins */
    history_comment_char = '#';
    free(history_path);
    history_path = find_history_path();
    if (!history_path && errno == ENOMEM)
        (void)fprintf(stderr, "penumbra: the history cannot be kept: %s\n", strerror(ENOMEM));
    if (!history_path)
        return;
    error = mend_history();
    if (error == EACCES || error == EROFS || error == ENOENT) { /* a home that is not to be written in: work without */
        free(history_path);
        history_path = NULL;
    }
    if (!history_path || history_fails(error))
        return;
    if (history_fails(read_history(history_path)))
        return;
    if (history_length > HISTORY_ENTRIES) {
        stifle_history(HISTORY_ENTRIES);
        rewrite_history();
    }
    stifle_history(HISTORY_ENTRIES);
}

bool repl_input_remember(const char *entry)
{
    HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
    size_t size = 0;
    char *text;
    bool fails;

    if (!terminal || entry[strspn(entry, " \t\n")] == '\0' || (last && strcmp(last->line, entry) == 0))
        return true;
    add_history(entry);
    if (!history_path)
        return false;
    text = entries_text(history_length - 1, &size); /* at once: a crash loses nothing */
    fails = history_fails(text ? pn_file_append(history_path, text, size, 0600, false) : ENOMEM);
    free(text);
    return !fails;
}

/* ---- lines ---- */

/* Before readline starts, so that an inputrc has the last word. */
static void bind_keys(void)
{
    static const struct {
        const char *name, *keys[4];
        rl_command_func_t *does;
    } keys[] = {
        { "penumbra-complete", { "\\C-i" }, repl_complete_key },
        { "penumbra-enter", { "\\C-m", "\\C-j" }, repl_enter_key },
        { "penumbra-break-line", { "\\e\\C-m", "\\e\\C-j" }, repl_break_key },
        { "penumbra-home", { "\\C-a", "\\e[H", "\\eOH", "\\e[1~" }, repl_home_key },
        { "penumbra-end", { "\\C-e", "\\e[F", "\\eOF", "\\e[4~" }, repl_end_key },
        { "penumbra-up", { "\\e[A", "\\eOA", "\\C-p" }, repl_up_key },
        { "penumbra-down", { "\\e[B", "\\eOB", "\\C-n" }, repl_down_key },
    };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        (void)rl_add_defun(keys[i].name, keys[i].does, -1);
        for (int k = 0; k < 4 && keys[i].keys[k]; k++)
            (void)rl_bind_keyseq(keys[i].keys[k], keys[i].does);
    }
}

void repl_input_open(lua_State *L)
{
    struct sigaction action;

    state = L;
    terminal = isatty(STDIN_FILENO);
    if (!terminal)
        return;
    (void)setlocale(LC_CTYPE, ""); /* so that the cursor counts characters, not bytes */
    rl_readline_name = "penumbra";
    rl_outstream = isatty(STDOUT_FILENO) ? stdout : stderr;
    rl_getc_function = next_key;
    rl_variable_bind("revert-all-at-newline", "on"); /* edited entries of the history stay what they were */
    rl_variable_bind("page-completions", "off");
    bind_keys();
    (void)rl_initialize(); /* with a redisplay of one's own it would not ask what the terminal can do */
    rl_redisplay_function = repl_display_entry;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_continue; /* no SA_RESTART: the wait for a key wakes up */
    sigemptyset(&action.sa_mask);
    sigaction(SIGCONT, &action, NULL);
    open_history();
}

static repl_input line_from_terminal(lua_State *L, const char *prompt)
{
    free(line);
    interrupted = false;
    wake_keys = 0;
    (void)repl_take_interrupt();
    repl_display_prompt(prompt);
    rl_reset_screen_size(); /* the window may have changed while an entry ran */
    continued = 0;
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
    ssize_t length;
    int error;

    errno = 0;
    length = getline(&line, &line_size, stdin);
    error = errno;
    if (length < 0) {
        if (repl_take_interrupt())
            repl_die_of_interrupt(); /* nobody sees a prompt to go on at */
        if (error == ENOMEM)
            (void)luaL_error(L, "not enough memory for a line of standard input");
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
