/* federated_frank_wolfe.h -- what the plan, the explanation and the steps of federated_frank_wolfe share.  Private to
 * federated_frank_wolfe*.c and its tests.
 * Depends on: server.h, solvers/engine/solver.h.  Source: Lou, Cheung (2018), Algorithms 1 and 2, corrected. */
#ifndef PN_FEDERATED_FRANK_WOLFE_H
#define PN_FEDERATED_FRANK_WOLFE_H

#include "federated/server/server.h"
#include "privacy/accounting/allowance.h"
#include "solvers/engine/solver.h"
#include "penumbra/federated.h"

extern const pn_param federated_params[];
enum {                    /* indices into federated_params */
       FED_TRANSPORT = 0, /* pn.transport; required */
       FED_MODE,
       FED_SAMPLED,         /* tau, columns of each party in a round; default all */
       FED_RADII,           /* [K] r_k of mode "product", sum r; default r/K */
       FED_CLIP,            /* clips margins (J^T q)_j at this level; default: bounded anew in every round */
       FED_SHARE,           /* of the budget that features get; default 0.5 */
       FED_STAY,            /* product: false leaves it out of the candidates, for comparison; ball: true releases it */
       FED_SKETCH_KIND,     /* sketch.kind */
       FED_SKETCH_ROWS,     /* sketch.m */
       FED_SKETCH_SEED,     /* sketch.seed */
       FED_SKETCH_ACCURACY, /* sketch.accuracy: iota, in place of m */
       FED_SKETCH_FAILURE,  /* sketch.failure: beta */
       FED_PAPER_SCALE,     /* which of the article's two Laplace scales */
       FED_COUNT
};

typedef enum fed_paper_scale { FED_PAPER_TEXT = 0, FED_PAPER_TABLE } fed_paper_scale;

typedef struct fed_plan {
    pn_plan base;            /* first */
    pn_transport *transport; /* kept */
    pn_terms *terms;         /* [K]; run id zeros until a run draws one */
    pn_choices **choices;    /* [K] of blocks; NULL: l1 balls */
    size_t *width;           /* [K] of blocks, most entries of a vertex that are not 0 */
    size_t parties;
    double p;                              /* min tau_k / c_k */
    size_t features;                       /* F, at most so many uploads in a run */
    pn_event *selection, *feature, *score; /* of one release at one party; NULL without */
    pn_event *party_event;                 /* of the largest party's whole run */
    double party_epsilon, party_rho;       /* of one party by itself, the worst */
    /* Predicted, of the whole run and all parties, with features and entries of x at their most. */
    double uplink_bits; /* of the codes, ceil(log2(2 c_k + 1)) each */
    double uplink_floats, downlink_floats;
} fed_plan;

extern const pn_solver_ops fed_solver;

pn_status fed_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
void fed_plan_destroy(pn_plan *plan);
/** 2 (h0 + C/p) / (p T + 2) + e/p (Theorem 1, e not shrinking). */
double fed_bound(double h0, double curvature, double p, double steps, double e);

#endif
