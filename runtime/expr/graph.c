/* graph.c -- storage of expression graphs: hash consing, substitution, reachability.
 * Depends on: graph_impl.h.  Used by: graph.h's callers. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/graph_impl.h"

#define FIRST_TERMS 64
#define FIRST_SLOTS 256

static const struct {
    const char *name;
    unsigned operands;
} opcodes[PN_X_LOWERED_COUNT] = {
    [PN_X_CONST] = { "constant", 0 },
    [PN_X_VAR] = { "variable", 0 },
    [PN_X_NEG] = { "-", 1 },
    [PN_X_ABS] = { "abs", 1 },
    [PN_X_SIGN] = { "sign", 1 },
    [PN_X_SQRT] = { "sqrt", 1 },
    [PN_X_EXP] = { "exp", 1 },
    [PN_X_LOG] = { "log", 1 },
    [PN_X_LOG1P] = { "log1p", 1 },
    [PN_X_EXPM1] = { "expm1", 1 },
    [PN_X_TANH] = { "tanh", 1 },
    [PN_X_SIGMOID] = { "sigmoid", 1 },
    [PN_X_SOFTPLUS] = { "softplus", 1 },
    [PN_X_ERF] = { "erf", 1 },
    [PN_X_SIN] = { "sin", 1 },
    [PN_X_COS] = { "cos", 1 },
    [PN_X_ADD] = { "+", 2 },
    [PN_X_SUB] = { "-", 2 },
    [PN_X_MUL] = { "*", 2 },
    [PN_X_DIV] = { "/", 2 },
    [PN_X_POW] = { "^", 2 },
    [PN_X_MIN] = { "min", 2 },
    [PN_X_MAX] = { "max", 2 },
    [PN_X_LT] = { "lt", 2 },
    [PN_X_LE] = { "le", 2 },
    [PN_X_WHERE] = { "where", 3 },
    [PN_X_DECAY] = { "decay", 1 },
    [PN_X_SIGMOID_OF] = { "sigmoid_of", 2 },
    [PN_X_SOFTPLUS_OF] = { "softplus_of", 2 },
};

const char *pn_opcode_name(pn_opcode op)
{
    return opcodes[op].name;
}

unsigned pn_opcode_operands(pn_opcode op)
{
    return opcodes[op].operands;
}

/* ---- life ---- */

pn_status pn_graph_new(pn_graph **out, const char *const *names, unsigned count, pn_err *err)
{
    pn_graph *graph;

    if (count > PN_GRAPH_VARS_MAX)
        return pn_fail(err, PN_EINVAL, "expression: at most %d variables, got %u", PN_GRAPH_VARS_MAX, count);
    graph = pn_calloc(1, sizeof *graph);
    if (graph) {
        graph->references = 1;
        graph->variables = count;
        graph->words = count / 64 + 1;
        graph->names = pn_calloc(count + 1, sizeof *graph->names);
        graph->terms = pn_alloc(FIRST_TERMS, sizeof *graph->terms);
        graph->needs = pn_alloc(FIRST_TERMS, graph->words * sizeof *graph->needs);
        graph->slots = pn_calloc(FIRST_SLOTS, sizeof *graph->slots);
    }
    if (!graph || !graph->names || !graph->terms || !graph->needs || !graph->slots) {
        pn_graph_free(graph);
        return pn_fail(err, PN_ENOMEM, "expression: out of memory");
    }
    graph->capacity = FIRST_TERMS;
    graph->slot_count = FIRST_SLOTS;
    for (unsigned v = 0; v < count; v++)
        (void)snprintf(graph->names[v], PN_GRAPH_NAME, "%s", names[v]);
    *out = graph;
    return PN_OK;
}

pn_graph *pn_graph_keep(pn_graph *graph)
{
    graph->references++;
    return graph;
}

void pn_graph_free(pn_graph *graph)
{
    if (!graph || --graph->references > 0)
        return;
    pn_free(graph->names);
    pn_free(graph->terms);
    pn_free(graph->needs);
    pn_free(graph->slots);
    pn_free(graph);
}

unsigned pn_graph_variables(const pn_graph *graph)
{
    return graph->variables;
}

const char *pn_graph_variable_name(const pn_graph *graph, unsigned variable)
{
    return graph->names[variable];
}

size_t pn_graph_size(const pn_graph *graph)
{
    return graph->count;
}

const pn_term *pn_graph_term(const pn_graph *graph, pn_node node)
{
    return &graph->terms[node];
}

pn_status pn_graph_status(const pn_graph *graph, pn_err *err)
{
    if (graph->status == PN_ENOMEM)
        return pn_fail(err, PN_ENOMEM, "expression: out of memory after %zu operations", graph->count);
    if (graph->status != PN_OK)
        return pn_fail(err, graph->status,
                       "the expression has more than %d operations: a loop that builds it term by term is too long, or "
                       "a derivative of it grows too large",
                       PN_GRAPH_MAX);
    return PN_OK;
}

void pn_graph_forgive(pn_graph *graph)
{
    if (graph->status == PN_EUNSUPPORTED)
        graph->status = PN_OK;
}

/* ---- hash consing ---- */

/* The shift before the product brings down the high bits, where small whole numbers differ. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash ^= word;
    hash ^= hash >> 32;
    hash *= 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

static size_t hash_of(const pn_term *term)
{
    uint64_t bits;

    memcpy(&bits, &term->value, sizeof bits);
    return (size_t)mix(mix(mix((uint64_t)term->op, term->a), (uint64_t)term->b << 32 | term->c), bits);
}

static bool same(const pn_term *s, const pn_term *t)
{
    return s->op == t->op && s->a == t->a && s->b == t->b && s->c == t->c &&
           memcmp(&s->value, &t->value, sizeof s->value) == 0;
}

/* The slot that holds the term, or the empty one where it belongs. */
static size_t slot_of(const pn_graph *graph, const pn_term *term)
{
    size_t slot = hash_of(term) & (graph->slot_count - 1);

    while (graph->slots[slot] && !same(&graph->terms[graph->slots[slot] - 1], term))
        slot = (slot + 1) & (graph->slot_count - 1);
    return slot;
}

static bool grow_slots(pn_graph *graph)
{
    uint32_t *old = graph->slots, *slots = pn_calloc(2 * graph->slot_count, sizeof *slots);

    if (!slots)
        return false;
    graph->slots = slots;
    graph->slot_count *= 2;
    for (size_t i = 0; i < graph->count; i++)
        slots[slot_of(graph, &graph->terms[i])] = (uint32_t)i + 1;
    pn_free(old);
    return true;
}

static bool make_room(pn_graph *graph)
{
    if (graph->count == graph->capacity) {
        pn_term *terms = pn_resize(graph->terms, 2 * graph->capacity, sizeof *terms);
        uint64_t *needs = terms ? pn_resize(graph->needs, 2 * graph->capacity, graph->words * sizeof *needs) : NULL;

        graph->terms = terms ? terms : graph->terms;
        if (!needs)
            return false;
        graph->needs = needs;
        graph->capacity *= 2;
    }
    return 2 * (graph->count + 1) < graph->slot_count || grow_slots(graph);
}

/* What the last term depends on. */
static void note_needs(pn_graph *graph)
{
    const pn_term *term = &graph->terms[graph->count];
    unsigned operands = pn_opcode_operands(term->op);
    size_t words = graph->words;
    uint64_t *bits = graph->needs + graph->count * words;

    for (size_t i = 0; i < words; i++) {
        bits[i] = operands > 0 ? graph->needs[term->a * words + i] : 0;
        bits[i] |= operands > 1 ? graph->needs[term->b * words + i] : 0;
        bits[i] |= operands > 2 ? graph->needs[term->c * words + i] : 0;
    }
    if (term->op == PN_X_VAR)
        bits[term->a / 64] |= (uint64_t)1 << term->a % 64;
}

pn_node pn_graph_intern(pn_graph *graph, pn_term term)
{
    size_t slot;

    if (graph->status != PN_OK)
        return PN_NODE_NONE;
    slot = slot_of(graph, &term);
    if (graph->slots[slot])
        return graph->slots[slot] - 1;
    if (graph->count == PN_GRAPH_MAX) {
        graph->status = PN_EUNSUPPORTED;
        return PN_NODE_NONE;
    }
    if (!make_room(graph)) {
        graph->status = PN_ENOMEM;
        return PN_NODE_NONE;
    }
    graph->slots[slot_of(graph, &term)] = (uint32_t)graph->count + 1;
    graph->terms[graph->count] = term;
    note_needs(graph);
    return (pn_node)graph->count++;
}

/* ---- questions about expressions ---- */

bool pn_x_is(const pn_graph *graph, pn_node node, double value)
{
    return node != PN_NODE_NONE && graph->terms[node].op == PN_X_CONST && graph->terms[node].value == value;
}

void pn_graph_used(const pn_graph *graph, pn_node root, bool *used)
{
    memset(used, 0, ((size_t)root + 1) * sizeof *used);
    used[root] = true;
    for (pn_node i = root + 1; i-- > 0;) {
        const pn_term *term = &graph->terms[i];
        unsigned operands = used[i] ? pn_opcode_operands(term->op) : 0;

        if (operands > 0)
            used[term->a] = true;
        if (operands > 1)
            used[term->b] = true;
        if (operands > 2)
            used[term->c] = true;
    }
}

bool pn_graph_depends(const pn_graph *graph, pn_node root, unsigned variable)
{
    return graph->needs[root * graph->words + variable / 64] >> variable % 64 & 1;
}

bool pn_graph_depends_below(const pn_graph *graph, pn_node root, unsigned count)
{
    for (unsigned v = 0; v < count; v++) {
        if (pn_graph_depends(graph, root, v))
            return true;
    }
    return false;
}

/* ---- substitution ---- */

static pn_node rebuild(pn_graph *graph, pn_node node, const pn_node *image, const pn_node *by)
{
    pn_term term = graph->terms[node];

    switch (pn_opcode_operands(term.op)) {
    case 1:
        return pn_x_unary(graph, term.op, image[term.a]);
    case 2:
        return pn_x_binary(graph, term.op, image[term.a], image[term.b]);
    case 3:
        return pn_x_where(graph, image[term.a], image[term.b], image[term.c]);
    default:
        return term.op == PN_X_VAR && by[term.a] != PN_NODE_NONE ? by[term.a] : node;
    }
}

pn_node pn_graph_substitute(pn_graph *graph, pn_node root, const pn_node *by)
{
    pn_node *image, result;
    bool *used;

    if (root == PN_NODE_NONE || graph->status != PN_OK)
        return PN_NODE_NONE;
    image = pn_alloc((size_t)root + 1, sizeof *image);
    used = pn_alloc((size_t)root + 1, sizeof *used);
    if (image && used) {
        pn_graph_used(graph, root, used);
        for (pn_node i = 0; i <= root; i++)
            image[i] = used[i] ? rebuild(graph, i, image, by) : PN_NODE_NONE;
        result = image[root];
    } else {
        graph->status = PN_ENOMEM;
        result = PN_NODE_NONE;
    }
    pn_free(image);
    pn_free(used);
    return result;
}
