/* bound_shape.c -- all that is certified of an expression as a function of one variable: ranges of it and three
 * derivatives, whether they jump, whether it is convex.  Depends on: bound_impl.h.  Used by: bound.h's callers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/bound_impl.h"
#include "expr/graph_impl.h"

static const char *const part_names[4] = { "value", "slope", "curvature", "third derivative" };

typedef struct shaper {
    pn_graph *graph; /* a copy, whose derivatives may grow too large without harm to the caller's */
    unsigned needed; /* variables that the value needs */
    pn_node part[4]; /* the value and its derivatives; PN_NODE_NONE when it grew too large */
    unsigned variable;
    const pn_domain *domains;
    pn_task *task;
    pn_err *err;
    pn_shape shape;
} shaper;

static void miss(shaper *self, int part, const char *why)
{
    if (self->shape.missing[0] == '\0')
        (void)snprintf(self->shape.missing, sizeof self->shape.missing, "%s: %.220s", part_names[part], why);
}

static pn_status derive(shaper *self)
{
    for (int k = 1; k < 4; k++)
        self->part[k] = self->part[k - 1] == PN_NODE_NONE
                            ? PN_NODE_NONE
                            : pn_graph_derivative(self->graph, self->part[k - 1], self->variable);
    pn_graph_forgive(self->graph);
    return pn_graph_status(self->graph, NULL) == PN_ENOMEM ? pn_graph_status(self->graph, self->err) : PN_OK;
}

static pn_status bound_part(shaper *self, int k, pn_interval *out)
{
    pn_span span;

    *out = (pn_interval){ -INFINITY, INFINITY };
    if (self->part[k] == PN_NODE_NONE) {
        miss(self, k, "it has too many operations");
        return PN_OK;
    }
    PN_TRY(pn_bound_span(&span, self->graph, self->part[k], self->domains, self->task, self->err));
    if (span.undefined && k == 0)
        return pn_fail(self->err, PN_EDOMAIN, "bound: %s", span.why);
    if (!span.undefined)
        *out = (pn_interval){ span.range.min.low, span.range.max.high };
    if (isinf(out->low) || isinf(out->high))
        miss(self, k, span.why);
    return PN_OK;
}

/* ---- jumps ---- */

/* Jumps of the k-th derivative of g where f = g(m) and m is linear in the variable: those of f's k-th derivative are
 * theirs times m'^k.  For k = 1 a jump of g' upward is one of f' upward, whichever way m runs;
 * for the others only whether there is one counts. */
static pn_status jump_through(shaper *self, int k, size_t index, pn_jump *out)
{
    pn_case one;
    pn_node tilt, root;
    pn_status status =
        pn_case_open(&one, self->graph, self->part[0], self->needed, self->domains, index, self->task, self->err);

    if (status != PN_OK)
        return status;
    *out = (pn_jump){ false, INFINITY, INFINITY, 0.0 };
    if (one.reduced) {
        unsigned v = 0;

        while (v < one.inner->dims && one.inner->source[v] != self->variable)
            v++;
        root = one.root;
        for (int i = 0; i < k && root != PN_NODE_NONE; i++)
            root = pn_graph_derivative(one.graph, root, 0);
        tilt = pn_graph_derivative(one.inner->graph, one.inner->root, v < one.inner->dims ? v : 0);
        /* A second derivative of 0 would not do: max(z, y) has it too. */
        if (root != PN_NODE_NONE && tilt != PN_NODE_NONE && !pn_graph_depends(one.inner->graph, tilt, v))
            status = pn_jump_of_case(out, &one, root, self->task, self->err);
        else if (pn_graph_status(one.graph, NULL) == PN_ENOMEM || pn_graph_status(one.inner->graph, NULL) == PN_ENOMEM)
            status = pn_fail(self->err, PN_ENOMEM, "bound: out of memory");
    }
    pn_case_close(&one);
    return status;
}

static pn_status jump_of_part(shaper *self, int k, pn_jump *out)
{
    pn_jump all = { true, 0.0, 0.0, NAN }, one; /* the place is not traced back through the common sub-expression */
    pn_status status;
    size_t cases;

    *out = (pn_jump){ false, INFINITY, INFINITY, 0.0 };
    if (self->part[k] == PN_NODE_NONE)
        return PN_OK;
    status = pn_jump_over(out, self->graph, self->part[k], self->variable, self->domains, self->task, self->err);
    if (status == PN_EDOMAIN && k > 0) /* a derivative that is undefined somewhere has been said to be unbounded */
        return PN_OK;
    if (status != PN_OK || out->decided)
        return status;
    cases = pn_case_count(self->graph, self->needed, self->domains);
    for (size_t i = 0; i < cases && all.decided && status == PN_OK; i++) {
        status = jump_through(self, k, i, &one);
        all.decided = one.decided;
        all.up = fmax(all.up, one.up);
        all.down = fmax(all.down, one.down);
    }
    if (status == PN_EDOMAIN)
        return PN_OK;
    if (status == PN_OK && all.decided)
        *out = all;
    return status;
}

static bool stays(const pn_jump *jump)
{
    return jump->decided && jump->up == 0.0 && jump->down == 0.0;
}

static void say_jump(shaper *self, int k, const pn_jump *jump)
{
    char where[64];

    if (stays(jump))
        return;
    if (!jump->decided)
        (void)snprintf(where, sizeof where, "it could not be shown not to jump");
    else if (isnan(jump->where))
        (void)snprintf(where, sizeof where, "it jumps");
    else
        (void)snprintf(where, sizeof where, "it jumps at %s = %.6g",
                       pn_graph_variable_name(self->graph, self->variable), jump->where);
    miss(self, k, where);
}

static pn_status find_jumps(shaper *self)
{
    pn_jump jump[3];
    pn_shape *shape = &self->shape;

    for (int k = 0; k < 3; k++) {
        PN_TRY(jump_of_part(self, k, &jump[k]));
        say_jump(self, k, &jump[k]);
    }
    shape->continuous = stays(&jump[0]);
    shape->smooth = shape->continuous && stays(&jump[1]);
    shape->twice_smooth = shape->smooth && stays(&jump[2]);
    shape->convex = shape->continuous && shape->curvature.low >= 0.0 && jump[1].decided && jump[1].down == 0.0;
    return PN_OK;
}

pn_status pn_shape_of(pn_shape *out, pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                      pn_task *task, pn_err *err)
{
    shaper self = { .variable = variable, .domains = domains, .task = task, .err = err };
    pn_interval *ranges[4] = { &self.shape.value, &self.shape.slope, &self.shape.curvature, &self.shape.third };
    pn_status status = pn_graph_status(graph, err);

    if (status == PN_OK && variable >= pn_graph_variables(graph))
        status = pn_fail(err, PN_EINVAL, "bound: there is no variable %u", variable + 1);
    if (status == PN_OK)
        status = pn_bound_check(graph, domains, err);
    if (status == PN_OK)
        status = pn_bound_copy(&self.graph, &self.part[0], graph, root, err);
    if (status == PN_OK)
        status = pn_case_needs(&self.needed, self.graph, self.part[0], err);
    if (status == PN_OK)
        status = derive(&self);
    for (int k = 0; k < 4 && status == PN_OK; k++)
        status = bound_part(&self, k, ranges[k]);
    if (status == PN_OK)
        status = find_jumps(&self);
    pn_graph_free(self.graph);
    if (status == PN_OK)
        *out = self.shape;
    return status;
}
