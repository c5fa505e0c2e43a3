/* lfit_coefficients.h -- the coefficients of a fit, one by one.  Depends on: pnl.h, model/model_use.h.
 * Used by: lfit_coefficients.c, lfit_export.c. */
#ifndef PNL_LFIT_COEFFICIENTS_H
#define PNL_LFIT_COEFFICIENTS_H

#include "bindings/solvers/lsolve.h"
#include "model/model_use.h"

typedef struct pnl_coefficients {
    const pn_fit *fit;
    pn_model_about about;
    const pn_recipe *recipe; /* or NULL */
    size_t p;                /* features of a margin */
    size_t count;            /* rows */
    double *original;        /* [margins][p + 1], of a recipe */
} pnl_coefficients;

typedef struct pnl_coefficient {
    char name[400];
    const char *column, *kind, *per; /* or NULL */
    size_t class;                    /* from 0 */
    double scaled, original;         /* NaN: none */
} pnl_coefficient;

/** Of the fit at 1; what it borrows stays on the stack. */
void pnl_coefficients_of(lua_State *L, pnl_coefficients *out);
void pnl_coefficient_at(const pnl_coefficients *self, size_t row, pnl_coefficient *out);
/** The name of class k of several margins, or its number, as text; NULL of one margin. */
const char *pnl_coefficients_class(const pnl_coefficients *self, size_t k, char number[32]);

#endif
