/* prefix_options_test.c -- options of prefix sums as the tables of bindings and solvers hand them over.
 * Depends on: check.h, continual/prefix.h. */
#include <string.h>

#include "continual/prefix.h"

#include "check.h"

enum { COUNT = 13 };

static pn_arg *at(pn_arg *args, const char *name)
{
    size_t row = pn_param_find(pn_prefix_params, name);

    CHECK(row < COUNT);
    return &args[row];
}

static void leaves_everything_to_be_chosen(void)
{
    pn_arg args[COUNT] = { { 0 } };
    pn_prefix_options options = { .dim = 3, .horizon = 9, .bands = 5, .buffers = 5, .factorization = "blt" };

    CHECK(pn_param_count(pn_prefix_params) == COUNT);
    CHECK(pn_args_check("tree", pn_prefix_params, args, NULL) == PN_OK);
    CHECK(pn_prefix_read_options(&options, "tree", args, NULL) == PN_OK);
    CHECK(options.factorization == NULL && !options.estimator_given && options.estimator == PN_PREFIX_PLAIN);
    CHECK(options.memory == PN_PREFIX_KEEP && options.scale == PN_PREFIX_EQUAL && !options.keep_root);
    CHECK(options.growth == PN_PREFIX_DOUBLING && options.bands == 0 && options.buffers == 0);
    CHECK(options.fit == PN_PREFIX_CLOSED_FORM && options.coefficients.n == 0 && options.theta.n == 0);
    CHECK(options.dim == 3 && options.horizon == 9); /* not of this table */
}

static void reads_the_options_of_a_tree(void)
{
    pn_arg args[COUNT] = { { 0 } };
    pn_prefix_options options = { 0 };

    *at(args, "factorization") = (pn_arg){ .given = true, .text = "binary" };
    *at(args, "estimator") = (pn_arg){ .given = true, .text = "full" };
    *at(args, "memory") = (pn_arg){ .given = true, .text = "regenerate" };
    *at(args, "scale") = (pn_arg){ .given = true, .text = "node" };
    *at(args, "keep_root") = (pn_arg){ .given = true, .flag = true };
    *at(args, "growth") = (pn_arg){ .given = true, .text = "endless" };
    CHECK(pn_args_check("tree", pn_prefix_params, args, NULL) == PN_OK);
    CHECK(pn_prefix_read_options(&options, "tree", args, NULL) == PN_OK);
    CHECK(strcmp(options.factorization, "binary") == 0);
    CHECK(options.estimator_given && options.estimator == PN_PREFIX_FULL);
    CHECK(options.memory == PN_PREFIX_REGENERATE && options.scale == PN_PREFIX_BY_NODE && options.keep_root);
    CHECK(options.growth == PN_PREFIX_ENDLESS);
}

static void reads_the_options_of_factorizations(void)
{
    double numbers[2] = { 0.5, 0.25 };
    pn_arg banded[COUNT] = { { 0 } }, blt[COUNT] = { { 0 } }, matrix[COUNT] = { { 0 } };
    pn_prefix_options options = { 0 };
    pn_err err;

    *at(banded, "bands") = (pn_arg){ .given = true, .count = 6 };
    *at(banded, "fit") = (pn_arg){ .given = true, .text = "optimal" };
    *at(banded, "coefficients") = (pn_arg){ .given = true, .vector = { numbers, 2 } };
    CHECK(pn_args_check("tree", pn_prefix_params, banded, NULL) == PN_OK);
    CHECK(pn_prefix_read_options(&options, "tree", banded, NULL) == PN_OK);
    CHECK(options.bands == 6 && options.fit == PN_PREFIX_OPTIMAL && options.coefficients.data == numbers);
    CHECK(!options.factorization && strcmp(pn_prefix_implied(&options), "banded") == 0);
    *at(blt, "fit") = (pn_arg){ .given = true, .text = "optimal" };
    *at(blt, "buffers") = (pn_arg){ .given = true, .count = 3 };
    *at(blt, "theta") = (pn_arg){ .given = true, .vector = { numbers, 2 } };
    *at(blt, "omega") = (pn_arg){ .given = true, .vector = { numbers + 1, 1 } };
    CHECK(pn_args_check("tree", pn_prefix_params, blt, NULL) == PN_OK);
    CHECK(pn_prefix_read_options(&options, "tree", blt, NULL) == PN_OK);
    CHECK(options.buffers == 3 && options.bands == 0 && options.theta.data == numbers && options.omega.n == 1);
    CHECK(strcmp(pn_prefix_implied(&options), "blt") == 0);
    at(blt, "buffers")->count = 9;
    CHECK(pn_prefix_read_options(&options, "tree", blt, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "tree: buffers must be a whole number from 1 to 8, got 9") == 0);
    *at(matrix, "matrix") = (pn_arg){ .given = true, .matrix = { numbers, 1, 2 } };
    CHECK(pn_args_check("tree", pn_prefix_params, matrix, NULL) == PN_OK);
    CHECK(pn_prefix_read_options(&options, "tree", matrix, NULL) == PN_OK);
    CHECK(options.matrix.data == numbers && options.matrix.cols == 2 && options.theta.n == 0);
    CHECK(strcmp(pn_prefix_implied(&options), "matrix") == 0);
    *at(matrix, "bands") = (pn_arg){ .given = true, .count = 6 };
    CHECK(pn_prefix_read_options(&options, "tree", matrix, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "bands belongs to factorization \"banded\", matrix to \"matrix\""));
}

static void has_a_row_for_every_factorization(void)
{
    const pn_param *row = &pn_prefix_params[pn_param_find(pn_prefix_params, "factorization")];

    for (size_t i = 0; pn_prefix_table()[i]; i++) {
        const char *name = pn_prefix_name(pn_prefix_table()[i]);
        bool found = false;

        for (size_t j = 0; row->choices[j]; j++)
            found = found || strcmp(row->choices[j], name) == 0;
        CHECK(found && strlen(pn_prefix_doc(pn_prefix_table()[i])) > 20);
    }
}

int main(void)
{
    leaves_everything_to_be_chosen();
    reads_the_options_of_a_tree();
    reads_the_options_of_factorizations();
    has_a_row_for_every_factorization();
    return check_summary();
}
