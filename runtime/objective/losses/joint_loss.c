/* joint_loss.c -- losses that are an expression in several margins z, further parameters w and the label y: compiled,
 * differentiated from the root down and bounded by the machinery of expr/.
 * Depends on: loss.h, expr.  Used by: bindings.
 *
 * A further parameter is to a record what a margin of the feature 1 would be: l is a function of the inputs (z, w), and
 * its gradient in theta is slope_k x in row k and slope_j in place j. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/graph_impl.h"
#include "expr/program.h"
#include "objective/losses/loss.h"

#define OUTWARD (1.0 + 0x1p-40) /* the rounding of sums over at most 255^2 squares */

typedef struct joint_loss {
    pn_loss base;
    pn_graph *graph; /* kept */
    pn_node root;
    pn_node *slopes; /* [inputs] */
    pn_node *bends;  /* [inputs (inputs + 1) / 2] second derivatives; NULL: they grew too large */
    pn_program *value, *slope, *both, *curve; /* curve: NULL where it grew too large */
} joint_loss;

static void joint_destroy(pn_loss *loss)
{
    joint_loss *self = (joint_loss *)loss;

    pn_program_free(self->value);
    pn_program_free(self->slope);
    pn_program_free(self->both);
    pn_program_free(self->curve);
    pn_free(self->slopes);
    pn_free(self->bends);
    pn_graph_free(self->graph);
    pn_free(self);
}

/* ---- evaluation ---- */

/* rows[inputs] of an array [inputs][count]. */
static void point_at(const double **rows, size_t inputs, size_t count, const double *at)
{
    for (size_t i = 0; i < inputs; i++)
        rows[i] = at + i * count;
}

static void joint_evaluate(const pn_loss *loss, size_t count, const double *z, const double *y, double *value,
                           double *slope)
{
    const joint_loss *self = (const joint_loss *)loss;
    size_t inputs = pn_loss_inputs(loss);
    const double *in[PN_JOINT_INPUTS_MAX + 1];
    double *out[PN_JOINT_INPUTS_MAX + 1] = { value };

    point_at(in, inputs, count, z);
    in[inputs] = y;
    for (size_t i = 0; slope && i < inputs; i++)
        out[i + 1] = slope + i * count;
    if (value && slope)
        pn_program_run(self->both, count, in, out);
    else if (value)
        pn_program_run(self->value, count, in, out);
    else if (slope)
        pn_program_run(self->slope, count, in, out + 1);
}

static void joint_curve(const pn_loss *loss, size_t count, const double *z, const double *y, const double *along,
                        double *out)
{
    const joint_loss *self = (const joint_loss *)loss;
    size_t inputs = pn_loss_inputs(loss);
    const double *in[2 * PN_JOINT_INPUTS_MAX + 1];
    double *rows[PN_JOINT_INPUTS_MAX];

    point_at(in, inputs, count, z);
    in[inputs] = y;
    point_at(in + inputs + 1, inputs, count, along);
    for (size_t i = 0; i < inputs; i++)
        rows[i] = out + i * count;
    pn_program_run(self->curve, count, in, rows);
}

/* ---- bounds ---- */

static bool is_bounded(pn_interval x)
{
    return isfinite(x.low) && isfinite(x.high);
}

/* The norms of gradients whose entries lie in slopes[count]. */
static void find_norms(double *norm, const pn_interval *slopes, size_t count)
{
    double sum = 0.0, squares = 0.0, largest = 0.0;

    for (size_t i = 0; i < count; i++) {
        double most = pn_interval_magnitude(slopes[i]);

        sum += most;
        squares += most * most;
        largest = fmax(largest, most);
    }
    norm[PN_L1] = sum * OUTWARD;
    norm[PN_L2] = fmin(sqrt(squares), sum) * OUTWARD; /* squares may overflow */
    norm[PN_LINF] = largest;
}

/* The Frobenius norm of Hessians whose lower triangles lie in bends[]; *spectral the largest sum of a row, which bounds
 * the eigenvalues as well. */
static double frobenius(const pn_enclosed *bends, size_t inputs, double *spectral)
{
    double squares = 0.0;

    *spectral = 0.0;
    for (size_t i = 0; i < inputs; i++) {
        double row = 0.0;

        for (size_t j = 0; j < inputs; j++) {
            size_t high = i > j ? i : j, low = i > j ? j : i;
            double most = pn_interval_magnitude(bends[high * (high + 1) / 2 + low].range);

            row += most;
            squares += most * most;
        }
        *spectral = fmax(*spectral, row);
    }
    return sqrt(squares) * OUTWARD;
}

static void miss(pn_loss_bounds *out, const char *part, const char *why)
{
    if (out->missing[0] == '\0')
        (void)snprintf(out->missing, sizeof out->missing, "%s: %.200s", part, why);
}

typedef struct question {
    joint_loss *self;
    pn_domain *domains;   /* of the graph's variables */
    pn_enclosed *answers; /* room for the slopes and for the second derivatives */
    char why[PN_WHY_MAX];
    bool undefined;
} question;

static pn_status enclose(question *of, const pn_node *roots, size_t count, pn_err *err)
{
    return pn_enclose(of->answers, of->why, &of->undefined, of->self->graph, roots, count,
                      (unsigned)pn_loss_inputs(&of->self->base), of->domains, err);
}

static pn_status bound_value(question *of, pn_loss_bounds *out, pn_err *err)
{
    PN_TRY(enclose(of, &of->self->root, 1, err));
    if (of->undefined)
        return pn_fail(err, PN_EDOMAIN, "bound: %s", of->why);
    out->value = of->answers[0].range;
    out->continuous = !of->answers[0].may_jump;
    if (!is_bounded(out->value))
        miss(out, "value", of->why);
    if (!out->continuous)
        miss(out, "value", "it could not be shown not to jump");
    return PN_OK;
}

static pn_status bound_slopes(question *of, pn_loss_bounds *out, pn_interval *slopes, pn_err *err)
{
    const pn_loss *loss = &of->self->base;
    size_t inputs = pn_loss_inputs(loss);

    PN_TRY(enclose(of, of->self->slopes, inputs, err));
    out->slope = of->answers[0].range;
    out->smooth = out->continuous;
    for (size_t i = 0; i < inputs; i++) {
        slopes[i] = of->answers[i].range;
        out->slope = pn_interval_hull(out->slope, slopes[i]);
        out->smooth = out->smooth && !of->answers[i].may_jump;
    }
    if (!is_bounded(out->slope))
        miss(out, "slope", of->why);
    if (!out->smooth)
        miss(out, "slope", "it could not be shown not to jump");
    find_norms(out->slope_norm, slopes, loss->margins);
    find_norms(out->extra_norm, slopes + loss->margins, loss->extra);
    return PN_OK;
}

/* Third derivatives are not made. */
static pn_status bound_bends(question *of, pn_loss_bounds *out, pn_err *err)
{
    size_t inputs = pn_loss_inputs(&of->self->base);
    double spectral = INFINITY;

    out->curvature_norm = INFINITY;
    out->third = (pn_interval){ -INFINITY, INFINITY };
    if (of->self->bends) {
        PN_TRY(enclose(of, of->self->bends, inputs * (inputs + 1) / 2, err));
        out->curvature_norm = frobenius(of->answers, inputs, &spectral);
        spectral = fmin(spectral * OUTWARD, out->curvature_norm);
        if (!isfinite(spectral))
            miss(out, "curvature", of->why);
    } else {
        miss(out, "curvature", "it has too many operations");
    }
    out->curvature = (pn_interval){ -spectral, spectral };
    miss(out, "third derivative", "of a loss of several margins it is not derived");
    return PN_OK;
}

static pn_status joint_enclose(pn_loss *loss, const pn_interval *inputs, pn_interval y, pn_loss_bounds *out,
                               pn_interval *slopes, pn_err *err)
{
    joint_loss *self = (joint_loss *)loss;
    size_t count = pn_loss_inputs(loss);
    double values[PN_LABEL_VALUES_MAX];
    question of = { .self = self };
    pn_status status;

    *out = (pn_loss_bounds){ .convex = false };
    of.domains = pn_calloc(pn_graph_variables(self->graph), sizeof *of.domains);
    of.answers = pn_alloc(count * (count + 1) / 2, sizeof *of.answers);
    status = pn_made(of.domains && of.answers, err, "loss.%s: out of memory", loss->name);
    if (status == PN_OK)
        status = pn_loss_label_domain(&of.domains[count], loss, y, values, err);
    for (size_t i = 0; status == PN_OK && i < count; i++)
        of.domains[i].range = inputs[i];
    if (status == PN_OK)
        status = bound_value(&of, out, err);
    if (status == PN_OK)
        status = bound_slopes(&of, out, slopes, err);
    if (status == PN_OK)
        status = bound_bends(&of, out, err);
    pn_free(of.domains);
    pn_free(of.answers);
    return status;
}

/* Over all further parameters. */
static pn_status joint_certify(pn_loss *loss, pn_interval margin, pn_interval y, pn_loss_bounds *out, pn_err *err)
{
    pn_interval inputs[PN_JOINT_INPUTS_MAX], slopes[PN_JOINT_INPUTS_MAX];

    for (size_t i = 0; i < pn_loss_inputs(loss); i++)
        inputs[i] = i < loss->margins ? margin : (pn_interval){ -INFINITY, INFINITY };
    return joint_enclose(loss, inputs, y, out, slopes, err);
}

/* Over the box of the margins.  Of further parameters it is not known where they start. */
static pn_status joint_fall(pn_loss *loss, double margin, double norm, pn_interval y, double *out, pn_err *err)
{
    joint_loss *self = (joint_loss *)loss;
    pn_domain domains[PN_GRAPH_VARS_MAX] = { 0 };
    double values[PN_LABEL_VALUES_MAX];

    (void)norm;
    if (loss->extra > 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "loss.%s: no range of values is derived for losses with further "
                       "parameters",
                       loss->name);
    for (size_t k = 0; k < loss->margins; k++)
        domains[k].range = (pn_interval){ -margin, margin };
    PN_TRY(pn_loss_label_domain(&domains[loss->margins], loss, y, values, err));
    return pn_bound_fall(out, self->graph, self->root, (unsigned)loss->margins, domains, NULL, err);
}

/* Rows are told apart by the functions that they have: without second derivatives there are no products with them. */
#define ROW                                                                                                            \
    .name = "margins", .doc = "A loss typed as a formula of several margins, further parameters and the label y.",     \
    .source = "traced from the user's function; derivatives and bounds from its expression", .destroy = joint_destroy, \
    .evaluate = joint_evaluate, .certify = joint_certify, .enclose = joint_enclose, .fall = joint_fall

static const pn_loss_ops joint_ops = { ROW, .curve = joint_curve };
static const pn_loss_ops joint_flat_ops = { ROW };

/* ---- construction ---- */

/* What is worth having grew too large: it is done without. */
static pn_status optional(joint_loss *self, pn_status status, pn_err *err)
{
    if (status != PN_OK && status != PN_EUNSUPPORTED)
        return status;
    pn_graph_forgive(self->graph);
    return pn_graph_status(self->graph, err);
}

/* Lower triangles of Hessians, a column of derivatives for each input.  direction[] is zero, and left so: a node of its
 * own, which a graph that is full would not make. */
static pn_status derive_bends(joint_loss *self, pn_node *direction, pn_node one, pn_node *column, pn_err *err)
{
    size_t inputs = pn_loss_inputs(&self->base);
    pn_node zero = direction[0];
    pn_status status;

    PN_TRY(pn_new(&self->bends, inputs * (inputs + 1) / 2, err, "loss.margins: out of memory"));
    for (size_t j = 0; j < inputs; j++) {
        direction[j] = one;
        pn_graph_along(self->graph, self->slopes, inputs, direction, column);
        direction[j] = zero;
        for (size_t i = j; i < inputs; i++)
            self->bends[i * (i + 1) / 2 + j] = column[i];
    }
    status = pn_graph_status(self->graph, err);
    if (status != PN_OK) {
        pn_free(self->bends);
        self->bends = NULL;
    }
    return optional(self, status, err);
}

/* Hessians times a direction, whose entries are the last variables. */
static pn_status derive_curve(joint_loss *self, pn_node *direction, pn_node *column, pn_err *err)
{
    size_t inputs = pn_loss_inputs(&self->base);
    pn_node zero = direction[0];
    pn_status status;

    for (size_t j = 0; j < inputs; j++)
        direction[j] = pn_x_var(self->graph, (unsigned)(inputs + 1 + j));
    pn_graph_along(self->graph, self->slopes, inputs, direction, column);
    for (size_t j = 0; j < inputs; j++)
        direction[j] = zero;
    status = pn_graph_status(self->graph, err);
    if (status == PN_OK)
        status = pn_program_new(&self->curve, self->graph, column, inputs, err);
    return optional(self, status, err);
}

/* value (or nothing) and slopes */
static pn_status gradient_program(pn_program **out, const pn_graph *graph, const pn_node *outputs, size_t count,
                                  pn_err *err)
{
    pn_err why;
    pn_status status = pn_graph_status(graph, &why);

    if (status == PN_OK)
        status = pn_program_new(out, graph, outputs, count, &why);
    return status == PN_OK ? status : pn_fail(err, status, "loss.margins: the gradient: %s", why.message);
}

static pn_status compile(joint_loss *self, pn_err *err)
{
    size_t inputs = pn_loss_inputs(&self->base);
    pn_node outputs[PN_JOINT_INPUTS_MAX + 1] = { self->root };
    pn_node direction[PN_GRAPH_VARS_MAX], column[PN_JOINT_INPUTS_MAX];
    pn_node zero = pn_x_const(self->graph, 0.0), one = pn_x_const(self->graph, 1.0);

    pn_graph_gradient(self->graph, self->root, (unsigned)inputs, self->slopes);
    memcpy(outputs + 1, self->slopes, inputs * sizeof *outputs);
    PN_TRY(gradient_program(&self->slope, self->graph, outputs + 1, inputs, err));
    PN_TRY(gradient_program(&self->both, self->graph, outputs, inputs + 1, err));
    PN_TRY(pn_program_new(&self->value, self->graph, outputs, 1, err));
    for (unsigned v = 0; v < pn_graph_variables(self->graph); v++)
        direction[v] = zero;
    PN_TRY(derive_curve(self, direction, column, err)); /* first, for it is the smaller */
    return derive_bends(self, direction, one, column, err);
}

static pn_status check_shape(size_t margins, size_t extra, pn_err *err)
{
    if (margins < 1)
        return pn_fail(err, PN_EINVAL, "loss.margins: k must be at least 1, got %zu", margins);
    if (margins > PN_JOINT_INPUTS_MAX || extra > PN_JOINT_INPUTS_MAX - margins)
        return pn_fail(err, PN_EINVAL, "loss.margins: k + extra must be at most %d, got k = %zu and extra = %zu",
                       PN_JOINT_INPUTS_MAX, margins, extra);
    return PN_OK;
}

pn_status pn_loss_from_joint_graph(pn_loss **out, pn_graph *graph, pn_node root, size_t margins, size_t extra,
                                   const pn_labels *labels, pn_err *err)
{
    joint_loss *self;
    pn_status status;

    PN_TRY(check_shape(margins, extra, err));
    if (margins + extra == 1)
        return pn_loss_from_graph(out, graph, root, labels, err);
    PN_TRY(pn_new_zeroed(&self, 1, err, "loss.margins: out of memory"));
    pn_loss_init(&self->base, &joint_ops, &joint_ops);
    self->base.labels = *labels;
    self->base.margins = margins;
    self->base.extra = extra;
    self->graph = pn_graph_keep(graph);
    self->root = root;
    status = pn_new(&self->slopes, margins + extra, err, "loss.margins: out of memory");
    if (status == PN_OK)
        status = compile(self, err);
    if (status != PN_OK) {
        joint_destroy(&self->base);
        return status;
    }
    if (!self->curve)
        self->base.ops = self->base.row = &joint_flat_ops;
    *out = &self->base;
    return PN_OK;
}

pn_graph *pn_loss_joint_graph(const pn_loss *loss, pn_node *root)
{
    const joint_loss *self = (const joint_loss *)loss;

    if (loss->ops->enclose != joint_enclose)
        return NULL;
    *root = self->root;
    return self->graph;
}
