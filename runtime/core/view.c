/* view.c -- small questions about views.  Depends on: view.h.  Used by: every room. */
#include <math.h>

#include "core/view.h"

size_t pn_first_nonfinite(const double *x, size_t n)
{
    size_t i = 0;

    while (i < n && isfinite(x[i]))
        i++;
    return i;
}

const char *pn_lp_name(pn_lp norm)
{
    static const char *const names[PN_LP_COUNT] = { "l1", "l2", "linf" };

    return names[norm];
}

pn_lp pn_lp_dual(pn_lp norm)
{
    return (pn_lp)(PN_LINF - norm);
}
