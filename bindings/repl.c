/* repl.c -- the prompt: read an entry of one or more lines, evaluate it, print what it is worth.
 * Depends on: repl.h; penumbra.show (stdlib/) for printing.  Used by: main.c. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "repl.h"

#define PROMPT      "pn> "
#define PROMPT_MORE "..> "

/* A syntax error at the very end: more lines may mend it. */
static bool ends_too_early(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t length;
    const char *message = lua_tolstring(L, -1, &length);

    return status == LUA_ERRSYNTAX && message && length >= sizeof mark - 1 &&
           strcmp(message + length - (sizeof mark - 1), mark) == 0;
}

static int load_text(lua_State *L, const char *text)
{
    return luaL_loadbufferx(L, text, strlen(text), "=prompt", "t");
}

/* "help frank_wolfe" is no Lua, but what people type: push it as the call that it means. */
static bool compile_help(lua_State *L, const char *entry)
{
    static const char word[] = "help ", legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:";
    const char *name = entry + sizeof word - 1;
    size_t length;

    if (strncmp(entry, word, sizeof word - 1) != 0)
        return false;
    name += strspn(name, " ");
    length = strspn(name, legal);
    if (length == 0 || name[length + strspn(name + length, " ")] != '\0')
        return false;
    lua_pushfstring(L, "return help \"%s\"", name);
    if (load_text(L, lua_tostring(L, -1)) != LUA_OK) {
        lua_pop(L, 2);
        return false;
    }
    lua_remove(L, -2);
    return true;
}

/* Of several lines the last one may be an expression, as in a pasted "a = 1 <newline> a + 1".  Push it as a function, or
 * nothing; `*more` as for compile. */
static bool compile_last_line(lua_State *L, const char *entry, bool *more)
{
    size_t length = strlen(entry), start;
    int status;

    while (length > 0 && strchr(" \t\n", entry[length - 1]))
        length--;
    for (start = length; start > 0 && entry[start - 1] != '\n'; start--)
        ;
    if (start == 0)
        return false;
    lua_pushlstring(L, entry, start);
    lua_pushliteral(L, "return ");
    lua_pushstring(L, entry + start);
    lua_concat(L, 3);
    status = load_text(L, lua_tostring(L, -1));
    lua_remove(L, -2);
    *more = ends_too_early(L, status);
    if (status != LUA_OK)
        lua_pop(L, 1);
    return status == LUA_OK;
}

/* Push the entry as a function (an expression is worth its values) or a message.  `*more`: it is only a beginning. */
static int compile(lua_State *L, const char *entry, bool *more)
{
    const char *as_expression = lua_pushfstring(L, "return %s", entry);
    int status = load_text(L, as_expression);

    lua_remove(L, -2);
    *more = ends_too_early(L, status);
    if (status == LUA_OK)
        return LUA_OK;
    lua_pop(L, 1);
    if (compile_help(L, entry)) {
        *more = false;
        return LUA_OK;
    }
    status = load_text(L, entry);
    *more = status != LUA_OK && (*more || ends_too_early(L, status));
    if (status != LUA_OK && !*more && compile_last_line(L, entry, more)) {
        lua_remove(L, -2); /* the message */
        return LUA_OK;
    }
    return status;
}

/* Said once: an entry is a chunk of its own, and its locals end with it. */
static void note_local(const char *entry)
{
    static bool said;

    if (said || !repl_input_is_terminal() || strncmp(entry, "local ", 6) != 0 || strchr(entry, '\n'))
        return;
    said = true;
    (void)fputs("(a local lasts for its entry only; without `local` the name stays)\n", stdout);
}

/* REPL_LINE: pushes a function, or a message with *status set.  Else nothing. */
static repl_input read_entry(lua_State *L, int *status)
{
    repl_input input = repl_input_line(L, PROMPT);
    bool more = false;

    if (input != REPL_LINE)
        return input;
    for (;;) {
        *status = compile(L, lua_tostring(L, 1), &more);
        if (!more)
            break;
        input = repl_input_line(L, PROMPT_MORE);
        if (input == REPL_INTERRUPTED)
            return input;
        if (input == REPL_END)
            break;
        lua_remove(L, 2); /* the message about the unfinished entry */
        lua_pushliteral(L, "\n");
        lua_insert(L, 2);
        lua_concat(L, 3);
    }
    repl_input_remember(lua_tostring(L, 1));
    if (*status == LUA_OK)
        note_local(lua_tostring(L, 1));
    lua_remove(L, 1);
    return REPL_LINE;
}

/* The values are the whole stack: keep the first as `_`, and show all. */
static void show(lua_State *L)
{
    int count = lua_gettop(L);

    if (count == 0)
        return;
    if (!lua_isnil(L, 1)) {
        lua_pushvalue(L, 1);
        lua_setglobal(L, "_");
    }
    luaL_checkstack(L, LUA_MINSTACK, "too many values to show");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, "penumbra.show") != LUA_TTABLE || lua_getfield(L, -1, "print") != LUA_TFUNCTION) {
        lua_settop(L, count);
        lua_getglobal(L, "print");
    }
    lua_insert(L, 1);
    lua_settop(L, count + 1);
    if (repl_call(L, count, 0, REPL_ENTRY) != LUA_OK)
        repl_report(L, "");
}

static void evaluate(lua_State *L)
{
    int status = repl_call(L, 0, LUA_MULTRET, REPL_ENTRY);

    if (status != LUA_OK) {
        repl_report(L, repl_was_interrupted() && isatty(STDERR_FILENO) ? "\n" : ""); /* off the line of ^C */
        return;
    }
    if (repl_stopped_a_run()) {
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s(stopped by Ctrl-C: this is what the run had reached)\n",
                      isatty(STDERR_FILENO) ? "\r" : "");
    }
    show(L);
    (void)fflush(stdout);
}

int repl_run(lua_State *L)
{
    repl_input_open(L);
    for (;;) {
        int status = LUA_OK;
        repl_input input;

        lua_settop(L, 0);
        input = read_entry(L, &status);
        if (input == REPL_END)
            break;
        if (input == REPL_INTERRUPTED)
            continue;
        if (status == LUA_OK)
            evaluate(L);
        else
            repl_report(L, "");
    }
    if (repl_input_is_terminal())
        (void)fputs("\n", stdout);
    return 0;
}
