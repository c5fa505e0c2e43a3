/* options_test.c -- options by name: every kind of value, and what is said of every mistake.  Depends on: check.h. */
#include <locale.h>
#include <stdint.h>
#include <string.h>

#include "core/options.h"

#include "check.h"
#include "fail_alloc.h"

static const char *const shapes[] = { "ball", "box", NULL };
static const char *const norm_class[] = { "pn.norm", NULL };

enum { RADIUS, STEPS, EXACT, SHAPE, CENTRE, TABLE, NORM, SEED, STEP, SHARE, ROWS };

static const pn_param params[] = {
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "size of the set" },
    { "steps", PN_COUNT, PN_OPTIONAL, PN_ANY, 10.0, NULL, "how many" },
    { "exact", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "no rounding" },
    { "shape", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, shapes, "which set" },
    { "centre", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "[dim]" },
    { "table", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL, "[rows, cols]" },
    { "norm", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, norm_class, "that measures" },
    { "seed", PN_COUNT, PN_OPTIONAL, PN_WORD, 1.0, NULL, "of the draws" },
    { "step", PN_SCHEDULE, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "eta" },
    { "share", PN_SCHEDULE, PN_OPTIONAL, PN_SHARE, 0.0, shapes, "mu" },
    PN_PARAM_END,
};
static const pn_param other[] = {
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "of it all" },
    PN_PARAM_END,
};

static const pn_row ball = { "ball", "doc", "source", params }, squared = { "squared", "doc", "source", NULL };
static const pn_row *const rows[] = { &ball, &squared, NULL };
static const pn_table sets = { "set", "set", rows };

static pn_options *new_options(void)
{
    pn_options *options;
    pn_err err;

    return pn_options_new(&options, &err) == PN_OK ? options : NULL;
}

static pn_status read_all(const pn_options *options, pn_arg *args, pn_err *err)
{
    pn_status status = pn_options_read(options, &sets, "pn_set_new", "ball", args, err);

    return status == PN_OK ? pn_args_check("set.ball", params, args, err) : status;
}

/* Reads, frees, and compares what is said; NULL: nothing is. */
static bool says(pn_options *options, const char *wanted)
{
    pn_arg args[PN_ARGS_MAX];
    pn_err err = { PN_OK, "" };
    pn_status status = read_all(options, args, &err);
    bool fine = wanted ? status == PN_EINVAL && strcmp(err.message, wanted) == 0 : status == PN_OK;

    if (!fine)
        (void)fprintf(stderr, "    status %d: %s\n", (int)status, err.message);
    pn_options_free(options);
    return fine;
}

static pn_options *with_text(const char *name, const char *text)
{
    pn_options *options = new_options();

    pn_options_set(options, name, text);
    return options;
}

static void typed_values_arrive(void)
{
    static const double numbers[] = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 };
    double mine[] = { 7.0, 8.0 };
    int norm = 0;
    pn_options *options = new_options();
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    pn_options_real(options, "radius", 2.5);
    pn_options_count(options, "steps", 7);
    pn_options_flag(options, "exact", true);
    pn_options_text(options, "shape", "box");
    pn_options_vector(options, "centre", mine, 2);
    pn_options_matrix(options, "table", numbers, 2, 3);
    pn_options_object(options, "norm", "pn.norm", &norm);
    pn_options_count(options, "seed", SIZE_MAX);
    mine[0] = 0.0; /* it was copied */
    CHECK(read_all(options, args, &err) == PN_OK);
    CHECK(args[RADIUS].real == 2.5 && args[STEPS].count == 7 && args[EXACT].flag && args[SHAPE].count == 1);
    CHECK(args[CENTRE].vector.n == 2 && args[CENTRE].vector.data[0] == 7.0 && args[CENTRE].vector.data[1] == 8.0);
    CHECK(args[TABLE].matrix.rows == 2 && args[TABLE].matrix.cols == 3 && args[TABLE].matrix.data[5] == 6.0);
    CHECK(args[NORM].object == &norm && args[SEED].count == SIZE_MAX);
    CHECK(read_all(options, args, &err) == PN_OK && args[STEPS].count == 7); /* and again */
    pn_options_free(options);
}

static void texts_are_read_as_what_the_option_is(void)
{
    pn_options *options = new_options();
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    pn_options_set(options, "radius", "2.5e-1");
    pn_options_set(options, "steps", "7");
    pn_options_set(options, "exact", "true");
    pn_options_set(options, "shape", "box");
    pn_options_set(options, "centre", "1, -2.5 ,3e2");
    pn_options_set(options, "seed", "18446744073709551615");
    CHECK(read_all(options, args, &err) == PN_OK);
    CHECK(args[RADIUS].real == 0.25 && args[STEPS].count == 7 && args[EXACT].flag && args[SHAPE].count == 1);
    CHECK(args[CENTRE].vector.n == 3 && args[CENTRE].vector.data[1] == -2.5 && args[CENTRE].vector.data[2] == 300.0);
    CHECK(args[SEED].count == SIZE_MAX);
    pn_options_free(options);
    CHECK(says(with_text("exact", "false"), NULL));
    CHECK(says(with_text("centre", "4"), NULL));
}

static void what_is_absent_has_its_fallback(void)
{
    pn_options *options = new_options();
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    memset(args, 0xff, sizeof args);
    CHECK(read_all(NULL, args, &err) == PN_OK);
    CHECK(args[RADIUS].real == 1.0 && !args[RADIUS].given && args[STEPS].count == 10 && !args[CENTRE].given);
    CHECK(read_all(options, args, &err) == PN_OK && !args[NORM].given);
    pn_options_free(options);
    pn_options_free(NULL);
}

static void a_whole_number_is_a_number(void)
{
    pn_options *options = new_options();
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    pn_options_count(options, "radius", 3);
    CHECK(read_all(options, args, &err) == PN_OK && args[RADIUS].real == 3.0);
    pn_options_free(options);
}

static void unknown_names_are_refused_with_the_nearest(void)
{
    static const char all[] = "radius, steps, exact, shape, centre, table, norm, seed, step, share";
    char wanted[256];

    (void)snprintf(wanted, sizeof wanted, "set.ball: unknown option \"radios\", the nearest is radius; it takes %s",
                   all);
    CHECK(says(with_text("radios", "1"), wanted));
    (void)snprintf(wanted, sizeof wanted, "set.ball: unknown option \"setps\", the nearest is steps; it takes %s", all);
    CHECK(says(with_text("setps", "1"), wanted));
    (void)snprintf(wanted, sizeof wanted, "set.ball: unknown option \"quux\"; it takes %s", all);
    CHECK(says(with_text("quux", "1"), wanted));
}

static void a_table_without_rows_takes_none(void)
{
    pn_options *options = with_text("radius", "1");
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    CHECK(pn_options_read(options, &sets, "pn_set_new", "squared", args, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "set.squared: unknown option \"radius\"; it takes none") == 0);
    pn_options_free(options);
}

static void names_that_no_row_has_are_refused(void)
{
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    CHECK(pn_options_read(NULL, &sets, "pn_set_new", "bal", args, &err) == PN_EUNSUPPORTED);
    CHECK(strcmp(err.message, "pn_set_new: there is no set \"bal\", the nearest is ball; known are ball, squared") ==
          0);
}

static void values_given_twice_are_refused(void)
{
    pn_options *options = with_text("radius", "1");

    pn_options_real(options, "radius", 1.0);
    CHECK(says(options, "set.ball: radius is given twice; give it once"));
}

static void texts_of_another_kind_are_refused(void)
{
    CHECK(says(with_text("radius", "wide"), "set.ball: radius must be a positive number, got \"wide\""));
    CHECK(says(with_text("radius", "1,2"), "set.ball: radius must be a positive number, got \"1,2\""));
    CHECK(says(with_text("radius", "1 x"), "set.ball: radius must be a positive number, got \"1 x\""));
    CHECK(says(with_text("radius", ""), "set.ball: radius must be a positive number, got \"\""));
    CHECK(says(with_text("radius", "nan"), "set.ball: radius must be a positive number, got nan"));
    CHECK(says(with_text("steps", "1.5"), "set.ball: steps must be a whole number from 1, got \"1.5\""));
    CHECK(says(with_text("steps", "-1"), "set.ball: steps must be a whole number from 1, got \"-1\""));
    CHECK(says(with_text("seed", "18446744073709551616"),
               "set.ball: seed must be a whole number from 1, got \"18446744073709551616\""));
    CHECK(says(with_text("exact", "yes"), "set.ball: exact must be true or false, got \"yes\""));
    CHECK(says(with_text("shape", "cone"), "set.ball: shape must be \"ball\" or \"box\", got \"cone\""));
    CHECK(says(with_text("centre", "1,,2"), "set.ball: centre must be a vector, got \"1,,2\""));
    CHECK(says(with_text("table", "1,2"), "set.ball: table must be a matrix, by pn_options_matrix, got \"1,2\""));
    CHECK(says(with_text("norm", "l2"), "set.ball: norm must be a pn.norm, by pn_options_object, got \"l2\""));
}

static void typed_values_of_another_kind_are_refused(void)
{
    const double one = 1.0;
    pn_options *options = new_options();

    pn_options_flag(options, "radius", true);
    CHECK(says(options, "set.ball: radius must be a positive number, got true or false"));
    options = new_options();
    pn_options_real(options, "steps", 2.0);
    CHECK(says(options, "set.ball: steps must be a whole number from 1, got a number"));
    options = new_options();
    pn_options_count(options, "exact", 1);
    CHECK(says(options, "set.ball: exact must be true or false, got a whole number"));
    options = new_options();
    pn_options_vector(options, "shape", &one, 1);
    CHECK(says(options, "set.ball: shape must be one of the names \"ball\", ..., got a vector"));
    options = new_options();
    pn_options_matrix(options, "centre", &one, 1, 1);
    CHECK(says(options, "set.ball: centre must be a vector, got a matrix"));
    options = new_options();
    pn_options_text(options, "table", "ball");
    CHECK(says(options, "set.ball: table must be a matrix, by pn_options_matrix, got a name"));
    options = new_options();
    pn_options_object(options, "norm", "pn.set", &one);
    CHECK(says(options, "set.ball: norm must be a pn.norm, by pn_options_object, got a pn.set"));
    options = new_options();
    pn_options_object(options, "norm", "pn.norm", NULL);
    CHECK(says(options, "set.ball: norm must be a pn.norm, by pn_options_object, got NULL for a pn.norm"));
}

static void ranges_are_those_of_the_rows(void)
{
    CHECK(says(with_text("radius", "-1"), "set.ball: radius must be a positive number, got -1"));
    CHECK(says(with_text("radius", "inf"), "set.ball: radius must be a positive number, got inf"));
    CHECK(says(with_text("steps", "0"), "set.ball: steps must be a whole number from 1, got 0"));
}

#define STEP_EXPECTS "a positive number, a list of one for each step, or a function of the step"

static void a_schedule_is_a_number_several_or_a_name(void)
{
    const double steps[] = { 0.5, 0.25 };
    pn_options *options = new_options(), *texts = new_options();
    pn_arg args[PN_ARGS_MAX];
    pn_err err;

    CHECK(read_all(NULL, args, &err) == PN_OK);
    CHECK(!args[STEP].given && !pn_arg_lists(&args[STEP]) && strcmp(args[SHARE].text, "ball") == 0);
    pn_options_vector(options, "step", steps, 2);
    pn_options_text(options, "share", "box");
    CHECK(read_all(options, args, &err) == PN_OK);
    CHECK(pn_arg_lists(&args[STEP]) && args[STEP].vector.data[1] == 0.25 && args[SHARE].count == 1);
    pn_options_set(texts, "step", "0.5, 0.25, 1");
    pn_options_set(texts, "share", "0.5");
    CHECK(read_all(texts, args, &err) == PN_OK);
    CHECK(args[STEP].vector.n == 3 && !pn_arg_lists(&args[SHARE]) && args[SHARE].real == 0.5 && !args[SHARE].text);
    CHECK(says(with_text("share", "1"), NULL) && says(with_text("share", "box"), NULL));
    CHECK(says(with_text("step", "fast"), "set.ball: step must be " STEP_EXPECTS ", got \"fast\""));
    CHECK(says(with_text("step", "-1"), "set.ball: step must be " STEP_EXPECTS ", got -1"));
    CHECK(says(with_text("share", "1.5"), "set.ball: share must be one of the listed names, a number above 0, at most "
                                          "1, a list of one for each step, or a function of the step, got 1.5"));
    pn_options_free(texts);
    pn_options_free(options);
}

static void several_tables_share_the_names(void)
{
    pn_options *options = with_text("epsilon", "0.5");
    pn_arg own[PN_ARGS_MAX], common[1];
    const pn_option_rows tables[] = { { params, own }, { other, common } };
    pn_err err;

    pn_options_count(options, "steps", 4);
    CHECK(pn_options_spread(options, "solve.sgd", tables, 2, &err) == PN_OK);
    CHECK(common[0].real == 0.5 && own[STEPS].count == 4 && !own[RADIUS].given);
    pn_options_set(options, "epsilom", "1");
    CHECK(pn_options_spread(options, "solve.sgd", tables, 2, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "the nearest is epsilon;") != NULL && strstr(err.message, "share, epsilon") != NULL);
    pn_options_free(options);
}

static void the_point_is_a_point_in_every_locale(void)
{
    (void)setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where there is one */
    CHECK(says(with_text("radius", "0.5"), NULL));
    (void)setlocale(LC_NUMERIC, "C");
}

/* ---- short memory ---- */

static pn_status set_and_read(void *self, pn_err *err)
{
    const double numbers[] = { 1.0, 2.0 };
    pn_options *options = NULL;
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_new(&options, err);

    (void)self;
    if (status == PN_OK) {
        pn_options_set(options, "centre", "1,2");
        pn_options_set(options, "shape", "box");
        pn_options_matrix(options, "table", numbers, 1, 2);
        status = read_all(options, args, err);
    }
    pn_options_free(options);
    return status;
}

int main(void)
{
    typed_values_arrive();
    texts_are_read_as_what_the_option_is();
    what_is_absent_has_its_fallback();
    a_schedule_is_a_number_several_or_a_name();
    a_whole_number_is_a_number();
    unknown_names_are_refused_with_the_nearest();
    a_table_without_rows_takes_none();
    names_that_no_row_has_are_refused();
    values_given_twice_are_refused();
    texts_of_another_kind_are_refused();
    typed_values_of_another_kind_are_refused();
    ranges_are_those_of_the_rows();
    several_tables_share_the_names();
    the_point_is_a_point_in_every_locale();
    fail_alloc_sweep_all("options", set_and_read, NULL);
    return check_summary();
}
