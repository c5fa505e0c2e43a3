/* regulariser_bounds_test.c -- certified bounds of every regulariser, and of typed formulas,
 * against closed forms and dense
 * sampling.  Closed forms of nonconvex: second-order.md, section 9. */
#include "runtime/objective/regularisers/regulariser_helpers.h"

/* ---- bounds ---- */

static pn_regulariser_bounds certified(pn_regulariser *reg, double low, double high)
{
    pn_regulariser_bounds bounds;

    memset(&bounds, 0, sizeof bounds);
    if (!CHECK(pn_regulariser_certify(reg, (pn_interval){ low, high }, &bounds, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return bounds;
}

/* got >= want, and not by more than a part in 10^8 */
static bool tight(double got, double want)
{
    bool good = got == want || (got >= want && got <= want + 1e-8 * fabs(want));

    if (!good)
        (void)fprintf(stderr, "    got %.17g, want %.17g from above\n", got, want);
    return good;
}

static void check_bounds(pn_regulariser_bounds b, double gradient, double smooth, double largest, double strong,
                         double third, bool convex)
{
    CHECK(tight(b.gradient, gradient));
    CHECK(tight(b.smoothness, smooth));
    CHECK(tight(b.largest_curvature, largest));
    CHECK(tight(-b.strong_convexity, -strong));
    CHECK(tight(b.hessian_lipschitz, third));
    CHECK(b.convex == convex);
    CHECK((b.missing[0] == '\0') == (isfinite(gradient) && isfinite(smooth) && isfinite(third)));
}

static void bounds_are_the_closed_forms(void)
{
    const double inf = INFINITY;
    pn_regulariser *reg = simple("none", 1.0);
    char text[200];

    check_bounds(certified(reg, -inf, inf), 0, 0, 0, 0, 0, true);
    pn_regulariser_free(reg);

    reg = simple("l2", 0.3);
    check_bounds(certified(reg, -inf, inf), inf, 0.3, 0.3, 0.3, 0, true);
    CHECK(strcmp(certified(reg, -inf, inf).missing, "slope: 0.3*w is unbounded where w is in [-inf, inf]") == 0);
    check_bounds(certified(reg, -2, 1), 0.6, 0.3, 0.3, 0.3, 0, true);
    pn_regulariser_free(reg);

    reg = simple("l1", 0.3);
    check_bounds(certified(reg, -inf, inf), 0.3, inf, inf, 0, inf, true);
    CHECK(strcmp(certified(reg, -inf, inf).missing, "slope: it jumps at w = 0") == 0);
    check_bounds(certified(reg, 0.1, 1), 0.3, 0, 0, 0, 0, true);
    pn_regulariser_free(reg);

    reg = make("elastic_net", real(0.3), real(0.2), absent, absent);
    check_bounds(certified(reg, -inf, inf), inf, inf, inf, 0.2, inf, true);
    check_bounds(certified(reg, -2, 2), 0.3 + 0.4, inf, inf, 0.2, inf, true);
    check_bounds(certified(reg, 1, 2), 0.3 + 0.4, 0.2, 0.2, 0.2, 0, true);
    pn_regulariser_free(reg);

    reg = make("elastic_net", real(0.0), real(0.2), absent, absent); /* without a weight, without the kink */
    check_bounds(certified(reg, -2, 2), 0.4, 0.2, 0.2, 0.2, 0, true);
    reg->ops->describe(reg, text, sizeof text);
    CHECK(strcmp(text, "the sum of 0.1*w^2 over the coordinates w") == 0);
    pn_regulariser_free(reg);

    reg = make("nuclear", real(0.3), count(2), count(3), absent);
    check_bounds(certified(reg, -1, 1), 0.3, inf, inf, 0, inf, true);
    pn_regulariser_free(reg);
}

/* |r'| <= 3 sqrt(3)/8 at 1/sqrt(3); r'' in [-1/2, 2], at 1 and 0; |r'''| = 24 w (1 - w^2)/(1 + w^2)^4 at w^2 = 1 -
 * 2/sqrt(5). */
static void nonconvex_has_the_bounds_of_its_paper(void)
{
    pn_regulariser *reg = simple("nonconvex", 1e-3);
    double s = 1 - 2 / sqrt(5.0), third = 24 * sqrt(s) * (1 - s) / pow(1 + s, 4);

    CHECK_CLOSE(third, 4.6685593, 5e-8);
    check_bounds(certified(reg, -INFINITY, INFINITY), 1e-3 * 3 * sqrt(3.0) / 8, 2e-3, 2e-3, -0.5e-3, 1e-3 * third,
                 false);
    check_bounds(certified(reg, -3, 3), 1e-3 * 3 * sqrt(3.0) / 8, 2e-3, 2e-3, -0.5e-3, 1e-3 * third, false);
    /* convex where w^2 <= 1/3: r''(1/2) = 0.256; |r'''| = 24 w (1 - w^2)/(1 + w^2)^4 is largest inside */
    check_bounds(certified(reg, -0.5, 0.5), 1e-3 * 0.64, 2e-3, 2e-3, 1e-3 * 0.256, 1e-3 * third, true);
    pn_regulariser_free(reg);
}

/* Groups of 4 with weight 2 and norm at least 2 lo: Hessian at most 1/lo, its change 2 * 2/(sqrt(3) (2 lo)^2). */
static void group_is_smooth_away_from_zero(void)
{
    pn_regulariser *reg = make("group", real(1.0), count(4), absent, absent);

    check_bounds(certified(reg, -1, 1), 2, INFINITY, INFINITY, 0, INFINITY, true);
    check_bounds(certified(reg, 0.5, 1), 2, 2, 2, 0, 4 / sqrt(3.0), true);
    check_bounds(certified(reg, -1, -0.5), 2, 2, 2, 0, 4 / sqrt(3.0), true);
    pn_regulariser_free(reg);
    reg = make("group", real(1.0), count(1), absent, absent); /* l1 */
    check_bounds(certified(reg, 0.5, 1), 1, 0, 0, 0, 0, true);
    pn_regulariser_free(reg);
}

static double norm(const double *x)
{
    double sum = 0.0;

    for (int j = 0; j < DIM; j++)
        sum += x[j] * x[j];
    return sqrt(sum);
}

/* Random pairs of points in a box: no gradient, no Hessian and no change of either may exceed its bound. */
static void check_sampled(pn_regulariser *reg, double low, double high, uint64_t *state)
{
    pn_regulariser_bounds b = certified(reg, low, high);

    for (int trial = 0; trial < 2000; trial++) {
        double w[2][DIM], g[2][DIM], v[DIM], h[2][DIM] = { { 0 }, { 0 } }, step[DIM], bend = 0.0, apart, size;
        double near = trial % 2 ? 1.0 : 1e-3;
        bool curved;

        for (int j = 0; j < DIM; j++) {
            w[0][j] = low + (high - low) * at_random(state);
            w[1][j] = fmin(fmax(w[0][j] + near * (2 * at_random(state) - 1), low), high);
            v[j] = 2 * at_random(state) - 1;
            step[j] = w[0][j] - w[1][j];
        }
        apart = norm(step);
        size = norm(v);
        for (int p = 0; p < 2; p++) {
            gradient_at(reg, DIM, w[p], g[p]);
            curved = reg->ops->curve(reg, DIM, w[p], v, h[p], &err) == PN_OK;
        }
        for (int j = 0; j < DIM; j++) {
            CHECK(fabs(g[0][j]) <= b.gradient * (1 + 1e-13));
            g[1][j] -= g[0][j];
            bend += v[j] * h[0][j];
            h[1][j] -= h[0][j];
        }
        CHECK(norm(g[1]) <= b.smoothness * apart * (1 + 1e-9) + 1e-14);
        if (curved) {
            CHECK(bend <= b.largest_curvature * size * size * (1 + 1e-13) + 1e-14);
            CHECK(bend >= b.strong_convexity * size * size - 1e-13);
            CHECK(norm(h[1]) <= b.hessian_lipschitz * apart * size * (1 + 1e-9) + 1e-13);
        }
    }
}

static void sampled_points_respect_the_bounds(void)
{
    static const double boxes[][2] = { { -2, 2 }, { -0.4, 0.3 }, { 0.25, 1.5 }, { -3, -0.5 }, { 0.9, 1.1 } };
    pn_regulariser *all[10];
    uint64_t state = 11;
    size_t n = make_all(all);

    for (size_t r = 0; r < n; r++) {
        for (size_t box = 0; box < sizeof boxes / sizeof boxes[0]; box++)
            check_sampled(all[r], boxes[box][0], boxes[box][1], &state);
        pn_regulariser_free(all[r]);
    }
}

/* ---- typed formulas ---- */

static pn_regulariser *typed(pn_graph **graph, pn_node (*formula)(pn_graph *))
{
    static const char *const names[1] = { "t" };
    pn_regulariser *reg = NULL;

    CHECK(pn_graph_new(graph, names, 1, &err) == PN_OK);
    CHECK(pn_regulariser_from_graph(&reg, *graph, formula(*graph), &err) == PN_OK);
    return reg;
}

/* min(t^2, 1) */
static pn_node capped(pn_graph *g)
{
    pn_node t = pn_x_var(g, 0);

    return pn_x_binary(g, PN_X_MIN, pn_x_binary(g, PN_X_MUL, t, t), pn_x_const(g, 1.0));
}

static pn_node logarithm(pn_graph *g)
{
    return pn_x_unary(g, PN_X_LOG, pn_x_var(g, 0));
}

/* |t| <= 1 ? t^2/2 : |t| - 1/2 */
static pn_node rounded(pn_graph *g)
{
    pn_node t = pn_x_var(g, 0), size = pn_x_unary(g, PN_X_ABS, t), half = pn_x_const(g, 0.5);
    pn_node inside = pn_x_binary(g, PN_X_MUL, half, pn_x_binary(g, PN_X_MUL, t, t));

    return pn_x_where(g, pn_x_binary(g, PN_X_LE, size, pn_x_const(g, 1.0)), inside,
                      pn_x_binary(g, PN_X_SUB, size, half));
}

/* |t| - t^2/2 */
static pn_node tent(pn_graph *g)
{
    pn_node t = pn_x_var(g, 0), half = pn_x_binary(g, PN_X_MUL, pn_x_const(g, 0.5), pn_x_binary(g, PN_X_MUL, t, t));

    return pn_x_binary(g, PN_X_SUB, pn_x_unary(g, PN_X_ABS, t), half);
}

static pn_node exponential(pn_graph *g)
{
    return pn_x_unary(g, PN_X_EXP, pn_x_var(g, 0));
}

static pn_node step_up(pn_graph *g)
{
    return pn_x_unary(g, PN_X_SIGN, pn_x_var(g, 0));
}

static void a_typed_formula_is_a_regulariser(void)
{
    static const double w[3] = { 0.5, 2.0, 1.0 };
    pn_regulariser_bounds b;
    pn_regulariser *reg;
    pn_graph *graph;
    char text[200];
    pn_node root;
    double g[3];

    reg = typed(&graph, capped);
    CHECK(value_at(reg, 3, w) == 2.25);
    gradient_at(reg, 3, w, g);
    CHECK(g[0] == 1.0 && g[1] == 0.0 && g[2] == 2.0); /* a tie takes the first operand's */
    b = certified(reg, -2, 2);
    CHECK(tight(b.gradient, 2.0) && tight(b.largest_curvature, 2.0)); /* its kinks bend down */
    CHECK(b.smoothness == INFINITY && b.strong_convexity == -INFINITY && !b.convex);
    CHECK(strstr(b.missing, "slope: it jumps at t = ") == b.missing);
    CHECK(pn_regulariser_graph(reg, &root) == graph);
    reg->ops->describe(reg, text, sizeof text);
    CHECK(strcmp(text, "the sum of min(t^2, 1) over the coordinates t") == 0);
    CHECK(strcmp(reg->row->name, "separable") == 0);
    pn_graph_free(graph); /* kept */
    CHECK(pn_regulariser_keep(reg) == reg);
    pn_regulariser_free(reg);
    CHECK(value_at(reg, 3, w) == 2.25);
    pn_regulariser_free(reg);
    pn_regulariser_free(NULL);

    reg = typed(&graph, step_up);
    b = certified(reg, -1, 1);
    CHECK(b.gradient == INFINITY && b.smoothness == INFINITY && b.strong_convexity == -INFINITY && !b.convex);
    CHECK(b.largest_curvature == INFINITY && b.hessian_lipschitz == INFINITY && b.missing[0] != '\0');
    pn_regulariser_free(reg);
    pn_graph_free(graph);

    reg = typed(&graph, logarithm);
    CHECK(pn_regulariser_certify(reg, (pn_interval){ -1, 1 }, &b, &err) == PN_EDOMAIN);
    b = certified(reg, 1, 2);
    CHECK(tight(b.gradient, 1.0) && tight(b.smoothness, 1.0) && tight(b.hessian_lipschitz, 2.0));
    pn_regulariser_free(reg);
    pn_graph_free(graph);
}

static void what_is_missing_is_what_the_bounds_lack(void)
{
    pn_regulariser_bounds b;
    pn_regulariser *reg;
    pn_graph *graph;

    reg = typed(&graph, rounded); /* the value reaches 1e300, which does not matter; the curvature jumps */
    b = certified(reg, -1e300, 1e300);
    CHECK(tight(b.gradient, 1.0) && tight(b.smoothness, 1.0) && tight(b.largest_curvature, 1.0) && b.convex);
    CHECK(b.strong_convexity == 0.0 && b.hessian_lipschitz == INFINITY);
    CHECK(strcmp(b.missing, "curvature: it jumps, or could not be shown not to, where t is in [-1e+300, 1e+300]") == 0);
    b = certified(reg, -INFINITY, INFINITY);
    CHECK(tight(b.gradient, 1.0) && tight(b.smoothness, 1.0) && b.convex && b.strong_convexity == 0.0);
    b = certified(reg, -2, 2);
    CHECK(tight(b.gradient, 1.0) && tight(b.smoothness, 1.0) && b.convex && b.hessian_lipschitz == INFINITY);
    CHECK(strstr(b.missing, "curvature: it jumps at t = ") == b.missing);
    b = certified(reg, -0.5, 0.5);
    CHECK(tight(b.gradient, 0.5) && b.strong_convexity == 1.0 && b.hessian_lipschitz == 0.0 && b.missing[0] == '\0');
    pn_regulariser_free(reg);
    pn_graph_free(graph);

    reg = typed(&graph, tent); /* its kink bends up: only growth above the tangent is unbounded */
    b = certified(reg, -2, 2);
    CHECK(tight(-b.strong_convexity, 1.0) && b.largest_curvature == INFINITY && b.smoothness == INFINITY && !b.convex);
    CHECK(tight(b.gradient, 1.0) && strcmp(b.missing, "slope: it jumps at t = 0") == 0);
    pn_regulariser_free(reg);
    pn_graph_free(graph);

    reg = typed(&graph, exponential);
    b = certified(reg, -INFINITY, 1);
    CHECK(tight(b.gradient, exp(1.0)) && b.convex && b.strong_convexity == 0.0 && b.missing[0] == '\0');
    b = certified(reg, -1, INFINITY);
    CHECK(b.gradient == INFINITY && b.smoothness == INFINITY && b.missing[0] != '\0');
    CHECK(b.convex && b.strong_convexity > 0.36 && b.strong_convexity <= exp(-1.0));
    pn_regulariser_free(reg);
    pn_graph_free(graph);
}

static void wrong_ranges_are_refused(void)
{
    pn_regulariser *reg = simple("l2", 1.0);
    pn_regulariser_bounds b;

    CHECK(pn_regulariser_certify(reg, (pn_interval){ 2, 1 }, &b, &err) == PN_EINVAL);
    CHECK(strcmp(err.message,
                 "reg.l2: the range of the coordinates must be an interval {lo, hi} with lo <= hi, got {2, 1}") == 0);
    CHECK(pn_regulariser_certify(reg, (pn_interval){ (double)NAN, 1 }, &b, &err) == PN_EINVAL);
    pn_regulariser_free(reg);
}

int main(void)
{
    bounds_are_the_closed_forms();
    nonconvex_has_the_bounds_of_its_paper();
    group_is_smooth_away_from_zero();
    sampled_points_respect_the_bounds();
    a_typed_formula_is_a_regulariser();
    what_is_missing_is_what_the_bounds_lack();
    wrong_ranges_are_refused();
    return check_summary();
}
