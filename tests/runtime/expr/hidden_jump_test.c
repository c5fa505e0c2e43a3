/* hidden_jump_test.c -- jumps and kinks that large values elsewhere, powers of zero or common parts once hid;
 * ranges far out.
 * Depends on: check.h, formulas.h, expr/bound.h. */
#include <string.h>

#include "check.h"
#include "expr/bound.h"
#include "runtime/expr/formulas.h"

enum { JUMPS = 0, CONTINUOUS = 1, SMOOTH = 2, TWICE_SMOOTH = 3 };

static pn_shape shape_between(const formulas *f, pn_node root, double low, double high)
{
    const pn_domain domains[2] = { { { low, high }, NULL, 0 }, { { -1.0, 1.0 }, NULL, 0 } };
    pn_shape shape = { .convex = false };
    pn_err err = { .message = "" };

    if (!CHECK(pn_shape_of(&shape, f->g, root, 0, domains, NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return shape;
}

static void expect(const formulas *f, pn_node root, double low, double high, int steady, bool convex)
{
    pn_shape s = shape_between(f, root, low, high);
    char text[200];

    if (CHECK(s.continuous + s.smooth + s.twice_smooth == steady && s.convex == convex))
        return;
    pn_graph_text(f->g, root, text, sizeof text);
    (void)fprintf(stderr, "    %s over [%g, %g]: %d%d%d, convex %d, %s\n", text, low, high, s.continuous, s.smooth,
                  s.twice_smooth, s.convex, s.missing);
}

/* The values at the far end of the domain are 1e13 and more: what is small against them is not small at 0. */
static void test_a_jump_is_no_smaller_for_large_values_elsewhere(const formulas *f)
{
    pn_node e = CALL(EXP, f->z), kink = CALL(ABS, f->z), step = CALL(SIGN, f->z);

    expect(f, SUB(e, kink), -30.0, 30.0, CONTINUOUS, false);
    expect(f, ADD(e, kink), -30.0, 30.0, CONTINUOUS, true);
    expect(f, ADD(e, step), -30.0, 30.0, JUMPS, false);
    expect(f, SUB(SQUARE(f->z), MUL(C(1e-3), kink)), -1e13, 1e13, CONTINUOUS, false);
    expect(f, SUB(e, MUL(C(1e-9), CALL(ABS, f->r))), -20.0, 20.0, CONTINUOUS, false);
}

static void test_a_jump_is_found_however_small(const formulas *f)
{
    expect(f, MUL(C(1e-300), CALL(SIGN, f->z)), -1.0, 1.0, JUMPS, false);
    expect(f, ADD(C(1.0), MUL(C(1e-9), CALL(SIGN, f->z))), -1.0, 1.0, JUMPS, false);
    expect(f, ADD(f->z, MUL(C(1e-11), CALL(SIGN, SUB(f->z, C(0.3))))), -1.0, 1.0, JUMPS, false);
    expect(f, IF(PAIR(LE, CALL(ABS, SUB(f->z, C(0.3))), C(1e-20)), C(1.0), C(0.0)), -1.0, 1.0, JUMPS, false);
    expect(f, IF(PAIR(LE, C(1.0), f->z), C(1.0), C(0.0)), -1.0, 1.0, JUMPS, false); /* at an end of the domain */
    expect(f, IF(PAIR(LE, f->z, C(-1.0)), C(1.0), C(0.0)), -1.0, 1.0, JUMPS, false);
    expect(f, ADD(SQUARE(f->z), MUL(C(1e-10), CALL(ABS, f->z))), -1.0, 1.0, CONTINUOUS, true);
    expect(f, SUB(SQUARE(f->z), MUL(C(1e-10), CALL(ABS, f->z))), -1.0, 1.0, CONTINUOUS, false);
}

/* 0^b is infinite, 1 or 0. */
static void test_powers_of_zero_jump_with_the_exponent(const formulas *f)
{
    expect(f, CALL(TANH, PAIR(POW, PAIR(MAX, f->z, C(0.0)), f->z)), -1.0, 1.0, JUMPS, false);
    expect(f, PAIR(POW, C(0.0), f->z), 0.0, 1.0, JUMPS, false);
    expect(f, PAIR(POW, C(0.0), CALL(ABS, f->z)), -1.0, 1.0, JUMPS, false);
}

static void test_pieces_that_fit_are_smooth(const formulas *f)
{
    pn_node u = SUB(C(1.0), SQUARE(f->z)), inside = PAIR(LE, CALL(ABS, f->z), C(1.0));

    expect(f, IF(inside, SUB(C(1.0), MUL(MUL(u, u), u)), C(1.0)), -4.0, 4.0, TWICE_SMOOTH, false);
    expect(f, IF(inside, SUB(C(1.0), SQUARE(u)), C(1.0)), -4.0, 4.0, SMOOTH, false);
    expect(f, MUL(f->z, CALL(ABS, f->z)), -1.0, 1.0, SMOOTH, false);
    expect(f, DIV(MUL(f->z, CALL(ABS, f->z)), C(1e-20)), -1.0, 1.0, SMOOTH, false);
    expect(f, SQUARE(PAIR(MAX, f->r, C(0.0))), -3.0, 3.0, SMOOTH, true);
    expect(f, POW(PAIR(MAX, SUB(f->z, C(0.1)), C(0.0)), 3.0), -3.0, 3.0, TWICE_SMOOTH, true);
    expect(f, POW(CALL(ABS, f->z), 1.5), -1.0, 1.0, SMOOTH, false);
}

/* z and y go into the expression through one product, which bends where its second derivative is 0. */
static void test_kinks_of_a_common_part_are_kinks(const formulas *f)
{
    expect(f, CALL(SIN, MUL(f->y, PAIR(MAX, f->z, C(-1.5)))), -3.0, 4.0, CONTINUOUS, false);
    expect(f, CALL(EXP, MUL(f->y, CALL(ABS, f->z))), -3.0, 4.0, CONTINUOUS, false); /* down where y < 0 */
    expect(f, CALL(COS, MUL(f->y, f->z)), -3.0, 4.0, TWICE_SMOOTH, false);
    expect(f, PAIR(MAX, C(0.0), MUL(f->y, f->z)), -3.0, 4.0, CONTINUOUS, true);
}

/* (z^a)^3 is not z^(3a rounded): over 1e300 the difference shows.  Exact: ln of the quotient is (3a - b) ln z. */
static void test_powers_far_out_are_not_rounded(const formulas *f)
{
    double a = 0.1, b = 0.3;
    pn_shape s = shape_between(f, DIV(POW(POW(f->z, a), 3.0), POW(f->z, b)), 1e300, 1e302);
    double least = fma(3.0, a, -b) * log(1e300), most = fma(3.0, a, -b) * log(1e302);

    CHECK(s.value.low <= 1.0 + 0.999 * least && s.value.high >= 1.0 + most);
}

int main(void)
{
    formulas f;

    if (!CHECK(formulas_open(&f, NULL) == PN_OK))
        return check_summary();
    test_a_jump_is_no_smaller_for_large_values_elsewhere(&f);
    test_a_jump_is_found_however_small(&f);
    test_powers_of_zero_jump_with_the_exponent(&f);
    test_pieces_that_fit_are_smooth(&f);
    test_kinks_of_a_common_part_are_kinks(&f);
    test_powers_far_out_are_not_rounded(&f);
    pn_graph_free(f.g);
    return check_summary();
}
