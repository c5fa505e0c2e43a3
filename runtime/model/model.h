/* model.h -- model files: a fit on disk, with its privacy statement and the text of its plan, and back.
 * What a run released and what is public is kept.  What is not private is left out unless it is asked for: the
 * objective along the run, and, of private runs, time and the number of gradients
 * (which with Poisson batches is their sizes).
 * Depends on: solver.h, privacy/ledger/ledger_disk.h, libprotobuf-c, libsodium.  Used by: bindings, hosts. */
#ifndef PN_MODEL_MODEL_H
#define PN_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "solvers/engine/solver.h"
#include "penumbra/model.h"

/** From a plan, whose strings it borrows. */
void pn_model_about_of(pn_model_about *out, const pn_plan *plan);

typedef enum pn_model_form { PN_MODEL_FILE, PN_MODEL_JSON } pn_model_form;

/** pn_model_save or pn_model_export for a fit that was loaded; about->raw as it was, or false to leave out what is not
 *  private. */
pn_status pn_model_write(const char *path, const pn_fit *fit, const pn_model_about *about, pn_model_form form,
                         pn_err *err);

/** Whether the file begins as model files or JSON objects do; false also when it cannot be read. */
bool pn_model_is(const char *path);

#endif
