/* graph_test.c -- building, sharing, simplifying, substituting and writing expressions. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "random_expr.h"

#include "check.h"
#include "expr/graph.h"
#include "fail_alloc.h"

#define EXPRESSIONS (10000 / RX_SHARE)

static pn_graph *g; /* of the test that runs */
static pn_node x, y, z;

static void begin(void)
{
    static const char *const names[] = { "x", "y", "z" };

    CHECK(pn_graph_new(&g, names, 3, NULL) == PN_OK);
    x = pn_x_var(g, 0);
    y = pn_x_var(g, 1);
    z = pn_x_var(g, 2);
}

static void end(void)
{
    pn_graph_free(g);
    g = NULL;
}

static pn_node num(double value)
{
    return pn_x_const(g, value);
}

static pn_node one(pn_opcode op, pn_node a)
{
    return pn_x_unary(g, op, a);
}

static pn_node two(pn_opcode op, pn_node a, pn_node b)
{
    return pn_x_binary(g, op, a, b);
}

static pn_node neg(pn_node a)
{
    return one(PN_X_NEG, a);
}

static bool is_term(pn_node node, pn_opcode op, pn_node a, pn_node b)
{
    const pn_term *term = pn_graph_term(g, node);

    return term->op == op && term->a == a && term->b == b;
}

static pn_opcode op_of(pn_node node)
{
    return pn_graph_term(g, node)->op;
}

static bool text_is(pn_node node, const char *want)
{
    char text[400];

    pn_graph_text(g, node, text, sizeof text);
    if (strcmp(text, want) == 0)
        return true;
    (void)fprintf(stderr, "    got  %s\n    want %s\n", text, want);
    return false;
}

/* ---- sharing ---- */

static void equal_expressions_are_one_node(void)
{
    pn_node first, second;
    size_t size;

    begin();
    first = two(PN_X_MUL, one(PN_X_EXP, two(PN_X_ADD, x, y)), num(2.5));
    size = pn_graph_size(g);
    second = two(PN_X_MUL, num(2.5), one(PN_X_EXP, two(PN_X_ADD, y, x)));
    CHECK(first == second);
    CHECK(pn_graph_size(g) == size);
    CHECK(two(PN_X_SUB, x, y) != two(PN_X_SUB, y, x));
    CHECK(two(PN_X_MIN, x, y) != two(PN_X_MIN, y, x)); /* a tie takes the first operand's derivative */
    CHECK(num(0.0) == num(-0.0));
    CHECK(num((double)NAN) == num((double)NAN));
    CHECK(num(0.1) != num(0.1 + 0x1p-56));
    CHECK(pn_x_var(g, 1) == y && y != x);
    end();
}

/* Growth moves terms and slots: everything made before must still be found. */
static void sharing_survives_growth(void)
{
    pn_node *made = malloc(20000 * sizeof *made);

    begin();
    for (int i = 0; i < 20000; i++)
        made[i] = two(PN_X_POW, x, num(i + 3));
    for (int i = 0; i < 20000; i++) {
        if (two(PN_X_POW, x, num(i + 3)) != made[i]) {
            CHECK(!"found again");
            break;
        }
    }
    CHECK(pn_graph_size(g) == 40003);
    end();

    begin(); /* the third operand alone tells these apart */
    for (int i = 0; i < 20000; i++)
        made[i] = pn_x_where(g, x, y, num(i));
    for (int i = 0; i < 20000; i++) {
        if (!CHECK(pn_graph_term(g, made[i])->c == num(i)))
            break;
    }
    end();
    free(made);
}

static void operands_come_before_what_uses_them(void)
{
    rx_tree tree;
    bool ordered = true;

    begin();
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rx_random(&tree, seed);
        (void)rx_build(&tree, g);
    }
    for (pn_node i = 0; i < pn_graph_size(g); i++) {
        const pn_term *t = pn_graph_term(g, i);
        unsigned operands = pn_opcode_operands(t->op);

        ordered = ordered && (operands < 1 || t->a < i) && (operands < 2 || t->b < i) && (operands < 3 || t->c < i);
    }
    CHECK(ordered && pn_graph_size(g) > 1000);
    end();
}

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

/* ---- questions and substitution ---- */

static void an_expression_knows_what_it_is_made_of(void)
{
    pn_node f, other;
    bool used[64];

    begin();
    other = one(PN_X_EXP, y);
    f = pn_x_where(g, two(PN_X_LT, x, num(2)), one(PN_X_SIN, x), z);
    pn_graph_used(g, f, used);
    CHECK(used[x] && used[z] && used[f] && used[num(2)] && used[pn_graph_term(g, f)->a]);
    CHECK(!used[y] && !used[other]);
    CHECK(pn_graph_depends(g, f, 0) && !pn_graph_depends(g, f, 1) && pn_graph_depends(g, f, 2));
    CHECK(pn_x_is(g, num(2), 2) && !pn_x_is(g, num(2), 3) && !pn_x_is(g, x, 0) && !pn_x_is(g, PN_NODE_NONE, 0));
    CHECK(pn_x_is(g, num(0), -0.0));
    CHECK(pn_graph_variables(g) == 3 && strcmp(pn_graph_variable_name(g, 1), "y") == 0);
    end();
}

static void substitution_replaces_variables_and_simplifies(void)
{
    pn_node by[3] = { PN_NODE_NONE, PN_NODE_NONE, PN_NODE_NONE }, f;

    begin();
    f = two(PN_X_ADD, two(PN_X_MUL, x, y), pn_x_where(g, two(PN_X_LE, x, z), y, one(PN_X_EXP, x)));
    by[0] = num(1);
    CHECK(text_is(pn_graph_substitute(g, f, by), "y + where(le(1, z), y, exp(1))"));
    by[0] = y;
    by[1] = x; /* at once, not one after the other */
    CHECK(text_is(pn_graph_substitute(g, f, by), "x*y + where(le(y, z), x, exp(y))"));
    by[2] = y;
    CHECK(pn_graph_substitute(g, num(3), by) == num(3));
    CHECK(pn_graph_substitute(g, PN_NODE_NONE, by) == PN_NODE_NONE);
    end();
}

static void a_graph_lives_until_its_last_reference(void)
{
    pn_graph *kept;

    begin();
    kept = pn_graph_keep(g);
    pn_graph_free(g);
    CHECK(pn_graph_size(kept) == 3 && two(PN_X_ADD, x, y) == 3);
    end();
    pn_graph_free(NULL);
}

static void a_graph_has_at_most_sixteen_variables_with_short_names(void)
{
    static const char *const names[17] = {
        "a_name_that_is_too_long", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q"
    };
    pn_graph *graph = NULL;
    pn_err err;

    CHECK(pn_graph_new(&graph, names, 17, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "expression: at most 16 variables, got 17") == 0);
    CHECK(pn_graph_new(&graph, names, 16, NULL) == PN_OK);
    CHECK(strcmp(pn_graph_variable_name(graph, 0), "a_name_that_is_") == 0);
    pn_graph_free(graph);
}

/* ---- limits ---- */

static void a_graph_refuses_to_grow_without_end(void)
{
    pn_node node;
    pn_err err;

    begin();
    node = x;
    while (node != PN_NODE_NONE && pn_graph_size(g) < PN_GRAPH_MAX)
        node = one(PN_X_SIN, node);
    CHECK(node == PN_GRAPH_MAX - 1 && pn_graph_status(g, NULL) == PN_OK);
    CHECK(one(PN_X_SIN, x) == 3); /* what is there is still found */
    CHECK(one(PN_X_SIN, node) == PN_NODE_NONE);
    CHECK(pn_graph_status(g, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "more than 50000 operations") != NULL);
    CHECK(one(PN_X_SIN, x) == PN_NODE_NONE && num(1) == PN_NODE_NONE && pn_x_var(g, 0) == PN_NODE_NONE);
    CHECK(pn_graph_derivative(g, x, 0) == PN_NODE_NONE);
    CHECK(pn_graph_size(g) == PN_GRAPH_MAX);
    end();
}

static void nothing_is_made_from_a_missing_operand(void)
{
    begin();
    for (int op = PN_X_NEG; op < PN_X_ADD; op++)
        CHECK(one((pn_opcode)op, PN_NODE_NONE) == PN_NODE_NONE);
    for (int op = PN_X_ADD; op < PN_X_WHERE; op++) {
        CHECK(two((pn_opcode)op, x, PN_NODE_NONE) == PN_NODE_NONE);
        CHECK(two((pn_opcode)op, PN_NODE_NONE, x) == PN_NODE_NONE);
    }
    CHECK(pn_x_where(g, PN_NODE_NONE, x, y) == PN_NODE_NONE && pn_x_where(g, x, PN_NODE_NONE, y) == PN_NODE_NONE);
    CHECK(pn_x_where(g, num(1), x, PN_NODE_NONE) == PN_NODE_NONE);
    CHECK(pn_graph_size(g) == 4 && pn_graph_status(g, NULL) == PN_OK);
    end();
}

/* Chains as deep as a graph may be, on a stack on which one call a level could not live. */
static void *deep_chains(void *unused)
{
    const pn_node by[3] = { 1, PN_NODE_NONE, PN_NODE_NONE };
    pn_node chain, factors, d;
    char text[200];

    begin();
    chain = x;
    for (int i = 0; i < 12000; i++)
        chain = one(PN_X_SIN, chain);
    d = pn_graph_derivative(g, chain, 0); /* 12,000 each of sin, cos and product */
    CHECK(d != PN_NODE_NONE && pn_graph_size(g) > 35000);
    CHECK(pn_graph_depends(g, d, 0) && !pn_graph_depends(g, d, 1));
    CHECK(pn_graph_substitute(g, chain, by) != PN_NODE_NONE);
    CHECK(pn_graph_derivative(g, d, 0) == PN_NODE_NONE && pn_graph_status(g, NULL) == PN_EUNSUPPORTED);
    pn_graph_text(g, chain, text, sizeof text);
    CHECK(strncmp(text, "sin(sin(sin(", 12) == 0 && strstr(text, "...") != NULL);
    end();

    begin();
    factors = x;
    for (int i = 0; i < 24000; i++) /* alternately, or the signs would meet */
        factors = i % 2 ? neg(one(PN_X_TANH, factors)) : two(PN_X_MUL, num(0.1), factors);
    CHECK(neg(factors) != PN_NODE_NONE && one(PN_X_ABS, factors) != PN_NODE_NONE);
    end();

    begin();
    factors = x;
    for (int i = 0; i < 49000; i++)
        factors = two(PN_X_MUL, num(0.1), factors);
    CHECK(is_term(two(PN_X_MUL, num(0), factors), PN_X_MUL, num(0), factors));
    CHECK(is_term(two(PN_X_MUL, num(4), factors), PN_X_MUL, num(0.4), pn_graph_term(g, factors)->b));
    end();
    return unused;
}

static void deep_expressions_need_no_deep_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
    if (CHECK(pthread_create(&thread, &attributes, deep_chains, NULL) == 0))
        (void)pthread_join(thread, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* ---- memory ---- */

static pn_status build_and_use(void *self, pn_err *err)
{
    static const char *const names[] = { "x", "y" };
    pn_node by[2] = { 1, 0 }, f;
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);
    char text[100];

    (void)self;
    if (status != PN_OK)
        return status;
    (void)pn_x_var(graph, 0);
    f = pn_x_var(graph, 1);
    for (int i = 0; i < 600; i++)
        f = pn_x_unary(graph, PN_X_SIN, pn_x_binary(graph, PN_X_MUL, f, pn_x_const(graph, i)));
    (void)pn_graph_substitute(graph, f, by);
    status = pn_graph_status(graph, err);
    if (status == PN_OK)
        pn_graph_text(graph, f, text, sizeof text);
    pn_graph_free(graph);
    return status;
}

/* ---- text ---- */

static void text_has_the_usual_precedence(void)
{
    pn_node sum, xy;

    begin();
    sum = two(PN_X_ADD, x, y);
    xy = two(PN_X_MUL, x, y);
    CHECK(text_is(one(PN_X_SOFTPLUS, neg(two(PN_X_MUL, y, z))), "softplus(-(y*z))"));
    CHECK(text_is(two(PN_X_MUL, sum, z), "z*(x + y)"));
    CHECK(text_is(two(PN_X_SUB, z, sum), "z - (x + y)") && text_is(two(PN_X_SUB, sum, z), "x + y - z"));
    CHECK(text_is(two(PN_X_DIV, xy, z), "x*y/z") && text_is(two(PN_X_DIV, z, xy), "z/(x*y)"));
    CHECK(text_is(two(PN_X_MUL, z, two(PN_X_DIV, x, y)), "z*(x/y)"));
    CHECK(text_is(two(PN_X_MUL, sum, sum), "(x + y)^2") && text_is(neg(two(PN_X_MUL, x, x)), "-x^2"));
    CHECK(text_is(two(PN_X_MUL, neg(x), x), "-x^2"));
    CHECK(text_is(two(PN_X_POW, neg(x), num(3)), "(-x)^3") && text_is(two(PN_X_POW, x, neg(y)), "x^(-y)"));
    CHECK(text_is(two(PN_X_POW, two(PN_X_POW, x, y), z), "(x^y)^z"));
    CHECK(text_is(two(PN_X_POW, x, two(PN_X_POW, y, z)), "x^y^z"));
    CHECK(text_is(two(PN_X_POW, x, num(-3)), "x^(-3)") && text_is(two(PN_X_POW, num(-3), x), "(-3)^x"));
    CHECK(text_is(two(PN_X_SUB, x, num(3)), "x - 3") && text_is(two(PN_X_DIV, x, num(-3)), "x/-3"));
    CHECK(text_is(pn_x_where(g, two(PN_X_LE, x, y), two(PN_X_MIN, x, z), one(PN_X_ABS, y)),
                  "where(le(x, y), min(x, z), abs(y))"));
    end();
}

static void numbers_read_back_the_same(void)
{
    begin();
    CHECK(text_is(num(0.1), "0.1") && text_is(num(1.0 / 3), "0.3333333333333333") && text_is(num(-2), "-2"));
    CHECK(text_is(num(1e300), "1e+300") && text_is(num(123456789), "123456789"));
    CHECK(text_is(num(9007199254740993.0), "9007199254740992.0")); /* Lua's whole numbers wrap */
    CHECK(text_is(num(INFINITY), "math.huge") && text_is(num(-INFINITY), "-math.huge"));
    CHECK(text_is(num((double)NAN), "(0/0)"));
    end();
}

static void text_that_does_not_fit_ends_in_dots(void)
{
    char text[16];

    begin();
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, '#', sizeof text);
        pn_graph_text(g, two(PN_X_ADD, one(PN_X_EXP, x), one(PN_X_SIGMOID, y)), text, size);
        CHECK(memchr(text, '\0', size) != NULL);
        CHECK(size < 4 || strstr(text, "...") != NULL);
        CHECK(size == sizeof text || text[size] == '#');
    }
    pn_graph_text(g, x, text, 0);
    end();
}

/* Sharing makes this text 2^40 letters long; the writer must not walk it all. */
static void text_of_a_shared_expression_ends_soon(void)
{
    char text[64];
    pn_node f;

    begin();
    f = x;
    for (int i = 0; i < 100; i++)
        f = two(PN_X_SUB, one(PN_X_SIN, f), one(PN_X_COS, f));
    pn_graph_text(g, f, text, sizeof text);
    CHECK(strstr(text, "...") != NULL);
    end();
}

/* A reader of Lua's expressions, as far as pn_graph_text writes them. */
static pn_node read_sum(const char **at);

static bool eat(const char **at, const char *token)
{
    size_t length = strlen(token);

    while (**at == ' ')
        (*at)++;
    if (strncmp(*at, token, length) != 0)
        return false;
    *at += length;
    return true;
}

static pn_node read_call(const char **at, pn_opcode op)
{
    pn_node operands[3] = { PN_NODE_NONE, PN_NODE_NONE, PN_NODE_NONE };
    unsigned count = pn_opcode_operands(op);

    for (unsigned i = 0; i < count; i++) {
        operands[i] = read_sum(at);
        if (!eat(at, i + 1 < count ? "," : ")"))
            return PN_NODE_NONE;
    }
    if (count == 3)
        return pn_x_where(g, operands[0], operands[1], operands[2]);
    return count == 2 ? two(op, operands[0], operands[1]) : one(op, operands[0]);
}

static pn_node read_atom(const char **at)
{
    char *end_of_number, name[24];
    double value;
    pn_node inside;

    if (eat(at, "(")) {
        inside = read_sum(at);
        return eat(at, ")") ? inside : PN_NODE_NONE;
    }
    for (int op = PN_X_ABS; op < PN_X_COUNT; op++) {
        (void)snprintf(name, sizeof name, "%s(", pn_opcode_name((pn_opcode)op));
        if (name[1] != '(' && eat(at, name))
            return read_call(at, (pn_opcode)op);
    }
    for (unsigned v = 0; v < 3; v++) {
        if (eat(at, pn_graph_variable_name(g, v)))
            return pn_x_var(g, v);
    }
    if (eat(at, "math.huge"))
        return num(INFINITY);
    value = strtod(*at, &end_of_number);
    if (end_of_number == *at)
        return PN_NODE_NONE;
    *at = end_of_number;
    return num(value);
}

static pn_node read_sign(const char **at);

static pn_node read_power(const char **at)
{
    pn_node base = read_atom(at);

    return eat(at, "^") ? two(PN_X_POW, base, read_sign(at)) : base;
}

static pn_node read_sign(const char **at)
{
    return eat(at, "-") ? neg(read_sign(at)) : read_power(at);
}

static pn_node read_product(const char **at)
{
    pn_node left = read_sign(at);

    for (;;) {
        if (eat(at, "*"))
            left = two(PN_X_MUL, left, read_sign(at));
        else if (eat(at, "/"))
            left = two(PN_X_DIV, left, read_sign(at));
        else
            return left;
    }
}

static pn_node read_sum(const char **at)
{
    pn_node left = read_product(at);

    for (;;) {
        if (eat(at, "+"))
            left = two(PN_X_ADD, left, read_product(at));
        else if (eat(at, "-"))
            left = two(PN_X_SUB, left, read_product(at));
        else
            return left;
    }
}

static void text_reads_back_as_the_same_expression(void)
{
    static char text[20000];
    long whole = 0;
    rx_tree tree;

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++) {
        const char *at = text;
        pn_node root;

        begin();
        rx_random(&tree, seed);
        root = rx_build(&tree, g);
        pn_graph_text(g, root, text, sizeof text);
        if (!strstr(text, "...")) {
            whole++;
            if (!CHECK(read_sum(&at) == root && *at == '\0'))
                (void)fprintf(stderr, "    seed %d: %s\n", (int)seed, text);
        }
        end();
    }
    CHECK(whole >= EXPRESSIONS * 99L / 100);
}

int main(void)
{
    equal_expressions_are_one_node();
    sharing_survives_growth();
    operands_come_before_what_uses_them();
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
    an_expression_knows_what_it_is_made_of();
    substitution_replaces_variables_and_simplifies();
    a_graph_lives_until_its_last_reference();
    a_graph_has_at_most_sixteen_variables_with_short_names();
    a_graph_refuses_to_grow_without_end();
    nothing_is_made_from_a_missing_operand();
    deep_expressions_need_no_deep_stack();
    CHECK(fail_alloc_sweep("graph", build_and_use, NULL) > 8);
    text_has_the_usual_precedence();
    numbers_read_back_the_same();
    text_that_does_not_fit_ends_in_dots();
    text_of_a_shared_expression_ends_soon();
    text_reads_back_as_the_same_expression();
    return check_summary();
}
