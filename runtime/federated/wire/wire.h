/* wire.h -- messages as bytes: Protocol Buffers (penumbra.proto), so that a party may be written in any language.
 * A reader trusts nothing: length, version, kind, the fields that a kind must and must not have, sizes against the
 * limits below and finite numbers are checked before anything is allocated for them or believed.
 * Depends on: message.h, libprotobuf-c.  Used by: transports, tests. */
#ifndef PN_FEDERATED_WIRE_H
#define PN_FEDERATED_WIRE_H

#include "federated/wire/message.h"
#include "penumbra/federated.h"

#define PN_WIRE_VERSION 2 /* 1 had no sets but l1 balls */

/** *bytes: allocated, *size long; to be freed by pn_free.  What is not printable in the reason of REFUSED is written as
 *  '?'.
 *  Errors: PN_EINVAL for a message that a reader would refuse; PN_ENOMEM. */
pn_status pn_wire_write(const pn_message *message, unsigned char **bytes, size_t *size, pn_err *err);
/** *out is cleared first, and after a failure.  Errors: PN_EPARSE, saying what is wrong ("wire: ..."), PN_EUNSUPPORTED
 *  for another version (names both); PN_ENOMEM. */
pn_status pn_wire_read(pn_message *out, const unsigned char *bytes, size_t size, const pn_wire_limits *limits,
                       pn_err *err);

#endif
