/* formula_regulariser.c -- separable regularisers r(theta) = sum_j f(theta_j) with f an expression: compiled,
 * differentiated and bounded by the machinery of expr/.  What the table builds and what a user types take the same way.
 * The Hessian is diagonal, so its eigenvalues are f'' at the coordinates and every bound is one of f over their range.
 * Depends on: formula_regulariser.h, expr, numeric/blas.h.  Used by: regulariser.c, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/compiled.h"
#include "expr/rounding.h"
#include "numeric/blas.h"
#include "objective/regularisers/formula_regulariser.h"

#define BLOCK   256
#define NUMBERS 4 /* parameters that a row can have */

typedef struct formula_regulariser {
    pn_regulariser base;
    pn_compiled f;
    double number[NUMBERS]; /* what the row's formula was given */
} formula_regulariser;

static void formula_destroy(pn_regulariser *regulariser)
{
    formula_regulariser *self = (formula_regulariser *)regulariser;

    pn_compiled_clear(&self->f);
    pn_free(self);
}

static pn_status formula_fits(const pn_regulariser *regulariser, size_t dim, pn_err *err)
{
    (void)regulariser;
    (void)dim;
    (void)err;
    return PN_OK;
}

/* ---- evaluation ---- */

static pn_status formula_evaluate(const pn_regulariser *regulariser, size_t dim, const double *theta, double *value,
                                  double *gradient, pn_err *err)
{
    const formula_regulariser *self = (const formula_regulariser *)regulariser;
    double values[BLOCK], slopes[BLOCK], total = 0.0;

    (void)err;
    for (size_t first = 0; first < dim; first += BLOCK) {
        size_t count = dim - first < BLOCK ? dim - first : BLOCK;

        pn_compiled_run(&self->f, count, &(const double *){ theta + first }, value ? values : NULL,
                        gradient ? slopes : NULL);
        if (value)
            total += pn_sum(count, values);
        if (gradient)
            pn_axpy(count, 1.0, slopes, gradient + first);
    }
    if (value)
        *value = total;
    return PN_OK;
}

static pn_status formula_curve(const pn_regulariser *regulariser, size_t dim, const double *theta, const double *v,
                               double *out, pn_err *err)
{
    const formula_regulariser *self = (const formula_regulariser *)regulariser;
    double curvature[BLOCK], *outputs[1] = { curvature };

    (void)err;
    for (size_t first = 0; first < dim; first += BLOCK) {
        size_t count = dim - first < BLOCK ? dim - first : BLOCK;
        const double *inputs[1] = { theta + first };

        pn_program_run(self->f.curvature, count, inputs, outputs);
        for (size_t i = 0; i < count; i++)
            out[first + i] += curvature[i] * v[first + i];
    }
    return PN_OK;
}

/* ---- bounds ---- */

/* Where the slope jumps, only the bound on the other side of the jump survives: a kink that bends upward, as |w| has,
 * keeps f above its parabolas, one that bends down, as min(w^2, 1) has, keeps it below. */
static pn_status certify_kinks(formula_regulariser *self, const pn_domain *domain, const pn_shape *shape,
                               pn_regulariser_bounds *out, pn_err *err)
{
    pn_jump jump;

    PN_TRY(pn_bound_jump(&jump, self->f.graph, self->f.slope_root, 0, domain, NULL, err));
    if (jump.decided)
        (void)snprintf(out->missing, sizeof out->missing, "slope: it jumps at %s = %g",
                       pn_graph_variable_name(self->f.graph, 0), jump.where);
    else
        (void)snprintf(out->missing, sizeof out->missing, "slope: it could not be shown not to jump");
    if (jump.decided && jump.up == 0.0)
        out->largest_curvature = shape->curvature.high;
    if ((jump.decided && jump.down == 0.0) || shape->convex)
        out->strong_convexity = shape->curvature.low;
    return PN_OK;
}

static void take_smooth(const pn_shape *shape, pn_regulariser_bounds *out)
{
    out->smoothness = pn_interval_magnitude(shape->curvature);
    out->largest_curvature = shape->curvature.high;
    out->strong_convexity = shape->curvature.low;
    if (shape->twice_smooth)
        out->hessian_lipschitz = pn_interval_magnitude(shape->third);
}

/* The shape names the first thing that is missing; that r itself is unbounded, as most are on R^dim,
 * matters to nobody. */
static void explain(const formula_regulariser *self, pn_interval coordinate, const pn_shape *shape,
                    pn_regulariser_bounds *out)
{
    bool of_value = strncmp(shape->missing, "value: ", 7) == 0 && shape->continuous;
    const char *w = pn_graph_variable_name(self->f.graph, 0);
    char slope[100];

    if (!of_value) {
        memcpy(out->missing, shape->missing, sizeof out->missing);
    } else if (isinf(out->gradient)) {
        pn_graph_text(self->f.graph, self->f.slope_root, slope, sizeof slope);
        (void)snprintf(out->missing, sizeof out->missing, "slope: %s is unbounded where %s is in [%g, %g]", slope, w,
                       coordinate.low, coordinate.high);
    } else if (shape->smooth && isinf(out->hessian_lipschitz)) {
        (void)snprintf(out->missing, sizeof out->missing, "%s where %s is in [%g, %g]",
                       isinf(out->smoothness) ? "curvature: it is unbounded"
                       : !shape->twice_smooth ? "curvature: it jumps, or could not be shown not to,"
                                              : "third derivative: it is unbounded",
                       w, coordinate.low, coordinate.high);
    }
}

static pn_status formula_certify(pn_regulariser *regulariser, pn_interval coordinate, pn_regulariser_bounds *out,
                                 pn_err *err)
{
    formula_regulariser *self = (formula_regulariser *)regulariser;
    const pn_domain domain = { coordinate, NULL, 0 };
    pn_shape shape;
    pn_status status = pn_shape_of(&shape, self->f.graph, self->f.root, 0, &domain, NULL, err);
    pn_regulariser_bounds bounds = { INFINITY, INFINITY, INFINITY, -INFINITY, INFINITY, false, "" };

    if (status == PN_OK && shape.continuous) {
        bounds.gradient = pn_interval_magnitude(shape.slope);
        if (shape.smooth)
            take_smooth(&shape, &bounds);
        else
            status = certify_kinks(self, &domain, &shape, &bounds, err);
    }
    if (status != PN_OK)
        return status;
    bounds.convex = shape.convex;
    if (bounds.convex)
        bounds.strong_convexity = fmax(bounds.strong_convexity, 0.0);
    explain(self, coordinate, &shape, &bounds);
    *out = bounds;
    return PN_OK;
}

static void formula_describe(const pn_regulariser *regulariser, char *text, size_t size)
{
    const formula_regulariser *self = (const formula_regulariser *)regulariser;
    char formula[400];

    pn_graph_text(self->f.graph, self->f.root, formula, sizeof formula);
    (void)snprintf(text, size, "the sum of %s over the coordinates %s", formula,
                   pn_graph_variable_name(self->f.graph, 0));
}

static const pn_regulariser_ops formula_ops = {
    .name = "separable",
    .doc = "A sum over the coordinates of a typed formula.",
    .source = "traced from the user's function; derivatives and bounds from its expression",
    .destroy = formula_destroy,
    .fits = formula_fits,
    .evaluate = formula_evaluate,
    .curve = formula_curve,
    .certify = formula_certify,
    .describe = formula_describe,
};

/* ---- construction ---- */

static pn_status from_graph(pn_regulariser **out, const pn_regulariser_ops *row, pn_graph *graph, pn_node root,
                            pn_err *err)
{
    formula_regulariser *self;
    pn_status status;

    PN_TRY(pn_graph_status(graph, err));
    if (pn_graph_variables(graph) != 1)
        return pn_fail(err, PN_EINVAL, "reg.%s: a formula of one variable is needed, got one of %u", row->name,
                       pn_graph_variables(graph));
    PN_TRY(pn_new_zeroed(&self, 1, err, "reg.%s: out of memory", row->name));
    self->base = (pn_regulariser){ .ops = &formula_ops, .row = row, .references = 1 };
    status = pn_compiled_open(&self->f, graph, root, err);
    if (status != PN_OK) {
        formula_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

pn_status pn_regulariser_from_graph(pn_regulariser **out, pn_graph *graph, pn_node root, pn_err *err)
{
    *out = NULL;
    return from_graph(out, &formula_ops, graph, root, err);
}

pn_status pn_formula_regulariser_new(pn_regulariser **out, const pn_regulariser_ops *row, const pn_arg *args,
                                     pn_err *err)
{
    static const char *const names[1] = { "w" };
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 1, err);

    if (status == PN_OK)
        status = from_graph(out, row, graph, row->formula(graph, args), err);
    for (size_t i = 0; status == PN_OK && i < NUMBERS && i < pn_param_count(row->params); i++)
        ((formula_regulariser *)*out)->number[i] = args[i].real;
    pn_graph_free(graph);
    return status;
}

double pn_formula_regulariser_number(const pn_regulariser *regulariser, size_t i)
{
    return ((const formula_regulariser *)regulariser)->number[i];
}

pn_status pn_regulariser_rounding(const pn_regulariser *regulariser, pn_interval coordinate, double enough, double *out,
                                  pn_err *err)
{
    const formula_regulariser *self = (const formula_regulariser *)regulariser;
    const pn_domain domain = { coordinate, NULL, 0 };

    *out = enough;
    if (regulariser->ops != &formula_ops)
        return PN_OK;
    return pn_rounding_of(out, self->f.graph, self->f.slope_root, &domain, enough, NULL, err);
}

pn_graph *pn_regulariser_graph(const pn_regulariser *regulariser, pn_node *root)
{
    const formula_regulariser *self = (const formula_regulariser *)regulariser;

    if (regulariser->ops != &formula_ops)
        return NULL;
    *root = self->f.root;
    return self->f.graph;
}
