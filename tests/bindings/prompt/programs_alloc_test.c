/* programs_alloc_test.c -- the prompt, the kernel of notebooks and the programs when memory runs out (fail_scripts.h);
 * programs_alloc.lua has what they do.
 * Depends on: fail_scripts.h, bindings/prompt, bindings/kernel, GNU readline, libzmq. */
#define _GNU_SOURCE /* memfd_create, posix_openpt */
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>
#include <zmq.h>

#include "bindings/embed/penumbra_lua.h"
#include "bindings/kernel/channels_impl.h"
#include "bindings/kernel/lkernel.h"
#include "bindings/prompt/repl.h"

#include "fail_scripts.h"

static char key[] = "a key";

/* A client of the kernel that has asked. */
typedef struct client {
    void *context, *socket;
} client;

static const char class_name[] = "client";

static int hang_up(lua_State *L)
{
    client *self = lua_touserdata(L, 1);

    if (self->socket)
        (void)zmq_close(self->socket);
    if (self->context)
        (void)zmq_ctx_term(self->context);
    *self = (client){ NULL, NULL };
    return 0;
}

static void send_request(lua_State *L, const client *self, int at)
{
    const pnl_channels signs = { .key = key, .key_size = sizeof key - 1 };
    char header[200];
    size_t size;
    const char *content = luaL_checklstring(L, at + 1, &size);

    (void)snprintf(header, sizeof header, "{\"msg_type\":\"%s\",\"msg_id\":\"1\"}", luaL_checkstring(L, at));
    (void)pnl_send_signed(&signs, self->socket,
                          (pnl_bytes[]){ { header, strlen(header) }, { "{}", 2 }, { "{}", 2 }, { content, size } });
}

/* ask(address, type, content, ...) -> client: sign requests and send them to the kernel that listens there. */
static int ask(lua_State *L)
{
    int linger = 0, words = lua_gettop(L);
    client *self = lua_newuserdatauv(L, sizeof *self, 0);

    *self = (client){ NULL, NULL };
    luaL_setmetatable(L, class_name);
    self->context = zmq_ctx_new();
    self->socket = self->context ? zmq_socket(self->context, ZMQ_DEALER) : NULL;
    if (!self->socket || zmq_setsockopt(self->socket, ZMQ_LINGER, &linger, sizeof linger) != 0 ||
        zmq_connect(self->socket, lua_tostring(L, 1)) != 0) {
        lua_replace(L, 1);
        (void)hang_up(L);
        return luaL_error(L, "not enough memory for a client");
    }
    for (int i = 2; i < words; i += 2)
        send_request(L, self, i);
    return 1;
}

/* The file takes the place of `number`, which lives on under the number that is returned. */
static int stand_in(int number, int file)
{
    int before = dup(number);

    (void)fflush(NULL);
    (void)dup2(file, number);
    (void)close(file);
    return before;
}

/* type_in(text): what the prompt does with it on standard input; its output goes nowhere. */
static int type_in(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    int file = memfd_create("typed", MFD_CLOEXEC), before[3], status;
    bool whole;

    if (file < 0 || write(file, text, size) != (ssize_t)size || lseek(file, 0, SEEK_SET) != 0)
        return luaL_error(L, "type_in: no file");
    before[0] = stand_in(STDIN_FILENO, file);
    before[1] = stand_in(STDOUT_FILENO, open("/dev/null", O_WRONLY | O_CLOEXEC));
    before[2] = stand_in(STDERR_FILENO, open("/dev/null", O_WRONLY | O_CLOEXEC));
    clearerr(stdin);
    lua_settop(L, 0);
    lua_pushcfunction(L, repl_run);
    status = repl_call(L, 0, 0, REPL_SCRIPT);
    whole = feof(stdin) != 0;
    for (int k = 0; k < 3; k++)
        (void)close(stand_in(k, before[k]));
    __fpurge(stdin);
    return status != LUA_OK ? lua_error(L) : whole ? 0 : luaL_error(L, "the prompt left some of its input");
}

/* ---- a terminal, at which nobody types ---- */

static int window = -1; /* its end */

static void open_window(int rows)
{
    const struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = 40 };
    int other_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    CHECK(other_end >= 0 && grantpt(other_end) == 0 && unlockpt(other_end) == 0);
    CHECK((window = open(ptsname(other_end), O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0);
    CHECK(ioctl(window, TIOCSWINSZ, &size) == 0);
}

/* press(text, key, ...) -> what becomes of the text when these keys, by the names that readline has for what they do,
 * are pressed at its end. */
static int press(lua_State *L)
{
    int before[3];

    before[0] = stand_in(STDIN_FILENO, dup(window));
    before[1] = stand_in(STDOUT_FILENO, open("/dev/null", O_WRONLY | O_CLOEXEC));
    before[2] = stand_in(STDERR_FILENO, open("/dev/null", O_WRONLY | O_CLOEXEC));
    repl_input_open(L);
    using_history();
    rl_reset_screen_size();
    (void)rl_set_prompt("pn> ");
    repl_display_prompt("pn> ");
    rl_replace_line(lua_tostring(L, 1), 1);
    rl_point = rl_end;
    for (int i = 2; i <= lua_gettop(L); i++) {
        rl_command_func_t *does = rl_named_function(lua_tostring(L, i));

        (*rl_redisplay_function)();
        (void)(*does)(1, 0);
        rl_last_func = does;
        rl_done = 0;
    }
    rl_last_func = NULL;
    (void)repl_input_remember(rl_line_buffer);
    clear_history();
    for (int k = 0; k < 3; k++)
        (void)close(stand_in(k, before[k]));
    lua_pushstring(L, rl_line_buffer);
    return 1;
}

static void preload(lua_State *L, const char *name, lua_CFunction open)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static void open_all(lua_State *L)
{
    pnl_open(L);
    preload(L, "penumbra.terminal", repl_open_terminal);
    preload(L, "penumbra.confined", repl_open_confined);
    preload(L, "penumbra.kernel", pnl_open_kernel);
    (void)luaL_newmetatable(L, class_name);
    lua_pushcfunction(L, hang_up); /* where there was no memory to call it */
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_register(L, "ask", ask);
    lua_register(L, "hang_up", hang_up);
    lua_register(L, "type_in", type_in);
    lua_register(L, "press", press);
    repl_catch_interrupts(L);
}

int main(void)
{
    CHECK(setenv("PENUMBRA_HISTORY", "history", 1) == 0);
    CHECK(setenv("TERM", "vt100", 1) == 0);
    open_window(8);
    fail_scripts_sweep("dofile 'tests/bindings/prompt/programs_alloc.lua'", open_all);
    return check_summary();
}
