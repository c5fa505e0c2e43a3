/* bound_explain.c -- which operation has no bound, or no value, and where.
 * Depends on: bound_impl.h.  Used by: bound_search.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/bound_impl.h"

#define TEXT 80

static bool is_bounded(pn_interval x)
{
    return !isinf(x.low) && !isinf(x.high);
}

/* The first step whose own doing it is; `steps` when each only passes on what it was given. */
static size_t first_culprit(const pn_sweep *sweep, bool undefined)
{
    for (size_t i = 0; i < sweep->middle; i++) {
        const pn_sweep_step *step = &sweep->step[i];
        pn_interval a = sweep->value[step->a], b = sweep->value[step->b], c = sweep->value[step->c];
        unsigned doubt = 0;

        (void)pn_interval_apply((pn_opcode)step->op, a, b, c, &doubt);
        if (undefined ? (doubt & PN_MAY_BE_UNDEFINED) != 0
                      : !is_bounded(sweep->value[sweep->first + i]) && is_bounded(a) && is_bounded(b) && is_bounded(c))
            return i;
    }
    return sweep->middle;
}

static void say_interval(char *text, size_t size, const char *name, pn_interval x)
{
    if (x.low == x.high)
        (void)snprintf(text, size, "%s is %.6g", name, x.low);
    else
        (void)snprintf(text, size, "%s is in [%.6g, %.6g]", name, x.low, x.high);
}

/* "z is in [0, 1] and y is in [-1, 1]" for the variables that the node depends on. */
static pn_status say_variables(char *text, size_t size, const pn_sweep *sweep, const pn_case *what, pn_node node,
                               pn_err *err)
{
    size_t used = 0;
    char name[TEXT];

    text[0] = '\0';
    for (unsigned v = 0; v < what->dims && used + 1 < size; v++) {
        if (!pn_graph_depends(what->graph, node, v))
            continue;
        if (used > 0)
            (void)snprintf(text + used, size - used, " and ");
        used += strlen(text + used);
        PN_TRY(pn_case_text(what, sweep->node[v], name, sizeof name, err));
        say_interval(text + used, size - used, name, sweep->value[v]);
        used += strlen(text + used);
    }
    return PN_OK;
}

pn_status pn_search_explain(char *why, const pn_sweep *sweep, const pn_case *what, bool undefined, pn_err *err)
{
    const char *verb = undefined ? "may be undefined" : "is unbounded";
    size_t i = first_culprit(sweep, undefined);
    pn_node node = i < sweep->middle ? sweep->node[sweep->first + i] : what->root;
    pn_opcode op = pn_graph_term(what->graph, node)->op;
    char name[TEXT], argument[TEXT], where[TEXT + 48];

    PN_TRY(pn_case_text(what, node, name, sizeof name, err));
    if (i < sweep->middle && (pn_opcode_operands(op) == 1 || op == PN_X_DIV)) {
        uint32_t slot = op == PN_X_DIV ? sweep->step[i].b : sweep->step[i].a;

        PN_TRY(pn_case_text(what, sweep->node[slot], argument, sizeof argument, err));
        say_interval(where, sizeof where, argument, sweep->value[slot]);
    } else {
        PN_TRY(say_variables(where, sizeof where, sweep, what, node, err));
    }
    (void)snprintf(why, PN_BOUND_WHY, "%.*s %s%s%s", TEXT, name, verb, where[0] ? " where " : "", where);
    return PN_OK;
}
