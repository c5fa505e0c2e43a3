/* event_gaussian.c -- Gaussian noise, and curves that are declared outright: zCDP and one order of RDP.
 * Depends on: event_leaf.h, random/noise.h (constants).  Used by: the table in event.c.
 * See accounting.md section 2. */
#include <math.h>

#include "privacy/event/event_leaf.h"
#include "privacy/event/pair_event.h"
#include "random/noise.h"

static double level(const pn_event *self)
{
    return ((const pn_leaf *)self)->level;
}

/* level = rho */
static double zcdp_rdp(const pn_event *self, double alpha)
{
    return pn_curve_zcdp(level(self), alpha);
}

static const pn_param gaussian_params[] = {
    { "sigma", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "standard deviation of the noise, unit of the query" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "l2 sensitivity of the query" },
    { "draws", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "scalar draws of lattice noise in one release, whose distance from the ideal law is then charged; ideal noise "
      "when absent" },
    PN_PARAM_END,
};

static pn_status gaussian_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    double mu = pn_quotient_up(args[1].real, args[0].real);

    return pn_leaf_new(out, &pn_event_gaussian_ops, args, pn_product_up(mu, mu) / 2.0, neighbours, err);
}

double pn_gaussian_mu_squared(const pn_event *leaf)
{
    const double *values = ((const pn_leaf *)leaf)->values;
    double mu;

    if (leaf->ops != &pn_event_gaussian_ops)
        return INFINITY;
    mu = pn_quotient_up(values[1], values[0]);
    return pn_product_up(mu, mu);
}

bool pn_event_is_gaussian(const pn_event *event, double *mu, double *draws)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts), alone = { (pn_event *)(size_t)event, 1 };
    double square = 0.0;

    *draws = 0.0;
    if (!terms) {
        terms = &alone;
        parts = 1;
    }
    for (size_t i = 0; i < parts; i++) {
        double count = (double)terms[i].count;

        if (terms[i].event->ops != &pn_event_gaussian_ops)
            return false;
        square += count * pn_gaussian_mu_squared(terms[i].event);
        *draws += count * ((const pn_leaf *)terms[i].event)->values[2];
    }
    *mu = sqrt(square);
    if (terms != &alone)
        *mu *= 1.0 + 0x1p-40;
    return isfinite(*mu);
}

/* The neighbour's window is off by at most mu; half a step of rounding and erfc's error are in the last factor. */
pn_slack pn_gaussian_slack(double draws, double mu)
{
    double outside = fmin(1.0, erfc((PN_GAUSSIAN_CUT - mu) / sqrt(2.0)) * (1.0 + 0x1p-30));

    return (pn_slack){ draws * 2.0 * PN_GAUSSIAN_ETA, draws * PN_GAUSSIAN_TAIL, draws * outside };
}

static pn_slack gaussian_slack(const pn_event *self)
{
    const double *values = ((const pn_leaf *)self)->values;

    return pn_gaussian_slack(values[2], values[1] / values[0]);
}

const pn_event_ops pn_event_gaussian_ops = {
    .name = "gaussian",
    .doc =
        "Gaussian noise on a query whose l2 sensitivity between the event's neighbours is given: Renyi divergence rho "
        "alpha at order alpha and rho-zCDP, both exactly, with rho = (sensitivity/sigma)^2/2. No pure epsilon: at "
        "delta 0 its epsilon is infinite.",
    .source = "Mironov (2017); Bun, Steinke (2016)",
    .params = gaussian_params,
    .create = gaussian_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = zcdp_rdp,
    .zcdp = level,
    .describe = pn_leaf_describe,
    .slack = gaussian_slack,
    .pairs = pn_pairs_gaussian,
};

static const pn_param zcdp_params[] = {
    { "rho", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "zero-concentrated differential privacy of the mechanism" },
    PN_PARAM_END,
};

static pn_status zcdp_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_zcdp_ops, args, args[0].real, neighbours, err);
}

const pn_event_ops pn_event_zcdp_ops = {
    .name = "zcdp",
    .doc =
        "Any mechanism that is rho-zCDP for the event's neighbours: Renyi divergence at most rho alpha at every order.",
    .source = "Bun, Steinke (2016)",
    .params = zcdp_params,
    .create = zcdp_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = zcdp_rdp,
    .zcdp = level,
    .describe = pn_leaf_describe,
};

/* ---- rdp ---- */

static const pn_param rdp_params[] = {
    { "alpha", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the Renyi order, > 1" },
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "bound on the Renyi divergence of that order" },
    PN_PARAM_END,
};

static pn_status rdp_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    if (!(args[0].real > 1.0))
        return pn_fail(err, PN_EINVAL, "event.rdp: alpha must be greater than 1, got %g", args[0].real);
    return pn_leaf_new(out, &pn_event_rdp_ops, args, args[1].real, neighbours, err);
}

/* Renyi divergence grows with its order, so the bound holds below alpha too and says nothing above. */
static double rdp_rdp(const pn_event *self, double alpha)
{
    return alpha <= ((const pn_leaf *)self)->values[0] ? level(self) : INFINITY;
}

static double rdp_zcdp(const pn_event *self)
{
    (void)self;
    return INFINITY;
}

const pn_event_ops pn_event_rdp_ops = {
    .name = "rdp",
    .doc = "Any mechanism with Renyi divergence at most epsilon at order alpha between the event's neighbours, in both "
           "directions, so at every order below too; nothing is known above.",
    .source = "Mironov (2017)",
    .params = rdp_params,
    .create = rdp_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = rdp_rdp,
    .zcdp = rdp_zcdp,
    .describe = pn_leaf_describe,
};

pn_status pn_event_gaussian(pn_event **out, double sigma, double sensitivity, size_t draws, pn_neighbours n,
                            pn_err *err)
{
    pn_arg args[4] = { { .given = true, .real = sigma },
                       { .given = true, .real = sensitivity },
                       { .given = draws > 0, .count = draws },
                       { 0 } };

    return pn_event_from_args(out, "gaussian", args, n, err);
}
