/* potential_group.c -- Psi(x) = radius^2 / (M xi) sum_j (||x^(j)||_2 / radius)^M over m blocks of k coordinates,
 * 1-strongly convex in the block norm sum_j ||x^(j)||_2 where that is at most radius.  M = 2 for m <= 2, 1 + 1/ln m for
 * m >= 3; xi = 1, 1/2, 1/(e ln m).  (The article prints ln(p/k) for ln m.)  Blocks of 1 serve the l1 ball and the
 * simplex, with a smaller range than the q-norms.
 * Depends on: potential.h, power_root.h.  Used by: potential.c's table.  See geometry.md section 3.2. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/potentials/potential_group.h"
#include "geometry/potentials/potential_parts.h"
#include "geometry/potentials/power_root.h"
#include "numeric/blas.h"

typedef struct group {
    pn_potential base;
    size_t k, blocks;
    double radius;
    pn_block_power power;
} group;

extern const pn_potential_ops pn_potential_group;

enum { DIM, K, RADIUS, CENTER };

static const pn_param group_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "k", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "coordinates of each block; the last one may be shorter" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest block norm: that of the set" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "where Psi is least, dim entries; the origin when absent" },
    PN_PARAM_END,
};

pn_block_power pn_block_power_of(size_t blocks)
{
    double ln = log((double)blocks);

    if (blocks <= 2)
        return (pn_block_power){ 2.0, blocks == 1 ? 1.0 : 0.5, 1.0 };
    return (pn_block_power){ 1.0 + 1.0 / ln, exp(-1.0) / ln, ln };
}

static const group *as_group(const pn_potential *self)
{
    return (const group *)self;
}

static pn_status group_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    size_t k = args[K].count, dim = args[DIM].count;
    group *self;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(pn_new(&self, 1, err, "potential.group: out of memory"));
    status = pn_norm_from_args(&norm, k == 1 ? "l1" : "group", (pn_arg[1]){ { .given = true, .count = k } }, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_group, dim, 1.0, norm);
    self->k = k;
    self->blocks = dim / k + (dim % k != 0);
    self->radius = args[RADIUS].real;
    self->power = pn_block_power_of(self->blocks);
    return pn_potential_center_at(out, &self->base, "potential.group", &args[CENTER], err);
}

static void group_destroy(pn_potential *self)
{
    pn_free(self);
}

/* ---- blocks ---- */

static size_t block_length(const group *self, size_t j)
{
    size_t left = self->base.dim - j * self->k;

    return left < self->k ? left : self->k;
}

/* The block norms, x itself for blocks of 1 (whose size is its magnitude).  Free *made. */
static pn_status block_norms(const group *self, const double *x, const double **norms, double **made, pn_err *err)
{
    *made = NULL;
    *norms = x;
    if (self->k == 1)
        return PN_OK;
    PN_TRY(pn_new(made, self->blocks, err, "potential.group: out of memory"));
    for (size_t j = 0; j < self->blocks; j++)
        (*made)[j] = pn_lp_norm(PN_L2, block_length(self, j), x + j * self->k);
    *norms = *made;
    return PN_OK;
}

/* out <- x with the norm of block j changed from norms[j] to lengths[j]; out may be x. */
static void resize_blocks(const group *self, const double *x, const double *norms, const double *lengths, double *out)
{
    for (size_t j = 0; j < self->blocks; j++) {
        size_t first = j * self->k, end = first + block_length(self, j);
        double factor = norms[j] > 0.0 ? lengths[j] / norms[j] : 0.0;

        for (size_t i = first; i < end; i++)
            out[i] = factor * x[i];
    }
}

/* out <- the blocks of x with norms factor (norm / size)^exponent */
static pn_status raise_blocks(const group *self, const double *x, double size, double exponent, double factor,
                              double *out, pn_err *err)
{
    const double *norms;
    double *made, *lengths;
    pn_status status;

    if (self->k == 1)
        return pn_potential_finite_to("group", pn_signed_power(self->base.dim, x, size, exponent, factor, out),
                                      self->base.dim, err);
    status = block_norms(self, x, &norms, &made, err);
    lengths = status == PN_OK ? pn_alloc(self->blocks, sizeof *lengths) : NULL;
    if (status == PN_OK && !lengths)
        status = pn_fail(err, PN_ENOMEM, "potential.group: out of memory");
    if (status == PN_OK) {
        (void)pn_signed_power(self->blocks, norms, size, exponent, factor, lengths);
        resize_blocks(self, x, norms, lengths, out);
        status = pn_potential_finite("group", out, self->base.dim, err);
    }
    pn_free(made);
    pn_free(lengths);
    return status;
}

/* ---- operations ---- */

static pn_status group_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const group *of = as_group(self);
    const double *norms;
    double *made;
    pn_status status = block_norms(of, x, &norms, &made, err);

    (void)n;
    if (status == PN_OK)
        *value = of->radius * of->radius / (of->power.exponent * of->power.xi) *
                 pn_power_sum(of->blocks, norms, of->radius, of->power.exponent);
    pn_free(made);
    return status;
}

static pn_status group_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const group *of = as_group(self);

    (void)n;
    return raise_blocks(of, x, of->radius, of->power.exponent - 1.0, of->radius / of->power.xi, out, err);
}

static pn_status group_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const group *of = as_group(self);

    (void)n;
    return raise_blocks(of, u, of->radius / of->power.xi, of->power.t, of->radius, out, err);
}

/* Lengths radius (xi (||c^(j)|| / radius - nu)_+)^t that add up to at most `size`,
 * or exactly where nu may have any sign. */
static void lengths_of(const group *of, const double *sizes, bool magnitude, bool exact, double size, double *lengths)
{
    pn_power_problem problem = {
        .c = sizes, .n = of->blocks, .magnitude = magnitude, .t = of->power.t, .gain = of->power.xi / of->radius
    };
    bool met = false;
    double mu = 0.0;

    pn_power_open(&problem);
    if (exact || problem.top > 0.0)
        mu = pn_power_solve(&problem, pow(size / of->radius, 1.0 / problem.t), exact ? INFINITY : problem.top, &met);
    if (met)
        pn_power_write_total(&problem, mu, size, lengths);
    else
        (void)pn_power_write(&problem, mu, of->radius * pow(problem.gain * mu, problem.t), lengths);
}

static pn_status group_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    const group *of = as_group(self);
    double size, k = 1.0, *made;
    const double *norms;
    pn_status status;

    if (pn_set_is_free(set))
        return group_inverse(self, c, set->dim, x, err);
    if (of->k == 1 && (pn_set_is(set, "simplex", &size) || pn_set_is(set, "unit_simplex", &size))) {
        lengths_of(of, c, false, pn_set_is(set, "simplex", &size), size, x);
        return PN_OK;
    }
    if (of->k == 1 && pn_set_is(set, "l1_ball", &size)) {
        lengths_of(of, c, true, false, size, x);
        return PN_OK;
    }
    if (!pn_set_is(set, "group_ball", &size) || !pn_set_number(set, "k", &k) || k != (double)of->k)
        return PN_EUNSUPPORTED;
    status = block_norms(of, c, &norms, &made, err);
    if (status == PN_OK && of->k == 1) {
        lengths_of(of, c, true, false, size, x);
    } else if (status == PN_OK) {
        double *lengths = pn_alloc(of->blocks, sizeof *lengths);

        if (lengths) {
            lengths_of(of, norms, true, false, size, lengths);
            resize_blocks(of, c, norms, lengths, x);
        } else {
            status = pn_fail(err, PN_ENOMEM, "potential.group: out of memory");
        }
        pn_free(lengths);
    }
    pn_free(made);
    return status;
}

/* The sum of powers is largest with all in one block, and over a simplex least with all blocks equal. */
static pn_status group_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    const group *of = as_group(self);
    double size, k, m = (double)of->blocks, M = of->power.exponent, most, least = 0.0;

    if (!(of->k == 1 && (pn_set_is(set, "simplex", &size) || pn_set_is(set, "l1_ball", &size))) &&
        !(pn_set_is(set, "group_ball", &size) && pn_set_number(set, "k", &k) && k == (double)of->k)) {
        size = set->ops->radius(set, PN_L1); /* at least the block norm */
    }
    PN_TRY(pn_potential_reach("group", of->radius, size, "block", err));
    most = pow(size / of->radius, M);
    if (of->k == 1 && pn_set_is(set, "simplex", &size))
        least = m * pow(size / (m * of->radius), M) * (1.0 - 1e-14);
    *range = pn_potential_up(of->radius * of->radius / (M * of->power.xi) * (most - least));
    return PN_OK;
}

/* A block of length a has xi a^(2-M) (1/(M-1) + k - 1), most in sum where all lengths are equal.  m^(2-M) xi = 1/ln m
 * from three blocks on. */
static pn_status group_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    const group *of = as_group(self);
    double M = of->power.exponent, each = 1.0 / (M - 1.0) + (double)of->k - 1.0;

    (void)err;
    if (of->blocks <= 2)
        *trace = of->power.xi * (double)set->dim;
    else
        *trace = pn_potential_up(of->power.xi * pow((double)of->blocks, M - 1.0) * each);
    return PN_OK;
}

static void group_describe(const pn_potential *self, char *text, size_t size)
{
    const group *of = as_group(self);

    (void)snprintf(text, size, "group(dim=%zu, k=%zu, radius=%.10g)", self->dim, of->k, of->radius);
}

const pn_potential_ops pn_potential_group = {
    .name = "group",
    .doc = "radius^2 / (M xi) sum_j (||x^(j)||_2 / radius)^M over blocks of k coordinates: 1-strongly convex in the "
           "sum of the block norms where that is at most radius; k = 1 serves the l1 ball.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3.3, with ln m blocks in place of ln(p/k)",
    .params = group_params,
    .create = group_create,
    .destroy = group_destroy,
    .value = group_value,
    .gradient = group_gradient,
    .inverse_gradient = group_inverse,
    .step = group_step,
    .range = group_range,
    .trace = group_trace,
    .describe = group_describe,
};
