/* wire.c -- frames over a socket.  Depends on: wire.h, POSIX sockets.  Used by: process.c, serve.c. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bindings/curator/wire.h"
#include "core/alloc.h"

#define NO_TEXT UINT64_MAX

/* ---- what is in a frame ---- */

void pnl_frame_begin(pnl_frame *frame, pnl_frame_kind kind)
{
    frame->kind = kind;
    frame->size = frame->at = 0;
    frame->failed = false;
}

void pnl_frame_clear(pnl_frame *frame)
{
    pn_free(frame->data);
    *frame = (pnl_frame){ 0 };
}

static bool make_room(pnl_frame *frame, size_t size)
{
    size_t room = 2 * size + 256;
    unsigned char *more;

    if (size <= frame->room)
        return true;
    more = pn_resize(frame->data, room, 1);
    if (!more)
        return false;
    frame->data = more;
    frame->room = room;
    return true;
}

static void put(pnl_frame *frame, const void *bytes, size_t size)
{
    if (frame->failed || size > PNL_FRAME_TO_SCRIPT || !make_room(frame, frame->size + size)) {
        frame->failed = true;
        return;
    }
    if (size > 0)
        memcpy(frame->data + frame->size, bytes, size);
    frame->size += size;
}

void pnl_put_count(pnl_frame *frame, uint64_t value)
{
    put(frame, &value, sizeof value);
}

void pnl_put_real(pnl_frame *frame, double value)
{
    put(frame, &value, sizeof value);
}

void pnl_put_text(pnl_frame *frame, const char *text, size_t size)
{
    pnl_put_count(frame, text ? size : NO_TEXT);
    if (text) {
        put(frame, text, size);
        put(frame, "", 1);
    }
}

/* NULL when there is not so much left. */
static const unsigned char *get(pnl_frame *frame, uint64_t size)
{
    const unsigned char *at = frame->data + frame->at;

    if (frame->failed || size > frame->size - frame->at) {
        frame->failed = true;
        return NULL;
    }
    frame->at += (size_t)size;
    return at;
}

uint64_t pnl_get_count(pnl_frame *frame)
{
    const unsigned char *at = get(frame, sizeof(uint64_t));
    uint64_t value = 0;

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

double pnl_get_real(pnl_frame *frame)
{
    const unsigned char *at = get(frame, sizeof(double));
    double value = 0.0;

    if (at)
        memcpy(&value, at, sizeof value);
    return value;
}

const char *pnl_get_text(pnl_frame *frame, size_t *size)
{
    uint64_t length = pnl_get_count(frame);
    const unsigned char *text;

    if (size)
        *size = 0;
    if (frame->failed || length == NO_TEXT)
        return NULL;
    text = length < PNL_FRAME_TO_SCRIPT ? get(frame, length + 1) : NULL;
    if (!text || text[length] != '\0' || (!size && strlen((const char *)text) != length)) {
        frame->failed = true;
        return NULL;
    }
    if (size)
        *size = (size_t)length;
    return (const char *)text;
}

bool pnl_frame_done(const pnl_frame *frame)
{
    return !frame->failed && frame->at == frame->size;
}

/* ---- frames of a link ---- */

void pnl_put_question(pnl_frame *frame, const pn_ledger_question *question)
{
    pnl_put_count(frame, question->wish);
    pnl_put_count(frame, question->count);
    pnl_put_text(frame, question->event, question->event ? strlen(question->event) : 0);
    pnl_put_text(frame, question->label, question->label ? strlen(question->label) : 0);
}

void pnl_get_question(pnl_frame *frame, pn_ledger_question *question)
{
    uint64_t wish = pnl_get_count(frame);

    question->wish = wish < PN_WISHES ? (pn_ledger_wish)wish : PN_WISHES;
    question->count = (size_t)pnl_get_count(frame);
    question->event = pnl_get_text(frame, NULL);
    question->label = pnl_get_text(frame, NULL);
}

void pnl_put_answer(pnl_frame *frame, const pn_ledger_answer *answer)
{
    pnl_put_count(frame, answer->status);
    pnl_put_real(frame, answer->number);
    pnl_put_real(frame, answer->slack.epsilon);
    pnl_put_real(frame, answer->slack.tail);
    pnl_put_real(frame, answer->slack.window);
    pnl_put_count(frame, answer->count);
    pnl_put_text(frame, answer->text, strlen(answer->text));
}

pn_status pnl_get_status(pnl_frame *frame)
{
    uint64_t status = pnl_get_count(frame);

    return status <= PN_ELIMIT ? (pn_status)status : PN_EIO;
}

void pnl_get_answer(pnl_frame *frame, pn_ledger_answer *answer)
{
    const char *text;
    size_t size;

    answer->status = pnl_get_status(frame);
    answer->number = pnl_get_real(frame);
    answer->slack.epsilon = pnl_get_real(frame);
    answer->slack.tail = pnl_get_real(frame);
    answer->slack.window = pnl_get_real(frame);
    answer->count = (size_t)pnl_get_count(frame);
    text = pnl_get_text(frame, &size);
    size = size < sizeof answer->text ? size : sizeof answer->text - 1;
    memcpy(answer->text, text ? text : "", size);
    answer->text[size] = '\0';
}

/* ---- over a socket ---- */

static pn_status gone(pn_err *err)
{
    return pn_fail(err, PN_EIO, "curator: the other process has exited");
}

/* Bytes moved; 0 for "wait", and *status when that or the socket failed. */
static size_t moved(ssize_t count, bool writing, int fd, pnl_wire_wait wait, void *self, pn_status *status, pn_err *err)
{
    *status = PN_OK;
    if (count > 0)
        return (size_t)count;
    if (count == 0 && !writing)
        *status = gone(err);
    else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        *status = wait(self, fd, writing ? POLLOUT : POLLIN, err);
    else if (count < 0 && errno != EINTR)
        *status = gone(err);
    return 0;
}

static pn_status send_bytes(int fd, const void *bytes, size_t size, int pass, pnl_wire_wait wait, void *self,
                            pn_err *err)
{
    const unsigned char *at = bytes;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    pn_status status = PN_OK;

    while (size > 0 && status == PN_OK) {
        struct iovec piece = { (void *)(size_t)at, size };
        struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
        size_t done;

        if (pass >= 0) {
            struct cmsghdr *head = &control.align;

            head->cmsg_level = SOL_SOCKET;
            head->cmsg_type = SCM_RIGHTS;
            head->cmsg_len = CMSG_LEN(sizeof(int));
            memcpy(CMSG_DATA(head), &pass, sizeof pass);
            message.msg_control = control.room;
            message.msg_controllen = sizeof control.room;
        }
        done = moved(sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT), true, fd, wait, self, &status, err);
        if (done > 0)
            pass = -1;
        at += done;
        size -= done;
    }
    return status;
}

/* A descriptor that comes is kept in *passed or closed. */
static void take_descriptor(struct msghdr *message, int *passed)
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        int came;

        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS || head->cmsg_len < CMSG_LEN(sizeof came))
            continue;
        memcpy(&came, CMSG_DATA(head), sizeof came);
        if (passed && *passed < 0)
            *passed = came;
        else
            (void)close(came);
    }
}

static pn_status receive_bytes(int fd, void *bytes, size_t size, int *passed, pnl_wire_wait wait, void *self,
                               pn_err *err)
{
    unsigned char *at = bytes;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    pn_status status = PN_OK;

    while (size > 0 && status == PN_OK) {
        struct iovec piece = { at, size };
        struct msghdr message = { .msg_iov = &piece,
                                  .msg_iovlen = 1,
                                  .msg_control = passed ? control.room : NULL,
                                  .msg_controllen = passed ? sizeof control.room : 0 };
        ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        size_t done = moved(count, false, fd, wait, self, &status, err);

        if (done > 0 && passed)
            take_descriptor(&message, passed);
        at += done;
        size -= done;
    }
    return status;
}

typedef struct head {
    uint32_t kind, size;
} head;

pn_status pnl_frame_send(pnl_frame *frame, int fd, int pass, pnl_wire_wait wait, void *self, pn_err *err)
{
    head about = { frame->kind, (uint32_t)frame->size };
    pn_status status;

    if (frame->failed || frame->size > PNL_FRAME_TO_SCRIPT)
        return pn_fail(err, PN_ENOMEM, "curator: out of memory for a message, or it is longer than %zu bytes",
                       PNL_FRAME_TO_SCRIPT);
    status = send_bytes(fd, &about, sizeof about, pass, wait, self, err);
    if (status == PN_OK)
        status = send_bytes(fd, frame->data, frame->size, -1, wait, self, err);
    frame->gone = status == PN_EIO;
    return status;
}

pn_status pnl_frame_receive(pnl_frame *frame, int fd, size_t most, int *passed, pnl_wire_wait wait, void *self,
                            pn_err *err)
{
    head about;
    pn_status status;

    if (passed)
        *passed = -1;
    status = receive_bytes(fd, &about, sizeof about, passed, wait, self, err);
    frame->gone = status == PN_EIO;
    if (status != PN_OK)
        return status;
    if (about.size > most)
        return pn_fail(err, PN_EPARSE, "curator: a message of %lu bytes is longer than %zu", (unsigned long)about.size,
                       most);
    pnl_frame_begin(frame, (pnl_frame_kind)about.kind);
    if (!make_room(frame, about.size))
        return pn_fail(err, PN_ENOMEM, "curator: out of memory for a message");
    frame->size = about.size;
    status = receive_bytes(fd, frame->data, about.size, NULL, wait, self, err);
    frame->gone = status == PN_EIO;
    return status;
}
