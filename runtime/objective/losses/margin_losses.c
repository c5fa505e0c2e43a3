/* margin_losses.c -- losses of the signed margin y z for labels -1 and 1.
 * Depends on: loss.h, expr/formula.h.  Used by: loss.c's table. */
#include "expr/formula.h"
#include "objective/losses/loss.h"

#define BINARY                                                                                                         \
    {                                                                                                                  \
        .kind = PN_LABELS_VALUES, .count = 2, .values = { -1.0, 1.0 }                                                  \
    }

/* -y z: positive on the wrong side */
static pn_node wrongness(pn_graph *g)
{
    return pn_x_neg(g, pn_x_mul(g, pn_x_var(g, 1), pn_x_var(g, 0)));
}

/* 1 - y z */
static pn_node shortfall(pn_graph *g)
{
    return pn_x_sub(g, pn_x_const(g, 1.0), pn_x_mul(g, pn_x_var(g, 1), pn_x_var(g, 0)));
}

static pn_node logistic(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return pn_x_unary(g, PN_X_SOFTPLUS, wrongness(g));
}

const pn_loss_ops pn_loss_logistic = {
    .name = "logistic",
    .doc = "Logistic loss l(z, y) = ln(1 + exp(-y z)) for labels -1 and 1; |slope| < 1, curvature <= 1/4.",
    .source = "Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.4",
    .formula = logistic,
    .labels = BINARY,
};

static pn_node hinge(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return pn_x_max(g, shortfall(g), pn_x_const(g, 0.0));
}

const pn_loss_ops pn_loss_hinge = {
    .name = "hinge",
    .doc = "Hinge loss max(1 - y z, 0) for labels -1 and 1; |slope| <= 1; not smooth.",
    .source = "Cortes, Vapnik (1995), Support-vector networks",
    .formula = hinge,
    .labels = BINARY,
};

static const pn_param smooth_hinge_params[] = {
    { "width", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL,
      "of the quadratic piece in the margin; curvature 1/width" },
    PN_PARAM_END,
};

/* with t = 1 - y z: 0, then t^2/(2 width), then t - width/2 from t = width on */
static pn_node smooth_hinge(pn_graph *g, const pn_arg *args)
{
    double width = args[0].real;
    pn_node t = shortfall(g), zero = pn_x_const(g, 0.0);
    pn_node square = pn_x_div(g, pn_x_square(g, t), pn_x_const(g, 2.0 * width));
    pn_node line = pn_x_sub(g, t, pn_x_const(g, 0.5 * width));

    return pn_x_where(g, pn_x_le(g, t, zero), zero, pn_x_where(g, pn_x_le(g, t, pn_x_const(g, width)), square, line));
}

const pn_loss_ops pn_loss_smooth_hinge = {
    .name = "smooth_hinge",
    .doc = "Hinge loss with a quadratic corner: t = 1 - y z gives 0 for t <= 0, t^2/(2 width) up to width, then t - "
           "width/2.",
    .source = "Rennie, Srebro (2005), Loss functions for preference levels",
    .params = smooth_hinge_params,
    .formula = smooth_hinge,
    .labels = BINARY,
};

static pn_node sigmoid(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return pn_x_unary(g, PN_X_SIGMOID, wrongness(g));
}

const pn_loss_ops pn_loss_sigmoid = {
    .name = "sigmoid",
    .doc = "Sigmoid loss 1/(1 + exp(y z)) for labels -1 and 1, a smooth error count; |slope| <= 1/4, not convex.",
    .source = "Mason, Baxter, Bartlett, Frean (1999), Boosting algorithms as gradient descent",
    .formula = sigmoid,
    .labels = BINARY,
};
