/* gradient_test.c -- derivatives in all variables by one sweep from the root down, and along a direction, against those
 * of one variable each; enclosures of several expressions at once against their values. */
#include <math.h>

#include "runtime/expr/random_expr.h"

#include "check.h"
#include "expr/bound.h"
#include "expr/formula.h"
#include "expr/graph.h"
#include "expr/program.h"
#include "fail_alloc.h"

#define EXPRESSIONS (4000 / RX_SHARE)

static const char *const names[] = { "x", "y", "z", "u", "v", "w" };

static double value_at(const pn_graph *graph, pn_node node, const double *x)
{
    const double *inputs[6];
    pn_program *program = NULL;
    double value;

    for (int v = 0; v < 6; v++)
        inputs[v] = &x[v];
    if (pn_program_new(&program, graph, &node, 1, NULL) != PN_OK)
        return NAN;
    pn_program_run(program, 1, inputs, &(double *){ &value });
    pn_program_free(program);
    return value;
}

/* Both are sums of the same products, in another order: where nothing cancels they agree. */
static bool agree(double a, double b)
{
    return fabs(a - b) <= 1e-8 * (1.0 + fabs(a) + fabs(b));
}

/* ---- random expressions ---- */

static void random_expressions_have_the_derivatives_of_one_variable_each(void)
{
    size_t compared = 0, apart = 0;

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++) {
        uint64_t state = seed * 77;
        double x[6];
        pn_graph *graph;
        pn_node root, all[RX_VARIABLES], along, direction[6];
        rx_tree tree;

        rx_random(&tree, seed);
        if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
            return;
        root = rx_build(&tree, graph);
        pn_graph_gradient(graph, root, RX_VARIABLES, all);
        for (unsigned v = 0; v < 6; v++)
            direction[v] = v < 3 ? pn_x_var(graph, v + 3) : pn_x_const(graph, 0.0);
        pn_graph_along(graph, &root, 1, direction, &along);
        for (int v = 0; v < 6; v++)
            x[v] = rx_between(&state, -2.5, 2.5);
        for (unsigned v = 0; v < RX_VARIABLES; v++) {
            double want = value_at(graph, pn_graph_derivative(graph, root, v), x), got = value_at(graph, all[v], x);

            if (!isfinite(want) || fabs(want) > 1e12)
                continue;
            compared++;
            apart += !agree(want, got);
        }
        pn_graph_free(graph);
    }
    printf("gradients: %zu entries compared, %zu differ by cancellation\n", compared, apart);
    CHECK(compared > 2 * EXPRESSIONS && apart * 200 < compared);
}

static void a_derivative_along_a_direction_is_the_sum_over_variables(void)
{
    const double at[6] = { 0.3, -0.7, 1.2, 2.0, -1.0, 0.5 };
    pn_graph *graph;
    pn_node x, y, z, f, direction[6], all[3], along;
    double sum = 0.0;

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), z = pn_x_var(graph, 2);
    f = pn_x_mul(graph, pn_x_unary(graph, PN_X_TANH, pn_x_mul(graph, x, y)),
                 pn_x_div(graph, pn_x_unary(graph, PN_X_EXP, z), pn_x_add(graph, pn_x_square(graph, x), y)));
    for (unsigned v = 0; v < 6; v++)
        direction[v] = v < 3 ? pn_x_var(graph, v + 3) : pn_x_const(graph, 0.0);
    pn_graph_along(graph, &f, 1, direction, &along);
    pn_graph_gradient(graph, f, 3, all);
    for (unsigned v = 0; v < 3; v++)
        sum += value_at(graph, all[v], at) * at[v + 3];
    CHECK_CLOSE(value_at(graph, along, at), sum, 1e-14);
    pn_graph_free(graph);
}

/* ---- what is known of single forms ---- */

/* where(x < 0, 0, sqrt x) at x = -1, and log of what is not chosen. */
static void what_is_not_chosen_has_no_part_in_a_gradient(void)
{
    const double at[6] = { -1.0, 2.0, 0.0, 0.0, 0.0, 0.0 };
    pn_graph *graph;
    pn_node x, y, below, root, f, all[2];

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);
    below = pn_x_binary(graph, PN_X_LT, x, pn_x_const(graph, 0.0));
    root = pn_x_unary(graph, PN_X_SQRT, x);
    f = pn_x_where(graph, below, pn_x_mul(graph, x, y), pn_x_mul(graph, y, pn_x_unary(graph, PN_X_LOG, root)));
    pn_graph_gradient(graph, f, 2, all);
    CHECK(value_at(graph, all[0], at) == 2.0);
    CHECK(value_at(graph, all[1], at) == -1.0);
    f = pn_x_where(graph, pn_x_le(graph, pn_x_const(graph, 0.0), x), pn_x_unary(graph, PN_X_LOG, root), y);
    pn_graph_gradient(graph, f, 2, all);
    CHECK(value_at(graph, all[0], at) == 0.0 && value_at(graph, all[1], at) == 1.0);
    pn_graph_free(graph);
}

/* where(1 < x, where(y < 0, log x, 2 log x), y) at x = 0: both halves of the inner choice are of what is not chosen. */
static void a_choice_within_what_is_not_chosen_has_none_either(void)
{
    const double zero[6] = { 0 };
    pn_graph *graph;
    pn_node x, y, far, below, log, f, all[2];

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);
    far = pn_x_binary(graph, PN_X_LT, pn_x_const(graph, 1.0), x);
    below = pn_x_binary(graph, PN_X_LT, y, pn_x_const(graph, 0.0));
    log = pn_x_unary(graph, PN_X_LOG, x);
    f = pn_x_where(graph, far, pn_x_where(graph, below, log, pn_x_scale(graph, 2.0, log)), y);
    pn_graph_gradient(graph, f, 2, all);
    CHECK(value_at(graph, all[0], zero) == 0.0 && value_at(graph, all[1], zero) == 1.0);
    f = pn_x_add(graph, f, pn_x_where(graph, pn_x_binary(graph, PN_X_LT, pn_x_const(graph, 2.0), x), log, y));
    pn_graph_gradient(graph, f, 2, all); /* nor do two choices, of which neither takes it */
    CHECK(value_at(graph, all[0], zero) == 0.0 && value_at(graph, all[1], zero) == 2.0);
    pn_graph_free(graph);
}

static void kinks_have_the_derivatives_of_graph_h(void)
{
    const double zero[6] = { 0 };
    pn_graph *graph;
    pn_node x, y, all[2];

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);
    pn_graph_gradient(graph, pn_x_max(graph, x, y), 2, all);
    CHECK(value_at(graph, all[0], zero) == 1.0 && value_at(graph, all[1], zero) == 0.0);
    pn_graph_gradient(graph, pn_x_binary(graph, PN_X_MIN, x, y), 2, all);
    CHECK(value_at(graph, all[0], zero) == 1.0 && value_at(graph, all[1], zero) == 0.0);
    pn_graph_gradient(graph, pn_x_abs(graph, pn_x_sub(graph, x, y)), 2, all);
    CHECK(value_at(graph, all[0], zero) == 0.0 && value_at(graph, all[1], zero) == 0.0);
    pn_graph_gradient(graph, x, 2, all);
    CHECK(pn_x_is(graph, all[0], 1.0) && pn_x_is(graph, all[1], 0.0));
    pn_graph_gradient(graph, PN_NODE_NONE, 2, all);
    CHECK(all[0] == PN_NODE_NONE && all[1] == PN_NODE_NONE);
    pn_graph_free(graph);
}

/* ln(e^x + e^y + e^z): with x far below, its share is e^-50 to the last digits, and not 1 - (1 - ...). */
static void the_shares_of_a_log_sum_do_not_cancel(void)
{
    const double at[6] = { -50.0, 0.0, 1.0, 0.0, 0.0, 0.0 };
    const double want = exp(-50.0) / (1.0 + exp(1.0));
    pn_graph *graph;
    pn_node x, y, z, inner, f, all[3];

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), z = pn_x_var(graph, 2);
    inner = pn_x_add(graph, x, pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_sub(graph, y, x)));
    f = pn_x_add(graph, pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_sub(graph, z, inner)), inner);
    pn_graph_gradient(graph, f, 3, all);
    CHECK_CLOSE(value_at(graph, all[0], at), want, 1e-14 * want);
    CHECK_CLOSE(value_at(graph, all[2], at), exp(1.0) / (1.0 + exp(1.0)), 1e-15);
    pn_graph_free(graph);
}

/* ---- enclosures ---- */

static void enclosures_hold_the_values(void)
{
    size_t seen = 0, outside = 0;

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++) {
        uint64_t state = seed * 31;
        pn_graph *graph;
        pn_node roots[1 + RX_VARIABLES];
        pn_enclosed out[1 + RX_VARIABLES];
        pn_domain domains[6] = { { { 0.0, 0.0 }, NULL, 0 } };
        char why[PN_WHY_MAX];
        bool undefined;
        rx_tree tree;

        rx_random(&tree, seed);
        if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
            return;
        roots[0] = rx_build(&tree, graph);
        pn_graph_gradient(graph, roots[0], RX_VARIABLES, roots + 1);
        for (int v = 0; v < RX_VARIABLES; v++) {
            double low = rx_between(&state, -2.0, 2.0);

            domains[v].range = (pn_interval){ low, low + rx_between(&state, 0.0, 1.0) };
        }
        CHECK(pn_enclose(out, why, &undefined, graph, roots, 4, 3, domains, NULL) == PN_OK);
        for (int point = 0; point < 4; point++) {
            double x[6] = { 0 };

            for (int v = 0; v < RX_VARIABLES; v++)
                x[v] = rx_between(&state, domains[v].range.low, domains[v].range.high);
            for (int k = 0; k < 4; k++) {
                double value = value_at(graph, roots[k], x), room = 1e-9 * (1.0 + fabs(value));

                if (!isfinite(value) || fabs(value) > 1e12)
                    continue;
                seen++;
                outside += !(value >= out[k].range.low - room && value <= out[k].range.high + room);
            }
        }
        pn_graph_free(graph);
    }
    printf("enclosures: %zu values, %zu outside by rounding\n", seen, outside);
    CHECK(seen > 8 * EXPRESSIONS && outside * 2000 < seen);
}

static pn_enclosed enclose_one(const pn_graph *graph, pn_node root, const pn_domain *domains, unsigned moving)
{
    pn_enclosed out = { { NAN, NAN }, false };
    char why[PN_WHY_MAX];
    bool undefined;

    CHECK(pn_enclose(&out, why, &undefined, graph, &root, 1, moving, domains, NULL) == PN_OK);
    CHECK(!undefined);
    return out;
}

/* tanh' = 4 sigmoid(2x) sigmoid(-2x) is at most 1 and at least 1 - tanh(3)^2 over [-3, 3]. */
static void known_forms_are_enclosed_tightly(void)
{
    const pn_domain domains[6] = { { { -3.0, 3.0 }, NULL, 0 }, { { -1.0, 2.0 }, NULL, 0 } };
    pn_graph *graph;
    pn_node x, y, all[1], sum;
    pn_enclosed got;

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);
    pn_graph_gradient(graph, pn_x_unary(graph, PN_X_TANH, x), 1, all);
    got = enclose_one(graph, all[0], domains, 2);
    CHECK(got.range.high >= 1.0 && got.range.high <= 1.0 + 1e-14);
    CHECK_CLOSE(got.range.low, 1.0 - tanh(3.0) * tanh(3.0), 1e-14);
    sum = pn_x_add(graph, x, pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_sub(graph, y, x)));
    got = enclose_one(graph, sum, domains, 2);
    CHECK_CLOSE(got.range.low, log(exp(-3.0) + exp(-1.0)), 1e-13);
    CHECK_CLOSE(got.range.high, log(exp(3.0) + exp(2.0)), 1e-13);
    pn_graph_free(graph);
}

static void what_only_others_choose_is_no_jump(void)
{
    const double labels[] = { -1.0, 1.0 };
    const pn_domain ranged[6] = { { { -3.0, 3.0 }, NULL, 0 }, { { -1.0, 1.0 }, NULL, 0 } };
    const pn_domain listed[6] = { { { -3.0, 3.0 }, NULL, 0 }, { { 0.0, 0.0 }, labels, 2 } };
    pn_graph *graph;
    pn_node x, y, by_y, by_x, zero;

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), zero = pn_x_const(graph, 0.0);
    by_y = pn_x_where(graph, pn_x_le(graph, y, zero), x, pn_x_scale(graph, 2.0, x));
    by_x = pn_x_where(graph, pn_x_le(graph, x, zero), y, pn_x_scale(graph, 2.0, y));
    CHECK(!enclose_one(graph, by_y, ranged, 1).may_jump && !enclose_one(graph, by_y, listed, 1).may_jump);
    CHECK(enclose_one(graph, by_x, ranged, 1).may_jump && enclose_one(graph, by_x, listed, 1).may_jump);
    CHECK(enclose_one(graph, by_y, ranged, 2).may_jump);
    CHECK(!enclose_one(graph, pn_x_abs(graph, x), ranged, 1).may_jump);
    CHECK(enclose_one(graph, by_y, listed, 1).range.high == 6.0);
    pn_graph_free(graph);
}

static void what_is_undefined_or_listed_twice_is_said(void)
{
    const double list[] = { 1.0 };
    const pn_domain domains[6] = { { { -3.0, 3.0 }, NULL, 0 } };
    const pn_domain two[6] = { { { 0.0, 0.0 }, list, 1 }, { { 0.0, 0.0 }, list, 1 } };
    char why[PN_WHY_MAX];
    pn_enclosed out;
    bool undefined;
    pn_graph *graph;
    pn_node root;
    pn_err err;

    if (!CHECK(pn_graph_new(&graph, names, 6, NULL) == PN_OK))
        return;
    root = pn_x_unary(graph, PN_X_LOG, pn_x_var(graph, 0));
    CHECK(pn_enclose(&out, why, &undefined, graph, &root, 1, 1, domains, &err) == PN_OK);
    CHECK(undefined && isinf(out.range.low) && isinf(out.range.high));
    CHECK(strcmp(why, "log(x) may be undefined where x is in [-3, 3]") == 0);
    CHECK(pn_enclose(&out, why, &undefined, graph, &root, 1, 1, two, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "bound: of x and y one may have a list of values") == 0);
    pn_graph_free(graph);
}

/* ---- failures ---- */

static pn_status differentiate(void *self, pn_err *err)
{
    const pn_domain domains[6] = { { { -3.0, 3.0 }, NULL, 0 } };
    pn_enclosed out[2];
    char why[PN_WHY_MAX];
    bool undefined;
    pn_graph *graph = NULL;
    pn_node f, all[2], direction[6];
    pn_status status = pn_graph_new(&graph, names, 6, err);

    (void)self;
    if (status != PN_OK)
        return status;
    f = pn_x_var(graph, 0);
    for (int i = 0; i < 60; i++)
        f = pn_x_mul(graph, pn_x_unary(graph, i % 2 ? PN_X_SIN : PN_X_TANH, f), pn_x_var(graph, 1));
    for (unsigned v = 0; v < 6; v++)
        direction[v] = pn_x_const(graph, 1.0);
    pn_graph_gradient(graph, f, 2, all);
    pn_graph_along(graph, all, 2, direction, all);
    status = pn_graph_status(graph, err);
    if (status == PN_OK)
        status = pn_enclose(out, why, &undefined, graph, all, 2, 2, domains, err);
    pn_graph_free(graph);
    return status;
}

int main(void)
{
    random_expressions_have_the_derivatives_of_one_variable_each();
    a_derivative_along_a_direction_is_the_sum_over_variables();
    what_is_not_chosen_has_no_part_in_a_gradient();
    a_choice_within_what_is_not_chosen_has_none_either();
    kinks_have_the_derivatives_of_graph_h();
    the_shares_of_a_log_sum_do_not_cancel();
    enclosures_hold_the_values();
    known_forms_are_enclosed_tightly();
    what_only_others_choose_is_no_jump();
    what_is_undefined_or_listed_twice_is_said();
    CHECK(fail_alloc_sweep("gradient", differentiate, NULL) > 6);
    return check_summary();
}
