/* event_sampled.c -- a mechanism that sees a random part of the records, and only that.
 * Depends on: event_leaf.h, event_sampled.h, sampled_curve.h.  Used by: the table in event.c.
 * See accounting.md section 4.
 *
 * Only combinations with a proof exist: Gaussian noise under Poisson sampling (every relation) and under batches of
 * fixed size (replace_one); mechanisms with a pure epsilon under Poisson sampling (add_remove, zero_out) and fixed size
 * (replace_one).  Both schemes are mixtures over the same random choice,
 * so no curve exceeds the one without sampling. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/event_sampled.h"
#include "privacy/event/pair_event.h"
#include "privacy/event/sampled_curve.h"
#include "random/noise.h"

static const char *const event_class[] = { "pn.event", NULL };

/* ---- what has a proof ---- */

/* epsilon-DP with no other number in its bound: its level is epsilon. */
static bool is_pure(const pn_event *event)
{
    return event->ops == &pn_event_pure_ops || event->ops == &pn_event_laplace_ops ||
           event->ops == &pn_event_exponential_ops || event->ops == &pn_event_report_noisy_max_ops ||
           event->ops == &pn_event_sparse_vector_ops;
}

static pn_status refuse_inner(const pn_event_ops *ops, const pn_event *inner, pn_err *err)
{
    const char *advice = "amplification by sampling is known for gaussian, laplace, exponential, report_noisy_max, "
                         "sparse_vector and pure only";
    size_t parts;

    if (pn_event_terms(inner, &parts))
        advice = "sample each release anew: compose or repeat sampled events instead";
    else if (pn_event_sampled(inner))
        advice = "give the mechanism itself and the rate of both stages together";
    return pn_fail(err, PN_EUNSUPPORTED, "event.%s: there is no proof for an inner %s; %s", ops->name, inner->ops->name,
                   advice);
}

static pn_status check_inner(const pn_event_ops *ops, const pn_event *inner, pn_neighbours neighbours, pn_err *err)
{
    bool gaussian = inner->ops == &pn_event_gaussian_ops, fixed = ops == &pn_event_fixed_sampled_ops;

    if (!gaussian && !is_pure(inner))
        return refuse_inner(ops, inner, err);
    if (inner->neighbours != neighbours)
        return pn_fail(err, PN_EPRIVACY,
                       "event.%s: the inner event is for \"%s\" neighbours, the sampled one for \"%s\"; make both for "
                       "the same relation",
                       ops->name, pn_neighbours_names[inner->neighbours], pn_neighbours_names[neighbours]);
    if (fixed && neighbours != PN_REPLACE_ONE)
        return pn_fail(err, PN_EPRIVACY,
                       "event.%s: a batch of fixed size has a proof for \"replace_one\" neighbours only, got \"%s\"; "
                       "use poisson_sampled, or an inner event for \"replace_one\"",
                       ops->name, pn_neighbours_names[neighbours]);
    if (!fixed && !gaussian && neighbours == PN_REPLACE_ONE)
        return pn_fail(err, PN_EPRIVACY,
                       "event.%s: an inner %s has a proof for \"add_remove\" and \"zero_out\" neighbours only, got "
                       "\"replace_one\"; use fixed_sampled, or another relation",
                       ops->name, inner->ops->name);
    return PN_OK;
}

/* ---- making one ---- */

/* ln(1 + q (e^epsilon - 1)), at most epsilon; rounded upward. */
static double amplified(double epsilon, double q)
{
    double value = epsilon < 30.0 ? log1p(q * expm1(epsilon)) : epsilon + log(q + (1.0 - q) * exp(-epsilon));

    if (q == 0.0 || q == 1.0)
        return q * epsilon;
    return fmin(value + value * 0x1p-49 + 1e-300, epsilon);
}

static pn_status create(pn_event **out, const pn_event_ops *ops, const pn_sampled *values, pn_err *err)
{
    const pn_leaf *leaf = (const pn_leaf *)values->inner;
    pn_status status = check_inner(ops, values->inner, values->base.neighbours, err);
    pn_sampled *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new(&self, 1, err, "event.%s: out of memory", ops->name));
    *self = *values;
    self->base = (pn_event){ ops, values->base.neighbours, 1 };
    self->inner = pn_event_keep(values->inner);
    self->gaussian = self->inner->ops == &pn_event_gaussian_ops;
    self->level = self->gaussian ? pn_quotient_down(leaf->values[0], leaf->values[1]) : amplified(leaf->level, self->q);
    *out = &self->base;
    return PN_OK;
}

static void destroy(pn_event *self)
{
    pn_sampled *sampled = (pn_sampled *)self;

    pn_event_free(sampled->inner);
    pn_free(sampled);
}

const pn_sampled *pn_event_sampled(const pn_event *event)
{
    bool is = event->ops == &pn_event_poisson_sampled_ops || event->ops == &pn_event_fixed_sampled_ops;

    return is ? (const pn_sampled *)event : NULL;
}

/* The argument tables hold objects as const; events are shared by counting, which is no change that anybody sees. */
static pn_event *inner_of(const pn_arg *arg)
{
    return (pn_event *)(size_t)arg->object;
}

/* ---- curves ---- */

static bool is_poisson_replace(const pn_sampled *s)
{
    return s->batch == 0 && s->base.neighbours == PN_REPLACE_ONE;
}

/* Replacing a record moves the sum of a Poisson sample by up to twice what one record contributes. */
static double unsampled_zcdp(const pn_sampled *s)
{
    return (is_poisson_replace(s) ? 4.0 : 1.0) * s->inner->ops->zcdp(s->inner);
}

static double rdp(const pn_event *self, double alpha)
{
    const pn_sampled *s = (const pn_sampled *)self;

    if (s->q == 0.0)
        return 0.0;
    if (!s->gaussian)
        return fmin(pn_curve_pure(s->level, alpha), s->inner->ops->rdp(s->inner, alpha));
    if (s->q == 1.0)
        return pn_curve_zcdp(unsampled_zcdp(s), alpha);
    if (s->batch > 0)
        return pn_curve_fixed_size(s->q, s->level, alpha);
    return is_poisson_replace(s) ? pn_curve_poisson_replace(s->q, s->level, alpha)
                                 : pn_curve_poisson(s->q, s->level, alpha);
}

/* For a Gaussian the ratio rdp(alpha)/alpha tends to the inner rho at large orders whatever q is. */
static double zcdp(const pn_event *self)
{
    const pn_sampled *s = (const pn_sampled *)self;

    if (s->q == 0.0)
        return 0.0;
    return s->gaussian ? unsampled_zcdp(s) : fmin(pn_product_up(s->level, s->level) / 2.0, unsampled_zcdp(s));
}

/* A mixture of laws that are each close to the ideal one is as close to the mixture of those.  Where both data sets
 * toss the same coins their values differ by one contribution at most,
 * or by two when a record may be exchanged for its opposite. */
static pn_slack slack(const pn_event *self)
{
    const pn_sampled *s = (const pn_sampled *)self;
    pn_slack inner = pn_event_slack(s->inner, 1);

    if (s->gaussian && is_poisson_replace(s))
        inner.window = pn_gaussian_slack(inner.tail / PN_GAUSSIAN_TAIL, 2.0 / s->level).window;
    return inner;
}

/* ---- the rows ---- */

static const pn_param poisson_params[] = {
    { "q", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "probability that a record is in the sample" },
    { "event", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_class,
      "the mechanism on the sample; the sensitivity in it is the contribution of one record" },
    PN_PARAM_END,
};

static pn_status poisson_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_sampled values = { .base.neighbours = neighbours, .q = args[0].real, .inner = inner_of(&args[1]) };

    return create(out, &pn_event_poisson_sampled_ops, &values, err);
}

static void poisson_args(const pn_event *self, pn_arg *args)
{
    const pn_sampled *s = (const pn_sampled *)self;

    args[0] = (pn_arg){ .given = true, .real = s->q };
    args[1] = (pn_arg){ .given = true, .object = s->inner };
}

static void poisson_describe(const pn_event *self, char *text, size_t size)
{
    const pn_sampled *s = (const pn_sampled *)self;
    char q[32], inner[200];

    pn_shortest(s->q, q, sizeof q);
    pn_event_describe(s->inner, inner, sizeof inner);
    (void)snprintf(text, size, "poisson_sampled(q=%s, event=%s)", q, inner);
}

const pn_event_ops pn_event_poisson_sampled_ops = {
    .name = "poisson_sampled",
    .doc =
        "Every record enters by its own coin of probability q, then the event sees the sample; neither the sample nor "
        "its size is published. Gaussian noise: Renyi divergence of the mixture (1-q) N(0, z^2) + q N(1, z^2) from "
        "N(0, z^2), z = sigma/sensitivity, for add_remove and zero_out; from (1-q) N(0, z^2) + q N(-1, z^2) for "
        "replace_one, where the same coin decides on either version of the record. A pure epsilon becomes ln(1 + q "
        "(e^epsilon - 1)), for add_remove and zero_out only. The neighbours are the inner event's when left out. "
        "dp_accounting and Opacus state their figures for add_remove; replace_one, the default here, costs more.",
    .source = "Mironov, Talwar, Zhang (2019); Zhu, Dong, Wang (2022); Balle, Barthe, Gaboardi (2018)",
    .params = poisson_params,
    .create = poisson_create,
    .destroy = destroy,
    .args = poisson_args,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = poisson_describe,
    .slack = slack,
    .pairs = pn_pairs_sampled,
};

static const pn_param fixed_params[] = {
    { "batch", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in the batch, drawn without replacement; at most n" },
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in the data" },
    { "event", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_class,
      "the mechanism on the batch; the sensitivity in it is the batch query's when one record is replaced" },
    PN_PARAM_END,
};

static pn_status fixed_create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_sampled values = { .base.neighbours = neighbours,
                          .batch = args[0].count,
                          .n = args[1].count,
                          .q = pn_quotient_up((double)args[0].count, (double)args[1].count),
                          .inner = inner_of(&args[2]) };

    if (values.batch > values.n)
        return pn_fail(err, PN_EINVAL,
                       "event.fixed_sampled: batch must be at most n = %zu, got %zu (draws with replacement have no "
                       "event)",
                       values.n, values.batch);
    return create(out, &pn_event_fixed_sampled_ops, &values, err);
}

static void fixed_args(const pn_event *self, pn_arg *args)
{
    const pn_sampled *s = (const pn_sampled *)self;

    args[0] = (pn_arg){ .given = true, .count = s->batch };
    args[1] = (pn_arg){ .given = true, .count = s->n };
    args[2] = (pn_arg){ .given = true, .object = s->inner };
}

static void fixed_describe(const pn_event *self, char *text, size_t size)
{
    const pn_sampled *s = (const pn_sampled *)self;
    char inner[200];

    pn_event_describe(s->inner, inner, sizeof inner);
    (void)snprintf(text, size, "fixed_sampled(batch=%zu, n=%zu, event=%s)", s->batch, s->n, inner);
}

const pn_event_ops pn_event_fixed_sampled_ops = {
    .name = "fixed_sampled",
    .doc =
        "A batch of a fixed number of records, drawn anew without replacement, then the event sees the batch; for "
        "replace_one neighbours only. Gaussian noise: the curve whose hockey sticks are those of (1-q) N(0, z^2) + q "
        "N(1, z^2) against N(0, z^2) in both directions, q = batch/n, z = sigma/sensitivity. A pure epsilon becomes "
        "ln(1 + q (e^epsilon - 1)). Drawing with replacement is another mechanism and has no event. The neighbours are "
        "the inner event's when left out.",
    .source = "Balle, Barthe, Gaboardi (2018); Sason, Verdu (2016)",
    .params = fixed_params,
    .create = fixed_create,
    .destroy = destroy,
    .args = fixed_args,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = fixed_describe,
    .slack = slack,
    .pairs = pn_pairs_sampled,
};

pn_status pn_event_poisson_sampled(pn_event **out, double q, pn_event *inner, pn_neighbours n, pn_err *err)
{
    pn_arg args[3] = { { .given = true, .real = q }, { .given = true, .object = inner }, { 0 } };

    return pn_event_from_args(out, "poisson_sampled", args, n, err);
}

pn_status pn_event_fixed_sampled(pn_event **out, size_t batch, size_t n, pn_event *inner, pn_neighbours neighbours,
                                 pn_err *err)
{
    pn_arg args[4] = {
        { .given = true, .count = batch }, { .given = true, .count = n }, { .given = true, .object = inner }, { 0 }
    };

    return pn_event_from_args(out, "fixed_sampled", args, neighbours, err);
}
