/* regulariser_test.c -- values, gradients and Hessian products of every regulariser of the table against closed forms
 * and central differences; refusals and failures.  Closed forms of nonconvex: second-order.md, section 9. */
#include "fail_alloc.h"

#include "runtime/objective/regularisers/regulariser_helpers.h"

/* ---- closed forms ---- */

static const double at[DIM] = { 0.5, -1.25, 0.0, 2.0, -0.75, 1.0 };

static void check_closed_form(pn_regulariser *reg, double value, const double *gradient, const double *diagonal)
{
    static const double v[DIM] = { 1, -2, 3, 0.5, -1, 4 };
    double got, out[DIM] = { 0 }, along[DIM] = { 0 };

    CHECK(reg->ops->evaluate(reg, DIM, at, &got, out, &err) == PN_OK);
    CHECK_CLOSE(got, value, 4e-15 * fabs(value));
    CHECK_CLOSE(value_at(reg, DIM, at), got, 0.0);
    for (int j = 0; j < DIM; j++)
        CHECK_CLOSE(out[j], gradient[j], 1e-15 * (1 + fabs(gradient[j])));
    CHECK(reg->ops->curve(reg, DIM, at, v, along, &err) == PN_OK);
    for (int j = 0; diagonal && j < DIM; j++)
        CHECK_CLOSE(along[j], diagonal[j] * v[j], 2e-15 * (1 + fabs(diagonal[j])));
    pn_regulariser_free(reg);
}

/* Sum of squares 0.25 + 1.5625 + 4 + 0.5625 + 1 = 7.375; of absolute values 5.5. */
static void separable_ones_are_their_formulas(void)
{
    static const double zero[DIM] = { 0 }, sign[DIM] = { 1, -1, 0, 1, -1, 1 };
    double g[DIM], h[DIM], value = 0.0;

    check_closed_form(simple("none", 1.0), 0.0, zero, zero);
    for (int j = 0; j < DIM; j++) {
        g[j] = 0.3 * at[j];
        h[j] = 0.3;
    }
    check_closed_form(simple("l2", 0.3), 0.15 * 7.375, g, h);
    for (int j = 0; j < DIM; j++)
        g[j] = 0.3 * sign[j];
    check_closed_form(simple("l1", 0.3), 0.3 * 5.5, g, zero);
    for (int j = 0; j < DIM; j++) {
        g[j] = 0.3 * sign[j] + 0.2 * at[j];
        h[j] = 0.2;
    }
    check_closed_form(make("elastic_net", real(0.3), real(0.2), absent, absent), 0.3 * 5.5 + 0.1 * 7.375, g, h);
    for (int j = 0; j < DIM; j++) {
        double s = at[j] * at[j], u = 1 + s;

        value += 0.3 * s / u;
        g[j] = 0.3 * 2 * at[j] / (u * u);
        h[j] = 0.3 * (2 - 6 * s) / (u * u * u);
    }
    check_closed_form(simple("nonconvex", 0.3), value, g, h);
}

/* Groups {1, 4}, {2, 3, 6}, {5}: 1-based coordinates. */
static void group_is_the_weighted_sum_of_norms(void)
{
    static const double groups[DIM] = { 1, 2, 2, 1, 3, 2 }, weights[3] = { 1, 2, 0.5 };
    double n1 = sqrt(0.25 + 4), n2 = sqrt(1.5625 + 1), root2 = sqrt(2.0), root3 = sqrt(3.0), g[DIM];
    double listed[DIM] = { at[0] * root2 / n1, at[1] * root3 / n2, 0, at[3] * root2 / n1, -1, at[5] * root3 / n2 };
    double weighted[DIM] = { at[0] / n1, at[1] * 2 / n2, 0, at[3] / n1, -0.5, at[5] * 2 / n2 };
    double p1 = sqrt(0.25 + 1.5625), p3 = sqrt(0.5625 + 1);
    double pairs[DIM] = { at[0] / p1, at[1] / p1, 0, 1, at[4] / p3, at[5] / p3 };

    for (int j = 0; j < DIM; j++)
        g[j] = 0.3 * listed[j];
    check_closed_form(make("group", real(0.3), absent, vector(groups, DIM), absent),
                      0.3 * (root2 * n1 + root3 * n2 + 0.75), g, NULL);
    for (int j = 0; j < DIM; j++)
        g[j] = 0.3 * weighted[j];
    check_closed_form(make("group", real(0.3), absent, vector(groups, DIM), vector(weights, 3)),
                      0.3 * (n1 + 2 * n2 + 0.5 * 0.75), g, NULL);
    for (int j = 0; j < DIM; j++)
        g[j] = 0.3 * root2 * pairs[j];
    check_closed_form(make("group", real(0.3), count(2), absent, absent), 0.3 * root2 * (p1 + 2 + p3), g, NULL);
}

/* [[3, 0], [0, -4], [0, 0]] has singular values 4 and 3 and U V' = [[1, 0], [0, -1], [0, 0]];
 * a product of vectors has one. */
static void nuclear_is_the_sum_of_singular_values(void)
{
    pn_regulariser *reg = make("nuclear", real(0.5), count(3), count(2), absent);
    static const double diagonal[DIM] = { 3, 0, 0, -4, 0, 0 }, want[DIM] = { 0.5, 0, 0, -0.5, 0, 0 };
    static const double product[DIM] = { 3, 4, 6, 8, 6, 8 }; /* (1, 2, 2)' (3, 4): 3 * 5 */
    static const double zeros[DIM] = { 0 };
    double g[DIM];

    CHECK_CLOSE(value_at(reg, DIM, diagonal), 3.5, 1e-14);
    gradient_at(reg, DIM, diagonal, g);
    for (int j = 0; j < DIM; j++)
        CHECK_CLOSE(g[j], want[j], 1e-14);
    CHECK_CLOSE(value_at(reg, DIM, product), 7.5, 1e-14);
    gradient_at(reg, DIM, product, g); /* nothing of the null space */
    for (int j = 0; j < DIM; j++)
        CHECK_CLOSE(g[j], 0.5 * product[j] / 15, 1e-14);
    CHECK(value_at(reg, DIM, zeros) == 0.0);
    gradient_at(reg, DIM, zeros, g);
    for (int j = 0; j < DIM; j++)
        CHECK(g[j] == 0.0);
    CHECK(reg->ops->curve(reg, DIM, diagonal, diagonal, g, &err) == PN_EUNSUPPORTED);
    pn_regulariser_free(reg);
}

static void gradients_and_products_are_added(void)
{
    pn_regulariser *reg = simple("l2", 2.0);
    double g[2] = { 10, 20 }, h[2] = { 1, 1 }, w[2] = { 1, -1 }, value;

    CHECK(reg->ops->evaluate(reg, 2, w, &value, g, &err) == PN_OK);
    CHECK(g[0] == 12 && g[1] == 18 && value == 2.0);
    CHECK(reg->ops->curve(reg, 2, w, w, h, &err) == PN_OK);
    CHECK(h[0] == 3 && h[1] == -1);
    CHECK(reg->ops->evaluate(reg, 0, w, &value, g, &err) == PN_OK && value == 0.0);
    pn_regulariser_free(reg);

    reg = make("group", real(2.0), count(1), absent, absent);
    CHECK(reg->ops->evaluate(reg, 2, w, &value, g, &err) == PN_OK && value == 4.0);
    CHECK(g[0] == 14 && g[1] == 16);
    pn_regulariser_free(reg);

    reg = make("nuclear", real(2.0), count(1), count(2), absent);
    CHECK(reg->ops->evaluate(reg, 2, w, &value, g, &err) == PN_OK);
    CHECK_CLOSE(g[0], 14 + sqrt(2.0), 1e-14);
    CHECK_CLOSE(g[1], 16 - sqrt(2.0), 1e-14);
    pn_regulariser_free(reg);
}

static void a_group_at_its_kink_adds_nothing_to_a_product(void)
{
    pn_regulariser *reg = make("group", real(1.0), count(2), absent, absent);
    double w[4] = { 0, 0, 3, 4 }, v[4] = { 1, 2, 3, 4 }, h[4] = { 5, 6, 7, 8 };

    CHECK(reg->ops->curve(reg, 4, w, v, h, &err) == PN_OK);
    CHECK(h[0] == 5 && h[1] == 6);
    CHECK_CLOSE(h[2], 7, 1e-14); /* along itself a norm is straight */
    CHECK_CLOSE(h[3], 8, 1e-14);
    pn_regulariser_free(reg);
}

/* Blocks of 256 coordinates: what lies beyond the first, and a rest. */
static void long_vectors_are_summed_in_full(void)
{
    enum { N = 1000 };
    pn_regulariser *reg = simple("l1", 1.0);
    double w[N], g[N], h[N] = { 0 }, sum = 0.0;

    for (int j = 0; j < N; j++) {
        w[j] = j % 2 ? -j : j;
        sum += j;
    }
    CHECK(value_at(reg, N, w) == sum);
    gradient_at(reg, N, w, g);
    for (int j = 1; j < N; j++)
        CHECK(g[j] == (j % 2 ? -1.0 : 1.0));
    pn_regulariser_free(reg);
    reg = simple("l2", 2.0);
    CHECK(reg->ops->curve(reg, N, w, w, h, &err) == PN_OK);
    for (int j = 0; j < N; j++)
        CHECK(h[j] == 2 * w[j]);
    pn_regulariser_free(reg);
}

/* ---- differences ---- */

/* Points with |w_j| >= 0.2, steps of 1e-4: differences of fourth order are good to 1e-10. */
static void gradients_and_products_are_those_of_differences(void)
{
    static const double step = 1e-3, factors[4] = { 1, -1, 2, -2 }, weights[4] = { 8, -8, -1, 1 };
    pn_regulariser *all[10];
    uint64_t state = 5;
    size_t n = make_all(all);

    for (size_t r = 0; r < n; r++) {
        for (int trial = 0; trial < 20; trial++) {
            double w[DIM], v[DIM], g[DIM], h[DIM] = { 0 }, moved[DIM], change[DIM] = { 0 }, slope = 0.0, along = 0.0;
            bool curved;

            for (int j = 0; j < DIM; j++) {
                w[j] = (at_random(&state) < 0.5 ? -1 : 1) * (0.2 + 2 * at_random(&state));
                v[j] = 2 * at_random(&state) - 1;
            }
            gradient_at(all[r], DIM, w, g);
            for (int s = 0; s < 4; s++) {
                double there[DIM];

                for (int j = 0; j < DIM; j++)
                    moved[j] = w[j] + factors[s] * step * v[j];
                slope += weights[s] * value_at(all[r], DIM, moved) / (12 * step);
                gradient_at(all[r], DIM, moved, there);
                for (int j = 0; j < DIM; j++)
                    change[j] += weights[s] * there[j] / (12 * step);
            }
            for (int j = 0; j < DIM; j++)
                along += g[j] * v[j];
            CHECK_CLOSE(along, slope, 1e-8);
            curved = all[r]->ops->curve(all[r], DIM, w, v, h, &err) == PN_OK;
            CHECK(curved == (strcmp(all[r]->row->name, "nuclear") != 0));
            for (int j = 0; curved && j < DIM; j++)
                CHECK_CLOSE(h[j], change[j], 1e-8);
        }
    }
    for (size_t r = 0; r < n; r++)
        pn_regulariser_free(all[r]);
}

/* g is a subgradient of a convex r when r(w) >= r(at) + <g, w - at>, kinks and all;
 * and no other one at 0 is shorter than 0. */
static void subgradients_at_kinks_support_convex_ones(void)
{
    static const double kink[DIM] = { 0, -1.25, 0, 0, 0, 0 };
    pn_regulariser *all[10];
    uint64_t state = 9;
    size_t n = make_all(all);

    for (size_t r = 0; r + 1 < n; r++) { /* all but nonconvex */
        double g[DIM], w[DIM], base = value_at(all[r], DIM, kink);

        gradient_at(all[r], DIM, kink, g);
        for (int trial = 0; trial < 200; trial++) {
            double below = base;

            for (int j = 0; j < DIM; j++) {
                w[j] = 4 * at_random(&state) - 2;
                below += g[j] * (w[j] - kink[j]);
            }
            CHECK(value_at(all[r], DIM, w) >= below - 1e-13);
        }
        CHECK(g[0] == 0.0 && g[2] == 0.0 && g[3] == 0.0 && g[4] == 0.0 && g[5] == 0.0);
    }
    for (size_t r = 0; r < n; r++)
        pn_regulariser_free(all[r]);
}

/* ---- refusals ---- */

static bool refused(const char *name, pn_arg a, pn_arg b, pn_arg c, pn_arg d, pn_status want, const char *message)
{
    pn_arg args[4] = { a, b, c, d };
    pn_regulariser *reg = NULL;
    pn_status status = pn_regulariser_from_args(&reg, name, args, &err);

    pn_regulariser_free(reg);
    if (status == want && strcmp(err.message, message) == 0)
        return true;
    (void)fprintf(stderr, "    got %s\n", status == PN_OK ? "no error" : err.message);
    return false;
}

static void a_formula_of_two_variables_is_refused(void)
{
    static const char *const names[2] = { "s", "t" };
    pn_regulariser *reg;
    pn_graph *graph;

    CHECK(pn_graph_new(&graph, names, 2, &err) == PN_OK);
    CHECK(pn_regulariser_from_graph(&reg, graph, pn_x_var(graph, 0), &err) == PN_EINVAL);
    CHECK(reg == NULL && strcmp(err.message, "reg.separable: a formula of one variable is needed, got one of 2") == 0);
    pn_graph_free(graph);
}

static void wrong_options_are_named(void)
{
    static const double gap[3] = { 1, 3, 3 }, half[2] = { 1, 1.5 }, far[2] = { 1, 3 }, some[2] = { 1, -1 };
    const pn_arg one = real(1.0);

    for (const char *const *name = (const char *const[]){ "l2", "l1", "nonconvex", NULL }; *name; name++) {
        char want[100];

        (void)snprintf(want, sizeof want, "reg.%s: lambda must be a positive number, got 0", *name);
        CHECK(refused(*name, real(0.0), absent, absent, absent, PN_EINVAL, want));
        (void)snprintf(want, sizeof want, "reg.%s: lambda must be a positive number, got -2", *name);
        CHECK(refused(*name, real(-2.0), absent, absent, absent, PN_EINVAL, want));
        (void)snprintf(want, sizeof want, "reg.%s: lambda must be a positive number, got nan", *name);
        CHECK(refused(*name, real((double)NAN), absent, absent, absent, PN_EINVAL, want));
        (void)snprintf(want, sizeof want, "reg.%s: lambda must be a positive number, got inf", *name);
        CHECK(refused(*name, real(INFINITY), absent, absent, absent, PN_EINVAL, want));
    }
    CHECK(refused("elastic_net", one, real(-1.0), absent, absent, PN_EINVAL,
                  "reg.elastic_net: l2 must be a number >= 0, got -1"));
    CHECK(refused("group", real(-1.0), count(2), absent, absent, PN_EINVAL,
                  "reg.group: lambda must be a positive number, got -1"));
    CHECK(refused("group", one, absent, absent, absent, PN_EINVAL,
                  "reg.group: give either size= or groups=, got neither"));
    CHECK(refused("group", one, count(2), vector(gap, 3), absent, PN_EINVAL,
                  "reg.group: give either size= or groups=, got both"));
    CHECK(refused("group", one, absent, vector(gap, 3), absent, PN_EINVAL,
                  "reg.group: no coordinate is in group 2, the largest number is 3"));
    CHECK(refused("group", one, absent, vector(gap, 0), absent, PN_EINVAL, "reg.group: groups is empty"));
    CHECK(
        refused("group", one, absent, vector(half, 2), absent, PN_EINVAL,
                "reg.group: groups must hold whole numbers from 1, at most one for each of the 2 coordinates; got 1.5 "
                "at entry 2"));
    CHECK(
        refused("group", one, absent, vector(far, 2), absent, PN_EINVAL,
                "reg.group: groups must hold whole numbers from 1, at most one for each of the 2 coordinates; got 3 at "
                "entry 2"));
    CHECK(refused("group", one, count(2), absent, vector(some, 2), PN_EINVAL,
                  "reg.group: weights must be positive numbers, got -1 at entry 2"));
    CHECK(refused("group", one, count(2), absent, vector(some, 0), PN_EINVAL, "reg.group: weights is empty"));
    CHECK(refused("group", one, absent, vector((const double[]){ 1, 1 }, 2), vector(gap, 3), PN_EDIM,
                  "reg.group: weights has 3 entries, there are 1 groups"));
    CHECK(refused("group", one, count(SIZE_MAX), absent, vector(far, 2), PN_EINVAL,
                  "reg.group: size must be at most 2^48, got 18446744073709551615"));
    CHECK(refused("group", one, count((size_t)1 << 48), absent, vector(far, 2), PN_EINVAL,
                  "reg.group: groups x size, 2 x 281474976710656, must be at most 2^48"));
    CHECK(refused("nuclear", one, count((size_t)1 << 48), count(2), absent, PN_EINVAL,
                  "reg.nuclear: rows x cols, 281474976710656 x 2, must be at most 2^48"));
    CHECK(refused("ridge", one, absent, absent, absent, PN_EUNSUPPORTED,
                  "pn_regulariser_from_args: there is no regulariser \"ridge\"; known are none, l2, l1, elastic_net, "
                  "group, nuclear, "
                  "nonconvex, quadratic"));
}

static void wrong_sizes_are_named(void)
{
    static const double groups[3] = { 1, 2, 1 }, weights[2] = { 1, 2 };
    pn_regulariser *reg = make("group", real(1.0), count(4), absent, absent);

    CHECK(reg->ops->fits(reg, 8, &err) == PN_OK && reg->ops->fits(reg, 10, &err) == PN_EDIM);
    CHECK(strcmp(err.message, "reg.group: groups of 4 coordinates do not divide the 10 of w") == 0);
    pn_regulariser_free(reg);
    reg = make("group", real(1.0), absent, vector(groups, 3), absent);
    CHECK(reg->ops->fits(reg, 3, &err) == PN_OK && reg->ops->fits(reg, 4, &err) == PN_EDIM);
    CHECK(strcmp(err.message, "reg.group: the groups are of 3 coordinates, w has 4") == 0);
    pn_regulariser_free(reg);
    reg = make("group", real(1.0), count(4), absent, vector(weights, 2));
    CHECK(reg->ops->fits(reg, 8, &err) == PN_OK && reg->ops->fits(reg, 4, &err) == PN_EDIM);
    pn_regulariser_free(reg);
    reg = make("nuclear", real(1.0), count(2), count(3), absent);
    CHECK(reg->ops->fits(reg, 6, &err) == PN_OK && reg->ops->fits(reg, 5, &err) == PN_EDIM);
    CHECK(strcmp(err.message, "reg.nuclear: a matrix of 2 x 3 has 6 entries, w has 5") == 0);
    pn_regulariser_free(reg);
    reg = simple("l2", 1.0);
    CHECK(reg->ops->fits(reg, 12345, &err) == PN_OK);
    pn_regulariser_free(reg);
}

static void a_matrix_that_is_not_finite_is_refused(void)
{
    pn_regulariser *reg = make("nuclear", real(1.0), count(1), count(2), absent);
    double w[2] = { 1, INFINITY }, g[2] = { 7, 8 }, value = 9;

    CHECK(reg->ops->evaluate(reg, 2, w, &value, g, &err) == PN_EDOMAIN);
    CHECK(g[0] == 7 && g[1] == 8 && value == 9);
    pn_regulariser_free(reg);
}

/* ---- memory ---- */

static pn_status use_prox(const pn_regulariser *reg, pn_err *failure)
{
    pn_prox *prox;
    pn_status status = pn_regulariser_prox(reg, &prox, failure);

    if (status == PN_EUNSUPPORTED) {
        CHECK(!reg->row->prox && !prox);
        return PN_OK;
    }
    pn_prox_free(prox);
    return status;
}

static pn_status use_all(void *self, pn_err *failure)
{
    static const double groups[DIM] = { 1, 2, 2, 1, 3, 2 }, weights[3] = { 1, 2, 0.5 }, blocks[4] = { 2, 1, 1, 0.5 };
    const struct {
        const char *name;
        pn_arg args[4];
    } all[] = {
        { "l1", { real(1) } },
        { "nonconvex", { real(1) } },
        { "group", { real(1), absent, vector(groups, DIM), vector(weights, 3) } },
        { "nuclear", { real(1), count(2), count(3) } },
        { "quadratic", { matrix(blocks, 2), vector(groups, DIM), real(1) } },
    };
    pn_status status = PN_OK;

    (void)self;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && status == PN_OK; i++) {
        pn_regulariser *reg = NULL;
        pn_regulariser_bounds b;
        double g[DIM] = { 0 }, value;
        pn_arg args[4];

        memcpy(args, all[i].args, sizeof args);
        status = pn_regulariser_from_args(&reg, all[i].name, args, failure);
        if (status == PN_OK)
            status = reg->ops->evaluate(reg, DIM, at, &value, g, failure);
        if (status == PN_OK)
            status = pn_regulariser_certify(reg, (pn_interval){ -1, 1 }, &b, failure);
        if (status == PN_OK)
            status = use_prox(reg, failure);
        pn_regulariser_free(reg);
    }
    return status;
}

int main(void)
{
    separable_ones_are_their_formulas();
    group_is_the_weighted_sum_of_norms();
    nuclear_is_the_sum_of_singular_values();
    gradients_and_products_are_added();
    a_group_at_its_kink_adds_nothing_to_a_product();
    long_vectors_are_summed_in_full();
    gradients_and_products_are_those_of_differences();
    subgradients_at_kinks_support_convex_ones();
    a_formula_of_two_variables_is_refused();
    wrong_options_are_named();
    wrong_sizes_are_named();
    a_matrix_that_is_not_finite_is_refused();
    CHECK(fail_alloc_sweep("regulariser", use_all, NULL) > 20);
    return check_summary();
}
