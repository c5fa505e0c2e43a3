/* status.c -- failure messages.  Depends on: status.h.  Used by: every room. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"

pn_status pn_fail(pn_err *err, pn_status status, const char *format, ...)
{
    if (err) {
        va_list args;

        va_start(args, format);
        err->status = status;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

pn_status pn_fail_in(pn_err *err, pn_status status, const char *context)
{
    if (err) {
        char inner[PN_ERR_MAX];

        memcpy(inner, err->message, sizeof inner);
        (void)snprintf(err->message, sizeof err->message, "%.200s: %.*s", context, PN_ERR_MAX - 203, inner);
        return err->status;
    }
    return status;
}

pn_status pn_fail_by(pn_err *err, pn_status status, const char *owner)
{
    size_t length = strlen(owner);

    if (err && strncmp(err->message, owner, length) == 0 && strncmp(err->message + length, ": ", 2) == 0)
        return err->status;
    return pn_fail_in(err, status, owner);
}

const char *pn_status_name(pn_status status)
{
    static const char *const names[] = {
        "PN_OK",      "PN_EINVAL",   "PN_EDIM",       "PN_EDOMAIN",   "PN_ENOMEM",       "PN_EIO",      "PN_EPARSE",
        "PN_EBUDGET", "PN_EPRIVACY", "PN_ECANCELLED", "PN_ECALLBACK", "PN_EUNSUPPORTED", "PN_ENUMERIC", "PN_ELIMIT",
    };

    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "PN_UNKNOWN";
}

const char *pn_status_text(pn_status status)
{
    static const char *const texts[] = {
        "all is well",
        "a parameter is outside its range",
        "sizes do not fit together",
        "NaN, infinity, or a value outside the declared domain",
        "out of memory",
        "a file could not be opened, read or written",
        "a file is malformed",
        "the budget does not cover the release; nothing was charged",
        "a guarantee that cannot be given",
        "cancelled",
        "a callback failed",
        "there is no such combination",
        "an iteration did not converge, or overflowed",
        "a limit of time, instructions or memory was reached",
    };

    return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status]
                                                             : "a status that this library does not know";
}

const char *pn_version(void)
{
    return PN_VERSION_STRING;
}
