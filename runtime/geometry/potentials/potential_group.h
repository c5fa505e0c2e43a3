/* potential_group.h -- the numbers of the block potential.  Depends on: libc.
 * Used by: potential_group.c, potential_interpolation.c. */
#ifndef PN_GEOMETRY_POTENTIAL_GROUP_H
#define PN_GEOMETRY_POTENTIAL_GROUP_H

#include <stddef.h>

typedef struct pn_block_power {
    double exponent; /* M */
    double xi;
    double t; /* 1 / (M - 1) */
} pn_block_power;

/** For so many blocks. */
pn_block_power pn_block_power_of(size_t blocks);

#endif
