/* objective_impl.h -- the objective's insides, shared by the files of this room only. */
#ifndef PN_OBJECTIVE_IMPL_H
#define PN_OBJECTIVE_IMPL_H

#include "core/ranks.h"
#include "numeric/simd/simd.h"
#include "objective/passes/objective.h"

/* X^T X / n and X^T y / n of a quadratic loss, and the mean loss at theta = 0. */
typedef struct pn_gram {
    double *matrix; /* [p * p], symmetric, or NULL while not formed */
    double *linear; /* [p] */
    double constant;
    double *product; /* [p] scratch */
} pn_gram;

typedef struct pn_lent pn_lent;

struct pn_objective {
    const pn_dataset *data;
    pn_lent *lent; /* where the records are that this rank does not hold; NULL: all records are here */
    pn_loss *loss;
    pn_set *set;
    pn_regulariser *reg;
    double clip;
    pn_ranks *ranks;     /* NULL: this process does all the work */
    pn_interval *slopes; /* [inputs] what each slope is clamped to; NULL: all to bounds.loss.slope */
    double *norms; /* [n] upper bounds of ||x_i||_2 with room for the rounding of clipping, with clip; else NULL */
    size_t dim;
    pn_bounds bounds;
    double reach;      /* NAN: nobody has asked yet */
    size_t block_rows; /* rows that are kept in the first-level cache between the two uses */
    pn_gram gram;
};

#define PN_BLOCK_ROWS_MAX PN_LOSS_BLOCK
#define PN_CHUNKS_MAX     64
#define PN_CLIP_LEAST     0x1p-400 /* so that no product of a clipped factor and a row over- or underflows to harm */
#define PN_CLIP_MOST      0x1p400
#define PN_OUTWARD        (1.0 + 1e-14) /* covers the rounding of a few products */
/* how far outside of its set, in l1, theta may be where the Gram matrix is used */
#define PN_ASIDE (1.0 + 1e-12)

/* ---- objective_bounds.c ---- */

/* What cannot be bounded is no error; memory that runs out is.  Errors: PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_objective_derive_bounds(pn_objective *objective, pn_err *err);
static inline bool pn_is_enforced(double bound)
{
    return bound < 1.0 / 0.0; /* neither NaN nor infinite */
}

/* ---- objective.c ---- */

/* Upper bounds of the l2 norms of the records that `from` holds become the objective's, with clip: of the records
 * numbers[0], numbers[1] ..., or those of the same numbers for NULL.  Errors: PN_ENOMEM. */
pn_status pn_objective_measure(const pn_objective *objective, const pn_dataset *from, const size_t *numbers,
                               pn_err *err);

/* The fixed partition of `records` records into chunks of whole blocks: sums do not depend on the number of threads. */
typedef struct pn_partition {
    size_t chunks, chunk_rows;
} pn_partition;
pn_partition pn_objective_partition(const pn_objective *objective, size_t records);
/* Records in the longest chunk that the partition of all records may have, by public numbers. */
size_t pn_objective_longest_chunk(const pn_objective *objective);

/* ---- share.c: the chunks of a pass, on all ranks ---- */

typedef struct pn_shared {
    size_t chunks;
    /* chunk c reads records c * chunk_rows .. (c + 1) * chunk_rows - 1 at most, or those at such places of the batch;
     * 0: any */
    size_t chunk_rows;
    /* as for pn_parallel; or `run`, for what calls back and can fail: chunks begin .. end - 1 on this thread */
    pn_block_fn body;
    pn_status (*run)(void *self, size_t begin, size_t end, pn_task *task, pn_err *err);
    void *self;
    const pn_ranks_part *parts; /* [part_count] what chunks leave behind */
    size_t part_count;
    const double *theta, *other; /* [dim] or NULL: ranks make sure that they have the same */
    const pn_batch *batch;       /* or NULL */
} pn_shared;

/* Run all chunks; with ranks this rank's share, and the others' parts are there afterwards.  `before`: what the caller
 * has failed with already (memory), since with ranks the failure of one is that of all.  One chunk, and what a callback
 * of a shared pass asks for, every rank computes by itself, for which it has to have all records.  For a batch ranks
 * lend each other what they do not hold (lend.c).
 * Errors: `before`; PN_EUNSUPPORTED for records that this rank would read and does not hold; those of `run`;
 * PN_ECANCELLED; with ranks pn_ranks_complete's. */
pn_status pn_share_chunks(const pn_objective *objective, const pn_shared *work, pn_status before, pn_task *task,
                          pn_err *err);

/* ---- lend.c: batches of records that are shared out to ranks ---- */

/* For an objective of `ranks` that hold some of n records each.  Errors: PN_ENOMEM. */
pn_status pn_lent_new(pn_lent **out, const pn_ranks *ranks, pn_err *err);
void pn_lent_free(pn_lent *self); /* NULL allowed */
/* The chunks of a batch on all ranks, as pn_share_chunks does them; what: the digest of the work. */
pn_status pn_lend_chunks(const pn_objective *objective, const pn_shared *work, uint64_t what, pn_status before,
                         pn_task *task, pn_err *err);
/* Run chunks begin .. end - 1 here. */
pn_status pn_run_chunks(const pn_shared *work, size_t begin, size_t end, pn_task *task, pn_err *err);
/* Where record *i is: `data`, or what was lent to this rank for the pass at hand; *i is its number there. */
const pn_dataset *pn_lent_find(const pn_lent *lent, const pn_dataset *data, size_t *i);
static inline const pn_dataset *pn_lent_source(const pn_lent *lent, const pn_dataset *data, size_t *i)
{
    return lent && !pn_dataset_holds(data, *i) ? pn_lent_find(lent, data, i) : data;
}

/* ---- block.c: a block of records ---- */

typedef struct pn_block {
    const pn_dataset *data;
    const pn_lent *lent; /* of a batch, the objective's; else NULL */
    const pn_simd *simd;
    const size_t *rows; /* [count] record numbers, or NULL: first, first + 1 ... */
    size_t first, count;
    const double *dense; /* dense records of a batch, gathered [count * p]; NULL: read in place */
    const float *single; /* the same of float32 */
} pn_block;

/* z[r] = <x_r, w> */
void pn_block_times(const pn_block *block, const double *w, double *z);
/* z[r] = <x_r, w> and along[r] = <x_r, v>, of one look at the records */
void pn_block_times_both(const pn_block *block, const double *w, const double *v, double *z, double *along);
/* g[j] += sum_r weight[r] x_rj */
void pn_block_add(const pn_block *block, const double *weight, double *g);
/* Copy the dense records of block->rows to `room` [count * p] and read them there. */
void pn_block_gather(pn_block *block, double *room);
/* z[k * count + r] = <x_r, row k of w> for every margin k; then rows of further parameters, each count times */
void pn_block_margins(const pn_objective *objective, const pn_block *block, const double *w, double *z);
/* out[k * count + r] = parameter k of theta's further ones, for every r: rows of inputs, after those of the margins */
void pn_block_extra(const pn_objective *objective, size_t count, const double *theta, double *out);
/* g[dim] += sum_r weight[k * count + r] x_r in row k; in the place of a further parameter the sum of its weights */
void pn_block_add_inputs(const pn_objective *objective, const pn_block *block, const double *weight, double *g);
/* The numbers [count * p] of a block of dense records that follow one another, or were gathered. */
const double *pn_block_dense(const pn_block *block);
const float *pn_block_single(const pn_block *block);
/* x[p] = row r of such a block, as doubles. */
void pn_block_row(const pn_block *block, size_t r, double *x);
/* x[p] = the features of record i, as doubles and with the zeros. */
void pn_record_features(const pn_objective *objective, size_t i, double *x);
/* The records of a pass, and the doubles of room that gathering a block of them takes. */
size_t pn_batch_records(const pn_objective *objective, const pn_batch *batch);
size_t pn_batch_room(const pn_objective *objective, const pn_batch *batch);
/* The next block of a chunk, the first when `block` is zeroed; false when there is no more. */
bool pn_block_next(pn_block *block, const pn_objective *objective, const pn_batch *batch, pn_partition part,
                   size_t chunk);
/* labels[r], in place or copied to `room` [count] */
const double *pn_block_labels(const pn_block *block, double *room);

/* ---- moved.c: losses of records whose margins move along directions ---- */

typedef struct pn_moved {
    const pn_loss *loss;
    size_t records, lines, sides; /* sides: 2, theta + radius u and theta - radius u; 4: the same at another point */
    double radius;
    const double *z[2];  /* [inputs][records] at theta, at the other point */
    const double *steps; /* [inputs][records * lines]: <x_r, u_j>; entries of u_j for further parameters */
    const double *y;     /* [records] */
} pn_moved;

/* values[side][count] of the pairs (r, j) = begin, begin + 1 ..., r * lines + j,
 * of which at most PN_LOSS_BLOCK / sides: returns how
 * many.  room: PN_MOVED_ROOM(inputs) doubles. */
size_t pn_moved_losses(const pn_moved *of, size_t begin, double *room, double *values);
#define PN_MOVED_ROOM(inputs) (((inputs) + 1) * PN_LOSS_BLOCK)

/* ---- clip.c ---- */

#define PN_TAU_LEAST 0x1p-960 /* no product of a scaled factor and a row loses digits that a norm has no room for */

/* Clamp a block's slopes [inputs][count] to the certified range, and clip them. */
void pn_block_enforce(const pn_objective *objective, const pn_block *block, double *slope);
/* Scale each record's slopes so that what it adds to a gradient has an l2 norm <= most in real arithmetic,
 * most >= PN_TAU_LEAST: ||slopes||_2 ||x||_2, or, with slopes u of further parameters, sqrt(||slopes||^2 ||x||^2 +
 * ||u||^2).  `record` bounds ||x||_2 where the objective has no norms; like them it has room for (inputs / 2 + 8)
 * roundings of 2^-53 that follow.  NaN counts as 0. */
void pn_block_scale(const pn_objective *objective, const pn_block *block, double record, double most, double *slope);
/* A Hessian's weights of one margin: clamped to the certified curvature * along, rounded monotonely. */
void pn_clamp_bends(const pn_bounds *bounds, size_t count, const double *along, double *weight);
/* Of several margins, weight[pair][count], pair l (l + 1)/2 + k: scaled down to the certified Frobenius norm,
 * and 0 where it is no number. */
void pn_clamp_pairs(const pn_bounds *bounds, size_t margins, size_t count, double *weight);

/* ---- batch.c ---- */

/* pn_objective_losses over a batch, of a loss with margins. */
pn_status pn_batch_losses(const pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                          double *gradient, pn_task *task, pn_err *err);

/* ---- gram.c ---- */

/* Whether gradients may come from the Gram matrix: a quadratic loss that is not clipped, over bounded records. */
bool pn_objective_uses_gram(const pn_objective *objective);
pn_status pn_gram_form(pn_objective *objective, pn_task *task, pn_err *err);
/* X^T X / n and X^T y / n of any data, for the caller, who clears it; the constant is 0. */
pn_status pn_gram_make(pn_gram *out, const pn_objective *objective, pn_task *task, pn_err *err);
/* Whether the matrix is there and theta within the certified margins; else the pass, which clamps slopes,
 * is to be taken. */
bool pn_gram_serves(const pn_objective *objective, const double *theta);
void pn_gram_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient);
void pn_gram_clear(pn_gram *gram);
/* Records that one floating sum of the Gram matrix runs over before sums of sums begin. */
size_t pn_gram_depth(const pn_objective *objective);

/* ---- record_pass.c: black boxes ---- */

/* means[count] = means over the batch at thetas[count][dim], all points of a record in one call; of one point
 * values[records], each record's loss, unless NULL.  Untouched on failure, but for values. */
pn_status pn_record_means(pn_objective *objective, const pn_batch *batch, const double *thetas, size_t count,
                          double *means, double *values, pn_task *task, pn_err *err);

/* ---- pass.c ---- */

/* PN_EDOMAIN with the position unless all of x[n] are finite. */
pn_status pn_check_point(const char *who, const char *what, const double *x, size_t n, pn_err *err);
/* PN_EUNSUPPORTED, naming `what`, for a black box. */
pn_status pn_need_derivatives(const pn_objective *objective, const char *what, pn_err *err);
/* Add partial[chunks][dim + 1], gradients and values, in that order, and divide; either result may be NULL. */
void pn_pass_combine(const double *partial, size_t chunks, size_t dim, double denominator, double *value,
                     double *vector);
/* The sum of x[n], eight interleaved sums. */
double pn_block_sum(const double *x, size_t n);
/* What every look at the records begins with: PN_EUNSUPPORTED when they are not here, PN_EINVAL for a batch that does
 * not make sense; NULL is fine. */
pn_status pn_check_batch(const pn_objective *objective, const pn_batch *batch, pn_err *err);

#endif
