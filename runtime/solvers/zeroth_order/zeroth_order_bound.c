/* zeroth_order_bound.c -- what the online-to-nonconvex conversion is proved to reach with each way to estimate
 * gradients: numbers only.
 * Depends on: zeroth_order.h, continual/sum_noise.h, objective/measures/smoothed.h.  Used by: zeroth_order_plan.c,
 * zeroth_order_practical.c, tests.
 * Source: Zhang, Tran, Cutkosky (2024), Theorem 4.9; zeroth-order.md sections 3 to 6.  Derived again here,
 * with constants.
 *
 * One epoch from x_0 = x: x_t = x_{t-1} + Delta_t, ||Delta_t|| <= D, w_t = x_{t-1} + s_t Delta_t with s_t uniform on
 * [0, 1], so that E[F_mu(x_t) - F_mu(x_{t-1})] = E<G_t, Delta_t>, G_t = grad F_mu(w_t).
 * With u = -D times the direction of sum_t G_t
 *     D E||sum_t G_t|| = E sum_t <G_t, Delta_t> * (-1) + E sum_t <g_t, Delta_t - u> + E sum_t <G_t - g_t, Delta_t - u>.
 * The first sum telescopes over epochs to at most gap, a bound on F_mu(x_0) - inf F_mu: averages of F are not below inf
 * F, and F_mu(x_0) is at most L mu d/(d + 1) above F(x_0).  The second is the regret of projected steps from 0:
 * D^2/(2 eta) + (eta/2) sum ||g_t||^2.  The third has two parts.  Delta_t is known before round t, so that of g_t - G_t
 * it meets only what earlier rounds have seen: <., Delta_t> is at most D sum_t E||E[g_t - G_t | before t]|| <= D T
 * past.  u does not depend on t: <., u> is at most D E||sum_t (g_t - G_t)|| = D T drift.  Since sum E||g_t||^2 <= T G^2
 * with G = L + e, e^2 the mean of the E||g_t - G_t||^2 (Minkowski; naive: G^2 = L^2 + e^2),
 * division by D T K gives, eta = D/(G sqrt(T)),
 *     BOUND = gap/(D T K) + G/sqrt(T) + past + drift.
 * Fresh naive estimates have no past and drift = e/sqrt(T).  The published form has e for both, and naive G/sqrt(T) for
 * drift; the mean over t of a tree's noise has 1/log2(T) of the mean variance,
 * since nodes that are long in use are few.
 *
 * e.  Differences over fresh records are unbiased given the past, so their errors xi_t add up in squares: V1/B1 +
 * (t - 1) V2/B2, of which the last is no past; xi_t is in T + 1 - t of the T sums.  V2 is in proportion to E||w_t -
 * w_{t-1}||^2, and w_t - w_{t-1} is (1 - s_{t-1}) Delta_{t-1} + s_t Delta_t with s_t independent of all else and
 * s_{t-1} of Delta_{t-1}, so that its norm is at most (1 - s_{t-1} + s_t) D, in the mean square sqrt(7/6) D
 * (the published form: 2 D, which sensitivities need).  Noise is drawn independently of records, and xi_t is unbiased
 * given all noise before it: squares of both add up, in past and drift too. */
#include <math.h>
#include <stdio.h>

#include "core/size.h"
#include "solvers/zeroth_order/zeroth_order.h"

#define MOST_ROUNDS    ((size_t)1 << 40) /* a stream of more leaves than records anyone has */
#define MOST_RECORDS   0x1p60
#define SQUARE_STEP    (7.0 / 6.0) /* E||w_t - w_{t-1}||^2 / D^2 */
#define SHORTEST_EPOCH 2

const zo_method zo_methods[ZO_METHODS] = {
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_HONAKER },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_SQRT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_BLT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_TREE },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_HONAKER },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_SQRT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_BLT },
    { ZO_NAIVE, PN_DIRECTIONS_ONE, PN_SUM_TREE },
    { ZO_NAIVE, PN_DIRECTIONS_ORTHOGONAL, PN_SUM_TREE },
};

/* ---- bounds ---- */

/* What differences add to the mean square of errors, of their past and of the mean over t: sums of (t - 1), (t - 2) and
 * ((T + 1 - t)/T)^2 over t = 2 .. T, the first two divided by T. */
static void set_chain_errors(const zo_problem *problem, const pn_smoothing *how, const pn_sum_noise *noise,
                             zo_choice *choice)
{
    size_t dim = (size_t)problem->dim;
    double T = (double)choice->rounds, first = pn_smoothed_variance(how, dim, choice->first), later = 0.0;
    double reach = (problem->published ? 2.0 : sqrt(SQUARE_STEP)) * choice->ball,
           square = choice->noise * choice->noise;

    if (choice->rounds > 1)
        later = pn_smoothed_difference_variance(how, dim, choice->others, reach);
    choice->error = choice->past = choice->drift = sqrt(first + later * (T - 1.0) / 2.0 + square);
    if (problem->published)
        return;
    choice->past = sqrt(first * (T - 1.0) / T + (choice->rounds > 2 ? later * (T - 1.0) * (T - 2.0) / (2.0 * T) : 0.0) +
                        square * (noise->past / noise->spread));
    choice->drift =
        sqrt(first + later * (T - 1.0) * (2.0 * T - 1.0) / (6.0 * T) + square * (noise->drift / noise->spread));
}

void zo_set_errors(const zo_problem *problem, const pn_smoothing *how, const pn_sum_noise *noise, zo_choice *choice)
{
    double root = sqrt((double)choice->rounds), l = problem->lipschitz, e;

    if (choice->method.oracle != ZO_NAIVE) {
        set_chain_errors(problem, how, noise, choice);
        return;
    }
    e = sqrt(pn_smoothed_variance(how, (size_t)problem->dim, choice->first) + choice->noise * choice->noise);
    choice->error = e;
    choice->past = 0.0;
    choice->drift = (problem->published ? sqrt(l * l + e * e) : e) / root;
}

void zo_finish(const zo_problem *problem, zo_choice *choice)
{
    double l = problem->lipschitz, e = choice->error, rounds = (double)choice->rounds, ball = choice->ball;
    double scale = choice->method.oracle == ZO_NAIVE ? sqrt(l * l + e * e) : l + e, d = problem->dim, regret;
    double gap = problem->gap + l * choice->smoothing * d / (d + 1.0);

    if (!(choice->step > 0.0))
        choice->step = ball / (scale * sqrt(rounds));
    regret = ball / (2.0 * choice->step * rounds) + choice->step * scale * scale / (2.0 * ball);
    choice->bound = gap / (ball * rounds * (double)choice->epochs) + regret + choice->past + choice->drift;
}

/* Of a mean over `count` records: a record that is replaced moves it by two terms of that norm, one that is out by one.
 * The question of the run certifies its own. */
static double leaf_sensitivity(const zo_problem *problem, const pn_smoothing *how, size_t count, double norm)
{
    double replaced = pn_smoothed_sensitivity(how, (size_t)problem->dim, count, norm);

    return problem->zero_out ? replaced - norm / (double)count : replaced;
}

/* A naive estimate is a sum of one leaf, which is never a difference. */
void zo_evaluate_sum(const zo_problem *problem, const pn_sum_noise *noise, zo_choice *choice)
{
    static const pn_sum_noise fresh = { .gain = 1.0, .spread = 1.0 };
    bool naive = choice->method.oracle == ZO_NAIVE;
    const pn_sum_noise *by = naive ? &fresh : noise;
    pn_smoothing how = { .directions = choice->method.directions,
                         .radius = choice->smoothing,
                         .lipschitz = problem->lipschitz };
    size_t dim = (size_t)problem->dim;

    choice->others = naive ? choice->first : choice->others;
    choice->sensitivity = leaf_sensitivity(problem, &how, choice->first, pn_smoothed_norm(&how, dim));
    if (!naive && choice->rounds > 1)
        choice->sensitivity =
            fmax(choice->sensitivity, leaf_sensitivity(problem, &how, choice->others,
                                                       pn_smoothed_difference_norm(&how, dim, 2.0 * choice->ball)));
    choice->sigma = choice->sensitivity * by->gain / problem->rho;
    choice->noise = choice->sigma * sqrt(problem->dim * by->spread);
    zo_set_errors(problem, &how, by, choice);
    zo_finish(problem, choice);
}

/* As the article keeps it; without it a plain tree of 2^k leaves has less noise. */
static bool noise_of(pn_sum_kind sum, size_t rounds, pn_sum_noise *noise)
{
    return pn_sum_noise_of(sum, sum == PN_SUM_TREE, rounds, noise);
}

void zo_evaluate(const zo_problem *problem, zo_choice *choice)
{
    pn_sum_noise noise = { 0 };

    if (choice->method.oracle != ZO_NAIVE && !noise_of(choice->method.sum, choice->rounds, &noise))
        noise = (pn_sum_noise){ .gain = INFINITY, .spread = 1.0, .past = 1.0, .drift = 1.0 };
    zo_evaluate_sum(problem, &noise, choice);
}

/* ---- search ---- */

/* Of 2^k rounds, computed once: long sums of buffers take milliseconds. */
typedef struct sum_noises {
    bool known[64], has[64];
    pn_sum_noise noise[64];
} sum_noises;

/* One horizon: what the grid of batches shares. */
typedef struct search {
    sum_noises *noises;
    const zo_problem *problem;
    const zo_choice *fixed;
    zo_choice at;
    pn_sum_noise noise;
    zo_choice *best;
    bool found;
} search;

/* Smoothing and ball that together reach `radius`: points of an epoch are within D (T + 1)/2 of their mean. */
static bool share_radius(search *of)
{
    double half = ((double)of->at.rounds + 1.0) / 2.0, radius = of->problem->radius;
    double mu = of->fixed->smoothing, ball = of->fixed->ball;

    if (!zo_is_given(mu))
        mu = zo_is_given(ball) ? radius - ball * half : radius / 2.0;
    if (!zo_is_given(ball))
        ball = (radius - mu) / half;
    of->at.smoothing = mu;
    of->at.ball = ball;
    return zo_is_given(mu) && zo_is_given(ball);
}

static void try_batches(search *of, size_t first, size_t others)
{
    double an_epoch = (double)first + ((double)of->at.rounds - 1.0) * (double)others;
    double epochs = floor(of->problem->records / an_epoch);
    zo_choice now = of->at;

    if (of->fixed->epochs > 0) {
        if ((double)of->fixed->epochs > epochs)
            return;
        epochs = (double)of->fixed->epochs;
    }
    if (!(epochs >= 1.0))
        return;
    now.epochs = (size_t)epochs;
    now.first = first;
    now.others = others;
    if (!zo_fits(of->problem, &now))
        return;
    now.step = of->fixed->step;
    zo_evaluate_sum(of->problem, &of->noise, &now);
    if (now.bound < INFINITY && (!of->found || now.bound < of->best->bound)) {
        *of->best = now;
        of->found = true;
    }
}

static void try_others(search *of, size_t others)
{
    static const size_t shares[] = { 4, 2, 1 };
    size_t rounds = of->at.rounds, i, last = 0, first;

    if (of->at.method.oracle == ZO_NAIVE || of->fixed->first > 0) {
        try_batches(of, of->fixed->first > 0 ? of->fixed->first : others, others);
        return;
    }
    for (i = 0; i < 3; i++) {
        if (!pn_size_multiply(&first, others, rounds / shares[i] > 0 ? rounds / shares[i] : 1))
            continue;
        if (first != last)
            try_batches(of, first, others);
        last = first;
    }
}

static bool read_noise(search *of, size_t rounds)
{
    sum_noises *all = of->noises;
    pn_sum_kind sum = of->at.method.sum;
    unsigned k = 0;

    while (rounds >> (k + 1) != 0)
        k++;
    if (rounds != (size_t)1 << k)
        return noise_of(sum, rounds, &of->noise);
    if (!all->known[k]) {
        all->has[k] = noise_of(sum, rounds, &all->noise[k]);
        all->known[k] = true;
    }
    of->noise = all->noise[k];
    return all->has[k];
}

static void try_rounds(search *of, size_t rounds)
{
    size_t others;
    bool naive = of->at.method.oracle == ZO_NAIVE;

    of->at.rounds = rounds;
    if (!share_radius(of) || (!naive && !read_noise(of, rounds)))
        return;
    if (of->fixed->others > 0 || (naive && of->fixed->first > 0)) {
        try_others(of, naive && of->fixed->first > 0 ? of->fixed->first : of->fixed->others);
        return;
    }
    for (others = 1; (double)others * (double)rounds <= of->problem->records; others *= 2)
        try_others(of, others);
}

static bool search_all(const zo_problem *problem, zo_method method, const zo_choice *fixed, zo_choice *best,
                       sum_noises *noises)
{
    static const zo_choice nothing;
    search of = { .noises = noises,
                  .problem = problem,
                  .fixed = fixed ? fixed : &nothing,
                  .at = { .method = method },
                  .best = best };
    size_t rounds;

    if (of.fixed->rounds > 0) {
        try_rounds(&of, of.fixed->rounds);
        return of.found;
    }
    for (rounds = SHORTEST_EPOCH; rounds <= MOST_ROUNDS && (double)rounds <= problem->records; rounds *= 2)
        try_rounds(&of, rounds);
    return of.found;
}

bool zo_search(const zo_problem *problem, zo_method method, const zo_choice *fixed, zo_choice *best)
{
    sum_noises noises = { .known = { false } };

    return search_all(problem, method, fixed, best, &noises);
}

double zo_records_for(const zo_problem *problem, zo_method method, double eps)
{
    zo_problem at = *problem;
    zo_choice best;
    sum_noises noises = { .known = { false } };

    for (at.records = 2.0; at.records <= MOST_RECORDS; at.records *= 2.0) {
        if (search_all(&at, method, NULL, &best, &noises) && best.bound <= eps)
            return at.records;
    }
    return INFINITY;
}

/* From the bounds, with smoothing delta/2 and D T ~ delta: K ~ gap/(delta eps), and T and the batches from the other
 * terms.  Variance-reduced: M ~ K T, T ~ d L^2/eps^2 for the differences' variance and sqrt(d) norm L/(rho eps) for the
 * noise, where norm is that of a record's estimate.  Naive: T B ~ B (L^2 + V/B + d norm^2/(B rho)^2)/eps^2 with the
 * best B. */
void zo_complexity(const zo_problem *problem, zo_method method, double eps, double *nonprivate, double *private_term)
{
    double d = problem->dim, l = problem->lipschitz, epochs = problem->gap / (problem->radius * eps);
    double norm = method.directions == PN_DIRECTIONS_ORTHOGONAL ? sqrt(d) : d;

    if (method.oracle == ZO_NAIVE) {
        *nonprivate = epochs * l * l / (eps * eps) * (method.directions == PN_DIRECTIONS_ONE ? d : 1.0);
        *private_term = epochs * l * l / (eps * eps) * sqrt(d) * norm / problem->rho;
    } else {
        *nonprivate = epochs * l * l / (eps * eps) * d;
        *private_term = epochs * l / eps * sqrt(d) * norm / problem->rho;
    }
}
