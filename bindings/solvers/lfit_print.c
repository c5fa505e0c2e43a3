/* lfit_print.c -- a fit as text: how the run went, what it cost, what it reached.
 * Depends on: lsolve.h, lprint.h, core/text.h.  Used by: lfit.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/privacy/lsession.h"
#include "bindings/solvers/lsolve.h"
#include "core/text.h"

#define SPARK_COLUMNS 32
#define STEEP         30.0 /* times the least value */

/* Whether somebody else than the solver ended the run, after it had released something. */
static bool was_stopped(const pn_fit *fit, const pn_model_about *about)
{
    const char *why = fit->stopped;
    double price = isnan(fit->epsilon) ? fit->rho : fit->epsilon;

    if (!fit->is_private || !(price > 0.0) || fit->steps >= about->iterations)
        return false;
    return !why || strcmp(why, "interrupted") == 0 || strcmp(why, "limit") == 0 ||
           (strcmp(why, "budget") == 0 && !about->adaptive);
}

/* What the releases of a run that was stopped cost: what a ledger counts, wherever its users stop. */
static void add_paid(luaL_Buffer *text, const pn_fit *fit, const pn_model_about *about)
{
    bool by_rho = isnan(fit->epsilon);
    double paid = by_rho ? fit->charged_rho : fit->charged_epsilon;

    if (!was_stopped(fit, about) || fit->simulated || !isfinite(paid))
        return;
    pnl_add_format(text, "\n  paid     %s = %.4g", by_rho ? "rho" : "epsilon", paid);
    if (!by_rho && fit->delta > 0.0)
        pnl_add_format(text, ", delta = %.3g", fit->delta);
    pnl_add_format(text, ": the price of %zu step%s", fit->steps, fit->steps == 1 ? "" : "s");
}

/* Why a run of few steps states the price of all. */
static void say_stop(const pn_fit *fit, const pn_model_about *about, char *text, size_t size)
{
    text[0] = '\0';
    if (about->version && was_stopped(fit, about) && isinf(isnan(fit->epsilon) ? fit->rho : fit->epsilon))
        (void)snprintf(text, size, "\n           its file knows no bound for a run that was stopped");
    else if (was_stopped(fit, about))
        (void)snprintf(text, size,
                       "\n           this %s is the whole plan's, because whoever stopped the run"
                       "\n           could see what it had released",
                       isnan(fit->epsilon) ? "rho" : "epsilon");
}

/* What the guarantee is, in words, without promising anything that does not hold. */
void pnl_fit_say_privacy(const pn_fit *fit, const pn_model_about *about, char *text, size_t size)
{
    const char *relation = pn_neighbours_names[fit->neighbours];

    if (!fit->is_private)
        (void)snprintf(text, size, "none: %s (privacy=false)",
                       about->draws ? "what it drew guarantees nothing" : "fitted on the exact data");
    else if (fit->simulated && isnan(fit->epsilon))
        (void)snprintf(text, size, "seeded noise: no privacy (secure: rho = %.4g, %s)", fit->rho, relation);
    else if (fit->simulated)
        (void)snprintf(text, size, "seeded noise: no privacy (secure: epsilon %.4g, delta %.3g)", fit->epsilon,
                       fit->delta);
    else if (isnan(fit->epsilon))
        (void)snprintf(text, size, "rho = %.4g zCDP, %s: holds", fit->rho, relation);
    else
        (void)snprintf(text, size, "epsilon = %.4g, delta = %.3g, %s: holds (%s)", fit->epsilon, fit->delta, relation,
                       about->accountant);
}

/* A coarse tolerance lets saddles pass: said where the released curvature is negative and nothing proves that it is all
 * noise. */
static void say_saddle(const pn_certificate *of, char *text, size_t size)
{
    bool sure = of->noisy_eigenvalue + of->hessian_error < 0.0;

    if (of->noisy_eigenvalue < 0.0 && of->eigenvalue <= of->noisy_eigenvalue && strcmp(of->status, "certified") == 0)
        (void)snprintf(text, size,
                       "\n  %s: the released eigenvalue, %.3g, is within the tolerance; a smaller one would go on",
                       sure ? "no minimum" : "may be a saddle", of->noisy_eigenvalue);
}

/* What is proven of the answer, in words; "" for solvers that prove nothing.  The status says how the run ended. */
static void say_certificate(const pn_fit *fit, char *text, size_t size)
{
    const pn_certificate *of = &fit->certificate;
    char gradient[64] = "", eigenvalue[64] = "", chance[64] = "", saddle[160] = "";

    text[0] = '\0';
    if (!of->status)
        return;
    if (!isnan(of->gradient_norm))
        (void)snprintf(gradient, sizeof gradient, "gradient <= %.3g", of->gradient_norm);
    if (!isnan(of->eigenvalue))
        (void)snprintf(eigenvalue, sizeof eigenvalue, "%sleast eigenvalue >= %.3g", gradient[0] ? ", " : "",
                       of->eigenvalue);
    if (of->failure > 0.0)
        (void)snprintf(chance, sizeof chance, ", with probability %.3g", 1.0 - of->failure);
    say_saddle(of, saddle, sizeof saddle);
    if (gradient[0] || eigenvalue[0])
        (void)snprintf(text, size, "\n  %s: %s%s%s%s", of->status, gradient, eigenvalue, chance, saddle);
    else
        (void)snprintf(text, size, "\n  no certificate: %s", of->status);
}

/* ---- the trace ---- */

/* A figure of the trace's rows that a sparkline can show, best first. */
typedef struct figure {
    const char *name;
    double (*of)(const pn_trace_row *row);
    bool raw;
} figure;

static double value_of(const pn_trace_row *row)
{
    return row->value;
}

static double gap_of(const pn_trace_row *row)
{
    return row->gap;
}

static double gradient_norm_of(const pn_trace_row *row)
{
    return row->gradient_norm;
}

static double certificate_of(const pn_trace_row *row)
{
    return row->certificate;
}

static const figure figures[] = {
    { "value", value_of, true },
    { "duality gap", gap_of, true },
    { "released gradient", gradient_norm_of, false },
    { "released gradient", certificate_of, false },
};

/* The figure of the trace in numbers[fit->rows]; NULL when no row has any. */
static const figure *read_trace(const pn_fit *fit, double *numbers)
{
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++) {
        size_t known = 0;

        for (size_t i = 0; i < fit->rows; i++) {
            numbers[i] = figures[k].of(&fit->trace[i]);
            known += isfinite(numbers[i]) ? 1u : 0u;
        }
        if (known > 0)
            return &figures[k];
    }
    return NULL;
}

/* A course over several powers of ten is drawn by its logarithms; true when it is so. */
static bool take_logarithms(double *numbers, size_t count)
{
    pnl_range range = pnl_range_of(numbers, count);

    if (!(range.low > 0.0 && range.high > STEEP * range.low))
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = log(numbers[i]);
    return true;
}

static void ends_of(const double *numbers, size_t count, double *first, double *last)
{
    *first = *last = NAN;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(numbers[i])) {
            *first = isnan(*first) ? numbers[i] : *first;
            *last = numbers[i];
        }
    }
}

/* "  trace    _-=+#  value 0.5 to 0.1".  The risk is the last value of a run that has them. */
static void add_trace(luaL_Buffer *text, const pn_fit *fit, const pn_model_about *about, double *numbers)
{
    const figure *shown = read_trace(fit, numbers);
    char picture[PNL_PICTURE_BYTES];
    double first, last;
    bool logarithms;

    if (about->version && !isnan(about->value))
        pnl_add_format(text, "\n  risk     %.6g (of the records: not for publication)", about->value);
    else if (about->version)
        luaL_addstring(text, "\n  risk     not saved: it is not private");
    else if (fit->is_private && (!shown || !shown->raw))
        luaL_addstring(text, "\n  risk     not released: fit.value reads the records (not for publication)");
    if (!shown)
        return;
    ends_of(numbers, fit->rows, &first, &last);
    if (shown->of == value_of && !about->version)
        pnl_add_format(text, "\n  risk     %.6g before the last step (of the records: not for publication)", last);
    logarithms = take_logarithms(numbers, fit->rows);
    pnl_sparkline(picture, numbers, fit->rows, SPARK_COLUMNS);
    if (picture[0])
        pnl_add_format(text, "\n  trace    %s  %s %.4g to %.4g%s", picture, shown->name, first, last,
                       logarithms ? ", log scale" : "");
}

/* ---- the model ---- */

/* As many of the first coordinates as the line takes. */
static void add_theta(luaL_Buffer *text, const pn_fit *fit)
{
    char head[160], digits[PNL_NUMBER_BYTES];
    pnl_range range = pnl_range_of(fit->theta, fit->p);
    size_t room, shown = 0;

    (void)snprintf(head, sizeof head, "\n  theta    %zu of %zu coordinates used, %.4g to %.4g:", pnl_fit_nonzeros(fit),
                   fit->p, range.low, range.high);
    luaL_addstring(text, head);
    room = PN_TEXT_WIDTH + 1 - strlen(head); /* which begins with a newline */
    for (; shown < fit->p; shown++) {
        size_t width = 1 + strlen(pnl_number_text(digits, fit->theta[shown], 3));

        if (width + (shown + 1 < fit->p ? strlen(" ...") : 0) > room)
            break;
        luaL_addchar(text, ' ');
        luaL_addstring(text, digits);
        room -= width;
    }
    if (shown < fit->p)
        luaL_addstring(text, " ...");
}

/* Of a fit of this session; NULL of a loaded one.  Its plan, on the stack, keeps it. */
static const pn_dataset *data_of(lua_State *L)
{
    const pn_plan *plan = pnl_fit_plan(L);

    return plan && !plan->without_records ? pn_objective_data(plan->objective) : NULL;
}

int pnl_fit_tostring(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    pn_model_about about;
    char privacy[200], stop[160], certificate[420];
    const pn_dataset *data;
    double *numbers;
    luaL_Buffer text;

    pnl_fit_about(L, &about);
    data = data_of(L);
    pnl_fit_say_privacy(fit, &about, privacy, sizeof privacy);
    say_stop(fit, &about, stop, sizeof stop);
    say_certificate(fit, certificate, sizeof certificate);
    numbers = lua_newuserdatauv(L, (fit->rows + 1) * sizeof *numbers, 0);
    luaL_buffinit(L, &text);
    pnl_add_format(&text, "fit: %s, %zu of %zu steps", about.solver, fit->steps, about.iterations);
    if (!pnl_curated(L) && !isnan(fit->seconds))
        pnl_add_format(&text, " in %.3g s", fit->seconds);
    pnl_add_format(&text, "%s%s", fit->stopped ? ", stopped: " : "", fit->stopped ? fit->stopped : "");
    add_paid(&text, fit, &about);
    pnl_add_format(&text, "\n  privacy  %s%s", privacy, stop);
    if (fit->remark[0])
        pnl_add_format(&text, "\n  steps    %s", fit->remark);
    if (data && fit->is_private && !fit->simulated)
        pnl_add_so_far(L, &text, data, fit->neighbours);
    if (about.declared[0])
        pnl_add_format(&text, "\n  public   %s: " PNL_DECLARED, about.declared);
    if (!pnl_curated(L)) /* where values of the records are not there either */
        add_trace(&text, fit, &about, numbers);
    add_theta(&text, fit);
    luaL_addstring(&text, certificate);
    if (about.version)
        pnl_add_format(&text, "\n  loaded   from a file of penumbra %s%s", about.version,
                       about.raw ? " with values of records: not private" : "");
    luaL_pushresult(&text);
    return 1;
}
