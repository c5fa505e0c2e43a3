/* event_declared.c -- a Renyi curve of the caller's own, at finitely many orders.
 * Depends on: event_leaf.h, core/alloc.h.  Used by: the table in event.c.
 *
 * For any two laws D(alpha) does not fall as alpha grows, and K(alpha) = (alpha - 1) D(alpha), the logarithm of a
 * moment generating function, is convex with K(1) = 0 (van Erven, Harremoes 2014, Theorem 3 and Corollary 2).  So with
 * D(a_i) <= d_i at orders a_1 < ... < a_n
 *     D(alpha) <= d_1                                             for alpha <= a_1,
 *     K(alpha) <= the line through (a_i - 1) d_i, (a_j - 1) d_j   for alpha between neighbours a_i and a_j,
 * and nothing is known beyond a_n.  That needs no property of the d_i themselves: what contradicts them is refused as a
 * mistake, not because the bound would fail, so the tolerance for it is no matter of privacy. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "privacy/event/event_leaf.h"

enum { ORDERS, DIVERGENCES, REVERSE, FUNCTION };

#define MAX_ORDERS 4096
#define TOLERANCE  1e-6 /* relative: figures that were printed with six digits and computed by other means */

/* Where a function is asked: alpha - 1 = 2^e (1 + j/16) from 2^-4 to 2^15, so that the line between two orders is at
 * most 0.1% above a curve rho alpha. */
#define GRID_FIRST  (-4)
#define GRID_LAST   15
#define GRID_STEPS  16
#define GRID_ORDERS (GRID_STEPS * (GRID_LAST - GRID_FIRST) + 1)

typedef struct curve {
    pn_event base;
    size_t n;
    double *orders, *divergences; /* [n] each; one block, behind the struct */
} curve;

/* ---- the curve ---- */

/* The first order that is at least alpha; n where there is none. */
static size_t first_from(const curve *c, double alpha)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->orders[middle] >= alpha)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The line of K between orders i and j, divided by alpha - 1; a few roundings, and upward by more. */
static double between(const curve *c, size_t i, size_t j, double alpha)
{
    double gap = c->orders[j] - c->orders[i];
    double left = (c->orders[j] - alpha) / gap * ((c->orders[i] - 1.0) / (alpha - 1.0)) * c->divergences[i];
    double right = (alpha - c->orders[i]) / gap * ((c->orders[j] - 1.0) / (alpha - 1.0)) * c->divergences[j];

    return (left + right) * (1.0 + 0x1p-48);
}

static double rdp(const pn_event *self, double alpha)
{
    const curve *c = (const curve *)self;
    size_t j = first_from(c, alpha);

    if (j == c->n)
        return INFINITY;
    if (j == 0 || c->orders[j] == alpha)
        return c->divergences[j];
    return fmin(between(c, j - 1, j, alpha), c->divergences[j]);
}

static double zcdp(const pn_event *self)
{
    (void)self;
    return INFINITY; /* nothing is known at large orders */
}

/* ---- what is refused ---- */

static pn_status check_shape(const pn_arg *args, pn_err *err)
{
    const pn_vec orders = args[ORDERS].vector;
    bool function = args[FUNCTION].given && args[FUNCTION].object;

    if (function == args[DIVERGENCES].given || (function && args[REVERSE].given))
        return pn_fail(err, PN_EINVAL,
                       "event.curve: give either divergences, one for each order, or divergence, a function of the "
                       "order");
    if (!args[ORDERS].given)
        return function ? PN_OK
                        : pn_fail(err, PN_EINVAL,
                                  "event.curve: orders is missing; give the Renyi orders of the divergences");
    if (orders.n < 1 || orders.n > MAX_ORDERS)
        return pn_fail(err, PN_EDIM, "event.curve: orders must have 1 to %d entries, got %zu", MAX_ORDERS, orders.n);
    for (size_t k = DIVERGENCES; k <= REVERSE; k++)
        if (args[k].given && args[k].vector.n != orders.n)
            return pn_fail(err, PN_EDIM, "event.curve: %s must have an entry for each of the %zu orders, got %zu",
                           k == REVERSE ? "reverse" : "divergences", orders.n, args[k].vector.n);
    return PN_OK;
}

static pn_status check_order(const curve *c, size_t i, pn_err *err)
{
    if (!(c->orders[i] > 1.0))
        return pn_fail(err, PN_EINVAL, "event.curve: orders must be greater than 1, got %.10g at entry %zu",
                       c->orders[i], i + 1);
    if (i > 0 && !(c->orders[i] > c->orders[i - 1]))
        return pn_fail(err, PN_EINVAL, "event.curve: orders must increase, got %.10g after %.10g at entry %zu",
                       c->orders[i], c->orders[i - 1], i + 1);
    return PN_OK;
}

static pn_status check_divergence(const curve *c, size_t i, pn_err *err)
{
    double order = c->orders[i], value = c->divergences[i];

    if (!(value >= 0.0))
        return pn_fail(err, PN_EINVAL, "event.curve: a divergence must be a number >= 0, got %g at order %.10g",
                       isnan(value) ? (double)NAN : value, order);
    if (i > 0 && value < c->divergences[i - 1] * (1.0 - TOLERANCE))
        return pn_fail(err, PN_EINVAL,
                       "event.curve: divergences must not fall as the order grows, got %.10g at order %.10g after "
                       "%.10g at order %.10g; if both are bounds, the smaller one holds at the lower order too",
                       value, order, c->divergences[i - 1], c->orders[i - 1]);
    if (i > 1 && c->divergences[i - 1] > between(c, i - 2, i, c->orders[i - 1]) * (1.0 + TOLERANCE))
        return pn_fail(err, PN_EINVAL,
                       "event.curve: (order - 1) divergence must be convex in the order, got a divergence of %.10g at "
                       "order %.10g, where those at %.10g and %.10g imply at most %.10g; if all are bounds, give that",
                       c->divergences[i - 1], c->orders[i - 1], c->orders[i - 2], order,
                       between(c, i - 2, i, c->orders[i - 1]));
    return PN_OK;
}

/* ---- making one ---- */

static double grid_order(size_t i)
{
    return 1.0 + ldexp(1.0 + (double)(i % GRID_STEPS) / GRID_STEPS, GRID_FIRST + (int)(i / GRID_STEPS));
}

static pn_status divergence_at(double *value, const pn_arg *args, size_t i, double order, pn_err *err)
{
    const pn_renyi_curve *function = args[FUNCTION].given ? args[FUNCTION].object : NULL;

    if (function)
        return function->divergence(function->self, order, value, err);
    *value = args[DIVERGENCES].vector.data[i];
    if (args[REVERSE].given && !(args[REVERSE].vector.data[i] <= *value))
        *value = args[REVERSE].vector.data[i];
    return PN_OK;
}

/* All of them before a function is asked, which may change what they were given as. */
static pn_status fill_orders(curve *c, const pn_arg *orders, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; i < c->n && status == PN_OK; i++) {
        c->orders[i] = orders->given ? orders->vector.data[i] : grid_order(i);
        status = check_order(c, i, err);
    }
    return status;
}

/* A function may be infinite from some order on: there its curve ends. */
static pn_status fill_divergences(curve *c, const pn_arg *args, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; i < c->n && status == PN_OK; i++) {
        status = divergence_at(&c->divergences[i], args, i, c->orders[i], err);
        if (status == PN_OK && c->divergences[i] == INFINITY)
            c->n = i;
        else if (status == PN_OK)
            status = check_divergence(c, i, err);
    }
    if (status == PN_OK && c->n == 0)
        status = pn_fail(err, PN_EINVAL, "event.curve: divergence must be finite at some order, got inf at order %.10g",
                         c->orders[0]);
    return status;
}

static void destroy(pn_event *self)
{
    pn_free(self);
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    size_t n = args[ORDERS].given ? args[ORDERS].vector.n : GRID_ORDERS;
    pn_status status = check_shape(args, err);
    curve *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_alloc(1, sizeof *self + 2 * n * sizeof(double));
    PN_TRY(pn_made(self, err, "event.curve: out of memory for %zu orders", n));
    *self = (curve){ .base = { &pn_event_curve_ops, neighbours, 1 }, .n = n, .orders = (double *)(self + 1) };
    self->divergences = self->orders + n;
    status = fill_orders(self, &args[ORDERS], err);
    if (status == PN_OK)
        status = fill_divergences(self, args, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        destroy(&self->base);
    return status;
}

/* ---- the row ---- */

static void arguments(const pn_event *self, pn_arg *args)
{
    const curve *c = (const curve *)self;

    args[ORDERS] = (pn_arg){ .given = true, .vector = { c->orders, c->n } };
    args[DIVERGENCES] = (pn_arg){ .given = true, .vector = { c->divergences, c->n } };
    args[REVERSE] = args[FUNCTION] = (pn_arg){ 0 };
}

static void describe(const pn_event *self, char *text, size_t size)
{
    const curve *c = (const curve *)self;

    if (c->n == 1)
        (void)snprintf(text, size, "curve(%g at order %g)", c->divergences[0], c->orders[0]);
    else
        (void)snprintf(text, size, "curve(%g at order %g to %g at order %g, %zu orders)", c->divergences[0],
                       c->orders[0], c->divergences[c->n - 1], c->orders[c->n - 1], c->n);
}

static const char *const function_class[] = { "function", NULL };

static const pn_param params[] = {
    { "orders", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "Renyi orders, greater than 1 and increasing, at most 4096; when absent, for a function, 305 from 1.0625 to "
      "32769" },
    { "divergences", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "bound on the Renyi divergence of each of the orders, >= 0" },
    { "reverse", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "bounds for the neighbours in the other order, where divergences holds for one alone; the larger one counts" },
    { "divergence", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_class,
      "function(order) -> the divergence, or one for either order of the neighbours; math.huge where the curve ends" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_curve_ops = {
    .name = "curve",
    .doc =
        "A mechanism whose Renyi curve is declared: bounds at given orders, in both directions, or a function of the "
        "order that is asked at fixed orders when the event is made, and not kept. Between two orders (alpha - 1) "
        "times the bound is interpolated linearly, below the first its bound holds, above the last there is none. "
        "Divergences that fall as the order grows, or whose (alpha - 1) multiple is not convex to 1e-6, are refused "
        "with the order. No zCDP, no pure epsilon and no privacy loss distribution.",
    .source = "van Erven, Harremoes (2014), Theorem 3 and Corollary 2; Mironov (2017)",
    .params = params,
    .create = create,
    .destroy = destroy,
    .args = arguments,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = describe,
};
