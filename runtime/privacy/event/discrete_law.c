/* discrete_law.c -- privacy losses of finitely many outcomes.
 * Depends on: discrete_law.h, event_curve.h, core/alloc.h.  Used by: event_loss.c.
 *
 * Renyi divergences.  With sums of 1, P never without Q and s = Q(never P)
 *     sum_i q_i exp(alpha l_i) - 1 = sum_i q_i [exp(alpha l_i) - 1 - alpha (exp(l_i) - 1)] + (alpha - 1) s,
 * terms >= 0 that do not cancel, however small the divergence is.
 *
 * Both orders.  Which neighbour has P may change from release to release, so releases that are composed are charged by
 * a pair that dominates P against Q and Q against P at once: its hockey stick is the larger of the two at every
 * exp(loss), convex as both are.  Its tails at a loss are those of the larger one there.  Where the two differ by
 * 2^-49 of a tail they count as equal, which is a relative error of P that pld.c charges. */
#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "privacy/event/discrete_law.h"
#include "privacy/event/event_curve.h"

#define SUM_TOLERANCE 1e-9
#define ROUNDING      0x1p-46 /* of a sum of probabilities: divided out */
#define LARGE         700.0   /* exp is a number up to here */
#define SAME          0x1p-49

static const char owner[] = "event.loss_distribution";

/* ---- sums ---- */

static double sum_of(const double *x, size_t n)
{
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < n; i++)
        pn_sum_add_one(&sum, x[i]);
    return sum.high;
}

/* *scale is what each is divided by, *missing what is an outcome by itself. */
static pn_status check_probabilities(double *scale, double *missing, const char *name, const double *x, size_t n,
                                     double rest, pn_err *err)
{
    double sum = sum_of(x, n) + rest;

    for (size_t i = 0; i < n; i++)
        if (!(x[i] >= 0.0))
            return pn_fail(err, PN_EINVAL, "%s: %s must hold probabilities >= 0, got %g at entry %zu", owner, name,
                           x[i], i + 1);
    if (!(fabs(sum - 1.0) <= SUM_TOLERANCE))
        return pn_fail(err, PN_EINVAL, "%s: %s must sum to 1%s within 1e-9, got %.12g; divide by the sum", owner, name,
                       rest > 0.0 ? ", with delta," : "", sum);
    *scale = sum > 1.0 - ROUNDING ? sum : 1.0;
    *missing = sum > 1.0 - ROUNDING ? 0.0 : 1.0 - sum;
    return PN_OK;
}

/* ---- making one ---- */

static int by_loss(const void *a, const void *b)
{
    double x = ((const pn_outcome *)a)->loss, y = ((const pn_outcome *)b)->loss;

    return (x > y) - (x < y);
}

static void merge_equal(pn_discrete_law *law)
{
    size_t kept = 0;

    for (size_t i = 1; i < law->n; i++) {
        if (law->outcomes[i].loss == law->outcomes[kept].loss) {
            law->outcomes[kept].p += law->outcomes[i].p;
            law->outcomes[kept].q += law->outcomes[i].q;
        } else {
            law->outcomes[++kept] = law->outcomes[i];
        }
    }
    law->n = kept + 1;
}

/* From both ends, so that the smaller of two tails has all its digits. */
static void fill_tails(pn_discrete_law *law)
{
    pn_sum p = { 0.0, 0.0 }, q = { law->q_infinite, 0.0 };

    for (size_t k = 0; k <= law->n; k++) {
        law->tails[k].p_below = p.high;
        law->tails[k].q_below = q.high;
        pn_sum_add_one(&p, k < law->n ? law->outcomes[k].p : 0.0);
        pn_sum_add_one(&q, k < law->n ? law->outcomes[k].q : 0.0);
    }
    p = (pn_sum){ law->p_infinite, 0.0 };
    q = (pn_sum){ 0.0, 0.0 };
    for (size_t k = law->n + 1; k-- > 0;) {
        law->tails[k].p_above = p.high;
        law->tails[k].q_above = q.high;
        pn_sum_add_one(&p, k > 0 ? law->outcomes[k - 1].p : 0.0);
        pn_sum_add_one(&q, k > 0 ? law->outcomes[k - 1].q : 0.0);
    }
}

static pn_status start(pn_discrete_law *out, size_t n, pn_err *err)
{
    if (n < 1 || n > PN_OUTCOMES_MAX)
        return pn_fail(err, PN_EDIM, "%s: there must be 1 to %d outcomes, got %zu", owner, PN_OUTCOMES_MAX, n);
    out->outcomes = pn_alloc(n, sizeof *out->outcomes);
    out->tails = pn_alloc(n + 1, sizeof *out->tails);
    return pn_made(out->outcomes && out->tails, err, "%s: out of memory for %zu outcomes", owner, n);
}

static pn_status finish(pn_discrete_law *out, pn_status status, pn_err *err)
{
    if (status == PN_OK && out->n == 0)
        status = pn_fail(err, PN_EINVAL,
                         "%s: the neighbours have no outcome in common, so nothing bounds the privacy loss", owner);
    if (status != PN_OK) {
        pn_discrete_clear(out);
        return status;
    }
    qsort(out->outcomes, out->n, sizeof *out->outcomes, by_loss);
    merge_equal(out);
    fill_tails(out);
    return PN_OK;
}

/* Near 1 the quotient has no digits left for its logarithm. */
static double log_ratio(double p, double q)
{
    return p < 2.0 * q && q < 2.0 * p ? log1p((p - q) / q) : log(p) - log(q);
}

pn_status pn_discrete_from_laws(pn_discrete_law *out, const double *p, const double *q, size_t n, pn_err *err)
{
    double p_scale = 1.0, q_scale = 1.0;
    pn_status status;

    *out = (pn_discrete_law){ .both = true };
    status = start(out, n, err);
    if (status == PN_OK)
        status = check_probabilities(&p_scale, &out->p_infinite, "p", p, n, 0.0, err);
    if (status == PN_OK)
        status = check_probabilities(&q_scale, &out->q_infinite, "q", q, n, 0.0, err);
    for (size_t i = 0; i < n && status == PN_OK; i++) {
        pn_outcome one = { 0.0, p[i] / p_scale, q[i] / q_scale };

        if (one.p > 0.0 && one.q > 0.0) {
            one.loss = log_ratio(one.p, one.q);
            out->outcomes[out->n++] = one;
        } else {
            out->p_infinite += one.p;
            out->q_infinite += one.q;
        }
    }
    return finish(out, status, err);
}

/* The law Q has the masses p exp(-loss), at most 1 together; what they lack has the loss -inf.  A sum above 1 by
 * rounding is divided out, which makes every loss larger. */
static pn_status complete(pn_discrete_law *law, pn_err *err)
{
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < law->n; i++)
        pn_sum_add_one(&sum, law->outcomes[i].q);
    if (!(sum.high <= 1.0 + SUM_TOLERANCE))
        return pn_fail(err, PN_EINVAL,
                       "%s: no mechanism has these losses: the sum of probability exp(-loss) must be at most 1, got "
                       "%.12g; losses are ln(p/q), and the probabilities are those under p",
                       owner, sum.high);
    if (sum.high < 1.0 - ROUNDING) {
        law->q_infinite = 1.0 - sum.high;
        return PN_OK;
    }
    for (size_t i = 0; i < law->n; i++) {
        law->outcomes[i].q /= sum.high;
        law->outcomes[i].loss += fmax(0.0, log(sum.high));
    }
    return PN_OK;
}

pn_status pn_discrete_from_losses(pn_discrete_law *out, const double *losses, const double *probabilities, size_t n,
                                  double delta, pn_err *err)
{
    double scale = 1.0, missing = 0.0;
    pn_status status;

    *out = (pn_discrete_law){ .both = false };
    status = start(out, n, err);
    if (status == PN_OK)
        status = check_probabilities(&scale, &missing, "probabilities", probabilities, n, delta, err);
    out->p_infinite = delta / scale + missing;
    for (size_t i = 0; i < n && status == PN_OK; i++) {
        double p = probabilities[i] / scale;

        if (p > 0.0)
            out->outcomes[out->n++] = (pn_outcome){ losses[i], p, exp(log(p) - losses[i]) };
    }
    if (status == PN_OK)
        status = complete(out, err);
    return finish(out, status, err);
}

void pn_discrete_clear(pn_discrete_law *law)
{
    pn_free(law->outcomes);
    pn_free(law->tails);
    *law = (pn_discrete_law){ 0 };
}

/* ---- Renyi divergences ---- */

/* Of P against Q, or with `turn` of Q against P: losses with their sign turned, and P and Q exchanged. */
static pn_outcome outcome_at(const pn_discrete_law *law, size_t i, bool turn)
{
    pn_outcome one = law->outcomes[i];

    return turn ? (pn_outcome){ -one.loss, one.q, one.p } : one;
}

static double greatest_loss(const pn_discrete_law *law, bool turn)
{
    return outcome_at(law, turn ? 0 : law->n - 1, turn).loss;
}

/* ln sum_i p_i exp((alpha - 1) l_i), with its rounding. */
static double log_moment(const pn_discrete_law *law, double alpha, bool turn)
{
    double a = alpha - 1.0, top = -INFINITY, error = 0.0;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < law->n; i++) {
        pn_outcome one = outcome_at(law, i, turn);

        top = fmax(top, log(one.p) + a * one.loss);
    }
    for (size_t i = 0; i < law->n; i++) {
        pn_outcome one = outcome_at(law, i, turn);
        double part = exp(log(one.p) + a * one.loss - top);

        if (part > 0.0)
            error = fmax(error, fabs(log(one.p)) + 3.0 * fabs(a * one.loss));
        pn_sum_add_one(&sum, part);
    }
    return top + log(sum.high) + 0x1p-50 * (error + fabs(top) + 1.0);
}

static double one_rdp(const pn_discrete_law *law, double alpha, bool turn)
{
    double a = alpha - 1.0, most = pn_nonnegative(greatest_loss(law, turn)), value;
    pn_sum sum = { a * (turn ? law->p_infinite : law->q_infinite), 0.0 };

    if ((turn ? law->q_infinite : law->p_infinite) > 0.0)
        return INFINITY;
    if (isinf(alpha))
        return most;
    if (alpha * most <= LARGE) {
        for (size_t i = 0; i < law->n; i++) {
            pn_outcome one = outcome_at(law, i, turn);

            /* q may be lost where p is not: then without the tangent, which is more */
            pn_sum_add_one(&sum, one.q < 1e-280 && one.loss > 0.0 ? one.p * exp(a * one.loss)
                                                                  : one.q * pn_above_tangent(alpha, one.loss));
        }
        value = log1p(sum.high) / a;
    } else {
        value = log_moment(law, alpha, turn) / a;
    }
    value += value * 1e-12 + 1e-300;
    return value < most ? value : most; /* also for NaN, of losses next to the largest double */
}

double pn_discrete_rdp(const pn_discrete_law *law, double alpha)
{
    double value = one_rdp(law, alpha, false);

    return law->both ? fmax(value, one_rdp(law, alpha, true)) : value;
}

/* Losses in an interval of length r: r^2/8 (event_pure.c, exponential); and D(alpha) <= max L <= alpha max L. */
double pn_discrete_zcdp(const pn_discrete_law *law)
{
    double range = law->outcomes[law->n - 1].loss - law->outcomes[0].loss;
    double most = pn_discrete_rdp(law, INFINITY);

    if (law->q_infinite > 0.0)
        return most;
    return fmin(most, isinf(most) ? INFINITY : range * range / 8.0 * (1.0 + 0x1p-50));
}

/* ---- pairs ---- */

/* How many losses are at most `loss`, or (strict) below it. */
static size_t count_to(const pn_discrete_law *law, double loss, bool strict)
{
    size_t low = 0, high = law->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double at = law->outcomes[middle].loss;

        if (at < loss || (!strict && at == loss))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void direct_tails(const pn_pair *self, double loss, pn_tails *out)
{
    const pn_discrete_law *law = self->law;

    *out = law->tails[count_to(law, loss, false)];
}

/* {L' <= loss} of the loss L' = -L of Q against P is {L >= -loss}. */
static void turned_tails(const pn_pair *self, double loss, pn_tails *out)
{
    const pn_discrete_law *law = self->law;
    const pn_tails *t = &law->tails[count_to(law, -loss, true)];

    *out = (pn_tails){ t->q_above, t->p_above, t->q_below, t->p_below };
}

/* The hockey stick at exp(loss), less max(0, 1 - exp(loss)); and the tail that its rounding is relative to. */
static double beyond(const pn_tails *t, double loss, double *tail)
{
    *tail = loss < 0.0 ? exp(loss) * t->q_below : t->p_above;
    if (loss < 0.0)
        return *tail - t->p_below;
    return loss > LARGE ? *tail : *tail - exp(loss) * t->q_above;
}

static void either_tails(const pn_pair *self, double loss, pn_tails *out)
{
    double here, there, tail, other;
    pn_tails turned;

    direct_tails(self, loss, out);
    turned_tails(self, loss, &turned);
    here = beyond(out, loss, &tail);
    there = beyond(&turned, loss, &other);
    if (there - here > SAME * fmax(tail, other))
        *out = turned;
}

/* Do the losses and masses of Q against P look like those of P against Q? */
static bool is_symmetric(const pn_discrete_law *law)
{
    for (size_t i = 0; i < law->n; i++) {
        pn_outcome one = law->outcomes[i], other = outcome_at(law, law->n - 1 - i, true);

        if (fabs(one.loss - other.loss) > SAME * fabs(one.loss) || fabs(one.p - other.p) > SAME * one.p)
            return false;
    }
    return fabs(law->p_infinite - law->q_infinite) <= SAME * law->p_infinite;
}

static pn_pair direct_pair(const pn_discrete_law *law)
{
    const pn_outcome *first = &law->outcomes[0], *last = &law->outcomes[law->n - 1];

    return (pn_pair){ .tails = direct_tails,
                      .low = first->loss,
                      .high = last->loss,
                      .p_infinite = law->p_infinite,
                      .q_infinite = law->q_infinite,
                      .law = law,
                      .p_high = law->n > 1 ? last->p : 0.0,
                      .atoms_only = law->n == 2 };
}

static pn_pair turned_pair(const pn_discrete_law *law)
{
    const pn_outcome *first = &law->outcomes[0], *last = &law->outcomes[law->n - 1];

    return (pn_pair){ .tails = turned_tails,
                      .low = -last->loss,
                      .high = -first->loss,
                      .p_infinite = law->q_infinite,
                      .q_infinite = law->p_infinite,
                      .law = law,
                      .p_high = law->n > 1 ? first->q : 0.0,
                      .atoms_only = law->n == 2 };
}

/* The same with P and Q exchanged. */
static pn_pair either_pair(const pn_discrete_law *law)
{
    const pn_outcome *first = &law->outcomes[0], *last = &law->outcomes[law->n - 1];
    double infinite = fmax(law->p_infinite, law->q_infinite), most = fmax(last->loss, -first->loss);

    return (pn_pair){
        .tails = either_tails, .low = -most, .high = most, .p_infinite = infinite, .q_infinite = infinite, .law = law
    };
}

size_t pn_discrete_pairs(const pn_discrete_law *law, bool attained, pn_pair pairs[2])
{
    const pn_outcome *first = &law->outcomes[0], *last = &law->outcomes[law->n - 1];
    bool finite = law->p_infinite == 0.0 && law->q_infinite == 0.0, symmetric = is_symmetric(law);

    if (finite && first->loss == 0.0 && last->loss == 0.0)
        return 0;
    if (finite && law->n == 2 && symmetric)
        pn_pair_pure(&pairs[0], fmax(last->loss, -first->loss));
    else
        pairs[0] = direct_pair(law);
    if (!law->both || symmetric)
        return 1;
    pairs[1] = turned_pair(law);
    if (!attained)
        pairs[0] = pairs[1] = either_pair(law);
    return 2;
}
