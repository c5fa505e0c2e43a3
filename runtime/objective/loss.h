/* loss.h -- losses l(z, y) of a linear predictor z = <x, theta>: the interface and the table of known losses.
 * A new loss is one file that fills a pn_loss_ops and one line in loss.c's table.
 * Depends on: core, numeric.  Used by: objective.c, bindings. */
#ifndef PN_OBJECTIVE_LOSS_H
#define PN_OBJECTIVE_LOSS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"

typedef struct pn_loss pn_loss;

typedef struct pn_interval {
    double low, high;
} pn_interval;

typedef enum pn_labels { PN_LABELS_REAL = 0, PN_LABELS_BINARY /* exactly -1 and 1 */ } pn_labels;

/* Certified ranges over all z in a margin interval and all admissible labels.  Outward: the truth lies inside. */
typedef struct pn_loss_range {
    pn_interval value, slope, curvature; /* l, dl/dz, d2l/dz2 */
} pn_loss_range;

typedef struct pn_loss_ops {
    const char *name;
    const char *doc;
    const char *source;
    const pn_param *params;
    pn_labels labels;
    bool convex;
    bool quadratic; /* d2l/dz2 is constant: the gradient is affine in theta and may come from the Gram matrix */
    pn_status (*create)(pn_loss **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_loss *self);
    /* A block of records, all arrays [count]; any output may be NULL.  z and y do not alias outputs. */
    void (*evaluate)(const pn_loss *self, size_t count, const double *z, const double *y, double *value, double *slope,
                     double *curvature);
    /* z and y are finite intervals.  Errors: PN_EUNSUPPORTED with the reason when something is unbounded. */
    pn_status (*range)(const pn_loss *self, pn_interval z, pn_interval y, pn_loss_range *out, pn_err *err);
} pn_loss_ops;

struct pn_loss {
    const pn_loss_ops *ops;
    int references;
};

const pn_loss_ops *const *pn_loss_table(void);
pn_status pn_loss_new(pn_loss **out, const char *name, pn_arg *args, pn_err *err);
pn_loss *pn_loss_keep(pn_loss *loss);
void pn_loss_free(pn_loss *loss);

#endif
