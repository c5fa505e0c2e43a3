/* basis.h -- why a sensitivity is what it is: the factors that certified it, by name.  Whoever certifies fills one in,
 * and receipts print it, so that others can work it out again (receipt/receipt.md).
 *
 *     value = contributions contribution factor / divisor + rounding
 *
 * Depends on: libc.  Used by: oracle, plans of solvers, receipt/. */
#ifndef PN_ORACLE_BASIS_H
#define PN_ORACLE_BASIS_H

#include <stddef.h>

#define PN_BASIS_NUMBERS 8

typedef struct pn_basis_number {
    const char *name; /* static */
    double value;
} pn_basis_number;

typedef struct pn_basis {
    const char *rule;     /* static: how `contribution` follows, a row of receipt.md; NULL: nobody has said */
    const char *norm;     /* static: how a change is measured, "l2", "each" */
    double contributions; /* by how many records' parts neighbours differ, or less where these cannot be opposite */
    double contribution;  /* bound on one record's part, in that norm */
    double factor;        /* of several numbers at once, sqrt(k); else 1 */
    double divisor;       /* what the sum is divided by */
    double value;         /* the sensitivity, rounding included */
    pn_basis_number numbers[PN_BASIS_NUMBERS]; /* what else the rule names */
    size_t count;
} pn_basis;

/** What computing adds: value less the product. */
double pn_basis_rounding(const pn_basis *self);
/** Add a number; beyond PN_BASIS_NUMBERS it is left out. */
void pn_basis_add(pn_basis *self, const char *name, double value);

#endif
