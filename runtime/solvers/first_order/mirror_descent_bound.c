/* mirror_descent_bound.c -- how far noisy mirror descent goes by default, in how many steps, and its excess risk.
 * Depends on: mirror_descent.h, first_order.h.  Used by: mirror_descent_plan.c.
 * Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2, for the noise of a whole budget; derived here.
 *
 * phi(c) = max_C <c, x> - Psi(x) has the step x(c) for its gradient, and B(u, c) = Psi(u) + phi(c) - <u, c> is at least
 * ||u - x(c)||^2 / 2.  A step c' = c - eta g with g = grad f(x) + b, x' = x(c'), gives for every u in C
 *     eta <g, x' - u> = B(u, c) - B(u, c') - B(x', c).
 * T of them have noise of deviation sigma = s sqrt(T) each and take the time t = eta T.
 * (a) f smooth, with beta in the norm of Psi, eta beta < 1.  Then f(x') - f(u) <= <grad f(x), x' - u> + beta B(x', c),
 * and what is left of -B(x', c) meets the noise:
 *     E max_x' -eta <b, x' - x> - (1 - eta beta) B(x', c) = (1 - eta beta) E [phi(c - a b) - phi(c)], a = eta/(1 -
 * eta beta), which is at most eta^2 sigma^2 K / (2 (1 - eta beta)) (pn_potential_trace).  The points after the steps
 * have, on average,
 *     E f - f* <= D2/t + N,   N = t s^2 K / (2 (1 - eta beta)).
 * (b) f not smooth, ||grad f||^2 / 2 <= V in the dual norm: the same for the points before the steps, with
 *     N = t s^2 K / 2 + (t/T) V.
 * (c) The last points only.  For u a point of the run itself B(u, c) = 0 there: the mean S_j of the last j points is at
 * most N above the point before them (a), or at their beginning (b), hence S_{j-1} <= S_j + N/j, or N/(j-1), and for
 * the last h of T
 *     E f - f* <= D2/t + k N,   k = 1 + sum of 1/j over j = h+1..T, or h..T-1:   1 + ln 2 for half of them.
 * A step made from grad Psi(x) has the same bounds, by D(u, x) for B(u, c).
 *
 * The time t = sqrt(2 D2/K)/s, at which D2/t = t s^2 K/2, is pn_time_of_noise for the distance 2 sqrt(D2) and K in
 * place of the dimension.  Of smooth losses T is such that steps are at most 1/(4 beta).  Else T is where half the
 * noise, s^2 T (G^2 + R^2)/2, is V; with fewer steps t falls with their root, as it does without noise. */
#include <math.h>

#include "solvers/engine/first_order.h"
#include "solvers/first_order/mirror_descent.h"

#define FEWEST   64.0
#define LONGEST  0.5  /* steps, of 1/beta */
#define SHORTEST 0.25 /* by default */

bool md_smooth(const md_terms *of)
{
    return isfinite(of->smoothness);
}

double md_cost(const md_terms *of)
{
    return of->unit > 0.0 ? of->unit * sqrt(2.0 * of->D2 * of->K) : 0.0;
}

/* What noise leaves; +inf without. */
static double time_of_noise(const md_terms *of)
{
    pn_noise_time time = of->along;

    if (!(of->unit > 0.0))
        return INFINITY;
    time.distance = 2.0 * sqrt(of->D2);
    time.p = of->K;
    time.unit = of->unit;
    return pn_time_of_noise(&time);
}

/* t = sqrt(D2 T/V), where D2/t = (t/T) V. */
static double time_without_noise(const md_terms *of, double T)
{
    return sqrt(of->D2 * T / of->gradient);
}

double md_time(const md_terms *of, double T)
{
    double t = of->times * time_of_noise(of), longest;

    if (md_smooth(of) && (of->smoothness > 0.0 || isfinite(t))) {
        longest = LONGEST * T / of->smoothness;
        return fmin(t, longest);
    }
    if (!(of->unit > 0.0))
        return of->times * time_without_noise(of, T);
    return t * fmin(1.0, of->unit * sqrt(0.5 * T * of->dual_square / of->gradient));
}

double md_steps(const md_terms *of)
{
    double t = time_of_noise(of), steps;

    if (!(of->unit > 0.0))
        return MD_DEFAULT_STEPS;
    if (md_smooth(of))
        steps = of->smoothness * t * fmax(1.0 / SHORTEST, of->times / LONGEST);
    else
        steps = 2.0 * of->gradient / (of->unit * of->unit * of->dual_square);
    return isnan(steps) ? FEWEST : fmax(ceil(steps), FEWEST);
}

/* 1 + 1/2 + .. + 1/n; beyond 64 terms by Euler and Maclaurin, whose next one is 1/(252 n^6) < 1e-13. */
static double harmonic(size_t n)
{
    const double euler = 0.57721566490153286061;
    double x = (double)n, sum = 0.0;

    if (n > 64)
        return log(x) + euler + 1.0 / (2.0 * x) - 1.0 / (12.0 * x * x) + 1.0 / (120.0 * x * x * x * x);
    for (size_t j = 1; j <= n; j++)
        sum += 1.0 / (double)j;
    return sum;
}

double md_tail_factor(const md_terms *of, size_t T, size_t skipped)
{
    size_t shift = md_smooth(of) ? 0 : 1;

    return 1.0 + harmonic(T - shift) - harmonic(T - skipped - shift);
}

double md_usual(const md_terms *of, double t)
{
    return of->D2 == 0.0 ? 0.0 : of->D2 / t + 0.5 * t * of->unit * of->unit * of->K;
}

double md_bound(const md_terms *of, double T, double t, double factor)
{
    double share = md_smooth(of) ? t / T * of->smoothness : 0.0, noise = 0.5 * t * of->unit * of->unit * of->K;

    if (of->D2 == 0.0)
        return 0.0;
    if (!(share < 1.0))
        return INFINITY;
    noise = md_smooth(of) ? noise / (1.0 - share) : noise + t / T * of->gradient;
    return of->D2 / t + factor * noise;
}
