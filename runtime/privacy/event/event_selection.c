/* event_selection.c -- the best of a secret number of runs of one mechanism.
 * Depends on: event_leaf.h, base_curve.h, stopping.h, pair.h, numeric/root.h.  Used by: the table in event.c.
 *
 * A run of the base Q draws a configuration by a public law, fits it and scores the fit; configuration, fit and score
 * together are its output y, and Q is private as a whole.  K runs are made, and the y of the best score is told; ties
 * are broken by fresh coins, so outputs are ordered totally.  With f the generating function of K
 *     A(y) = Q(y) E f'(q),    q = Q(< y) + s Q(y) the probability of an event, s uniform.
 *
 * K of a truncated negative binomial law has f'(q) = m (gamma/u)^(1 + eta), u = gamma + (1 - gamma)(1 - q), m = E K.
 * Let eps1 > 0 be the root of
 *     gamma (e^eps1 - 1) = (1 - gamma) delta_Q(eps1).
 * For the same event under the neighbour u' - e^eps1 u = (1 - gamma)[(1 - q') - e^eps1 (1 - q)] - gamma (e^eps1 - 1)
 * <= (1 - gamma) delta_Q(eps1) - gamma (e^eps1 - 1) = 0: so u' <= e^eps1 u, f'(q)/f'(q') <= e^e, e = (1 + eta) eps1,
 * and f' <= m as u >= gamma.  From this, in both directions,
 *     profile   A(S) - e^eps A'(S) <= E f'(q) (Q - e^(eps - e) Q')_+    delta_A(eps) <= m delta_Q(eps - e),
 *     Renyi     A^l A'^(1-l) <= E f'^l f''^(1-l) Q^l Q'^(1-l), convex   eps_A(l) <= eps_Q(l) + e + ln(m)/(l - 1),
 *     pure      A/A' <= e^e Q/Q'                                        eps0 + e, at most (2 + eta) eps0.
 * Papernot and Steinke's Theorem 2 has (1 + eta)[(1 - 1/l) eps_Q(l) + ln(1/gamma)/l] in place of e, for any l >= 1: it
 * is the smaller one at times where delta_Q is a conversion of Renyi divergences.
 *
 * Known target (Liu and Talwar's second algorithm): runs until a score reaches a public one, given up after each other
 * run with probability gamma.  The law of what is told is Q(y) w(y)/u, w = 1 or gamma, all that failed being one y, and
 * gamma <= u <= 1: the same with e = eps1 and m = 1/gamma.
 *
 * Poisson K: f'(q) = m e^(m (q - 1)); Theorem 6 of Papernot and Steinke, with P(K = 0) = e^-m, a term by itself:
 *     eps_A(l) = ln(e^-m + e^((l - 1) x))/(l - 1),    x = eps_Q(l) + m delta_Q(ln(l/(l - 1))) + ln(m)/(l - 1).
 *
 * Noise as drawn.  Q as drawn has densities within e^(+-s/2) of the ideal ones but for a tail t: its 1 - q lies between
 * e^(-s/2) (1 - q - t) and e^(s/2) (1 - q), its u between e^(-s/2) (1 - t/gamma) u and e^(s/2) u, so that the densities
 * of A as drawn are within e^(+-s/2 (2 + eta)) (1 - t/gamma)^-(1 + eta) of the ideal ones; where those of Q fail, which
 * has probability t, those of A do with at most m t, for f' <= m. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "numeric/root.h"
#include "privacy/event/base_curve.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/pair_event.h"
#include "privacy/event/stopping.h"

enum { EVENT, LAW, MEAN, ETA };

#define ROOT_USUAL 0x1p-30 /* few roots are smaller */

typedef struct selection {
    pn_event base;
    pn_event *inner;
    pn_stopping law;
    double exponent; /* of u in f': 1 + eta; 1 for a known target */
    double e;        /* exponent * eps1, or m delta_Q(0) of a Poisson law, upward: a bound on |ln f'(q)/f'(q')| */
    double renyi_e;  /* that or Theorem 2's, the smaller one */
    double pure;     /* total pure epsilon; inf for none */
    double order;    /* where the bound on Renyi divergence is least; below it that of this order holds, too */
    double chord;    /* of the pair: see below */
    pn_base_curve curve;
} selection;

static const selection *of(const pn_event *self)
{
    return (const selection *)self;
}

/* ---- the theorem's numbers ---- */

/* gamma (exp(epsilon) - 1) - (1 - gamma) delta_Q(epsilon), which rises with epsilon, and its secant through the last
 * two points that were asked for. */
typedef struct root_search {
    const selection *s;
    double epsilon, excess;
} root_search;

static double excess(void *self, double epsilon, double *slope)
{
    root_search *search = self;
    double gamma = search->s->law.gamma;
    double value = gamma * expm1(epsilon) - (1.0 - gamma) * pn_base_delta(&search->s->curve, epsilon);

    *slope = (value - search->excess) / (epsilon - search->epsilon);
    search->epsilon = epsilon;
    search->excess = value;
    return value;
}

static bool past_root(void *self, double epsilon)
{
    double slope;

    return excess(self, epsilon, &slope) > 0.0;
}

/* delta_Q <= 1, so the root is at most ln(1/gamma).  Where rounding leaves the search below the root, every double is
 * in question. */
static double root(selection *s)
{
    root_search search = { s, NAN, NAN };
    double low = past_root(&search, ROOT_USUAL) ? 0.0 : ROOT_USUAL, high = s->law.x + 1.0;
    double at = pn_newton(excess, &search, low, high) * (1.0 + 0x1p-40) + 1e-300;

    if (!past_root(&search, at))
        at = pn_bisect(past_root, &search, low, high) * (1.0 + 0x1p-40) + 1e-300;
    return PN_MUTANT("selection_root_low") ? 0.8 * at : at;
}

static double theorem_2(const selection *s)
{
    double least = s->law.x; /* at l = 1 */

    for (int i = 0; i < PN_BASE_ORDERS; i++) {
        double l = s->curve.orders[i];

        least = fmin(least, (1.0 - 1.0 / l) * s->curve.divergences[i] + s->law.x / l);
    }
    return s->exponent * least * (1.0 + 0x1p-40);
}

/* ---- Renyi divergence ---- */

static double poisson_rdp(const selection *s, double alpha)
{
    double m = s->law.mean, a = alpha - 1.0;
    double x = a * (pn_base_rdp(s->inner, alpha) + m * pn_base_delta(&s->curve, log1p(1.0 / a))) + log(m);
    double high = fmax(x, -m), low = fmin(x, -m);

    return pn_nonnegative((high + log1p(exp(low - high))) / a * (1.0 + 0x1p-40));
}

/* The theorem's bound, which grows without end as alpha falls to 1. */
static double bound(const selection *s, double alpha)
{
    if (s->law.kind == PN_STOP_POISSON)
        return poisson_rdp(s, alpha);
    return pn_base_rdp(s->inner, alpha) + s->renyi_e + log(s->law.mean) / (alpha - 1.0) * (1.0 + 0x1p-50);
}

static double bound_at(void *self, double log_excess)
{
    return bound(self, 1.0 + exp(log_excess));
}

/* Divergences grow with their order: whatever order this is, its bound holds for all lower ones. */
static double least_order(selection *s)
{
    size_t best = 0;
    double low, high;

    for (size_t i = 1; i < PN_BASE_ORDERS; i++)
        if (bound(s, s->curve.orders[i]) < bound(s, s->curve.orders[best]))
            best = i;
    low = log(s->curve.orders[best > 0 ? best - 1 : 0] - 1.0);
    high = log(s->curve.orders[best + 1 < PN_BASE_ORDERS ? best + 1 : best] - 1.0);
    return 1.0 + exp(pn_golden_min(bound_at, s, low, high, 1e-9));
}

static double rdp(const pn_event *self, double alpha)
{
    const selection *s = of(self);
    double value;

    if (isinf(alpha))
        return s->pure;
    value = bound(s, fmax(alpha, s->order));
    return isfinite(s->pure) ? fmin(value, pn_curve_pure(s->pure, alpha)) : value;
}

static void find_numbers(selection *s)
{
    s->exponent = s->law.kind == PN_STOP_KNOWN_TARGET ? 1.0 : 1.0 + s->law.eta;
    pn_base_curve_read(&s->curve, s->inner);
    if (s->law.kind == PN_STOP_POISSON) {
        s->e = s->renyi_e = s->law.mean * pn_base_delta(&s->curve, 0.0) * (1.0 + 0x1p-40);
    } else {
        s->e = s->exponent * root(s);
        s->renyi_e = fmin(s->e, theorem_2(s));
    }
    s->pure = pn_base_rdp(s->inner, INFINITY) + s->e;
    s->order = least_order(s);
}

static double zcdp(const pn_event *self)
{
    return of(self)->pure * of(self)->pure / 2.0;
}

/* ---- the profile of Gaussian noise as a pair ----
 *
 * delta_A(eps) <= m delta_Q(eps - e) in both directions, delta_A(-eps) = 1 - e^-eps (1 - delta_A(eps)) of the other
 * direction, and delta_A is convex in e^eps.  The largest convex function below these bounds is one of a pair: for
 * losses above c it has the tails m P(L > l - e) and m e^-e Q(L > l - e), below -c the mirror image, and none between,
 * where c >= 0 is where the two tails sum to 1 (the chord from c to -c is tangent at both ends), or 0 with what is
 * missing at the loss 0. */

enum { MU, FACTOR, SHIFT, CHORD };

static void upper_tails(const double *parameters, double loss, double *p, double *q)
{
    double mu = parameters[MU], at = (loss - parameters[SHIFT]) / mu;

    *p = parameters[FACTOR] * 0.5 * erfc((at - mu / 2.0) / sqrt(2.0));
    *q = parameters[FACTOR] * exp(-parameters[SHIFT]) * 0.5 * erfc((at + mu / 2.0) / sqrt(2.0));
}

static void selected_tails(const pn_pair *self, double loss, pn_tails *out)
{
    const double *parameters = self->parameters;
    double at = fmax(fabs(loss), parameters[CHORD]), p, q;
    pn_tails above;

    upper_tails(parameters, at, &p, &q);
    if (at <= parameters[CHORD] && parameters[CHORD] > 0.0) /* whose double may be beyond all of p */
        p = fmax(p, 1.0 - q);
    above = (pn_tails){ .p_below = 1.0 - p, .q_below = 1.0 - q, .p_above = p, .q_above = q };
    if (loss >= -parameters[CHORD] && (loss >= 0.0 || parameters[CHORD] > 0.0))
        *out = above;
    else
        *out = (pn_tails){ above.q_above, above.p_above, above.q_below, above.p_below };
}

static bool within_one(void *self, double loss)
{
    double p, q;

    upper_tails(self, loss, &p, &q);
    return p + q <= 1.0;
}

static double find_chord(const selection *s)
{
    double parameters[4] = { s->curve.mu, s->law.mean, s->e, 0.0 }, high = 1.0;

    if (within_one(parameters, 0.0))
        return 0.0;
    while (!within_one(parameters, high))
        high *= 2.0;
    return nextafter(pn_bisect(within_one, parameters, 0.0, high), INFINITY);
}

/* What is attained is the base by itself: a score may be a coin. */
static size_t pairs(const pn_event *self, bool attained, pn_pair out[2])
{
    const selection *s = of(self);

    if (attained)
        pn_pair_gaussian(&out[0], s->curve.mu * (1.0 - 0x1p-39));
    else
        out[0] = (pn_pair){ .tails = selected_tails,
                            .low = -INFINITY,
                            .high = INFINITY,
                            .parameters = { s->curve.mu, s->law.mean, s->e, s->chord } };
    return 1;
}

/* ---- noise as drawn ---- */

static pn_slack slack(const pn_event *self)
{
    const selection *s = of(self);
    pn_slack one = pn_event_slack(s->inner, 1), all;
    double m = s->law.mean;

    if (s->law.kind == PN_STOP_POISSON)
        all.epsilon = one.epsilon + 2.0 * m * (expm1(one.epsilon / 2.0) + one.tail);
    else
        all.epsilon =
            (1.0 + s->exponent) * one.epsilon - 2.0 * s->exponent * log1p(-fmin(1.0, one.tail / s->law.gamma));
    all.tail = m * one.tail;
    all.window = m * one.window;
    return all;
}

/* ---- making one ---- */

static const pn_event_ops gaussian_selection_ops;

static pn_status check(const pn_event *inner, pn_neighbours neighbours, const pn_arg *args, pn_err *err)
{
    bool needs = args[LAW].count == PN_STOP_NEGATIVE_BINOMIAL;

    if (inner->neighbours != neighbours)
        return pn_fail(err, PN_EPRIVACY,
                       "event.selection: the inner event is for \"%s\" neighbours, the selection for \"%s\"; make both "
                       "for the same relation",
                       pn_neighbours_names[inner->neighbours], pn_neighbours_names[neighbours]);
    if (args[ETA].given != needs)
        return pn_fail(err, PN_EINVAL,
                       needs ? "event.selection: the law negative_binomial needs eta, above -1; 1 is geometric, 0 "
                               "logarithmic"
                             : "event.selection: eta belongs to the law negative_binomial, got it with %s",
                       pn_stopping_names[args[LAW].count]);
    if (pn_event_own_delta(inner, 1) > 0.0)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "event.selection: the inner event has a delta of its own, which selection has no proof for; give "
            "its events themselves");
    return PN_OK;
}

static void destroy(pn_event *self)
{
    pn_event_free(((selection *)self)->inner);
    pn_free(self);
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_event *inner = (pn_event *)(size_t)args[EVENT].object; /* shared by counting, which is no change that is seen */
    pn_stopping law;
    selection *s;

    *out = NULL;
    PN_TRY(check(inner, neighbours, args, err));
    PN_TRY(pn_stopping_make(&law, (pn_stopping_kind)args[LAW].count, args[MEAN].real, args[ETA].real, "event.selection",
                            err));
    PN_TRY(pn_new_zeroed(&s, 1, err, "event.selection: out of memory"));
    s->base = (pn_event){ &pn_event_selection_ops, neighbours, 1 };
    s->inner = pn_event_keep(inner);
    s->law = law;
    find_numbers(s);
    if (!isnan(s->curve.mu) && law.kind != PN_STOP_POISSON) {
        s->base.ops = &gaussian_selection_ops;
        s->chord = find_chord(s);
    }
    *out = &s->base;
    return PN_OK;
}

/* ---- the row ---- */

static void arguments(const pn_event *self, pn_arg *args)
{
    const selection *s = of(self);

    args[EVENT] = (pn_arg){ .given = true, .object = s->inner };
    args[LAW] = (pn_arg){ .given = true, .text = pn_stopping_names[s->law.kind], .count = (size_t)s->law.kind };
    args[MEAN] = (pn_arg){ .given = true, .real = s->law.mean };
    args[ETA] = (pn_arg){ .given = s->law.kind == PN_STOP_NEGATIVE_BINOMIAL, .real = s->law.eta };
}

static void describe(const pn_event *self, char *text, size_t size)
{
    const selection *s = of(self);
    char inner[320], mean[32], eta[48] = "", number[32];

    pn_event_describe(s->inner, inner, sizeof inner);
    pn_shortest(s->law.mean, mean, sizeof mean);
    pn_shortest(s->law.eta, number, sizeof number);
    if (s->law.kind == PN_STOP_NEGATIVE_BINOMIAL)
        (void)snprintf(eta, sizeof eta, ", eta=%s", number);
    (void)snprintf(text, size, "selection(%s, %s, mean=%s%s)", inner, pn_stopping_names[s->law.kind], mean, eta);
}

static const char *const event_class[] = { "pn.event", NULL };

static const pn_param params[] = {
    { "event", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_class,
      "one run: its fit and its score, for the worst configuration" },
    { "law", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_stopping_names, "law of the secret number of runs" },
    { "mean", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 10.0, NULL,
      "expected number of runs, above 1; of a known target 1/gamma, the most that it can be" },
    { "eta", PN_REAL, PN_OPTIONAL, PN_ANY, 1.0, NULL, "of the law negative_binomial, above -1" },
    PN_PARAM_END,
};

#define SELECTION                                                                                                      \
    .name = "selection",                                                                                               \
    .doc = "The best, by a score that each run releases, of a secret number of independent runs of the inner event: "  \
           "private selection with random stopping. Every run draws its configuration by the same public law; only "   \
           "the winner's configuration, fit and score are told, never the number of runs. Renyi divergence: the "      \
           "inner one, + (1 + eta) eps1 + ln(mean)/(alpha - 1), with eps1 the root of gamma (e^eps1 - 1) = (1 - "      \
           "gamma) delta(eps1), or what Theorem 2 of the source gives; of an inner pure epsilon, which is added to "   \
           "(1 + eta) eps1, also a pure one. Of Gaussian noise there is a loss distribution as well, with delta(eps) " \
           "= mean times the inner delta(eps - (1 + eta) eps1), which accountant.pld takes. A number of runs that is " \
           "fixed, or known to anyone, costs all runs: use event.repeated.",                                           \
    .source = "Liu, Talwar (2019); Papernot, Steinke (2022), Lemma 7, Theorems 2 and 6; Koskela, Redberg, Wang "       \
              "(2024); the root is derived beside the code",                                                           \
    .params = params, .create = create, .destroy = destroy, .args = arguments, .rdp = rdp, .zcdp = zcdp,               \
    .describe = describe, .slack = slack

const pn_event_ops pn_event_selection_ops = { SELECTION };

static const pn_event_ops gaussian_selection_ops = { SELECTION, .pairs = pairs };
