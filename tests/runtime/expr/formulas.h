/* formulas.h -- one graph over z and y, and short names to write formulas with.  Depends on: check.h, expr/graph.h.
 * Used by: tests and benchmarks of bounds. */
#ifndef PN_TESTS_FORMULAS_H
#define PN_TESTS_FORMULAS_H

#include <math.h>

#include "expr/graph.h"

typedef struct formulas {
    pn_graph *g;
    pn_node z, y, r; /* r = z - y */
} formulas;

static inline pn_status formulas_open(formulas *f, pn_err *err)
{
    static const char *const names[] = { "z", "y" };
    pn_status status = pn_graph_new(&f->g, names, 2, err);

    if (status != PN_OK)
        return status;
    f->z = pn_x_var(f->g, 0);
    f->y = pn_x_var(f->g, 1);
    f->r = pn_x_binary(f->g, PN_X_SUB, f->z, f->y);
    return PN_OK;
}

#define C(value)       pn_x_const(f->g, (value))
#define CALL(op, a)    pn_x_unary(f->g, PN_X_##op, (a))
#define PAIR(op, a, b) pn_x_binary(f->g, PN_X_##op, (a), (b))
#define ADD(a, b)      PAIR(ADD, a, b)
#define SUB(a, b)      PAIR(SUB, a, b)
#define MUL(a, b)      PAIR(MUL, a, b)
#define DIV(a, b)      PAIR(DIV, a, b)
#define POW(a, n)      PAIR(POW, a, C(n))
#define NEG(a)         CALL(NEG, a)
#define SQUARE(a)      MUL(a, a)
#define IF(c, a, b)    pn_x_where(f->g, (c), (a), (b))

/* The losses, of r or of the product y z. */
static inline pn_node logistic_of(const formulas *f)
{
    return CALL(SOFTPLUS, NEG(MUL(f->y, f->z)));
}

static inline pn_node hinge_of(const formulas *f)
{
    return PAIR(MAX, C(0.0), SUB(C(1.0), MUL(f->y, f->z)));
}

static inline pn_node smooth_hinge_of(const formulas *f)
{
    pn_node m = MUL(f->y, f->z);

    return IF(PAIR(LE, C(1.0), m), C(0.0),
              IF(PAIR(LE, m, C(0.0)), SUB(C(0.5), m), MUL(C(0.5), SQUARE(SUB(C(1.0), m)))));
}

static inline pn_node huber_of(const formulas *f, double c)
{
    pn_node size = CALL(ABS, f->r);

    return IF(PAIR(LE, size, C(c)), MUL(C(0.5), SQUARE(f->r)), SUB(MUL(C(c), size), C(0.5 * c * c)));
}

static inline pn_node pseudo_huber_of(const formulas *f)
{
    return SUB(CALL(SQRT, ADD(C(1.0), SQUARE(f->r))), C(1.0));
}

static inline pn_node cauchy_of(const formulas *f)
{
    return CALL(LOG, ADD(C(1.0), SQUARE(f->r)));
}

static inline pn_node tukey_of(const formulas *f, double c)
{
    pn_node inside = SUB(C(1.0), SQUARE(DIV(f->r, C(c))));

    return IF(PAIR(LE, CALL(ABS, f->r), C(c)), MUL(C(c * c / 6.0), SUB(C(1.0), POW(inside, 3.0))), C(c * c / 6.0));
}

static inline pn_node welsch_of(const formulas *f)
{
    return SUB(C(1.0), CALL(EXP, NEG(DIV(SQUARE(f->r), C(2.0)))));
}

static inline pn_node geman_of(const formulas *f)
{
    return DIV(SQUARE(f->r), ADD(C(1.0), SQUARE(f->r)));
}

static inline pn_node quantile_of(const formulas *f, double tau)
{
    return PAIR(MAX, MUL(C(tau - 1.0), f->r), MUL(C(tau), f->r));
}

static inline pn_node smooth_pinball_of(const formulas *f, double tau, double width)
{
    return ADD(MUL(C(tau), f->r), MUL(C(width), CALL(SOFTPLUS, NEG(DIV(f->r, C(width))))));
}

static inline pn_node poisson_of(const formulas *f)
{
    return SUB(CALL(EXP, f->z), MUL(f->y, f->z));
}

static inline pn_node sigmoid_of(const formulas *f)
{
    return CALL(SIGMOID, NEG(MUL(f->y, f->z)));
}

static inline pn_node log_cosh_of(const formulas *f)
{
    return CALL(LOG, DIV(ADD(CALL(EXP, f->r), CALL(EXP, NEG(f->r))), C(2.0)));
}

static inline pn_node nonconvex_of(const formulas *f)
{
    return DIV(SQUARE(f->z), ADD(C(1.0), SQUARE(f->z)));
}

/* ---- hard ones ---- */

/* (z - 1)^8, multiplied out, by Horner's rule. */
static inline pn_node eighth_power_of(const formulas *f)
{
    static const double terms[] = { -8.0, 28.0, -56.0, 70.0, -56.0, 28.0, -8.0, 1.0 };
    pn_node p = C(1.0);

    for (int i = 0; i < 8; i++)
        p = ADD(MUL(p, f->z), C(terms[i]));
    return p;
}

static inline pn_node waves_of(const formulas *f)
{
    return ADD(MUL(CALL(SIN, MUL(C(20.0), f->z)), CALL(EXP, NEG(SQUARE(f->z)))),
               CALL(COS, MUL(C(7.0), MUL(f->y, f->z))));
}

static inline pn_node himmelblau_of(const formulas *f)
{
    return ADD(SQUARE(SUB(ADD(SQUARE(f->z), f->y), C(11.0))), SQUARE(SUB(ADD(f->z, SQUARE(f->y)), C(7.0))));
}

/* sin(2 sin(2 sin(...) + y) + y) */
static inline pn_node nest_of(const formulas *f, int depth)
{
    pn_node t = f->z;

    for (int i = 0; i < depth; i++)
        t = CALL(SIN, ADD(MUL(C(2.0), t), f->y));
    return t;
}

#endif
