/* federated_frank_wolfe_plan.h -- what the parts of the plan of federated_frank_wolfe share.  Private to
 * federated_frank_wolfe_plan*.c and its tests.
 * Depends on: federated_frank_wolfe.h, release.h. */
#ifndef PN_FEDERATED_FRANK_WOLFE_PLAN_H
#define PN_FEDERATED_FRANK_WOLFE_PLAN_H

#include "federated/solver/federated_frank_wolfe.h"
#include "federated/wire/release.h"

#define FED_DEFAULT_STEPS  100    /* without noise */
#define FED_LEAST_STEPS    10     /* by an estimate */
#define FED_HOPELESS_STEPS 20     /* where nothing is promised */
#define FED_MOST_STEPS     100000 /* by default */

/* Everything that a plan is computed from, public all of it. */
typedef struct fed_work {
    fed_plan *plan; /* terms[k] have all but the noise and the rounds */
    const pn_objective *objective;
    const pn_arg *common, *own;
    pn_federated_mode mode;
    pn_federated_loss loss;
    bool is_private, identity;
    bool blocks;   /* the set is no single l1 ball: a product of the parties' */
    bool positive; /* it is one simplex */
    double n, d, parties;
    double radius;  /* r of the set; of blocks the reach */
    double reach;   /* ||x||_1 <= reach: sum of r_k, or r */
    double X, Y;    /* |a_ij| <= X, |y_j| <= Y */
    size_t largest; /* party with the most columns */
    pn_sketch_shape shape;
    double failure, accuracy;                /* beta, and the iota that it gives; 0 for identity, 1 for none */
    double column_norm, feature_sensitivity; /* max_j ||J e_j||, s_J */
    double top;                              /* sigma(J); of mode "paper" */
    double share, score_share;               /* of the budget: features, scores */
    double curvature, start_gap;             /* C, h0 */
    double unlike;                           /* C of columns that are not alike, for the estimate: no bound */
    /* sum of r_k ln(candidates), or r ln(candidates) where the best party moves; of blocks the sum of sqrt(S_k) c_k,
     * S_k the squares of their choices in l1 and c_k what these lose (choices.h) */
    double choices;
    bool clips;       /* by itself, since the bound promises nothing */
    const char *rule; /* why so many rounds */
} fed_work;

typedef struct fed_noise {
    double epsilon0, laplace, sigma_feature, sigma_score;
} fed_noise;

/* What the noise does to the answer. */
typedef struct fed_risk {
    double margin;           /* B: expected bound on |(J^T q)_j|, or the clip */
    double selection, score; /* parts of e */
    double noise, sketch;
    double e, bound;
    double estimate; /* with the curvature of columns that are not alike: no bound */
} fed_risk;

/* ---- federated_frank_wolfe_plan_noise.c ---- */

/** at->share and at->score_share, and at->choices but of blocks. */
void fed_share_budget(fed_work *at);

/** F, the most uploads in T rounds: sum of min(c_k, T width_k), or min(d, T) where one party moves. */
double fed_most_features(const fed_work *at, double rounds);
/** The noise with which T rounds cost rho by zCDP, but for rounding. */
void fed_noise_at(const fed_work *at, double rho, double rounds, fed_noise *out);
/** rho of the request: its own, or that which its epsilon and delta allow. */
double fed_request_rho(const fed_work *at);
/** Noise into the terms, events into the plan.  plan->base.iterations is set. */
pn_status fed_set_noise(fed_work *at, pn_err *err);
/** The largest singular value of J, by power iterations: to about 1e-4, from below. */
pn_status fed_top_singular(double *out, const pn_sketch *sketch, pn_task *task, pn_err *err);

/** Of the party that uploads most, likewise. */
double fed_most_features_of_one(const fed_work *at, double rounds);

/* ---- federated_frank_wolfe_plan_blocks.c ---- */

/** The set of each party from the objective's, which is their product: `radius` and `reach`, and into the terms blocks,
 *  or radii where every party's is an l1 ball about 0.  Errors: PN_EUNSUPPORTED where parties' columns cut through a
 *  factor, or a vertex of one is not made of choices; PN_ENOMEM. */
pn_status fed_read_blocks(fed_work *at, pn_err *err);

/* ---- federated_frank_wolfe_plan_risk.c ---- */

/** What T rounds with that noise do, for columns of l2 norm `column_size`. */
void fed_risk_at(const fed_work *at, const fed_noise *noise, double rounds, double column_size, fed_risk *out);
/** X sqrt(n), and X: columns of few entries. */
double fed_dense_column(const fed_work *at);
double fed_sparse_column(const fed_work *at);
/** Why there is no bound on the excess risk, or NULL. */
const char *fed_no_bound(const fed_work *at);
/** plan->base.iterations: as given, or those which the bound favours, or an estimate where it promises nothing.  There
 *  margins are clipped, too, if the caller left that open. */
void fed_choose_rounds(fed_work *at);

/* ---- federated_frank_wolfe_plan_explain.c ---- */

void fed_predict_traffic(fed_work *at);
void fed_explain(fed_work *at);

#endif
