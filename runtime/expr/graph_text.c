/* graph_text.c -- expressions as text with the usual precedence.  Depends on: graph.h.  Used by: graph.h's callers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/graph.h"

#define DEEPEST 40

typedef struct writer {
    const pn_graph *graph;
    char *text;
    size_t size, used;
    bool full;
} writer;

/* Binding strength; an operand that binds weaker than its place asks for is put in parentheses. */
enum { LOOSE = 0, SUM, PRODUCT, SIGN, POWER, ATOM };

static void put(writer *out, const char *piece)
{
    size_t length = strlen(piece);

    if (out->full || out->used + length + 4 > out->size) { /* room for "..." */
        if (!out->full && out->used + 4 <= out->size)
            memcpy(out->text + out->used, "...", 4);
        out->full = true;
        return;
    }
    memcpy(out->text + out->used, piece, length + 1);
    out->used += length;
}

/* Fewest digits that read back the same; ".0" keeps Lua from calculating with large whole numbers as integers,
 * which wrap. */
static void put_number(writer *out, double value)
{
    char digits[40];

    if (!isfinite(value)) {
        put(out, isnan(value) ? "(0/0)" : value > 0.0 ? "math.huge" : "-math.huge");
        return;
    }
    for (int precision = 6; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    put(out, digits);
    if (fabs(value) > 1e9 && !strpbrk(digits, ".e"))
        put(out, ".0");
}

static int strength(const pn_term *term)
{
    switch (term->op) {
    case PN_X_ADD:
    case PN_X_SUB:
        return SUM;
    case PN_X_MUL:
    case PN_X_DIV:
        return PRODUCT;
    case PN_X_NEG:
        return SIGN;
    case PN_X_POW:
        return POWER;
    case PN_X_CONST:
        return term->value < 0.0 ? SIGN : ATOM;
    default:
        return ATOM;
    }
}

static void write_node(writer *out, pn_node node, int place, int depth);

static void write_call(writer *out, const pn_term *term, int depth)
{
    const pn_node operands[3] = { term->a, term->b, term->c };

    put(out, pn_opcode_name(term->op));
    for (unsigned i = 0; i < pn_opcode_operands(term->op); i++) {
        put(out, i ? ", " : "(");
        write_node(out, operands[i], LOOSE, depth + 1);
    }
    put(out, ")");
}

static void write_infix(writer *out, const pn_term *term, int depth)
{
    int own = strength(term);
    bool square = term->op == PN_X_MUL && term->a == term->b;

    /* from the left, but ^ from the right; so that the text is calculated in the same order */
    write_node(out, term->a, square || own == POWER ? ATOM : own, depth + 1);
    if (square) {
        put(out, "^2");
        return;
    }
    put(out, own == SUM ? (term->op == PN_X_ADD ? " + " : " - ") : pn_opcode_name(term->op));
    write_node(out, term->b, own == POWER ? POWER : own + 1, depth + 1);
}

static void write_node(writer *out, pn_node node, int place, int depth)
{
    const pn_term *term = pn_graph_term(out->graph, node);
    bool square = term->op == PN_X_MUL && term->a == term->b;
    bool wrap = (square ? POWER : strength(term)) < place;

    if (out->full)
        return;
    if (depth > DEEPEST) {
        put(out, "...");
        return;
    }
    if (wrap)
        put(out, "(");
    if (term->op == PN_X_CONST) {
        put_number(out, term->value);
    } else if (term->op == PN_X_VAR) {
        put(out, pn_graph_variable_name(out->graph, term->a));
    } else if (term->op == PN_X_NEG) {
        put(out, "-");
        write_node(out, term->a, SIGN + 1, depth + 1);
    } else if (strength(term) == ATOM) {
        write_call(out, term, depth);
    } else {
        write_infix(out, term, depth);
    }
    if (wrap)
        put(out, ")");
}

void pn_graph_text(const pn_graph *graph, pn_node root, char *text, size_t size)
{
    writer out = { graph, text, size, 0, false };

    if (size == 0)
        return;
    text[0] = '\0';
    write_node(&out, root, LOOSE, 0);
}
