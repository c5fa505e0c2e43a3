/* repl_complete.c -- the Tab key: names that may stand at the cursor, by penumbra.prompt.complete (stdlib/),
 * which sees the whole entry.
 * Depends on: repl.h, GNU readline.  Used by: repl_input.c. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>

#include "bindings/prompt/repl.h"

/* What may stand at the cursor: matches[0] is what all have in common, then come the names, as readline wants them. */
typedef struct offer {
    char **matches;
    int count; /* of the names */
    int longest;
    int start; /* where the word begins that they replace */
} offer;

static void clear(offer *self)
{
    for (int i = 0; self->matches && self->matches[i]; i++)
        free(self->matches[i]);
    free(self->matches);
}

static size_t common_length(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    while (n > 0 && ((unsigned char)a[n] & 0xC0) == 0x80) /* not within a character */
        n--;
    return n;
}

/* names: one a line, at least one.  False when memory ran out; clear frees in any case. */
static bool split(offer *out, const char *names)
{
    size_t lines = 1, common = 0;
    char *beginning;

    for (const char *c = names; *c; c++)
        lines += *c == '\n';
    out->matches = calloc(lines + 2, sizeof *out->matches);
    if (!out->matches)
        return false;
    out->matches[0] = strdup(""); /* so that clear sees the rest */
    for (const char *name = names; out->matches[out->count] && name; out->count++) {
        size_t length = strcspn(name, "\n");
        char *copy = strndup(name, length);

        if (!copy)
            return false;
        out->matches[out->count + 1] = copy;
        common = out->count == 0                                 ? length
                 : common_length(out->matches[1], copy) < common ? common_length(out->matches[1], copy)
                                                                 : common;
        out->longest = (int)length > out->longest ? (int)length : out->longest;
        name = name[length] ? name + length + 1 : NULL;
    }
    if (!out->matches[0])
        return false;
    beginning = strndup(out->matches[1], common);
    if (!beginning)
        return false;
    free(out->matches[0]);
    out->matches[0] = beginning;
    return true;
}

/* False when nothing is to be offered. */
static bool look_up(offer *out)
{
    lua_State *L = repl_input_state();
    int top = lua_gettop(L);
    char *before = strndup(rl_line_buffer, (size_t)rl_point);
    bool found = false;

    if (before && repl_ask(L, "complete", before, 2) && lua_isstring(L, -2) && lua_rawlen(L, -2) > 0) {
        lua_Integer start = lua_tointeger(L, -1);

        out->start = start >= 1 && start <= rl_point + 1 ? (int)start - 1 : rl_point;
        found = split(out, lua_tostring(L, -2));
    }
    lua_settop(L, top);
    free(before);
    return found;
}

static void insert_common(const offer *from)
{
    const char *common = from->matches[0];
    size_t typed = (size_t)(rl_point - from->start);

    if (from->count > 1 && strlen(common) <= typed)
        return;
    if (strlen(common) == typed && strncmp(rl_line_buffer + from->start, common, typed) == 0)
        return;
    rl_begin_undo_group();
    (void)rl_delete_text(from->start, rl_point);
    rl_point = from->start;
    (void)rl_insert_text(common);
    rl_end_undo_group();
}

/* Below the entry, which is then shown again. */
static void list(const offer *from)
{
    int point = rl_point;

    rl_point = rl_end;
    (*rl_redisplay_function)();
    rl_display_match_list(from->matches, from->count, from->longest);
    rl_point = point;
    (void)rl_forced_update_display();
}

/* Where only blanks stand before the cursor in its line there is nothing to complete: indent. */
static bool at_indentation(void)
{
    int i = rl_point;

    while (i > 0 && (rl_line_buffer[i - 1] == ' ' || rl_line_buffer[i - 1] == '\t'))
        i--;
    return i == 0 || rl_line_buffer[i - 1] == '\n';
}

int repl_complete_key(int count, int key)
{
    offer found = { NULL, 0, 0, 0 };

    (void)count;
    (void)key;
    if (at_indentation())
        return rl_insert_text("  ") < 0;
    if (look_up(&found)) {
        insert_common(&found);
        if (found.count > 1)
            list(&found);
    } else {
        (void)rl_ding();
    }
    clear(&found);
    return 0;
}
