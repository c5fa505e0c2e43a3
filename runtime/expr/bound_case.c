/* bound_case.c -- what is left of an expression once listed values are put in and a common sub-expression has become
 * the variable.  In z - y with z and y in intervals every number between the least and the greatest is attained, so
 * f(z - y) is bounded as a function of one variable, and exactly.  The common sub-expression is the deepest node that
 * every path from the root to a variable goes through: the nearest common dominator of the variables.  Depends on:
 * bound_impl.h.  Used by: bound.c, bound_jump.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/bound_impl.h"

#define CASES_MAX 64 /* combinations of listed values that are looked at one by one; longer lists are searched */

/* ---- domains ---- */

pn_status pn_bound_check(const pn_graph *graph, const pn_domain *domains, pn_err *err)
{
    if (pn_graph_variables(graph) > PN_BOUND_VARS_MAX)
        return pn_fail(err, PN_EINVAL, "bound: at most %d variables, got %u", PN_BOUND_VARS_MAX,
                       pn_graph_variables(graph));
    for (unsigned v = 0; v < pn_graph_variables(graph); v++) {
        const pn_domain *d = &domains[v];
        const char *name = pn_graph_variable_name(graph, v);

        for (size_t i = 0; i < d->count; i++)
            if (!isfinite(d->values[i]))
                return pn_fail(err, PN_EINVAL, "bound: value %zu of %s must be a finite number, got %g", i + 1, name,
                               d->values[i]);
        if (d->count == 0 &&
            (!(d->range.low <= d->range.high) || d->range.low == INFINITY || d->range.high == -INFINITY))
            return pn_fail(err, PN_EINVAL,
                           "bound: %s must range over an interval [low, high] with low <= high, got [%g, %g]", name,
                           d->range.low, d->range.high);
    }
    return PN_OK;
}

pn_status pn_case_needs(unsigned *needed, const pn_graph *graph, pn_node root, pn_err *err)
{
    bool *used;

    PN_TRY(pn_new_zeroed(&used, root + 1u, err, "bound: out of memory"));
    pn_graph_used(graph, root, used);
    *needed = 0;
    for (pn_node n = 0; n <= root; n++)
        if (used[n] && pn_graph_term(graph, n)->op == PN_X_VAR)
            *needed |= 1u << pn_graph_term(graph, n)->a;
    pn_free(used);
    return PN_OK;
}

/* How many values the variable is given one by one; 0 when it stays a variable, or is not needed. */
static size_t short_list(unsigned needed, const pn_domain *domains, unsigned v, size_t cases)
{
    const pn_domain *d = &domains[v];
    size_t count = d->count > 0 ? d->count : d->range.low == d->range.high ? 1 : 0;

    return count > 0 && count <= CASES_MAX / cases && (needed >> v & 1) ? count : 0;
}

size_t pn_case_count(const pn_graph *graph, unsigned needed, const pn_domain *domains)
{
    size_t cases = 1;

    for (unsigned v = 0; v < pn_graph_variables(graph); v++) {
        size_t count = short_list(needed, domains, v, cases);

        cases *= count > 0 ? count : 1;
    }
    return cases;
}

/* ---- copying ---- */

/* a < b as a - b < 0, for real numbers the same: so that a - b may be found to be all that the variables do. */
static pn_node copy_condition(pn_graph *to, pn_opcode op, pn_node a, pn_node b)
{
    bool simple = a == PN_NODE_NONE || b == PN_NODE_NONE || pn_graph_term(to, a)->op == PN_X_CONST ||
                  pn_graph_term(to, b)->op == PN_X_CONST;

    return simple ? pn_x_binary(to, op, a, b)
                  : pn_x_binary(to, op, pn_x_binary(to, PN_X_SUB, a, b), pn_x_const(to, 0.0));
}

/* The copy of one node, its operands' copies being in map[]. */
static pn_node copy_term(pn_graph *to, const pn_term *term, const pn_node *map)
{
    if (term->op == PN_X_LT || term->op == PN_X_LE)
        return copy_condition(to, term->op, map[term->a], map[term->b]);
    switch (pn_opcode_operands(term->op)) {
    case 0:
        return pn_x_const(to, term->value);
    case 1:
        return pn_x_unary(to, term->op, map[term->a]);
    case 2:
        return pn_x_binary(to, term->op, map[term->a], map[term->b]);
    default:
        return pn_x_where(to, map[term->a], map[term->b], map[term->c]);
    }
}

/* Copies the expression into `to`.  map[] (of the size of `from`) holds the copies of some nodes already, PN_NODE_NONE
 * for the others; variables must be among the former. */
static pn_status copy_into(pn_graph *to, pn_node *out, const pn_graph *from, pn_node root, pn_node *map, pn_err *err)
{
    bool *used;

    PN_TRY(pn_new_zeroed(&used, root + 1u, err, "bound: out of memory"));
    pn_graph_used(from, root, used);
    for (pn_node n = 0; n <= root; n++) {
        const pn_term *term = pn_graph_term(from, n);
        bool ready = true;

        for (unsigned k = 0; k < pn_opcode_operands(term->op); k++)
            ready = ready && map[k == 0 ? term->a : k == 1 ? term->b : term->c] != PN_NODE_NONE;
        if (used[n] && map[n] == PN_NODE_NONE && ready && term->op != PN_X_VAR)
            map[n] = copy_term(to, term, map);
    }
    *out = map[root];
    pn_free(used);
    return pn_graph_status(to, err);
}

static pn_node *new_map(size_t size)
{
    pn_node *map = pn_alloc(size, sizeof *map);

    if (map)
        memset(map, 0xff, size * sizeof *map);
    return map;
}

pn_status pn_bound_copy(pn_graph **out, pn_node *out_root, const pn_graph *graph, pn_node root, pn_err *err)
{
    const char *names[PN_BOUND_VARS_MAX];
    unsigned count = pn_graph_variables(graph);
    pn_node *map = new_map(root + 1u);
    pn_graph *copy = NULL;
    pn_status status;

    for (unsigned v = 0; v < count; v++)
        names[v] = pn_graph_variable_name(graph, v);
    status = map ? pn_graph_new(&copy, names, count, err) : pn_fail(err, PN_ENOMEM, "bound: out of memory");
    for (pn_node n = 0; status == PN_OK && n <= root; n++)
        if (pn_graph_term(graph, n)->op == PN_X_VAR)
            map[n] = pn_x_var(copy, pn_graph_term(graph, n)->a);
    if (status == PN_OK)
        status = copy_into(copy, out_root, graph, root, map, err);
    pn_free(map);
    if (status == PN_OK)
        *out = copy;
    else
        pn_graph_free(copy);
    return status;
}

/* ---- a common sub-expression ---- */

static void meet(pn_node *dominator, pn_node operand, pn_node user)
{
    pn_node other = dominator[operand];

    if (other == PN_NODE_NONE) {
        dominator[operand] = user;
        return;
    }
    while (other != user) { /* dominators have higher numbers */
        if (other < user)
            other = dominator[other];
        else
            user = dominator[user];
    }
    dominator[operand] = user;
}

/* b - a where the expression has a - b as an earlier node: counts as -(a - b),
 * which the builders do not keep as it is. */
static pn_node twin(pn_graph *graph, const pn_term *term, pn_node node)
{
    pn_node other;

    if (term->op != PN_X_SUB || pn_graph_size(graph) > PN_GRAPH_MAX / 2)
        return PN_NODE_NONE;
    other = pn_x_binary(graph, PN_X_SUB, term->b, term->a);
    return other < node ? other : PN_NODE_NONE;
}

/* The deepest node on all paths from the root to variables; the root when there is none below it.
 * `scratch` [root + 1]. */
static pn_node common_node(pn_graph *graph, pn_node root, pn_node *dominator)
{
    pn_node common = PN_NODE_NONE;

    memset(dominator, 0xff, (root + 1u) * sizeof *dominator);
    dominator[root] = root;
    for (pn_node n = root + 1; n-- > 0;) {
        pn_term term = *pn_graph_term(graph, n);
        unsigned operands = pn_opcode_operands(term.op);
        pn_node other = dominator[n] == PN_NODE_NONE ? PN_NODE_NONE : twin(graph, &term, n);

        if (dominator[n] == PN_NODE_NONE)
            continue;
        if (other != PN_NODE_NONE)
            term.a = other;
        if (operands > 0)
            meet(dominator, term.a, n);
        if (operands > 1 && other == PN_NODE_NONE)
            meet(dominator, term.b, n);
        if (operands > 2)
            meet(dominator, term.c, n);
    }
    for (pn_node n = 0; n <= root; n++) {
        pn_node other = n;

        if (dominator[n] == PN_NODE_NONE || pn_graph_term(graph, n)->op != PN_X_VAR)
            continue;
        while (common != PN_NODE_NONE && other != common) {
            if (other < common)
                other = dominator[other];
            else
                common = dominator[common];
        }
        common = other;
    }
    return common;
}

/* The case over the common sub-expression: self becomes its `inner`. */
static pn_status reduce_to(pn_case *self, pn_node common, const pn_extremes *range, pn_node *map, pn_err *err)
{
    pn_case outer = { .dims = 1, .reduced = true };
    pn_term term = *pn_graph_term(self->graph, common);
    const char *name = "t";
    pn_node opposite = PN_NODE_NONE;
    pn_status status;

    PN_TRY(pn_new(&outer.inner, 1, err, "bound: out of memory"));
    outer.range[0] = (pn_interval){ range->min.low, range->max.high };
    outer.attained[0] = (pn_interval){ range->min.high, range->max.low };
    outer.boxes = range->boxes;
    status = pn_graph_new(&outer.graph, &name, 1, err);
    if (status == PN_OK) {
        if (term.op == PN_X_SUB && pn_graph_size(self->graph) <= PN_GRAPH_MAX / 2)
            opposite = pn_x_binary(self->graph, PN_X_SUB, term.b, term.a);
        memset(map, 0xff, (self->root + 1u) * sizeof *map);
        map[common] = pn_x_var(outer.graph, 0);
        if (opposite <= self->root)
            map[opposite] = pn_x_unary(outer.graph, PN_X_NEG, map[common]);
        status = copy_into(outer.graph, &outer.root, self->graph, self->root, map, err);
    }
    if (status != PN_OK) {
        pn_graph_free(outer.graph);
        pn_free(outer.inner);
        return status;
    }
    *outer.inner = *self;
    outer.inner->root = common;
    *self = outer;
    return PN_OK;
}

/* Reduce a case of several interval variables where that can be done exactly. */
static pn_status reduce(pn_case *self, pn_task *task, pn_err *err)
{
    pn_node *scratch, common;
    pn_status status = PN_OK;
    pn_case inner = *self;
    pn_span span;

    if (self->dims < 2)
        return PN_OK;
    for (unsigned v = 0; v < self->dims; v++)
        if (self->list[v])
            return PN_OK;
    scratch = new_map(self->root + 1u);
    PN_TRY(pn_made(scratch, err, "bound: out of memory"));
    common = common_node(self->graph, self->root, scratch);
    if (common != self->root) {
        inner.root = common;
        status = pn_search(&span, &inner, PN_BOUND_BOXES, task, err);
        /* What is continuous takes all values between its extremes. */
        if (status == PN_OK && !span.undefined && !span.may_jump)
            status = reduce_to(self, common, &span.range, scratch, err);
    }
    pn_free(scratch);
    return status;
}

/* ---- opening a case ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static pn_status add_variable(pn_case *self, unsigned source, const pn_domain *domain, pn_err *err)
{
    unsigned v = self->dims++;

    self->source[v] = source;
    self->range[v] = self->attained[v] = domain->range;
    if (domain->count == 0)
        return PN_OK;
    PN_TRY(pn_new(&self->list[v], domain->count, err, "bound: out of memory"));
    memcpy(self->list[v], domain->values, domain->count * sizeof *self->list[v]);
    qsort(self->list[v], domain->count, sizeof *self->list[v], by_value);
    self->count[v] = domain->count;
    self->range[v] = (pn_interval){ self->list[v][0], self->list[v][domain->count - 1] };
    return PN_OK;
}

/* Which variables stay, and the values of the others in case `index`. */
static pn_status choose(pn_case *self, double *chosen, const pn_graph *graph, unsigned needed, const pn_domain *domains,
                        size_t index, pn_err *err)
{
    size_t cases = 1;
    pn_status status = PN_OK;

    for (unsigned v = 0; v < pn_graph_variables(graph) && status == PN_OK; v++) {
        size_t count = short_list(needed, domains, v, cases);

        chosen[v] = NAN;
        if (count > 0) {
            chosen[v] = domains[v].count > 0 ? domains[v].values[index % count] : domains[v].range.low;
            index /= count;
            cases *= count;
        } else if (needed >> v & 1) {
            status = add_variable(self, v, &domains[v], err);
        }
    }
    return status;
}

static pn_status fill(pn_case *self, const pn_graph *graph, pn_node root, const double *chosen, pn_err *err)
{
    const char *names[PN_BOUND_VARS_MAX];
    pn_node *map = new_map(root + 1u);
    pn_node by[PN_BOUND_VARS_MAX] = { 0 };
    pn_status status;

    for (unsigned v = 0; v < self->dims; v++)
        names[v] = pn_graph_variable_name(graph, self->source[v]);
    status = map ? pn_graph_new(&self->graph, names, self->dims, err) : pn_fail(err, PN_ENOMEM, "bound: out of memory");
    if (status == PN_OK) {
        for (unsigned v = 0; v < self->dims; v++)
            by[self->source[v]] = pn_x_var(self->graph, v);
        for (pn_node n = 0; n <= root; n++) {
            const pn_term *term = pn_graph_term(graph, n);

            if (term->op == PN_X_VAR)
                map[n] = isnan(chosen[term->a]) ? by[term->a] : pn_x_const(self->graph, chosen[term->a]);
        }
        status = copy_into(self->graph, &self->root, graph, root, map, err);
    }
    pn_free(map);
    return status;
}

pn_status pn_case_open(pn_case *out, const pn_graph *graph, pn_node root, unsigned needed, const pn_domain *domains,
                       size_t index, pn_task *task, pn_err *err)
{
    pn_case self = { .dims = 0 };
    double chosen[PN_BOUND_VARS_MAX];
    pn_status status = choose(&self, chosen, graph, needed, domains, index, err);

    if (status == PN_OK)
        status = fill(&self, graph, root, chosen, err);
    if (status == PN_OK)
        status = reduce(&self, task, err);
    if (status != PN_OK) {
        pn_case_close(&self);
        return status;
    }
    *out = self;
    return PN_OK;
}

void pn_case_close(pn_case *self)
{
    if (self->inner)
        pn_case_close(self->inner);
    pn_free(self->inner);
    pn_graph_free(self->graph);
    for (unsigned v = 0; v < self->dims && !self->reduced; v++)
        pn_free(self->list[v]);
    memset(self, 0, sizeof *self);
}

pn_status pn_case_text(const pn_case *self, pn_node node, char *text, size_t size, pn_err *err)
{
    pn_node *map, copy = PN_NODE_NONE;
    pn_status status;

    pn_graph_text(self->graph, node, text, size);
    if (!self->reduced)
        return PN_OK;
    PN_TRY(pn_made(map = new_map(node + 1u), err, "bound: out of memory"));
    for (pn_node n = 0; n <= node; n++)
        if (pn_graph_term(self->graph, n)->op == PN_X_VAR)
            map[n] = self->inner->root;
    status = copy_into(self->inner->graph, &copy, self->graph, node, map, err);
    if (status == PN_OK)
        pn_graph_text(self->inner->graph, copy, text, size);
    pn_free(map);
    return status == PN_ENOMEM ? status : PN_OK; /* where it grows too large, in its own variable */
}
