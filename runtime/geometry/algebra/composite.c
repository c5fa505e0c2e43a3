/* composite.c -- what sets made of sets have in common.  Depends on: composite.h.  Used by: set_sum.c and its likes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/algebra/composite.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/convex/fallback.h"
#include "geometry/kernels/upper.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width.h"

/* Operations recurse into the parts, so a set of sets is kept from growing without end. */
#define MOST_PIECES 1000

static void composite_destroy(pn_set *self)
{
    pn_composite_free((pn_composite *)self);
}

void pn_composite_free(pn_composite *set)
{
    pn_set_free(set->a);
    pn_set_free(set->b);
    pn_free(set->numbers);
    pn_free(set);
}

const pn_composite *pn_as_composite(const pn_set *set)
{
    return (const pn_composite *)set;
}

bool pn_is_composite(const pn_set *set, const char *name)
{
    return set->ops->destroy == composite_destroy && strcmp(set->ops->name, name) == 0;
}

static size_t count_pieces(const pn_set *set)
{
    const double *shift;
    double factor;
    const pn_set *inner = set ? pn_set_unwrap(set, &factor, &shift) : NULL;

    if (!inner)
        return 0;
    return inner->ops->destroy == composite_destroy ? pn_as_composite(inner)->pieces : 1;
}

static double twice_the_radius(const pn_set *self, pn_lp norm)
{
    return 2.0 * self->ops->radius(self, norm);
}

static void describe_call(const pn_set *self, char *text, size_t size)
{
    char open[64];

    (void)snprintf(open, sizeof open, "%s(", self->ops->name);
    pn_describe_parts(pn_as_composite(self), open, ", ", ")", text, size);
}

/* What is made of parts that fall short: not known in general. */
static double composite_shortfall(const pn_set *self)
{
    const pn_composite *set = pn_as_composite(self);

    return pn_set_shortfall(set->a) > 0.0 || (set->b && pn_set_shortfall(set->b) > 0.0) ? INFINITY : 0.0;
}

pn_status pn_composite_new(pn_composite **out, size_t bytes, const char *name, size_t dim, pn_set *a, pn_set *b,
                           size_t numbers, pn_err *err)
{
    size_t pieces = 1 + count_pieces(a) + count_pieces(b);
    pn_status status = pn_size_check(name, "dim", dim, err);
    pn_composite *set;

    *out = NULL;
    if (status == PN_OK)
        status = pn_size_check(name, "the numbers kept", numbers, err);
    if (status != PN_OK)
        return status;
    if (pieces > MOST_PIECES)
        return pn_fail(err, PN_EINVAL, "%s: a set can be made of at most %d sets, repeats counted, got %zu", name,
                       MOST_PIECES, pieces);
    set = pn_calloc(1, bytes);
    if (set && numbers > 0)
        set->numbers = pn_calloc(numbers, sizeof *set->numbers);
    if (!set || (numbers > 0 && !set->numbers)) {
        pn_free(set);
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", name);
    }
    pn_set_init(&set->base, &set->ops, dim);
    set->a = pn_set_keep(a);
    set->b = b ? pn_set_keep(b) : NULL;
    set->pieces = pieces;
    set->ops.name = name;
    set->ops.destroy = composite_destroy;
    set->ops.single_thread = a->ops->single_thread || (b && b->ops->single_thread);
    set->ops.diameter = twice_the_radius;
    set->ops.contains = pn_contains_by_support;
    set->ops.describe = describe_call;
    set->ops.shortfall = composite_shortfall;
    *out = set;
    return PN_OK;
}

pn_status pn_same_dim(const char *door, const pn_set *a, const pn_set *b, pn_err *err)
{
    if (a->dim == b->dim)
        return PN_OK;
    return pn_fail(err, PN_EDIM, "%s: C has dimension %zu, D has %zu", door, a->dim, b->dim);
}

pn_status pn_need_support(const char *door, const pn_set *set, pn_err *err)
{
    if (set->ops->support)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "%s: %s has no support function, which the combined set needs", door,
                   set->ops->name);
}

/* False when `like` cannot tell the argument of this row, and it must be given. */
static bool fill_like(pn_arg *arg, const pn_param *row, const pn_set *like, double radius)
{
    double number = 0.0;
    bool known = true;

    if (strcmp(row->name, "dim") == 0)
        number = (double)like->dim;
    else if (strcmp(row->name, "radius") == 0)
        number = radius;
    else
        known = pn_set_number(like, row->name, &number);
    if (strcmp(row->name, "q") == 0)
        number = number / (number - 1.0);
    if (known && row->kind == PN_COUNT)
        arg->count = (size_t)number;
    else
        arg->real = number;
    arg->given = known;
    return known || row->need == PN_OPTIONAL;
}

#define MOST_PARAMS 8

pn_status pn_set_ball_like(pn_set **out, const char *name, const pn_set *like, double radius, pn_err *err)
{
    const pn_set_ops *row = pn_set_find(name);
    pn_arg args[MOST_PARAMS] = { { .given = false } };
    size_t count;
    bool known;

    *out = NULL;
    count = row ? pn_param_count(row->params) : 0;
    known = row && count <= MOST_PARAMS;
    for (size_t i = 0; known && i < count; i++)
        known = fill_like(&args[i], &row->params[i], like, radius);
    if (!known)
        return pn_fail(err, PN_EUNSUPPORTED, "set: there is no %s like %s", name, like->ops->name);
    return pn_set_from_args(out, name, args, err);
}

pn_status pn_set_moved(pn_set **out, const pn_set *set, double factor, const double *shift, pn_err *err)
{
    pn_set *scaled = (pn_set *)set; /* kept, never changed */
    pn_status status = PN_OK;

    *out = NULL;
    if (factor == 1.0)
        pn_set_keep(scaled);
    else
        PN_TRY(pn_set_scale(&scaled, (pn_set *)set, factor, err));
    if (!shift) {
        *out = scaled;
        return PN_OK;
    }
    status = pn_set_shift(out, scaled, shift, set->dim, err);
    pn_set_free(scaled);
    return status;
}

/* ---- describe ---- */

static size_t append(char *text, size_t size, size_t used, const char *more)
{
    int n = used < size ? snprintf(text + used, size - used, "%s", more) : 0;

    return used + (n > 0 ? (size_t)n : 0);
}

static size_t append_set(char *text, size_t size, size_t used, const pn_set *set)
{
    if (used >= size)
        return used;
    pn_set_describe(set, text + used, size - used);
    return used + strlen(text + used);
}

void pn_describe_parts(const pn_composite *set, const char *open, const char *between, const char *close, char *text,
                       size_t size)
{
    size_t used = append(text, size, 0, open);

    used = append_set(text, size, used, set->a);
    if (set->b) {
        used = append(text, size, used, between);
        used = append_set(text, size, used, set->b);
    }
    (void)append(text, size, used, close);
}

/* ---- width ---- */

pn_status pn_width_of_parts(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    const pn_composite *set = pn_as_composite(self);
    pn_width_options half = *how;
    double confidence = how->confidence > 0.0 ? how->confidence : 0.99;
    pn_width a, b;
    pn_status status;

    half.confidence = 1.0 - 0.5 * (1.0 - confidence);
    status = pn_set_width(set->a, &half, &a, err);
    if (status == PN_OK)
        status = pn_set_width(set->b, &half, &b, err);
    if (status != PN_OK)
        return status;
    *out = (pn_width){
        .value = a.value + b.value,
        .low = a.low + b.low,
        .high = pn_plus_up(a.high, b.high),
        .method = a.method > b.method ? a.method : b.method,
        .draws = a.draws + b.draws,
        .confidence = 1.0 - ((1.0 - a.confidence) + (1.0 - b.confidence)),
        .standard_error = a.standard_error + b.standard_error, /* the draws may be the same ones */
    };
    return PN_OK;
}
