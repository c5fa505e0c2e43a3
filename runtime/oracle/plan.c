/* plan.c -- the lines, settings and warnings of a plan, and what requests have in common.
 * Depends on: plan.h.  Used by: every file of oracle/ and solvers/ that plans. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "oracle/plan.h"

/* ---- what is asked for ---- */

bool pn_request_is_lesson(const pn_request *request)
{
    return request->ledger && pn_ledger_budget(request->ledger)->teaching;
}

pn_status pn_request_need_n(const pn_request *request, const char *owner, pn_err *err)
{
    if (request->kind == PN_NONPRIVATE || request->neighbours != PN_ADD_REMOVE)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "%s: neighbours=\"add_remove\" makes n secret, and the objective divides by n; use \"replace_one\" "
                   "or \"zero_out\"",
                   owner);
}

pn_status pn_request_need_delta(const pn_request *request, const char *owner, pn_err *err)
{
    if (request->kind != PN_EPSILON_DELTA || request->delta > 0.0)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say", owner);
}

const char *const pn_accountant_names[] = { "auto", "rdp", "pld", NULL };

bool pn_accountant_is_pld(const pn_arg *accountant, bool by_default)
{
    return accountant->count == 0 ? by_default : accountant->count == 2;
}

pn_status pn_request_need_epsilon(const pn_request *request, const char *owner, pn_err *err)
{
    if (request->kind != PN_RHO)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "%s: accountant=\"pld\" prices epsilon at a delta; give them instead of rho",
                   owner);
}

/* ---- lines ---- */

static pn_plan_line *next_line(pn_plan_lines *lines, const char *name, const char *format, va_list args)
{
    pn_plan_line *line;

    if (lines->count == PN_PLAN_LINES)
        return NULL;
    line = &lines->line[lines->count++];
    line->name = name;
    (void)vsnprintf(line->formula, sizeof line->formula, format, args);
    return line;
}

static void add(pn_plan_lines *lines, const char *name, double value, const char *text, const char *formula,
                va_list args)
{
    pn_plan_line *line = next_line(lines, name, formula, args);

    if (!line)
        return;
    line->value = value;
    (void)snprintf(line->text, sizeof line->text, "%s", text);
}

void pn_plan_add(pn_plan *plan, const char *name, double value, const char *formula, ...)
{
    va_list args;

    va_start(args, formula);
    add(&plan->lines, name, value, "", formula, args);
    va_end(args);
}

void pn_plan_add_text(pn_plan *plan, const char *name, const char *text, const char *formula, ...)
{
    va_list args;

    va_start(args, formula);
    add(&plan->lines, name, NAN, text, formula, args);
    va_end(args);
}

void pn_lines_add(pn_plan_lines *lines, const char *name, double value, const char *text, const char *formula, ...)
{
    va_list args;

    va_start(args, formula);
    add(lines, name, value, text, formula, args);
    va_end(args);
}

bool pn_plan_bounds(pn_plan *plan, double bound, const char *none, const char *formula, ...)
{
    va_list args;

    plan->bound = none ? NAN : bound;
    if (none) {
        pn_plan_add_text(plan, "excess risk bound", "none", "%s", none);
        return false;
    }
    va_start(args, formula);
    add(&plan->lines, "excess risk bound", bound, "", formula, args);
    va_end(args);
    return true;
}

void pn_plan_later(pn_plan *plan)
{
    plan->later = plan->lines.count;
}

void pn_plan_warn(pn_plan *plan, const char *format, ...)
{
    for (size_t i = 0; i < PN_PLAN_WARNINGS; i++) {
        if (plan->warnings[i][0] == '\0') {
            va_list args;

            va_start(args, format);
            (void)vsnprintf(plan->warnings[i], sizeof plan->warnings[i], format, args);
            va_end(args);
            return;
        }
    }
}

void pn_plan_warn_hopeless(pn_plan *plan, const char *format, ...)
{
    va_list args;

    plan->hopeless = true;
    memmove(plan->warnings[1], plan->warnings[0], sizeof plan->warnings - sizeof plan->warnings[0]);
    va_start(args, format);
    (void)vsnprintf(plan->warnings[0], sizeof plan->warnings[0], format, args);
    va_end(args);
}

void pn_plan_set(pn_plan *plan, const char *name, double value, bool whole)
{
    if (plan->setting_count < PN_PLAN_SETTINGS)
        plan->settings[plan->setting_count++] = (pn_plan_setting){ name, value, whole };
}

void pn_plan_rests_on(pn_plan *plan, const pn_plan_rest *rest)
{
    if (plan->rest_count < PN_PLAN_RESTS)
        plan->rests[plan->rest_count++] = *rest;
    else
        pn_event_free(rest->event);
}

size_t pn_plan_charges(const pn_plan *plan)
{
    return plan->charges ? plan->charges : plan->iterations;
}
