/* group_regulariser.c -- r(w) = lambda sum_g weight_g ||w_g||_2 over disjoint groups of coordinates.
 * The groups are stretches of equal size, or given by a number for each coordinate.
 * Depends on: regulariser.h, geometry/prox/prox.h.  Used by: regulariser.c's table.
 * Source: Yuan, Lin (2006), Model selection and estimation in regression with grouped variables. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "objective/regularisers/regulariser.h"

#define OWNER   "reg.group"
#define OUTWARD (1.0 + 8 * DBL_EPSILON) /* a few roundings, taken upward */

extern const pn_regulariser_ops pn_regulariser_group;

typedef struct group_regulariser {
    pn_regulariser base;
    double lambda;
    size_t size;    /* of each group of a stretch; 0 when groups are listed */
    size_t count;   /* of groups; 0: as many as dim holds */
    size_t dim;     /* 0: any multiple of size */
    size_t *start;  /* [count + 1] into member, or NULL */
    size_t *member; /* [dim] coordinates, group by group, or NULL */
    double *weight; /* [count], or NULL for the root of each group's size */
} group_regulariser;

enum { LAMBDA = 0, SIZE, GROUPS, WEIGHTS };

static const pn_param group_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight against the mean loss" },
    { "size", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "coordinates of each group, which follow one another" },
    { "groups", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "instead of size: the number of each coordinate's group, from 1" },
    { "weights", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "one positive number for each group; absent: the square root of its size" },
    PN_PARAM_END,
};

static void group_destroy(pn_regulariser *regulariser)
{
    group_regulariser *self = (group_regulariser *)regulariser;

    pn_free(self->start);
    pn_free(self->member);
    pn_free(self->weight);
    pn_free(self);
}

static pn_status group_fits(const pn_regulariser *regulariser, size_t dim, pn_err *err)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;

    if (self->dim && dim != self->dim)
        return pn_fail(err, PN_EDIM, OWNER ": the groups are of %zu coordinates, w has %zu", self->dim, dim);
    if (self->size && dim % self->size != 0)
        return pn_fail(err, PN_EDIM, OWNER ": groups of %zu coordinates do not divide the %zu of w", self->size, dim);
    return PN_OK;
}

/* ---- groups ---- */

static size_t group_count(const group_regulariser *self, size_t dim)
{
    return self->count ? self->count : dim / self->size;
}

static size_t length_of(const group_regulariser *self, size_t group)
{
    return self->start ? self->start[group + 1] - self->start[group] : self->size;
}

static size_t coordinate(const group_regulariser *self, size_t group, size_t k)
{
    return self->member ? self->member[self->start[group] + k] : group * self->size + k;
}

static double weight_of(const group_regulariser *self, size_t group)
{
    return self->lambda * (self->weight ? self->weight[group] : sqrt((double)length_of(self, group)));
}

/* ||w_g||, scaled so that it neither overflows nor underflows on the way. */
static double norm_of(const group_regulariser *self, size_t group, const double *w)
{
    size_t length = length_of(self, group);
    double largest = 0.0, sum = 0.0;

    for (size_t k = 0; k < length; k++)
        largest = fmax(largest, fabs(w[coordinate(self, group, k)]));
    if (largest == 0.0 || isinf(largest))
        return largest;
    for (size_t k = 0; k < length; k++) {
        double part = w[coordinate(self, group, k)] / largest;

        sum += part * part;
    }
    return largest * sqrt(sum);
}

/* ---- evaluation ---- */

static pn_status group_evaluate(const pn_regulariser *regulariser, size_t dim, const double *theta, double *value,
                                double *gradient, pn_err *err)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;
    size_t count = group_count(self, dim);
    double total = 0.0;

    (void)err;
    for (size_t g = 0; g < count; g++) {
        double norm = norm_of(self, g, theta), weight = weight_of(self, g);
        size_t length = length_of(self, g);

        total += weight * norm;
        for (size_t k = 0; gradient && norm != 0.0 && k < length; k++)
            gradient[coordinate(self, g, k)] += weight * (theta[coordinate(self, g, k)] / norm);
    }
    if (value)
        *value = total;
    return PN_OK;
}

/* weight/||w|| (v - u <u, v>), u = w/||w|| */
static pn_status group_curve(const pn_regulariser *regulariser, size_t dim, const double *theta, const double *v,
                             double *out, pn_err *err)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;
    size_t count = group_count(self, dim);

    (void)err;
    for (size_t g = 0; g < count; g++) {
        double norm = norm_of(self, g, theta), factor = weight_of(self, g) / norm, along = 0.0;
        size_t length = norm != 0.0 ? length_of(self, g) : 0;

        for (size_t k = 0; k < length; k++)
            along += theta[coordinate(self, g, k)] / norm * v[coordinate(self, g, k)];
        for (size_t k = 0; k < length; k++) {
            size_t j = coordinate(self, g, k);

            out[j] += factor * (v[j] - theta[j] / norm * along);
        }
    }
    return PN_OK;
}

/* ---- bounds ---- */

/* With |w_j| >= near > 0 for all j, r = ||w_g|| >= near sqrt(length), and of the norm the Hessian (I - u u')/r has the
 * eigenvalues 0 and 1/r; its third derivative along a unit vector with the part a along w is 3 a (a^2 - 1)/r^2,
 * at most 2/(sqrt(3) r^2). */
static void away_from_the_kink(const group_regulariser *self, size_t groups, double near, pn_regulariser_bounds *out)
{
    out->largest_curvature = out->hessian_lipschitz = 0.0;
    for (size_t g = 0; g < groups; g++) {
        size_t length = length_of(self, g);
        double weight = weight_of(self, g) * OUTWARD, r = near * sqrt((double)length);

        if (length > 1) { /* |w_j| alone is straight */
            out->largest_curvature = fmax(out->largest_curvature, weight / r * OUTWARD);
            out->hessian_lipschitz = fmax(out->hessian_lipschitz, weight * (2.0 / sqrt(3.0)) / (r * r) * OUTWARD);
        }
    }
    out->smoothness = out->largest_curvature;
    out->missing[0] = '\0';
}

static pn_status group_certify(pn_regulariser *regulariser, pn_interval coordinates, pn_regulariser_bounds *out,
                               pn_err *err)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;
    size_t groups = self->count ? self->count : 1; /* equal sizes and weights: one tells for all */
    double near = fmax(fmax(coordinates.low, -coordinates.high), 0.0);

    (void)err;
    *out = (pn_regulariser_bounds){ 0.0, INFINITY, INFINITY, 0.0, INFINITY, true, "" };
    for (size_t g = 0; g < groups; g++)
        out->gradient = fmax(out->gradient, weight_of(self, g) * OUTWARD);
    (void)snprintf(out->missing, sizeof out->missing,
                   "the norm of a group has a kink where all its coordinates, in [%g, %g], are 0", coordinates.low,
                   coordinates.high);
    if (near > 0.0)
        away_from_the_kink(self, groups, near, out);
    return PN_OK;
}

static void group_describe(const pn_regulariser *regulariser, char *text, size_t size)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;
    char which[64];

    if (self->size)
        (void)snprintf(which, sizeof which, "groups of %zu coordinates", self->size);
    else
        (void)snprintf(which, sizeof which, "%zu groups of %zu coordinates in all", self->count, self->dim);
    (void)snprintf(text, size, "%g times the sum of %s||w_g|| over %s", self->lambda,
                   self->weight ? "weight_g " : "sqrt|g| ", which);
}

/* ---- the proximal operator ---- */

/* Equal weights on stretches that go on for as long as w does. */
static pn_status prox_of_stretches(const group_regulariser *self, pn_prox **out, pn_err *err)
{
    pn_arg args[2] = { { .given = true, .real = weight_of(self, 0) }, { .given = true, .count = self->size } };

    return pn_prox_from_args(out, "group", args, err);
}

/* Stretches with a weight each, as a list. */
static pn_status prox_of_weighted_stretches(const group_regulariser *self, pn_prox **out, pn_err *err)
{
    size_t *start = pn_alloc(self->count + 1, sizeof *start), *member = pn_alloc(self->dim, sizeof *member);
    pn_group_list list = { self->lambda, self->count, start, member, self->weight, self->dim };
    pn_status status;

    for (size_t g = 0; start && g <= self->count; g++)
        start[g] = g * self->size;
    for (size_t j = 0; member && j < self->dim; j++)
        member[j] = j;
    status = start && member ? pn_prox_groups(out, &list, err) : pn_fail(err, PN_ENOMEM, OWNER ": out of memory");
    pn_free(start);
    pn_free(member);
    return status;
}

static pn_status group_prox(const pn_regulariser *regulariser, pn_prox **out, pn_err *err)
{
    const group_regulariser *self = (const group_regulariser *)regulariser;
    pn_group_list list = { self->lambda, self->count, self->start, self->member, self->weight, self->dim };

    if (self->member)
        return pn_prox_groups(out, &list, err);
    return self->weight ? prox_of_weighted_stretches(self, out, err) : prox_of_stretches(self, out, err);
}

/* ---- construction ---- */

/* The number of groups, when the numbers are whole, from 1, and each group has a coordinate. */
static pn_status count_groups(size_t *count, pn_vec groups, pn_err *err)
{
    double largest = 0.0;

    if (groups.n == 0)
        return pn_fail(err, PN_EINVAL, OWNER ": groups is empty");
    for (size_t j = 0; j < groups.n; j++) {
        double group = groups.data[j];

        if (!(group >= 1.0 && group <= (double)groups.n && group == floor(group)))
            return pn_fail(err, PN_EINVAL,
                           OWNER ": groups must hold whole numbers from 1, at most one for each of the %zu "
                                 "coordinates; got %g at entry %zu",
                           groups.n, group, j + 1);
        largest = fmax(largest, group);
    }
    *count = (size_t)largest;
    return PN_OK;
}

/* Coordinates sorted by group, in their own order within each. */
static pn_status sort_groups(group_regulariser *self, pn_vec groups, pn_err *err)
{
    PN_TRY(count_groups(&self->count, groups, err));
    self->dim = groups.n;
    self->start = pn_calloc(self->count + 2, sizeof *self->start); /* one place more for the counting */
    self->member = pn_alloc(groups.n, sizeof *self->member);
    PN_TRY(pn_made(self->start && self->member, err, OWNER ": out of memory"));
    for (size_t j = 0; j < groups.n; j++)
        self->start[(size_t)groups.data[j] + 1]++;
    for (size_t g = 1; g <= self->count; g++) {
        if (self->start[g + 1] == 0)
            return pn_fail(err, PN_EINVAL, OWNER ": no coordinate is in group %zu, the largest number is %zu", g,
                           self->count);
        self->start[g + 1] += self->start[g];
    }
    for (size_t j = 0; j < groups.n; j++)
        self->member[self->start[(size_t)groups.data[j]]++] = j;
    return PN_OK;
}

static pn_status take_weights(group_regulariser *self, pn_vec weights, pn_err *err)
{
    if (self->count && weights.n != self->count)
        return pn_fail(err, PN_EDIM, OWNER ": weights has %zu entries, there are %zu groups", weights.n, self->count);
    if (weights.n == 0)
        return pn_fail(err, PN_EINVAL, OWNER ": weights is empty");
    for (size_t g = 0; g < weights.n; g++) {
        if (!(weights.data[g] > 0.0))
            return pn_fail(err, PN_EINVAL, OWNER ": weights must be positive numbers, got %g at entry %zu",
                           weights.data[g], g + 1);
    }
    if (self->size) {
        PN_TRY(pn_size_product(&self->dim, OWNER, "groups x size", weights.n, self->size, err));
    }
    self->count = weights.n;
    PN_TRY(pn_new(&self->weight, weights.n, err, OWNER ": out of memory"));
    memcpy(self->weight, weights.data, weights.n * sizeof *self->weight);
    return PN_OK;
}

static pn_status group_create(pn_regulariser **out, const pn_arg *args, pn_err *err)
{
    group_regulariser *self;
    pn_status status = PN_OK;

    if (args[SIZE].given == args[GROUPS].given)
        return pn_fail(err, PN_EINVAL, OWNER ": give either size= or groups=, got %s",
                       args[SIZE].given ? "both" : "neither");
    PN_TRY(pn_new_zeroed(&self, 1, err, OWNER ": out of memory"));
    self->base = (pn_regulariser){ .ops = &pn_regulariser_group, .row = &pn_regulariser_group, .references = 1 };
    self->lambda = args[LAMBDA].real;
    if (args[SIZE].given)
        self->size = args[SIZE].count;
    else
        status = sort_groups(self, args[GROUPS].vector, err);
    if (status == PN_OK && args[WEIGHTS].given)
        status = take_weights(self, args[WEIGHTS].vector, err);
    if (status != PN_OK) {
        group_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

const pn_regulariser_ops pn_regulariser_group = {
    .name = "group",
    .doc = "r(w) = lambda sum_g weight_g ||w_g||_2 over groups of coordinates, weight_g = sqrt(size) unless given; the "
           "subgradient of a group of zeros is 0; convex, not smooth.",
    .source = "Yuan, Lin (2006), Model selection and estimation in regression with grouped variables",
    .params = group_params,
    .create = group_create,
    .destroy = group_destroy,
    .fits = group_fits,
    .evaluate = group_evaluate,
    .curve = group_curve,
    .certify = group_certify,
    .describe = group_describe,
    .prox = group_prox,
};
