/* objective_impl.h -- the objective's insides, shared by objective.c, pass.c and gram.c only. */
#ifndef PN_OBJECTIVE_IMPL_H
#define PN_OBJECTIVE_IMPL_H

#include "objective/objective.h"

/* X^T X / n, X^T y / n and y^T y / n of a quadratic loss. */
typedef struct pn_gram {
    double *matrix; /* [p * p], symmetric, or NULL while not formed */
    double *linear; /* [p] */
    double constant;
    double *product; /* [p] scratch */
} pn_gram;

struct pn_objective {
    const pn_dataset *data;
    pn_loss *loss;
    pn_set *set;
    pn_bounds bounds;
    size_t chunks, chunk_rows; /* the fixed partition of the records: it makes sums independent of the thread count */
    size_t block_rows;         /* rows that are kept in the first-level cache between the two uses */
    double *partial;           /* [chunks * (p + 1)]: gradient and value of each chunk */
    pn_gram gram;
};

#define PN_BLOCK_ROWS_MAX 256

/* gram.c */
pn_status pn_gram_form(pn_objective *objective, pn_task *task, pn_err *err);
void pn_gram_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient);
void pn_gram_clear(pn_gram *gram);
/* Records that one floating sum of the Gram matrix runs over before sums of sums begin. */
size_t pn_gram_depth(const pn_objective *objective);

#endif
