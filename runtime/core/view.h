/* view.h -- borrowed views of numbers.  A view never owns; who made the buffer frees it.  Depends on: libc. */
#ifndef PN_CORE_VIEW_H
#define PN_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/numbers.h"

/** Index (from 0) of the first NaN or infinity in x[n], or n when all are finite. */
size_t pn_first_nonfinite(const double *x, size_t n);

/** The norm of that name; false, and *norm untouched, when there is none (or name is NULL). */
bool pn_lp_find(pn_lp *norm, const char *name);

/** The norm whose unit ball is the polar of `norm`'s. */
pn_lp pn_lp_dual(pn_lp norm);

#endif
