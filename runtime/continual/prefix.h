/* prefix.h -- private sums of a growing stream of vectors: after leaf t, r_1 + ... + r_t + N_t is released for every t,
 * at a price that grows with the logarithm of the number of leaves and not with their number.
 * Leaves may depend on what was released before.
 *
 * A DESIGN is a method with its parameters, calibrated: immutable, shared by any number of streams.  It knows the
 * variance of every N_t and the event of a whole stream.  A STREAM is the running sum of one sequence under a design.
 * A new method is one file that fills a pn_prefix_ops (prefix_impl.h) and one line in prefix.c's table.
 *
 * Privacy.  Neighbours: replace one record (pn_prefix_options.neighbours).  A record influences one leaf, or at most
 * `participations` leaves that are at least `separation` apart, each by at most the leaf's sensitivity in l2.  Then the
 * releases up to the horizon together are ONE Gaussian mechanism of the shift mu = sensitivity * gain / sigma: rho-zCDP
 * with rho = mu^2/2, mu-GDP, whatever was chosen adaptively (spec section 1 and 3).  Noise is drawn as integers on a
 * lattice and added to integers; everything after that is post-processing (section 2.3).  The object cannot see
 * records: whoever makes the leaves clips them.
 *
 * rho is the zCDP parameter everywhere in this header; the article's own rho is sqrt(2 rho).
 * Depends on: random/, privacy/.  Used by: solvers (zeroth_order), bindings.
 * Sources: Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015); Zhang, Tran, Cutkosky (2024);
 * Henzinger, Upadhyay, Upadhyay (2023); Dvijotham, McMahan, Pillutla, Steinke, Thakurta (2024).
 * See tree-mechanism.md. */
#ifndef PN_CONTINUAL_PREFIX_H
#define PN_CONTINUAL_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"
#include "penumbra/prefix.h"

extern const char *const pn_prefix_estimator_names[]; /* "plain", "honaker", "full", NULL */
extern const char *const pn_prefix_memory_names[];    /* "keep", "regenerate", NULL */
extern const char *const pn_prefix_scale_names[];     /* "equal", "node", NULL */
extern const char *const pn_prefix_growth_names[];    /* "doubling", "endless", NULL */
extern const char *const pn_prefix_fit_names[];       /* "sqrt", "optimal", NULL */

pn_prefix_design *pn_prefix_design_keep(pn_prefix_design *design);

/** What was asked for, with every default filled in (pointers: the design's own copies). */
const pn_prefix_options *pn_prefix_options_of(const pn_prefix_design *design);
/** Of the whole stream when every leaf has sensitivity 1, in units of sigma: sqrt(h) of a tree, ||c|| of a
 *  factorization; with several participations what takes that place. */
double pn_prefix_gain(const pn_prefix_design *design);
/** out[count]: the same for t = 1 .. count, count <= horizon, in O(count) time where pn_prefix_design_variance may take
 *  O(t). */
void pn_prefix_variances(const pn_prefix_design *design, size_t count, double *out);
/* The numbers that a factorization is made of: c_0, c_1 .. of "banded", one for each buffer of "blt". */
typedef enum pn_prefix_number { PN_PREFIX_COEFFICIENT, PN_PREFIX_THETA, PN_PREFIX_OMEGA } pn_prefix_number;
/** *out = number j, from 0, whether it was given or found; false where there is none.  Of epochs that double: of the
 *  first. */
bool pn_prefix_number_of(const pn_prefix_design *design, pn_prefix_number which, size_t j, double *out);
/** The largest |entry| of a leaf that is carried; what is beyond it is cut to it, since a refusal would tell of the
 *  records.  Of epochs that double: of the first; each has this over the number of its leaves, or more.  INFINITY
 *  without noise. */
double pn_prefix_design_farthest(const pn_prefix_design *design);
/** Doubles that a stream keeps, all in all, when it has `t` leaves. */
double pn_prefix_room(const pn_prefix_design *design, uint64_t t);

/* ---- a stream ---- */

bool pn_prefix_is_paid(const pn_prefix *stream);

/** Whether pn_prefix_push would take this leaf if the stream was paid for: what fails here would fail there, and
 *  nothing need be paid before it is mended.  Errors: those of pn_prefix_push but for the payment. */
pn_status pn_prefix_admits(const pn_prefix *stream, const double *leaf, pn_err *err);

const pn_prefix_design *pn_prefix_design_of(const pn_prefix *stream);

/**
 * Keep `path` up to date: the state after each push is durable before its release is handed out, so a process that dies
 * can be resumed from the file and nothing released is forgotten.  Held under a lock.
 * Costs a write of all of pn_prefix_room a push.
 * Errors: PN_EIO; PN_EINVAL when it follows another file, or one is there.
 */
pn_status pn_prefix_follow(pn_prefix *stream, const char *path, pn_err *err);

/** The stream of a file, to look at: it takes no leaves, and the file stays as it is.  Errors: as pn_prefix_resume. */
pn_status pn_prefix_look(pn_prefix **out, const char *path, pn_err *err);

/* ---- the table ---- */

typedef struct pn_prefix_ops pn_prefix_ops;
/** The method that has the options which were given, where no factorization was; NULL when any has. */
const char *pn_prefix_implied(const pn_prefix_options *options);
/* The rows of the table: one name, one file. */
#define PN_PREFIXES(X) X(binary) X(sqrt) X(banded) X(blt) X(matrix)
/** Of all of them, ended by NULL; for names and docs see prefix_impl.h and the two below. */
const pn_prefix_ops *const *pn_prefix_table(void);
const char *pn_prefix_name(const pn_prefix_ops *ops);
const char *pn_prefix_doc(const pn_prefix_ops *ops);

/* The options above as the tables of bindings and solvers take them ("factorization", "estimator", ...: what shapes a
 * method and not its size, sensitivity or noise), and how such arguments are read into options.  args: one per row. */
extern const pn_param pn_prefix_params[];
/** Errors: PN_EINVAL for an option out of range, and for one of another method than the rest.
 *  They name the option by the end of its name. */
pn_status pn_prefix_read_options(pn_prefix_options *options, const char *owner, const pn_arg *args, pn_err *err);

#endif
