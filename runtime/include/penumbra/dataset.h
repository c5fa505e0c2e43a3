/* dataset.h -- n records (x_i, y_i): features dense or sparse, one label each, and what is ENFORCED about them, not
 * observed: bounds that hold for every record which could have been admitted.  Privacy rests on these, so records are
 * clipped to public bounds first.  Immutable once made: every transformation gives a new data set.  Depends on:
 * numbers.h, rng.h, task.h. */
#ifndef PENUMBRA_DATASET_H
#define PENUMBRA_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penumbra/numbers.h"
#include "penumbra/rng.h"
#include "penumbra/status.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_dataset pn_dataset;

void pn_dataset_free(pn_dataset *data);

/** Copy X [n*p row-major] and y [n] in.  Errors: PN_EDIM when n or p is 0; PN_EINVAL for sizes above 2^48; PN_EDOMAIN
 *  (with position) for NaN or infinity; PN_ENOMEM.
 *  Privacy: nothing is enforced yet.  Labels that are all exactly -1 or 1 are noted (here, by the loaders and by
 *  with_labels) for the losses of binary labels, which take the alphabet {-1, 1} as public schema; for other losses
 *  the range still has to be enforced, since a neighbour's label may lie outside. */
pn_status pn_dataset_from_dense(pn_dataset **out, const double *X, size_t n, size_t p, const double *y,
                                const char *name, pn_err *err);

/** The same from CSR.  Errors: also PN_EINVAL for rows that do not start where the one before ends, PN_EDIM for a
 *  column beyond X. */
pn_status pn_dataset_from_csr(pn_dataset **out, const pn_csr *X, const double *y, const char *name, pn_err *err);

/* ---- what is known of it; borrowed, as long as the data set lives ---- */

/** The number of records, and of features. */
size_t pn_dataset_records(const pn_dataset *data);
size_t pn_dataset_features(const pn_dataset *data);
/** Where it came from: a file's name, say. */
const char *pn_dataset_name(const pn_dataset *data);
bool pn_dataset_is_sparse(const pn_dataset *data);
/** The labels [records]; NULL where others have the records.  Not private. */
const double *pn_dataset_labels(const pn_dataset *data);
/** x[features] = the features of record `row` (from 0).  Not private.  Errors: PN_EDIM past the last;
 *  PN_EUNSUPPORTED where others have it. */
pn_status pn_dataset_record(const pn_dataset *data, size_t row, double *x, pn_err *err);
/** What is enforced of ||x||, of every record; NaN: nothing. */
double pn_dataset_row_bound(const pn_dataset *data, pn_lp norm);
/** The range that is enforced of the labels: true, and *low and *high; false: none. */
bool pn_dataset_label_range(const pn_dataset *data, double *low, double *high);

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

/* ---- files ---- */

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
    pn_storage storage;      /* AUTO: sparse when fewer than 1 entry in 5 is present.  DENSE without cols: above 64 MB
                                only where 1 in 1000 is */
    pn_label_options labels; /* without text */
} pn_libsvm_options;

/**
 * Read LIBSVM text ("label index:value ...", indices from 1 and rising, '#' starts a comment), gzip or plain.
 *   path     borrowed for the call.   options  NULL for the defaults.   task  told of bytes read; may be NULL.
 * Errors: PN_EINVAL for options; PN_EIO, also for a gzip stream that is damaged or cut short; PN_EPARSE with file,
 *         line, column and what was expected, for no records, and for no features without `cols`; PN_EDOMAIN when
 *         binary labels are not two; PN_ENOMEM; PN_ECANCELLED.  Nothing half-loaded survives.
 * Peak memory is at most 1.3 times the resulting matrix.  Messages quote the file: they are for its owner.
 */
pn_status pn_dataset_load_libsvm(pn_dataset **out, const char *path, const pn_libsvm_options *options, pn_task *task,
                                 pn_err *err);

typedef enum pn_header { PN_HEADER_AUTO = 0, PN_HEADER_YES, PN_HEADER_NO } pn_header;

#define PN_CSV_CATEGORIES 10000 /* found in one column, at most */

/* A column of text that becomes one feature for each category: 1 where the record has it, else 0.  Categories that
 * are found in the file are no public facts: neither which there are nor how many.  Nothing pays for them; declare
 * them instead. */
typedef struct pn_csv_one_hot {
    const char *name; /* the column by header name, or NULL */
    size_t column;    /* else by number from 1 */
    /* [count] declared, in the order of their features; NULL: those found, sorted: numbers by value first, then
     * by bytes */
    const char *const *categories;
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
    /* every other column whose first record is not a number is one-hot, too: then it must hold no number */
    bool one_hot_text;
    pn_label_options labels;
    /* AUTO: dense, but sparse where one-hot columns make a dense table above 64 MB with more than 5 features for each
     * column */
    pn_storage storage;
} pn_csv_options;

/** Read CSV (RFC 4180 quoting, but a quoted field ends on its line), gzip or plain: numbers, but for the
 *  columns of text and the labels that the options name.  Features take the names of a header that has as many fields
 *  as the records; "column=category" for those of a column of text.
 *  Header AUTO with labels or one-hot columns, none of the columns looked up by name: the first line is a header when
 *  none of its fields is a number, and then the second must hold one.  With header YES and no column looked up by
 *  name, the first line may have any number of fields.
 *  Errors as pn_dataset_load_libsvm; PN_EINVAL for columns that are not there, or for a header that cannot be told;
 *  PN_EDOMAIN for more than PN_CSV_CATEGORIES categories in a column. */
pn_status pn_dataset_load_csv(pn_dataset **out, const char *path, const pn_csv_options *options, pn_task *task,
                              pn_err *err);

/** Read two NumPy files, gzip or plain: features n x p from xpath, n labels, or n x 1, from ypath.  Dense, as
 *  doubles whatever the type.  Errors: PN_EIO, PN_EPARSE, PN_EUNSUPPORTED for another type; PN_EDIM for sizes that do
 *  not fit, naming both; PN_ENOMEM; PN_ECANCELLED.
 *  Peak memory is that of the matrix and twice the labels. */
pn_status pn_dataset_load_npy(pn_dataset **out, const char *xpath, const char *ypath, pn_task *task, pn_err *err);

/** Write all that `data` is, its bounds, names and recipe too, as a file that pn_dataset_open maps.  It has the name
 *  `path` when it is whole, and replaces what had; its mode is 0600 less the mask, for it holds the records.
 *    task  told of bytes written; may be NULL.
 *  Errors: PN_EIO; PN_EUNSUPPORTED when not all records are here; PN_ENOMEM; PN_ECANCELLED. */
pn_status pn_dataset_store(const pn_dataset *data, const char *path, pn_task *task, pn_err *err);
/**
 * Map what pn_dataset_store wrote: memory is taken page by page as records are read, and given back by the system when
 * it needs some.  One reading, which `task` (may be NULL) is told of in bytes, compares all check sums and sees that
 * every record is within the bounds that the file calls enforced.  What is made of the result later (clipped, as
 * float32, a subset) is put on disk beside the file, without a name, until it is freed.
 * The file must stay as it is.  Each pass looks first whether it was changed; one that is cut during a pass ends the
 * process.  It is for the machine that wrote it.
 * Errors: PN_EIO, also for a file that was cut, changed or damaged; PN_EPARSE for a file of another kind; PN_EDOMAIN
 *         for records that break what it calls enforced; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_dataset_open(pn_dataset **out, const char *path, pn_task *task, pn_err *err);

/* ---- bounds and transformations ----
 * They stop with PN_ECANCELLED or PN_ELIMIT when the task that the thread is working for is to end. */

/** Scale each row whose norm exceeds `bound` down to it, guaranteed in real arithmetic;
 *  record the bound and those it implies, rounded upwards; smaller ones that stood before stay.  For l1 and l2 a row
 *  within about p 2^-51 of the bound counts as exceeding it; linf is exact.  bound in [2^-400, 2^400].
 *  The result is a copy.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_dataset_clip_rows(pn_dataset **out, const pn_dataset *data, pn_lp norm, double bound, pn_err *err);

/** Clamp labels to [low, high] and record it, or what it leaves of a range that stood before.  Errors: PN_EINVAL
 *  unless low < high; PN_ENOMEM. */
pn_status pn_dataset_clip_labels(pn_dataset **out, const pn_dataset *data, double low, double high, pn_err *err);

/** Feature j clamped to the public range [low[j], high[j]] and mapped linearly to [-1, 1]; low[count], high[count].
 *  The result is dense, every entry is within [-1, 1] in real arithmetic, and that is what is enforced; earlier row
 *  bounds are forgotten.  The range -1, 1 leaves a feature as it is.  The ranges must not be taken from the data: what
 *  they reveal is not paid for.
 *  Errors: PN_EDIM when count is not p (names both); PN_EINVAL unless low < high; PN_ENOMEM. */
pn_status pn_dataset_rescale(pn_dataset **out, const pn_dataset *data, const double *low, const double *high,
                             size_t count, pn_err *err);

/** Replace the labels y[n]; label bounds are forgotten, row bounds stay.  Errors: PN_EDIM, PN_EDOMAIN, PN_ENOMEM. */
pn_status pn_dataset_with_labels(pn_dataset **out, const pn_dataset *data, const double *y, size_t n, pn_err *err);

/** One more feature, the constant 1, at the end; row bounds grow accordingly.  Errors: PN_ENOMEM. */
pn_status pn_dataset_add_bias(pn_dataset **out, const pn_dataset *data, pn_err *err);

/** Records rows[0..count-1] (indices from 0), in that order; bounds stay.  Errors: PN_EDIM, PN_ENOMEM. */
pn_status pn_dataset_subset(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_err *err);

/** Two data sets of about fraction and 1 - fraction of the records, drawn at random; bounds stay.  Errors: PN_EINVAL
 *  unless both hold a record; PN_ENOMEM. */
pn_status pn_dataset_split(pn_dataset **first, pn_dataset **second, const pn_dataset *data, double fraction,
                           pn_rng *rng, pn_err *err);

/** The features as float32: half the memory, and half the time of a pass over dense ones.  Each entry is rounded
 *  toward zero, so that every row bound stays; labels stay double.  What is made of the result is stored as float32,
 *  too.  A set that is float32 already is copied.
 *  Errors: PN_EDOMAIN (with position) for an entry beyond FLT_MAX, about 3.4e38; PN_ENOMEM. */
pn_status pn_dataset_to_float32(pn_dataset **out, const pn_dataset *data, pn_err *err);

/* ---- made-up data with a known truth ----
 * Every record is within the stated bounds, which are recorded as enforced.  Errors: PN_EINVAL, PN_ENOMEM,
 * PN_ECANCELLED, PN_ELIMIT, what the task's listener returns. */

/* Synthetic data.  Gaussian or +-1 features, a sparse signal; every record within the stated bounds, which are
 * recorded as enforced.  Errors: PN_EINVAL, PN_ENOMEM, PN_ECANCELLED, PN_ELIMIT, what the task's listener returns. */
typedef struct pn_synthetic_options {
    size_t n, p, sparsity; /* sparsity: non-zeros of the true parameter, <= p */
    double noise;          /* lasso: standard deviation of the label noise; logistic: probability of a flipped label */
    double signal;         /* l1 norm of the true parameter */
    uint64_t seed;
    pn_task *task; /* NULL: neither progress nor stopped */
} pn_synthetic_options;

/** y = <x, theta*> + noise, x_ij = +-1 fair, labels clipped to [-1, 1]; theta* has `sparsity` equal entries of random
 *  sign. truth [p] (may be NULL) receives theta*. */
pn_status pn_dataset_synthetic_lasso(pn_dataset **out, const pn_synthetic_options *options, double *truth, pn_err *err);

/** y = +-1 with P(y=1) = sigmoid(<x, theta*>), then flipped with probability `noise`; x_ij = +-1 fair. */
pn_status pn_dataset_synthetic_logistic(pn_dataset **out, const pn_synthetic_options *options, double *truth,
                                        pn_err *err);

/* Data whose truth is a matrix. */
typedef struct pn_classification_options {
    size_t n, p, classes;
    double separation; /* of the classes' means; > 0 */
    double noise;      /* probability of a label that is another class's */
    uint64_t seed;
    pn_task *task; /* as above */
} pn_classification_options;

/**
 * Classes 1 .. K, equally likely; x = mu_y + N(0, I).  All means have the norm separation sqrt((K-1)/(2K)); with K <=
 * p + 1 they are the vertices of a regular simplex, `separation` apart, else in random directions.  P(y = k | x)
 * before labels are changed is softmax_k(<mu_1, x>, ..., <mu_K, x>).  Labels are within [1, K], which is recorded as
 * enforced; rows have no bound.
 *   truth  [classes * p] row-major (may be NULL): the means, which are theta* of the softmax loss.
 * Errors: PN_EINVAL; PN_ENUMERIC from LAPACK; PN_ENOMEM.
 */
pn_status pn_dataset_synthetic_classification(pn_dataset **out, const pn_classification_options *options, double *truth,
                                              pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
