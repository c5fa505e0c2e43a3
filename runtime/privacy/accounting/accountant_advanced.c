/* accountant_advanced.c -- advanced composition of pure epsilons, as in the textbooks.
 * Depends on: accountant.h, accountant_terms.h, composition.h.  Used by: the table in accountant.c.  Spec:
 * accounting.md section 3.
 *
 * For teaching and for reproducing papers: "rdp" and "pld" are never worse in practice.
 * All of delta goes to the slack. */
#include <math.h>

#include "privacy/accounting/accountant_ops.h"
#include "privacy/accounting/accountant_terms.h"
#include "privacy/accounting/composition.h"

/* What the formulas need; `common` is the epsilon that all events share, 0 when they differ. */
typedef struct sums {
    double count, total, drift, squares, common;
} sums;

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    (void)args;
    return pn_terms_accountant_new(out, &pn_accountant_advanced_ops, err);
}

static pn_status refuse_impure(void *visitor, const pn_event *event, double count, pn_err *err)
{
    (void)visitor;
    (void)count;
    if (isfinite(event->ops->rdp(event, INFINITY)))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "accountant.advanced: an event.%s has no pure epsilon, and advanced composition needs one; use "
                   "accountant.rdp or accountant.pld",
                   event->ops->name);
}

static pn_status add(pn_accountant *base, pn_event *event, size_t count, pn_err *err)
{
    pn_term one = { event, count };
    pn_terms list = { &one, 1, 1 };
    pn_status status = pn_terms_walk(&list, refuse_impure, NULL, err);

    return status == PN_OK ? pn_terms_accountant_add(base, event, count, err) : status;
}

static pn_status add_event(void *visitor, const pn_event *event, double count, pn_err *err)
{
    sums *s = visitor;
    double e = event->ops->rdp(event, INFINITY);

    (void)err;
    s->common = s->count == 0.0 || s->common == e ? e : 0.0;
    s->count += count;
    s->total += count * e;
    s->drift += count * pn_advanced_drift(e);
    s->squares += count * e * e;
    return PN_OK;
}

static sums sums_of(const pn_accountant *base)
{
    sums s = { 0 };

    (void)pn_terms_walk(pn_terms_of(base), add_event, &s, NULL);
    return s;
}

/* Never more than basic composition. */
static double ideal_epsilon(const sums *s, double delta)
{
    double value = s->total * (1.0 + 0x1p-40);

    if (delta > 0.0 && s->common > 0.0 && s->count <= 0x1p53)
        value = fmin(value, pn_advanced_epsilon(s->common, (size_t)s->count, delta));
    else if (delta > 0.0 && s->count > 0.0)
        value = fmin(value, pn_advanced_epsilon_sums(s->drift, s->squares, delta));
    return value;
}

static pn_status epsilon(const pn_accountant *base, double delta, double *out, double *order, pn_err *err)
{
    sums s = sums_of(base);

    (void)err;
    *out = pn_slack_epsilon(ideal_epsilon(&s, pn_ideal_delta(delta)), delta, pn_terms_slack(pn_terms_of(base)));
    if (order)
        *order = 0.0;
    return PN_OK;
}

/* The formula, solved for delta: exp(-(epsilon - drift)^2 / (2 sum e^2)), rounded upward. */
static pn_status delta(const pn_accountant *base, double at_epsilon, double *out, pn_err *err)
{
    sums s = sums_of(base);
    pn_slack slack = pn_terms_slack(pn_terms_of(base));
    double drift = s.common > 0.0 ? s.count * s.common * expm1(s.common) : s.drift;
    double room = fmax(0.0, at_epsilon - slack.epsilon) - drift;

    (void)err;
    if (s.total * (1.0 + 0x1p-40) + slack.epsilon <= at_epsilon)
        *out = 0.0;
    else
        *out = room > 0.0 ? fmin(1.0, exp(-room * room / (2.0 * s.squares)) * (1.0 + 1e-9)) : 1.0;
    *out = pn_slack_delta(*out, at_epsilon, slack);
    return PN_OK;
}

/* What the formulas know is epsilon alone. */
static double rdp(const pn_accountant *base, double alpha)
{
    (void)alpha;
    return sums_of(base).total;
}

static double zcdp(const pn_accountant *base)
{
    return sums_of(base).squares / 2.0;
}

const pn_accountant_ops pn_accountant_advanced_ops = {
    .name = "advanced",
    .doc = "Advanced composition of pure epsilons: k e (exp(e) - 1) + e sqrt(2 k ln(1/delta)) for equal ones, sum e "
           "tanh(e/2) + sqrt(2 ln(1/delta) sum e^2) otherwise, and never more than their sum. For teaching and for "
           "reproducing papers; rdp and pld give smaller numbers.",
    .source = "Dwork, Rothblum, Vadhan (2010); Kairouz, Oh, Viswanath (2015)",
    .create = create,
    .destroy = pn_terms_accountant_destroy,
    .add = add,
    .epsilon = epsilon,
    .delta = delta,
    .rdp = rdp,
    .zcdp = zcdp,
};
