/* coordinate_choices.c -- see coordinate_choices.h.  Depends on: set_algebra.h.  Used by: oracle. */
#include <math.h>

#include "core/alloc.h"
#include "geometry/algebra/coordinate_choices.h"
#include "geometry/algebra/set_algebra.h"

/* factor set, whose coordinates begin at `first`. */
static bool take(pn_coordinate_choices *self, const pn_set *set, double factor, size_t first)
{
    double own, radius;
    const double *shift;
    const pn_set *a, *b, *inner = pn_set_unwrap(set, &own, &shift);
    bool both = pn_set_is(inner, "l1_ball", &radius);

    for (size_t j = 0; shift && self->shift && j < set->dim; j++)
        self->shift[first + j] += factor * shift[j];
    if (pn_set_product_parts(inner, &a, &b))
        return take(self, a, factor * own, first) && take(self, b, factor * own, first + a->dim);
    if (!both && !pn_set_is(inner, "simplex", &radius))
        return false;
    if (self->count == PN_COORDINATE_CHOICES)
        return false;
    self->reach += fabs(factor * own * radius);
    self->at[self->count++] = (pn_coordinate_choice){ first, set->dim, factor * own * radius, both };
    return true;
}

static bool is_shifted(const pn_set *set)
{
    double factor;
    const double *shift;
    const pn_set *a, *b, *inner = pn_set_unwrap(set, &factor, &shift);

    return shift || (pn_set_product_parts(inner, &a, &b) && (is_shifted(a) || is_shifted(b)));
}

pn_status pn_coordinate_choices_new(pn_coordinate_choices **out, const pn_set *set, pn_err *err)
{
    pn_coordinate_choices *self;
    bool shifted = is_shifted(set);

    *out = NULL;
    PN_TRY(pn_new_zeroed(&self, 1, err, "set: out of memory"));
    self->shift = shifted ? pn_calloc(set->dim, sizeof *self->shift) : NULL;
    if (shifted && !self->shift) {
        pn_coordinate_choices_free(self);
        return pn_fail(err, PN_ENOMEM, "set: out of memory for %zu coordinates", set->dim);
    }
    if (take(self, set, 1.0, 0))
        *out = self;
    else
        pn_coordinate_choices_free(self);
    return PN_OK;
}

void pn_coordinate_choices_free(pn_coordinate_choices *self)
{
    if (!self)
        return;
    pn_free(self->shift);
    pn_free(self);
}
