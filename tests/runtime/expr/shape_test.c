/* shape_test.c -- jumps, smoothness and convexity of losses and of expressions made to deceive.
 * Depends on: check.h, formulas.h, expr/bound.h. */
#include <string.h>

#include "expr/bound.h"

#include "check.h"
#include "runtime/expr/formulas.h"

static const double signs[] = { -1.0, 1.0 };

static pn_domain between(double low, double high)
{
    return (pn_domain){ { low, high }, NULL, 0 };
}

static pn_shape shape_over(const formulas *f, pn_node root, pn_domain z, pn_domain y)
{
    const pn_domain domains[2] = { z, y };
    pn_shape shape = { .missing = "not even looked at" };
    pn_err err;

    if (!CHECK(pn_shape_of(&shape, f->g, root, 0, domains, NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return shape;
}

/* z in [-5, 5]; y in [-1, 1], or -1 and 1. */
static pn_shape shape_of(const formulas *f, pn_node root, bool classes)
{
    return shape_over(f, root, between(-5.0, 5.0),
                      classes ? (pn_domain){ { 0.0, 0.0 }, signs, 2 } : between(-1.0, 1.0));
}

/* "c" continuous, "s" smooth, "t" twice smooth, "x" convex */
static void expect(pn_shape shape, const char *flags, const char *missing, const char *what)
{
    bool holds = shape.continuous == (strchr(flags, 'c') != NULL) && shape.smooth == (strchr(flags, 's') != NULL) &&
                 shape.twice_smooth == (strchr(flags, 't') != NULL) && shape.convex == (strchr(flags, 'x') != NULL);

    if (!CHECK(holds) || !CHECK(strcmp(shape.missing, missing) == 0))
        (void)fprintf(stderr, "    %s: %s%s%s%s, \"%s\"\n", what, shape.continuous ? "c" : "", shape.smooth ? "s" : "",
                      shape.twice_smooth ? "t" : "", shape.convex ? "x" : "", shape.missing);
}

static void test_losses(const formulas *f)
{
    expect(shape_of(f, logistic_of(f), true), "cstx", "", "logistic");
    expect(shape_of(f, logistic_of(f), false), "cstx", "", "logistic, labels in an interval");
    expect(shape_of(f, hinge_of(f), true), "cx", "slope: it jumps at z = -1", "hinge");
    expect(shape_of(f, hinge_of(f), false), "cx", "slope: it jumps", "hinge, labels in an interval");
    expect(shape_of(f, smooth_hinge_of(f), true), "csx", "curvature: it jumps at z = -1", "smooth hinge");
    expect(shape_of(f, MUL(C(0.5), SQUARE(f->r)), false), "cstx", "", "squared");
    expect(shape_of(f, CALL(ABS, f->r), false), "cx", "slope: it jumps at z = 0", "absolute");
    expect(shape_of(f, quantile_of(f, 0.3), false), "cx", "slope: it jumps at z = 0", "quantile");
    expect(shape_of(f, huber_of(f, 1.345), false), "csx", "curvature: it jumps at z = -1.345", "Huber");
    expect(shape_of(f, pseudo_huber_of(f), false), "cstx", "", "pseudo-Huber");
    expect(shape_of(f, cauchy_of(f), false), "cst", "", "Cauchy");
    expect(shape_of(f, tukey_of(f, 4.685), false), "cst", "", "Tukey");
    expect(shape_of(f, welsch_of(f), false), "cst", "", "Welsch");
    expect(shape_of(f, smooth_pinball_of(f, 0.3, 0.1), false), "cstx", "", "smoothed pinball");
    expect(shape_of(f, poisson_of(f), false), "cstx", "", "Poisson");
    expect(shape_of(f, sigmoid_of(f), true), "cst", "", "sigmoid");
    expect(shape_of(f, log_cosh_of(f), false), "cstx", "", "log-cosh");
    expect(shape_of(f, nonconvex_of(f), false), "cst", "", "w^2/(1 + w^2)");
}

/* A switch at 0.3, which no double is, over r = z - y and under a division. */
static void test_switches_at_numbers_with_many_digits(const formulas *f)
{
    pn_node size = CALL(ABS, DIV(f->r, C(3.0)));
    pn_node root = IF(PAIR(LE, size, C(0.1)), MUL(C(0.5), SQUARE(size)), SUB(MUL(C(0.1), size), C(0.1 * 0.1 / 2.0)));
    pn_shape shape = shape_of(f, root, false);

    expect(shape, "csx", "curvature: it jumps at z = -0.3", "Huber of r/3");
    CHECK_CLOSE(shape.slope.high, 0.1 / 3.0, 1e-9);
    CHECK_CLOSE(shape.curvature.high, 1.0 / 9.0, 1e-9);
}

static void test_expressions_made_to_deceive(const formulas *f)
{
    pn_node z = f->z, zero = C(0.0), one = C(1.0);

    expect(shape_of(f, IF(PAIR(LT, z, C(0.5)), zero, one), false), "", "value: it jumps at z = 0.5", "a step");
    /* convex on both sides, with a slope that jumps downward */
    expect(shape_of(f, PAIR(MIN, SQUARE(SUB(z, one)), SQUARE(ADD(z, one))), false), "c", "slope: it jumps at z = 0",
           "two parabolas");
    expect(shape_of(f, PAIR(MAX, SQUARE(SUB(z, one)), SQUARE(ADD(z, one))), false), "cx", "slope: it jumps at z = 0",
           "two parabolas, the upper");
    /* the value at 0 alone is 2 */
    expect(shape_of(f, ADD(IF(PAIR(LE, z, zero), one, zero), IF(PAIR(LT, z, zero), zero, one)), false), "",
           "value: it jumps at z = 0", "a lone value");
    /* two steps that cancel */
    expect(shape_of(f, ADD(IF(PAIR(LT, z, zero), one, zero), IF(PAIR(LT, z, zero), zero, one)), false), "cstx", "",
           "no step");
    expect(shape_of(f, MUL(SQUARE(z), CALL(SIGN, z)), false), "cs", "curvature: it jumps at z = 0", "z |z|");
    expect(shape_of(f, POW(z, 4.0), false), "cstx", "", "z^4");
    expect(shape_of(f, POW(z, 3.0), false), "cst", "", "z^3");
    expect(shape_of(f, POW(CALL(ABS, z), 3.0), false), "cstx", "", "|z|^3");
    expect(shape_of(f, C(3.0), false), "cstx", "", "a constant");
    expect(shape_of(f, CALL(ABS, f->y), false), "cstx", "", "a kink in the other variable");
    /* |m| is convex, m is not linear in z although its curvature is 0 */
    expect(shape_of(f, CALL(ABS, PAIR(MAX, z, f->y)), false), "c", "slope: it could not be shown not to jump",
           "|max(z, y)|");
    expect(shape_of(f, CALL(ABS, ADD(MUL(z, f->y), SQUARE(z))), false), "c", "slope: it could not be shown not to jump",
           "a curve of kinks");
}

static void test_says_what_is_missing(const formulas *f)
{
    pn_shape shape = shape_over(f, CALL(LOG, f->z), between(0.0, 1.0), between(0.0, 0.0));

    CHECK(shape.value.low == -INFINITY && shape.value.high == 0.0 && shape.slope.high == INFINITY);
    expect(shape, "c", "value: log(z) is unbounded where z is in [0, 9.09495e-13]", "log");
    shape = shape_over(f, SQUARE(f->z), between(-INFINITY, INFINITY), between(0.0, 0.0));
    CHECK(shape.value.low == 0.0 && shape.value.high == INFINITY && shape.curvature.low == 2.0);
    expect(shape, "cstx", "value: z^2 is unbounded where z is in [-inf, inf]", "z^2");
    shape = shape_over(f, CALL(SQRT, f->z), between(0.0, 1.0), between(0.0, 0.0));
    CHECK(shape.value.low == 0.0 && shape.value.high == 1.0 && shape.slope.high == INFINITY);
    CHECK(shape.continuous && !shape.smooth && strncmp(shape.missing, "slope: ", 7) == 0);
}

static void test_refuses_what_is_undefined(const formulas *f)
{
    const pn_domain domains[2] = { between(-1.0, 1.0), between(0.0, 1.0) };
    pn_shape shape;
    pn_err err;

    CHECK(pn_shape_of(&shape, f->g, CALL(LOG, f->z), 0, domains, NULL, &err) == PN_EDOMAIN);
    CHECK(strcmp(err.message, "bound: log(z) may be undefined where z is in [-1, 0]") == 0);
    CHECK(pn_shape_of(&shape, f->g, f->z, 2, domains, NULL, &err) == PN_EINVAL);
}

/* A derivative that does not fit a graph is missing; the caller's graph is as it was. */
static void test_derivatives_that_grow_too_large(const formulas *f)
{
    const pn_domain domains[2] = { between(-1.0, 1.0), between(0.0, 1.0) };
    size_t size;
    pn_node t = f->z;
    pn_shape shape;

    for (int i = 0; i < 3000; i++)
        t = CALL(TANH, ADD(MUL(C(0.25), t), MUL(C(0.5), f->y)));
    size = pn_graph_size(f->g);
    CHECK(pn_shape_of(&shape, f->g, t, 0, domains, NULL, NULL) == PN_OK);
    CHECK(isfinite(shape.value.high) && shape.third.high == INFINITY && shape.continuous);
    CHECK(strstr(shape.missing, "too many operations") != NULL);
    CHECK(pn_graph_size(f->g) == size && pn_graph_status(f->g, NULL) == PN_OK);
}

/* ---- jumps themselves ---- */

static pn_jump jump_of(const formulas *f, pn_node root)
{
    const pn_domain domains[2] = { between(-5.0, 5.0), between(-1.0, 1.0) };
    pn_jump jump = { .where = 77.0 };

    CHECK(pn_bound_jump(&jump, f->g, root, 0, domains, NULL, NULL) == PN_OK);
    return jump;
}

static void check_jump(pn_jump jump, double up, double down, double where)
{
    CHECK(jump.decided);
    CHECK(jump.up >= up && jump.up <= up + 1e-9); /* bounds from above */
    CHECK(jump.down >= down && jump.down <= down + 1e-9);
    CHECK_CLOSE(jump.where, where, 1e-12);
}

static void test_sizes_of_jumps(const formulas *f)
{
    pn_node third = C(1.0 / 3.0);

    check_jump(jump_of(f, IF(PAIR(LT, f->z, third), C(2.0), C(5.0))), 3.0, 0.0, 1.0 / 3.0);
    check_jump(jump_of(f, IF(PAIR(LT, f->z, third), C(2.0), f->z)), 0.0, 5.0 / 3.0, 1.0 / 3.0);
    check_jump(jump_of(f, CALL(SIGN, f->z)), 2.0, 0.0, 0.0);
    /* as z grows y - z falls */
    check_jump(jump_of(f, CALL(SIGN, SUB(f->y, f->z))), 0.0, 2.0, 0.0);
    check_jump(jump_of(f, ADD(CALL(SIGN, SUB(f->z, C(1.0))), MUL(C(-2.0), CALL(SIGN, ADD(f->z, C(1.0)))))), 2.0, 4.0,
               -1.0);
    /* a value that stands alone is a jump there and back */
    check_jump(jump_of(f, ADD(IF(PAIR(LE, f->z, third), C(1.0), C(0.0)), IF(PAIR(LT, f->z, third), C(0.0), C(1.0)))),
               1.0, 1.0, 1.0 / 3.0);
    /* over [-5, 5] it stays on one side */
    check_jump(jump_of(f, IF(PAIR(LT, f->z, C(6.0)), f->z, C(0.0))), 0.0, 0.0, 0.0);
    /* the other variable's jump is none of this one's */
    check_jump(jump_of(f, CALL(SIGN, f->y)), 0.0, 0.0, 0.0);
    /* a jump of less than 2^-40 of the magnitude is taken for rounding */
    check_jump(jump_of(f, IF(PAIR(LT, f->z, third), C(1.0), C(1.0 + 0x1p-45))), 0.0, 0.0, 0.0);
    check_jump(jump_of(f, IF(PAIR(LT, f->z, third), C(1.0), C(1.0 + 0x1p-35))), 0x1p-35, 0.0, 1.0 / 3.0);
}

static void test_jumps_that_cannot_be_told(const formulas *f)
{
    pn_node curve = ADD(SQUARE(f->z), MUL(f->z, f->y));
    pn_jump jump = jump_of(f, MUL(f->y, CALL(SIGN, curve)));

    CHECK(!jump.decided && jump.up == INFINITY && jump.down == INFINITY);
    /* through a sub-expression that both rises and falls: either way */
    check_jump(jump_of(f, MUL(C(0.5), CALL(SIGN, curve))), 1.0, 1.0, 0.0);
    jump = jump_of(f, CALL(SIGN, CALL(SIN, DIV(C(1.0), f->z))));
    CHECK(!jump.decided);
    jump = jump_of(f, CALL(TANH, DIV(C(1.0), f->z)));
    CHECK(!jump.decided || jump.up >= 2.0);
}

int main(void)
{
    formulas f;

    if (!CHECK(formulas_open(&f, NULL) == PN_OK))
        return check_summary();
    test_losses(&f);
    test_switches_at_numbers_with_many_digits(&f);
    test_expressions_made_to_deceive(&f);
    test_says_what_is_missing(&f);
    test_refuses_what_is_undefined(&f);
    test_derivatives_that_grow_too_large(&f);
    test_sizes_of_jumps(&f);
    test_jumps_that_cannot_be_told(&f);
    pn_graph_free(f.g);
    return check_summary();
}
