/* pld_single.c -- delta(epsilon) = P(L > epsilon) - exp(epsilon) Q(L > epsilon), from the tails themselves.
 * Depends on: pld_single.h, gaussian.h, pair_event.h, numeric/root.h.  Used by: pld.c. */
#include <math.h>

#include "numeric/root.h"
#include "privacy/accounting/pld_single.h"
#include "privacy/event/event_curve.h"
#include "privacy/event/gaussian.h"
#include "privacy/event/pair_event.h"

/* Relative error of a tail, and of the difference of two in terms of the larger. */
#define TAIL_ERROR     0x1p-44
#define GAUSSIAN_ERROR 4e-12
#define GREAT_LOSS     700.0

/* The value and what it may be off by. */
static double pair_delta(const pn_pair *pair, double epsilon, bool mirrored, double *error)
{
    double mu = pn_pair_gaussian_mu(pair), p, q;
    pn_tails t;

    if (mu > 0.0) {
        double value = pn_gaussian_delta(mu, epsilon);

        *error = GAUSSIAN_ERROR * value;
        return value;
    }
    pair->tails(pair, mirrored ? -epsilon : epsilon, &t);
    p = mirrored ? t.q_below : t.p_above;
    q = mirrored ? t.p_below : t.q_above;
    *error = TAIL_ERROR * p;
    return epsilon > GREAT_LOSS ? p : pn_nonnegative(p - exp(epsilon) * q);
}

static double worst(const pn_pair *pair, bool two_directions, double epsilon, double sign)
{
    double error, value = pair_delta(pair, epsilon, false, &error);

    value = fmin(1.0, pn_nonnegative(value + sign * error));
    if (two_directions) {
        double other = pair_delta(pair, epsilon, true, &error);

        value = fmax(value, fmin(1.0, other + sign * error));
    }
    return value;
}

pn_pld_bounds pn_pld_single_delta(const pn_pld_record *record, double epsilon)
{
    return (pn_pld_bounds){ .low = worst(&record->attained, record->two_directions, epsilon, -1.0),
                            .high = worst(&record->dominating, record->two_directions, epsilon, 1.0) };
}

typedef struct search {
    const pn_pair *pair;
    bool two_directions;
    double sign, delta;
} search;

static bool enough(void *self, double epsilon)
{
    const search *s = self;

    return worst(s->pair, s->two_directions, epsilon, s->sign) <= s->delta;
}

/* The last epsilon that is not enough, or the first one that is. */
static double boundary(const pn_pld_record *record, double delta, bool upper)
{
    search s = { upper ? &record->dominating : &record->attained, record->two_directions, upper ? 1.0 : -1.0, delta };
    double top = 1.0, at;

    if (enough(&s, 0.0))
        return 0.0;
    while (top < 1e300 && !enough(&s, top))
        top *= 2.0;
    if (top >= 1e300)
        return upper ? INFINITY : 0.0;
    at = pn_bisect(enough, &s, 0.0, top);
    return upper ? at * (1.0 + 0x1p-50) + 1e-300 : at * (1.0 - 0x1p-50);
}

pn_pld_bounds pn_pld_single_epsilon(const pn_pld_record *record, double delta)
{
    return (pn_pld_bounds){ .low = boundary(record, delta * (1.0 + PN_PLD_SHARE), false),
                            .high = boundary(record, delta, true) };
}
