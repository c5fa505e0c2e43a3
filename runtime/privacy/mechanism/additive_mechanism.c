/* additive_mechanism.c -- a query's values plus noise: discrete Gaussian or Laplace integers on a fine lattice.
 * The event is that of the rounded query: what rounding adds to the sensitivity is always in the charge.
 * Depends on: mechanism.h, mechanism_row.h, gaussian.h, random/noise.h.  Used by: mechanism.c's table.
 * See noise.md sections 3, 4 and 6. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/mechanism/mechanism_row.h"
#include "random/noise.h"

typedef void (*add_noise)(pn_rng *rng, double scale, const double *x, size_t n, double *out);

typedef struct additive {
    pn_mechanism base;  /* first */
    add_noise add;      /* rounds to the lattice, adds, multiplies by the step */
    const char *law;    /* "discrete Gaussian noise of standard deviation" */
    double scale;       /* sigma or b: of the event and of the draw */
    double sensitivity; /* of the exact query */
    double charged;     /* of the rounded one */
} additive;

/* What a row asks for, once its own parameters have become a scale. */
typedef struct request {
    const pn_mechanism_ops *ops;
    add_noise add;
    const char *law;
    bool gaussian;
    double scale, sensitivity, bound; /* bound: INFINITY for none */
    const pn_arg *bound_arg, *strict;
    size_t dim;
    pn_neighbours neighbours;
} request;

/* ---- releasing ---- */

static pn_status additive_prepare(pn_mechanism *base, size_t n, pn_err *err)
{
    (void)base;
    (void)n;
    (void)err;
    return PN_OK;
}

static pn_status additive_draw(pn_mechanism *base, const double *input, size_t n, pn_rng *rng, pn_release *out,
                               pn_err *err)
{
    const additive *self = (const additive *)base;
    double scale = PN_MUTANT("sensitivity_half") ? self->scale / 2.0 : self->scale;

    (void)err;
    for (size_t i = 0; base->clamps && i < n; i++)
        out->values[i] = pn_mechanism_clamp(base, input[i]);
    self->add(rng, scale, base->clamps ? out->values : input, n, out->values);
    return PN_OK;
}

static void additive_destroy(pn_mechanism *base)
{
    pn_event_free(base->event);
    pn_free(base);
}

static void additive_describe(const pn_mechanism *base, char *text, size_t size)
{
    const additive *self = (const additive *)base;
    bool bounded = isfinite(base->domain);
    double epsilon = base->event->ops->rdp(base->event, INFINITY);
    char cost[256], pure[40] = "";

    pn_event_describe(base->event, cost, sizeof cost);
    if (isfinite(epsilon))
        (void)snprintf(pure, sizeof pure, "epsilon %.9g, ", epsilon);
    (void)snprintf(text, size,
                   "%s: adds %s %.9g to %s%zu value%s\n"
                   "  one release costs %s: %srho %.9g\n"
                   "  %s\n"
                   "  rounded to multiples of 2^-40 of that; the %.3g this adds to the sensitivity %.9g is charged\n"
                   "  values beyond +-%.9g are %s%s",
                   base->ops->name, self->law, self->scale, base->dim == 1 ? "" : "each of ", base->dim,
                   base->dim == 1 ? "" : "s", cost, pure, base->event->ops->zcdp(base->event),
                   pn_mechanism_protects(base->event->neighbours), self->charged - self->sensitivity, self->sensitivity,
                   bounded ? base->domain : pn_lattice_reach(self->scale),
                   bounded && !base->clamps ? "refused" : "clamped",
                   bounded ? "" : ", 2^85 scales of the noise: the lattice ends there");
}

/* ---- making ---- */

static pn_charged_sensitivity charged_by(bool gaussian)
{
    return gaussian ? pn_lattice_l2 : pn_lattice_l1;
}

static bool ordinary(double x)
{
    return x >= 0x1p-900 && x <= 0x1p900;
}

static pn_status check_request(const request *want, pn_err *err)
{
    const char *name = want->ops->name;

    if (!ordinary(want->sensitivity))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: sensitivity must be between 2^-900 and 2^900, got %g", name,
                       want->sensitivity);
    if (!ordinary(want->scale))
        return pn_fail(err, PN_EINVAL, "mechanism.%s: the scale of the noise must be between 2^-900 and 2^900, got %g",
                       name, want->scale);
    return PN_OK;
}

static pn_status make_event(additive *self, const request *want, pn_err *err)
{
    pn_event **event = &self->base.event;

    if (want->gaussian)
        return pn_event_gaussian(event, want->scale, self->charged, want->dim, want->neighbours, err);
    return pn_event_laplace(event, want->scale, self->charged, want->dim, want->neighbours, err);
}

static pn_status additive_new(pn_mechanism **out, const request *want, pn_err *err)
{
    pn_status status = check_request(want, err);
    additive *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "mechanism.%s: out of memory", want->ops->name));
    self->base = (pn_mechanism){ .ops = want->ops, .dim = want->dim, .scale = want->scale };
    self->add = want->add;
    self->law = want->law;
    self->scale = want->scale;
    self->sensitivity = want->sensitivity;
    self->charged = charged_by(want->gaussian)(want->sensitivity, want->scale, want->dim, want->bound, 1);
    status = make_event(self, want, err);
    if (status == PN_OK)
        status = pn_mechanism_set_domain(&self->base, want->bound_arg, "bound", want->strict,
                                         pn_lattice_reach(want->scale), err);
    if (status != PN_OK) {
        additive_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

#define DIM_PARAM                                                                                                      \
    {                                                                                                                  \
        "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "how many values one release has"                             \
    }
#define BOUND_PARAM                                                                                                    \
    {                                                                                                                  \
        "bound", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,                                                         \
            "public bound on every |value|; what is beyond it is clamped to it; makes the charge for rounding smaller" \
    }

static double bound_of(const pn_arg *arg)
{
    return arg->given ? arg->real : INFINITY;
}

/* ---- gaussian ---- */

static const char gaussian_law[] = "discrete Gaussian noise of standard deviation";

static const pn_param gaussian_params[] = {
    { "sigma", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "standard deviation of the noise, unit of the query" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "l2 sensitivity of the exact query; what rounding adds is charged on top" },
    DIM_PARAM,
    BOUND_PARAM,
    { "exact", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "draw by the slow reference algorithm, which has no table, no cut tail and no double in it" },
    PN_STRICT_PARAM,
    PN_PARAM_END,
};

/* The exact sampler is charged the same draws: eta also holds the distance of the discrete law from the rounded
 * continuous one, which every formula but the Renyi curve needs. */
static pn_status gaussian_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    request want = { .ops = &pn_mechanism_gaussian,
                     .add = args[4].flag ? pn_lattice_gaussian_exact : pn_lattice_gaussian,
                     .law = gaussian_law,
                     .gaussian = true,
                     .scale = args[0].real,
                     .sensitivity = args[1].real,
                     .bound = bound_of(&args[3]),
                     .bound_arg = &args[3],
                     .strict = &args[5],
                     .dim = args[2].count,
                     .neighbours = neighbours };

    return additive_new(out, &want, err);
}

const pn_mechanism_ops pn_mechanism_gaussian = {
    .name = "gaussian",
    .doc = "Adds Gaussian noise of standard deviation sigma to one or more values: integers on a lattice of 2^-40 "
           "sigma, so that no bit of the result says more than the event.  Guarantee, between the neighbours that the "
           "sensitivity is for: rho-zCDP with rho = (sensitivity/sigma)^2/2, Renyi divergence rho alpha at every order "
           "alpha; no pure epsilon.  Exchanging a record moves a sum by up to twice what one record adds to it.",
    .source = "Canonne, Kamath, Steinke (2020); Mironov (2012) for why not in floating point",
    .params = gaussian_params,
    .output = PN_GIVES_VALUES,
    .create = gaussian_create,
    .destroy = additive_destroy,
    .prepare = additive_prepare,
    .draw = additive_draw,
    .describe = additive_describe,
};

/* ---- analytic_gaussian ---- */

static const pn_param analytic_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "cost of one release at delta, not exceeded" },
    { "delta", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "the delta of that statement" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "l2 sensitivity of the exact query" },
    DIM_PARAM,
    BOUND_PARAM,
    PN_STRICT_PARAM,
    PN_PARAM_END,
};

static pn_status analytic_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    request want = { .ops = &pn_mechanism_analytic_gaussian,
                     .add = pn_lattice_gaussian,
                     .law = gaussian_law,
                     .gaussian = true,
                     .sensitivity = args[2].real,
                     .bound = bound_of(&args[4]),
                     .bound_arg = &args[4],
                     .strict = &args[5],
                     .dim = args[3].count,
                     .neighbours = neighbours };

    want.scale = pn_calibrate_gaussian_releases(&(pn_gaussian_releases){ .epsilon = args[0].real,
                                                                         .delta = args[1].real,
                                                                         .rho = NAN,
                                                                         .sensitivity = want.sensitivity,
                                                                         .bound = want.bound,
                                                                         .dim = want.dim,
                                                                         .count = 1 });
    if (isnan(want.scale))
        return pn_fail(err, PN_EINVAL,
                       "mechanism.analytic_gaussian: no sigma on the lattice gives epsilon %g at delta %g with "
                       "sensitivity %g and dim %zu",
                       args[0].real, args[1].real, want.sensitivity, want.dim);
    return additive_new(out, &want, err);
}

const pn_mechanism_ops pn_mechanism_analytic_gaussian = {
    .name = "analytic_gaussian",
    .doc = "As gaussian, with the smallest sigma for which one release is (epsilon, delta)-DP between the neighbours "
           "that the sensitivity is for, also above epsilon 1: delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - "
           "epsilon/mu) with mu = sensitivity/sigma, what rounding and sampling cost included.  Among other releases, "
           "a Renyi filter takes somewhat more from a budget; filter = \"gaussian\" takes just this.",
    .source = "Balle, Wang (2018), Algorithm 1",
    .params = analytic_params,
    .output = PN_GIVES_VALUES,
    .create = analytic_create,
    .destroy = additive_destroy,
    .prepare = additive_prepare,
    .draw = additive_draw,
    .describe = additive_describe,
};

/* ---- laplace ---- */

static const pn_param laplace_params[] = {
    { "scale", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "scale b of the noise, unit of the query (or give epsilon)" },
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "cost of one release, not exceeded (or give scale)" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "l1 sensitivity of the exact query; what rounding adds is charged on top" },
    DIM_PARAM,
    BOUND_PARAM,
    PN_STRICT_PARAM,
    PN_PARAM_END,
};

/* The smallest scale whose charged event costs at most epsilon; NaN when there is none. */
static double laplace_scale(double epsilon, double sensitivity, size_t dim, double bound)
{
    pn_slack slack = { (double)dim * 2.0 * PN_LAPLACE_ETA, 0.0, 0.0 };
    double ratio = epsilon - slack.epsilon;

    /* Steps that double: beside a slack near epsilon, single ones of a tiny ratio would never change the sum. */
    for (double back = 0.0; ratio > 0.0 && pn_slack_epsilon(ratio, 0.0, slack) > epsilon;
         back = fmax(2.0 * back, epsilon * 0x1p-53))
        ratio = nextafter(ratio, 0.0) - back;
    return ratio > 0.0 ? pn_scale_for(pn_lattice_l1, sensitivity, dim, bound, ratio) : NAN;
}

static pn_status laplace_create(pn_mechanism **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    request want = { .ops = &pn_mechanism_laplace,
                     .add = pn_lattice_laplace,
                     .law = "discrete Laplace noise of scale",
                     .scale = args[0].real,
                     .sensitivity = args[2].real,
                     .bound = bound_of(&args[4]),
                     .bound_arg = &args[4],
                     .strict = &args[5],
                     .dim = args[3].count,
                     .neighbours = neighbours };

    if (args[0].given == args[1].given)
        return pn_fail(err, PN_EINVAL, "mechanism.laplace: give either scale or epsilon%s",
                       args[0].given ? ", not both" : "");
    if (args[1].given)
        want.scale = laplace_scale(args[1].real, want.sensitivity, want.dim, want.bound);
    if (isnan(want.scale))
        return pn_fail(err, PN_EINVAL,
                       "mechanism.laplace: no scale on the lattice gives epsilon %g with sensitivity %g and dim %zu",
                       args[1].real, want.sensitivity, want.dim);
    return additive_new(out, &want, err);
}

const pn_mechanism_ops pn_mechanism_laplace = {
    .name = "laplace",
    .doc = "Adds Laplace noise to one or more values: integers on a lattice of 2^-40 scale.  Guarantee, between the "
           "neighbours that the sensitivity is for: epsilon-DP with no delta, epsilon = sensitivity/scale, and "
           "epsilon^2/2-zCDP.  Exchanging a record moves a sum by up to twice what one record adds to it.",
    .source = "Dwork, McSherry, Nissim, Smith (2006); Canonne, Kamath, Steinke (2020)",
    .params = laplace_params,
    .output = PN_GIVES_VALUES,
    .create = laplace_create,
    .destroy = additive_destroy,
    .prepare = additive_prepare,
    .draw = additive_draw,
    .describe = additive_describe,
};
