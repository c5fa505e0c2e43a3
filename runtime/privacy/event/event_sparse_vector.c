/* event_sparse_vector.c -- one run of the sparse vector technique: a noisy threshold, an adaptive stream of queries, at
 * most `answers` times "above".  Depends on: event_leaf.h.  Used by: the table in event.c.
 * See accounting.md section 2.
 *
 * The threshold's noise is drawn once, so the run is one mechanism whose only proven bound is its total epsilon; how
 * many queries were asked and how epsilon was split does not matter. */
#include "privacy/event/event_leaf.h"
#include "privacy/event/pair_event.h"

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    return pn_leaf_new(out, &pn_event_sparse_vector_ops, args, args[0].real, neighbours, err);
}

static double rdp(const pn_event *self, double alpha)
{
    return pn_curve_pure(((const pn_leaf *)self)->level, alpha);
}

static double zcdp(const pn_event *self)
{
    double epsilon = ((const pn_leaf *)self)->level;

    return pn_product_up(epsilon, epsilon) / 2.0;
}

static const pn_param params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "total of the whole run" },
    { "answers", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "the run ends when it has said \"above\" so often" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_sparse_vector_ops = {
    .name = "sparse_vector",
    .doc =
        "One run of above-threshold over any number of adaptive queries, until it has said \"above\" `answers` times: "
        "epsilon-DP in total for the event's neighbours, charged as any pure mechanism. Only the comparisons are "
        "published; a number for a positive query is another release.",
    .source = "Lyu, Su, Li (2017); Dwork, Roth (2014), Algorithm 2",
    .params = params,
    .create = create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = pn_leaf_describe,
    .pairs = pn_pairs_pure,
};

pn_status pn_event_sparse_vector(pn_event **out, double epsilon, size_t answers, pn_neighbours n, pn_err *err)
{
    pn_arg args[3] = { { .given = true, .real = epsilon }, { .given = true, .count = answers }, { 0 } };

    return pn_event_from_args(out, "sparse_vector", args, n, err);
}
