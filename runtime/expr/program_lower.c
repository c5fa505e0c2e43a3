/* program_lower.c -- sigmoid(x), sigmoid(-x) and softplus(x) all begin with exp(-|x|): where a program needs several of
 * them, as a logistic loss and its derivatives do, it is computed once.  The bits stay the same.
 * Depends on: program_impl.h, graph_impl.h.  Used by: program.c. */
#include <string.h>

#include "core/alloc.h"
#include "expr/graph_impl.h"
#include "expr/program_impl.h"

typedef struct lowering {
    const pn_graph *graph;
    size_t nodes;
    bool *used, *part; /* [nodes]; part: scratch for one output */
    unsigned *shares;  /* [nodes] how many functions begin with the exponential of this argument */
    pn_node *image;    /* [nodes] */
    pn_graph *to;
} lowering;

static bool begins_with_decay(const pn_term *term)
{
    return term->op == PN_X_SIGMOID || term->op == PN_X_SOFTPLUS;
}

/* The argument without its sign, which |x| does not see. */
static pn_node argument(const pn_graph *graph, const pn_term *term)
{
    const pn_term *inner = pn_graph_term(graph, term->a);

    return inner->op == PN_X_NEG ? inner->a : term->a;
}

static void mark(lowering *self, const pn_node *outputs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        pn_graph_used(self->graph, outputs[k], self->part);
        for (pn_node i = 0; i <= outputs[k]; i++)
            self->used[i] = self->used[i] || self->part[i];
    }
}

static bool count_shares(lowering *self)
{
    bool any = false;

    for (pn_node i = 0; i < self->nodes; i++) {
        const pn_term *term = pn_graph_term(self->graph, i);

        if (self->used[i] && begins_with_decay(term))
            any = ++self->shares[argument(self->graph, term)] > 1 || any;
    }
    return any;
}

static pn_node image_of(const lowering *self, pn_node node)
{
    return node == PN_NODE_NONE ? node : self->image[node];
}

static void copy_node(lowering *self, pn_node i)
{
    pn_term term = *pn_graph_term(self->graph, i);

    if (begins_with_decay(&term) && self->shares[argument(self->graph, &term)] > 1) {
        pn_term decay = { (pn_opcode)PN_X_DECAY, self->image[argument(self->graph, &term)], PN_NODE_NONE, PN_NODE_NONE,
                          0.0 };

        term.op = (pn_opcode)(term.op == PN_X_SIGMOID ? PN_X_SIGMOID_OF : PN_X_SOFTPLUS_OF);
        term.a = self->image[term.a];
        term.b = pn_graph_intern(self->to, decay);
    } else if (term.op != PN_X_VAR) {
        term.a = image_of(self, term.a);
        term.b = image_of(self, term.b);
        term.c = image_of(self, term.c);
    }
    self->image[i] = self->to->status == PN_OK ? pn_graph_intern(self->to, term) : PN_NODE_NONE;
}

static pn_status copy_all(lowering *self, pn_err *err)
{
    const char *names[PN_GRAPH_VARS_MAX];
    pn_status status;

    for (unsigned v = 0; v < pn_graph_variables(self->graph); v++)
        names[v] = pn_graph_variable_name(self->graph, v);
    status = pn_graph_new(&self->to, names, pn_graph_variables(self->graph), err);
    for (pn_node i = 0; status == PN_OK && self->to->status == PN_OK && i < self->nodes; i++) {
        if (self->used[i])
            copy_node(self, i);
    }
    if (status == PN_OK && self->to->status == PN_ENOMEM)
        status = pn_graph_status(self->to, err);
    return status;
}

pn_status pn_program_lower(pn_graph **out, pn_node *lowered, const pn_graph *graph, const pn_node *outputs,
                           size_t count, pn_err *err)
{
    lowering self = { .graph = graph };
    pn_status status = PN_OK;

    *out = NULL;
    for (size_t k = 0; k < count; k++)
        self.nodes = outputs[k] >= self.nodes ? (size_t)outputs[k] + 1 : self.nodes;
    self.used = pn_calloc(self.nodes, sizeof *self.used);
    self.part = pn_alloc(self.nodes, sizeof *self.part);
    self.shares = pn_calloc(self.nodes, sizeof *self.shares);
    self.image = pn_alloc(self.nodes, sizeof *self.image);
    if (!self.used || !self.part || !self.shares || !self.image)
        status = pn_fail(err, PN_ENOMEM, "expression: out of memory");
    if (status == PN_OK)
        mark(&self, outputs, count);
    if (status == PN_OK && count_shares(&self))
        status = copy_all(&self, err);
    if (status == PN_OK && self.to && self.to->status == PN_OK) { /* a copy that grew too large is done without */
        for (size_t k = 0; k < count; k++)
            lowered[k] = self.image[outputs[k]];
        *out = pn_graph_keep(self.to);
    }
    pn_graph_free(self.to);
    pn_free(self.used);
    pn_free(self.part);
    pn_free(self.shares);
    pn_free(self.image);
    return status;
}
