/* plan_print.c -- a plan as a table for people: what it does, what it costs, every number with its formula.
 * Depends on: solver.h.  Used by: bindings (tostring), hosts. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "solvers/engine/solver.h"

#define EVENT_BYTES 1000 /* of an event of several parts, all of them Gaussian: 5 in a run of newton */
#define NAME_WIDTH  20
#define VALUE_WIDTH 13

typedef struct sink {
    char *text;
    size_t size;
    int used; /* as snprintf: what would have been written */
} sink;

static void PN_PRINTF(2, 3) put(sink *out, const char *format, ...)
{
    size_t left = (size_t)out->used < out->size ? out->size - (size_t)out->used : 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(left ? out->text + out->used : NULL, left, format, args);
    va_end(args);
    out->used += n > 0 ? n : 0;
}

/* `text` from column `indent` on, broken at spaces; the cursor stands at that column. */
static void put_wrapped(sink *out, const char *text, int indent)
{
    size_t left = strlen(text), skip;

    for (;;) {
        size_t line = pn_text_line(text, left, (size_t)(PN_TEXT_WIDTH - indent), &skip);

        put(out, "%.*s\n", (int)line, text);
        if (line + skip >= left)
            return;
        put(out, "%*s", indent, "");
        text += line + skip;
        left -= line + skip;
    }
}

static void put_guarantee(sink *out, const pn_plan *plan)
{
    const pn_request *request = &plan->request;
    char text[EVENT_BYTES + 40];

    if (plan->without_records)
        (void)snprintf(text, sizeof text, "%s = 0: the answer is the same whatever the records are",
                       isnan(plan->epsilon) ? "rho" : "epsilon");
    else if (request->kind == PN_NONPRIVATE)
        (void)snprintf(text, sizeof text, "none: privacy=false, %s",
                       plan->draws ? "and its noise guarantees nothing" : "the exact data is used");
    else if (plan->simulation_only)
        (void)snprintf(text, sizeof text, "none: for simulated runs only, see the warning");
    else if (request->kind == PN_RHO)
        (void)snprintf(text, sizeof text, "rho = %.6g zCDP, neighbours %s", plan->rho,
                       pn_neighbours_names[request->neighbours]);
    else if (request->delta == 0.0)
        (void)snprintf(text, sizeof text, "epsilon = %.6g, pure, neighbours %s", plan->epsilon,
                       pn_neighbours_names[request->neighbours]);
    else
        (void)snprintf(text, sizeof text, "epsilon = %.6g at delta = %.4g, neighbours %s%s", plan->epsilon, plan->delta,
                       pn_neighbours_names[request->neighbours],
                       plan->accountant        ? " (privacy loss distribution, charged as a whole)"
                       : plan->order == 0.0    ? " (exact Gaussian curve)"
                       : isfinite(plan->order) ? " (Renyi accountant)"
                                               : " (pure composition)");
    put(out, "%-*s", NAME_WIDTH, "  guarantee");
    put_wrapped(out, text, NAME_WIDTH);
    if (plan->event) {
        char event[EVENT_BYTES];

        pn_event_describe(plan->event, event, sizeof event);
        (void)snprintf(text, sizeof text, "%zu x %s", pn_plan_charges(plan), event);
        put(out, "%-*s", NAME_WIDTH, "  events");
        put_wrapped(out, text, NAME_WIDTH);
    }
}

static void put_line(sink *out, const pn_plan_line *line)
{
    char value[64];

    if (line->text[0])
        (void)snprintf(value, sizeof value, "%s", line->text);
    else
        (void)snprintf(value, sizeof value, "%.6g", line->value);
    put(out, "  %-*s ", NAME_WIDTH - 3, line->name); /* a blank between, however long the name */
    if (strlen(value) > VALUE_WIDTH)                 /* a long value pushes its formula to the next line */
        put(out, "%s\n%*s", value, NAME_WIDTH + VALUE_WIDTH + 1, "");
    else
        put(out, "%-*s ", VALUE_WIDTH, value);
    put_wrapped(out, line->formula, NAME_WIDTH + VALUE_WIDTH + 1);
}

int pn_plan_describe(const pn_plan *plan, char *text, size_t size)
{
    const pn_dataset *data = pn_objective_data(pn_plan_objective(plan));
    const pn_set *set = pn_objective_set(pn_plan_objective(plan));
    sink out = { text, size, 0 };
    pn_plan_lines lines;
    char where[128] = "unconstrained";

    if (size)
        text[0] = '\0';
    if (set)
        pn_set_describe(set, where, sizeof where);
    put(&out, "plan: %s, %s loss on %zu x %zu records\n", plan->solver->name,
        pn_objective_loss(pn_plan_objective(plan))->name, data->n, data->p);
    for (size_t i = 0; i < PN_PLAN_WARNINGS && plan->warnings[i][0]; i++) {
        put(&out, "%-*s", NAME_WIDTH, "  warning");
        put_wrapped(&out, plan->warnings[i], NAME_WIDTH);
    }
    put(&out, "%-*s", NAME_WIDTH, "  over");
    put_wrapped(&out, where, NAME_WIDTH);
    put_guarantee(&out, plan);
    pn_plan_explain(plan, &lines);
    for (size_t i = 0; i < lines.count; i++)
        put_line(&out, &lines.line[i]);
    put(&out, "%-*s", NAME_WIDTH, "  source");
    put_wrapped(&out, plan->solver->source, NAME_WIDTH);
    return out.used;
}
