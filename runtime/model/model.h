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

/** pn_model_save, whose receipt names the version of the host's Lua; NULL: none. */
pn_status pn_model_save_by(const char *path, const pn_fit *fit, const pn_plan *plan, const double *value,
                           const char *lua, pn_err *err);

/** From a plan, whose strings it borrows. */
void pn_model_about_of(pn_model_about *out, const pn_plan *plan);

typedef enum pn_model_form { PN_MODEL_FILE, PN_MODEL_JSON } pn_model_form;

/** pn_model_save or pn_model_export for a fit that was loaded; about->raw as it was, or false to leave out what is not
 *  private. */
pn_status pn_model_write(const char *path, const pn_fit *fit, const pn_model_about *about, pn_model_form form,
                         pn_err *err);

/** What `data` is to a model: its number of records, features, recipe and bounds, which stay its own. */
void pn_model_about_records(pn_model_about *out, const pn_dataset *data);

/* From the coordinates that a run had to those of the records before: z = P x, y less <x, shift>. */
typedef struct pn_model_change {
    const double *shift; /* [theta of the result], finite; NULL: 0 */
    size_t shift_count;
    pn_mat map;             /* P, a row for each feature of the run and a column for each before; data NULL: none */
    const pn_dataset *data; /* the records before */
    const char *declared;   /* what of it is public, in words */
} pn_model_change;

/**
 * A copy of a fit, theta = shift + P^T theta of each margin, that is a model of records like `data`: of what is known
 * of its run it keeps what pn_model_write would.  Set, regulariser, certificate, moments and curvature are of the run's
 * coordinates, and are left out.
 *   about  of the run, its plan in words; about_out and fit_out as of pn_model_load.
 * Errors: PN_EDIM for sizes that do not agree, or records that are not as many as the run's; PN_EINVAL for a shift, map
 *         or theta that is not finite; PN_ENOMEM.
 * Privacy: post-processing, of numbers that are public; `declared` says that the guarantee does not cover these.
 */
pn_status pn_model_in_terms_of(pn_fit **fit_out, pn_model_about **about_out, const pn_fit *fit,
                               const pn_model_about *about, const pn_model_change *change, pn_err *err);

/** *found: whether the file begins as model files or JSON objects do; false of a folder, a pipe or a device, which is
 *  not read.  Errors: PN_EIO, the file's and the system's words, where it cannot be opened or read. */
pn_status pn_model_look(const char *path, bool *found, pn_err *err);

#endif
