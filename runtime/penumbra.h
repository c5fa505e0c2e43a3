/* penumbra.h -- every door of the library in one include, for hosts; the headers named here are the ones installed.
 * Depends on: all rooms.  Used by: programs outside this tree, never by runtime/ itself.
 *
 * First steps, in C99 and later or in C++11 and later:  cc train.c $(pkg-config --cflags --libs penumbra)
 *
 *     pn_err err;                                            one is enough: it holds the message of the last failure
 *     pn_load_libsvm(&raw, "records.svm", NULL, NULL, &err)  data/dataset.h: records; or pn_dataset_from_dense
 *     pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, &err)     what no record exceeds, which the sensitivity rests on
 *     pn_loss_new(&loss, "logistic", args, &err)             objective/losses/loss.h; args[i] belongs to row i of the loss's params
 *     pn_set_new(&set, "l2_ball", args, &err)                geometry/sets/sets.h; core/param.h says how options are given
 *     pn_objective_new(&objective, &parts, &err)             objective/passes/objective.h: data + loss + set, with certified bounds
 *     pn_ledger_new(&ledger, &budget, &err)                  privacy/ledger/ledger.h: what may be spent; pn_ledger_open keeps it in a file
 *     pn_plan_new(&plan, "frank_wolfe", objective, ...)      solvers/catalogue/solvers.h: noise, steps, cost and bound; spends nothing
 *     pn_run(&fit, plan, &options, &err)                     charges the ledger, then releases: fit->theta, fit->epsilon, ...
 *     pn_model_save(path, fit, plan, NULL, &err)            solvers/engine/model.h: the model in a file, with its privacy statement
 *
 * Each returns PN_OK or what went wrong (core/status.h) and leaves nothing half-made; nothing prints, exits or jumps.  What `out`
 * receives is freed by its own _free, in the opposite order; NULL is always allowed.  examples/embed/train.c is the whole program (installed in
 * share/doc/penumbra).
 *
 * Threads: objects are used by one thread at a time unless their header says more; there is no state of the whole process but the
 * allocator (core/alloc.h), which is set first.  A pn_task (core/task.h) gives a call threads, is told of progress, is cancelled from
 * anywhere, and has limits of time.  A pn_account (core/account.h) counts and limits memory.
 * Where a comment names a file like noise.md, it means the specification that the library was written to, which is not installed: the
 * comment says what a host must know, and the papers are named beside it.
 * Lua in a program: penumbra_lua.h. */
#ifndef PENUMBRA_H
#define PENUMBRA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/account.h"
#include "core/alloc.h"
#include "core/param.h"
#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"
#include "core/view.h"

#include "geometry/sets/sets.h"
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

#include "geometry/potentials/custom_potential.h"
#include "geometry/sets/custom_set.h"
#include "geometry/potentials/norm.h"
#include "geometry/potentials/potential.h"
#include "geometry/prox/prox.h"
#include "geometry/convex/set.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width.h"

#include "privacy/accounting/accountant.h"
#include "privacy/audit/audit.h"
#include "privacy/mechanism/batch_release.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/event/pair.h"
#include "privacy/audit/selftest.h"
#include "privacy/mechanism/sampler.h"

#include "continual/prefix.h"
#include "continual/single_pass.h"

#include "objective/measures/expected_curvature.h"
#include "objective/losses/loss.h"
#include "objective/passes/objective.h"
#include "objective/losses/program_loss.h"
#include "objective/regularisers/regulariser.h"
#include "objective/passes/second_order.h"
#include "objective/measures/smoothed.h"
#include "objective/measures/stationarity.h"

#include "solvers/engine/model.h"
#include "solvers/engine/solver.h"
#include "solvers/catalogue/solvers.h"

#include "federated/wire/message.h"
#include "federated/party/party.h"
#include "federated/transport/ranks_transport.h"
#include "federated/server/server.h"
#include "federated/sketch/sketch.h"
#include "federated/wire/terms.h"
#include "federated/transport/transport.h"
#include "federated/wire/wire.h"
#include "federated/transport/zeromq.h"

#ifdef __cplusplus
}
#endif

#endif
