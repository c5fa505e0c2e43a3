/* interval.h -- closed intervals with ends in [-inf, inf] and operations rounded outward.
 * + - * / sqrt round each end the right way (error-free transformations, so exact results stay exact); the
 * transcendental functions take libm's value widened by 4 units in the last place
 * (8 where two are composed: sigmoid, softplus), at least twice the error that glibc documents,
 * and are cut to the function's range.
 * Depends on: core, libm.  Used by: expr, objective, bindings. */
#ifndef PN_EXPR_INTERVAL_H
#define PN_EXPR_INTERVAL_H

#include <stdbool.h>

#include "expr/graph.h"

typedef struct pn_interval {
    double low, high; /* low <= high; never NaN */
} pn_interval;

/* What a value may be besides its interval. */
typedef enum pn_doubt {
    PN_SURE = 0,
    PN_MAY_JUMP = 1, /* a where, sign or condition could not be decided, or a divisor may be 0: a jump inside the box */
    PN_MAY_BE_UNDEFINED = 2 /* log or sqrt of a negative number, 0/0, a negative number to a fractional power */
} pn_doubt;

/**
 * The enclosure of one operation over intervals; operands that the operation does not have are ignored.  `doubt` is
 * or-ed with what THIS operation adds.  Infinite ends mean unbounded.
 */
pn_interval pn_interval_apply(pn_opcode op, pn_interval a, pn_interval b, pn_interval c, unsigned *doubt);

/** The smallest interval that holds both. */
pn_interval pn_interval_hull(pn_interval a, pn_interval b);
/** max |x|. */
double pn_interval_magnitude(pn_interval a);

#endif
