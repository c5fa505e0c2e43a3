/* agreement.h -- whether all parties hold the same records in the same order, as far as they say.
 * Depends on: transport.h.
 * Used by: transport.c, zeromq_server.c, which tells the parties, too. */
#ifndef PN_FEDERATED_AGREEMENT_H
#define PN_FEDERATED_AGREEMENT_H

#include "federated/transport/transport.h"

/** Looks at records and alignment of peers[]; either all parties state an alignment, and the same one, or none does.
 *  Errors: PN_EINVAL: each party's number of records, which parties agree with each other, or which state nothing. */
pn_status pn_transport_agree(const pn_transport *transport, pn_err *err);

#endif
