/* slope_lines.h -- the slope of every record's loss along the iterates of Frank-Wolfe over sets whose vertices have few
 * entries, in whole numbers and, between two moments at which it is renewed, a line in the margin.
 *
 * With steps 2/(t+1) the margin of record i after t vertices is b_i + u M_i/tau, tau = t (t+1)/2, with a whole M_i that
 * a vertex changes in the records alone that have one of its features (gradient_path.h); u = r xmax 2^-30, and b_i =
 * <x_i, shift>.  At the start, where tau is 1, M_i is that of the point where it begins.  In units of u the slope is
 * taken to be the line T_i/tau - Y_i, whose T and Y are whole:
 *   squared      T = M, Y the label less b: the slope itself, never renewed.
 *   linearised   the tangent at the margin of the last renewal: T = h M with h = l''(m), Y = T/tau - l'(m)/u.  It is
 *                renewed when the record gets a vertex, and before the margin is further than kappa from where the
 *                tangent was taken: it is off by at most max |l'''| kappa^2/2.
 *   stale        T = 0, Y = -l'(m)/u: constant until the record gets a vertex.  (Raff, Khanna, Lu 2023.)
 *
 * When a line is renewed is decided by its own record and the vertices, which are public.  So its slope is a function
 * of them, and replacing a record changes one term of every sum over records, as for the slopes themselves.  Rules by
 * which another record decides, such as the lines that are furthest off, do not have this, and are not here.
 *
 * |T - tau Y| <= tau L holds for every record at every step, exactly, with a public L: for the squared loss by the
 * bounds on features and labels, else because l'(m) is cut to its certified bound s when it is taken, and because a
 * line is renewed before it leaves [-L, L], L being s and 2^-12 of it, and three roundings.
 * Depends on: data, losses.  Used by: gradient_path.c. */
#ifndef PN_OBJECTIVE_SLOPE_LINES_H
#define PN_OBJECTIVE_SLOPE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "data/dataset.h"
#include "objective/losses/loss.h"

typedef enum pn_path_slopes { PN_PATH_SQUARED = 0, PN_PATH_LINEARISED, PN_PATH_STALE } pn_path_slopes;

/* Public, all of it but the records. */
typedef struct pn_path_options {
    const pn_dataset *data; /* kept */
    double radius;          /* r: the most that entries of a vertex without the shift add up to in size */
    const double *shift;    /* [p] in every vertex, kept; NULL: 0 */
    const double *start;    /* [p] where slopes begin, kept; NULL: at the shift */
    double shifted;         /* the most that |<x, shift>| is over all records */
    size_t steps;           /* vertices, at most */
    pn_path_slopes slopes;
    const pn_loss *loss;     /* of one margin, kept; where it is not the squared one */
    double slope, curvature; /* bounds on |l'| and, linearised, on |l''| */
    double kappa;            /* linearised: how far a margin may go from where its tangent was taken */
} pn_path_options;

#define PN_PATH_BITS  30 /* features and slopes are whole numbers in 2^-30 of their largest */
#define PN_PATH_STEPS 65535

/** t (t+1)/2; 1 at the start. */
static inline uint64_t pn_path_tau(size_t taken)
{
    return taken > 0 ? (uint64_t)taken * (taken + 1) / 2 : 1;
}

/** Whole numbers in a unit of x, cut toward 0, the same wherever x stands; `limit` of them at most. */
static inline int64_t pn_path_whole(double x, double per_unit, int64_t limit)
{
    double steps = x * per_unit;

    return steps >= (double)limit ? limit : steps > -(double)limit ? (int64_t)steps : -limit;
}

/* Limits of what a line has, in units of u: |T|/tau, |Y| and |T/tau - Y|. */
typedef struct pn_line_limits {
    int64_t turned, level, slope;
} pn_line_limits;

/** False where these do not fit: bounds that are missing, slopes of 2^20 units, more than PN_PATH_STEPS steps. */
bool pn_slope_lines_limits(pn_line_limits *out, const pn_path_options *options);

typedef struct pn_line {
    int64_t turned, level; /* T, Y */
} pn_line;

/** A stored number of sparse data. */
static inline double pn_path_feature(const pn_dataset *data, size_t entry)
{
    return data->csr.value ? data->csr.value[entry] : (double)data->csr_single[entry];
}

typedef struct pn_slope_lines pn_slope_lines;

/** The lines at the start, where all margins are 0, of data and bounds that have limits.  Errors: PN_ENOMEM. */
pn_status pn_slope_lines_new(pn_slope_lines **out, const pn_path_options *options, pn_err *err);
void pn_slope_lines_free(pn_slope_lines *self); /* NULL allowed */

/** Borrowed, until it is renewed. */
const pn_line *pn_slope_line(const pn_slope_lines *self, size_t i);
/** M_i, and that grown by `by`; its line stays until it is renewed. */
int64_t pn_slope_lines_margin(const pn_slope_lines *self, size_t i);
void pn_slope_lines_move(pn_slope_lines *self, size_t i, int64_t by);
/** The line of M_i after `taken` vertices. */
void pn_slope_lines_renew(pn_slope_lines *self, size_t i, size_t taken);
/** A record whose line has to be renewed after `taken` vertices; false: there is none. */
bool pn_slope_lines_due(const pn_slope_lines *self, size_t taken, size_t *i);

#endif
