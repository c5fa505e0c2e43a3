/* sketch_impl.h -- what a kind of sketch implements.  Private to sketch*.c.
 * J is cut into blocks of `width` columns, a number that follows from m alone.  A block is made from the seed and its
 * own number, so it is the same whichever others are made.  In memory column j of J is contiguous.
 * Depends on: sketch.h, random/address.h. */
#ifndef PN_FEDERATED_SKETCH_IMPL_H
#define PN_FEDERATED_SKETCH_IMPL_H

#include <stdbool.h>

#include "federated/sketch/sketch.h"
#include "random/address.h"

typedef struct sketch_ops {
    const char *name;
    size_t (*width)(size_t m);        /* columns in a block */
    size_t (*column_bytes)(size_t m); /* of a column in memory */
    double (*scale)(size_t m);        /* what products are multiplied by at their end */
    /* The first `count` columns of the block that `rng` stands at. */
    void (*make)(pn_rng *rng, size_t m, size_t count, void *columns);
    /* row_sums[m] += |entries| of these columns, before `scale`; returns their largest norm, rounded up, after it. */
    double (*survey)(const void *columns, size_t m, size_t count, double *row_sums);
    /* out[c][m] = the product with a[c][count], whose rows are `stride` apart, before `scale`.  At most `count`
     * additions an entry, in any order.  scratch[8 * m]. */
    void (*multiply)(const void *columns, size_t m, size_t count, const double *a, size_t stride, size_t c, double *out,
                     double *scratch);
    /* out[m] += value * column k, before `scale`. */
    void (*add)(const void *columns, size_t m, size_t k, double value, double *out);
    /* z[count], each within `rounding(m)` units (2^-53) of ||J e_j|| ||q||. */
    void (*transpose)(const void *columns, size_t m, size_t count, const double *q, double *z);
    double (*rounding)(size_t m);
} sketch_ops;

extern const sketch_ops sketch_gaussian, sketch_sparse;

#define SKETCH_WAVE 16 /* blocks, at most */

struct pn_sketch {
    pn_sketch_shape shape;
    const sketch_ops *ops; /* NULL: identity */
    pn_address_key key;
    size_t width, blocks, block_bytes; /* columns in a block */
    size_t wave;                       /* blocks that are at work at a time */
    unsigned char *kept;               /* all blocks, or NULL */
    double column_norm;                /* max_j ||J e_j||, rounded up */
    double row_sum;                    /* max_r sum_j |J_rj|, rounded up */
};

/** pn_sketch_new, which keeps J when it takes at most so many bytes. */
pn_status sketch_new(pn_sketch **out, const pn_sketch_shape *shape, size_t kept_bytes, pn_task *task, pn_err *err);

/* What a thread works with. */
typedef struct sketch_worker {
    pn_rng *rng;
    unsigned char *block; /* NULL when J is kept */
    double *scratch;      /* [8 * m] */
} sketch_worker;

typedef struct sketch_crew {
    sketch_worker *workers;
    unsigned count;
    bool blas;
} sketch_crew;

/** To be cleared, whether it could be made or not.  BLAS has one thread until then. */
pn_status sketch_crew_init(sketch_crew *all, const pn_sketch *sketch, pn_task *task, pn_err *err);
void sketch_crew_clear(sketch_crew *all);
pn_status sketch_no_memory(const pn_sketch *sketch, pn_err *err);

size_t sketch_block_columns(const pn_sketch *sketch, size_t block);
void sketch_make_block(const pn_sketch *sketch, size_t block, pn_rng *rng, void *columns);
void sketch_apply_scale(const pn_sketch *sketch, double *out, size_t n);

#endif
