/* status.h -- statuses and their messages, inside of the library.  Depends on: penumbra/status.h.
 * Used by: every room. */
#ifndef PN_CORE_STATUS_H
#define PN_CORE_STATUS_H

#include "penumbra/status.h"
#include "penumbra/version.h"

/** Return from the function with the status of the expression unless it is PN_OK. */
#define PN_TRY(expression)                                                                                             \
    do {                                                                                                               \
        pn_status tried = (expression);                                                                                \
                                                                                                                       \
        if (tried != PN_OK)                                                                                            \
            return tried;                                                                                              \
    } while (0)

/** Put `context: ` before the message of a failure on its way up; returns err->status (status when err is NULL). */
pn_status pn_fail_in(pn_err *err, pn_status status, const char *context);
/** The same with the name of the function that was called, unless the message begins with it: helpers that are told
 *  the name have put it on. */
pn_status pn_fail_by(pn_err *err, pn_status status, const char *owner);

#endif
