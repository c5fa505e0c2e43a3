/* regression_losses.c -- losses of the residual r = z - y for real labels, and the Poisson loss.
 * Depends on: loss.h, expr/formula.h.  Used by: loss.c's table.  See frank-wolfe.md section 5 for the squared
 * loss. */
#include "expr/formula.h"
#include "objective/losses/loss.h"

static pn_node margin(pn_graph *g)
{
    return pn_x_var(g, 0);
}

static pn_node label(pn_graph *g)
{
    return pn_x_var(g, 1);
}

static pn_node residual(pn_graph *g)
{
    return pn_x_sub(g, margin(g), label(g));
}

/* r^2 / 2 */
static pn_node half_square(pn_graph *g, pn_node r)
{
    return pn_x_scale(g, 0.5, pn_x_square(g, r));
}

static pn_node squared(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return half_square(g, residual(g));
}

const pn_loss_ops pn_loss_squared = {
    .name = "squared",
    .doc = "Squared error l(z, y) = (z - y)^2 / 2 for real labels; slope z - y, curvature 1.  Private regression: clip "
           "the labels, d:clip_labels(-1, 1); then solve.sufficient_statistics, one release, or clip=1 with "
           "solve.newton, which is ahead where columns are nearly dependent and theta is long.  With gradients alone a "
           "wide set lets slopes, and noise, be as large as it is wide.",
    .source = "Talwar, Thakurta, Zhang (2014), the LASSO objective",
    .formula = squared,
};

static const pn_param huber_params[] = {
    { "delta", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "where the square turns into a line, unit of the labels" },
    PN_PARAM_END,
};

static pn_node huber(pn_graph *g, const pn_arg *args)
{
    double delta = args[0].real;
    pn_node r = residual(g), size = pn_x_abs(g, r), line = pn_x_sub(g, size, pn_x_const(g, 0.5 * delta));

    return pn_x_where(g, pn_x_le(g, size, pn_x_const(g, delta)), half_square(g, r), pn_x_scale(g, delta, line));
}

const pn_loss_ops pn_loss_huber = {
    .name = "huber",
    .doc = "Huber's loss: r^2/2 for |r| <= delta, else delta (|r| - delta/2), r = z - y; |slope| <= delta whatever the "
           "labels.",
    .source = "Huber (1964), Robust estimation of a location parameter",
    .params = huber_params,
    .formula = huber,
};

static pn_node absolute(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return pn_x_abs(g, residual(g));
}

const pn_loss_ops pn_loss_absolute = {
    .name = "absolute",
    .doc = "Absolute error l(z, y) = |z - y|; slope sign(z - y), 0 at the kink; not smooth.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 6.1",
    .formula = absolute,
};

static const pn_param quantile_params[] = {
    { "tau", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "the quantile; 0.5 is half the absolute loss" },
    PN_PARAM_END,
};

/* max(tau u, (tau - 1) u) with u = y - z */
static pn_node quantile(pn_graph *g, const pn_arg *args)
{
    double tau = args[0].real;
    pn_node u = pn_x_sub(g, label(g), margin(g));

    return pn_x_max(g, pn_x_scale(g, tau, u), pn_x_scale(g, tau - 1.0, u));
}

const pn_loss_ops pn_loss_quantile = {
    .name = "quantile",
    .doc = "Pinball loss max(tau u, (tau - 1) u), u = y - z, minimised by the conditional tau-quantile; not smooth.",
    .source = "Koenker, Bassett (1978), Regression quantiles",
    .params = quantile_params,
    .formula = quantile,
};

static const pn_param cauchy_params[] = {
    { "scale", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL,
      "residuals far above it hardly matter; unit of the labels" },
    PN_PARAM_END,
};

/* (c^2 / 2) log(1 + (r/c)^2) */
static pn_node cauchy(pn_graph *g, const pn_arg *args)
{
    double c = args[0].real;
    pn_node ratio = pn_x_div(g, residual(g), pn_x_const(g, c));

    return pn_x_scale(g, 0.5 * c * c, pn_x_unary(g, PN_X_LOG1P, pn_x_square(g, ratio)));
}

const pn_loss_ops pn_loss_cauchy = {
    .name = "cauchy",
    .doc = "Cauchy (Lorentzian) loss (c^2/2) log(1 + (r/c)^2), c = scale, r = z - y; |slope| <= c/2, curvature in "
           "[-1/8, 1]; not convex.",
    .source = "Black, Anandan (1996), The robust estimation of multiple motions",
    .params = cauchy_params,
    .formula = cauchy,
};

static pn_node poisson(pn_graph *g, const pn_arg *args)
{
    pn_node z = margin(g);

    (void)args;
    return pn_x_sub(g, pn_x_unary(g, PN_X_EXP, z), pn_x_mul(g, label(g), z));
}

const pn_loss_ops pn_loss_poisson = {
    .name = "poisson",
    .doc = "Poisson regression with log link, l(z, y) = exp(z) - y z, for counts y >= 0; bounded margins are needed.",
    .source = "McCullagh, Nelder (1989), Generalized Linear Models, chapter 6",
    .formula = poisson,
};
