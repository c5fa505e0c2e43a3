/* model.h -- models in files: a fit on disk, with its privacy statement and the text of its plan, and back.
 * What a run released and what is public is kept.  What is not private is left out unless it is asked for.
 * Depends on: numbers.h, plan.h, recipe.h. */
#ifndef PENUMBRA_MODEL_H
#define PENUMBRA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penumbra/numbers.h"
#include "penumbra/plan.h"
#include "penumbra/recipe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Figures of a fit that its file did not have, besides NaN. */
#define PN_NOT_SAVED UINT64_MAX

/* What is known of a run besides its fit: from its plan, or from a file. */
typedef struct pn_model_about {
    const char *solver, *loss;
    const char *accountant; /* who priced it; NULL without privacy */
    const char *plan;       /* what pn_plan_describe says; NULL before it was saved */
    const char *version;    /* of the library that wrote the file; NULL before it was saved */
    size_t iterations, records;
    size_t margins; /* of a record: theta begins with [margins][features], one for 1 and for 0, a loss called back */
    bool bias;      /* the last feature is known to be 1 in every record */
    bool adaptive;  /* when to end was read off what had been released: the whole budget is the bound */
    bool draws;     /* without privacy, but with noise */
    bool raw;       /* the file holds values of the records besides what was released */
    double value;   /* the objective at theta; NaN where it is not kept */
    size_t extra;   /* further parameters: theta's last entries */
    const char *features;  /* names, each ended by a zero byte, one after the other; NULL: they have none */
    size_t feature_count;  /* 0: they have none */
    const char *recipe;    /* the JSON of the recipe (recipe.h) that made the records; NULL: none did, or the file is
                                from before recipes were kept */
    const char *receipt;   /* the JSON of the run's receipt (runtime/receipt/receipt.md); NULL: none, as of runs
                              without privacy and before it was saved */
    char parameters[64];   /* of the loss, "width=0.5"; "" without */
    char set[256];         /* the set that theta is in, in words; "" without */
    char regulariser[256]; /* in words; "" without */
    char declared[256];    /* which numbers in theta its maker declared public, so that the guarantee does not cover
                              them, in words; "" without */
    double row_bound[PN_LP_COUNT]; /* enforced of every record's l1, l2 and linf norm; NaN: nothing */
    double label_low, label_high;  /* of every label; NaN: nothing */
} pn_model_about;

/**
 * Write what a run of `plan` gave to a new file, mode 600, that takes the place of `path` when it is complete and on
 * disk.
 *   value  the objective at theta (pn_objective_evaluate) to keep it, the trace's values, time and gradients, none of
 *          which is private;
 *          NULL: only what was released.
 * Errors: PN_EINVAL for a theta that is not finite or a file beyond 1 GiB; PN_EIO: `path` holds what it held;
 *         PN_ENOMEM.
 * Privacy: without `value`, the file of a private run is as private as its theta.
 */
pn_status pn_model_save(const char *path, const pn_fit *fit, const pn_plan *plan, const double *value, pn_err *err);

/**
 * The same as JSON, for others to read: MODEL-JSON.md says what it holds.  Neither the trace, nor the certificate, nor
 * moments, nor curvature, nor anything that is not private is in it.  Errors: as pn_model_save.
 * Privacy: as private as theta.
 */
pn_status pn_model_export(const char *path, const pn_fit *fit, const pn_plan *plan, pn_err *err);

/**
 * Read a model file, or JSON that pn_model_export wrote.  A model file's checksum shows damage; it proves nothing about
 * who wrote the file and whether its privacy statement is true.
 *   fit    owned by the caller; its texts belong to `about`, which must outlive it.  What is not in the file is NaN
 *          or PN_NOT_SAVED.
 *   about  owned by the caller: pn_model_about_free.
 * Errors: PN_EIO; PN_EPARSE when it is no model file, cut, damaged or holds what no fit is; PN_EUNSUPPORTED for
 *         another version of the format; PN_ENOMEM.  Nothing half-loaded survives, and memory is at most three times
 *         the size of the file, of JSON fifty times, and what a recipe of 1 MiB takes.
 */
pn_status pn_model_load(pn_fit **fit, pn_model_about **about, const char *path, pn_err *err);
void pn_model_about_free(pn_model_about *about);

#ifdef __cplusplus
}
#endif

#endif
