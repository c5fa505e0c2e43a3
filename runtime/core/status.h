/* status.h -- statuses and their messages, inside of the library.  Depends on: penumbra/status.h.  Used by: every room. */
#ifndef PN_CORE_STATUS_H
#define PN_CORE_STATUS_H

#include "penumbra/status.h"
#include "penumbra/version.h"

/** Put `context: ` before the message of a failure on its way up; returns err->status (status when err is NULL). */
pn_status pn_fail_in(pn_err *err, pn_status status, const char *context);

#endif
