/* conversion.c -- Renyi curves to (epsilon, delta) and back (Canonne, Kamath, Steinke 2020, Proposition 12), minimised
 * over all real orders.
 * Depends on: accountant.h, conversion.h, numeric/root.h.  Used by: accountants, ledger.
 *
 * Every order gives a valid bound, so a search that misses the minimum is safe;
 * and each order's own conversion is rounded
 * upward.  The ledger evaluates the same function at the same order, so what a plan promises is what it is charged. */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "numeric/root.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_curve.h"

/* The logarithmic part of the conversion at order alpha > 1, and its rounding error. */
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
    if (!(alpha > 1.0)) /* 1 + x is 1 for a small x: no order, and no bound */
        return INFINITY;
    extra = penalty(alpha, delta, &error);
    return pn_nonnegative(rdp + extra + (error + 2.0 * DBL_EPSILON * rdp));
}

double pn_rdp_budget(double alpha, double epsilon, double delta)
{
    double extra, error, budget;

    if (isinf(alpha))
        return epsilon;
    if (!(alpha > 1.0))
        return -INFINITY;
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

/* ---- the search ----
 * epsilon(alpha) = (K(alpha) + R(alpha)) / (alpha - 1) with K = (alpha - 1) rdp(alpha), convex for a true Renyi
 * divergence, and R = (alpha-1) ln(alpha-1) - alpha ln(alpha) - ln(delta), R'' = 1/(alpha(alpha-1)).  Convex over
 * linear has one valley, and so has the convex ln(delta): walk downhill in factors of four of alpha - 1,
 * then fit parabolas. */

typedef enum goal { EPSILON, DELTA } goal;

typedef struct search {
    const pn_curve *curve;
    double delta, epsilon;
    goal goal;
    double best, best_order;
} search;

static double ask(search *s, double alpha)
{
    double rdp = alpha > 1.0 ? s->curve->rdp(s->curve->self, alpha) : (double)INFINITY, value = INFINITY;

    if (rdp < INFINITY && s->goal == EPSILON)
        value = pn_rdp_epsilon(alpha, rdp, s->delta);
    else if (rdp < INFINITY)
        value = log_delta(alpha, rdp, s->epsilon);
    if (value < s->best) {
        s->best = value;
        s->best_order = alpha;
    }
    return value;
}

/* A value at x = ln(alpha - 1). */
typedef struct point {
    double x, f;
} point;

static point ask_at(search *s, double x)
{
    return (point){ x, ask(s, 1.0 + exp(x)) };
}

/* Where the parabola through three points is lowest, as a step from p; NaN or infinite when there is none. */
static double parabola_step(point p, point q, point r)
{
    double dq = (p.x - q.x) * (p.f - r.f), dr = (p.x - r.x) * (p.f - q.f);

    return -0.5 * ((p.x - q.x) * dq - (p.x - r.x) * dr) / (dq - dr);
}

/* Brent's minimisation inside [low.x, high.x] from p between them with p.f the smallest of the three. */
static void descend(search *s, point low, point p, point high)
{
    const double tolerance = 1e-7, golden = 0.38196601125010515180;
    point second = low.f < high.f ? low : high, third = low.f < high.f ? high : low;
    double a = low.x, b = high.x, last = b - a, before_last = b - a;

    for (int i = 0; i < 100 && fmax(p.x - a, b - p.x) > 2.0 * tolerance; i++) {
        double step = parabola_step(p, second, third), x = p.x + step;
        bool useful = fabs(step) < 0.5 * before_last && x > a && x < b; /* false for NaN */
        point next;

        before_last = last;
        if (!useful) {
            before_last = p.x < 0.5 * (a + b) ? b - p.x : p.x - a;
            step = golden * (p.x < 0.5 * (a + b) ? b - p.x : a - p.x);
        } else if (x - a < 2.0 * tolerance || b - x < 2.0 * tolerance) {
            step = p.x < 0.5 * (a + b) ? tolerance : -tolerance;
        }
        last = fabs(step);
        next = ask_at(s, p.x + copysign(fmax(last, tolerance), step));
        if (next.f <= p.f) {
            *(next.x < p.x ? &b : &a) = p.x;
            third = second;
            second = p;
            p = next;
            continue;
        }
        *(next.x < p.x ? &a : &b) = next.x;
        if (next.f <= second.f) {
            third = second;
            second = next;
        } else if (next.f <= third.f) {
            third = next;
        }
    }
}

static bool beyond_end(void *self, double alpha)
{
    return ask(self, alpha) == INFINITY;
}

/* A curve that was declared at one order falls up to that order and ends there: no other order has its price. */
static void ask_end(search *s)
{
    double order = s->best_order, beyond = 1.0 + (order - 1.0) * (1.0 + 1e-6);

    if (order > 1.0 && isfinite(beyond) && beyond_end(s, beyond) && !beyond_end(s, nextafter(order, beyond)))
        (void)pn_bisect(beyond_end, s, order, beyond);
}

/* Orders from 1 + 2^-10 to 2^16, and as far beyond as the guess asks for. */
static void search_orders(search *s, double guess)
{
    const double octave = 0.69314718055994530942, stride = 2.0 * octave;
    double start = guess > 1.0 && isfinite(guess) ? log(guess - 1.0) : stride, order;
    double floor_x = fmin(-10.0 * octave, start - 4.0 * stride), ceiling = fmax(16.0 * octave, start + 4.0 * stride);
    point p = ask_at(s, start), low = ask_at(s, start - stride), high = ask_at(s, start + stride);

    while (low.x > floor_x && (low.f < p.f || isinf(p.f))) {
        high = p;
        p = low;
        low = ask_at(s, p.x - stride);
    }
    while (high.x < ceiling && high.f < p.f) {
        low = p;
        p = high;
        high = ask_at(s, p.x + stride);
    }
    descend(s, low, p, high);
    order = s->best_order; /* curves that were declared at one order end there, most often at a round number */
    (void)ask(s, fmax(rint(order), 2.0));
    (void)ask(s, fmax(rint(10.0 * order), 11.0) / 10.0);
    ask_end(s);
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
    search s = { .curve = curve, .epsilon = epsilon, .goal = DELTA, .best = INFINITY };

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
    const target *wanted = self;

    return pn_zcdp_epsilon(rho, wanted->delta) > wanted->epsilon;
}

double pn_zcdp_rho(double epsilon, double delta)
{
    target wanted = { epsilon, pn_ideal_delta(delta) }; /* as every price of a release, which may be drawn noise */
    double rho;

    if (!(epsilon > 0.0 && delta > 0.0 && delta < 1.0))
        return epsilon == 0.0 || delta == 0.0 ? 0.0 : NAN;
    if (epsilon < 1e-200) /* next to the smallest numbers the loop below would stand still */
        return 0.0;
    /* The logarithms give back at most about 37, at a delta next to 1. */
    rho = pn_bisect(too_costly, &wanted, 0.0, 2.0 * epsilon + 40.0);
    /* The search behind pn_zcdp_epsilon wavers in its last bits. */
    for (int i = 0; i == 0 || (rho > 0.0 && too_costly(&wanted, rho)); i++)
        rho *= i < 1000 ? 1.0 - 1e-10 : 0.5;
    return rho;
}
