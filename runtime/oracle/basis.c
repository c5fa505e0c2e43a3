/* basis.c -- see basis.h.  Depends on: basis.h.  Used by: oracle, plans of solvers, receipt/. */
#include <math.h>

#include "oracle/basis.h"

double pn_basis_rounding(const pn_basis *self)
{
    return fmax(0.0, self->value - self->contributions * self->contribution * self->factor / self->divisor);
}

void pn_basis_add(pn_basis *self, const char *name, double value)
{
    if (self->count < PN_BASIS_NUMBERS)
        self->numbers[self->count++] = (pn_basis_number){ name, value };
}
