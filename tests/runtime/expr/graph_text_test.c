/* graph_text_test.c -- expressions as text, and back through a reader of what Lua would read. */
#include <stdlib.h>

#include "runtime/expr/random_expr.h"

#include "runtime/expr/graph_helpers.h"

#define EXPRESSIONS (10000 / RX_SHARE)

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
    text_has_the_usual_precedence();
    numbers_read_back_the_same();
    text_that_does_not_fit_ends_in_dots();
    text_of_a_shared_expression_ends_soon();
    text_reads_back_as_the_same_expression();
    return check_summary();
}
