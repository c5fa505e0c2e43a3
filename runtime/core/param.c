/* param.c -- checks options against their table, with one wording for all.  Depends on: param.h, size.h.
 * Used by: the tables of geometry, privacy, objective and solvers; the bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/param.h"
#include "core/size.h"

size_t pn_param_count(const pn_param *params)
{
    size_t count = 0;

    while (params && params[count].name)
        count++;
    return count;
}

size_t pn_param_find(const pn_param *params, const char *name)
{
    size_t i = 0;

    while (params && params[i].name && strcmp(params[i].name, name) != 0)
        i++;
    return i;
}

const char *pn_param_expects(const pn_param *param)
{
    static const char *const real_ranges[] = {
        "a finite number",
        "a positive number",
        "a number >= 0",
        "a number between 0 and 1, both excluded",
        "a number from 0 to 1",
        "a number from 0 to 1, 1 excluded",
        "a number from 1, or infinity",
        "a number above 0, at most 1",
    };
    static const char *const kinds[] = {
        NULL, "a whole number from 1", "true or false", "one of the listed names", "a vector", "a matrix", "an object",
    };

    if (param->kind == PN_SCHEDULE)
        return param->choices ? "one of the listed names, a number above 0, at most 1, a list of one for each step, or "
                                "a function of the step"
                              : "a positive number, a list of one for each step, or a function of the step";
    return param->kind == PN_REAL ? real_ranges[param->range] : kinds[param->kind];
}

bool pn_arg_lists(const pn_arg *arg)
{
    return arg->given && (arg->vector.n > 0 || arg->object);
}

bool pn_param_names(const pn_param *param)
{
    return param->kind == PN_CHOICE || (param->kind == PN_SCHEDULE && param->choices);
}

bool pn_in_range(pn_range range, double value)
{
    switch (range) {
    case PN_ANY:
        return isfinite(value);
    case PN_POSITIVE:
        return value > 0.0 && isfinite(value);
    case PN_NONNEGATIVE:
        return value >= 0.0 && isfinite(value);
    case PN_FRACTION:
        return value > 0.0 && value < 1.0;
    case PN_UNIT_INTERVAL:
        return value >= 0.0 && value <= 1.0;
    case PN_BELOW_ONE:
        return value >= 0.0 && value < 1.0;
    case PN_EXPONENT:
        return value >= 1.0;
    case PN_SHARE:
        return value > 0.0 && value <= 1.0;
    case PN_WORD:
        break;
    }
    return false;
}

bool pn_param_has_default(const pn_param *param)
{
    if (param->need == PN_REQUIRED)
        return false;
    if (param->kind == PN_COUNT)
        return param->fallback >= 1.0;
    if (param->kind == PN_REAL)
        return pn_in_range(param->range, param->fallback);
    return (param->kind == PN_FLAG || pn_param_names(param)) && param->fallback >= 0.0;
}

/* "a", "b" or "c" */
static void list_choices(const char *const *choices, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; choices[i] && used < size; i++) {
        const char *between = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int n = snprintf(text + used, size - used, "%s\"%s\"", between, choices[i]);

        used += n > 0 ? (size_t)n : 0;
    }
}

static pn_status check_choice(const char *owner, const pn_param *param, pn_arg *arg, pn_err *err)
{
    char known[256];

    for (size_t i = 0; param->choices[i]; i++) {
        if (strcmp(param->choices[i], arg->text) == 0) {
            arg->count = i;
            arg->text = param->choices[i]; /* which stays, whatever was given */
            return PN_OK;
        }
    }
    list_choices(param->choices, known, sizeof known);
    return pn_fail(err, PN_EINVAL, "%s: %s must be %s, got \"%.60s\"", owner, param->name, known, arg->text);
}

static pn_status check_numbers(const char *owner, const char *name, const double *x, size_t n, size_t cols, pn_err *err)
{
    size_t bad = pn_first_nonfinite(x, n);

    if (bad == n)
        return PN_OK;
    if (cols)
        return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at row %zu, column %zu", owner, name,
                       x[bad], bad / cols + 1, bad % cols + 1);
    return pn_fail(err, PN_EDOMAIN, "%s: %s must hold finite numbers, got %g at entry %zu", owner, name, x[bad],
                   bad + 1);
}

static pn_status check_real(const char *owner, const pn_param *param, double value, pn_err *err)
{
    if (pn_in_range(param->range, value))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "%s: %s must be %s, got %g", owner, param->name, pn_param_expects(param),
                   isnan(value) ? (double)NAN : value); /* never "-nan" */
}

static void fill_fallback(const pn_param *param, pn_arg *arg)
{
    arg->real = param->fallback;
    arg->count = param->fallback >= 0.0 ? (size_t)param->fallback : 0;
    arg->flag = param->fallback > 0.0;
    if (pn_param_names(param))
        arg->text = param->choices[arg->count];
}

static pn_status check_one(const char *owner, const pn_param *param, pn_arg *arg, pn_err *err)
{
    if (!arg->given) {
        if (param->need == PN_REQUIRED)
            return pn_fail(err, PN_EINVAL, "%s: %s is missing; give %s%s (%s)", owner, param->name,
                           param->kind == PN_OBJECT ? "a " : "",
                           param->kind == PN_OBJECT ? param->choices[0] : pn_param_expects(param), param->doc);
        fill_fallback(param, arg);
        return PN_OK;
    }
    switch (param->kind) {
    case PN_SCHEDULE:
        if (arg->text && param->choices)
            return check_choice(owner, param, arg, err);
        if (pn_arg_lists(arg)) /* for a run whose steps are not counted yet: pn_schedule_read */
            return PN_OK;
        return check_real(owner, param, arg->real, err);
    case PN_REAL:
        return check_real(owner, param, arg->real, err);
    case PN_COUNT:
        if (arg->count < 1)
            return pn_fail(err, PN_EINVAL, "%s: %s must be %s, got %zu", owner, param->name, pn_param_expects(param),
                           arg->count);
        return param->range == PN_WORD ? PN_OK : pn_size_check(owner, param->name, arg->count, err);
    case PN_CHOICE:
        return check_choice(owner, param, arg, err);
    case PN_VECTOR:
        return check_numbers(owner, param->name, arg->vector.data, arg->vector.n, 0, err);
    case PN_MATRIX:
        return check_numbers(owner, param->name, arg->matrix.data, arg->matrix.rows * arg->matrix.cols,
                             arg->matrix.cols, err);
    case PN_FLAG:
    case PN_OBJECT:
        return PN_OK;
    }
    return PN_OK;
}

pn_status pn_args_check(const char *owner, const pn_param *params, pn_arg *args, pn_err *err)
{
    if (!args && pn_param_count(params) > 0)
        return pn_fail(err, PN_EINVAL, "%s: args is NULL; give an array of %zu, zero where an option is not given",
                       owner, pn_param_count(params));
    for (size_t i = 0; params && params[i].name; i++) {
        PN_TRY(check_one(owner, &params[i], &args[i], err));
    }
    return PN_OK;
}
