/* federated_frank_wolfe_plan_blocks.c -- parties with sets of their own: the objective's set is their product in the
 * order of the parties, and each factor goes into a party's terms as numbers (wire/block.h).
 * Depends on: federated_frank_wolfe_plan.h, geometry/algebra.  Used by: federated_frank_wolfe_plan.c. */
#include <math.h>

#include "core/alloc.h"
#include "federated/solver/federated_frank_wolfe_plan.h"
#include "federated/wire/block.h"
#include "geometry/algebra/set_algebra.h"

/* The part of the set that the columns of party k are in. */
static pn_status slice_of(pn_set **out, const fed_work *at, size_t k, pn_err *err)
{
    size_t first = 0;
    pn_err why;
    pn_status status;

    for (size_t i = 0; i < k; i++)
        first += (size_t)at->plan->terms[i].columns;
    status = pn_set_slice(out, pn_objective_set(at->objective), first, (size_t)at->plan->terms[k].columns, &why);
    if (status == PN_OK)
        return PN_OK;
    return pn_fail(err, status,
                   "the set must be a product of one set for each party; of party %zu, %.300s; use "
                   "A:product(B) of sets of the parties' columns, or an l1_ball",
                   k + 1, why.message);
}

/* What a vertex of it is made of, and its numbers; choices are made of these, as parties see them. */
static pn_status write_block(fed_work *at, size_t k, const pn_set *set, pn_err *err)
{
    fed_plan *plan = at->plan;
    pn_terms *terms = &plan->terms[k];
    pn_choices *choices = NULL;
    pn_err why;
    pn_status status = pn_choices_new(&choices, set, plan->base.owner, &why);

    pn_choices_free(choices);
    if (status == PN_EUNSUPPORTED)
        return pn_fail(err, status,
                       "party %zu would move over %s; parties know l1 balls, simplices, boxes, hypersimplices, lists "
                       "of vertices, and sums, products and images of these",
                       k + 1, set->ops->name);
    if (status != PN_OK)
        return pn_fail(err, status, "%s", why.message);
    PN_TRY(pn_block_write(&terms->block, &terms->block_size, set, err));
    return pn_block_open(&plan->choices[k], &plan->width[k], terms->block, terms->block_size, (size_t)terms->columns,
                         err);
}

static pn_status take_block(fed_work *at, size_t k, const pn_set *set, pn_err *err)
{
    fed_plan *plan = at->plan;
    pn_terms *terms = &plan->terms[k];

    PN_TRY(write_block(at, k, set, err));
    terms->radius = set->ops->radius(set, PN_L1);
    at->choices += sqrt(plan->choices[k]->squares[PN_L1]) * plan->choices[k]->loss;
    return PN_OK;
}

static pn_status take_all(fed_work *at, pn_set *const *sets, pn_err *err)
{
    fed_plan *plan = at->plan;

    plan->choices = pn_calloc(plan->parties, sizeof(pn_choices *));
    plan->width = pn_calloc(plan->parties, sizeof *plan->width);
    PN_TRY(pn_made(plan->choices && plan->width, err, "out of memory for %zu parties", plan->parties));
    for (size_t k = 0; k < plan->parties; k++)
        PN_TRY(take_block(at, k, sets[k], err));
    return PN_OK;
}

/* They can sample columns, and their selections are priced as what they are. */
static bool take_balls(fed_work *at, pn_set *const *sets)
{
    double radius = 0.0;

    for (size_t k = 0; k < at->plan->parties; k++) {
        if (!pn_set_is(sets[k], "l1_ball", &radius))
            return false;
        at->plan->terms[k].radius = radius;
    }
    return true;
}

static pn_status take_sets(fed_work *at, pn_set *const *sets, pn_err *err)
{
    at->choices = 0.0;
    if (!take_balls(at, sets))
        PN_TRY(take_all(at, sets, err));
    at->reach = 0.0;
    for (size_t k = 0; k < at->plan->parties; k++)
        at->reach += at->plan->terms[k].radius;
    at->radius = at->reach;
    if (isfinite(at->reach) && at->reach > 0.0)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "the set must be bounded and more than the origin, its l1 radius is %g",
                   at->reach);
}

pn_status fed_read_blocks(fed_work *at, pn_err *err)
{
    size_t parties = at->plan->parties;
    pn_set **sets = pn_calloc(parties, sizeof *sets);
    pn_status status = pn_made(sets, err, "out of memory for %zu parties", parties);

    for (size_t k = 0; status == PN_OK && k < parties; k++)
        status = slice_of(&sets[k], at, k, err);
    if (status == PN_OK)
        status = take_sets(at, sets, err);
    for (size_t k = 0; sets && k < parties; k++)
        pn_set_free(sets[k]);
    pn_free(sets);
    return status;
}
