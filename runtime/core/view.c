/* view.c -- small questions about views.  Depends on: view.h.  Used by: every room. */
#include <math.h>
#include <string.h>

#include "core/view.h"

#define STRIDE 256 /* entries that are looked at together; a multiple of 8 */

size_t pn_first_nonfinite(const double *x, size_t n)
{
    size_t i = 0;

    for (; i + STRIDE <= n; i += STRIDE) {
        double lane[8] = { 0.0 }; /* 0 x is NaN for what is not finite */

        for (size_t j = i; j < i + STRIDE; j += 8) {
            for (size_t k = 0; k < 8; k++)
                lane[k] += 0.0 * x[j + k];
        }
        for (size_t k = 1; k < 8; k++)
            lane[0] += lane[k];
        if (lane[0] != 0.0)
            break;
    }
    while (i < n && isfinite(x[i]))
        i++;
    return i;
}

static const char *const lp_names[PN_LP_COUNT] = { "l1", "l2", "linf" };

const char *pn_lp_name(pn_lp norm)
{
    return lp_names[norm];
}

bool pn_lp_find(pn_lp *norm, const char *name)
{
    for (int i = 0; name && i < PN_LP_COUNT; i++) {
        if (strcmp(lp_names[i], name) == 0) {
            *norm = (pn_lp)i;
            return true;
        }
    }
    return false;
}

pn_lp pn_lp_dual(pn_lp norm)
{
    return (pn_lp)(PN_LINF - norm);
}
