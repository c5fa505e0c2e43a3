/* zeroth_order_bound.c -- what the online-to-nonconvex conversion is proved to reach with each way to estimate gradients: numbers only.
 * Depends on: zeroth_order.h, continual/toeplitz.h, objective/smoothed.h.  Used by: zeroth_order_plan.c, zeroth_order_practical.c, tests.
 * Source: Zhang, Tran, Cutkosky (2024), Theorem 4.9; zeroth-order.md sections 3 to 6.  Derived again here, with constants.
 *
 * One epoch from x_0 = x: x_t = x_{t-1} + Delta_t, ||Delta_t|| <= D, w_t = x_{t-1} + s_t Delta_t with s_t uniform on [0, 1], so that
 * E[F_mu(x_t) - F_mu(x_{t-1})] = E<G_t, Delta_t>, G_t = grad F_mu(w_t).  With u = -D times the direction of sum_t G_t
 *     D E||sum_t G_t|| = E sum_t <G_t, Delta_t> * (-1) + E sum_t <g_t, Delta_t - u> + E sum_t <G_t - g_t, Delta_t - u>.
 * The first sum telescopes over epochs to at most gap, a bound on F_mu(x_0) - inf F_mu: averages of F are not below inf F, and F_mu(x_0)
 * is at most L mu d/(d + 1) above F(x_0).  The second is the regret of projected steps from 0: D^2/(2 eta) + (eta/2) sum ||g_t||^2.
 * The third: with prefix sums g_t - G_t depends on the past, and it is at most 2 D sum_t E||g_t - G_t|| <= 2 D T e, e^2 the mean of
 * the E||g_t - G_t||^2; fresh naive estimates make <., Delta_t> a martingale, and <., u> is at most D sqrt(T) e.  Since
 * sum E||g_t||^2 <= T G^2 with G = L + e (Minkowski; naive: G^2 = L^2 + e^2), division by D T K gives, eta = D/(G sqrt(T)),
 *     BOUND = gap/(D T K) + G/sqrt(T) + 2 e       naive, with e <= G: gap/(D T K) + 2 G/sqrt(T).
 *
 * e.  Differences over fresh records are unbiased given the past, so their errors add up in squares: V1/B1 + (t - 1) V2/B2, V2 at the
 * distance ||w_t - w_{t-1}|| <= 2 D.  (Over s it is sqrt(7/6) D at most in the mean square: V2 is up to 3.4 times too large.  Sensitivities need
 * the worst case, and the published numbers use it in both places.)  The noise of the sums adds d sigma^2 times its spread. */
#include <math.h>
#include <stdio.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"
#include "solvers/zeroth_order.h"

#define PI             3.14159265358979323846
#define EULER          0.57721566490153286061
#define MOST_ROUNDS    ((size_t)1 << 40) /* a stream of more leaves than records anyone has */
#define MOST_RECORDS   0x1p60
#define BUFFERS        4 /* of ZO_BLT, or as many as the table has */
#define EXACT_SUMS     4096
#define SHORTEST_EPOCH 2

const zo_method zo_methods[ZO_METHODS] = {
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, ZO_TREE },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, ZO_HONAKER },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, ZO_SQRT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_ORTHOGONAL, ZO_BLT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, ZO_TREE },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, ZO_HONAKER },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, ZO_SQRT },
    { ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, ZO_BLT },
    { ZO_NAIVE, PN_DIRECTIONS_ONE, ZO_TREE },
    { ZO_NAIVE, PN_DIRECTIONS_ORTHOGONAL, ZO_TREE },
};

void zo_method_name(zo_method method, char *text, size_t size)
{
    static const char *const sums[ZO_SUM_COUNT] = { "tree", "honaker", "sqrt", "blt" };
    static const char *const directions[] = { "orthogonal", "iid", "one direction" };

    if (method.oracle == ZO_NAIVE)
        (void)snprintf(text, size, "naive, %s", directions[method.directions]);
    else
        (void)snprintf(text, size, "variance-reduced, %s, %s", directions[method.directions], sums[method.sum]);
}

/* ---- noise of prefix sums ---- */

/* Of the numbers 1 .. count, how many have bit i. */
static double with_bit(size_t count, unsigned i)
{
    size_t numbers = count + 1, full = numbers >> (i + 1), rest = numbers & (((size_t)2 << i) - 1);
    size_t half = (size_t)1 << i;

    return (double)full * (double)half + (rest > half ? (double)(rest - half) : 0.0);
}

/* Plain with every node, or inverse-variance weights without the root of 2^k leaves: that prefix is the sum of its halves. */
static void tree_noise(size_t rounds, bool article, double *gain, double *spread)
{
    unsigned layers = 0, i;
    double total = 0.0, weight = 1.0;
    bool drop;

    while (layers < 64 && rounds >> layers != 0)
        layers++;
    drop = !article && rounds > 1 && (rounds & (rounds - 1)) == 0;
    if (drop)
        layers--;
    for (i = 0; i < layers; i++) {
        total += weight * (with_bit(rounds, i) + (drop && i + 1 == layers ? 2.0 : 0.0));
        if (!article)
            weight = 1.0 / (1.0 + 0.5 / weight);
    }
    *gain = sqrt((double)layers);
    *spread = total / (double)rounds;
}

/* S = sum_{j < T} c_j^2 with c_j = binom(2j, j)/4^j, and c_T^2.  Long sums by their expansions in 1/T. */
static void sqrt_square(double rounds, double *square, double *next)
{
    double a = 1.0, s = 0.0, j, u = 1.0 / rounds;

    if (rounds <= EXACT_SUMS) {
        for (j = 0.0; j < rounds; j++) {
            s += a;
            a *= (j + 0.5) * (j + 0.5) / ((j + 1.0) * (j + 1.0));
        }
        *square = s;
        *next = a;
        return;
    }
    *square = (log(16.0 * rounds) + EULER - u / 4.0 + u * u * 5.0 / 192.0) / PI;
    *next = u / PI * (1.0 - u / 4.0 + u * u / 32.0);
}

/* C = R: z's variance is S_T times the leaf's, and prefix t has S_t of it.  (j + 1/4) c_j^2 are differences of j^2 c_j^2, so
 * sum_{t <= T} S_t = sum_j (T - j) c_j^2 = (T + 1/4) S_T - T^2 c_T^2. */
static void sqrt_noise(size_t rounds, double *gain, double *spread)
{
    double t = (double)rounds, square, next;

    sqrt_square(t, &square, &next);
    *gain = sqrt(square);
    *spread = (1.0 + 0.25 / t) * square - t * next;
}

/* The table's buffers, calibrated for these rounds: ||c||, and partial sums of 1/c(x). */
static bool buffer_noise(size_t rounds, double *gain, double *spread)
{
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX], *r, total = 0.0;
    size_t found, j;

    if (!pn_toeplitz_blt_table(rounds, BUFFERS, &found, theta, omega))
        return false;
    r = pn_alloc(rounds, sizeof *r);
    if (!r)
        return false;
    pn_toeplitz_blt_sums(found, theta, omega, rounds, r);
    for (j = 0; j < rounds; j++)
        total += (double)(rounds - j) * r[j] * r[j];
    pn_free(r);
    *gain = sqrt(pn_toeplitz_blt_square(found, theta, omega, rounds));
    *spread = total / (double)rounds;
    return true;
}

bool zo_sum_noise(zo_sum sum, size_t rounds, double *gain, double *spread)
{
    *gain = *spread = 0.0;
    if (rounds == 0)
        return false;
    if (sum == ZO_BLT)
        return buffer_noise(rounds, gain, spread);
    if (sum == ZO_SQRT)
        sqrt_noise(rounds, gain, spread);
    else
        tree_noise(rounds, sum == ZO_TREE, gain, spread);
    return true;
}

/* ---- bounds ---- */

static pn_smoothing smoothing_of(const zo_problem *problem, const zo_choice *choice)
{
    return (pn_smoothing){ .directions = choice->method.directions,
                           .radius = choice->smoothing,
                           .lipschitz = problem->lipschitz };
}

static void evaluate_chain(const zo_problem *problem, double gain, double spread, zo_choice *choice)
{
    pn_smoothing how = smoothing_of(problem, choice);
    size_t dim = (size_t)problem->dim;
    double distance = 2.0 * choice->ball, later = ((double)choice->rounds - 1.0) / 2.0, first, others, variance;

    first = pn_smoothed_sensitivity(&how, dim, choice->first, pn_smoothed_norm(&how, dim));
    others = pn_smoothed_sensitivity(&how, dim, choice->others, pn_smoothed_difference_norm(&how, dim, distance));
    choice->sensitivity = choice->rounds > 1 ? fmax(first, others) : first;
    choice->sigma = choice->sensitivity * gain / problem->rho;
    choice->noise = choice->sigma * sqrt(problem->dim * spread);
    variance = pn_smoothed_variance(&how, dim, choice->first) +
               later * pn_smoothed_difference_variance(&how, dim, choice->others, distance);
    choice->error = sqrt(variance + choice->noise * choice->noise);
}

static void evaluate_naive(const zo_problem *problem, zo_choice *choice)
{
    pn_smoothing how = smoothing_of(problem, choice);
    size_t dim = (size_t)problem->dim;

    choice->others = choice->first;
    choice->sensitivity = pn_smoothed_sensitivity(&how, dim, choice->first, pn_smoothed_norm(&how, dim));
    choice->sigma = choice->sensitivity / problem->rho;
    choice->noise = choice->sigma * sqrt(problem->dim);
    choice->error = sqrt(pn_smoothed_variance(&how, dim, choice->first) + choice->noise * choice->noise);
}

void zo_finish(const zo_problem *problem, zo_choice *choice)
{
    double l = problem->lipschitz, e = choice->error, rounds = (double)choice->rounds, ball = choice->ball;
    double root = sqrt(rounds), d = problem->dim, past, scale, regret;
    double gap = problem->gap + l * choice->smoothing * d / (d + 1.0);

    if (choice->method.oracle == ZO_NAIVE) {
        scale = sqrt(l * l + e * e);
        past = scale / root;
    } else {
        scale = l + e;
        past = 2.0 * e;
    }
    if (!(choice->step > 0.0))
        choice->step = ball / (scale * root);
    regret = ball / (2.0 * choice->step * rounds) + choice->step * scale * scale / (2.0 * ball);
    choice->bound = gap / (ball * rounds * (double)choice->epochs) + regret + past;
}

void zo_evaluate_sum(const zo_problem *problem, double gain, double spread, zo_choice *choice)
{
    if (choice->method.oracle == ZO_NAIVE)
        evaluate_naive(problem, choice);
    else
        evaluate_chain(problem, gain, spread, choice);
    zo_finish(problem, choice);
}

void zo_evaluate(const zo_problem *problem, zo_choice *choice)
{
    double gain, spread;

    if (!zo_sum_noise(choice->method.sum, choice->rounds, &gain, &spread) && choice->method.oracle != ZO_NAIVE)
        gain = INFINITY;
    zo_evaluate_sum(problem, gain, spread, choice);
}

/* ---- search ---- */

/* Of 2^k rounds, computed once: long sums of buffers take milliseconds. */
typedef struct sum_noises {
    bool known[64], has[64];
    double gain[64], spread[64];
} sum_noises;

/* One horizon: what the grid of batches shares. */
typedef struct search {
    sum_noises *noises;
    const zo_problem *problem;
    const zo_choice *fixed;
    zo_choice at;
    double gain, spread;
    zo_choice *best;
    bool found;
} search;

static bool given(double number)
{
    return number > 0.0; /* not 0, not NaN */
}

/* Smoothing and ball that together reach `radius`: points of an epoch are within D (T + 1)/2 of their mean. */
static bool share_radius(search *of)
{
    double half = ((double)of->at.rounds + 1.0) / 2.0, radius = of->problem->radius;
    double mu = of->fixed->smoothing, ball = of->fixed->ball;

    if (!given(mu))
        mu = given(ball) ? radius - ball * half : radius / 2.0;
    if (!given(ball))
        ball = (radius - mu) / half;
    of->at.smoothing = mu;
    of->at.ball = ball;
    return given(mu) && given(ball);
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
    now.step = of->fixed->step;
    zo_evaluate_sum(of->problem, of->gain, of->spread, &now);
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
        first = others * (rounds / shares[i] > 0 ? rounds / shares[i] : 1);
        if (first != last)
            try_batches(of, first, others);
        last = first;
    }
}

static bool read_noise(search *of, size_t rounds)
{
    sum_noises *all = of->noises;
    unsigned k = 0;

    while (rounds >> (k + 1) != 0)
        k++;
    if (rounds != (size_t)1 << k)
        return zo_sum_noise(of->at.method.sum, rounds, &of->gain, &of->spread);
    if (!all->known[k]) {
        all->has[k] = zo_sum_noise(of->at.method.sum, rounds, &all->gain[k], &all->spread[k]);
        all->known[k] = true;
    }
    of->gain = all->gain[k];
    of->spread = all->spread[k];
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

/* From the bounds, with smoothing delta/2 and D T ~ delta: K ~ gap/(delta eps), and T and the batches from the other terms.
 * Variance-reduced: M ~ K T, T ~ d L^2/eps^2 for the differences' variance and sqrt(d) norm L/(rho eps) for the noise, where norm is that of a
 * record's estimate.  Naive: T B ~ B (L^2 + V/B + d norm^2/(B rho)^2)/eps^2 with the best B. */
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
