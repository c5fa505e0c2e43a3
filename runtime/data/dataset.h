/* dataset.h -- n records (x_i, y_i): features dense or sparse, one label each, and what is enforced about them.
 * Immutable once made: every transformation returns a new data set.  Depends on: core, numeric, random.
 * Used by: objective, bindings. */
#ifndef PN_DATA_DATASET_H
#define PN_DATA_DATASET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"
#include "core/view.h"
#include "numeric/csr.h"
#include "random/rng.h"

/* What is ENFORCED, not observed: bounds that hold for every record the loader could have admitted.  Privacy rests on
 * these.  NaN where nothing is enforced. */
typedef struct pn_record_bounds {
    double norm[PN_LP_COUNT]; /* ||x||_l1, l2, linf; a bound in one norm implies those in the weaker ones */
    double label_low, label_high;
    bool
        labels_binary; /* every label is exactly -1 or 1: suits losses of binary labels, whose domain that is.  It may have
                           been observed, so it bounds no label: label_low and label_high do */
} pn_record_bounds;

/* Features lie in exactly one of four arrays; rows.h reads them all alike.
 *              not sparse        sparse
 *   float64    dense [n * p]     csr.value [nnz]
 *   float32    single [n * p]    csr_single [nnz], and csr.value is NULL
 * The other three are NULL.  Dense ones are row-major.  A float is exactly the double it converts to: what is enforced
 * holds for that, and all sums are of doubles.
 * `absent`: all four and y are NULL, since others have the records; n, p and what is enforced are all that is known.
 * `partial`: features of `held` records from number `first` on are here and the others on other ranks; dense, so that their arrays have
 * held * p numbers; all labels are here. */
typedef struct pn_dataset {
    size_t n, p;
    bool sparse, float32, absent, partial;
    size_t first, held; /* 0 and 0 unless partial */
    double *dense;
    float *single;
    pn_csr csr; /* start and column of sparse features; zeros otherwise */
    float *csr_single;
    double *y; /* [n] */
    pn_record_bounds bounds;
    char *name;           /* where it came from, for messages and summaries */
    char *features;       /* p names, each ended by a zero byte, one after the other; or NULL */
    size_t feature_bytes; /* of `features` */
} pn_dataset;

void pn_dataset_free(pn_dataset *data);

/** Copy X [n*p row-major] and y [n] in.  Errors: PN_EDIM when n or p is 0; PN_EINVAL for sizes above 2^48; PN_EDOMAIN (with
 *  position) for NaN or infinity; PN_ENOMEM.
 *  Privacy: nothing is enforced yet.  Labels that are all exactly -1 or 1 are noted (here, by the loaders and by
 *  with_labels) for the losses of binary labels, which take the alphabet {-1, 1} as public schema; for other losses the
 *  range still has to be enforced, since a neighbour's label may lie outside. */
pn_status pn_dataset_from_dense(pn_dataset **out, const double *X, size_t n, size_t p, const double *y,
                                const char *name, pn_err *err);
/** The same from CSR.  Errors: also PN_EINVAL for rows that do not start where the one before ends, PN_EDIM for a column beyond X. */
pn_status pn_dataset_from_csr(pn_dataset **out, const pn_csr *X, const double *y, const char *name, pn_err *err);

/** n records of p features that others have: plans need no more.  Whatever would read a record refuses such a data set.  A bound in one
 *  norm implies those in the others, rounded upwards.
 *  Errors: PN_EDIM when n or p is 0; PN_EINVAL for n or p above 2^48; PN_ENOMEM. */
pn_status pn_dataset_absent(pn_dataset **out, size_t n, size_t p, const pn_record_bounds *bounds, const char *name,
                            pn_err *err);
/** PN_EUNSUPPORTED "who: the records of this data set are with the parties" when they are not here. */
pn_status pn_dataset_need_records(const pn_dataset *data, const char *who, pn_err *err);
/** The same, but records that are shared out to ranks will do. */
pn_status pn_dataset_need_share(const pn_dataset *data, const char *who, pn_err *err);
/** The features of records begin .. end - 1, dense, and all labels: for an objective with ranks, of which each holds some.  What works on one
 *  record by itself (clip_rows, clip_labels, with_labels, to_float32) makes another such data set; whatever would read others refuses it.
 *  Errors: PN_EDIM unless begin < end <= n; PN_EUNSUPPORTED for sparse features, or when not all records are here; PN_ENOMEM. */
pn_status pn_dataset_hold(pn_dataset **out, const pn_dataset *data, size_t begin, size_t end, pn_err *err);
/* The end of what is held: [first, pn_dataset_held_end). */
static inline size_t pn_dataset_held_end(const pn_dataset *data)
{
    return data->partial ? data->first + data->held : data->n;
}

typedef enum pn_storage { PN_STORAGE_AUTO = 0, PN_STORAGE_DENSE, PN_STORAGE_SPARSE } pn_storage;

/* How the labels of a file become numbers; all zeros: they are numbers.  Both ways enforce the range of the labels. */
typedef struct pn_label_options {
    bool binary; /* the two values found become -1 (smaller) and 1 (larger); texts are compared by their bytes */
    const double *from, *to; /* [count] explicit mapping; NULL for none */
    const char *const *text; /* [count] CSV: the label as text, instead of from[i]; NULL, or NULL in it, for a number */
    size_t count;
} pn_label_options;

typedef struct pn_libsvm_options {
    size_t cols;             /* 0: the largest index found */
    pn_storage storage;      /* AUTO: sparse when fewer than 1 entry in 5 is present */
    pn_label_options labels; /* without text */
} pn_libsvm_options;

/**
 * Read LIBSVM text ("label index:value ...", indices from 1 and rising, '#' starts a comment), gzip or plain.
 *   path     borrowed for the call.   options  NULL for the defaults.   task  told of bytes read; may be NULL.
 * Errors: PN_EINVAL for options; PN_EIO, also for a gzip stream that is damaged or cut short; PN_EPARSE with file, line,
 *         column and what was expected, for no records, and for no features without `cols`; PN_EDOMAIN when binary labels
 *         are not two; PN_ENOMEM; PN_ECANCELLED.  Nothing half-loaded survives.
 * Peak memory is at most 1.3 times the resulting matrix.  Messages quote the file: they are for its owner.
 */
pn_status pn_load_libsvm(pn_dataset **out, const char *path, const pn_libsvm_options *options, pn_task *task,
                         pn_err *err);

typedef enum pn_header { PN_HEADER_AUTO = 0, PN_HEADER_YES, PN_HEADER_NO } pn_header;

#define PN_CSV_CATEGORIES 10000 /* found in one column, at most */

/* A column of text that becomes one feature for each category: 1 where the record has it, else 0.  Categories that are found
 * in the file are no public facts: neither which there are nor how many.  Nothing pays for them; declare them instead. */
typedef struct pn_csv_one_hot {
    const char *name; /* the column by header name, or NULL */
    size_t column;    /* else by number from 1 */
    const char *const
        *categories; /* [count] declared, in the order of their features; NULL: those found, sorted: numbers by
                                      value first, then by bytes */
    size_t count;
    bool unknown_zeros; /* declared: a text that is not among them is all zeros, not an error */
} pn_csv_one_hot;

typedef struct pn_csv_options {
    const char *label_name;          /* label column by header name, or NULL */
    size_t label_column;             /* else by number from 1; 0: the last column */
    pn_header header;                /* AUTO: the first line is a header when a field of it is not a number */
    char separator;                  /* 0: found among , ; tab in the first line */
    const char *const *column_names; /* [column_count] features by header name, or NULL */
    const size_t *columns; /* [column_count] features by number from 1, or NULL; both NULL: all but the label */
    size_t column_count;
    const pn_csv_one_hot *one_hot; /* [one_hot_count], columns of features */
    size_t one_hot_count;
    bool
        one_hot_text; /* every other column whose first record is not a number is one-hot, too: then it must hold no number */
    pn_label_options labels;
} pn_csv_options;

/** Read CSV (RFC 4180 quoting, but a quoted field ends on its line), gzip or plain, dense: numbers, but for the columns of
 *  text and the labels that the options name.  Features take the names of a header that has as many fields as the records;
 *  "column=category" for those of a column of text.
 *  Header AUTO with labels or one-hot columns, none of the columns looked up by name: the first line is a header when none of
 *  its fields is a number, and then the second must hold one.  With header YES and no column looked up by name, the first
 *  line may have any number of fields.
 *  Errors as pn_load_libsvm; PN_EINVAL for columns that are not there, or for a header that cannot be told; PN_EDOMAIN for
 *  more than PN_CSV_CATEGORIES categories in a column. */
pn_status pn_load_csv(pn_dataset **out, const char *path, const pn_csv_options *options, pn_task *task, pn_err *err);

/** Read two NumPy files, gzip or plain (numeric/npy.h): features n x p from xpath, n labels, or n x 1, from ypath.  Dense, as
 *  doubles whatever the type.  Errors as pn_npy_load; PN_EDIM for sizes that do not fit, naming both.
 *  Peak memory is that of the matrix and twice the labels. */
pn_status pn_load_npy(pn_dataset **out, const char *xpath, const char *ypath, pn_task *task, pn_err *err);
/** The same, but of the features those of pn_ranks_hold alone are read and stored, as by pn_dataset_hold: NaN and infinity are refused by the
 *  rank that holds them.  NULL, or one rank: all. */
pn_status pn_load_npy_share(pn_dataset **out, const char *xpath, const char *ypath, const pn_ranks *ranks,
                            pn_task *task, pn_err *err);

/* The passes below stop with PN_ECANCELLED or PN_ELIMIT when the task that the thread has entered is to end (core/stop.h). */

/** Scale each row whose norm exceeds `bound` down to it, guaranteed in real arithmetic;
 *  record the bound and those it implies, rounded upwards; smaller ones that stood before stay.  For l1 and l2 a row within
 *  about p 2^-51 of the bound counts as exceeding it; linf is exact.  bound in [2^-400, 2^400].
 *  The result is a copy.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_dataset_clip_rows(pn_dataset **out, const pn_dataset *data, pn_lp norm, double bound, pn_err *err);

/** The same in place: without a second copy of the records beside it, for a data set that nobody else has seen yet, such as one that was just
 *  loaded.  After a failure its rows are fit for nothing but pn_dataset_free.  Errors: PN_EINVAL; PN_ENOMEM, of float32 data only. */
pn_status pn_dataset_clip_rows_here(pn_dataset *data, pn_lp norm, double bound, pn_err *err);

/* A norm that this room does not know, such as the gauge of a convex set. */
typedef struct pn_row_gauge {
    /* N(x) of a row x[p], not all 0, its largest entry below 2 in absolute value, and from 1 unless it is very small; +inf: no
     * multiple of x has a norm. */
    pn_status (*value)(void *self, const double *x, size_t p, double *value, pn_err *err);
    void *self;
    double radius[PN_LP_COUNT]; /* ||x||_l1, l2, linf <= radius * N(x), rounded upwards */
} pn_row_gauge;

/** Scale each row with N(x) > bound down to it, up to the rounding of N; a row without a norm becomes 0.  What is recorded are the
 *  bounds radius * bound that it implies for l1, l2 and linf, and these hold in real arithmetic whatever `value` says: rows are
 *  clipped to them too.  bound and radius * bound in [2^-400, 2^400].
 *  Errors: PN_EINVAL, PN_ENOMEM; PN_ENUMERIC when `value` gives no number >= 0; what it fails with. */
pn_status pn_dataset_clip_rows_to(pn_dataset **out, const pn_dataset *data, const pn_row_gauge *gauge, double bound,
                                  pn_err *err);
/** Feature j clamped to the public range [low[j], high[j]] and mapped linearly to [-1, 1]; low[count], high[count].  The result
 *  is dense, every entry is within [-1, 1] in real arithmetic, and that is what is enforced; earlier row bounds are forgotten.
 *  The range -1, 1 leaves a feature as it is.  The ranges must not be taken from the data: what they reveal is not paid for.
 *  Errors: PN_EDIM when count is not p (names both); PN_EINVAL unless low < high; PN_ENOMEM. */
pn_status pn_dataset_rescale(pn_dataset **out, const pn_dataset *data, const double *low, const double *high,
                             size_t count, pn_err *err);
/** Clamp labels to [low, high] and record it, or what it leaves of a range that stood before.  Errors: PN_EINVAL unless low < high; PN_ENOMEM. */
pn_status pn_dataset_clip_labels(pn_dataset **out, const pn_dataset *data, double low, double high, pn_err *err);
/** Replace the labels y[n]; label bounds are forgotten, row bounds stay.  Errors: PN_EDIM, PN_EDOMAIN, PN_ENOMEM. */
pn_status pn_dataset_with_labels(pn_dataset **out, const pn_dataset *data, const double *y, size_t n, pn_err *err);
/** One more feature, the constant 1, at the end; row bounds grow accordingly.  Errors: PN_ENOMEM. */
pn_status pn_dataset_add_bias(pn_dataset **out, const pn_dataset *data, pn_err *err);
/** Records rows[0..count-1] (indices from 0), in that order; bounds stay.  Errors: PN_EDIM, PN_ENOMEM. */
pn_status pn_dataset_subset(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_err *err);
/** The same with progress, in records.  Errors also: PN_ECANCELLED, PN_ELIMIT, what the task's listener returns. */
pn_status pn_dataset_pick(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_task *task,
                          pn_err *err);

/** The features as float32: half the memory, and half the time of a pass over dense ones.  Each entry is rounded toward
 *  zero, so that every row bound stays; labels stay double.  What is made of the result is stored as float32, too.  A set
 *  that is float32 already is copied.
 *  Errors: PN_EDOMAIN (with position) for an entry beyond FLT_MAX, about 3.4e38; PN_ENOMEM. */
pn_status pn_dataset_to_float32(pn_dataset **out, const pn_dataset *data, pn_err *err);

/* Observed facts, not private: the largest row norms, density, label counts.  For `d:summary()`. */
typedef struct pn_dataset_summary {
    size_t nonzeros;
    double max_norm[PN_LP_COUNT];
    double label_min, label_max, label_mean;
    double first_label, second_label; /* two smallest distinct values */
    size_t first_count, second_count, other_count;
} pn_dataset_summary;
/** Errors: PN_ENOMEM, of float32 data only. */
pn_status pn_dataset_summarise(const pn_dataset *data, pn_dataset_summary *out, pn_err *err);

/* Synthetic data.  Gaussian or +-1 features, a sparse signal; every record within the stated bounds, which are recorded as
 * enforced.  Errors: PN_EINVAL, PN_ENOMEM, PN_ECANCELLED, PN_ELIMIT, what the task's listener returns. */
typedef struct pn_synthetic_options {
    size_t n, p, sparsity; /* sparsity: non-zeros of the true parameter, <= p */
    double noise;          /* lasso: standard deviation of the label noise; logistic: probability of a flipped label */
    double signal;         /* l1 norm of the true parameter */
    uint64_t seed;
    pn_task *task; /* NULL: neither progress nor stopped */
} pn_synthetic_options;
/** y = <x, theta*> + noise, x_ij = +-1 fair, labels clipped to [-1, 1]; theta* has `sparsity` equal entries of random sign.
 *  truth [p] (may be NULL) receives theta*. */
pn_status pn_synthetic_lasso(pn_dataset **out, const pn_synthetic_options *options, double *truth, pn_err *err);
/** y = +-1 with P(y=1) = sigmoid(<x, theta*>), then flipped with probability `noise`; x_ij = +-1 fair. */
pn_status pn_synthetic_logistic(pn_dataset **out, const pn_synthetic_options *options, double *truth, pn_err *err);

/* Data whose truth is a matrix. */
typedef struct pn_classification_options {
    size_t n, p, classes;
    double separation; /* of the classes' means; > 0 */
    double noise;      /* probability of a label that is another class's */
    uint64_t seed;
    pn_task *task; /* as above */
} pn_classification_options;
/**
 * Classes 1 .. K, equally likely; x = mu_y + N(0, I).  All means have the norm separation sqrt((K-1)/(2K)); with K <= p + 1 they are
 * the vertices of a regular simplex, `separation` apart, else in random directions.  P(y = k | x) before labels are changed is
 * softmax_k(<mu_1, x>, ..., <mu_K, x>).  Labels are within [1, K], which is recorded as enforced; rows have no bound.
 *   truth  [classes * p] row-major (may be NULL): the means, which are theta* of the softmax loss.
 * Errors: PN_EINVAL; PN_ENUMERIC from LAPACK; PN_ENOMEM.
 */
pn_status pn_synthetic_classification(pn_dataset **out, const pn_classification_options *options, double *truth,
                                      pn_err *err);

typedef struct pn_low_rank_options {
    size_t n, rows, cols, rank;
    double noise;  /* standard deviation of the label noise */
    double signal; /* nuclear norm of M*, of `rank` equal singular values */
    uint64_t seed;
    pn_task *task; /* as above */
} pn_low_rank_options;
/**
 * Matrix sensing: x_i is a matrix of fair signs, rows * cols features row-major, y = <x_i, M*> + noise, clipped to [-1, 1]; M* =
 * U V^T signal/rank with U, V of random orthonormal columns.  Without noise E y^2 = signal^2/rank but for the clipping.
 *   truth  [rows * cols] row-major (may be NULL): M*.
 * Errors: as above.
 */
pn_status pn_synthetic_low_rank(pn_dataset **out, const pn_low_rank_options *options, double *truth, pn_err *err);

#endif
