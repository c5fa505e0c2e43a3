/* interpolation_ball.c -- {x in R^dim : (1 - alpha) ||x - center||_1 + alpha ||x - center||_2 <= radius}: between the
 * l1 and the l2 ball, which are what alpha = 0 and alpha = 1 make.  Both its dual norm and its projection are roots of
 * functions of a soft threshold.
 * Depends on: ball.h, upper.h, numeric/root.h, numeric/blas.h.  Used by: sets.c's table.
 * See geometry.md section 2.6. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <stdio.h>

#include "geometry/convex/ball.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/root.h"

typedef struct interpolation_ball {
    pn_ball ball;
    double alpha; /* in (0, 1) */
} interpolation_ball;

extern const pn_set_ops pn_set_interpolation_ball, pn_set_l1_ball, pn_set_l2_ball;

enum { DIM, ALPHA, RADIUS, CENTER };

static const pn_param interpolation_ball_params[] = {
    PN_BALL_DIM,
    { "alpha", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL,
      "the share of the l2 norm; the l1 norm has the rest" },
    PN_BALL_RADIUS("the largest norm"),
    PN_BALL_CENTER,
    PN_PARAM_END,
};

static const interpolation_ball *as_interpolation(const pn_set *set)
{
    return (const interpolation_ball *)set;
}

static pn_status interpolation_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    double alpha = args[ALPHA].real;
    interpolation_ball *self;

    if (alpha == 0.0 || alpha == 1.0) {
        const pn_arg pure[] = { args[DIM], args[RADIUS], args[CENTER] };

        return (alpha == 0.0 ? &pn_set_l1_ball : &pn_set_l2_ball)->create(out, pure, err);
    }
    self = pn_ball_new(sizeof *self, &pn_set_interpolation_ball, args[DIM].count, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    self->alpha = alpha;
    return pn_set_center_at(out, &self->ball.base, "set.interpolation_ball", &args[CENTER], err);
}

static double norm_of(double alpha, const double *x, size_t n)
{
    return (1.0 - alpha) * pn_lp_norm(PN_L1, n, x) + alpha * pn_lp_norm(PN_L2, n, x);
}

/* What a threshold leaves of x / unit: the norms and number of the entries above it. */
typedef struct left_over {
    double l1, l2, count;
} left_over;

static left_over above(const double *x, size_t n, double unit, double threshold)
{
    double l1[8] = { 0.0 }, squares[8] = { 0.0 }, count[8] = { 0.0 }, inverse = 1.0 / fmax(unit, DBL_MIN);
    left_over out = { 0.0, 0.0, 0.0 };

    for (size_t j = 0; j < n; j += 8) {
        size_t lanes = n - j < 8 ? n - j : 8;

        for (size_t i = 0; i < lanes; i++) {
            double rest = fabs(x[j + i]) * inverse - threshold, kept = rest > 0.0 ? rest : 0.0;

            l1[i] += kept;
            squares[i] += kept * kept;
            count[i] += rest > 0.0 ? 1.0 : 0.0;
        }
    }
    for (size_t i = 0; i < 8; i++) {
        out.l1 += l1[i];
        out.l2 += squares[i];
        out.count += count[i];
    }
    out.l2 = sqrt(out.l2);
    return out;
}

typedef struct problem {
    const double *x;
    size_t n;
    double unit, alpha, radius; /* unit: the largest entry of x */
} problem;

/* ---- the dual norm: t with ||S_{t(1-alpha)}(g)||_2 = t alpha, in units of the largest entry ---- */

static double dual_gap(void *self, double t, double *slope)
{
    const problem *p = self;
    left_over rest = above(p->x, p->n, p->unit, t * (1.0 - p->alpha));

    *slope = -(1.0 - p->alpha) * (rest.l2 > 0.0 ? rest.l1 / rest.l2 : 0.0) - p->alpha;
    return rest.l2 - t * p->alpha;
}

/* N is 1 at unit vectors and at least ||.||_2, so N*(g) is between max |g_j| and ||g||_2. */
static double dual_norm(problem *p)
{
    return pn_newton(dual_gap, p, 1.0, pn_lp_norm(PN_L2, p->n, p->x) / p->unit * (1.0 + 1e-14));
}

/* x <- factor S_threshold(x), in units of p->unit */
static void shrink(const problem *p, const double *x, double threshold, double factor, double *out)
{
    double inverse = 1.0 / fmax(p->unit, DBL_MIN);

    for (size_t j = 0; j < p->n; j++) {
        double rest = fabs(x[j]) * inverse - threshold;

        out[j] = rest > 0.0 ? copysign(factor * rest, x[j]) : 0.0;
    }
}

/* Rounding may have taken the last entry when alpha is tiny: then the largest one is the direction. */
static void support_point(const problem *p, double dual, double radius, double *point)
{
    double threshold = dual * (1.0 - p->alpha);
    left_over rest = above(p->x, p->n, p->unit, threshold);

    if (!(rest.l1 > 0.0)) {
        threshold = nextafter(1.0, 0.0);
        rest = above(p->x, p->n, p->unit, threshold);
        radius /= rest.count;
        rest.l2 = rest.l1 / rest.count;
    }
    shrink(p, p->x, threshold, radius / ((1.0 - p->alpha) * rest.l1 + p->alpha * rest.l2), point);
}

static pn_status interpolation_ball_support(const pn_set *self, const double *g, double *point, double *value,
                                            pn_err *err)
{
    const interpolation_ball *set = as_interpolation(self);
    problem p = { g, self->dim, pn_lp_norm(PN_LINF, self->dim, g), set->alpha, 0.0 };
    double dual;

    (void)err;
    *value = 0.0;
    if (p.unit == 0.0) {
        if (point)
            pn_ball_center(self, point);
        return PN_OK;
    }
    dual = dual_norm(&p);
    if (point)
        support_point(&p, dual, set->ball.radius, point);
    *value = set->ball.radius * (dual * p.unit);
    return PN_OK;
}

/* ||x||_1 and ||x||_2 agree on unit vectors; the l1 norm is largest at a constant vector. */
static double interpolation_ball_radius(const pn_set *self, pn_lp norm)
{
    const interpolation_ball *set = as_interpolation(self);
    double share = (1.0 - set->alpha) + set->alpha / sqrt((double)self->dim);

    if (norm != PN_L1 || self->dim == 1)
        return set->ball.radius;
    return pn_times_up(set->ball.radius / share, 1.0 + 1e-15);
}

static pn_status interpolation_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside,
                                             pn_err *err)
{
    (void)err;
    *inside = norm_of(as_interpolation(self)->alpha, x, self->dim) <= pn_ball_scale(self) + tolerance;
    return PN_OK;
}

/* ---- projection: (1 - t alpha/||u||_2) u with u = S_{t(1-alpha)}(x),
 * for the t at which its norm is the radius ---- */

/* In units of p->unit; *factor is what u is multiplied with. */
static double prox_norm(const problem *p, double t, double *factor, double *slope)
{
    double a = p->alpha, b = 1.0 - a, weighed, d_l1, d_l2, d_factor;
    left_over rest = above(p->x, p->n, p->unit, t * b);

    *slope = 0.0;
    *factor = 0.0;
    if (!(rest.l2 > t * a))
        return 0.0;
    *factor = 1.0 - t * a / rest.l2;
    weighed = b * rest.l1 + a * rest.l2;
    d_l1 = -b * rest.count;
    d_l2 = -b * rest.l1 / rest.l2;
    d_factor = (t * a * d_l2 / rest.l2 - a) / rest.l2;
    *slope = d_factor * weighed + *factor * (b * d_l1 + a * d_l2);
    return *factor * weighed;
}

static double prox_gap(void *self, double t, double *slope)
{
    const problem *p = self;
    double factor, norm = prox_norm(p, t, &factor, slope);

    return norm - p->radius;
}

static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    const interpolation_ball *set = as_interpolation(self);
    problem p = { x, self->dim, pn_lp_norm(PN_LINF, self->dim, x), set->alpha, 0.0 };
    double t, factor, slope;

    (void)err;
    if (norm_of(set->alpha, x, self->dim) <= set->ball.radius)
        return PN_OK;
    p.radius = set->ball.radius / p.unit;
    t = pn_newton(prox_gap, &p, 0.0, pn_lp_norm(PN_L2, self->dim, x) / p.unit);
    (void)prox_norm(&p, t, &factor, &slope);
    shrink(&p, x, t * (1.0 - set->alpha), factor * p.unit, x);
    return PN_OK;
}

static pn_status interpolation_ball_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static pn_status interpolation_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = norm_of(as_interpolation(self)->alpha, x, self->dim) / pn_ball_scale(self);
    return PN_OK;
}

static void interpolation_ball_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "interpolation_ball(dim=%zu, alpha=%.10g, radius=%.10g)", self->dim,
                   as_interpolation(self)->alpha, pn_ball_scale(self));
}

static bool interpolation_number(const pn_set *self, const char *name, double *value)
{
    if (strcmp(name, "alpha") != 0)
        return false;
    *value = as_interpolation(self)->alpha;
    return true;
}

const pn_set_ops pn_set_interpolation_ball = {
    .name = "interpolation_ball",
    .doc = "The ball {x in R^dim : (1 - alpha) ||x - center||_1 + alpha ||x - center||_2 <= radius} between l1 and l2; "
           "alpha = 0 and 1 give these.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3; Zou, Hastie (2005), the elastic net",
    .params = interpolation_ball_params,
    .create = interpolation_ball_create,
    .destroy = pn_ball_destroy,
    .symmetric = true,
    .support = interpolation_ball_support,
    .radius = interpolation_ball_radius,
    .diameter = pn_ball_diameter,
    .contains = interpolation_ball_contains,
    .center = pn_ball_center,
    .project = interpolation_ball_project,
    .gauge = interpolation_ball_gauge,
    .describe = interpolation_ball_describe,
    .scale = pn_ball_scale,
    .number = interpolation_number,
};
