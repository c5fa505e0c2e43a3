/* publish.c -- the thread that publishes: heartbeats, what was printed, and what the other thread orders. An order of
 * one frame is the header that is answered from now on, or empty: the end.  Others are a topic and the parts of a
 * message.  Whoever orders waits for the answer: what can be read from the pipes when an order is read was printed
 * before it, and goes out first.
 * Depends on: channels_impl.h, jansson (strings).  Used by: channels.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "bindings/kernel/channels_impl.h"
#include "bindings/kernel/utf8.h"

#define BLOCK     65536
#define LOOK_MS   1000 /* how often it looks whether its parent is still there */
#define MOST_READ 64   /* blocks of one file, before others have their turn */

static const char *const names[] = { "stdout", "stderr" };

/* ---- streams ---- */

static void send_stream(pnl_channels *self, int which, const char *text, size_t size)
{
    json_t *content = json_pack("{s:s, s:o}", "name", names[which], "text", json_stringn(text, size));
    char *json = content ? json_dumps(content, JSON_COMPACT) : NULL, header[400], topic[16];

    if (json) {
        pnl_channels_header(self, "stream", header, sizeof header);
        (void)snprintf(topic, sizeof topic, "stream.%s", names[which]);
        if (pnl_send_frame(self->iopub, (pnl_bytes){ topic, strlen(topic) }, true))
            (void)pnl_send_signed(
                self, self->iopub,
                (pnl_bytes[]){ { header, strlen(header) },
                               { self->parent ? self->parent : "{}", self->parent ? self->parent_size : 2 },
                               { "{}", 2 },
                               { json, strlen(json) } });
    }
    free(json);
    json_decref(content);
}

/* block[PNL_HELD ...] was read behind what is held of a character. */
static void send_block(pnl_channels *self, int which, char *block, size_t got, bool last)
{
    size_t held = self->held_size[which], size = held + got, whole;
    char *text = block + PNL_HELD - held, *clean;

    memcpy(text, self->held[which], held);
    whole = last ? size : pnl_utf8_whole(text, size);
    self->held_size[which] = size - whole;
    memcpy(self->held[which], text + whole, size - whole);
    if (whole == 0)
        return;
    clean = malloc(PNL_UTF8_GROWTH * whole);
    if (clean)
        send_stream(self, which, clean, pnl_utf8_clean(text, whole, clean));
    free(clean);
}

/* False: nothing more will come. */
static bool send_printed(pnl_channels *self, int which)
{
    char block[PNL_HELD + BLOCK];

    for (int k = 0; k < MOST_READ; k++) {
        ssize_t got = read(self->printed[which], block + PNL_HELD, BLOCK);

        if (got > 0)
            send_block(self, which, block, (size_t)got, false);
        else
            return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
    return true;
}

/* All of both, also what is no whole character. */
static void drain(pnl_channels *self)
{
    char none[PNL_HELD + 1];

    for (int which = 0; which < 2; which++) {
        (void)send_printed(self, which);
        if (self->held_size[which] > 0)
            send_block(self, which, none, 0, true);
    }
}

/* ---- orders ---- */

static void keep_parent(pnl_channels *self, zmq_msg_t *frame)
{
    size_t size = zmq_msg_size(frame);

    free(self->parent);
    self->parent = malloc(size); /* what is printed answers nothing, where there is no memory to say what */
    if (self->parent)
        memcpy(self->parent, zmq_msg_data(frame), size);
    self->parent_size = size;
}

static void forward(const pnl_channels *self, zmq_msg_t *frames, size_t count)
{
    pnl_bytes parts[PNL_PARTS];

    if (count != 1 + PNL_PARTS)
        return;
    for (int k = 0; k < PNL_PARTS; k++)
        parts[k] = (pnl_bytes){ zmq_msg_data(&frames[k + 1]), zmq_msg_size(&frames[k + 1]) };
    if (pnl_send_frame(self->iopub, (pnl_bytes){ zmq_msg_data(&frames[0]), zmq_msg_size(&frames[0]) }, true))
        (void)pnl_send_signed(self, self->iopub, parts);
}

/* False: it was the last. */
static bool obey(pnl_channels *self)
{
    zmq_msg_t frames[1 + PNL_PARTS];
    size_t count = 0;
    bool more = true, goes_on = true;

    while (more && count < 1 + PNL_PARTS) {
        zmq_msg_init(&frames[count]);
        if (zmq_msg_recv(&frames[count], self->obeys, 0) < 0) {
            zmq_msg_close(&frames[count]);
            break;
        }
        more = zmq_msg_more(&frames[count++]) != 0;
    }
    drain(self);
    if (count == 1 && zmq_msg_size(&frames[0]) == 0)
        goes_on = false;
    else if (count == 1)
        keep_parent(self, &frames[0]);
    else
        forward(self, frames, count);
    while (count > 0)
        zmq_msg_close(&frames[--count]);
    (void)pnl_send_frame(self->obeys, (pnl_bytes){ "", 0 }, false);
    return goes_on;
}

static void beat(const pnl_channels *self)
{
    zmq_msg_t frame;

    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, self->heartbeat, ZMQ_DONTWAIT) >= 0)
        (void)zmq_msg_send(&frame, self->heartbeat, ZMQ_DONTWAIT);
    zmq_msg_close(&frame);
}

/* Whoever began the kernel may say so, and end without ending it. */
static bool is_orphan(void)
{
    const char *parent = getenv("JPY_PARENT_PID");

    return parent && atol(parent) > 1 && getppid() == 1;
}

void *pnl_publish_loop(void *channels)
{
    pnl_channels *self = channels;
    bool open[2] = { true, true };

    for (;;) {
        zmq_pollitem_t waiting[4] = { { self->obeys, 0, ZMQ_POLLIN, 0 }, { self->heartbeat, 0, ZMQ_POLLIN, 0 } };
        int count = 2;

        for (int which = 0; which < 2; which++)
            if (open[which])
                waiting[count++] = (zmq_pollitem_t){ NULL, self->printed[which], ZMQ_POLLIN, 0 };
        if (zmq_poll(waiting, count, LOOK_MS) < 0 && zmq_errno() != EINTR)
            return NULL;
        if (is_orphan())
            _exit(EXIT_FAILURE);
        if (waiting[0].revents && !obey(self))
            return NULL;
        if (waiting[1].revents)
            beat(self);
        for (int k = 2; k < count; k++) {
            int which = waiting[k].fd == self->printed[1];

            if (waiting[k].revents)
                open[which] = send_printed(self, which);
        }
    }
}
