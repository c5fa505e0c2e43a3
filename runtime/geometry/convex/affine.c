/* affine.c -- factor * C + shift, for any set C: what pn_set_scale and pn_set_shift make.  A negative factor reflects
 * C.  A scaled or shifted wrapper is folded into one, so wrappers never nest.  Each wrapper has its own table of
 * operations, because it offers what C offers.  Depends on: set.h, upper.h.
 * Used by: set.h's scale and shift, l1_ball.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

#define SMALL 32 /* vectors up to this length need no allocation */

typedef struct affine {
    pn_set base;
    pn_set_ops ops; /* base.ops points here */
    pn_set *inner;  /* kept; never itself a wrapper */
    double factor;  /* > 0 when C = -C, else not 0 */
    double *shift;  /* [dim], or NULL */
    double radius[PN_LP_COUNT];
} affine;

static const affine *as_affine(const pn_set *set)
{
    return (const affine *)set;
}

static void affine_destroy(pn_set *self)
{
    affine *set = (affine *)self;

    pn_set_free(set->inner);
    pn_free(set->shift);
    pn_free(set);
}

/* x <- factor x + shift */
static void map_forward(const affine *set, double *x)
{
    for (size_t j = 0; j < set->base.dim; j++)
        x[j] = set->factor * x[j] + (set->shift ? set->shift[j] : 0.0);
}

/* out <- (x - shift) / factor */
static void map_back(const affine *set, const double *x, double *out)
{
    for (size_t j = 0; j < set->base.dim; j++)
        out[j] = (x[j] - (set->shift ? set->shift[j] : 0.0)) / set->factor;
}

/* An operation on C at -x. */
typedef pn_status (*op_at)(const pn_set *inner, const double *x, double *point, double *value, pn_err *err);

static pn_status at_reflection(const affine *set, op_at op, const double *x, double *point, double *value, pn_err *err)
{
    double small[SMALL] = { 0.0 };
    double *back = set->base.dim <= SMALL ? small : pn_alloc(set->base.dim, sizeof *back);
    pn_status status;

    PN_TRY(pn_made(back, err, "set: out of memory"));
    for (size_t j = 0; j < set->base.dim; j++)
        back[j] = -x[j];
    status = op(set->inner, back, point, value, err);
    if (back != small)
        pn_free(back);
    return status;
}

static pn_status inner_support(const pn_set *inner, const double *g, double *point, double *value, pn_err *err)
{
    return inner->ops->support(inner, g, point, value, err);
}

static pn_status inner_gauge(const pn_set *inner, const double *x, double *point, double *value, pn_err *err)
{
    (void)point;
    return inner->ops->gauge(inner, x, value, err);
}

/* <g, f x> = |f| <sign(f) g, x> */
static pn_status affine_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const affine *set = as_affine(self);
    double inner;

    PN_TRY(set->factor > 0.0 ? inner_support(set->inner, g, point, &inner, err)
                             : at_reflection(set, inner_support, g, point, &inner, err));
    *value = fabs(set->factor) * inner;
    for (size_t j = 0; set->shift && j < self->dim; j++)
        *value += set->shift[j] * g[j];
    if (point && isfinite(inner))
        map_forward(set, point);
    return PN_OK;
}

static double affine_radius(const pn_set *self, pn_lp norm)
{
    return as_affine(self)->radius[norm];
}

static double affine_diameter(const pn_set *self, pn_lp norm)
{
    const affine *set = as_affine(self);

    return pn_times_up(fabs(set->factor), set->inner->ops->diameter(set->inner, norm));
}

/* x goes back with two roundings, which projecting does not enlarge, and its image forth with two. */
static double affine_projection_error(const pn_set *self, double size)
{
    const affine *set = as_affine(self);
    double factor = fabs(set->factor), shift = set->shift ? pn_norm_upper(PN_L2, set->shift, self->dim) : 0.0;
    double away = (size + shift) * (1.0 + 0x1p-40);
    double inside = pn_times_up(factor, set->inner->ops->radius(set->inner, PN_L2));
    double within = factor * pn_set_projection_error(set->inner, away / factor * (1.0 + 0x1p-40));

    return (within + 0x1p-51 * (away + inside + shift)) * (1.0 + 0x1p-40);
}

static double affine_shortfall(const pn_set *self)
{
    return pn_times_up(fabs(as_affine(self)->factor), pn_set_shortfall(as_affine(self)->inner));
}

static pn_status affine_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const affine *set = as_affine(self);
    double small[SMALL] = { 0.0 };
    double *back = self->dim <= SMALL ? small : pn_alloc(self->dim, sizeof *back);
    pn_status status;

    PN_TRY(pn_made(back, err, "contains: out of memory"));
    map_back(set, x, back);
    status = set->inner->ops->contains(set->inner, back, tolerance / fabs(set->factor), inside, err);
    if (back != small)
        pn_free(back);
    return status;
}

static void affine_center(const pn_set *self, double *x)
{
    const affine *set = as_affine(self);

    set->inner->ops->center(set->inner, x);
    map_forward(set, x);
}

/* x is projected on the inner set, or approaches it where `gap` is asked. */
static pn_status project_within(const pn_set *self, double *x, double *gap, pn_err *err)
{
    const affine *set = as_affine(self);
    double *back;
    pn_status status;

    PN_TRY(pn_new(&back, self->dim, err, "project: out of memory"));
    map_back(set, x, back);
    status =
        gap ? set->inner->ops->approach(set->inner, back, gap, err) : set->inner->ops->project(set->inner, back, err);
    if (status == PN_OK) {
        map_forward(set, back);
        memcpy(x, back, self->dim * sizeof *x);
    }
    pn_free(back);
    return status;
}

static pn_status affine_project(const pn_set *self, double *x, pn_err *err)
{
    return project_within(self, x, NULL, err);
}

static pn_status affine_approach(const pn_set *self, double *x, double *gap, pn_err *err)
{
    pn_status status = project_within(self, x, gap, err);

    *gap *= as_affine(self)->factor * as_affine(self)->factor;
    return status;
}

/* Only without a shift: the gauge is homogeneous, not translation invariant. */
static pn_status affine_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const affine *set = as_affine(self);
    pn_status status = set->factor > 0.0 ? inner_gauge(set->inner, x, NULL, value, err)
                                         : at_reflection(set, inner_gauge, x, NULL, value, err);

    if (status == PN_OK)
        *value /= fabs(set->factor);
    return status;
}

/* Likewise; Q = conv(C u -C) is its own reflection. */
static pn_status affine_hull_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const affine *set = as_affine(self);
    pn_status status = set->inner->ops->hull_gauge(set->inner, x, value, err);

    if (status == PN_OK)
        *value /= fabs(set->factor);
    return status;
}

/* A shift drops out, since E <b, shift> = 0, and so does the sign, since b and -b have one law. */
static pn_status affine_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    const affine *set = as_affine(self);
    double factor = fabs(set->factor);

    PN_TRY(set->inner->ops->width(set->inner, how, out, err));
    out->value *= factor;
    out->low *= factor;
    out->high *= factor;
    out->standard_error *= factor;
    return PN_OK;
}

static pn_status affine_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    const affine *set = as_affine(self);
    pn_status status = set->inner->ops->sample(set->inner, rng, x, err);

    if (status == PN_OK)
        map_forward(set, x);
    return status;
}

static size_t affine_atom_count(const pn_set *self)
{
    return as_affine(self)->inner->ops->atom_count(as_affine(self)->inner);
}

/* The common point is factor c + shift, so that the shift drops out. */
static void affine_atom_scores(const pn_set *self, const double *g, double *scores)
{
    const affine *set = as_affine(self);
    size_t count = affine_atom_count(self);

    set->inner->ops->atom_scores(set->inner, g, scores);
    for (size_t i = 0; set->factor != 1.0 && i < count; i++)
        scores[i] *= set->factor;
}

static double affine_atom_radius(const pn_set *self, pn_lp norm)
{
    const affine *set = as_affine(self);

    return pn_times_up(fabs(set->factor), set->inner->ops->atom_radius(set->inner, norm));
}

static void affine_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    const affine *set = as_affine(self);

    set->inner->ops->atom(set->inner, i, out, scratch);
    if (!set->shift && out->index && out->count == 1) {
        out->value_of_one = set->factor * out->value[0];
        out->index_of_one = out->index[0];
        out->index = &out->index_of_one;
        out->value = &out->value_of_one;
        return;
    }
    if (out->index) {
        memset(scratch, 0, self->dim * sizeof *scratch);
        pn_atom_add(out, 1.0, scratch);
    } else if (out->value != scratch) {
        memcpy(scratch, out->value, self->dim * sizeof *scratch);
    }
    map_forward(set, scratch);
    out->count = self->dim;
    out->index = NULL;
    out->value = scratch;
}

static void affine_describe(const pn_set *self, char *text, size_t size)
{
    const affine *set = as_affine(self);
    const char *after = set->shift ? " + shift" : "";
    char inner[256];

    pn_set_describe(set->inner, inner, sizeof inner);
    if (set->factor == 1.0)
        (void)snprintf(text, size, "%s%s", inner, after);
    else if (strcmp(set->inner->ops->name, "sum") == 0)
        (void)snprintf(text, size, "%.10g * (%s)%s", set->factor, inner, after);
    else
        (void)snprintf(text, size, "%.10g * %s%s", set->factor, inner, after);
}

/* ---- the radius: max over the vertices where there are some ---- */

/* rest[j] = the joined terms of the shift without coordinate j (for atoms with a single entry). */
static void join_rest(const affine *set, pn_lp norm, long double *rest)
{
    long double joined = 0.0L;

    for (size_t j = 0; j < set->base.dim; j++) {
        rest[j] = joined;
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, set->shift[j]));
    }
    joined = 0.0L;
    for (size_t j = set->base.dim; j-- > 0;) {
        rest[j] = pn_norm_join(norm, rest[j], joined);
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, set->shift[j]));
    }
}

static double radius_over_atoms(const affine *set, pn_lp norm, long double *rest, double *scratch)
{
    const pn_set *inner = set->inner;
    size_t count = inner->ops->atom_count(inner), dim = inner->dim;
    double largest = 0.0;
    pn_atom atom;

    join_rest(set, norm, rest);
    for (size_t i = 0; i < count; i++) {
        double size;

        inner->ops->atom(inner, i, &atom, scratch);
        if (atom.index && atom.count == 1) {
            size_t j = atom.index[0];
            long double entry = (long double)set->factor * atom.value[0] + set->shift[j];

            size = pn_norm_finish(norm, pn_norm_join(norm, rest[j], pn_norm_term(norm, entry)), dim);
        } else {
            affine_atom(&set->base, i, &atom, scratch);
            size = pn_norm_upper(norm, scratch, dim);
        }
        largest = fmax(largest, size);
    }
    return largest;
}

static pn_status search_radius(affine *set, pn_err *err)
{
    size_t dim = set->base.dim;
    long double *rest = pn_alloc(dim, sizeof *rest);
    double *scratch = pn_alloc(dim, sizeof *scratch);
    pn_status status = PN_OK;

    if (rest && scratch) {
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            set->radius[norm] = radius_over_atoms(set, (pn_lp)norm, rest, scratch);
    } else {
        status = pn_fail(err, PN_ENOMEM, "set: out of memory");
    }
    pn_free(rest);
    pn_free(scratch);
    return status;
}

static pn_status find_radius(affine *set, pn_err *err)
{
    const pn_set *inner = set->inner;

    if (set->shift && !inner->ops->image_radius && pn_set_is_polytope(inner))
        return search_radius(set, err);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        pn_lp lp = (pn_lp)norm;
        double scaled = pn_times_up(fabs(set->factor), inner->ops->radius(inner, lp));

        if (!set->shift)
            set->radius[norm] = scaled;
        else if (inner->ops->image_radius)
            set->radius[norm] = inner->ops->image_radius(inner, set->factor, set->shift, lp);
        else
            set->radius[norm] = pn_plus_up(scaled, pn_norm_upper(lp, set->shift, set->base.dim));
    }
    return PN_OK;
}

/* ---- construction ---- */

static void fill_ops(affine *set)
{
    const pn_set_ops *inner = set->inner->ops;
    bool atoms = inner->atom_count != NULL;

    set->ops = (pn_set_ops){
        .name = set->shift ? "shifted" : "scaled",
        .doc = "factor * C + shift",
        .destroy = affine_destroy,
        .symmetric = inner->symmetric && !set->shift,
        .support = inner->support ? affine_support : NULL,
        .radius = affine_radius,
        .diameter = affine_diameter,
        .contains = affine_contains,
        .center = affine_center,
        .project = inner->project ? affine_project : NULL,
        .approach = inner->approach ? affine_approach : NULL,
        .gauge = inner->gauge && !set->shift ? affine_gauge : NULL,
        .hull_gauge = inner->hull_gauge && !set->shift ? affine_hull_gauge : NULL,
        .width = inner->width ? affine_width : NULL,
        .sample = inner->sample ? affine_sample : NULL,
        .atom_count = atoms ? affine_atom_count : NULL,
        .atom_scores = atoms ? affine_atom_scores : NULL,
        .atom_radius = atoms ? affine_atom_radius : NULL,
        .atom = atoms ? affine_atom : NULL,
        .describe = affine_describe,
        .single_thread = inner->single_thread,
        .shortfall = inner->shortfall ? affine_shortfall : NULL,
        .projection_error = inner->projection_error ? affine_projection_error : NULL,
    };
}

static bool is_affine(const pn_set *set)
{
    return set->ops->destroy == affine_destroy;
}

const pn_set *pn_set_unwrap(const pn_set *set, double *factor, const double **shift)
{
    const affine *wrapper = is_affine(set) ? as_affine(set) : NULL;

    *factor = wrapper ? wrapper->factor : 1.0;
    *shift = wrapper ? wrapper->shift : NULL;
    return wrapper ? wrapper->inner : set;
}

/* factor * set + shift, folding an existing wrapper: a (f C + s) + t = (a f) C + (a s + t). */
static pn_status make(pn_set **out, pn_set *set, double factor, const double *shift, pn_err *err)
{
    const affine *old = is_affine(set) ? as_affine(set) : NULL;
    const double *old_shift = old ? old->shift : NULL;
    affine *self = pn_calloc(1, sizeof *self);
    pn_status status = PN_OK;

    *out = NULL;
    PN_TRY(pn_made(self, err, "set: out of memory"));
    if (shift || old_shift) {
        self->shift = pn_alloc(set->dim, sizeof *self->shift);
        if (!self->shift) {
            pn_free(self);
            return pn_fail(err, PN_ENOMEM, "set: out of memory");
        }
        for (size_t j = 0; j < set->dim; j++)
            self->shift[j] = (old_shift ? factor * old_shift[j] : 0.0) + (shift ? shift[j] : 0.0);
        if (pn_lp_norm(PN_LINF, set->dim, self->shift) == 0.0) { /* back where it was: gauge and polar are those of C */
            pn_free(self->shift);
            self->shift = NULL;
        }
    }
    pn_set_init(&self->base, &self->ops, set->dim);
    self->inner = pn_set_keep(old ? old->inner : set);
    self->factor = factor * (old ? old->factor : 1.0);
    if (self->inner->ops->symmetric)
        self->factor = fabs(self->factor);
    fill_ops(self);
    if (self->factor == 0.0 || !isfinite(self->factor) ||
        (self->shift && pn_first_nonfinite(self->shift, set->dim) < set->dim))
        status = pn_fail(err, PN_EDOMAIN, "set: the scaled or shifted set is out of the range of numbers");
    if (status == PN_OK)
        status = find_radius(self, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        affine_destroy(&self->base);
    return status;
}

pn_status pn_set_scale(pn_set **out, pn_set *set, double factor, pn_err *err)
{
    *out = NULL;
    if (factor == 0.0 || !isfinite(factor))
        return pn_fail(err, PN_EINVAL, "factor * C: factor must be a finite number other than 0, got %g", factor);
    return make(out, set, factor, NULL, err);
}

pn_status pn_set_shift(pn_set **out, pn_set *set, const double *shift, size_t n, pn_err *err)
{
    size_t bad = pn_first_nonfinite(shift, n);

    *out = NULL;
    if (n != set->dim)
        return pn_fail(err, PN_EDIM, "C + v: v has %zu entries, the set has %zu", n, set->dim);
    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "C + v: v must hold finite numbers, got %g at entry %zu", shift[bad], bad + 1);
    return make(out, set, 1.0, shift, err);
}
