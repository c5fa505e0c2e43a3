/* build.h -- how the files of this room make data sets.  Depends on: dataset.h.  Used by: data,
 * recipe. */
#ifndef PN_DATA_BUILD_H
#define PN_DATA_BUILD_H

#include "data/dataset.h"

/** n labels (uninitialised), no features yet and no names of them, no bounds, no origin, a copy of `name`.
 *  Errors: PN_EINVAL for n or p above 2^48; PN_ENOMEM. */
pn_status pn_dataset_shell(pn_dataset **out, size_t n, size_t p, const char *name, pn_err *err);
/** n labels and room for n x p features, of floats if those of `data` are; dense, or sparse with `entries` of them: all
 *  uninitialised but the last csr.start.  Bounds, name and origin as in `data`, no names of features.
 *  Errors: PN_ENOMEM, PN_EDIM. */
pn_status pn_dataset_like(pn_dataset **out, const pn_dataset *data, size_t n, size_t p, bool sparse, size_t entries,
                          pn_err *err);
/** The records begin .. end - 1 of `data`, of its storage or as floats: room for them, with bounds, name,
 *  origin, labels, csr.start, names of features and recipe.
 *  Errors: PN_ENOMEM; PN_EUNSUPPORTED where records are with others. */
pn_status pn_dataset_same_records(pn_dataset **out, const pn_dataset *data, bool float32, size_t begin, size_t end,
                                  pn_err *err);
/** How many entries of features are stored. */
size_t pn_dataset_stored(const pn_dataset *data);
/** The end of a constructor: *out = data when status is PN_OK, else data is freed.  Returns status. */
pn_status pn_dataset_deliver(pn_dataset **out, pn_dataset *data, pn_status status);
/** Errors: PN_EDOMAIN (with its number) for a label that is not finite. */
pn_status pn_dataset_check_labels(const double *y, size_t n, pn_err *err);
/** Names of features: those of `data`, and `extra` if it is not NULL; nothing when `data` has none.
 *  Errors: PN_ENOMEM. */
pn_status pn_dataset_name_features(pn_dataset *made, const pn_dataset *data, const char *extra, pn_err *err);
/** data->recipe = a copy of `json`; NULL: none, for what changes columns, scales or the unit of labels.
 *  Errors: PN_ENOMEM. */
pn_status pn_dataset_set_recipe(pn_dataset *data, const char *json, pn_err *err);
/** All of it: features and their names, labels, bounds, name, recipe.  Errors: PN_ENOMEM. */
pn_status pn_dataset_copy(pn_dataset **out, const pn_dataset *data, pn_err *err);

/** It has an origin from now on: this content, all its records, its name.  Errors: PN_ENOMEM. */
pn_status pn_dataset_set_origin(pn_dataset *data, pn_content content, pn_err *err);
/** The same from the numbers that it holds, features and labels, as they are.  Errors: PN_ENOMEM. */
pn_status pn_dataset_find_origin(pn_dataset *data, pn_err *err);
/** X[n * p] becomes the dense features, and the origin is found on the way, while the numbers are in the cache.
 *  Errors: PN_EDOMAIN (with position) for NaN or infinity; PN_ENOMEM. */
pn_status pn_dataset_take_dense(pn_dataset *data, const double *X, pn_err *err);

/** Room for the features of the records that are held, as floats if `data` says so; dense, or sparse with `entries` of
 *  them: all uninitialised but csr.start, zeros with `entries` at the end.  Errors: PN_ENOMEM, PN_EDIM. */
pn_status pn_dataset_make_room(pn_dataset *data, bool sparse, size_t entries, pn_err *err);
/** p numbers for each of n records, uninitialised; large ones on large pages where the system has them.  NULL when
 *  memory is short. */
double *pn_dataset_alloc_rows(size_t n, size_t p);
/** The label_... and ..._count fields of a summary. */
void pn_dataset_label_facts(const pn_dataset *data, pn_dataset_summary *out);
/** Forget what is enforced about the labels, unless all are exactly -1 or 1: that alphabet is taken as public
 *  schema. */
void pn_dataset_see_labels(pn_dataset *data);
/** Record ||x|| <= bound in one norm and what follows from it in the others;
 *  a smaller bound that stands already stays. */
void pn_bounds_tighten(pn_record_bounds *bounds, size_t p, pn_lp norm, double bound);
/** Bounds for rows with the entry 1 appended, rounded upwards. */
void pn_bounds_with_bias(pn_record_bounds *bounds);

/** Norm of row i, its entries finite: norm = *mantissa * 2^*exponent, which cannot overflow.  Relative error at most
 *  (entries + 2) 2^-53; exact for linf.  A row of zeros, or one below 2^-900, may have the norm 0. */
void pn_row_norm(const double *entries, size_t count, pn_lp norm, double *mantissa, int *exponent);
/** Scale entries[count] down so that their norm is at most `bound`, in [2^-400, 2^400], in real arithmetic. */
void pn_row_clip(double *entries, size_t count, pn_lp norm, double bound);
/** Where the stored entries of row i begin, and how many there are. */
size_t pn_row_place(const pn_dataset *data, size_t i, size_t *count);

#endif
