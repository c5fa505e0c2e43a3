/* ranks_transport.h -- the transport over ranks (core/ranks.h, MPI say): rank 0 is the server, rank k is party k.
 * For simulation at scale on one's own machines: nobody is authenticated, nothing is encrypted, and nobody comes back that was lost.
 * Depends on: transport.h, core/ranks.h.  Used by: bindings. */
#ifndef PN_FEDERATED_RANKS_TRANSPORT_H
#define PN_FEDERATED_RANKS_TRANSPORT_H

#include "core/ranks.h"
#include "federated/transport/transport.h"

/** On rank 0.  `ranks` is kept.  timeout: seconds of silence of a party before the run stops; 0: 60.  Errors: PN_EINVAL on other ranks, and
 *  where there is one rank only; PN_ENOMEM. */
pn_status pn_transport_ranks(pn_transport **out, pn_ranks *ranks, double timeout, pn_err *err);

/** On the other ranks: say HELLO, serve until DONE or REFUSED.  Waits without spinning.  timeout: seconds without a word of the server before
 *  it gives up; 0: 600.  Errors: PN_EINVAL on rank 0; PN_EIO when the server is silent; PN_EPARSE for bytes that are no message;
 *  PN_ECANCELLED; what pn_party_answer fails with. */
pn_status pn_ranks_serve(pn_party *party, pn_ranks *ranks, double timeout, pn_task *task, pn_err *err);

#endif
