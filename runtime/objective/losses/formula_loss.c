/* formula_loss.c -- losses that are an expression in z and y: compiled, differentiated and bounded by the machinery of
 * expr/.  What the table builds and what a user types take the same way, so they cost and bound the same.
 * Depends on: formula_loss.h, expr.  Used by: loss.c, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/compiled.h"
#include "expr/rounding.h"
#include "objective/losses/formula_loss.h"

enum { Z = 0, Y = 1 };

typedef struct formula_loss {
    pn_loss base;
    pn_compiled f;
} formula_loss;

static void formula_destroy(pn_loss *loss)
{
    formula_loss *self = (formula_loss *)loss;

    pn_compiled_clear(&self->f);
    pn_free(self);
}

static void formula_evaluate(const pn_loss *loss, size_t count, const double *z, const double *y, double *value,
                             double *slope)
{
    const formula_loss *self = (const formula_loss *)loss;
    const double *inputs[2] = { z, y };

    pn_compiled_run(&self->f, count, inputs, value, slope);
}

static void formula_curve(const pn_loss *loss, size_t count, const double *z, const double *y, const double *along,
                          double *out)
{
    const formula_loss *self = (const formula_loss *)loss;
    const double *inputs[2] = { z, y };

    pn_program_run(self->f.curvature, count, inputs, &out);
    for (size_t i = 0; i < count; i++)
        out[i] *= along[i];
}

/* ---- bounds ---- */

static pn_status formula_certify(pn_loss *loss, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    formula_loss *self = (formula_loss *)loss;
    pn_domain domains[2] = { [Z] = { margin, NULL, 0 } };
    double values[PN_LABEL_VALUES_MAX];
    pn_shape shape;
    pn_status status = pn_loss_label_domain(&domains[Y], loss, y, values, err);

    if (status == PN_OK)
        status = pn_shape_of(&shape, self->f.graph, self->f.root, Z, domains, NULL, err);
    if (status != PN_OK)
        return status;
    *out = (pn_loss_bounds){ .value = shape.value,
                             .slope = shape.slope,
                             .curvature = shape.curvature,
                             .third = shape.third,
                             .continuous = shape.continuous,
                             .smooth = shape.smooth,
                             .twice_smooth = shape.twice_smooth,
                             .curvature_norm = pn_interval_magnitude(shape.curvature),
                             .convex = shape.convex };
    memcpy(out->missing, shape.missing, sizeof out->missing);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        out->slope_norm[norm] = pn_interval_magnitude(shape.slope);
    return PN_OK;
}

static pn_status formula_fall(pn_loss *loss, double margin, double norm, pn_interval y, double *out, pn_err *err)
{
    formula_loss *self = (formula_loss *)loss;
    pn_domain domains[2] = { [Z] = { { -margin, margin }, NULL, 0 } };
    double values[PN_LABEL_VALUES_MAX];

    (void)norm;
    PN_TRY(pn_loss_label_domain(&domains[Y], loss, y, values, err));
    return pn_bound_fall(out, self->f.graph, self->f.root, Z + 1, domains, NULL, err);
}

static const pn_loss_ops formula_ops;

pn_status pn_loss_rounding(pn_loss *loss, pn_interval margin, pn_interval y, double enough, double *out, pn_err *err)
{
    formula_loss *self = (formula_loss *)loss;
    pn_domain domains[2] = { [Z] = { margin, NULL, 0 } };
    double values[PN_LABEL_VALUES_MAX];
    pn_status status;

    *out = enough;
    if (loss->ops != &formula_ops)
        return PN_OK;
    status = pn_loss_label_domain(&domains[Y], loss, y, values, err);
    return status == PN_OK ? pn_rounding_of(out, self->f.graph, self->f.slope_root, domains, enough, NULL, err)
                           : status;
}

static const pn_loss_ops formula_ops = {
    .name = "glm",
    .doc = "A loss typed as a formula of the margin z and the label y.",
    .source = "traced from the user's function; derivatives and bounds from its expression",
    .destroy = formula_destroy,
    .evaluate = formula_evaluate,
    .curve = formula_curve,
    .certify = formula_certify,
    .fall = formula_fall,
};

/* ---- a formula that is the slope itself ----
 * Its "gradient" is the sum of phi(z, y) x, of a loss that nobody needs: values are not numbers, and nothing is
 * smooth. */

static void slope_evaluate(const pn_loss *loss, size_t count, const double *z, const double *y, double *value,
                           double *slope)
{
    const formula_loss *self = (const formula_loss *)loss;
    const double *inputs[2] = { z, y };

    for (size_t i = 0; value && i < count; i++)
        value[i] = NAN;
    if (slope)
        pn_compiled_run(&self->f, count, inputs, slope, NULL);
}

static pn_status slope_certify(pn_loss *loss, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    const pn_interval all = { -INFINITY, INFINITY };
    pn_interval slope;

    PN_TRY(formula_certify(loss, margin, y, out, err));
    slope = out->value;
    *out = (pn_loss_bounds){ .value = all, .slope = slope, .curvature = all, .third = all, .curvature_norm = INFINITY };
    (void)snprintf(out->missing, sizeof out->missing, "its values are in [%g, %g]", slope.low, slope.high);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        out->slope_norm[norm] = pn_interval_magnitude(slope);
    return PN_OK;
}

static const pn_loss_ops slope_ops = {
    .name = "slope",
    .doc = "A formula of the margin z and the label y that stands for the slope of a loss.",
    .source = "traced from the user's function; bounds from its expression",
    .destroy = formula_destroy,
    .evaluate = slope_evaluate,
    .certify = slope_certify,
};

/* ---- construction ---- */

/* dl/dz = z - y: whatever the formula was, its gradient is that of the squared loss. */
static bool is_quadratic(pn_graph *graph, pn_node slope)
{
    return slope != PN_NODE_NONE && slope == pn_x_binary(graph, PN_X_SUB, pn_x_var(graph, Z), pn_x_var(graph, Y));
}

static pn_status from_graph(pn_loss **out, const pn_loss_ops *row, pn_graph *graph, pn_node root,
                            const pn_labels *labels, pn_err *err)
{
    formula_loss *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "loss.%s: out of memory", row->name));
    pn_loss_init(&self->base, &formula_ops, row);
    self->base.labels = *labels;
    self->base.margins = 1;
    status = pn_compiled_open(&self->f, graph, root, err);
    if (status == PN_OK)
        self->base.quadratic = is_quadratic(graph, self->f.slope_root);
    if (status != PN_OK) {
        formula_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

pn_status pn_loss_from_graph(pn_loss **out, pn_graph *graph, pn_node root, const pn_labels *labels, pn_err *err)
{
    return from_graph(out, &formula_ops, graph, root, labels, err);
}

pn_status pn_loss_from_slope(pn_loss **out, pn_graph *graph, pn_node root, const pn_labels *labels, pn_err *err)
{
    PN_TRY(from_graph(out, &slope_ops, graph, root, labels, err));
    (*out)->ops = &slope_ops;
    (*out)->quadratic = false;
    return PN_OK;
}

pn_status pn_formula_loss_new(pn_loss **out, const pn_loss_ops *row, const pn_arg *args, pn_err *err)
{
    static const char *const names[2] = { [Z] = "z", [Y] = "y" };
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);

    if (status == PN_OK)
        status = from_graph(out, row, graph, row->formula(graph, args), &row->labels, err);
    pn_graph_free(graph);
    return status;
}

pn_graph *pn_loss_graph(const pn_loss *loss, pn_node *root)
{
    const formula_loss *self = (const formula_loss *)loss;

    if (loss->ops != &formula_ops)
        return NULL;
    *root = self->f.root;
    return self->f.graph;
}
