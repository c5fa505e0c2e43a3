/* sum_noise.c -- see sum_noise.h.  Depends on: sum_noise.h, toeplitz.h.  Used by: solvers/zeroth_order.
 * See tree-mechanism.md sections 2.2, 6 and 7. */
#include <math.h>

#include "continual/sum_noise.h"
#include "continual/toeplitz.h"

#define PI         3.14159265358979323846
#define EULER      0.57721566490153286061
#define BUFFERS    4 /* of PN_SUM_BLT, or as many as the table has */
#define EXACT_SUMS 4096

/* Of the numbers 1 .. count, how many have bit i. */
static double with_bit(size_t count, unsigned i)
{
    size_t numbers = count + 1, full = numbers >> (i + 1), rest = numbers & (((size_t)2 << i) - 1);
    size_t half = (size_t)1 << i;

    return (double)full * (double)half + (rest > half ? (double)(rest - half) : 0.0);
}

/* Subtrees of height i whose root's estimate is in W prefixes of the epoch and after it: the variance of the sum over
 * prefixes of what their nodes put in is square W^2 + line W + rest.  An estimate is weight times the node's own and 1
 * - weight times the sum of its children's; the left child stands for itself in 2^(i-1) prefixes.  fresh: of the root's
 * estimate what the last leaf's round has drawn. */
typedef struct subtree {
    double weight, fresh, square, line, rest;
} subtree;

static subtree grown(subtree child, unsigned height, bool plain)
{
    double weight = plain ? 1.0 : 1.0 / (1.0 + 0.5 / child.weight), other = 1.0 - weight,
           uses = exp2((double)height - 1.0);

    return (subtree){ .weight = weight,
                      .fresh = weight * weight + other * other * child.fresh,
                      .square = weight * weight + 2.0 * other * other * child.square,
                      .line = 2.0 * other * (child.square * uses + child.line),
                      .rest = child.square * uses * uses + child.line * uses + 2.0 * child.rest };
}

static double drift_of(const subtree *at, double uses)
{
    return (at->square * uses + at->line) * uses + at->rest;
}

/* Inverse-variance weights unless it is plain.  Without the root of 2^k leaves that prefix is the sum of its halves. */
static void tree_noise(size_t rounds, bool plain, bool root, pn_sum_noise *noise)
{
    bool drop = !root && rounds > 1 && (rounds & (rounds - 1)) == 0;
    subtree at = { 1.0, 1.0, 1.0, 0.0, 0.0 };
    double total = 0.0, fresh = 0.0, drift = 0.0;
    unsigned layers = 0, i;

    while (layers < 64 && rounds >> layers != 0)
        layers++;
    if (drop)
        layers--;
    for (i = 0; i < layers; i++) {
        double halves = drop && i + 1 == layers ? 1.0 : 0.0, last = (double)(((rounds >> i) + 1) >> 1) + halves;

        if (i > 0)
            at = grown(at, i, plain);
        total += at.weight * (with_bit(rounds, i) + 2.0 * halves);
        fresh += at.fresh * last;
        if (halves > 0.0)
            drift += drift_of(&at, (double)(rounds / 2) + 1.0) + drift_of(&at, 1.0);
        else if (rounds >> i & 1)
            drift += drift_of(&at, (double)(rounds & (((size_t)1 << i) - 1)) + 1.0);
    }
    noise->gain = sqrt((double)layers);
    noise->spread = total / (double)rounds;
    noise->past = (total - fresh) / (double)rounds;
    noise->drift = drift / ((double)rounds * (double)rounds);
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

/* C = R: z's variance is S_T times the leaf's, and prefix t has S_t of it, 1 of that fresh.  (j + 1/4) c_j^2 are
 * differences of j^2 c_j^2, so sum_{t <= T} S_t = sum_j (T - j) c_j^2 = (T + 1/4) S_T - T^2 c_T^2.  z_t is in the sum
 * of all prefixes C_n = sum_{j < n} c_j = 2 n c_n times, n = T + 1 - t,
 * and (2 n^2 - 1/16) c_n^2 are differences of (n - 5/4) n^2 c_n^2. */
static void sqrt_noise(size_t rounds, pn_sum_noise *noise)
{
    double t = (double)rounds, square, next, squares;

    sqrt_square(t, &square, &next);
    squares = (t + 0.5) * (t + 0.5) * (2.0 * t - 0.5) * next + (square + next) / 8.0;
    noise->gain = sqrt(square);
    noise->spread = (1.0 + 0.25 / t) * square - t * next;
    noise->past = noise->spread - 1.0;
    noise->drift = squares / (t * t);
}

/* The table's buffers, calibrated for these rounds: ||c||, and partial sums of 1/c(x). */
static bool buffer_noise(size_t rounds, pn_sum_noise *noise)
{
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX], buffer[PN_BLT_BUFFERS_MAX] = { 0.0 };
    double total = 0.0, sum = 0.0, squares = 0.0;
    size_t found;

    if (!pn_toeplitz_blt_table(rounds, BUFFERS, &found, theta, omega))
        return false;
    for (size_t j = 0; j < rounds; j++) {
        double r = pn_toeplitz_blt_next(found, theta, omega, buffer);

        total += (double)(rounds - j) * r * r;
        sum += r;
        squares += sum * sum;
    }
    noise->gain = sqrt(pn_toeplitz_blt_square(found, theta, omega, rounds));
    noise->spread = total / (double)rounds;
    noise->past = noise->spread - 1.0;
    noise->drift = squares / ((double)rounds * (double)rounds);
    return true;
}

bool pn_sum_noise_of(pn_sum_kind sum, bool root, size_t rounds, pn_sum_noise *noise)
{
    *noise = (pn_sum_noise){ 0 };
    if (rounds == 0)
        return false;
    if (sum == PN_SUM_BLT)
        return buffer_noise(rounds, noise);
    if (sum == PN_SUM_SQRT)
        sqrt_noise(rounds, noise);
    else
        tree_noise(rounds, sum == PN_SUM_TREE, root, noise);
    return true;
}
