/* federated_frank_wolfe_plan_risk.c -- what a federated run is good for: the bound on its excess risk,
 * and the rounds that it favours.
 *
 * With p the least share of its columns that a party looks at, and C the full curvature
 * (every party moves every round, in a direction that depends on the gradient), E f(x_T) - f* <= 2 (h0 + C/p)/(p T + 2)
 * + e/p.  The parts of e, for ||x||_1 <= R and columns of l2 norm a:
 *   selections   sum_k (2 Delta_k/epsilon0) ln(candidates), and the best party's sigma_score Delta sqrt(2 ln K)
 *   features     2 R max_i |ghat_i - its value without noise|: q has sum_l x_l xi_l in it, and |<J a_i, sum_l x_l
 *                xi_l>| <= R max_il |<J a_i, xi_l>| whatever x was chosen with, a maximum of d F Gaussians
 *   sketch       2 R iota a^2 R/n
 * Delta needs B, a bound on |(J^T q)_j|, of which again the part of each column is looked at: x_l (J e_j)^T
 * (J a_l + xi_l).  Where that is above f(0) - f* it promises nothing, and an estimate takes its place, which is no
 * bound: margins clipped at 2 X R, columns of few entries that are not alike.  Measured
 * (examples/reproduce/federated/utility.lua), it finds about the best T for dense columns, too.
 * Depends on: federated_frank_wolfe_plan.h.  Used by: federated_frank_wolfe_plan.c.
 * See distributed-frank-wolfe.md sections 1 and 3. */
#include <math.h>

#include "federated/solver/federated_frank_wolfe_plan.h"

double fed_bound(double h0, double curvature, double p, double steps, double e)
{
    return 2.0 * (h0 + curvature / p) / (p * steps + 2.0) + e / p;
}

double fed_dense_column(const fed_work *at)
{
    return at->X * sqrt(at->n);
}

double fed_sparse_column(const fed_work *at)
{
    return at->X;
}

/* E of the largest of `count` standard Gaussians in size. */
static double largest_of(double count)
{
    return sqrt(2.0 * log(2.0 * count));
}

/* ---- margins ---- */

/* What the sketch adds to a margin: <J e_j, J a_l> off its diagonal is about Gaussian, ||J e_j|| a/sqrt(m). */
static double margin_sketch(const fed_work *at, double column_size)
{
    double norm = at->column_norm;

    if (at->identity)
        return 0.0;
    return at->reach * (norm * column_size / sqrt((double)at->shape.m) * largest_of(at->n * at->d) +
                        fabs(norm * norm - 1.0) * at->X);
}

static double margin_noise(const fed_work *at, double sigma, double features)
{
    return sigma > 0.0 ? at->reach * at->column_norm * sigma * largest_of(at->n * features) : 0.0;
}

/* ---- errors of the gradient ---- */

static double squared_noise(const fed_work *at, double sigma, double features, double column_size)
{
    double sketched = column_size * sqrt(1.0 + at->accuracy);

    return sigma > 0.0 ? at->reach * sigma * sketched * largest_of(at->d * features) / at->n : 0.0;
}

/* Slopes change by at most 1/4 of what margins do, and by at most 1; nothing of that averages out.  A dense column sees
 * the mean over records of |sum_l x_l xi_lj|, which is at most R times the largest mean of |xi_l|. */
static double logistic_noise(const fed_work *at, double sigma, double features, double column_size)
{
    double entries = column_size * column_size / (at->X * at->X); /* at most, each of size X */
    double change = margin_noise(at, sigma, features);

    if (sigma > 0.0 && entries > 0.999 * at->n && at->identity)
        change = at->reach * sigma * (sqrt(2.0 / acos(-1.0)) + sqrt(2.0 * log(features) / at->n));
    return at->X * entries / at->n * fmin(change / 4.0, 1.0);
}

static double sketch_error(const fed_work *at, double column_size)
{
    double entries = column_size * column_size / (at->X * at->X);

    if (at->identity)
        return 0.0;
    if (at->loss == PN_FEDERATED_LOGISTIC)
        return at->X * entries / at->n * fmin(margin_sketch(at, column_size) / 4.0, 1.0);
    return at->accuracy * column_size * column_size * at->reach / at->n;
}

/* ---- the bound ---- */

/* Delta of a party with radius 1. */
static double unit_sensitivity(const fed_work *at, double margin)
{
    return pn_release_entry_sensitivity(&at->plan->terms[0], margin);
}

static double score_error(const fed_work *at, double sigma)
{
    double K = at->parties;

    return sigma * at->reach * (at->plan->terms[0].stay ? sqrt(2.0 * K * log(2.0 * K)) : sqrt(2.0 * log(K)));
}

void fed_risk_at(const fed_work *at, const fed_noise *noise, double rounds, double column_size, fed_risk *out)
{
    double features = fed_most_features(at, rounds), clip = at->plan->terms[0].clip, sigma = noise->sigma_feature;
    bool logistic = at->loss == PN_FEDERATED_LOGISTIC;
    fed_risk risk = { .margin =
                          at->reach * at->X + margin_sketch(at, column_size) + margin_noise(at, sigma, features) };
    double unit;

    if (clip > 0.0)
        risk.margin = clip;
    unit = unit_sensitivity(at, risk.margin);
    if (noise->epsilon0 > 0.0)
        risk.selection = 2.0 * unit / noise->epsilon0 * at->choices;
    if (at->mode == PN_FEDERATED_BALL)
        risk.score = score_error(at, noise->sigma_score) * unit;
    risk.noise =
        2.0 * at->reach *
        (logistic ? logistic_noise(at, sigma, features, column_size) : squared_noise(at, sigma, features, column_size));
    risk.sketch = 2.0 * at->reach * sketch_error(at, column_size);
    risk.e = risk.selection + risk.score + risk.noise + risk.sketch;
    risk.bound = fed_bound(at->start_gap, at->curvature, at->plan->p, rounds, risk.e);
    /* The first step has length 1: where p = 1 nothing of h0 is left after it. */
    risk.estimate = fed_bound((1.0 - at->plan->p) * at->start_gap, at->unlike, at->plan->p, rounds, risk.e);
    *out = risk;
}

const char *fed_no_bound(const fed_work *at)
{
    if (at->mode == PN_FEDERATED_PAPER)
        return "x leaves the l1 ball, and noise is not accounted for as it acts";
    if (!isfinite(at->curvature))
        return "the curvature is unbounded";
    if (at->plan->p < 1.0 && !at->plan->terms[0].stay)
        return "without stay, sampled columns alone do not lead to the minimum";
    if (at->clips)
        return "clipped margins are not those of f; that of clip=0 promises nothing";
    if (at->plan->terms[0].clip > 0.0)
        return "clipped margins are not those of f";
    if (at->identity)
        return NULL;
    if (at->loss == PN_FEDERATED_LOGISTIC)
        return "slopes of sketched margins are not those of f; sketch.kind=\"identity\" has a bound";
    return at->accuracy < 1.0 ? NULL : "so few rows have no accuracy below 1 for all pairs of columns";
}

/* ---- rounds ---- */

typedef struct search {
    const fed_work *at;
    double rho, column_size;
    bool estimates;       /* in place of the bound */
    double rounds, least; /* the best so far */
} search;

static fed_risk risk_of(const search *with, double rounds)
{
    fed_noise noise = { 0 };
    fed_risk risk;

    if (with->at->is_private)
        fed_noise_at(with->at, with->rho, rounds, &noise);
    fed_risk_at(with->at, &noise, rounds, with->column_size, &risk);
    return risk;
}

static void try_rounds(search *best, double rounds)
{
    fed_risk risk = risk_of(best, rounds);
    double value = best->estimates ? risk.estimate : risk.bound;

    if (value < best->least) {
        best->least = value;
        best->rounds = rounds;
    }
}

/* Over steps of a tenth, then of a thousandth about the best. */
static void best_rounds(search *best)
{
    double about;

    for (double T = 1.0; T <= FED_MOST_STEPS; T = fmax(T + 1.0, floor(T * 1.1)))
        try_rounds(best, T);
    about = best->rounds;
    for (double T = fmax(1.0, floor(about / 1.1)); T <= fmin(about * 1.1, FED_MOST_STEPS);
         T = fmax(T + 1.0, floor(T * 1.001)))
        try_rounds(best, T);
}

static double article_rounds(const fed_work *at)
{
    const pn_request *request = &at->plan->base.request;
    double rounds = at->is_private ? pow(at->n * request->epsilon, 2.0 / 3.0) : FED_DEFAULT_STEPS;

    return fmin(fmax(round(rounds), 1.0), FED_MOST_STEPS);
}

static search search_over(const fed_work *at, double column_size, bool estimates)
{
    return (search){ .at = at,
                     .rho = at->is_private ? fed_request_rho(at) : 0.0,
                     .column_size = column_size,
                     .estimates = estimates,
                     .rounds = FED_DEFAULT_STEPS,
                     .least = INFINITY };
}

/* Whether the bound is below what any point that needs no data has. */
static bool bound_promises(const fed_work *at, search *dense)
{
    const pn_arg *given = &at->common[PN_OPT_ITERATIONS];

    *dense = search_over(at, fed_dense_column(at), false);
    if (fed_no_bound(at))
        return false;
    if (given->given)
        try_rounds(dense, (double)given->count);
    else
        best_rounds(dense);
    return dense->least < at->start_gap;
}

/* At twice what |<a_j, x>| can be.  At X R itself noise hides most of A x where it is a few times that, and x ends at
 * the columns most correlated with y; at much more, scales of choices are those of no clip.  Measured;
 * nothing is proven of it. */
static void clip_margins(fed_work *at)
{
    at->clips = at->loss == PN_FEDERATED_SQUARED && !at->own[FED_CLIP].given;
    for (size_t k = 0; at->clips && k < at->plan->parties; k++)
        at->plan->terms[k].clip = 2.0 * at->X * at->reach;
}

/* The noise of a choice stays in x as long as its vertex does: of few rounds one wrong choice is much of the answer.
 * Measured, fewer than ten are never much better, and often worse; where choices are mostly noise more of them
 * cancel. */
static double estimated_rounds(fed_work *at)
{
    search sparse = search_over(at, fed_sparse_column(at), true);

    best_rounds(&sparse);
    if (sparse.least < at->start_gap) {
        at->rule = sparse.rounds < FED_LEAST_STEPS
                       ? "the least by default; the bound promises nothing, the estimate favours fewer"
                       : "minimises the estimate; the risk bound promises nothing";
        return fmax(sparse.rounds, FED_LEAST_STEPS);
    }
    at->rule = "the default where neither bound nor estimate promises anything";
    return fmax(sparse.rounds, FED_HOPELESS_STEPS);
}

void fed_choose_rounds(fed_work *at)
{
    const pn_arg *given = &at->common[PN_OPT_ITERATIONS];
    search dense;
    double rounds;

    if (at->mode == PN_FEDERATED_PAPER) {
        at->rule = at->is_private ? "(n epsilon)^(2/3), the article's order" : "the default";
        rounds = article_rounds(at);
    } else if (!at->is_private) {
        at->rule = "the default";
        rounds = FED_DEFAULT_STEPS;
    } else if (bound_promises(at, &dense)) {
        at->rule = "minimises the risk bound";
        rounds = dense.rounds;
    } else {
        clip_margins(at);
        rounds = estimated_rounds(at);
    }
    if (given->given)
        at->rule = "as given";
    at->plan->base.iterations = given->given ? given->count : (size_t)rounds;
}
