/* weak.c -- see weak.h.  Depends on: weak.h.  Used by: solvers, bindings. */
#include <stdio.h>

#include "privacy/accounting/weak.h"

#define LITTLE  10.0
#define NOTHING 50.0 /* a factor above 10^21 */

bool pn_weak_epsilon(char *text, size_t size, double epsilon)
{
    bool weak = epsilon > LITTLE;

    if (!weak)
        (void)snprintf(text, size, "%s", "");
    else
        (void)snprintf(text, size, "epsilon = %g protects %s: odds may change by a factor of e^%g%s", epsilon,
                       epsilon > NOTHING ? "next to nothing" : "little", epsilon,
                       epsilon > NOTHING ? ", so one record may be read off the answer" : "");
    return weak;
}
