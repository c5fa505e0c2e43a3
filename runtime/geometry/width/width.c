/* width.c -- the Gaussian width of a set: its own formula where it has one,
 * else the mean of draws with a certified interval.
 *
 * The interval.  w(b) = max <b, v> is a Lipschitz function of b with constant max ||v||, and so is the mean of w(b) and
 * w(-b), the support of (C - C)/2, with half the diameter; both have mean G_C.
 * For symmetric sets they are the same function.
 *
 * Depends on: width_draws.h, set.h.  Used by: set.h's users.  Source: geometry.md section 1; Talwar, Thakurta,
 * Zhang (2014). */
#include <math.h>

#include "geometry/convex/set.h"
#include "geometry/width/width.h"
#include "geometry/width/width_draws.h"

#define MOST_DRAWS 1e9 /* that a tolerance may ask for */
#define SEED       1

const char *const pn_width_methods[] = { "auto", "exact", "quadrature", "monte_carlo", NULL };

/* Defaults filled in. */
static pn_status read_options(const pn_width_options *given, pn_width_options *how, pn_err *err)
{
    *how = given ? *given : (pn_width_options){ .method = PN_WIDTH_AUTO };
    if (how->tolerance == 0.0)
        how->tolerance = 0.01;
    if (how->confidence == 0.0)
        how->confidence = 0.99;
    if (!(how->tolerance > 0.0) || isinf(how->tolerance))
        return pn_fail(err, PN_EINVAL, "width: tol must be a positive number, got %g", how->tolerance);
    if (!(how->confidence > 0.0 && how->confidence < 1.0))
        return pn_fail(err, PN_EINVAL, "width: confidence must lie between 0 and 1, got %g", how->confidence);
    return PN_OK;
}

/* ---- Monte Carlo ---- */

/* (half-width / rho)^2 N */
static double spread(const pn_width_options *how)
{
    return 2.0 * log(2.0 / (1.0 - how->confidence));
}

static pn_status count_draws(const pn_width_options *how, size_t *draws, pn_err *err)
{
    double wanted = ceil(spread(how) / (how->tolerance * how->tolerance));

    *draws = how->draws;
    if (how->draws > 0)
        return PN_OK;
    if (!(wanted <= MOST_DRAWS))
        return pn_fail(err, PN_EINVAL, "width: tol = %g takes %.3g draws, more than %g; give draws=, or a larger tol",
                       how->tolerance, wanted, MOST_DRAWS);
    *draws = (size_t)wanted;
    return PN_OK;
}

static void certify(const pn_width_options *how, double rho, const pn_draws_mean *of, pn_width *out)
{
    double n = (double)of->count, half = rho * sqrt(spread(how) / n);

    out->value = of->mean;
    out->low = fmax(of->mean - half, 0.0);
    out->high = of->mean + half;
    out->method = PN_WIDTH_MONTE_CARLO;
    out->draws = of->count;
    out->confidence = how->confidence;
    out->standard_error = of->count > 1 ? sqrt(of->squares / (n - 1.0) / n) : INFINITY;
}

static pn_status by_monte_carlo(const pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err)
{
    double rho = set->ops->radius(set, PN_L2), half_diameter = 0.5 * set->ops->diameter(set, PN_L2);
    bool both = !set->ops->symmetric && half_diameter < rho;
    pn_draws_mean of = { 0, 0.0, 0.0 };
    pn_rng *own = NULL;
    pn_status status;
    size_t draws;

    if (!set->ops->support)
        return pn_fail(err, PN_EUNSUPPORTED, "width: %s has no support function to draw from", set->ops->name);
    status = count_draws(how, &draws, err);
    if (status == PN_OK && !how->rng)
        status = pn_rng_seeded(&own, SEED, err);
    if (status == PN_OK)
        status = pn_draw_widths(set, draws, both, own ? own : how->rng, how->task, &of, err);
    pn_rng_free(own);
    if (status == PN_OK)
        certify(how, fmin(rho, half_diameter), &of, out);
    return status;
}

/* ---- the door ---- */

static pn_status by_own_method(const pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err)
{
    pn_status status;

    if (!set->ops->width)
        return pn_fail(err, PN_EUNSUPPORTED, "width: %s has no formula; use method=\"monte_carlo\" or \"auto\"",
                       set->ops->name);
    status = set->ops->width(set, how, out, err);
    if (status == PN_OK && how->method != PN_WIDTH_AUTO && out->method > how->method)
        return pn_fail(err, PN_EUNSUPPORTED, "width: %s has no width by method=\"%s\"; use \"%s\" or \"auto\"",
                       set->ops->name, pn_width_methods[how->method], pn_width_methods[out->method]);
    return status;
}

static pn_status of_body(const pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err)
{
    pn_status status = PN_EUNSUPPORTED;

    if (how->method != PN_WIDTH_MONTE_CARLO && (set->ops->width || how->method != PN_WIDTH_AUTO))
        status = by_own_method(set, how, out, err);
    if (status == PN_EUNSUPPORTED && (how->method == PN_WIDTH_AUTO || how->method == PN_WIDTH_MONTE_CARLO))
        status = by_monte_carlo(set, how, out, err);
    return status;
}

/* G of factor C + shift is |factor| G_C. */
pn_status pn_set_width(const pn_set *set, const pn_width_options *given, pn_width *out, pn_err *err)
{
    pn_width_options how;
    const double *shift;
    double factor;
    const pn_set *body = pn_set_unwrap(set, &factor, &shift);
    pn_width found;

    PN_TRY(read_options(given, &how, err));
    if (!pn_set_is_bounded(body))
        return pn_fail(err, PN_EUNSUPPORTED, "width: %s is unbounded, so its width is infinite", body->ops->name);
    PN_TRY(of_body(body, &how, &found, err));
    factor = fabs(factor);
    *out = found;
    out->value *= factor;
    out->low *= factor;
    out->high *= factor;
    out->standard_error *= factor;
    return PN_OK;
}
