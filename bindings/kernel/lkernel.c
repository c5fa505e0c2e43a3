/* lkernel.c -- penumbra.kernel: what the Lua half of the Jupyter kernel cannot do by itself: sockets, JSON, and calls
 * that an interrupt can stop.  What a request means is Lua's to say: penumbra.notebook (stdlib/).
 * Depends on: channels.h, ljson.h, repl.h.  Used by: main.c, which preloads it. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bindings/core/ljson.h"
#include "bindings/core/progress.h"
#include "bindings/kernel/channels.h"
#include "bindings/kernel/lkernel.h"
#include "bindings/kernel/utf8.h"
#include "bindings/prompt/repl.h"

#define HEADER_BYTES 400
#define MOST_HELD    1000 /* requests; later ones wait in their socket */

static const char class_name[] = "penumbra.kernel.link";

/* Sockets, the request at hand, and the function that shows the progress bar. */
typedef struct kernel_link {
    pnl_channels *channels;
    pnl_request request;
    pnl_request *held; /* [held_count], of which those from held_next on are to come */
    size_t held_count, held_next;
    lua_State *L;
    int bar; /* in the registry; LUA_NOREF */
} kernel_link;

/* ---- JSON ---- */

static int encode(lua_State *L)
{
    luaL_checkany(L, 1);
    pnl_push_json(L, 1, "kernel.encode");
    return 1;
}

/* The value, or nil and why the text is no JSON. */
static int decode(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);

    if (pnl_push_of_json(L, text, length))
        return 1;
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

/* Text with U+FFFD for what is no UTF-8. */
static int clean(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    luaL_Buffer out;
    char *room = luaL_buffinitsize(L, &out, PNL_UTF8_GROWTH * size + 1);

    luaL_pushresultsize(&out, pnl_utf8_clean(text, size, room));
    return 1;
}

/* ---- the link ---- */

static kernel_link *check_link(lua_State *L)
{
    kernel_link *self = luaL_checkudata(L, 1, class_name);

    if (!self->channels)
        pnl_error(L, "kernel: the link is closed");
    return self;
}

static int close_link(lua_State *L)
{
    kernel_link *self = luaL_checkudata(L, 1, class_name);

    pnl_request_clear(&self->request);
    while (self->held_next < self->held_count)
        pnl_request_clear(&self->held[self->held_next++]);
    free(self->held);
    self->held = NULL;
    pnl_channels_close(self->channels);
    self->channels = NULL;
    return 0;
}

static const char *text_field(lua_State *L, const char *name)
{
    if (lua_getfield(L, 1, name) != LUA_TSTRING)
        pnl_error(L, "kernel: the connection file has no text `%s`", name);
    return lua_tostring(L, -1);
}

static int port_field(lua_State *L, const char *name)
{
    lua_Integer port = 0;

    lua_getfield(L, 1, name);
    if (lua_isinteger(L, -1))
        port = lua_tointeger(L, -1);
    if (port < 1 || port > 65535)
        pnl_error(L, "kernel: `%s` in the connection file must be a port from 1 to 65535, got %s", name,
                  pnl_got(L, -1));
    return (int)port;
}

/* open{transport=, ip=, key=, shell_port=, ...}, what the connection file says */
static int open_link(lua_State *L)
{
    pnl_connection to;
    const char *why;
    kernel_link *self;

    luaL_checktype(L, 1, LUA_TTABLE);
    to = (pnl_connection){ .transport = text_field(L, "transport"),
                           .ip = text_field(L, "ip"),
                           .key = text_field(L, "key"),
                           .shell = port_field(L, "shell_port"),
                           .control = port_field(L, "control_port"),
                           .stdin_port = port_field(L, "stdin_port"),
                           .iopub = port_field(L, "iopub_port"),
                           .heartbeat = port_field(L, "hb_port") };
    if (!*to.key) /* then whoever reaches the ports runs what they like */
        return pnl_error(L, "kernel: `key` in the connection file is empty, so that requests would not be signed; "
                            "give the key that the client signs with");
    if (strlen(to.ip) > 200 || (strcmp(to.transport, "tcp") != 0 && strcmp(to.transport, "ipc") != 0))
        return pnl_error(L, "kernel: `transport` in the connection file must be tcp or ipc, got %s", to.transport);
    self = lua_newuserdatauv(L, sizeof *self, 0);
    memset(self, 0, sizeof *self);
    self->L = L;
    self->bar = LUA_NOREF;
    luaL_setmetatable(L, class_name);
    self->channels = pnl_channels_open(&to, &why);
    if (!self->channels)
        return pnl_error(L, "kernel: %s", why);
    return 1;
}

static void push_part(lua_State *L, const pnl_request *request, int part)
{
    pnl_bytes bytes = pnl_request_part(request, part);

    lua_pushlstring(L, bytes.data, bytes.size);
}

/* The next of those that are held; false: there is none. */
static bool take_held(kernel_link *self)
{
    if (self->held_next == self->held_count)
        return false;
    pnl_request_clear(&self->request);
    self->request = self->held[self->held_next++];
    return true;
}

/* link:receive() -> header and content of the next request, as JSON, and whether it was held; nothing after a
 * signal. */
static int receive(lua_State *L)
{
    kernel_link *self = check_link(L);
    bool held = take_held(self);

    if (!held && !pnl_channels_receive(self->channels, -1, &self->request))
        return 0;
    push_part(L, &self->request, PNL_HEADER);
    push_part(L, &self->request, PNL_CONTENT);
    lua_pushboolean(L, held);
    return 3;
}

static bool hold_one(kernel_link *self, int ms)
{
    pnl_request *room = realloc(self->held, (self->held_count + 1) * sizeof *room);

    if (!room)
        return false;
    self->held = room;
    memset(&room[self->held_count], 0, sizeof *room);
    if (!pnl_channels_receive(self->channels, ms, &room[self->held_count]))
        return false;
    self->held_count++;
    return true;
}

/* link:hold(ms): read the requests that are there, or come within `ms` milliseconds, for receive. */
static int hold(lua_State *L)
{
    kernel_link *self = check_link(L);
    int ms = (int)luaL_checkinteger(L, 2);

    if (self->held_next == self->held_count)
        self->held_next = self->held_count = 0;
    while (self->held_count < MOST_HELD && hold_one(self, ms))
        continue;
    return 0;
}

static pnl_bytes bytes_at(lua_State *L, int index)
{
    pnl_bytes bytes;

    bytes.data = luaL_checklstring(L, index, &bytes.size);
    return bytes;
}

/* The parts of a message of type (2) with content (3) that answers the request at hand. */
static void parts_of(lua_State *L, const kernel_link *self, char header[HEADER_BYTES], pnl_bytes parts[PNL_PARTS])
{
    const char *type = luaL_checkstring(L, 2);

    luaL_argcheck(L, strlen(type) < 60, 2, "too long a type");
    pnl_channels_header(self->channels, type, header, HEADER_BYTES);
    parts[PNL_HEADER] = (pnl_bytes){ header, strlen(header) };
    parts[PNL_PARENT] = self->request.count > 0 ? pnl_request_part(&self->request, PNL_HEADER) : (pnl_bytes){ "{}", 2 };
    parts[PNL_METADATA] = (pnl_bytes){ "{}", 2 };
    parts[PNL_CONTENT] = bytes_at(L, 3);
}

/* link:reply(type, content) */
static int reply(lua_State *L)
{
    kernel_link *self = check_link(L);
    char header[HEADER_BYTES];
    pnl_bytes parts[PNL_PARTS];

    parts_of(L, self, header, parts);
    if (self->request.count == 0 || !pnl_channels_reply(self->channels, &self->request, parts))
        return pnl_error(L, "kernel: no request is at hand to reply to");
    return 0;
}

/* link:publish(type, content) */
static int publish(lua_State *L)
{
    kernel_link *self = check_link(L);
    char header[HEADER_BYTES];
    pnl_bytes parts[PNL_PARTS];

    parts_of(L, self, header, parts);
    if (!pnl_channels_publish(self->channels, bytes_at(L, 2), parts))
        return pnl_error(L, "kernel: a message could not be published");
    return 0;
}

/* link:answers(): what is printed from now on belongs to the request at hand. */
static int answers(lua_State *L)
{
    kernel_link *self = check_link(L);

    if (self->request.count > 0)
        (void)pnl_channels_answer(self->channels, pnl_request_part(&self->request, PNL_HEADER));
    return 0;
}

static int id(lua_State *L)
{
    char text[PNL_ID_BYTES];

    pnl_channels_id(text);
    lua_pushstring(L, text);
    return 1;
}

/* The path of this program. */
static int program(lua_State *L)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);

    if (length <= 0 || (size_t)length == sizeof path)
        return pnl_error(L, "kernel: the system does not tell where this program is");
    lua_pushlstring(L, path, (size_t)length);
    return 1;
}

/* ---- calls ---- */

/* call(f, ...) -> true and its values, or false and the text of its error; an interrupt stops it. */
static int call(lua_State *L)
{
    bool fine;

    luaL_checkany(L, 1);
    fine = repl_call(L, lua_gettop(L) - 1, LUA_MULTRET, REPL_ENTRY) == LUA_OK;
    lua_pushboolean(L, fine);
    lua_insert(L, 1);
    return lua_gettop(L);
}

/* stopped() -> whether an interrupt stopped a run in the last call, whether one raised "interrupted" */
static int stopped(lua_State *L)
{
    lua_pushboolean(L, repl_stopped_a_run());
    lua_pushboolean(L, repl_was_interrupted());
    return 2;
}

/* As lprogress.c calls it, on the thread of Lua. */
static int tell_bar(lua_State *L)
{
    const kernel_link *self = lua_touserdata(L, 1);

    lua_rawgeti(L, LUA_REGISTRYINDEX, self->bar);
    lua_pushstring(L, lua_touserdata(L, 2));
    lua_call(L, 1, 0);
    return 0;
}

static void show_bar(void *ud, const char *line)
{
    kernel_link *self = ud;
    lua_State *L = pnl_run_state(self->L);

    if (!lua_checkstack(L, LUA_MINSTACK))
        return;
    lua_pushcfunction(L, tell_bar);
    lua_pushlightuserdata(L, self);
    lua_pushlightuserdata(L, (void *)(uintptr_t)line);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK)
        lua_pop(L, 1);
}

/* link:bar(f): f(line) instead of the progress bar of a terminal, with "" to take it away */
static int set_bar(lua_State *L)
{
    kernel_link *self = check_link(L);

    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    luaL_unref(L, LUA_REGISTRYINDEX, self->bar);
    self->bar = luaL_ref(L, LUA_REGISTRYINDEX);
    pnl_run_show_bar(L, show_bar, self);
    return 0;
}

int pnl_open_kernel(lua_State *L)
{
    static const luaL_Reg methods[] = {
        { "receive", receive }, { "hold", hold },   { "reply", reply },      { "publish", publish },
        { "answers", answers }, { "bar", set_bar }, { "close", close_link }, { NULL, NULL },
    };
    static const luaL_Reg functions[] = {
        { "open", open_link }, { "encode", encode },   { "decode", decode },   { "clean", clean }, { "id", id },
        { "call", call },      { "stopped", stopped }, { "program", program }, { NULL, NULL },
    };

    luaL_newmetatable(L, class_name);
    lua_pushcfunction(L, close_link);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    luaL_newlib(L, functions);
    pnl_json_empty_list(L);
    lua_setfield(L, -2, "none"); /* stands for [] */
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    return 1;
}
