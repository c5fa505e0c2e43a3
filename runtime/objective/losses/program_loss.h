/* program_loss.h -- a black box in another program: a simulator that is not in Lua, asked over a pipe.
 *
 * Protocol, lines of text on the program's standard input and output.
 *   1. Penumbra writes "penumbra 1 DIM P", the entries of theta and of a record; the program answers "ready".
 *   2. Penumbra writes requests, one a line: the DIM entries of theta, "|", the P features x, "|", the label y, "|",
 *      the record's position in the data set, from 1; all separated by one blank: "0.5 -1 | 1 2 3 | 1 | 17".  The
 *      program answers each with one line: the loss.  Requests may come before earlier ones are answered;
 *      answers come in the order of the requests.
 *   3. End of input: the program exits.
 * Numbers have the shortest form that reads back as the same double.  Answers are decimal numbers, nan, inf or -inf,
 * with blanks around them if need be.  Every answer must leave the program at once: most languages hold back what they
 * print to a pipe until they are told to flush it, and some read ahead more than a line (mawk, unless -W interactive).
 *
 * What can go wrong, and is an error that names the program: it cannot be started; it does not answer within the
 * time-out; it ends or closes its output; it answers something that is no number, or more than it was asked.  It is
 * then killed; the next use starts it anew, as do the first use in a forked child and one with another DIM or P.  So an
 * answer must depend on its request alone.  One thread at a time.  Depends on: loss.h, POSIX.  Used by: bindings. */
#ifndef PN_OBJECTIVE_PROGRAM_LOSS_H
#define PN_OBJECTIVE_PROGRAM_LOSS_H

#include "objective/losses/loss.h"

#define PN_PROGRAM_TIMEOUT 10.0

typedef struct pn_program_options {
    const char *const *command; /* NULL-terminated, copied; command[0] is looked up in PATH; no shell */
    size_t dim;                 /* as pn_loss_black_box */
    double lipschitz;           /* as pn_loss_black_box */
    double timeout;             /* seconds for one answer, "ready" included, > 0; 0: PN_PROGRAM_TIMEOUT */
    size_t ahead;               /* requests in flight, at most; 0: 64 */
} pn_program_options;

/**
 * The program is started when it is first asked, and ended (end of input, then a fifth of a second, then killed) when
 * the loss is freed.  What the callback fails with: PN_EIO; PN_EPARSE for an answer; PN_ENOMEM;
 * PN_ECANCELLED when the record's task is stopped.
 * Errors: PN_EINVAL; PN_ENOMEM.
 */
pn_status pn_loss_program(pn_loss **out, const pn_program_options *options, pn_err *err);

#endif
