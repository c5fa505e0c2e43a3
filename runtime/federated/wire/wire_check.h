/* wire_check.h -- what a message must hold to be written or believed: one set of rules for both directions.
 * Private to wire*.c.
 * Depends on: wire.h.  Used by: wire.c, wire_check.c. */
#ifndef PN_FEDERATED_WIRE_CHECK_H
#define PN_FEDERATED_WIRE_CHECK_H

#include "federated/wire/wire.h"

/** The limits with their defaults filled in; NULL: all defaults. */
pn_wire_limits pn_wire_limits_of(const pn_wire_limits *limits);

/** Errors: `failure` with what is wrong, "wire: choice: ...". */
pn_status pn_wire_check(const pn_message *message, const pn_wire_limits *limits, pn_status failure, pn_err *err);

/** text[size] holds a NUL, and before it UTF-8 without control characters (those that turn the direction of text
 *  included). */
bool pn_wire_printable(const char *text, size_t size);
/** Put '?' in place of what is not printable in text[size], which holds a NUL. */
void pn_wire_clean(char *text);

#endif
