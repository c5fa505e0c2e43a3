/* graph_impl.h -- the inside of a graph, shared by the files of this room. */
#ifndef PN_EXPR_GRAPH_IMPL_H
#define PN_EXPR_GRAPH_IMPL_H

#include "expr/graph.h"

#define PN_GRAPH_NAME 16

/* What programs are made of beside the operations of graph.h: sigmoid and softplus in two halves, so that those of one
 * argument share the exponential.  They occur in lowered graphs only (program_lower.c). */
enum {
    PN_X_DECAY = PN_X_COUNT, /* exp(-|a|) */
    PN_X_SIGMOID_OF,         /* sigmoid(a) with b = exp(-|a|) */
    PN_X_SOFTPLUS_OF,
    PN_X_LOWERED_COUNT
};

struct pn_graph {
    int references;
    unsigned variables;
    char (*names)[PN_GRAPH_NAME]; /* [variables] */
    pn_term *terms;               /* [capacity] */
    uint64_t *needs;              /* [capacity][words] the variables that a node depends on, one bit each */
    size_t words;
    size_t count, capacity;
    uint32_t *slots; /* [slot_count] node + 1 by hash, 0 for none; slot_count is a power of two > 2 count */
    size_t slot_count;
    pn_status status; /* the first failure of a builder */
};

/** The node of this term, made when it is new; nothing is simplified. */
pn_node pn_graph_intern(pn_graph *graph, pn_term term);

/** Forget that the graph grew too large, and only that: what was made before stands.
 *  For derivatives that one can do without. */
void pn_graph_forgive(pn_graph *graph);

#endif
