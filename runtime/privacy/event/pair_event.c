/* pair_event.c -- which loss pair belongs to which event.
 * Depends on: pair_event.h, event_leaf.h, event_sampled.h.  Used by: the tables in event_*.c.
 *
 * `attained` differs from the dominating pair for the exponential mechanism alone: its envelope is no mechanism, the
 * pair with losses e/2 and -e/2 is one (two candidates).  The pairs of 4b and of the pure bounds are attained at every
 * single hockey stick, in one release; several releases may be a little better than their composition. */
#include <math.h>

#include "privacy/event/event_leaf.h"
#include "privacy/event/event_sampled.h"
#include "privacy/event/pair_event.h"

static double level(const pn_event *event)
{
    return ((const pn_leaf *)event)->level;
}

/* level = mu^2/2, which rounds; the parameters themselves do not. */
size_t pn_pairs_gaussian(const pn_event *event, bool attained, pn_pair pairs[2])
{
    const pn_leaf *leaf = (const pn_leaf *)event;

    (void)attained;
    pn_pair_gaussian(&pairs[0], pn_quotient_up(leaf->values[1], leaf->values[0]));
    return 1;
}

size_t pn_pairs_laplace(const pn_event *event, bool attained, pn_pair pairs[2])
{
    (void)attained;
    pn_pair_laplace(&pairs[0], level(event));
    return 1;
}

size_t pn_pairs_pure(const pn_event *event, bool attained, pn_pair pairs[2])
{
    (void)attained;
    pn_pair_pure(&pairs[0], level(event));
    return 1;
}

size_t pn_pairs_exponential(const pn_event *event, bool attained, pn_pair pairs[2])
{
    if (attained)
        pn_pair_pure(&pairs[0], level(event) / 2.0);
    else
        pn_pair_bounded_range(&pairs[0], level(event));
    return 1;
}

static bool is_poisson_replace(const pn_sampled *s)
{
    return s->batch == 0 && s->base.neighbours == PN_REPLACE_ONE;
}

size_t pn_pairs_sampled(const pn_event *event, bool attained, pn_pair pairs[2])
{
    const pn_sampled *s = pn_event_sampled(event);

    (void)attained;
    if (s->q == 0.0)
        return 0;
    if (s->q == 1.0 && !s->gaussian)
        return s->inner->ops->pairs(s->inner, attained, pairs);
    if (!s->gaussian)
        pn_pair_pure(&pairs[0], s->level);
    else if (s->q == 1.0)
        pn_pair_gaussian(&pairs[0], (is_poisson_replace(s) ? 2.0 : 1.0) / s->level);
    else if (s->batch > 0)
        pn_pair_fixed(&pairs[0], s->q, s->level);
    else if (is_poisson_replace(s))
        pn_pair_poisson_replace(&pairs[0], s->q, s->level);
    else
        pn_pair_poisson(pairs, s->q, s->level);
    return s->gaussian && s->q < 1.0 && s->batch == 0 && !is_poisson_replace(s) ? 2 : 1;
}
