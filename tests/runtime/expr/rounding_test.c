/* rounding_test.c -- certified rounding of compiled expressions: what is computed stays within it, for the losses of
 * the table, for formulas that cancel and for random ones, by an evaluator in long double;
 * and it is of the size that it should be. */
#include "check.h"
#include "expr/program.h"
#include "expr/rounding.h"
#include "objective/losses/loss.h"
#include "runtime/expr/formulas.h"
#include "runtime/expr/sample.h"

static double uniform(double low, double high)
{
    return sample_uniform(low, high);
}

static sample work[4096];

/* The largest |computed - exact| seen, with what the evaluator itself may be off by taken off. */
static double worst_seen(const pn_graph *graph, pn_node root, pn_interval z, const double *labels, size_t count,
                         size_t points)
{
    pn_program *program = NULL;
    double worst = 0.0;

    CHECK(pn_program_new(&program, graph, &root, 1, NULL) == PN_OK && root < sizeof work / sizeof work[0]);
    for (size_t i = 0; i < points; i++) {
        double at[2] = { uniform(z.low, z.high), labels[i % count] }, got;
        const double *inputs[2] = { &at[0], &at[1] };
        sample exact = sample_at(graph, root, at, work);

        pn_program_run(program, 1, inputs, &(double *){ &got });
        if (!isnan(exact.value))
            worst = fmax(worst, (double)(fabsl((long double)got - exact.value) - exact.error));
    }
    pn_program_free(program);
    return worst;
}

static double certified(const pn_graph *graph, pn_node root, pn_interval z, const double *labels, size_t count,
                        double enough)
{
    pn_domain domains[2] = { { z, NULL, 0 }, { { 0.0, 0.0 }, labels, count } };
    double error = NAN;

    CHECK(pn_rounding_of(&error, graph, root, domains, enough, NULL, NULL) == PN_OK);
    return error;
}

static const double signs[] = { -1.0, 1.0 };

/* (z + big) - big */
static pn_node shifted(formulas *f, double big)
{
    return SUB(ADD(f->z, C(big)), C(big));
}

static void cancelling_formulas_are_found_out(void)
{
    const pn_interval range = { -4.0, 4.0 };
    formulas one, *f = &one;

    CHECK(formulas_open(f, NULL) == PN_OK);
    for (int k = 10; k <= 50; k += 10) {
        pn_node u = shifted(f, ldexp(1.0, k)), slope = pn_graph_derivative(f->g, SQUARE(SUB(u, f->y)), 0);
        double error = certified(f->g, slope, range, signs, 2, 0.0),
               seen = worst_seen(f->g, slope, range, signs, 2, 5000);

        CHECK(seen <= error);
        CHECK(seen > 0.0 && error < 8.0 * ldexp(1.0, k - 52)); /* two roundings of 2^k, by the slope 2 */
    }
    CHECK(certified(f->g, SUB(f->z, f->z), range, signs, 2, 0.0) < 1e-300);
    CHECK(certified(f->g, MUL(C(0.25), f->z), range, signs, 2, 0.0) < 1e-300);
    CHECK(isinf(certified(f->g, DIV(C(1.0), f->z), range, signs, 2, 0.0)));
    CHECK(isinf(certified(f->g, CALL(LOG, f->z), range, signs, 2, 0.0)));
    pn_graph_free(f->g);
}

/* The branch that counts is looked at alone, and a kink costs no more than its surroundings. */
static void kinks_cost_little(void)
{
    formulas one, *f = &one;
    pn_node huber, guarded;

    CHECK(formulas_open(f, NULL) == PN_OK);
    huber =
        IF(PAIR(LE, CALL(ABS, f->r), C(0.3)), MUL(C(0.5), SQUARE(f->r)), MUL(C(0.3), SUB(CALL(ABS, f->r), C(0.15))));
    huber = pn_graph_derivative(f->g, huber, 0);
    CHECK(certified(f->g, huber, (pn_interval){ -5.0, 5.0 }, signs, 2, 0x1p-48) <= 0x1p-48);
    CHECK(certified(f->g, huber, (pn_interval){ -0x1p200, 0x1p200 }, signs, 2, 0x1p-48) <= 0x1p-48);
    guarded = IF(PAIR(LT, C(1.0), f->z), DIV(C(1.0), f->z), C(0.0));
    CHECK(certified(f->g, guarded, (pn_interval){ -5.0, 5.0 }, signs, 2, 0x1p-50) <= 0x1p-50);
    /* a branch that rounding may turn, with a jump */
    guarded = IF(PAIR(LT, shifted(f, 0x1p20), C(1.0 / 3.0)), C(1.0), C(0.0));
    CHECK(certified(f->g, guarded, (pn_interval){ -5.0, 5.0 }, signs, 2, 0x1p-50) >= 1.0);
    pn_graph_free(f->g);
}

/* The 2^-46 of the bound on slopes that is claimed of losses of the table. */
static void the_table_keeps_its_claim(void)
{
    static const char *const names[] = { "logistic", "squared", "smooth_hinge", "huber", "sigmoid", "cauchy" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const pn_interval range = { -40.0, 40.0 };
        pn_loss_bounds bounds;
        pn_loss *loss = NULL;
        pn_arg args[4] = { 0 };
        double error = NAN;

        CHECK(pn_loss_from_args(&loss, names[i], args, NULL) == PN_OK);
        CHECK(pn_loss_certify(loss, range, (pn_interval){ -1.0, 1.0 }, &bounds, NULL) == PN_OK);
        CHECK(pn_loss_rounding(loss, range, (pn_interval){ -1.0, 1.0 }, 0x1p-46 * bounds.slope_norm[PN_L2], &error,
                               NULL) == PN_OK);
        if (!CHECK(error <= 0x1p-46 * bounds.slope_norm[PN_L2]))
            (void)fprintf(stderr, "%s: %g of %g\n", names[i], error, bounds.slope_norm[PN_L2]);
        pn_loss_free(loss);
    }
}

/* A formula of random operations over z and y, no deeper than `depth`. */
static pn_node random_formula(formulas *f, int depth)
{
    static const pn_opcode unary[] = { PN_X_NEG, PN_X_ABS,      PN_X_EXP, PN_X_TANH, PN_X_SIGMOID,
                                       PN_X_SIN, PN_X_SOFTPLUS, PN_X_ERF, PN_X_COS,  PN_X_EXPM1 };
    static const pn_opcode binary[] = { PN_X_ADD, PN_X_SUB, PN_X_MUL, PN_X_DIV, PN_X_MIN, PN_X_MAX };
    unsigned choice = (unsigned)(sample_bits() % 10);

    if (depth == 0)
        return choice < 6 ? f->z : choice < 8 ? f->y : C(uniform(-3.0, 3.0));
    if (choice < 4)
        return pn_x_unary(f->g, unary[sample_bits() % 10], random_formula(f, depth - 1));
    if (choice < 9) {
        pn_node a = random_formula(f, depth - 1), b = random_formula(f, depth - 1);

        return pn_x_binary(f->g, binary[sample_bits() % 6], a, b);
    }
    return IF(PAIR(LT, random_formula(f, depth - 1), random_formula(f, depth - 1)), random_formula(f, depth - 1),
              random_formula(f, depth - 1));
}

static void nothing_computed_is_beyond_it(void)
{
    size_t bounded = 0;

    for (int i = 0; i < 400; i++) {
        const pn_interval range = { uniform(-3.0, 0.0), uniform(0.0, 3.0) };
        formulas one, *f = &one;
        pn_node root;
        double error;

        CHECK(formulas_open(f, NULL) == PN_OK);
        root = random_formula(f, 1 + i % 4);
        error = certified(f->g, root, range, signs, 2, 1e-13);
        bounded += error < 1e-6;
        CHECK(worst_seen(f->g, root, range, signs, 2, 200) <= error);
        pn_graph_free(f->g);
    }
    CHECK(bounded > 150);
}

int main(void)
{
    sample_state = 5;
    cancelling_formulas_are_found_out();
    kinks_cost_little();
    the_table_keeps_its_claim();
    nothing_computed_is_beyond_it();
    return check_summary();
}
