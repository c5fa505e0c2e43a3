/* param_test.c -- options against their table: fallbacks, ranges, choices, positions.  Depends on: check.h. */
#include <string.h>

#include "core/param.h"

#include "check.h"

static const char *const shapes[] = { "ball", "box", "simplex", NULL };

enum { RADIUS, STEPS, EXACT, SHAPE, CENTRE, TABLE, ROWS };

static const pn_param params[] = {
    { "radius", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "size of the set" },
    { "steps", PN_COUNT, PN_OPTIONAL, PN_ANY, 10.0, NULL, "how many" },
    { "exact", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL, "no rounding" },
    { "shape", PN_CHOICE, PN_OPTIONAL, PN_ANY, 2.0, shapes, "which set" },
    { "centre", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "[dim]" },
    { "table", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL, "[rows, cols]" },
    PN_PARAM_END,
};

static void with_radius(pn_arg *args, double radius)
{
    memset(args, 0, ROWS * sizeof *args);
    args[RADIUS] = (pn_arg){ .given = true, .real = radius };
}

static bool says(const pn_err *err, const char *text)
{
    bool found = strstr(err->message, text) != NULL;

    if (!found)
        (void)fprintf(stderr, "    message: %s\n", err->message);
    return found;
}

static void tables_are_searched_by_name(void)
{
    CHECK(pn_param_count(params) == ROWS);
    CHECK(pn_param_count(NULL) == 0);
    CHECK(pn_param_find(params, "shape") == SHAPE);
    CHECK(pn_param_find(params, "shapes") == ROWS);
    CHECK(pn_param_find(NULL, "shape") == 0);
    for (const pn_param *param = params; param->name; param++)
        CHECK(pn_param_expects(param) != NULL);
}

static void absent_options_get_their_fallback(void)
{
    pn_arg args[ROWS];
    pn_err err;

    with_radius(args, 1.0);
    CHECK(pn_args_check("set.ball", params, args, &err) == PN_OK);
    CHECK(!args[STEPS].given && args[STEPS].count == 10);
    CHECK(args[EXACT].flag);
    CHECK(args[SHAPE].count == 2 && strcmp(args[SHAPE].text, "simplex") == 0);
    CHECK(args[CENTRE].vector.n == 0 && args[CENTRE].vector.data == NULL);
    CHECK(pn_args_check("nothing", NULL, NULL, &err) == PN_OK);
}

static void a_missing_required_option_is_named(void)
{
    pn_arg args[ROWS];
    pn_err err;

    memset(args, 0, sizeof args);
    CHECK(pn_args_check("set.ball", params, args, &err) == PN_EINVAL);
    CHECK(says(&err, "set.ball: radius is missing"));
}

static pn_status check_range(pn_range range, double value)
{
    const pn_param one[] = { { "x", PN_REAL, PN_REQUIRED, range, 0.0, NULL, "a number" }, PN_PARAM_END };
    pn_arg arg = { .given = true, .real = value };

    return pn_args_check("range", one, &arg, NULL);
}

static void ranges_hold_at_their_ends(void)
{
    CHECK(check_range(PN_ANY, -1e308) == PN_OK);
    CHECK(check_range(PN_POSITIVE, 5e-324) == PN_OK);
    CHECK(check_range(PN_POSITIVE, 0.0) == PN_EINVAL);
    CHECK(check_range(PN_NONNEGATIVE, 0.0) == PN_OK);
    CHECK(check_range(PN_NONNEGATIVE, -5e-324) == PN_EINVAL);
    CHECK(check_range(PN_FRACTION, 0.5) == PN_OK);
    CHECK(check_range(PN_FRACTION, 0.0) == PN_EINVAL);
    CHECK(check_range(PN_FRACTION, 1.0) == PN_EINVAL);
    CHECK(check_range(PN_UNIT_INTERVAL, 0.0) == PN_OK);
    CHECK(check_range(PN_UNIT_INTERVAL, 1.0) == PN_OK);
    CHECK(check_range(PN_UNIT_INTERVAL, 1.0 + 1e-15) == PN_EINVAL);
    CHECK(check_range(PN_BELOW_ONE, 0.0) == PN_OK);
    CHECK(check_range(PN_BELOW_ONE, 1.0) == PN_EINVAL);
    for (pn_range range = PN_ANY; range <= PN_BELOW_ONE; range++) {
        CHECK(check_range(range, NAN) == PN_EINVAL);
        CHECK(check_range(range, INFINITY) == PN_EINVAL);
        CHECK(check_range(range, -INFINITY) == PN_EINVAL);
    }
}

static void a_wrong_number_is_quoted_with_what_is_right(void)
{
    pn_arg args[ROWS];
    pn_err err;

    with_radius(args, -1.0);
    CHECK(pn_args_check("set.ball", params, args, &err) == PN_EINVAL);
    CHECK(says(&err, "set.ball: radius must be a positive number, got -1"));
    with_radius(args, 1.0);
    args[STEPS] = (pn_arg){ .given = true, .count = 0 };
    CHECK(pn_args_check("set.ball", params, args, &err) == PN_EINVAL);
    CHECK(says(&err, "set.ball: steps must be a whole number from 1, got 0"));
}

static void a_choice_is_found_or_the_choices_are_listed(void)
{
    pn_arg args[ROWS];
    pn_err err;

    with_radius(args, 1.0);
    args[SHAPE] = (pn_arg){ .given = true, .text = "box" };
    CHECK(pn_args_check("set", params, args, &err) == PN_OK);
    CHECK(args[SHAPE].count == 1);
    args[SHAPE] = (pn_arg){ .given = true, .text = "blob" };
    CHECK(pn_args_check("set", params, args, &err) == PN_EINVAL);
    CHECK(says(&err, "shape must be \"ball\", \"box\" or \"simplex\", got \"blob\""));
}

static void numbers_that_are_not_finite_are_refused_with_their_place(void)
{
    double x[] = { 1.0, 2.0, 3.0, INFINITY, 5.0, NAN };
    pn_arg args[ROWS];
    pn_err err;

    with_radius(args, 1.0);
    args[CENTRE] = (pn_arg){ .given = true, .vector = { x, 3 } };
    CHECK(pn_args_check("set", params, args, &err) == PN_OK);
    args[CENTRE].vector.n = 6;
    CHECK(pn_args_check("set", params, args, &err) == PN_EDOMAIN);
    CHECK(says(&err, "centre") && says(&err, "entry 4"));
    args[CENTRE].given = false;
    args[TABLE] = (pn_arg){ .given = true, .matrix = { x, 2, 3 } };
    CHECK(pn_args_check("set", params, args, &err) == PN_EDOMAIN);
    CHECK(says(&err, "table") && says(&err, "row 2, column 1"));
}

/* PN_DERIVED: help must not say "default" of what is found in another way. */
static void a_derived_option_has_no_default_and_holds_the_first_value(void)
{
    static const char *const colours[] = { "red", "blue", NULL };
    static const pn_param rows[] = {
        { "colour", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, colours, "" },
        { "flag", PN_FLAG, PN_OPTIONAL, PN_ANY, PN_DERIVED, NULL, "" },
        { "other", PN_CHOICE, PN_OPTIONAL, PN_ANY, 1.0, colours, "" },
        { "off", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "" },
        PN_PARAM_END,
    };
    pn_arg args[4] = { 0 };
    pn_err err;

    CHECK(!pn_param_has_default(&rows[0]) && !pn_param_has_default(&rows[1]));
    CHECK(pn_param_has_default(&rows[2]) && pn_param_has_default(&rows[3]));
    CHECK(pn_args_check("owner", rows, args, &err) == PN_OK);
    CHECK(args[0].count == 0 && strcmp(args[0].text, "red") == 0 && !args[1].flag);
    CHECK(args[2].count == 1 && strcmp(args[2].text, "blue") == 0);
}

int main(void)
{
    tables_are_searched_by_name();
    absent_options_get_their_fallback();
    a_missing_required_option_is_named();
    ranges_hold_at_their_ends();
    a_wrong_number_is_quoted_with_what_is_right();
    a_choice_is_found_or_the_choices_are_listed();
    numbers_that_are_not_finite_are_refused_with_their_place();
    a_derived_option_has_no_default_and_holds_the_first_value();
    return check_summary();
}
