/* bound_enclose.c -- many expressions of many variables over one box: a single sweep of intervals, without a search.
 * Depends on: bound_impl.h.  Used by: bound.h's callers.
 *
 * Two forms are known to the sweep, since their operands' intervals are far too wide for them: sigmoid(u) sigmoid(-u),
 * of derivatives, which is even and falls as |u| grows, and x + softplus(y - x) = ln(e^x + e^y), which grows with x and
 * with y. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/bound_impl.h"

typedef struct enclosure {
    pn_sweep sweep;
    const pn_graph *graph;
    const pn_node *roots;
    size_t count;
    pn_enclosed *out;
    char *why;
    bool *undefined;
} enclosure;

/* ---- forms ---- */

static const pn_term *term_of(const enclosure *self, uint32_t slot)
{
    return pn_graph_term(self->graph, self->sweep.node[slot]);
}

/* Whether c and d are constants, one the other's negative. */
static bool negatives(const pn_graph *graph, pn_node c, pn_node d)
{
    const pn_term *s = pn_graph_term(graph, c), *t = pn_graph_term(graph, d);

    return s->op == PN_X_CONST && t->op == PN_X_CONST && s->value == -t->value;
}

/* Whether v is -u as the builders write it: -u, b - a for a - b, (-c) x for c x. */
static bool is_opposite(const pn_graph *graph, pn_node u, pn_node v)
{
    const pn_term *s = pn_graph_term(graph, u), *t = pn_graph_term(graph, v);

    if (t->op == PN_X_NEG || s->op == PN_X_NEG)
        return (t->op == PN_X_NEG && t->a == u) || (s->op == PN_X_NEG && s->a == v);
    if (s->op == PN_X_SUB && t->op == PN_X_SUB)
        return s->a == t->b && s->b == t->a;
    return s->op == PN_X_MUL && t->op == PN_X_MUL &&
           ((s->a == t->a && negatives(graph, s->b, t->b)) || (s->b == t->b && negatives(graph, s->a, t->a)) ||
            (s->a == t->b && negatives(graph, s->b, t->a)) || (s->b == t->a && negatives(graph, s->a, t->b)));
}

static pn_interval apply(pn_opcode op, pn_interval a, pn_interval b)
{
    unsigned doubt = PN_SURE;

    return pn_interval_apply(op, a, b, b, &doubt);
}

/* sigmoid(u) sigmoid(-u) at one |u|. */
static pn_interval bell_at(double size)
{
    pn_interval right = apply(PN_X_SIGMOID, (pn_interval){ size, size }, (pn_interval){ 0.0, 0.0 });
    pn_interval left = apply(PN_X_SIGMOID, (pn_interval){ -size, -size }, (pn_interval){ 0.0, 0.0 });

    return apply(PN_X_MUL, right, left);
}

static pn_interval bell(pn_interval u)
{
    double near = u.low > 0.0 ? u.low : u.high < 0.0 ? -u.high : 0.0, far = pn_interval_magnitude(u);

    return (pn_interval){ isinf(far) ? 0.0 : bell_at(far).low, bell_at(near).high };
}

/* x + softplus(y - x) at one x and y. */
static pn_interval log_sum_at(double x, double y)
{
    const pn_interval at = { x, x };
    pn_interval apart = apply(PN_X_SUB, (pn_interval){ y, y }, at);

    return apply(PN_X_ADD, at, apply(PN_X_SOFTPLUS, apart, apart));
}

static bool bounded(pn_interval x)
{
    return isfinite(x.low) && isfinite(x.high);
}

/* Whether `x` plus `other` is x + softplus(y - x) over bounded x and y: then *out encloses it. */
static bool log_sum(const enclosure *self, uint32_t x, uint32_t other, pn_interval *out)
{
    const pn_sweep *sweep = &self->sweep;
    const pn_term *soft = term_of(self, other);
    pn_interval y, at = sweep->value[x];
    uint32_t apart;

    if (soft->op != PN_X_SOFTPLUS || other < sweep->first)
        return false;
    apart = sweep->step[other - sweep->first].a;
    if (term_of(self, apart)->op != PN_X_SUB || sweep->step[apart - sweep->first].b != x)
        return false;
    y = sweep->value[sweep->step[apart - sweep->first].a];
    if (!bounded(at) || !bounded(y))
        return false;
    *out = (pn_interval){ log_sum_at(at.low, y.low).low, log_sum_at(at.high, y.high).high };
    return true;
}

/* What is known of the step beside its operands' intervals. */
static void tighten(enclosure *self, size_t i)
{
    pn_sweep *sweep = &self->sweep;
    const pn_sweep_step *step = &sweep->step[i];
    const pn_term *a = term_of(self, step->a), *b = term_of(self, step->b);
    pn_interval *value = &sweep->value[sweep->first + i], known;

    if (step->op == PN_X_MUL && a->op == PN_X_SIGMOID && b->op == PN_X_SIGMOID && is_opposite(self->graph, a->a, b->a))
        known = bell(sweep->value[sweep->step[step->a - sweep->first].a]);
    else if (step->op != PN_X_ADD ||
             !(log_sum(self, step->a, step->b, &known) || log_sum(self, step->b, step->a, &known)))
        return;
    *value = (pn_interval){ fmax(value->low, known.low), fmin(value->high, known.high) };
}

/* ---- the sweep ---- */

static pn_status explain(enclosure *self, bool undefined, pn_err *err)
{
    const pn_case what = { .graph = (pn_graph *)(uintptr_t)self->graph,
                           .root = self->roots[0],
                           .dims = pn_graph_variables(self->graph) };

    if (self->why[0] == '\0' || (undefined && !*self->undefined))
        PN_TRY(pn_search_explain(self->why, &self->sweep, &what, undefined, err));
    *self->undefined = *self->undefined || undefined;
    return PN_OK;
}

/* Into out[], or joined to what is there. */
static pn_status run_box(enclosure *self, const pn_interval *box, bool first, pn_err *err)
{
    pn_sweep *sweep = &self->sweep;

    pn_sweep_set(sweep, box);
    for (size_t i = 0; i < sweep->steps; i++) {
        pn_sweep_run(sweep, i, i + 1);
        tighten(self, i);
    }
    for (size_t k = 0; k < self->count; k++) {
        bool undefined = (pn_sweep_doubt(sweep, k) & PN_MAY_BE_UNDEFINED) != 0;
        pn_interval v = undefined ? (pn_interval){ -INFINITY, INFINITY } : pn_sweep_value(sweep, k);

        if (undefined || !bounded(v))
            PN_TRY(explain(self, undefined, err));
        self->out[k].range = first ? v : pn_interval_hull(self->out[k].range, v);
        self->out[k].may_jump = (!first && self->out[k].may_jump) || (pn_sweep_doubt(sweep, k) & PN_MAY_JUMP) != 0;
    }
    return PN_OK;
}

static pn_status run_boxes(enclosure *self, const pn_domain *domains, pn_err *err)
{
    unsigned dims = self->sweep.dims, listed = dims;
    pn_interval box[PN_GRAPH_VARS_MAX] = { { 0.0, 0.0 } };

    for (unsigned v = 0; v < dims; v++) {
        if (domains[v].count > 0 && listed < dims)
            return pn_fail(err, PN_EINVAL, "bound: of %s and %s one may have a list of values",
                           pn_graph_variable_name(self->graph, listed), pn_graph_variable_name(self->graph, v));
        if (domains[v].count > 0)
            listed = v;
        box[v] = domains[v].range;
    }
    for (size_t i = 0; i == 0 || (listed < dims && i < domains[listed].count); i++) {
        if (listed < dims)
            box[listed] = (pn_interval){ domains[listed].values[i], domains[listed].values[i] };
        PN_TRY(run_box(self, box, i == 0, err));
    }
    return PN_OK;
}

/* ---- jumps ---- */

/* Whether the operation itself may jump as the variables below `moving` do. */
static bool breaks(const pn_graph *graph, const pn_term *term, unsigned moving)
{
    switch (term->op) {
    case PN_X_SIGN:
    case PN_X_WHERE:
        return pn_graph_depends_below(graph, term->a, moving);
    case PN_X_DIV:
        return pn_graph_depends_below(graph, term->b, moving);
    case PN_X_POW:
    case PN_X_LT:
    case PN_X_LE:
        return pn_graph_depends_below(graph, term->a, moving) || pn_graph_depends_below(graph, term->b, moving);
    default:
        return false;
    }
}

/* What only labels choose is no jump. */
static pn_status forgive_choices(enclosure *self, unsigned moving, pn_err *err)
{
    bool *used;

    PN_TRY(pn_new(&used, pn_graph_size(self->graph), err, "bound: out of memory"));
    for (size_t k = 0; k < self->count; k++) {
        bool found = false;

        if (!self->out[k].may_jump)
            continue;
        pn_graph_used(self->graph, self->roots[k], used);
        for (pn_node i = 0; i <= self->roots[k] && !found; i++)
            found = used[i] && breaks(self->graph, pn_graph_term(self->graph, i), moving);
        self->out[k].may_jump = found;
    }
    pn_free(used);
    return PN_OK;
}

pn_status pn_enclose(pn_enclosed *out, char *why, bool *undefined, const pn_graph *graph, const pn_node *roots,
                     size_t count, unsigned moving, const pn_domain *domains, pn_err *err)
{
    enclosure self = { .graph = graph, .roots = roots, .count = count, .out = out, .why = why, .undefined = undefined };
    pn_status status = pn_sweep_open(&self.sweep, graph, roots, count, err);

    if (status != PN_OK)
        return status;
    self.sweep.middle = self.sweep.steps; /* explained is what any of them meets first */
    why[0] = '\0';
    *undefined = false;
    status = run_boxes(&self, domains, err);
    if (status == PN_OK)
        status = forgive_choices(&self, moving, err);
    pn_sweep_close(&self.sweep);
    return status;
}
