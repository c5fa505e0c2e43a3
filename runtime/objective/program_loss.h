/* program_loss.h -- a black box in another program: a simulator that is not in Lua, asked over a pipe.
 *
 * Protocol, lines of text (numbers as %.17g; nan and inf are understood, too).  Penumbra writes one request a line: the entries of theta,
 * then "|", the entries of x, then "|", y.  The program answers every line with one line: the loss.  Requests may come before earlier
 * ones are answered; answers come in the order of the requests.  End of input: it should exit.  A first line is sent before any request:
 * "penumbra 1 DIM P", to be answered by "ready".
 * What can go wrong, and is an error that names the program: it cannot be started; it does not answer within the time-out; it ends
 * or closes its output; it answers something that is no number.  It is then killed and the loss stays unusable.
 * Depends on: loss.h, POSIX.  Used by: bindings. */
#ifndef PN_OBJECTIVE_PROGRAM_LOSS_H
#define PN_OBJECTIVE_PROGRAM_LOSS_H

#include "objective/loss.h"

typedef struct pn_program_options {
    const char *const *command; /* NULL-terminated; command[0] is looked up in PATH; no shell */
    size_t dim;                 /* as pn_loss_black_box */
    double lipschitz;           /* as pn_loss_black_box */
    double timeout;             /* seconds for one answer, > 0; 0: 10 */
    size_t ahead;               /* requests in flight, at most; 0: 64 */
} pn_program_options;

/** The program is started when it is first asked.  Errors: PN_EINVAL; PN_ENOMEM. */
pn_status pn_loss_program(pn_loss **out, const pn_program_options *options, pn_err *err);

#endif
