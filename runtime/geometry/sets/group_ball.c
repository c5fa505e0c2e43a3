/* group_ball.c -- {x in R^dim : sum_j ||x^(j) - center^(j)||_2 <= radius}, x^(j) consecutive blocks of k entries;
 * the last may be
 * shorter.  Depends on: ball.h, simplex_project.h, width_quadrature.h, draw.h.  Used by: sets.c's table.
 * See geometry.md section 2.5. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/draw.h"
#include "geometry/kernels/simplex_project.h"
#include "geometry/width/width_quadrature.h"
#include "numeric/blas.h"

typedef struct group_ball {
    pn_ball ball;
    size_t k, blocks;
} group_ball;

extern const pn_set_ops pn_set_group_ball;

enum { DIM, K, RADIUS, CENTER };

static const pn_param group_ball_params[] = {
    PN_BALL_DIM,
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "entries in a block, at most dim; the last block may be shorter" },
    PN_BALL_RADIUS("the largest sum of the l2 norms of the blocks"),
    PN_BALL_CENTER,
    PN_PARAM_END,
};

static const group_ball *as_group(const pn_set *set)
{
    return (const group_ball *)set;
}

static pn_status group_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    size_t dim = args[DIM].count, k = args[K].count;
    pn_status status = pn_ball_check_k("group_ball", k, dim, err);
    group_ball *self;

    if (status != PN_OK)
        return status;
    self = pn_ball_new(sizeof *self, &pn_set_group_ball, dim, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    self->k = k;
    self->blocks = dim / k + (dim % k != 0);
    return pn_set_center_at(out, &self->ball.base, "set.group_ball", &args[CENTER], err);
}

static size_t block_size(const group_ball *set, size_t block)
{
    size_t rest = set->ball.base.dim - block * set->k;

    return rest < set->k ? rest : set->k;
}

static double block_norm(const group_ball *set, const double *x, size_t block)
{
    const double *at = x + block * set->k;
    size_t n = block_size(set, block), pairs = n < 64 ? n & ~(size_t)1 : 0;
    double even = 0.0, odd = 0.0, sum;

    for (size_t i = 0; i < pairs; i += 2) {
        even += at[i] * at[i];
        odd += at[i + 1] * at[i + 1];
    }
    sum = pairs < n ? even + odd + at[n - 1] * at[n - 1] : even + odd;
    /* Out of the range of squares, or long enough for a call to pay. */
    return n < 64 && sum > 0x1p-900 && sum < 0x1p1020 ? sqrt(sum) : pn_lp_norm(PN_L2, n, at);
}

#define LANES 4

/* The norms of LANES whole blocks side by side, each by the operations of block_norm: eight chains of additions do not
 * wait for each other. */
static void lane_norms(const group_ball *set, const double *x, size_t first, double *norm)
{
    const double *at = x + first * set->k;
    size_t k = set->k, pairs = k & ~(size_t)1;
    double even[LANES] = { 0 }, odd[LANES] = { 0 };

    for (size_t i = 0; i < pairs; i += 2) {
        for (size_t b = 0; b < LANES; b++) {
            even[b] += at[b * k + i] * at[b * k + i];
            odd[b] += at[b * k + i + 1] * at[b * k + i + 1];
        }
    }
    for (size_t b = 0; b < LANES; b++) {
        double sum = even[b] + odd[b], last = at[b * k + k - 1];

        sum = pairs < k ? sum + last * last : sum;
        norm[b] = sum > 0x1p-900 && sum < 0x1p1020 ? sqrt(sum) : block_norm(set, x, first + b);
    }
}

/* norm[blocks] */
static void block_norms(const group_ball *set, const double *x, double *norm)
{
    size_t whole = set->k < 64 ? set->ball.base.dim / set->k : 0, b = 0;

    for (; b + LANES <= whole; b += LANES)
        lane_norms(set, x, b, norm + b);
    for (; b < set->blocks; b++)
        norm[b] = block_norm(set, x, b);
}

static double group_norm(const group_ball *set, const double *x)
{
    double sum = 0.0;

    for (size_t b = 0; b < set->blocks; b++)
        sum += block_norm(set, x, b);
    return sum;
}

static pn_status group_ball_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const group_ball *set = as_group(self);
    double radius = set->ball.radius, largest = -1.0;
    size_t best = 0;

    (void)err;
    for (size_t b = 0; b < set->blocks; b++) {
        double norm = block_norm(set, g, b);

        if (norm > largest) {
            largest = norm;
            best = b;
        }
    }
    if (point) {
        size_t first = best * set->k, n = block_size(set, best);

        memset(point, 0, self->dim * sizeof *point);
        for (size_t i = first; largest > 0.0 && i < first + n; i++)
            point[i] = radius * (g[i] / largest);
    }
    *value = radius * largest;
    return PN_OK;
}

/* Within one block it is the l2 ball. */
static double group_ball_radius(const pn_set *self, pn_lp norm)
{
    const group_ball *set = as_group(self);

    if (norm != PN_L1 || set->k == 1)
        return set->ball.radius;
    return nextafter(nextafter(sqrt((double)set->k) * set->ball.radius, INFINITY), INFINITY);
}

static pn_status group_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = group_norm(as_group(self), x) <= pn_ball_scale(self) + tolerance;
    return PN_OK;
}

/* The norms of the blocks go to the simplex, the blocks keep their directions. */
static pn_status group_ball_project(const pn_set *self, double *x, pn_err *err)
{
    const group_ball *set = as_group(self);
    size_t m = set->blocks;
    double *length = pn_alloc(m, 3 * sizeof *length), *kept = length ? length + m : NULL, sum = 0.0;

    PN_TRY(pn_made(length, err, "set.group_ball: out of memory in project"));
    block_norms(set, x, length);
    for (size_t b = 0; b < m; b++) {
        kept[b] = length[b];
        sum += length[b];
    }
    if (sum > set->ball.radius) {
        pn_simplex_project(kept, m, set->ball.radius, kept + m);
        for (size_t b = 0; b < m; b++) {
            double *at = x + b * set->k, factor = kept[b] > 0.0 ? kept[b] / length[b] : 0.0;
            size_t n = block_size(set, b);

            for (size_t i = 0; i < n; i++)
                at[i] *= factor;
        }
    }
    pn_free(length);
    return PN_OK;
}

static pn_status group_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = group_norm(as_group(self), x) / pn_ball_scale(self);
    return PN_OK;
}

#define LONGEST_BLOCK ((size_t)1 << 30) /* the integrand takes sqrt k terms: a second in all */

static pn_status group_ball_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    if (as_group(self)->k > LONGEST_BLOCK)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "width: the width of a group_ball is integrated for k up to 2^30, got "
                       "%zu",
                       as_group(self)->k);
    *out = pn_width_times(pn_width_of_groups(self->dim, as_group(self)->k), pn_ball_scale(self));
    return PN_OK;
}

/* The norms of the blocks are Dirichlet with the sizes as parameters, and one more for what is left of the radius:
 * gamma variates of the sizes over the sum of all; directions are uniform. */
static pn_status group_ball_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    const group_ball *set = as_group(self);
    double *length = pn_alloc(set->blocks, sizeof *length), sum;

    PN_TRY(pn_made(length, err, "set.group_ball: out of memory in sample"));
    pn_rng_normals(rng, self->dim, x);
    pn_draw_exponentials(rng, 1, &sum);
    for (size_t b = 0; b < set->blocks; b++) {
        length[b] = pn_draw_gamma(rng, (double)block_size(set, b));
        sum += length[b];
    }
    for (size_t b = 0; b < set->blocks; b++) {
        double norm = block_norm(set, x, b), factor = norm > 0.0 ? set->ball.radius * (length[b] / sum) / norm : 0.0;

        for (size_t i = b * set->k, end = i + block_size(set, b); i < end; i++)
            x[i] *= factor;
    }
    pn_free(length);
    return PN_OK;
}

static void group_ball_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "group_ball(dim=%zu, k=%zu, radius=%.10g)", self->dim, as_group(self)->k,
                   pn_ball_scale(self));
}

static bool group_number(const pn_set *self, const char *name, double *value)
{
    if (strcmp(name, "k") != 0)
        return false;
    *value = (double)as_group(self)->k;
    return true;
}

const pn_set_ops pn_set_group_ball = {
    .name = "group_ball",
    .doc =
        "The group ball {x in R^dim : sum over blocks of k entries of ||x_block - center_block||_2 <= radius}: whole "
        "blocks are zero (group lasso).",
    .source = "Yuan, Lin (2006); Talwar, Thakurta, Zhang (2014), section 3",
    .params = group_ball_params,
    .create = group_ball_create,
    .destroy = pn_ball_destroy,
    .symmetric = true,
    .support = group_ball_support,
    .radius = group_ball_radius,
    .diameter = pn_ball_diameter,
    .contains = group_ball_contains,
    .center = pn_ball_center,
    .project = group_ball_project,
    .gauge = group_ball_gauge,
    .width = group_ball_width,
    .sample = group_ball_sample,
    .describe = group_ball_describe,
    .scale = pn_ball_scale,
    .number = group_number,
};
