/* conversion.c -- Renyi curves to (epsilon, delta) and back (Canonne, Kamath, Steinke 2020, Proposition 12), minimised over
 * real orders: the grid of accounting.md section 3, extended when its end wins, then golden section on ln(alpha - 1).
 * Depends on: accountant.h, conversion.h, numeric/root.h.  Used by: accountants, ledger.
 *
 * Every order gives a valid bound, so a search that misses the minimum is safe; and each order's own conversion is rounded
 * upward.  The ledger evaluates the same function at the same order, so what a plan promises is what it is charged. */
#include <float.h>
#include <math.h>

#include "numeric/root.h"
#include "privacy/accountant.h"
#include "privacy/conversion.h"
#include "privacy/event_curve.h"

/* The logarithmic part of the conversion at order alpha, and its rounding error. */
static double penalty(double alpha, double delta, double *error)
{
    double a = alpha - 1.0, shrink = log1p(-1.0 / alpha), price = -log(delta) / a, bonus = -log(alpha) / a;

    *error = 4.0 * DBL_EPSILON * (fabs(shrink) + price + fabs(bonus));
    return shrink + price + bonus;
}

double pn_rdp_epsilon(double alpha, double rdp, double delta)
{
    double extra, error;

    if (isinf(alpha) || isinf(rdp))
        return rdp;
    extra = penalty(alpha, delta, &error);
    return fmax(0.0, rdp + extra + (error + 2.0 * DBL_EPSILON * rdp));
}

double pn_rdp_budget(double alpha, double epsilon, double delta)
{
    double extra, error, budget;

    if (isinf(alpha))
        return epsilon;
    extra = penalty(alpha, delta, &error);
    budget = epsilon - extra;
    return budget - 2.0 * error - 4.0 * DBL_EPSILON * (fabs(budget) + epsilon);
}

/* ln of the smallest delta at this order, rounded upward. */
static double log_delta(double alpha, double rdp, double epsilon)
{
    double a = alpha - 1.0, shrink = a * log1p(-1.0 / alpha), bonus = log(alpha);
    double error = 4.0 * DBL_EPSILON * (a * (rdp + epsilon) + fabs(shrink) + bonus);

    return a * (rdp - epsilon) + shrink - bonus + error;
}

/* ---- the search ---- */

typedef struct search {
    const pn_curve *curve;
    double delta, epsilon;
    bool for_delta;
    double best, best_order;
} search;

static double ask(search *s, double alpha)
{
    double rdp = s->curve->rdp(s->curve->self, alpha), value = INFINITY;

    if (rdp < INFINITY)
        value = s->for_delta ? log_delta(alpha, rdp, s->epsilon) : pn_rdp_epsilon(alpha, rdp, s->delta);
    if (value < s->best) {
        s->best = value;
        s->best_order = alpha;
    }
    return value;
}

/* pn_golden_min over x = ln(alpha - 1). */
static double ask_log(void *self, double x)
{
    return ask(self, 1.0 + exp(x));
}

#define TENTHS    99 /* 1.1 ... 10.9 */
#define ONES      53 /* 11 ... 63 */
#define GRID_SIZE (TENTHS + ONES + 10)

/* The grid of the specification with the extensions of both ends; index from -7 to GRID_SIZE + 5. */
static const int grid_low = -7, grid_high = GRID_SIZE + 5;

static double grid_order(int i)
{
    static const double wide[] = { 72, 80, 96, 128, 192, 256, 384, 512, 768, 1024 };

    if (i < 0)
        return 1.0 + ldexp(1.0, i - 3); /* 1 + 2^-4 ... 1 + 2^-10 */
    if (i < TENTHS)
        return (11.0 + i) / 10.0;
    if (i < TENTHS + ONES)
        return 11.0 + (i - TENTHS);
    if (i < GRID_SIZE)
        return wide[i - TENTHS - ONES];
    return ldexp(1024.0, i - GRID_SIZE + 1); /* 2^11 ... 2^16 */
}

static void refine(search *s, double low, double high)
{
    (void)pn_golden_min(ask_log, s, log(low - 1.0), log(high - 1.0), 1e-7);
}

static void search_orders(search *s, double guess)
{
    int best = 0;
    double best_value = INFINITY;

    for (int i = 0; i < GRID_SIZE; i++) {
        double value = ask(s, grid_order(i));

        if (value < best_value) {
            best_value = value;
            best = i;
        }
    }
    while (best <= 0 && best > grid_low && ask(s, grid_order(best - 1)) <= best_value)
        best_value = ask(s, grid_order(--best));
    while (best >= GRID_SIZE - 1 && best < grid_high && ask(s, grid_order(best + 1)) <= best_value)
        best_value = ask(s, grid_order(++best));
    refine(s, grid_order(best > grid_low ? best - 1 : best), grid_order(best < grid_high ? best + 1 : best));
    if (guess > 1.0 && isfinite(guess))
        refine(s, 1.0 + (guess - 1.0) / 32.0, 1.0 + (guess - 1.0) * 32.0);
}

double pn_curve_epsilon(const pn_curve *curve, double delta, double guess, double *order)
{
    search s = { .curve = curve, .delta = delta, .best = INFINITY };
    double pure = curve->rdp(curve->self, INFINITY);

    if (delta > 0.0)
        search_orders(&s, guess);
    if (pure <= s.best) {
        s.best = pure;
        s.best_order = INFINITY;
    }
    if (order)
        *order = isinf(s.best) ? 0.0 : s.best_order;
    return s.best;
}

double pn_curve_delta(const pn_curve *curve, double epsilon, double guess)
{
    search s = { .curve = curve, .epsilon = epsilon, .for_delta = true, .best = INFINITY };

    if (curve->rdp(curve->self, INFINITY) <= epsilon)
        return 0.0;
    search_orders(&s, guess);
    return fmin(1.0, exp(s.best) * (1.0 + 4.0 * DBL_EPSILON));
}

/* ---- zCDP ---- */

static double zcdp_curve(const void *self, double alpha)
{
    return pn_curve_zcdp(*(const double *)self, alpha);
}

double pn_zcdp_guess(double rho, double delta)
{
    return rho > 0.0 && isfinite(rho) ? 1.0 + sqrt(fmax(-log(delta), 1e-3) / rho) : 0.0;
}

double pn_zcdp_epsilon(double rho, double delta)
{
    pn_curve curve = { zcdp_curve, &rho };

    if (!(rho > 0.0))
        return rho == 0.0 ? 0.0 : NAN;
    return pn_curve_epsilon(&curve, delta, delta > 0.0 ? pn_zcdp_guess(rho, delta) : 0.0, NULL);
}

typedef struct target {
    double epsilon, delta;
} target;

static bool too_costly(void *self, double rho)
{
    const target *goal = self;

    return pn_zcdp_epsilon(rho, goal->delta) > goal->epsilon;
}

double pn_zcdp_rho(double epsilon, double delta)
{
    target goal = { epsilon, pn_ideal_delta(delta) }; /* as every price of a release, which may be drawn noise */
    double rho;

    if (!(epsilon > 0.0 && delta > 0.0 && delta < 1.0))
        return epsilon == 0.0 || delta == 0.0 ? 0.0 : NAN;
    if (epsilon < 1e-200) /* next to the smallest numbers the loop below would stand still */
        return 0.0;
    /* The logarithms give back at most about 37, at a delta next to 1. */
    rho = pn_bisect(too_costly, &goal, 0.0, 2.0 * epsilon + 40.0);
    /* The search behind pn_zcdp_epsilon wavers in its last bits. */
    do
        rho *= 1.0 - 1e-10;
    while (rho > 0.0 && too_costly(&goal, rho));
    return rho;
}
