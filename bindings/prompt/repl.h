/* repl.h -- the parts of the program: calls that Ctrl-C can stop, reading lines, the prompt.
 * Depends on: Lua 5.4.  Used by: main.c, repl*.c. */
#ifndef PNL_REPL_H
#define PNL_REPL_H

#include <stdbool.h>

#include <lua.h>

/* ---- repl_call.c: protected calls and Ctrl-C ---- */

/* What is going on when Ctrl-C arrives decides what it does:
 *   REPL_EDITING  a line is being typed: drop it and prompt again.
 *   REPL_ENTRY    an entry of the prompt works: stop the run that is in progress, if there is one; otherwise, and from
 *                 the second time on, raise "interrupted" in Lua.
 *   REPL_SCRIPT   as REPL_ENTRY; a second Ctrl-C within one second ends the program. */
typedef enum repl_place { REPL_EDITING = 0, REPL_ENTRY, REPL_SCRIPT } repl_place;

/** Install the handler; L is the main state. */
void repl_catch_interrupts(lua_State *L);
/** From now on SIGTERM does what Ctrl-C does: for services, after repl_catch_interrupts. */
void repl_catch_termination(void);

/**
 * lua_pcall of the function below `arguments`, which Ctrl-C can stop.  On an error its message is left, with a
 * traceback when it adds something; an error value with __tostring is shown by that.
 */
int repl_call(lua_State *L, int arguments, int results, repl_place place);

/** Whether Ctrl-C raised "interrupted" in the last repl_call. */
bool repl_was_interrupted(void);
/** Whether Ctrl-C stopped a run in the last repl_call, which then went on with what the run had reached. */
bool repl_stopped_a_run(void);

/** Whether Ctrl-C was pressed while REPL_EDITING, since the last time that this was asked. */
bool repl_take_interrupt(void);

/** Replace the message of a load on the top by one that shows the line, where that can be known. */
void repl_explain_syntax(lua_State *L);
/** Pop an error and write it to stderr, after `prefix`. */
void repl_report(lua_State *L, const char *prefix);

/** End the program as a program that Ctrl-C ended, so that a calling shell stops, too. */
void repl_die_of_interrupt(void);

/* ---- repl_coroutine.c: which coroutine runs ---- */

void repl_track_coroutines(lua_State *L);
/** The state that Lua code runs in.  Safe in a signal handler. */
lua_State *repl_running(void);
void repl_set_running(lua_State *L);

/* ---- repl_input.c: lines and history ---- */

typedef enum repl_input { REPL_LINE, REPL_END, REPL_INTERRUPTED } repl_input;

/** Begin to read from stdin: with GNU readline when it is a terminal, else line by line and without prompts. */
void repl_input_open(lua_State *L);
/** Push the next line without its newline (REPL_LINE), or push nothing. */
repl_input repl_input_line(lua_State *L, const char *prompt);
/** Remember an entry, which may have several lines, here and in the history file.  False when it is not in the file, of
 *  which the first time is told on stderr. */
bool repl_input_remember(const char *entry);
bool repl_input_is_terminal(void);
/** Whether nothing had been typed when Ctrl-C gave the last REPL_INTERRUPTED. */
bool repl_input_was_empty(void);
/** For the keys: the state that reads, and whether Ctrl-C was pressed, so that Enter has to end the line. */
lua_State *repl_input_state(void);
bool repl_input_gives_up(void);

/* ---- repl_edit.c, repl_complete.c: what keys do, as GNU readline calls it ---- */

int repl_enter_key(int count, int key);
int repl_break_key(int count, int key);
int repl_home_key(int count, int key);
int repl_end_key(int count, int key);
int repl_up_key(int count, int key);
int repl_down_key(int count, int key);
int repl_complete_key(int count, int key);

/* ---- repl_display.c: the entry on the screen ---- */

/** What the next entry is asked for with. */
void repl_display_prompt(const char *prompt);
/** As GNU readline calls it: several lines behind leads, and of what is higher than the screen the part around the
 *  cursor. */
void repl_display_entry(void);
/** The entry is about to be accepted: where only a part of it is shown, write all. */
void repl_display_whole(void);

/* ---- repl_terminal.c ---- */

/** The loader of penumbra.terminal. */
int repl_open_terminal(lua_State *L);

/* ---- lconfined.c ---- */

/** The loader of penumbra.confined. */
int repl_open_confined(lua_State *L);

/* ---- repl.c ---- */

/** Push the function of penumbra.prompt of that name. */
void repl_push_prompt(lua_State *L, const char *name);
/** Call it with a text; on success its results are left.  Never raises. */
bool repl_ask(lua_State *L, const char *name, const char *text, int results);
/** Whether an entry needs no more lines. */
bool repl_is_finished(lua_State *L, const char *entry);

/** Read, evaluate and print until the end of input.  Call it protected. */
int repl_run(lua_State *L);

#endif
