/* model_noise.h -- the mean loss's gradient and Hessian plus Gaussian noise, on all records or on fresh batches, as
 * they are planned: sensitivities, events and the plan's lines about them.
 * Depends on: plan.h, objective/passes/second_order.h, privacy/mechanism/batch_release.h.
 * Used by: question_hessian.c, second_order*.c, trust_region*.c, newton*.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM; Ganesh, Haghifam, Steinke,
 * Thakurta (2023).  Files: model_noise.c (sensitivities, events, plan),
 * model_noise_bound.c (how far a release is off). */
#ifndef PN_ORACLE_MODEL_NOISE_H
#define PN_ORACLE_MODEL_NOISE_H

#include "objective/passes/second_order.h"
#include "oracle/plan.h"
#include "privacy/accounting/allowance.h"
#include "privacy/mechanism/batch_release.h"

/* Public: fixed before the data are looked at.  Noise multipliers z are in units of a query's sensitivity: sigma = z
 * times it. */
typedef struct pn_model {
    pn_objective *objective;
    size_t dim, n;
    size_t order,
        /* of the matrix that is released, order (order + 1)/2 entries: dim, or p for the majorant of several margins */
        packed;
    size_t batch; /* records of every query's own batch; n: all */
    pn_neighbours neighbours;
    bool is_private;
    bool frobenius; /* Hessian noise isotropic in Frobenius norm: off-diagonal entries of variance 1/2 */
    bool generic;   /* the Hessian sensitivity of the article, 2 sqrt(d) B_H / batch, in place of the derived one */
    bool convex;    /* every record's Hessian is positive semidefinite */
    bool majorant;  /* "Hessian" is that of pn_objective_majorant; bare */
    bool bare;      /* gradients and Hessians are of the mean loss, without r */
    pn_hessian_bounds bounds; /* without privacy +inf where nothing is known */
    double lipschitz;         /* B_g: every record's gradient, certified or clipped */
    /* D_g: l2, of the mean over the batch as computed, rounding included; 0 without privacy */
    double gradient_sensitivity;
    double hessian_sensitivity;             /* D_H: of the packed vector (frobenius: in Frobenius norm), likewise */
    double gradient_bound, hessian_bound;   /* public, on every |entry| of what is released, before its noise */
    pn_basis gradient_basis, hessian_basis; /* why the sensitivities are what they are */
} pn_model;

/**
 * Read the problem.  batch 0: all records.
 * Errors: of pn_objective_hessian_bounds; PN_EPRIVACY without a finite B_g or B_H where private; PN_EUNSUPPORTED for
 * add_remove (n is public), for a true batch under another relation than replace_one, for a regulariser without
 * Hessian; PN_EINVAL for a batch beyond n; PN_EDIM for a packed Hessian beyond 2^31 entries
 * (says how much memory it would take).
 */
pn_status pn_model_read(pn_model *out, const char *owner, pn_objective *objective, const pn_request *request,
                        size_t batch, bool frobenius, bool generic, pn_err *err);
/** The same model with the majorant in place of the Hessian, bare; of convex losses, on all records. */
pn_model pn_model_majorant(const pn_model *of);

/** What is released at multiplier z: sums over a batch in units of a sum,
 *  or the mean over all records in units of the mean. */
pn_batch_release_options pn_model_gradient_options(const pn_model *self, double z);
pn_batch_release_options pn_model_hessian_options(const pn_model *self, double z);
/** The event of one release at multiplier z > 0: gaussian, within fixed_sampled for a true batch; rounding and draws
 *  included.  Errors: as pn_batch_release_price. */
pn_status pn_model_gradient_event(const pn_model *self, double z, pn_event **out, pn_err *err);
pn_status pn_model_hessian_event(const pn_model *self, double z, pn_event **out, pn_err *err);

/* ---- a run of many releases ---- */

/* One kind of release, at a multiplier of its own. */
typedef struct pn_model_part {
    const pn_model *model;
    bool hessian; /* else a gradient */
    double z;
    size_t times; /* 0: none */
} pn_model_part;
/** Up to PN_MODEL_PARTS of them as one event.  Errors: as pn_batch_release_price. */
#define PN_MODEL_PARTS 5
pn_status pn_model_run_event(pn_event **out, const pn_model_part *parts, size_t count, pn_err *err);
/** The plan's receipt says that it releases these; those of 0 times are left out. */
void pn_model_rests(pn_plan *plan, const pn_model_part *parts, size_t count);
typedef struct pn_counting {
    bool gaussian; /* all releases are Gaussian: on all records they are counted exactly */
    bool either;   /* on all records in rho or by Renyi divergence, whichever has less noise; else by the latter */
} pn_counting;
/** All that the plan was asked to cost; rho where that was asked for, and by the article; by Renyi divergence for
 *  batches and beside what a ledger has of others.  *z (NULL: not asked for): the multiplier with which the program
 *  costs that.  Errors: as pn_allowance_open and pn_allowance_noise. */
pn_status pn_model_allowance(pn_allowance *out, double *z, const pn_model *self, const pn_plan *plan,
                             const pn_arg *common, pn_counting how, const pn_program *program, pn_err *err);
/** That multiplier of a run of Gaussian releases; 0 without privacy. */
pn_status pn_model_run_noise(double *z, const pn_model *self, const pn_plan *plan, const pn_arg *common,
                             const pn_program *program, pn_err *err);

/* ---- slopes that are known beforehand ---- */

/* A record's slopes, over all admissible labels and margins. */
typedef struct pn_slopes {
    double start;  /* |l'| at the start, at most, l2 norm of several margins' slopes; +inf */
    double change; /* |l'(z) - l'(z0)|, at most, likewise; +inf */
} pn_slopes;
/** From public numbers, for start[dim].  Errors: PN_ENOMEM. */
pn_status pn_slopes_read(pn_slopes *out, pn_objective *objective, const double *start, pn_err *err);
/** What a neighbour moves, of slopes up to `slope`, in place of B_g, in what is computed by so many passes over all
 *  records.  A pass rounds as the model says; the difference of two means, of norm slope R at most, is rounded once
 *  more, in each of two neighbours. */
double pn_model_moved(const pn_model *self, double slope, double passes);

/** Lines: B_g, B_H, M, D_g, D_H, and the noise at multiplier z (0: none), with where they come from. */
void pn_model_explain(const pn_model *self, double z, pn_plan *plan);

/** Lines: what the budget is counted in, and how much of that there is. */
void pn_model_explain_allowance(const pn_allowance *of, pn_plan *plan, const pn_arg *common);

/** With probability >= 1 - failure, failure in (0, 1): ||gradient noise|| <= D_g z (sqrt(d) + sqrt(2
 *  ln(1/failure))). */
double pn_model_gradient_noise(const pn_model *self, double z, double failure);
/** Likewise the operator norm of the Hessian's noise: D_H z (2 sqrt(d) + 2 sqrt(ln(1/failure))), with frobenius D_H z
 *  (sqrt(2 d) + sqrt(2 ln( 1/failure))). */
double pn_model_hessian_noise(const pn_model *self, double z, double failure);
/** What a batch without replacement adds to the deviation from the gradient (Hessian) of all records,
 *  with probability >= 1 - failure; 0 for all
 *  records.  Source: El-Yaniv, Pechyony (2009), Lemma 2, for differences that are bounded; Gross, Nesme (2010) and
 *  Tropp (2012) for matrices. */
double pn_model_gradient_sampling(const pn_model *self, double failure);
double pn_model_hessian_sampling(const pn_model *self, double failure);
/** The n at which a noise that falls like 1/n and a sampling deviation (batches at the same rate) that falls like
 *  1/sqrt(n), as they are at `records`, come down to limit together: everything else fixed. */
double pn_records_for(double records, double noise, double sampling, double limit);

/* Rows for the tables of solvers, in the order of `frobenius` and `generic`. */
extern const char *const pn_hessian_noise_names[]; /* "frobenius", "packed", NULL */
extern const char *const pn_hessian_bound_names[]; /* "certified", "generic", NULL */
#define PN_HESSIAN_NOISE_PARAM                                                                                         \
    {                                                                                                                  \
        "hessian_noise", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_hessian_noise_names,                                  \
            "frobenius: off-diagonal entries get half of the variance, which costs the same; packed: all entries "     \
            "alike"                                                                                                    \
    }
#define PN_HESSIAN_BOUND_PARAM                                                                                         \
    {                                                                                                                  \
        "hessian_bound", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_hessian_bound_names,                                  \
            "sensitivity of the Hessian: certified from the loss, or 2 sqrt(d) B_H/n, for comparisons"                 \
    }

#endif
