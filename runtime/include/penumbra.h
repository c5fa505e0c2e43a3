/* penumbra.h -- the library in one include.  What is declared here and in penumbra/ is what programs may rely on.
 *
 * First steps, in C99 and later or in C++11 and later:  cc train.c $(pkg-config --cflags --libs penumbra)
 *
 *     pn_err err;                                                     one is enough: the message of the last failure
 *     pn_dataset_load_libsvm(&raw, "records.svm", NULL, NULL, &err);  dataset.h: records; or pn_dataset_from_dense
 *     pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, &err);             no record exceeds this; sensitivities rest on it
 *     pn_loss_new(&loss, "logistic", NULL, &err);                     loss.h
 *     pn_options_new(&options, &err);                                 options.h: options by name
 *     pn_options_count(options, "dim", pn_dataset_features(data));
 *     pn_set_new(&set, "l2_ball", options, &err);                     set.h
 *     pn_objective_new(&objective, &parts, &err);                     objective.h: data + loss + set, certified bounds
 *     pn_ledger_new(&ledger, &budget, &err);                          ledger.h: the budget; pn_ledger_open: in a file
 *     pn_plan_new(&plan, "sgd", objective, ledger, how, NULL, &err);  plan.h: noise, steps, cost; spends nothing
 *     pn_plan_run(&fit, plan, NULL, &err);                            charges the ledger, then releases
 *     pn_model_save(path, fit, plan, NULL, &err);                     model.h: a file, with its privacy statement
 *
 * Each returns PN_OK or what went wrong (status.h) and leaves nothing half-made; nothing prints, exits or jumps.
 * What `out` receives is freed by its own _free, in the opposite order; NULL is always allowed.
 * examples/embed/train.c is the whole program (installed in share/doc/penumbra).
 *
 * Names: pn_TYPE_new makes, pn_TYPE_free lets go, and what is done with an object is pn_TYPE_verb.  Pointers are
 * borrowed for the call unless a comment says `kept`: then the object has a share in it, or, of what is not shared,
 * it must outlive the object.
 *
 * Threads: objects are used by one thread at a time unless their header says more; there is no state of the whole
 * process but the allocator (memory.h), which is set first.  A pn_task (task.h) gives a call threads, is told of
 * progress, is cancelled from anywhere, and has limits of time.  A pn_account (memory.h) counts and limits memory.
 * Training over parties that hold different columns: penumbra/federated.h.  Lua in a program: penumbra_lua.h. */
#ifndef PENUMBRA_H
#define PENUMBRA_H

#include "penumbra/accountant.h"
#include "penumbra/dataset.h"
#include "penumbra/event.h"
#include "penumbra/ledger.h"
#include "penumbra/loss.h"
#include "penumbra/mechanism.h"
#include "penumbra/memory.h"
#include "penumbra/model.h"
#include "penumbra/norm.h"
#include "penumbra/numbers.h"
#include "penumbra/objective.h"
#include "penumbra/options.h"
#include "penumbra/plan.h"
#include "penumbra/potential.h"
#include "penumbra/prefix.h"
#include "penumbra/prox.h"
#include "penumbra/ranks.h"
#include "penumbra/recipe.h"
#include "penumbra/regulariser.h"
#include "penumbra/rng.h"
#include "penumbra/sampler.h"
#include "penumbra/set.h"
#include "penumbra/status.h"
#include "penumbra/task.h"
#include "penumbra/version.h"

#endif
