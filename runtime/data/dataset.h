/* dataset.h -- n records (x_i, y_i): features dense or sparse, one label each, and what is enforced about them.
 * Immutable once made: every transformation returns a new data set.  Depends on: core, numeric, random.
 * Used by: objective, bindings. */
#ifndef PN_DATA_DATASET_H
#define PN_DATA_DATASET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/origin.h"
#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"
#include "core/view.h"
#include "numeric/csr.h"
#include "random/rng.h"
#include "penumbra/dataset.h"

/* What is ENFORCED, not observed: bounds that hold for every record the loader could have admitted.  Privacy rests on
 * these.  NaN where nothing is enforced. */
typedef struct pn_record_bounds {
    double norm[PN_LP_COUNT]; /* ||x||_l1, l2, linf; a bound in one norm implies those in the weaker ones */
    double label_low, label_high;
    /* every label is exactly -1 or 1: suits losses of binary labels, whose domain that is.  It may have been observed,
     * so it bounds no label: label_low and label_high do */
    bool labels_binary;
    /* the last feature is exactly 1 in every record, because it was appended so: no record can have another value
     * there.  Whatever tightens a bound may scale rows, and ends it */
    bool constant;
    /* the features of a column of text are those of the categories that records had: nothing pays for what they tell */
    bool categories_found;
    /* The one number that is not enforced: the root mean square of ||x||_l2 that the form of a recipe lets one expect,
     * a public guess; 0: none.  Default times of solvers rest on it, nothing that privacy or a proof needs. */
    double usual;
} pn_record_bounds;

/* `usual` as a part of the l2 bound; 1 where nothing below the bound is expected, rounding apart. */
static inline double pn_usual_part(const pn_record_bounds *bounds)
{
    double part = bounds->usual / bounds->norm[PN_L2];

    return part > 0.0 && part < 1.0 - 1e-9 ? part : 1.0;
}

/* Features lie in exactly one of four arrays; rows.h reads them all alike.
 *              not sparse        sparse
 *   float64    dense [n * p]     csr.value [nnz]
 *   float32    single [n * p]    csr_single [nnz], and csr.value is NULL
 * The other three are NULL.  Dense ones are row-major.  A float is exactly the double it converts to: what is enforced
 * holds for that, and all sums are of doubles.
 * `absent`: all four and y are NULL, since others have the records; n, p and what is enforced are all that is known.
 * `partial`: features of `held` records from number `first` on are here and the others on other ranks; dense arrays
 * have held * p numbers then, sparse ones the entries from csr.start[first] on.  All labels are here, and csr.start of
 * all records: what follows from how many entries there are is the same on all ranks. */
struct pn_dataset {
    size_t n, p;
    bool sparse, float32, absent, partial;
    size_t first, held; /* 0 and 0 unless partial */
    double *dense;
    float *single;
    pn_csr csr; /* start and column of sparse features, which pn_csr_place finds; zeros otherwise */
    float *csr_single;
    double *y; /* [n] */
    pn_record_bounds bounds;
    struct pn_mapped *file; /* the arrays are a file's, mapped for reading; NULL: they are this data set's own */
    char *folder;           /* what is made of these records is on disk, too, in this folder; NULL: in memory */
    char *name;             /* where it came from, for messages and summaries */
    pn_origin *origin;      /* shared with all that was made of the same records; NULL: nobody is in them */
    char *features;         /* p names, each ended by a zero byte, one after the other; or NULL */
    size_t feature_bytes;   /* of `features` */
    char *recipe; /* the JSON of the recipe whose features and labels these are; NULL: of none, or changed since */
};

/* What to do about rows without a public bound, for messages: public ranges first, since a clip that fits a column of
 * 400,000s leaves nothing of one of ages. */
#define PN_HOW_TO_BOUND_ROWS_IN(norm)                                                                                  \
    "scale the columns by their public ranges, data:rescale{age = {17, 90}} or pn.recipe, or clip the rows, e.g. "     \
    "data:clip_rows(\"" norm "\", 1), which leaves little of small columns beside a large one"
#define PN_HOW_TO_BOUND_ROWS PN_HOW_TO_BOUND_ROWS_IN("l2")

/** n records of p features that others have: plans need no more.  Whatever would read a record refuses such a data set.
 *  A bound in one norm implies those in the others, rounded upwards.
 *  Errors: PN_EDIM when n or p is 0; PN_EINVAL for n or p above 2^48; PN_ENOMEM. */
pn_status pn_dataset_absent(pn_dataset **out, size_t n, size_t p, const pn_record_bounds *bounds, const char *name,
                            pn_err *err);
/** PN_EUNSUPPORTED "who: the parties hold the records of this data set" when they are not here. */
pn_status pn_dataset_need_records(const pn_dataset *data, const char *who, pn_err *err);
/** The same, but records that are shared out to ranks will do. */
pn_status pn_dataset_need_share(const pn_dataset *data, const char *who, pn_err *err);
/** The features of records begin .. end - 1 and all labels: for an objective with ranks, of which each holds some.
 *  What works on one record by itself (clip_rows, clip_labels, with_labels, to_float32) makes another such data set;
 *  whatever would read others refuses it.  Of all records: a copy.
 *  Errors: PN_EDIM unless begin < end <= n; PN_EUNSUPPORTED when not all records are here; PN_ENOMEM. */
pn_status pn_dataset_hold(pn_dataset **out, const pn_dataset *data, size_t begin, size_t end, pn_err *err);
/* The end of what is held: [first, pn_dataset_held_end). */
static inline size_t pn_dataset_held_end(const pn_dataset *data)
{
    return data->partial ? data->first + data->held : data->n;
}
static inline bool pn_dataset_holds(const pn_dataset *data, size_t i)
{
    return !data->partial || i - data->first < data->held;
}
/* Where the entries of record i, which is held, begin in csr.column and beside it. */
static inline size_t pn_csr_place(const pn_dataset *data, size_t i)
{
    return data->csr.start[i] - data->csr.start[data->first];
}

/** pn_dataset_load_npy, but of the features those of pn_ranks_hold alone are read and stored, as by pn_dataset_hold:
 *  NaN and infinity are refused by the rank that holds them.  NULL, or one rank: all. */
pn_status pn_dataset_load_npy_share(pn_dataset **out, const char *xpath, const char *ypath, const pn_ranks *ranks,
                                    pn_task *task, pn_err *err);

/** pn_dataset_clip_rows in place: without a second copy of the records beside it, for a data set that nobody else has
 *  seen yet, such as one that was just
 *  loaded.  After a failure its rows are fit for nothing but pn_dataset_free.  Errors: PN_EINVAL; PN_ENOMEM,
 *  of float32 data only. */
pn_status pn_dataset_clip_rows_here(pn_dataset *data, pn_lp norm, double bound, pn_err *err);

/* A norm that this room does not know, such as the gauge of a convex set. */
typedef struct pn_row_gauge {
    /* N(x) of a row x[p], not all 0, its largest entry below 2 in absolute value, and from 1 unless it is very small;
     * +inf: no multiple of x has a norm. */
    pn_status (*value)(void *self, const double *x, size_t p, double *value, pn_err *err);
    void *self;
    double radius[PN_LP_COUNT]; /* ||x||_l1, l2, linf <= radius * N(x), rounded upwards */
} pn_row_gauge;

/** Scale each row with N(x) > bound down to it, up to the rounding of N; a row without a norm becomes 0.  What is
 *  recorded are the bounds radius * bound that it implies for l1, l2 and linf, and these hold in real arithmetic
 *  whatever `value` says: rows are clipped to them too.  bound and radius * bound in [2^-400, 2^400].
 *  Errors: PN_EINVAL, PN_ENOMEM; PN_ENUMERIC when `value` gives no number >= 0; what it fails with. */
pn_status pn_dataset_clip_rows_to(pn_dataset **out, const pn_dataset *data, const pn_row_gauge *gauge, double bound,
                                  pn_err *err);
/** Labels y - <x, theta> clipped to [-bound, bound], which is then what is enforced; features and their bounds stay,
 *  the recipe goes.
 *    theta  [count], public, finite; unit: labels per feature.    bound  public, positive, unit of the labels.
 *  Errors: PN_EDIM unless count is p; PN_EINVAL for theta and bound; PN_EUNSUPPORTED when not all records are here;
 *  PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_dataset_offset_labels(pn_dataset **out, const pn_dataset *data, const double *theta, size_t count,
                                   double bound, pn_err *err);
/** Features z = P x, dense and without names; labels and their bounds stay, the recipe goes.  Of bounds on rows what
 *  follows from ||z||_2 <= ||P|| ||x||_2, ||P|| the operator norm, rounded upwards, is enforced, and no other.
 *    map  P, a row for each new feature and a column for each old one, public, finite.
 *  Errors: PN_EDIM unless P has p columns; PN_EINVAL for rows without a bound, or a new bound beyond [2^-400, 2^400];
 *  PN_EUNSUPPORTED when not all records are here; PN_EDOMAIN for NaN or infinity in P; PN_ENOMEM, PN_ENUMERIC,
 *  PN_ECANCELLED. */
pn_status pn_dataset_transform(pn_dataset **out, const pn_dataset *data, pn_mat map, pn_err *err);
/** pn_dataset_subset with progress, in records.  Errors also: PN_ECANCELLED, PN_ELIMIT,
 *  what the task's listener returns. */
pn_status pn_dataset_pick(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_task *task,
                          pn_err *err);

typedef struct pn_low_rank_options {
    size_t n, rows, cols, rank;
    double noise;  /* standard deviation of the label noise */
    double signal; /* nuclear norm of M*, of `rank` equal singular values */
    uint64_t seed;
    pn_task *task; /* NULL: neither progress nor stopped */
} pn_low_rank_options;
/**
 * Matrix sensing: x_i is a matrix of fair signs, rows * cols features row-major, y = <x_i, M*> + noise, clipped to
 * [-1, 1]; M* = U V^T signal/rank with U, V of random orthonormal columns.
 * Without noise E y^2 = signal^2/rank but for the clipping.
 *   truth  [rows * cols] row-major (may be NULL): M*.
 * Errors: PN_EINVAL, PN_ENOMEM, PN_ECANCELLED, PN_ELIMIT, what the task's listener returns.
 */
pn_status pn_dataset_synthetic_low_rank(pn_dataset **out, const pn_low_rank_options *options, double *truth,
                                        pn_err *err);

#endif
