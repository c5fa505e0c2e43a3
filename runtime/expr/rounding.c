/* rounding.c -- see rounding.h.  Depends on: bound_impl.h, interval_math.h.  Used by: rounding.h's callers.
 *
 * Running error analysis in intervals.  Over a box every node f has an interval that holds its exact values, and a
 * bound E_f on |computed - exact|.  An operation takes computed operands a', b' with |a' - a| <= E_a,
 * gives op(a', b') rounded, and
 *     E <= |op(a', b') - op(a, b)| + ulps 2^-52 (|op(a, b)| + the first term) + 2^-1074,
 * where ulps is what program.h promises of the operation (a half for those that are correctly rounded) and the first
 * term follows from its derivative over the operands' intervals widened by their errors.  A condition whose operands
 * rounding could bring to the other side may turn, and a `where` is then off by as much as its branches are apart.
 * That is little next to a kink if the box is small, so the box with the largest error is cut in two until the bound is
 * good enough or there are boxes enough. */
#include "expr/rounding.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/bound_impl.h"
#include "expr/interval_math.h"

#define UPWARD (1.0 + 0x1p-40) /* for the rounding of the bounds themselves */

typedef struct box {
    pn_interval range[PN_BOUND_VARS_MAX];
    double error;
    bool whole; /* cutting it does not help */
} box;

typedef struct analysis {
    pn_sweep sweep;
    const double *input; /* [dims] errors of the variables; NULL: they are doubles */
    double *error;       /* by slot */
    bool *undefined;     /* by slot: also where a branch that counts is */
    box *boxes;          /* [PN_ROUNDING_BOXES] */
    size_t count;
} analysis;

/* An operand: exact values, error, and what computed values may be. */
typedef struct operand {
    pn_interval exact, computed;
    double error, size; /* size: of the largest exact value */
} operand;

static operand operand_at(const analysis *self, uint32_t slot)
{
    pn_interval x = self->sweep.value[slot];
    double e = self->error[slot];

    return (operand){ x, pn_interval_add(x, (pn_interval){ -e, e }), e, pn_interval_magnitude(x) };
}

/* ---- what an operation makes of errors in its operands ---- */

/* No error is none however large its factor: 0 x inf is 0. */
static double times(double size, double error)
{
    return error == 0.0 ? 0.0 : size * error;
}

static double of_product(const operand *a, const operand *b)
{
    return times(a->size, b->error) + times(b->size, a->error) + a->error * b->error;
}

/* |a'/b' - a/b| <= (|a' - a| + |a/b| |b' - b|) / |b'|, and |a/b| is at most the largest exact quotient. */
static double of_quotient(const operand *a, const operand *b, double quotient)
{
    double least = b->computed.low > 0.0 ? b->computed.low : b->computed.high < 0.0 ? -b->computed.high : 0.0;

    if (a->error == 0.0 && b->error == 0.0)
        return 0.0;
    return least > 0.0 ? (a->error + times(quotient, b->error)) / least : INFINITY;
}

/* b constant: |b| max |a'|^(b-1) E_a. */
static double of_power(const operand *a, const operand *b)
{
    unsigned doubt = PN_SURE;
    pn_interval slope;

    if (a->error == 0.0 && b->error == 0.0)
        return 0.0;
    if (b->error > 0.0 || b->exact.low != b->exact.high)
        return INFINITY;
    slope = pn_interval_power(a->computed, (pn_interval){ b->exact.low - 1.0, b->exact.low - 1.0 }, &doubt);
    return doubt & (PN_MAY_BE_UNDEFINED | PN_MAY_JUMP) ? INFINITY
                                                       : times(b->size * pn_interval_magnitude(slope), a->error);
}

static double of_unary(pn_opcode op, const operand *a)
{
    double low = a->computed.low, e = a->error;

    if (e == 0.0)
        return 0.0;
    switch (op) {
    case PN_X_SIGN:
        return a->computed.low > 0.0 || a->computed.high < 0.0 ? 0.0 : 2.0;
    case PN_X_SQRT:
        return low > 0.0 ? e / (2.0 * sqrt(low)) : INFINITY;
    case PN_X_EXP:
    case PN_X_EXPM1:
        return times(exp(a->exact.high) * (1.0 + 0x1p-50), expm1(e));
    case PN_X_LOG:
        return low > 0.0 ? e / low : INFINITY;
    case PN_X_LOG1P:
        return 1.0 + low > 0.0 ? e / ((1.0 + low) * (1.0 - 0x1p-50)) : INFINITY;
    case PN_X_SIGMOID:
        return 0.25 * e;
    case PN_X_ERF:
        return 1.13 * e; /* 2/sqrt(pi) */
    default:             /* slopes of at most 1: neg abs tanh softplus sin cos */
        return e;
    }
}

/* Conditions are 0 or 1. */
static double of_condition(pn_opcode op, const operand *a, const operand *b)
{
    bool strict = op == PN_X_LT;
    bool always = strict ? a->computed.high < b->computed.low : a->computed.high <= b->computed.low;
    bool never = strict ? a->computed.low >= b->computed.high : a->computed.low > b->computed.high;

    return (a->error == 0.0 && b->error == 0.0) || always || never ? 0.0 : 1.0;
}

static bool is_zero(pn_interval x)
{
    return x.low == 0.0 && x.high == 0.0;
}

/* Which branches an exact condition can choose, a bit each; an error turns it. */
static unsigned branches(const operand *condition)
{
    if (condition->error > 0.0)
        return 3;
    if (condition->exact.low > 0.0 || condition->exact.high < 0.0)
        return 1;
    return is_zero(condition->exact) ? 2 : 3;
}

static double of_where(const operand *condition, const operand *a, const operand *b)
{
    unsigned taken = branches(condition);
    double error = fmax(taken & 1 ? a->error : 0.0, taken & 2 ? b->error : 0.0);

    if (condition->error == 0.0)
        return error;
    return error + fmax(a->exact.high - b->exact.low, b->exact.high - a->exact.low);
}

/* ---- one operation ---- */

/* program.h; those that lowering shares are computed within the same bounds.  0: exact. */
static double ulps_of(pn_opcode op)
{
    switch (op) {
    case PN_X_ADD:
    case PN_X_SUB:
    case PN_X_MUL:
    case PN_X_DIV:
    case PN_X_SQRT:
        return 0.5;
    case PN_X_SIGMOID:
        return 3.0;
    case PN_X_SOFTPLUS:
        return 4.0;
    case PN_X_NEG:
    case PN_X_ABS:
    case PN_X_SIGN:
    case PN_X_MIN:
    case PN_X_MAX:
    case PN_X_LT:
    case PN_X_LE:
    case PN_X_WHERE:
        return 0.0;
    default: /* exp log log1p expm1 tanh erf sin cos powers */
        return 1.0;
    }
}

/* Times a power of two, or 0, or plus 0: nothing is rounded but below the normal numbers. */
static bool is_exact(pn_opcode op, const operand *a, const operand *b)
{
    int exponent;

    if (op == PN_X_ADD || op == PN_X_SUB)
        return (is_zero(a->exact) && a->error == 0.0) || (is_zero(b->exact) && b->error == 0.0);
    if (op != PN_X_MUL)
        return false;
    for (int k = 0; k < 2; k++, a = b) {
        double c = a->exact.low;

        if (a->error == 0.0 && c == a->exact.high && (c == 0.0 || fabs(frexp(c, &exponent)) == 0.5))
            return true;
    }
    return false;
}

static double carried(pn_opcode op, const operand *a, const operand *b, const operand *c, double size)
{
    switch (op) {
    case PN_X_ADD:
    case PN_X_SUB:
        return a->error + b->error;
    case PN_X_MUL:
        return of_product(a, b);
    case PN_X_DIV:
        return of_quotient(a, b, size);
    case PN_X_POW:
        return of_power(a, b);
    case PN_X_MIN:
    case PN_X_MAX:
        return fmax(a->error, b->error);
    case PN_X_LT:
    case PN_X_LE:
        return of_condition(op, a, b);
    case PN_X_WHERE:
        return of_where(a, b, c);
    default:
        return of_unary(op, a);
    }
}

/* x - x and x / x of the same numbers are exact. */
static bool cancels(const pn_sweep_step *step)
{
    return step->a == step->b && (step->op == PN_X_SUB || step->op == PN_X_DIV);
}

static double step_error(const analysis *self, const pn_sweep_step *step, size_t slot)
{
    operand a = operand_at(self, step->a), b = operand_at(self, step->b), c = operand_at(self, step->c);
    double size = pn_interval_magnitude(self->sweep.value[slot]), moved, ulps = ulps_of((pn_opcode)step->op), error;

    if (cancels(step))
        return 0.0;
    moved = carried((pn_opcode)step->op, &a, &b, &c, size);
    if (ulps > 0.0 && is_exact((pn_opcode)step->op, &a, &b))
        ulps = 0.0;
    if (step->op != PN_X_WHERE && !(size + moved < 0.5 * DBL_MAX) && ulps > 0.0)
        return INFINITY; /* it may overflow */
    error = moved == 0.0 && ulps == 0.0 ? 0.0 : moved * UPWARD + ulps * 0x1p-52 * UPWARD * (size + moved) + 0x1p-1073;
    if (step->op == PN_X_MUL && is_exact(PN_X_MUL, &a, &b))
        error = moved * UPWARD; /* below the normal numbers, 2^-1074: see analyse */
    return isnan(error) ? INFINITY : error;
}

/* Whether a value that counts may be none: inherited, but not through a branch that is not taken. */
static bool step_undefined(const analysis *self, const pn_sweep_step *step)
{
    operand condition = operand_at(self, step->a);
    unsigned taken = step->op == PN_X_WHERE ? branches(&condition) : 3;
    bool none = self->undefined[step->a];

    if (step->op == PN_X_WHERE)
        return none || (taken & 1 && self->undefined[step->b]) || (taken & 2 && self->undefined[step->c]);
    return none || self->undefined[step->b];
}

static bool own_doubt(const analysis *self, const pn_sweep_step *step)
{
    unsigned doubt = PN_SURE;
    operand a = operand_at(self, step->a), b = operand_at(self, step->b), c = operand_at(self, step->c);

    if (cancels(step))
        return step->op == PN_X_DIV && a.computed.low <= 0.0 && a.computed.high >= 0.0;
    (void)pn_interval_apply((pn_opcode)step->op, a.computed, b.computed, c.computed, &doubt);
    return doubt & PN_MAY_BE_UNDEFINED;
}

/* The error over one box. */
static double analyse(analysis *self, const pn_interval *range)
{
    pn_sweep *sweep = &self->sweep;
    uint32_t root = sweep->output[0];

    pn_sweep_set(sweep, range);
    pn_sweep_run(sweep, 0, sweep->steps);
    for (size_t slot = 0; slot < sweep->first; slot++) {
        pn_interval x = sweep->value[slot];

        /* A constant that is not a double has an interval for its value. */
        self->error[slot] = slot >= sweep->dims ? x.high - x.low : self->input ? self->input[slot] : 0.0;
        self->undefined[slot] = false;
    }
    for (size_t i = 0; i < sweep->steps; i++) {
        const pn_sweep_step *step = &sweep->step[i];
        size_t slot = sweep->first + i;

        self->undefined[slot] = own_doubt(self, step) || step_undefined(self, step);
        self->error[slot] = step_error(self, step, slot);
    }
    if (self->undefined[root])
        return INFINITY;
    return self->error[root] + (double)sweep->steps * 0x1p-1074; /* of products with powers of two */
}

/* ---- boxes ---- */

static void add_box(analysis *self, const pn_interval *range)
{
    box *made = &self->boxes[self->count++];

    memcpy(made->range, range, sizeof made->range);
    made->whole = false;
    made->error = analyse(self, range);
}

/* The variable whose range is the widest beside its size; dims when there is none to cut. */
static unsigned widest(const analysis *self, const pn_interval *range)
{
    unsigned best = self->sweep.dims;
    double most = 0.0;

    for (unsigned v = 0; v < self->sweep.dims; v++) {
        double m = range[v].low < range[v].high ? pn_search_middle(range[v]) : range[v].low;
        double width = range[v].high - range[v].low;

        if (!(range[v].low < m && m < range[v].high))
            continue;
        width = isinf(width) ? INFINITY : width / fmax(fmax(fabs(range[v].low), fabs(range[v].high)), 1.0);
        if (width > most) {
            most = width;
            best = v;
        }
    }
    return best;
}

static void cut(analysis *self, box *at)
{
    unsigned v = widest(self, at->range);
    pn_interval left[PN_BOUND_VARS_MAX], right[PN_BOUND_VARS_MAX];
    double middle;

    if (v == self->sweep.dims) {
        at->whole = true;
        return;
    }
    middle = pn_search_middle(at->range[v]);
    memcpy(left, at->range, sizeof left);
    memcpy(right, at->range, sizeof right);
    left[v].high = right[v].low = middle;
    *at = self->boxes[--self->count];
    add_box(self, left);
    add_box(self, right);
}

static box *worst(const analysis *self)
{
    box *found = NULL;

    for (size_t i = 0; i < self->count; i++) {
        box *one = &self->boxes[i];

        if (!found || one->error > found->error)
            found = one;
    }
    return found;
}

static pn_status improve(analysis *self, double enough, double *out, pn_task *task, pn_err *err)
{
    for (;;) {
        box *at = worst(self);

        *out = at->error;
        if (at->error <= enough || at->whole || self->count + 1 >= PN_ROUNDING_BOXES)
            return PN_OK;
        if (pn_task_cancelled(task))
            return pn_task_stopped(task, "rounding", err);
        cut(self, at);
    }
}

/* A box for each combination of listed values; false when they are too many. */
static bool open_boxes(analysis *self, const pn_domain *domains)
{
    pn_interval range[PN_BOUND_VARS_MAX] = { { 0.0, 0.0 } };
    unsigned dims = self->sweep.dims;
    double combinations = 1.0;

    for (unsigned v = 0; v < dims; v++)
        combinations *= domains[v].count > 0 ? (double)domains[v].count : 1.0;
    if (combinations > PN_ROUNDING_BOXES / 4)
        return false;
    for (size_t i = 0; i < (size_t)combinations; i++) {
        size_t left = i;

        for (unsigned v = 0; v < dims; v++) {
            const pn_domain *domain = &domains[v];
            double value = domain->count > 0 ? domain->values[left % domain->count] : 0.0;

            range[v] = domain->count > 0 ? (pn_interval){ value, value } : domain->range;
            left /= domain->count > 0 ? domain->count : 1;
        }
        add_box(self, range);
    }
    return true;
}

static pn_status over_boxes(double *out, const pn_graph *graph, pn_node root, const pn_domain *domains,
                            const double *input, double enough, pn_task *task, pn_err *err)
{
    analysis self = { .input = input };
    size_t slots = pn_graph_size(graph) + pn_graph_variables(graph);
    pn_status status = pn_sweep_open(&self.sweep, graph, &root, 1, err);

    if (status != PN_OK)
        return status;
    self.error = pn_calloc(slots, sizeof *self.error);
    self.undefined = pn_calloc(slots, sizeof *self.undefined);
    self.boxes = pn_alloc(PN_ROUNDING_BOXES, sizeof *self.boxes);
    if (!self.error || !self.undefined || !self.boxes)
        status = pn_fail(err, PN_ENOMEM, "rounding: out of memory");
    else if (!open_boxes(&self, domains))
        *out = INFINITY;
    else
        status = improve(&self, enough, out, task, err);
    pn_sweep_close(&self.sweep);
    pn_free(self.error);
    pn_free(self.undefined);
    pn_free(self.boxes);
    return status;
}

/* ---- a common sub-expression ---- */

static bool has_lists(const pn_graph *graph, const pn_domain *domains)
{
    for (unsigned v = 0; v < pn_graph_variables(graph); v++) {
        if (domains[v].count > 0)
            return true;
    }
    return false;
}

/* f = g(m) for m such as z - y: boxes of z and y cannot close in on the line of a kink of g, boxes of m can,
 * and m comes with an error. */
static pn_status through_common(double *out, const pn_case *what, double enough, pn_task *task, pn_err *err)
{
    const pn_case *inner = what->inner;
    pn_domain domains[PN_BOUND_VARS_MAX] = { { { 0.0, 0.0 }, NULL, 0 } };
    const pn_domain outer = { what->range[0], NULL, 0 };
    double error = INFINITY;
    pn_status status;

    for (unsigned v = 0; v < inner->dims; v++)
        domains[v].range = inner->range[v];
    status = over_boxes(&error, inner->graph, inner->root, domains, NULL, 0x1p-10 * enough, task, err);
    return status == PN_OK ? over_boxes(out, what->graph, what->root, &outer, &error, enough, task, err) : status;
}

pn_status pn_rounding_of(double *out, const pn_graph *graph, pn_node root, const pn_domain *domains, double enough,
                         pn_task *task, pn_err *err)
{
    unsigned needed;
    bool reduced;
    pn_case one;
    pn_status status = pn_bound_check(graph, domains, err);

    if (status == PN_OK)
        status = pn_case_needs(&needed, graph, root, err);
    if (status != PN_OK)
        return status;
    /* Listed values stay variables: put in for them, they would be simplified, and programs are not. */
    if (needed == 0 || has_lists(graph, domains))
        return over_boxes(out, graph, root, domains, NULL, enough, task, err);
    status = pn_case_open(&one, graph, root, needed, domains, 0, task, err);
    if (status != PN_OK)
        return status;
    reduced = one.reduced;
    if (reduced)
        status = through_common(out, &one, enough, task, err);
    pn_case_close(&one);
    return status == PN_OK && !reduced ? over_boxes(out, graph, root, domains, NULL, enough, task, err) : status;
}
