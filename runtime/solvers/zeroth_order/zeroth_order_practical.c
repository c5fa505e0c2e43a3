/* zeroth_order_practical.c -- sizes of a private zeroth-order run for problems whose bounds say nothing.
 * Depends on: zeroth_order.h.  Used by: zeroth_order_plan.c.
 * Source: zeroth-order.md section 5, and this study.
 *
 * Problems: capped absolute deviations (d = 2 to 40), logistic regression (5 to 30), phase retrieval by |<x, theta>^2 -
 * y| (5 to 20), a two-layer ReLU network under absolute loss (16); M = 1e3 to 1e5 records, the article's rho = .2 to 2,
 * starts at a distance R of 0.6 to 11.  Excess risk at the end relative to the start.  For 16 of them 168 sizes of
 * variance-reduced runs (sqrt, orthogonal) and 192 naive ones (orthogonal), a grid of T, mu/R, D/R or D/mu, path K T
 * D/R and eta, and for 16 a random search over 250.
 *   - An epoch of 16 to 64 rounds whose path is 0.8 mu, mu = 0.35 to 0.4 R, and a run's path of 2 to 3 R are best for
 *     prefix sums: 1.2 times the best of the grid in the geometric mean, within 1.5 for 13 of 16, at worst 2.3.  Naive:
 *     T = 8 to 16, mu <= 0.2 R, D = 0.05 to 0.12 R; 1.8 and 4.7, since smooth problems want D twice as large and kinks
 *     half.  These ratios are to a winner among noisy runs.
 *   - eta: L is a bound on the gradient of the worst record.  D/(G sqrt(T)) with G^2 = L^2/64 + noise^2 does better
 *     than with L^2/16 (by 1.15) and than 4 D/(sqrt(T) sqrt(L^2 + noise^2)) (by 1.15): most rounds then go D far.
 *   - On 21 other draws of the problems, geometric means of excess + .01 with R known, half and twice of what it is:
 *         naive, orthogonal .070 .107 .091       sums, orthogonal: sqrt .084 .156 .093, honaker .096 .177 .100,
 *             tree .094 .164 .104
 *         naive, one direction .160 .252 .170    sums, iid: sqrt .193 .335 .163, tree .204 .320 .193
 *     So the naive oracle with orthogonal directions is best where bounds say nothing, as it is by bound up to M = 1e7;
 *     a random search finds it 1.1 to 5 times better than prefix sums at their best.  Guess R rather too small than
 *     too large.
 *   - The last epoch's mean is what to return: the one with the smallest certificate is 1.1 to 1.25 times worse,
 *     a random one 4 times.
 *   - Noise (rms of ||N||) above L for naive oracles, above L/2 for sums: the result is as likely worse than the start
 *     as better. */
#include <math.h>

#include "solvers/zeroth_order/zeroth_order.h"

#define ROUNDS      16
#define PATH        3.0 /* of a run, in distances */
#define SLOPE       8.0 /* gradients of means over records are this much smaller than L */
#define CHAIN_BALL  0.4 /* mu, in distances */
#define CHAIN_REACH 0.8 /* path of an epoch, in mu */
#define CHAIN_SHARE 0.7 /* mu at most, of the radius aimed at: mu + D (T + 1)/2 stays within */
#define NAIVE_BALL  0.1
#define NAIVE_REACH 1.0 /* path of an epoch, in distances */
#define NAIVE_SHARE 0.2

static double at_most(double number, double share, double radius)
{
    return zo_is_given(radius) ? fmin(number, share * radius) : number;
}

/* B1/B2: a first leaf that moves as far for a record as the others do. */
static double first_to_others(const zo_choice *at)
{
    double balanced = at->smoothing / (2.0 * at->ball);

    return at->method.oracle == ZO_NAIVE ? 1.0 : fmin(fmax(balanced, 1.0), (double)at->rounds);
}

static void choose_radii(const zo_problem *problem, double distance, const zo_choice *keep, zo_choice *at)
{
    double rounds = (double)at->rounds, radius = problem->radius, reach;
    bool naive = at->method.oracle == ZO_NAIVE;

    at->smoothing = keep->smoothing;
    if (!zo_is_given(at->smoothing))
        at->smoothing =
            at_most((naive ? NAIVE_BALL : CHAIN_BALL) * distance, naive ? NAIVE_SHARE : CHAIN_SHARE, radius);
    reach = naive ? at_most(NAIVE_REACH * distance, 2.0 * (1.0 - NAIVE_SHARE) * rounds / (rounds + 1.0), radius)
                  : CHAIN_REACH * at->smoothing;
    at->ball = zo_is_given(keep->ball) ? keep->ball : reach / rounds;
}

static double records_of(const zo_choice *at, double first, double others)
{
    return first + ((double)at->rounds - 1.0) * others;
}

static double at_least_one(double number)
{
    return fmax(1.0, floor(number));
}

/* The batches that use all records in as many epochs. */
static void fill_epochs(double an_epoch, const zo_choice *keep, zo_choice *at)
{
    bool naive = at->method.oracle == ZO_NAIVE;
    size_t asked = naive && keep->first > 0 ? keep->first : keep->others;
    double ratio = first_to_others(at), later = (double)at->rounds - 1.0, others;

    if (asked > 0)
        others = (double)asked;
    else if (keep->first > 0)
        others = later > 0.0 ? at_least_one((an_epoch - (double)keep->first) / later) : 1.0;
    else
        others = at_least_one(an_epoch / (later + ratio));
    at->others = (size_t)others;
    at->first = at->others;
    if (!naive)
        at->first = keep->first > 0 ? keep->first : (size_t)at_least_one(ratio * others);
    if (!naive && asked == 0 && keep->first == 0 && an_epoch > records_of(at, (double)at->first, others))
        at->first = (size_t)(an_epoch - later * others); /* what is left over */
}

/* Epochs that make the path with all records, or as long a path as there are records and time for. */
static bool choose_batches(const zo_problem *problem, double distance, const zo_choice *keep, zo_choice *at)
{
    double path = at_least_one(PATH * distance / (at->ball * (double)at->rounds) + 0.5), an_epoch, epochs;

    for (;; path = floor(path / 2.0)) {
        fill_epochs(floor(problem->records / (keep->epochs > 0 ? (double)keep->epochs : path)), keep, at);
        an_epoch = records_of(at, (double)at->first, (double)at->others);
        epochs = floor(problem->records / an_epoch);
        if (keep->epochs > 0) {
            if ((double)keep->epochs > epochs)
                return false;
            epochs = (double)keep->epochs;
        }
        at->epochs = (size_t)epochs;
        if (epochs < 1.0 || zo_fits(problem, at))
            return epochs >= 1.0;
        if (path < 2.0 || keep->epochs > 0)
            return false;
    }
}

bool zo_practical(const zo_problem *problem, zo_method method, double distance, const zo_choice *fixed,
                  zo_choice *choice)
{
    static const zo_choice nothing;
    const zo_choice *keep = fixed ? fixed : &nothing;
    zo_choice at = { .method = method, .rounds = keep->rounds > 0 ? keep->rounds : ROUNDS };
    double slope = problem->lipschitz / SLOPE;

    for (;;) {
        choose_radii(problem, distance, keep, &at);
        if (choose_batches(problem, distance, keep, &at))
            break;
        if (keep->rounds > 0 || at.rounds == 1)
            return false;
        at.rounds /= 2;
    }
    zo_evaluate(problem, &at);
    at.step = zo_is_given(keep->step) ? keep->step
                                      : at.ball / sqrt((double)at.rounds * (slope * slope + at.noise * at.noise));
    zo_evaluate(problem, &at);
    *choice = at;
    return at.bound < INFINITY;
}

/* Prefix sums of an epoch share their noise; fresh gradients do not. */
double zo_practical_error(const zo_choice *choice)
{
    double rounds = choice->method.oracle == ZO_NAIVE ? 1.0 : (double)choice->rounds;

    return choice->error * sqrt(choice->ball * rounds);
}
