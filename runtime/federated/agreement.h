/* agreement.h -- whether all parties hold the same records in the same order, as far as they say.  Depends on: transport.h.
 * Used by: transport.c, zeromq_server.c, which tells the parties, too. */
#ifndef PN_FEDERATED_AGREEMENT_H
#define PN_FEDERATED_AGREEMENT_H

#include "federated/transport.h"

/** Looks at records and alignment of peers[]; a party that states no alignment agrees with every one.
 *  Errors: PN_EINVAL: each party's number of records, or which parties agree with each other. */
pn_status pn_transport_agree(const pn_transport *transport, pn_err *err);

#endif
