/* channels.h -- the sockets of a Jupyter kernel, and the thread that publishes what the program prints. Shell and
 * control belong to the thread that opened them; a second thread owns the publishing socket and the heartbeat. It
 * also reads standard output and standard error, which are pipes while the channels are open: what Lua, C or a child
 * process prints goes out as a "stream" of the message that is answered.  What is published comes behind what was
 * printed before it.
 * Depends on: libzmq, libsodium (HMAC), pthread.  Used by: lkernel.c.
 * Source: Jupyter client documentation, "Messaging in Jupyter", version 5.3 of the protocol. */
#ifndef PNL_CHANNELS_H
#define PNL_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>

#include <zmq.h>

typedef struct pnl_channels pnl_channels;

typedef enum pnl_channel { PNL_SHELL = 0, PNL_CONTROL } pnl_channel;

typedef struct pnl_connection {
    const char *transport, *ip; /* "tcp" or "ipc" */
    const char *key;            /* of the signatures */
    int shell, control, stdin_port, iopub, heartbeat;
} pnl_connection;

typedef struct pnl_bytes {
    const char *data;
    size_t size;
} pnl_bytes;

/* A message: its JSON parts as they are signed. */
enum { PNL_HEADER = 0, PNL_PARENT, PNL_METADATA, PNL_CONTENT, PNL_PARTS };

#define PNL_ADDRESSES 8 /* frames in front of a request, which its reply repeats */

typedef struct pnl_request {
    zmq_msg_t frames[PNL_ADDRESSES + 2 + PNL_PARTS];
    size_t count, addresses; /* frames that are open, and how many are addresses */
    pnl_channel channel;
} pnl_request;

/** NULL, with *why (static, or of libzmq): the sockets could not be bound, or the thread not begun. */
pnl_channels *pnl_channels_open(const pnl_connection *connection, const char **why);
/** What was printed goes out; then all is closed, and standard output and error are what they were.  NULL is
 *  allowed. */
void pnl_channels_close(pnl_channels *self);

/** Wait up to `ms` (-1: for ever) for a request with a right signature; others are dropped.  False: none came, or a
 *  signal did. */
bool pnl_channels_receive(pnl_channels *self, int ms, pnl_request *out);
void pnl_request_clear(pnl_request *request);
pnl_bytes pnl_request_part(const pnl_request *request, int part);

/** Reply on the channel that the request came from.  False: out of memory, or the socket is gone. */
bool pnl_channels_reply(pnl_channels *self, const pnl_request *request, const pnl_bytes parts[PNL_PARTS]);
/** To all who listen; `topic` for filters. */
bool pnl_channels_publish(pnl_channels *self, pnl_bytes topic, const pnl_bytes parts[PNL_PARTS]);
/** What is printed from now on belongs to the request with that header. */
bool pnl_channels_answer(pnl_channels *self, pnl_bytes header);

/** Bytes of a session's or a message's name, with the zero at the end. */
#define PNL_ID_BYTES 33
void pnl_channels_id(char out[PNL_ID_BYTES]);
const char *pnl_channels_session(const pnl_channels *self);
/** The header of a message of that type as JSON, at most `size` bytes. */
void pnl_channels_header(const pnl_channels *self, const char *type, char *out, size_t size);

#endif
