/* repl_edit.c -- an entry of several lines is one text to the editor: Enter goes on where an entry is not finished and
 * indents, Alt-Enter always breaks the line, Up and Down move between lines and, at the first and last one, between the
 * entries of the history that begin with what has been typed.
 * Depends on: repl.h, GNU readline.  Used by: repl_input.c. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "bindings/prompt/repl.h"

static char *typed; /* what Up and Down look for at the beginning of entries */

/* ---- lines of the entry ---- */

static int line_start(int at)
{
    while (at > 0 && rl_line_buffer[at - 1] != '\n')
        at--;
    return at;
}

static int line_end(int at)
{
    while (at < rl_end && rl_line_buffer[at] != '\n')
        at++;
    return at;
}

/* To the column of the cursor in the line that begins at `start`, or as near as it goes. */
static void move_to_line(int start)
{
    int column = rl_point - line_start(rl_point), end = line_end(start);

    rl_point = start + column < end ? start + column : end;
    while (rl_point > start && ((unsigned char)rl_line_buffer[rl_point] & 0xC0) == 0x80)
        rl_point--;
}

/* Of the line; where the cursor is there already, of the entry. */
int repl_home_key(int count, int key)
{
    int start = line_start(rl_point);

    (void)count;
    (void)key;
    rl_point = rl_point == start ? 0 : start;
    return 0;
}

int repl_end_key(int count, int key)
{
    int end = line_end(rl_point);

    (void)count;
    (void)key;
    rl_point = rl_point == end ? rl_end : end;
    return 0;
}

/* ---- Enter ---- */

/* More keys are there already: text that is pasted, which has its own indentation. */
static bool keys_wait(void)
{
    struct pollfd in = { fileno(rl_instream), POLLIN, 0 };

    return poll(&in, 1, 0) > 0;
}

/* How far penumbra.prompt wants the cursor's line and the next to be indented; -1: as they are. */
static void ask_indentation(int *own, int *next)
{
    lua_State *L = repl_input_state();
    int top = lua_gettop(L);
    char *before = strndup(rl_line_buffer, (size_t)rl_point);

    *own = *next = -1;
    if (before && repl_ask(L, "indent", before, 2)) {
        *own = lua_isinteger(L, -2) ? (int)lua_tointeger(L, -2) : -1;
        *next = lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : -1;
    }
    lua_settop(L, top);
    free(before);
}

static void insert_blanks(int count)
{
    for (int i = 0; i < count; i++)
        (void)rl_insert_text(" ");
}

/* "end" and the like move to the left when their line is done. */
static void indent_own_line(int columns)
{
    int start = line_start(rl_point), blanks = (int)strspn(rl_line_buffer + start, " ");

    if (start == 0 || columns < 0 || blanks <= columns)
        return;
    (void)rl_delete_text(start, start + blanks - columns);
    rl_point -= blanks - columns;
}

static int break_line(bool indented)
{
    int own = -1, next = -1;

    if (indented)
        ask_indentation(&own, &next);
    rl_begin_undo_group();
    indent_own_line(own);
    (void)rl_insert_text("\n");
    insert_blanks(next);
    rl_end_undo_group();
    return 0;
}

int repl_break_key(int count, int key)
{
    (void)count;
    (void)key;
    return break_line(!keys_wait());
}

int repl_enter_key(int count, int key)
{
    int own, next;

    if (repl_input_gives_up())
        return rl_newline(count, key);
    if (!repl_is_finished(repl_input_state(), rl_line_buffer))
        return break_line(!keys_wait());
    rl_point = rl_end;
    if (memchr(rl_line_buffer, '\n', (size_t)rl_end) && !keys_wait()) {
        ask_indentation(&own, &next);
        indent_own_line(own);
        (*rl_redisplay_function)();
    }
    repl_display_whole();
    return rl_newline(count, key);
}

/* ---- Up and Down ---- */

/* What stands before the cursor counts from the first of several such keys on. */
static void note_typed(void)
{
    if (rl_last_func == repl_up_key || rl_last_func == repl_down_key)
        return;
    free(typed);
    typed = line_start(rl_point) == 0 ? strndup(rl_line_buffer, (size_t)rl_point) : NULL;
}

static bool is_wanted(void)
{
    return !typed || strncmp(rl_line_buffer, typed, strlen(typed)) == 0;
}

/* To the next entry in a direction that begins as typed; else back to where it was. */
static int search(rl_command_func_t *onward, rl_command_func_t *back, int key)
{
    int steps = 0, before = where_history(), point = rl_point;

    for (int at = before;; at = where_history()) {
        (void)onward(1, key);
        if (where_history() == at) { /* the end of the history */
            if (steps > 0)
                (void)back(steps, key);
            rl_point = point < rl_end ? point : rl_end;
            return 0;
        }
        steps++;
        if (is_wanted())
            return 0;
    }
}

int repl_up_key(int count, int key)
{
    int start = line_start(rl_point);

    (void)count;
    note_typed();
    if (start == 0)
        return search(rl_get_previous_history, rl_get_next_history, key);
    move_to_line(line_start(start - 1));
    return 0;
}

int repl_down_key(int count, int key)
{
    int end = line_end(rl_point);

    (void)count;
    note_typed();
    if (end == rl_end)
        return search(rl_get_next_history, rl_get_previous_history, key);
    move_to_line(end + 1);
    return 0;
}
