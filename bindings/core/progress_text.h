/* progress_text.h -- how far a long call is, in words beside its bar.  Depends on: pnl.h.  Used by:
 * lprogress.c. */
#ifndef PNL_PROGRESS_TEXT_H
#define PNL_PROGRESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "bindings/core/pnl.h"

/* Seconds on the monotonic clock, and `done` at the first report under the present label, from which the rate
 * counts. */
typedef struct pnl_pace {
    double begun;
    double phase_base, phase_begun;
} pnl_pace;

/** Of the whole, from 0 to 1; -1 where the whole is not known. */
double pnl_progress_share(const pn_progress *progress);
/** What stands right of the bar: how much, how fast, how long, what is reached and what it has cost; `roomy`: in more
 *  words. */
void pnl_progress_describe(char *out, size_t size, const pnl_pace *pace, const pn_progress *progress, double now,
                           bool roomy);

#endif
