/* ranks_transport.h -- the transport over ranks (core/ranks.h, MPI say): rank 0 is the server, rank k is party k.
 * For simulation at scale on one's own machines: nobody is authenticated, nothing is encrypted,
 * and nobody comes back that was lost.
 * Depends on: transport.h, core/ranks.h.  Used by: bindings. */
#ifndef PN_FEDERATED_RANKS_TRANSPORT_H
#define PN_FEDERATED_RANKS_TRANSPORT_H

#include "core/ranks.h"
#include "federated/transport/transport.h"
#include "penumbra/federated.h"

#endif
