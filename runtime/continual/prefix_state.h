/* prefix_state.h -- the memory of a stream, block by block, and its threads' scratch.  Private to prefix_state.c,
 * prefix_stream.c and checkpoint.c.
 * Depends on: prefix_impl.h. */
#ifndef PN_CONTINUAL_PREFIX_STATE_H
#define PN_CONTINUAL_PREFIX_STATE_H

#include "continual/prefix_impl.h"

/* What one block of coordinates has in the state. */
typedef struct pn_prefix_block {
    size_t first, count, stride; /* coordinates */
    unsigned char *state;        /* the method's */
    size_t method_bytes;
    double *prefix; /* of this epoch */
    double *base;   /* of earlier ones; NULL unless doubling */
} pn_prefix_block;

size_t pn_prefix_blocks(const pn_prefix *stream);
pn_prefix_block pn_prefix_view(const pn_prefix *stream, size_t block);
/** Leaves before this epoch. */
uint64_t pn_prefix_before(const pn_prefix *stream);

/** Scratch for as many threads as the task has. */
pn_status pn_prefix_hire(pn_prefix *stream, pn_task *task, pn_err *err);
/** Room for one leaf more: the next epoch of doubling when this one is full, a layer more of a tree.
 *  Changes nothing on failure. */
pn_status pn_prefix_grow(pn_prefix *stream, pn_err *err);
/** What a method is told about a block: t = leaves of this epoch so far, and no leaf. */
pn_prefix_step pn_prefix_step_of(const pn_prefix *stream, const pn_prefix_block *view, size_t block, unsigned worker);

#endif
