/* simplify_test.c -- each rule of graph.h, its neighbours that must stay, and that no value changes. */
#include <stdlib.h>

#include "runtime/expr/random_expr.h"

#include "runtime/expr/graph_helpers.h"

#define EXPRESSIONS (10000 / RX_SHARE)

/* ---- simplification ---- */

static void neutral_elements_vanish(void)
{
    begin();
    CHECK(two(PN_X_ADD, x, num(0)) == x && two(PN_X_ADD, num(0), x) == x && two(PN_X_SUB, x, num(0)) == x);
    CHECK(two(PN_X_MUL, x, num(1)) == x && two(PN_X_MUL, num(1), x) == x && two(PN_X_DIV, x, num(1)) == x);
    CHECK(two(PN_X_POW, x, num(1)) == x && pn_x_is(g, two(PN_X_POW, x, num(0)), 1.0));
    CHECK(is_term(two(PN_X_SUB, x, x), PN_X_SUB, x, x)); /* inf - inf is not 0 */
    CHECK(is_term(two(PN_X_MUL, x, num(0)), PN_X_MUL, num(0), x));
    CHECK(is_term(two(PN_X_DIV, x, x), PN_X_DIV, x, x));
    end();
}

static void doubles_and_halves_are_factors(void)
{
    begin();
    CHECK(is_term(two(PN_X_ADD, x, x), PN_X_MUL, num(2), x));
    CHECK(is_term(two(PN_X_DIV, x, num(4)), PN_X_MUL, num(0.25), x));
    CHECK(is_term(two(PN_X_DIV, x, num(-0.5)), PN_X_MUL, num(-2), x));
    CHECK(op_of(two(PN_X_DIV, x, num(3))) == PN_X_DIV);
    CHECK(op_of(two(PN_X_DIV, x, num(0))) == PN_X_DIV);
    CHECK(op_of(two(PN_X_DIV, x, num(0x1p-1024))) == PN_X_DIV); /* its inverse is no double */
    CHECK(op_of(two(PN_X_DIV, x, num(INFINITY))) == PN_X_DIV);
    end();
}

static void signs_move_outward(void)
{
    pn_node xy, ratio, diff;

    begin();
    xy = two(PN_X_MUL, x, y);
    ratio = two(PN_X_DIV, x, y);
    diff = two(PN_X_SUB, x, y);
    CHECK(neg(neg(x)) == x);
    CHECK(two(PN_X_MUL, x, num(-1)) == neg(x) && two(PN_X_MUL, num(-1), x) == neg(x));
    CHECK(two(PN_X_DIV, x, num(-1)) == neg(x) && two(PN_X_SUB, num(0), x) == neg(x));
    CHECK(neg(diff) == two(PN_X_SUB, y, x));
    CHECK(two(PN_X_MUL, neg(x), neg(y)) == xy);
    CHECK(two(PN_X_MUL, neg(x), y) == neg(xy) && two(PN_X_MUL, x, neg(y)) == neg(xy));
    CHECK(two(PN_X_DIV, neg(x), neg(y)) == ratio);
    CHECK(two(PN_X_DIV, neg(x), y) == neg(ratio) && two(PN_X_DIV, x, neg(y)) == neg(ratio));
    CHECK(two(PN_X_ADD, x, neg(y)) == diff && two(PN_X_ADD, neg(y), x) == diff);
    CHECK(two(PN_X_SUB, x, neg(y)) == two(PN_X_ADD, x, y));
    CHECK(neg(two(PN_X_MUL, num(3), x)) == two(PN_X_MUL, num(-3), x));
    CHECK(neg(two(PN_X_DIV, num(3), x)) == two(PN_X_DIV, num(-3), x));
    CHECK(two(PN_X_ADD, x, num(-3)) == two(PN_X_SUB, x, num(3)));
    CHECK(two(PN_X_ADD, num(-3), x) == two(PN_X_SUB, x, num(3)));
    CHECK(two(PN_X_SUB, x, num(-3)) == two(PN_X_ADD, x, num(3)));
    CHECK(is_term(two(PN_X_SUB, x, num(3)), PN_X_SUB, x, num(3)));
    CHECK(one(PN_X_ABS, neg(x)) == one(PN_X_ABS, x) && one(PN_X_ABS, one(PN_X_ABS, x)) == one(PN_X_ABS, x));
    end();
}

static void equal_choices_are_no_choice(void)
{
    pn_node c;

    begin();
    c = two(PN_X_LT, x, y);
    CHECK(two(PN_X_MIN, z, z) == z && two(PN_X_MAX, z, z) == z && pn_x_where(g, c, z, z) == z);
    CHECK(pn_x_where(g, num(1), x, y) == x && pn_x_where(g, num(-0.5), x, y) == x && pn_x_where(g, num(0), x, y) == y);
    CHECK(op_of(pn_x_where(g, c, x, y)) == PN_X_WHERE);
    CHECK(is_term(two(PN_X_LT, x, x), PN_X_LT, x, x)); /* NaN < NaN and x < x are decided where the value is known */
    end();
}

static void powers_with_a_correctly_rounded_form_use_it(void)
{
    begin();
    CHECK(is_term(two(PN_X_POW, x, num(2)), PN_X_MUL, x, x));
    CHECK(is_term(two(PN_X_POW, x, num(-1)), PN_X_DIV, num(1), x));
    CHECK(is_term(two(PN_X_POW, x, num(0.5)), PN_X_SQRT, x, PN_NODE_NONE));
    CHECK(is_term(two(PN_X_POW, x, num(3)), PN_X_POW, x, num(3)));
    CHECK(is_term(two(PN_X_POW, x, num(-2)), PN_X_POW, x, num(-2)));
    end();
}

static void factors_merge_only_when_that_saves_a_rounding(void)
{
    pn_node tenth;

    begin();
    tenth = two(PN_X_MUL, num(0.1), x);
    CHECK(is_term(two(PN_X_MUL, num(3), two(PN_X_MUL, num(0.5), x)), PN_X_MUL, num(1.5), x));
    CHECK(is_term(two(PN_X_MUL, two(PN_X_MUL, x, num(0.5)), num(3)), PN_X_MUL, num(1.5), x));
    CHECK(is_term(two(PN_X_MUL, num(0.1), tenth), PN_X_MUL, num(0.1), tenth)); /* 0.1 * 0.1 would be rounded */
    CHECK(is_term(two(PN_X_MUL, num(0), tenth), PN_X_MUL, num(0), tenth));
    CHECK(is_term(two(PN_X_MUL, x, two(PN_X_DIV, num(1), y)), PN_X_DIV, x, y));
    CHECK(is_term(two(PN_X_MUL, two(PN_X_DIV, num(1), y), x), PN_X_DIV, x, y));
    CHECK(op_of(two(PN_X_MUL, x, two(PN_X_DIV, num(2), y))) == PN_X_MUL);
    end();
}

static void formulas_that_overflow_become_the_functions_that_do_not(void)
{
    pn_node e, minus_e, soft, sig;

    begin();
    e = one(PN_X_EXP, x);
    minus_e = one(PN_X_EXP, neg(x));
    soft = one(PN_X_SOFTPLUS, x);
    sig = one(PN_X_SIGMOID, x);
    CHECK(is_term(soft, PN_X_SOFTPLUS, x, PN_NODE_NONE) && is_term(sig, PN_X_SIGMOID, x, PN_NODE_NONE));
    CHECK(one(PN_X_LOG, two(PN_X_ADD, num(1), e)) == soft && one(PN_X_LOG, two(PN_X_ADD, e, num(1))) == soft);
    CHECK(one(PN_X_LOG1P, e) == soft);
    CHECK(two(PN_X_DIV, num(1), two(PN_X_ADD, num(1), minus_e)) == sig);
    CHECK(two(PN_X_DIV, num(1), two(PN_X_ADD, num(1), e)) == one(PN_X_SIGMOID, neg(x)));
    CHECK(two(PN_X_DIV, e, two(PN_X_ADD, num(1), e)) == sig);
    CHECK(two(PN_X_DIV, minus_e, two(PN_X_ADD, num(1), minus_e)) == one(PN_X_SIGMOID, neg(x)));
    /* and their neighbours do not */
    CHECK(op_of(one(PN_X_LOG, two(PN_X_ADD, num(2), e))) == PN_X_LOG);
    CHECK(op_of(one(PN_X_LOG, two(PN_X_ADD, num(1), x))) == PN_X_LOG);
    CHECK(op_of(two(PN_X_DIV, num(2), two(PN_X_ADD, num(1), e))) == PN_X_DIV);
    CHECK(op_of(two(PN_X_DIV, e, two(PN_X_ADD, num(1), minus_e))) == PN_X_DIV);
    end();
}

/* ---- constants ---- */

static void constants_fold_when_the_result_is_exact(void)
{
    begin();
    CHECK(pn_x_is(g, two(PN_X_ADD, num(0.5), num(0.25)), 0.75) && pn_x_is(g, two(PN_X_SUB, num(3), num(7)), -4));
    CHECK(pn_x_is(g, two(PN_X_MUL, num(3), num(0.375)), 1.125) && pn_x_is(g, two(PN_X_DIV, num(3), num(8)), 0.375));
    CHECK(pn_x_is(g, two(PN_X_MUL, num(0), num(5)), 0) && pn_x_is(g, two(PN_X_DIV, num(0), num(5)), 0));
    CHECK(pn_x_is(g, one(PN_X_SQRT, num(2.25)), 1.5) && pn_x_is(g, one(PN_X_SQRT, num(0)), 0));
    CHECK(pn_x_is(g, neg(num(2)), -2) && pn_x_is(g, one(PN_X_ABS, num(-2)), 2));
    CHECK(pn_x_is(g, one(PN_X_SIGN, num(-2)), -1) && pn_x_is(g, one(PN_X_SIGN, num(0)), 0));
    CHECK(pn_x_is(g, one(PN_X_SIGN, num(2)), 1));
    CHECK(pn_x_is(g, one(PN_X_EXP, num(0)), 1) && pn_x_is(g, one(PN_X_COS, num(0)), 1));
    CHECK(pn_x_is(g, one(PN_X_LOG, num(1)), 0) && pn_x_is(g, one(PN_X_LOG1P, num(0)), 0));
    CHECK(pn_x_is(g, one(PN_X_EXPM1, num(0)), 0) && pn_x_is(g, one(PN_X_TANH, num(0)), 0));
    CHECK(pn_x_is(g, one(PN_X_ERF, num(0)), 0) && pn_x_is(g, one(PN_X_SIN, num(0)), 0));
    CHECK(pn_x_is(g, one(PN_X_SIGMOID, num(0)), 0.5));
    CHECK(pn_x_is(g, two(PN_X_MIN, num(2), num(3)), 2) && pn_x_is(g, two(PN_X_MAX, num(2), num(3)), 3));
    CHECK(pn_x_is(g, two(PN_X_LT, num(2), num(2)), 0) && pn_x_is(g, two(PN_X_LE, num(2), num(2)), 1));
    CHECK(pn_x_is(g, two(PN_X_LT, num(2), num(3)), 1) && pn_x_is(g, two(PN_X_LE, num(3), num(2)), 0));
    end();
}

static void constants_stay_when_the_result_would_round(void)
{
    static const double odd = 1.0 + 0x1p-30;

    begin();
    CHECK(op_of(two(PN_X_ADD, num(0.1), num(0.2))) == PN_X_ADD);
    CHECK(op_of(two(PN_X_SUB, num(1), num(0x1p-60))) == PN_X_SUB);
    CHECK(op_of(two(PN_X_MUL, num(odd), num(odd))) == PN_X_MUL);
    CHECK(op_of(two(PN_X_DIV, num(1), num(3))) == PN_X_DIV);
    CHECK(op_of(two(PN_X_DIV, num(1), num(0))) == PN_X_DIV);
    CHECK(op_of(two(PN_X_MUL, num(1e308), num(10))) == PN_X_MUL);      /* overflow */
    CHECK(op_of(two(PN_X_MUL, num(0x1p-1074), num(0.5))) == PN_X_MUL); /* underflow */
    CHECK(op_of(one(PN_X_SQRT, num(2))) == PN_X_SQRT);
    CHECK(op_of(one(PN_X_SQRT, num(-4))) == PN_X_SQRT);
    CHECK(op_of(one(PN_X_EXP, num(1))) == PN_X_EXP);
    CHECK(op_of(one(PN_X_LOG, num(0))) == PN_X_LOG);
    CHECK(op_of(one(PN_X_SOFTPLUS, num(0))) == PN_X_SOFTPLUS);
    CHECK(op_of(two(PN_X_MIN, num((double)NAN), num(1))) == PN_X_MIN);
    CHECK(op_of(two(PN_X_MAX, num(1), num((double)NAN))) == PN_X_MAX);
    end();
}

/* Whether m 2^e, m a whole number of at most 62 bits, is a double (far from the ends of the range). */
static bool fits_double(int64_t m)
{
    uint64_t odd = m < 0 ? (uint64_t)-m : (uint64_t)m;

    while (odd && odd % 2 == 0)
        odd /= 2;
    return odd < UINT64_C(1) << 53;
}

/* Whole numbers are exact in 64 bits: sums and products of such with up to 31 bits, scaled by powers of two. */
static void folding_is_exact_arithmetic_for_random_numbers(void)
{
    uint64_t state = 7;
    long folded = 0, kept = 0;

    begin();
    for (int i = 0; i < 4000; i++) {
        int64_t a = (int64_t)(rx_bits(&state) >> (33 + rx_below(&state, 12))) + 1;
        int64_t b = (int64_t)(rx_bits(&state) >> (33 + rx_below(&state, 12))) + 1;
        int shift = (int)rx_below(&state, 30);
        double p = ldexp((double)a, shift), q = -(double)b;
        pn_node sum = two(PN_X_ADD, num(p), num(q)), product = two(PN_X_MUL, num(p), num(q));
        pn_node quotient = two(PN_X_DIV, num(p), num(q));
        int64_t odd = b;

        while (odd % 2 == 0)
            odd /= 2;
        CHECK(pn_x_is(g, sum, p + q) == fits_double((a << shift) - b));
        CHECK(pn_x_is(g, product, p * q) == fits_double(a * b));
        CHECK(pn_x_is(g, quotient, p / q) == (a % odd == 0));
        folded += pn_x_is(g, product, p * q);
        kept += !pn_x_is(g, product, p * q);
        if (pn_graph_size(g) > 40000) {
            end();
            begin();
        }
    }
    CHECK(folded > 500 && kept > 300);
    end();
}

/* ---- what simplification does to values ---- */

/* A value with a bound on its rounding error, so that the comparison knows what the expression does to errors. */
typedef struct estimate {
    long double value, error;
} estimate;

static long double sensitivity(pn_opcode op, unsigned operand, estimate a, estimate b, long double value)
{
    switch (op) {
    case PN_X_SQRT:
        return 0.5L / value;
    case PN_X_EXP:
    case PN_X_EXPM1:
        return expl(a.value);
    case PN_X_LOG:
        return 1 / a.value;
    case PN_X_LOG1P:
        return 1 / (1 + a.value);
    case PN_X_MUL:
        return operand ? a.value : b.value;
    case PN_X_DIV:
        return operand ? value / b.value : 1 / b.value;
    case PN_X_POW:
        return operand ? value * logl(fabsl(a.value)) : value * b.value / a.value;
    case PN_X_ERF:
        return 1.13L;
    default: /* no other continuous function is steeper */
        return 1;
    }
}

/* The value of a tree and its error; false when a switch is so near that rounding may turn it, or nothing is known. */
static bool estimate_tree(const rx_tree *tree, const long double *at, estimate *out)
{
    long double values[RX_NODES];
    estimate known[RX_NODES];

    (void)rx_value(tree, at, values);
    for (int i = 0; i < tree->count; i++) {
        const rx_node *node = &tree->nodes[i];
        estimate a = known[node->a], b = known[node->b];
        unsigned operands = pn_opcode_operands(node->op);
        bool compares = node->op == PN_X_LT || node->op == PN_X_LE;

        known[i].value = values[i];
        known[i].error = 0;
        if (operands > 0) {
            if ((compares && a.error + b.error > 0 && fabsl(a.value - b.value) <= a.error + b.error) ||
                (node->op == PN_X_SIGN && a.error > 0 && fabsl(a.value) <= a.error))
                return false;
            known[i].error = 8 * LDBL_EPSILON * fabsl(values[i]);
        }
        if (node->op == PN_X_WHERE) {
            known[i] = a.value != 0 ? b : known[node->c];
        } else if (!compares && node->op != PN_X_SIGN) {
            if (operands > 0 && a.error > 0)
                known[i].error += 2 * a.error * fabsl(sensitivity(node->op, 0, a, b, values[i]));
            if (operands > 1 && b.error > 0)
                known[i].error += 2 * b.error * fabsl(sensitivity(node->op, 1, a, b, values[i]));
        }
    }
    *out = known[tree->count - 1];
    return isfinite(out->value) && out->error <= 1e-9L * (fabsl(out->value) + 1);
}

/* 10,000 expressions; at least 9 in 10 have a finite value with a useful error estimate. */
static void simplification_keeps_the_value_of_random_expressions(void)
{
    long compared = 0, simplified = 0;

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++) {
        long double at[RX_VARIABLES], *values, got;
        uint64_t state = seed;
        estimate want;
        pn_node root;
        rx_tree tree;

        rx_random(&tree, seed);
        for (int v = 0; v < RX_VARIABLES; v++)
            at[v] = rx_between(&state, -3, 3);
        if (!estimate_tree(&tree, at, &want))
            continue;
        begin();
        root = rx_build(&tree, g);
        values = malloc((root + 1) * sizeof *values);
        got = rx_graph_value(g, root, at, values);
        free(values);
        if (!CHECK(fabsl(got - want.value) <= want.error))
            (void)fprintf(stderr, "    seed %d: got %.20Lg, want %.20Lg within %Lg\n", (int)seed, got, want.value,
                          want.error);
        compared++;
        simplified += got != want.value;
        end();
    }
    (void)printf("simplification: %ld of %d values compared, %ld differ in the last bits\n", compared, EXPRESSIONS,
                 simplified);
    CHECK(compared >= EXPRESSIONS * 9L / 10);
    CHECK(simplified >= EXPRESSIONS / 200); /* rules were at work */
}

static void what_is_simplified_cannot_be_simplified_again(void)
{
    const pn_node none[3] = { PN_NODE_NONE, PN_NODE_NONE, PN_NODE_NONE };
    rx_tree tree;

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++) {
        pn_node root;

        begin();
        rx_random(&tree, seed);
        root = rx_build(&tree, g);
        if (!CHECK(pn_graph_substitute(g, root, none) == root))
            (void)fprintf(stderr, "    seed %d\n", (int)seed);
        end();
    }
}

int main(void)
{
    neutral_elements_vanish();
    doubles_and_halves_are_factors();
    signs_move_outward();
    equal_choices_are_no_choice();
    powers_with_a_correctly_rounded_form_use_it();
    factors_merge_only_when_that_saves_a_rounding();
    formulas_that_overflow_become_the_functions_that_do_not();
    constants_fold_when_the_result_is_exact();
    constants_stay_when_the_result_would_round();
    folding_is_exact_arithmetic_for_random_numbers();
    simplification_keeps_the_value_of_random_expressions();
    what_is_simplified_cannot_be_simplified_again();
    return check_summary();
}
