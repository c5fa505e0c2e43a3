/* kernel_fuzz.c -- messages of notebooks: frames, their signature, their JSON, and what each request asks but for
 * running a cell.  The first byte says whether the frames, which zero bytes end, are sent as they are, or whether the
 * first four are the parts of a message that is signed here.
 * Depends on: lua_kit.h, bindings/kernel/channels_impl.h, libzmq. */
#include <string.h>

#include <zmq.h>

#include "bindings/kernel/channels_impl.h"
#include "fuzz/lua_kit.h"

enum { SIGNED = 1, CONTROL = 2, MOST_FRAMES = 24 };

static char key[] = "a key";

static const char setup[] =
    "local kernel = require 'penumbra.kernel'\n"
    "local function said(_, kind, content)\n"
    "  assert(type(kind) == 'string' and type(kernel.decode(content)) == 'table')\n"
    "end\n"
    "local function nothing() end\n"
    "local link = { answers = nothing, publish = said, reply = said, hold = nothing, bar = nothing, close = nothing }\n"
    "function link.receive() return coroutine.yield() end\n"
    "kernel.open = function() return link end\n"
    "kernel.call = function(f, ...) return pcall(f, ...) end\n"
    "local serve\n"
    "local function start()\n"
    "  package.loaded['penumbra.notebook'] = nil\n"
    "  serve = coroutine.create(require 'penumbra.notebook'.serve)\n"
    "  assert(coroutine.resume(serve, {}))\n"
    "end\n"
    "start()\n"
    "return function(message)\n"
    "  local size, at = string.unpack('I4', message)\n"
    "  local header, content = message:sub(at, at + size - 1), message:sub(at + size)\n"
    "  local known = kernel.decode(header)\n"
    "  if type(known) == 'table' and known.msg_type == 'execute_request' then return end\n"
    "  assert(coroutine.resume(serve, header, content, false))\n"
    "  if coroutine.status(serve) == 'dead' then start() end\n"
    "end\n";

static void *connect_to(void *context, const char *address, int kind, bool binds)
{
    void *made = zmq_socket(context, kind);

    FUZZ_HOLDS(made && (binds ? zmq_bind(made, address) : zmq_connect(made, address)) == 0);
    return made;
}

/* What a kernel has of its sockets, and clients to both; only once. */
static pnl_channels *open_channels(void *clients[2])
{
    static pnl_channels channels;

    if (!channels.context) {
        channels.context = zmq_ctx_new();
        channels.shell = connect_to(channels.context, "inproc://shell", ZMQ_ROUTER, true);
        channels.control = connect_to(channels.context, "inproc://control", ZMQ_ROUTER, true);
        channels.key = key;
        channels.key_size = sizeof key - 1;
        clients[0] = connect_to(channels.context, "inproc://shell", ZMQ_DEALER, false);
        clients[1] = connect_to(channels.context, "inproc://control", ZMQ_DEALER, false);
    }
    return &channels;
}

static size_t split(pnl_bytes frames[MOST_FRAMES], const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    size_t count = 0;

    while (at < end && count < MOST_FRAMES) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));

        stop = stop ? stop : end;
        frames[count++] = (pnl_bytes){ at, (size_t)(stop - at) };
        at = stop + 1;
    }
    return count;
}

static void send_all(const pnl_channels *channels, void *client, uint8_t how, const uint8_t *data, size_t size)
{
    pnl_bytes frames[MOST_FRAMES];
    size_t count = split(frames, data, size);

    for (size_t k = count; k < PNL_PARTS; k++)
        frames[k] = (pnl_bytes){ "{}", 2 };
    if (how & SIGNED)
        FUZZ_HOLDS(pnl_send_signed(channels, client, frames));
    for (size_t k = 0; !(how & SIGNED) && k < count; k++)
        FUZZ_HOLDS(pnl_send_frame(client, frames[k], k + 1 < count));
}

static void ask(const pnl_request *request)
{
    static lua_State *L;
    pnl_bytes header = pnl_request_part(request, PNL_HEADER), content = pnl_request_part(request, PNL_CONTENT);
    uint32_t size = (uint32_t)header.size;
    uint8_t *both = malloc(sizeof size + header.size + content.size);

    L = L ? L : fuzz_lua(setup);
    FUZZ_HOLDS(both != NULL);
    memcpy(both, &size, sizeof size);
    memcpy(both + sizeof size, header.data, header.size);
    memcpy(both + sizeof size + header.size, content.data, content.size);
    fuzz_lua_call(L, both, sizeof size + header.size + content.size);
    free(both);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static void *clients[2];
    pnl_channels *channels = open_channels(clients);
    pnl_request request = { .count = 0 };
    bool came;

    if (size < 2)
        return 0;
    send_all(channels, clients[*data & CONTROL ? 1 : 0], *data, data + 1, size - 1);
    came = pnl_channels_receive(channels, 1000, &request);
    FUZZ_HOLDS(came || !(*data & SIGNED));
    if (came)
        ask(&request);
    pnl_request_clear(&request);
    return 0;
}
