/* penumbra.h -- every door of the library in one include, for hosts; the headers named here are the ones installed.
 * Depends on: all rooms.  Used by: programs outside this tree, never by runtime/ itself. */
#ifndef PENUMBRA_H
#define PENUMBRA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/alloc.h"
#include "core/param.h"
#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"
#include "core/view.h"

#include "numeric/csr.h"

#include "random/address.h"
#include "random/block_sampling.h"
#include "random/noise.h"
#include "random/rng.h"
#include "random/shared_stream.h"
#include "random/sample.h"
#include "random/selection.h"

#include "expr/bound.h"
#include "expr/compiled.h"
#include "expr/formula.h"
#include "expr/graph.h"
#include "expr/interval.h"
#include "expr/program.h"

#include "data/alignment.h"
#include "data/dataset.h"
#include "data/fingerprint.h"

#include "geometry/custom_potential.h"
#include "geometry/custom_set.h"
#include "geometry/norm.h"
#include "geometry/potential.h"
#include "geometry/prox.h"
#include "geometry/set.h"
#include "geometry/set_algebra.h"
#include "geometry/width.h"

#include "privacy/accountant.h"
#include "privacy/audit.h"
#include "privacy/batch_release.h"
#include "privacy/event.h"
#include "privacy/ledger.h"
#include "privacy/mechanism.h"
#include "privacy/pair.h"
#include "privacy/selftest.h"
#include "privacy/sampler.h"

#include "continual/prefix.h"
#include "continual/single_pass.h"

#include "objective/expected_curvature.h"
#include "objective/loss.h"
#include "objective/objective.h"
#include "objective/program_loss.h"
#include "objective/regulariser.h"
#include "objective/second_order.h"
#include "objective/smoothed.h"
#include "objective/stationarity.h"

#include "solvers/solver.h"

#include "federated/message.h"
#include "federated/party.h"
#include "federated/ranks_transport.h"
#include "federated/server.h"
#include "federated/sketch.h"
#include "federated/terms.h"
#include "federated/transport.h"
#include "federated/wire.h"
#include "federated/zeromq.h"

#ifdef __cplusplus
}
#endif

#endif
