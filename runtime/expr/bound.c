/* bound.c -- the extremes of an expression over domains: the worst of its cases.
 * Depends on: bound_impl.h.  Used by: bound.h's callers, bound_shape.c. */
#include <math.h>
#include <string.h>

#include "expr/bound_impl.h"
#include "expr/formula.h"

#define BOXES_PER_CASE 1000

/* The extremes over two parts of a domain. */
static void join(pn_span *all, const pn_span *part)
{
    pn_interval least = all->range.min, most = all->range.max;

    all->range.min = (pn_interval){ fmin(least.low, part->range.min.low), fmin(least.high, part->range.min.high) };
    all->range.max = (pn_interval){ fmax(most.low, part->range.max.low), fmax(most.high, part->range.max.high) };
    all->range.boxes += part->range.boxes;
    if (part->why[0] && (!all->why[0] || (part->undefined && !all->undefined)))
        memcpy(all->why, part->why, sizeof all->why);
    all->undefined = all->undefined || part->undefined;
}

/* A case that is far from the extremes need not have converged. */
static bool is_close(const pn_extremes *range)
{
    double scale = fmax(fabs(range->min.high), fabs(range->max.low));

    return range->max.high - range->max.low <= PN_BOUND_TOLERANCE * scale &&
           range->min.high - range->min.low <= PN_BOUND_TOLERANCE * scale;
}

pn_status pn_bound_span(pn_span *out, const pn_graph *graph, pn_node root, const pn_domain *domains, pn_task *task,
                        pn_err *err)
{
    pn_span all = { .undefined = false };
    unsigned needed;
    size_t cases, limit;

    if (pn_case_needs(&needed, graph, root, err) != PN_OK)
        return PN_ENOMEM;
    cases = pn_case_count(graph, needed, domains);
    limit = PN_BOUND_BOXES / cases;
    for (size_t i = 0; i < cases; i++) {
        pn_case one;
        pn_span span;
        pn_status status;

        PN_TRY(pn_case_open(&one, graph, root, needed, domains, i, task, err));
        status = pn_search(&span, &one, limit > BOXES_PER_CASE ? limit : BOXES_PER_CASE, task, err);
        span.range.boxes += one.boxes;
        pn_case_close(&one);
        if (status != PN_OK)
            return status;
        if (i == 0)
            all = span;
        else
            join(&all, &span);
    }
    all.range.converged = is_close(&all.range);
    *out = all;
    return PN_OK;
}

pn_status pn_bound_range(pn_extremes *out, pn_graph *graph, pn_node root, const pn_domain *domains, pn_task *task,
                         pn_err *err)
{
    pn_status status = pn_graph_status(graph, err);
    pn_span span;

    if (status == PN_OK)
        status = pn_bound_check(graph, domains, err);
    if (status == PN_OK)
        status = pn_bound_span(&span, graph, root, domains, task, err);
    if (status != PN_OK)
        return status;
    if (span.undefined)
        return pn_fail(err, PN_EDOMAIN, "bound: %s", span.why);
    if (isinf(span.range.min.low) || isinf(span.range.max.high))
        return pn_fail(err, PN_EUNSUPPORTED, "bound: %s", span.why);
    *out = span.range;
    return PN_OK;
}

/* As one expression of x and u, so that what both values have in common is known to be the same.  Where f rises the
 * search need not know how far. */
pn_status pn_bound_fall(double *out, const pn_graph *graph, pn_node root, unsigned moving, const pn_domain *domains,
                        pn_task *task, pn_err *err)
{
    pn_node start[PN_BOUND_VARS_MAX], at, fall;
    pn_extremes range;
    pn_graph *own;
    pn_status status;

    PN_TRY(pn_bound_check(graph, domains, err));
    PN_TRY(pn_bound_copy(&own, &at, graph, root, err));
    for (unsigned v = 0; v < pn_graph_variables(own); v++)
        start[v] = v < moving ? pn_x_const(own, 0.0) : PN_NODE_NONE;
    fall = pn_x_sub(own, pn_graph_substitute(own, at, start), at);
    status = pn_bound_range(&range, own, pn_x_max(own, fall, pn_x_const(own, 0.0)), domains, task, err);
    pn_graph_free(own);
    if (status == PN_OK)
        *out = range.max.high;
    return status;
}
