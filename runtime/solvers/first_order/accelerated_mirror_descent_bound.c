/* accelerated_mirror_descent_bound.c -- the excess risk of accelerated mirror descent with noise,
 * and the steps that it favours.
 * Depends on: accelerated_mirror_descent.h.  Used by: accelerated_mirror_descent_plan.c.
 * Source: Wang, Ye, Xu (2017), Algorithm 3; Allen-Zhu, Orecchia (2017) for the coupling.
 * The constants are derived here.
 *
 * F convex and L-smooth in a norm, w 1-strongly convex in it, D its divergence, B >= D(x*, x_0), r convex; nothing is
 * asked of C but that it is convex.  With M = 2L/c a step is A = (k + 2)/(2M), rho = 2/(k + 2) = 1/(M A),
 * h = grad F(x) + b, E[b | past] = 0, and
 *     x = rho z + (1 - rho) y,   z' = argmin_C D(., z) + A (<h, .> + r),   y' = rho z' + (1 - rho) y,
 *         so y' - x = rho (z' - z).
 * Smoothness at y', convexity at x, and r at y':
 *     F_r(y') <= (1 - rho) F_r(y) + rho (F(x) + <grad F(x), z' - x> + r(z')) + (L/2) rho^2 |z' - z|^2.
 * The step gives, for every u in C,  A (<h, z' - u> + r(z') - r(u)) <= D(u, z) - D(u, z') - D(z', z), hence,
 * as rho/A = M rho^2 and |z' - z|^2/2 <= D(z', z),
 *     gap' <= (1 - rho) gap + M rho^2 (D(x*, z) - D(x*, z')) - rho <b, z - x*> - rho <b,
 *         z' - z> - rho^2 (M - L) D(z', z).
 * The third term has mean 0.  With phi the conjugate of w over C and z reached at c, the last two are at most
 * rho^2 (M - L) (phi(c - b/(rho (M - L))) - phi(c) + <b, z>/(rho (M - L))), whose mean is at most
 * sigma^2 K / (2 (M - L)) (pn_potential_trace).  Divided by rho_k^2 and added up, since
 * (1 - rho_k)/rho_k^2 <= 1/rho_{k-1}^2 and rho_0 = 1, with S = sum_{j=2}^{T+1} j^2 / (T + 1)^2:
 *     E gap_T <= 4 M B/(T + 1)^2 + S sigma^2 K / (2 (M - L)).                                              (triangle)
 * c = 1 is the article's step: 8 L B/(T + 1)^2 without noise.
 *
 * The printed y-step, y' = argmin_C q + <b, .> + r with q(y) = <grad F(x), y - x> + (L/2)|y - x|^2 in a Euclidean norm,
 * has (q + r)(y') <= min (q + r) + |b|_*^2/(2L) because q is L-strongly convex, and the triangle's corner is one of the
 * points that the minimum competes with: with E |b|_*^2 <= sigma^2 K', K' >= K,
 *     E gap_T <= 4 M B/(T + 1)^2 + S sigma^2 (K'/(2L) + K/(2 (M - L))).                                     (printed)
 *
 * sigma = s sqrt(T).  In the triangle form M = L + (T + 1) sqrt(S sigma^2 K / (8B)) is best, and its bound is
 * 4 L B/(T + 1)^2 plus a term that tends to 2 s sqrt(2 B K/3) whatever T: more steps only help.  T is taken where the
 * first part is SHARE of that.  With c = 1 throughout, the best T would be the article's (48 L^2 B/(s^2 K))^(1/4),
 * and the bound 41% above the limit. */
#include <math.h>

#include "solvers/first_order/accelerated_mirror_descent.h"

#define SHARE 0.1

static double sum_of_squares(double T)
{
    return ((T + 1.0) * (T + 2.0) * (2.0 * T + 3.0) / 6.0 - 1.0) / ((T + 1.0) * (T + 1.0));
}

double amd_scale(const amd_terms *of, double T, double sigma)
{
    double M;

    if (of->scale > 0.0)
        return of->scale;
    if (of->printed || sigma == 0.0 || !isfinite(of->B))
        return 1.0;
    M = of->L + (T + 1.0) * sigma * sqrt(sum_of_squares(T) * of->K / (8.0 * of->B));
    return fmin(1.0, 2.0 * of->L / M);
}

double amd_bound(const amd_terms *of, double T, double sigma, double c, double *bias, double *noise)
{
    double M = 2.0 * of->L / c, noise_square = sum_of_squares(T) * sigma * sigma, room = 2.0 * (M - of->L);
    double square = noise_square * of->K;

    *bias = of->B == 0.0 ? 0.0 : 4.0 * M * of->B / ((T + 1.0) * (T + 1.0)); /* M is inf there */
    *noise = square == 0.0 ? 0.0 : square / room + (of->printed ? noise_square * of->dual / (2.0 * of->L) : 0.0);
    return room < 0.0 || (room == 0.0 && square > 0.0) ? INFINITY : *bias + *noise;
}

double amd_bound_at(const amd_terms *of, double T)
{
    double bias, noise, sigma = of->unit * sqrt(T);

    return T == 0.0 ? INFINITY : amd_bound(of, T, sigma, amd_scale(of, T, sigma), &bias, &noise);
}

/* Steps of one length: the bound falls, then rises. */
static double best_steps(const amd_terms *of)
{
    double M = 2.0 * of->L / (of->scale > 0.0 ? of->scale : 1.0);
    double room = of->printed ? 0.5 * of->L : fmax(M - of->L, 1e-3 * of->L);
    double T = fmax(1.0, floor(pow(24.0 * M * of->B * room / (of->unit * of->unit * of->K), 0.25)));

    T = fmin(T, (double)of->most);
    while (T > 1.0 && amd_bound_at(of, T - 1.0) < amd_bound_at(of, T))
        T -= 1.0;
    while (T < (double)of->most && amd_bound_at(of, T + 1.0) < amd_bound_at(of, T))
        T += 1.0;
    return T;
}

size_t amd_steps(const amd_terms *of)
{
    double T;

    if (of->given)
        return of->given;
    if (of->unit == 0.0)
        return of->most < AMD_DEFAULT_STEPS ? of->most : AMD_DEFAULT_STEPS;
    if (of->printed || of->scale > 0.0)
        T = best_steps(of);
    else
        T = ceil(sqrt(4.0 * of->L * of->B / (SHARE * 2.0 * of->unit * sqrt(2.0 * of->B * of->K / 3.0))));
    return (size_t)fmin(fmax(T, 1.0), (double)of->most);
}
