/* separable_regularisers.c -- the regularisers that are one formula f(w) of each coordinate: none, l2, l1,
 * elastic net, nonconvex.
 * Depends on: formula_regulariser.h, expr/formula.h.  Used by: regulariser.c's table.
 * See variance-reduced.md section 8 for the scaling of l2; second-order.md section 9 for nonconvex. */
#include "expr/formula.h"
#include "objective/regularisers/formula_regulariser.h"

static const pn_param lambda_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight against the mean loss" },
    PN_PARAM_END,
};

/* The operator of the same name in pn.prox has the same parameters, in the same order and scaling, up to `name`. */
static pn_status prox_named(const char *name, const pn_regulariser *self, pn_prox **out, pn_err *err)
{
    pn_arg args[2] = { { .given = true, .real = pn_formula_regulariser_number(self, 0) },
                       { .given = true, .real = pn_formula_regulariser_number(self, 1) } };

    return pn_prox_from_args(out, name, args, err);
}

static pn_node coordinate(pn_graph *g)
{
    return pn_x_var(g, 0);
}

static pn_node none(pn_graph *g, const pn_arg *args)
{
    (void)args;
    return pn_x_const(g, 0.0);
}

static pn_status none_prox(const pn_regulariser *self, pn_prox **out, pn_err *err)
{
    (void)self;
    (void)err;
    *out = NULL;
    return PN_OK;
}

const pn_regulariser_ops pn_regulariser_none = {
    .name = "none",
    .doc = "No regulariser: r(w) = 0.",
    .source = "by definition",
    .formula = none,
    .prox = none_prox,
};

static pn_node l2(pn_graph *g, const pn_arg *args)
{
    return pn_x_scale(g, 0.5 * args[0].real, pn_x_square(g, coordinate(g)));
}

static pn_status l2_prox(const pn_regulariser *self, pn_prox **out, pn_err *err)
{
    return prox_named("squared_l2", self, out, err);
}

const pn_regulariser_ops pn_regulariser_l2 = {
    .name = "l2",
    .doc = "r(w) = lambda/2 ||w||_2^2; gradient lambda w, strongly convex and smooth with constant lambda.",
    .source = "Hoerl, Kennard (1970), Ridge regression",
    .params = lambda_params,
    .formula = l2,
    .prox = l2_prox,
};

static pn_node l1(pn_graph *g, const pn_arg *args)
{
    return pn_x_scale(g, args[0].real, pn_x_abs(g, coordinate(g)));
}

static pn_status l1_prox(const pn_regulariser *self, pn_prox **out, pn_err *err)
{
    return prox_named("l1", self, out, err);
}

const pn_regulariser_ops pn_regulariser_l1 = {
    .name = "l1",
    .doc = "r(w) = lambda ||w||_1; convex, subgradient lambda sign(w), 0 where w_j is 0; not smooth.",
    .source = "Tibshirani (1996), Regression shrinkage and selection via the lasso",
    .params = lambda_params,
    .formula = l1,
    .prox = l1_prox,
};

static const pn_param elastic_net_params[] = {
    { "l1", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL, "weight of ||w||_1" },
    { "l2", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL, "weight of ||w||_2^2 / 2" },
    PN_PARAM_END,
};

/* A weight of 0 leaves no kink behind. */
static pn_node elastic_net(pn_graph *g, const pn_arg *args)
{
    pn_node sum = pn_x_const(g, 0.0);

    if (args[0].real > 0.0)
        sum = pn_x_add(g, sum, l1(g, &args[0]));
    if (args[1].real > 0.0)
        sum = pn_x_add(g, sum, l2(g, &args[1]));
    return sum;
}

static pn_status elastic_net_prox(const pn_regulariser *self, pn_prox **out, pn_err *err)
{
    return prox_named("elastic_net", self, out, err);
}

const pn_regulariser_ops pn_regulariser_elastic_net = {
    .name = "elastic_net",
    .doc = "r(w) = l1 ||w||_1 + l2/2 ||w||_2^2; strongly convex with constant l2, subgradient 0 where w_j is 0.",
    .source = "Zou, Hastie (2005), Regularization and variable selection via the elastic net",
    .params = elastic_net_params,
    .formula = elastic_net,
    .prox = elastic_net_prox,
};

static pn_node nonconvex(pn_graph *g, const pn_arg *args)
{
    pn_node square = pn_x_square(g, coordinate(g));

    return pn_x_scale(g, args[0].real, pn_x_div(g, square, pn_x_add(g, square, pn_x_const(g, 1.0))));
}

const pn_regulariser_ops pn_regulariser_nonconvex = {
    .name = "nonconvex",
    .doc = "r(w) = lambda sum_j w_j^2/(1 + w_j^2), between 0 and lambda dim; over all w and in units of lambda the "
           "slope is at most 3 sqrt(3)/8, the curvature in [-1/2, 2], its Lipschitz constant 4.6686.",
    .source = "Gao, Wright, Differentially private optimization for smooth nonconvex ERM, experiments",
    .params = lambda_params,
    .formula = nonconvex,
};
