/* interval_math.h -- the parts of interval.h that the search uses one by one: steps, squares, powers,
 * transcendental functions.
 * Depends on: interval.h.  Used by: expr. */
#ifndef PN_EXPR_INTERVAL_MATH_H
#define PN_EXPR_INTERVAL_MATH_H

#include <stdint.h>
#include <string.h>

#include "expr/interval.h"

/** The double `count` places above x (below when negative); stops at the infinities. */
static inline double pn_step(double x, int64_t count)
{
    const int64_t inf = INT64_C(0x7ff0000000000000);
    int64_t place;

    memcpy(&place, &x, sizeof place);
    if (place < 0)
        place = INT64_MIN - place; /* the order of places is the order of numbers; both zeros are 0 */
    place += count;
    place = place > inf ? inf : place < -inf ? -inf : place;
    if (place < 0)
        place = INT64_MIN - place;
    memcpy(&x, &place, sizeof x);
    return x;
}

pn_interval pn_interval_add(pn_interval a, pn_interval b);
pn_interval pn_interval_mul(pn_interval a, pn_interval b);
/** a * a of one and the same number. */
pn_interval pn_interval_square(pn_interval a);
/** a ^ b. */
pn_interval pn_interval_power(pn_interval a, pn_interval b, unsigned *doubt);
/** exp log log1p expm1 tanh sigmoid softplus erf. */
pn_interval pn_interval_monotone(pn_opcode op, pn_interval a, unsigned *doubt);
pn_interval pn_interval_sin(pn_interval a);
pn_interval pn_interval_cos(pn_interval a);

#endif
