/* event_pure.c -- mechanisms with a pure epsilon: the exponential mechanism (bounded range), report noisy max, Laplace,
 * and a declared pure epsilon, alone or with a delta.  Depends on: event_leaf.h, random/noise.h (constants).  Used by:
 * the table in event.c.  See accounting.md section 2. */
#include "privacy/event/event_leaf.h"
#include "privacy/event/pair_event.h"
#include "random/noise.h"

static double level(const pn_event *self)
{
    return ((const pn_leaf *)self)->level;
}

/* Any epsilon-DP mechanism is epsilon^2/2-zCDP (Bun, Steinke 2016). */
static double pure_zcdp(const pn_event *self)
{
    return pn_product_up(level(self), level(self)) / 2.0;
}

/* ---- exponential ---- */

static pn_status exponential_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_exponential_ops, args, args[0].real, neighbours, err);
}

static double exponential_rdp(const pn_event *self, double alpha)
{
    return pn_curve_bounded_range(level(self), alpha);
}

static double exponential_zcdp(const pn_event *self)
{
    return pn_product_up(level(self), level(self)) / 8.0;
}

static const pn_param exponential_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "total range of the log weights: weights proportional to exp(epsilon score / (2 sensitivity))" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_exponential_ops = {
    .name = "exponential",
    .doc =
        "One selection by the exponential mechanism (Gumbel noise), for the event's neighbours: epsilon-DP, of bounded "
        "range epsilon (ratios of probabilities lie in an interval of that length), epsilon^2/8-zCDP. Its Renyi bound "
        "is the largest of all pairs of two outcomes with losses t and t - epsilon, so smaller than that of pure.",
    .source = "Cesar, Rogers (2021); Dong, Durfee, Rogers (2020)",
    .params = exponential_params,
    .create = exponential_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = exponential_rdp,
    .zcdp = exponential_zcdp,
    .describe = pn_leaf_describe,
    .pairs = pn_pairs_exponential,
};

/* ---- laplace and report noisy max ---- */

static double laplace_rdp(const pn_event *self, double alpha)
{
    return pn_curve_laplace(level(self), alpha);
}

static const pn_param laplace_params[] = {
    { "scale", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "scale b of the Laplace noise, unit of the query" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "l1 sensitivity of the query" },
    { "draws", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "scalar draws of lattice noise in one release, whose distance from the ideal law is then charged; ideal noise "
      "when absent" },
    PN_PARAM_END,
};

static pn_status laplace_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_laplace_ops, args, pn_quotient_up(args[1].real, args[0].real), neighbours, err);
}

static pn_slack laplace_slack(const pn_event *self)
{
    return (pn_slack){ ((const pn_leaf *)self)->values[2] * 2.0 * PN_LAPLACE_ETA, 0.0, 0.0 };
}

const pn_event_ops pn_event_laplace_ops = {
    .name = "laplace",
    .doc = "Laplace noise of the given scale on a query whose l1 sensitivity between the event's neighbours is given: "
           "e-DP with e = sensitivity/scale, e^2/2-zCDP. Its Renyi bound is the exact one of two Laplace laws that far "
           "apart.",
    .source = "Mironov (2017)",
    .params = laplace_params,
    .create = laplace_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = laplace_rdp,
    .zcdp = pure_zcdp,
    .describe = pn_leaf_describe,
    .slack = laplace_slack,
    .pairs = pn_pairs_laplace,
};

/* Continuous noise.  A set of candidates wins when its largest noisy score is above the largest of the others.  The two
 * maxima move by 2 sensitivity against each other, and both have hazard rates of at most 1/b, as their noises do: so p
 * = P(the set wins) falls no faster than along the curve of Laplace noise, dp/dt = -min(p, 1-p), which is L_t(p) = e^-t
 * p below 1/2, 1 - e^t (1-p) above, and e^-t / (4 (1-p)) where it crosses 1/2.  That holds for every set: the pair of
 * Laplace noise at distance e dominates.
 *
 * Whole steps, D of them in the sensitivity, r = e/(2D) a step: P(K > k) >= e^-r P(K >= k) on both sides, and for
 * maxima as for single noises, ties included (1 - prod(1 - a_i) is concave along a).  So each step takes p to at least
 * g(p) = max(e^-r p, 1 - e^r (1-p)), and 2D of them to g^2D(p).  That is L_r on either side of 1/2, so what is below
 * the curve of e comes from the one step that crosses:
 *     L_r(p) / g(p) <= (1 + e^-r)^2 / (4 e^-r) = cosh(r/2)^2,      worst at p = 1/(1 + e^-r).
 * So the pair of Laplace noise at distance e + 2 ln cosh(r/2) dominates, for every D;
 * and e bounds the loss as it always does.  g is nowhere above L_r: no analysis gets below the pair at distance e. */
static double dominating_level(const pn_event *self)
{
    double e = level(self), steps = ((const pn_leaf *)self)->values[2], x;

    if (!(steps >= 1.0))
        return e;
    x = e / (4.0 * steps);
    return (e + fmin(x * x, 2.0 * (x + log1p(exp(-2.0 * x)) - 0.69314718055994517))) * (1.0 + 0x1p-51);
}

static double noisy_max_rdp(const pn_event *self, double alpha)
{
    return fmin(pn_curve_laplace(dominating_level(self), alpha), pn_curve_pure(level(self), alpha));
}

static size_t noisy_max_pairs(const pn_event *self, bool attained, pn_pair pairs[2])
{
    pn_pair_laplace(&pairs[0], attained ? level(self) : dominating_level(self));
    return 1;
}

static const pn_param noisy_max_params[] = {
    { "scale", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "scale b of the exponential or Laplace noise, unit of a score" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "largest change of any one score between neighbours" },
    { "steps", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "Laplace noise in whole steps: how many of them sensitivity has; continuous noise when absent" },
    PN_PARAM_END,
};

static pn_status noisy_max_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    double e = 2.0 * pn_quotient_up(args[1].real, args[0].real);

    return pn_leaf_new(out, &pn_event_report_noisy_max_ops, args, e, neighbours, err);
}

const pn_event_ops pn_event_report_noisy_max_ops = {
    .name = "report_noisy_max",
    .doc = "One selection by exponential noise (permute and flip) or Laplace noise on scores that each move by at most "
           "sensitivity between the event's neighbours: e-DP with e = 2 sensitivity/scale, charged as the Laplace "
           "mechanism with that e, and with e^2/(16 steps^2) more where the noise comes in steps; it is not of bounded "
           "range e.",
    .source = "Dwork, Roth (2014), section 3.3; McKenna, Sheldon (2020): the noise's hazard rate is at most 1/scale",
    .params = noisy_max_params,
    .create = noisy_max_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = noisy_max_rdp,
    .zcdp = pure_zcdp,
    .describe = pn_leaf_describe,
    .pairs = noisy_max_pairs,
};

/* ---- pure ---- */

static pn_status pure_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_pure_ops, args, args[0].real, neighbours, err);
}

static double pure_rdp(const pn_event *self, double alpha)
{
    return pn_curve_pure(level(self), alpha);
}

static const pn_param pure_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "pure differential privacy of the mechanism" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_pure_ops = {
    .name = "pure",
    .doc =
        "Any epsilon-DP mechanism for the event's neighbours; epsilon^2/2-zCDP. Its Renyi bound is that of randomised "
        "response, the worst case.",
    .source = "Kairouz, Oh, Viswanath (2015); Bun, Steinke (2016)",
    .params = pure_params,
    .create = pure_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = pure_rdp,
    .zcdp = pure_zcdp,
    .describe = pn_leaf_describe,
    .pairs = pn_pairs_pure,
};

/* ---- approximate ---- */

/* Neighbouring laws of an (epsilon, delta)-DP mechanism are P = (1-delta) P' + delta P" and Q = (1-delta) Q' + delta Q"
 * with P', Q' epsilon-indistinguishable: both are post-processing of the optimal pair, which shows the input with
 * probability delta and is randomised response otherwise (Kairouz, Oh, Viswanath 2015).  So a run is that of an
 * epsilon-DP mechanism unless a coin of chance delta, the same for both data sets, falls.  In an adaptive interaction
 * the chance that any coin falls is at most the largest sum of the deltas on a path, each known before its coin: it
 * adds to delta as the windows of drawn noise do (pn_slack), epsilon or no
 * epsilon.  As tail it is counted once more, where exp(epsilon) carries it: more than enough. */
static pn_status approximate_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_approximate_ops, args, args[0].real, neighbours, err);
}

static double no_zcdp(const pn_event *self)
{
    (void)self;
    return INFINITY;
}

static pn_slack approximate_slack(const pn_event *self)
{
    double delta = ((const pn_leaf *)self)->values[1];

    return (pn_slack){ 0.0, delta, delta };
}

static const pn_param approximate_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "epsilon of the mechanism" },
    { "delta", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "delta of the mechanism" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_approximate_ops = {
    .name = "approximate",
    .doc =
        "Any (epsilon, delta)-DP mechanism for the event's neighbours, such as a whole run at the price of its privacy "
        "loss distribution. It is an epsilon-DP mechanism, whose Renyi bound this is, unless a coin of probability "
        "delta falls; the deltas of such events add up and are taken out of the budget's own. A ledger of epsilon and "
        "delta sets the part of delta for them aside at its first charge, when that is one of them. No zCDP, and no "
        "place in a budget of rho, of one Renyi order, or without delta.",
    .source = "Kairouz, Oh, Viswanath (2015); Murtagh, Vadhan (2018)",
    .params = approximate_params,
    .create = approximate_create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = pure_rdp,
    .zcdp = no_zcdp,
    .describe = pn_leaf_describe,
    .slack = approximate_slack,
    .pairs = pn_pairs_pure,
};

/* ---- for the tables of other rooms ---- */

double pn_event_own_delta(const pn_event *event, size_t count)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);
    double sum = 0.0;

    if (!terms)
        return event->ops == &pn_event_approximate_ops ? (double)count * ((const pn_leaf *)event)->values[1] : 0.0;
    for (size_t i = 0; i < parts; i++)
        sum += (double)terms[i].count * pn_event_own_delta(terms[i].event, count);
    return sum;
}

pn_status pn_event_approximate(pn_event **out, double epsilon, double delta, pn_neighbours n, pn_err *err)
{
    pn_arg args[3] = { { .given = true, .real = epsilon }, { .given = true, .real = delta }, { 0 } };

    return pn_event_from_args(out, "approximate", args, n, err);
}

pn_status pn_event_exponential(pn_event **out, double epsilon, pn_neighbours neighbours, pn_err *err)
{
    pn_arg args[2] = { { .given = true, .real = epsilon }, { 0 } };

    return pn_event_from_args(out, "exponential", args, neighbours, err);
}

pn_status pn_event_report_noisy_max(pn_event **out, double scale, double sensitivity, pn_neighbours n, pn_err *err)
{
    pn_arg args[4] = { { .given = true, .real = scale }, { .given = true, .real = sensitivity }, { 0 }, { 0 } };

    return pn_event_from_args(out, "report_noisy_max", args, n, err);
}

pn_status pn_event_laplace(pn_event **out, double scale, double sensitivity, size_t draws, pn_neighbours n, pn_err *err)
{
    pn_arg args[4] = { { .given = true, .real = scale },
                       { .given = true, .real = sensitivity },
                       { .given = draws > 0, .count = draws },
                       { 0 } };

    return pn_event_from_args(out, "laplace", args, n, err);
}
