/* repl.c -- the prompt: read an entry of one or more lines, run it, say what it is worth.  What an entry means, and how
 * its values and errors are shown, is Lua's to say: penumbra.prompt (stdlib/).
 * Depends on: repl.h, penumbra.prompt.  Used by: main.c. */
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bindings/prompt/repl.h"

#define MOST_FAILURES 10

void repl_push_prompt(lua_State *L, const char *name)
{
    luaL_checkstack(L, LUA_MINSTACK, "the prompt");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "penumbra.prompt");
    lua_getfield(L, -1, name);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* Replace the function and arguments on the top by one result; a failure is reported and leaves nothing. */
static bool ask(lua_State *L, int arguments)
{
    if (repl_call(L, arguments, 1, REPL_ENTRY) == LUA_OK)
        return true;
    repl_report(L, "");
    return false;
}

/* Push the text before a line. */
static const char *push_prompt_text(lua_State *L, bool more)
{
    repl_push_prompt(L, "text");
    lua_pushboolean(L, more);
    if (!ask(L, 1))
        lua_pushliteral(L, "> ");
    return luaL_tolstring(L, -1, NULL);
}

static int ask_protected(lua_State *L)
{
    repl_push_prompt(L, lua_touserdata(L, 1));
    lua_pushstring(L, lua_touserdata(L, 2));
    lua_call(L, 1, LUA_MULTRET);
    return lua_gettop(L) - 2;
}

bool repl_ask(lua_State *L, const char *name, const char *text, int results)
{
    if (!lua_checkstack(L, LUA_MINSTACK))
        return false;
    lua_pushcfunction(L, ask_protected);
    lua_pushlightuserdata(L, (void *)name);
    lua_pushlightuserdata(L, (void *)text);
    if (lua_pcall(L, 2, results, 0) == LUA_OK)
        return true;
    lua_pop(L, 1);
    return false;
}

bool repl_is_finished(lua_State *L, const char *entry)
{
    bool finished = true;

    if (repl_ask(L, "ready", entry, 1)) {
        finished = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    return finished;
}

/* Push a whole entry (REPL_LINE), or nothing.  On a terminal the lines of an entry are one to the editor already. */
static repl_input read_entry(lua_State *L)
{
    repl_input input = repl_input_line(L, push_prompt_text(L, false));

    if (input != REPL_LINE)
        return input;
    while (!repl_is_finished(L, lua_tostring(L, -1))) {
        lua_pushliteral(L, "\n");
        input = repl_input_line(L, push_prompt_text(L, true));
        if (input == REPL_INTERRUPTED)
            return input;
        if (input == REPL_END) {
            lua_pop(L, 3); /* the newline and the prompt's texts */
            break;
        }
        lua_replace(L, -3); /* the prompt's texts */
        lua_pop(L, 1);
        lua_concat(L, 3);
    }
    repl_input_remember(lua_tostring(L, -1));
    return REPL_LINE;
}

/* The values or the message of an entry are on the stack from `first` on. */
static void finish(lua_State *L, int first, int status)
{
    int count = lua_gettop(L) - first + 1;

    luaL_checkstack(L, LUA_MINSTACK, "too many values to show");
    repl_push_prompt(L, "finish");
    lua_pushboolean(L, status == LUA_OK);
    lua_rotate(L, first, 2);
    if (repl_call(L, count + 1, 0, REPL_ENTRY) != LUA_OK)
        repl_report(L, "");
    (void)fflush(stdout);
}

/* The function of an entry is on the top. */
static void run(lua_State *L)
{
    int first = lua_gettop(L), status = repl_call(L, 0, LUA_MULTRET, REPL_ENTRY);

    if (isatty(STDOUT_FILENO) && __fpending(stdout) > 0)
        (void)fputc('\n', stdout); /* a line that is not ended: the result and the prompt begin their own */
    (void)fflush(stdout);
    if (status != LUA_OK && repl_was_interrupted() && isatty(STDERR_FILENO))
        (void)fputs("\n", stderr); /* off the line of ^C */
    if (status == LUA_OK && repl_stopped_a_run())
        (void)fprintf(stderr, "%s(stopped by Ctrl-C: this is what the run had reached)\n",
                      isatty(STDERR_FILENO) ? "\r" : "");
    finish(L, first, status);
}

/* The text of an entry is on the top. */
static void evaluate(lua_State *L)
{
    repl_push_prompt(L, "begin");
    lua_insert(L, -2);
    if (ask(L, 1) && !lua_isnil(L, -1))
        run(L);
    (void)fflush(stdout);
}

/* Ctrl-D leaves a mode of the prompt, if it is in one, and else the program. */
static bool left_a_mode(lua_State *L)
{
    if (!repl_input_is_terminal())
        return false;
    (void)fputs("\n", stdout);
    repl_push_prompt(L, "leave");
    return ask(L, 0) && lua_toboolean(L, -1);
}

/* Whoever presses Ctrl-C at an empty prompt twice wants to leave. */
static int say_how_to_leave(int presses)
{
    presses = repl_input_was_empty() ? presses + 1 : 0;
    if (presses < 2)
        return presses;
    (void)fputs("(Ctrl-D or exit() leaves)\n", stdout);
    return 0;
}

/* Read an entry and run it: whether there may be another.  At 1 is where the presses of Ctrl-C are counted. */
static int one_turn(lua_State *L)
{
    int *presses = lua_touserdata(L, 1); /* of Ctrl-C at an empty prompt, in a row */
    repl_input input;

    lua_settop(L, 0);
    input = read_entry(L);
    *presses = input == REPL_INTERRUPTED ? say_how_to_leave(*presses) : 0;
    if (input == REPL_LINE)
        evaluate(L);
    lua_pushboolean(L, input != REPL_END || left_a_mode(L));
    return 1;
}

/* What fails besides the entries, as where memory is short, loses one of them and not what the session has. */
int repl_run(lua_State *L)
{
    int presses = 0, failures = 0; /* in a row */
    bool goes_on = true;

    repl_input_open(L);
    repl_push_prompt(L, "opened");
    lua_pushboolean(L, repl_input_is_terminal());
    lua_call(L, 1, 0);
    while (goes_on) {
        lua_settop(L, 0);
        lua_pushcfunction(L, one_turn);
        lua_pushlightuserdata(L, &presses);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
            goes_on = lua_toboolean(L, -1);
            failures = 0;
        } else if (++failures == MOST_FAILURES) {
            return lua_error(L);
        } else {
            repl_report(L, "");
        }
    }
    return 0;
}
