/* noise_exp.c -- exp(-x) for x in [0, 1) in fixed point.  Depends on: noise_exp.h.  Used by: noise_exp.h. */
#include "random/noise_exp.h"

#define TERMS 36 /* 1/36! < 2^-138 */

/* 1 - x (1 - x/2 (1 - x/3 (...))): every bracket is in [0, 1], and an error in it shrinks by x/n on the way out. */
pn_u128 pn_wide_exp(pn_u128 x)
{
    pn_u128 bracket = PN_WIDE_ONE;

    for (unsigned n = TERMS; n >= 1; n--)
        bracket = PN_WIDE_ONE - pn_wide_times(x, bracket) / n;
    return bracket;
}
