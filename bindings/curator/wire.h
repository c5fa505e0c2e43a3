/* wire.h -- frames between a curator and the process that runs a script for it: a kind, then numbers and texts one
 * after another.  Both ends are the same version of the same program on one machine, so numbers travel as they lie in
 * memory.  The curator believes nothing of what it reads: sizes are bounded, texts end,
 * kinds and order are checked by who takes a frame.
 * Depends on: POSIX sockets.  Used by: process.c (the curator's end), serve.c (the script's end). */
#ifndef PNL_CURATOR_WIRE_H
#define PNL_CURATOR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "privacy/ledger/ledger_link.h"

typedef enum pnl_frame_kind {
    /* to the script's process */
    PNL_FRAME_START = 1, /* version, limits, budget, name, code, how many data sets */
    PNL_FRAME_DATA,      /* a name, with the descriptor of its records */
    PNL_FRAME_ANSWER,    /* to a question */
    PNL_FRAME_HEARD,     /* to progress: a status and a message */
    /* from it */
    PNL_FRAME_READY,    /* the script begins */
    PNL_FRAME_QUESTION, /* of the ledger */
    PNL_FRAME_PROGRESS,
    PNL_FRAME_OUTPUT, /* a line that the script printed, or a warning */
    PNL_FRAME_END     /* status and message, or the answer */
} pnl_frame_kind;

#define PNL_FRAME_TO_SCRIPT   ((size_t)64 << 20) /* bytes of a frame at most */
#define PNL_FRAME_FROM_SCRIPT ((size_t)1 << 20)

/* Zero to begin with.  The first failed step makes all later ones fail. */
typedef struct pnl_frame {
    uint32_t kind;
    unsigned char *data;
    size_t size, room;
    size_t at;   /* of what is read next */
    bool failed; /* no memory for it; or what was read is not there */
    bool gone;   /* the other end was, when this frame was on its way */
} pnl_frame;

/** Empty it for a new frame of this kind; memory is kept. */
void pnl_frame_begin(pnl_frame *frame, pnl_frame_kind kind);
void pnl_frame_clear(pnl_frame *frame);

void pnl_put_count(pnl_frame *frame, uint64_t value);
void pnl_put_real(pnl_frame *frame, double value);
/** NULL is a text of its own. */
void pnl_put_text(pnl_frame *frame, const char *text, size_t size);
uint64_t pnl_get_count(pnl_frame *frame);
double pnl_get_real(pnl_frame *frame);
/** In the frame, with a zero byte behind it; NULL for NULL, and when it fails.
 *  size may be NULL: then zero bytes inside fail. */
const char *pnl_get_text(pnl_frame *frame, size_t *size);
/** Whether everything was read and nothing was missing. */
bool pnl_frame_done(const pnl_frame *frame);

/* Waits until the descriptor is ready for `events` of poll.  A status other than PN_OK, and not PN_EIO,
 * ends the transfer with it. */
typedef pn_status (*pnl_wire_wait)(void *self, int fd, short events, pn_err *err);

/** Send it whole, with a descriptor unless `pass` is -1.  Errors: PN_EIO when the other end is gone; what `wait` says;
 *  PN_ENOMEM for a frame that failed. */
pn_status pnl_frame_send(pnl_frame *frame, int fd, int pass, pnl_wire_wait wait, void *self, pn_err *err);
/** Receive one of at most `most` bytes; *passed: a descriptor that came with it, or -1; NULL: none may come.
 *  Errors: PN_EIO when the other end is gone; PN_EPARSE for a larger frame; PN_ENOMEM; what `wait` says. */
pn_status pnl_frame_receive(pnl_frame *frame, int fd, size_t most, int *passed, pnl_wire_wait wait, void *self,
                            pn_err *err);

/* The frames of a ledger's link. */
void pnl_put_question(pnl_frame *frame, const pn_ledger_question *question);
void pnl_get_question(pnl_frame *frame, pn_ledger_question *question);
void pnl_put_answer(pnl_frame *frame, const pn_ledger_answer *answer);
void pnl_get_answer(pnl_frame *frame, pn_ledger_answer *answer);
/* A status of the runtime; PN_EIO for a number that is none. */
pn_status pnl_get_status(pnl_frame *frame);

#endif
