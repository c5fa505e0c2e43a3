/* audit_joint.c -- what two independent counts say together, at exactly the stated level.
 * Depends on: audit_check.h, numeric/beta.h, numeric/root.h.  Used by: audit.c.
 *
 * A ~ Bin(n, p) and B ~ Bin(n, p') are independent.  U = P(Bin(n, p) >= A) and V = P(Bin(n, p') <= B), each taken at
 * its true p, are at most u with chance at most u (a discrete law skips some u, which is on the safe side): -ln U and
 * -ln V are no larger in law than independent exponential numbers, and neither is w (-ln U) + (1 - w) (-ln V),
 * which is at least x with chance at most
 *     S(x) = (w exp(-x/w) - (1 - w) exp(-x/(1 - w))) / (2 w - 1),      exp(-2 x) (1 + 2 x) for w = 1/2.
 * With S(x) = alpha all (p, p') where that sum is below x are a confidence region of level 1 - alpha: the true pair is
 * there, unless with chance alpha.  w = 1/2 is Fisher's combination of two tests.  Where one count is all but certain a
 * rectangle is better: bounds on p and p' that fail with chances alpha w and alpha', (1 - alpha w)(1 - alpha') = 1 -
 * alpha.  The caller takes the shape and the w that are best on runs that are not tested.
 *
 * The answer is the least of an increasing function of p and a decreasing one of p' over the region, so over its edge:
 * for s from 0 to 1, low where -ln U = (1 - s) x/w, and high where -ln V = s x/(1 - w).  Both grow with s: on s0 <= s
 * <= s1 the function is at least its value at (low(s0), high(s1)).  Such cells cover the edge,
 * and the lowest are halved until that is near. */
#include <math.h>

#include "numeric/beta.h"
#include "numeric/root.h"
#include "privacy/audit/audit_check.h"

#define CELLS 320

/* ---- Clopper-Pearson ---- */

typedef struct tail_question {
    size_t hits, trials;
    double failure;
} tail_question;

static bool plausible(void *self, double p)
{
    const tail_question *q = self;
    double below, above;

    pn_binomial_tails(q->hits, q->trials, p, &below, &above);
    return above > q->failure;
}

double pn_audit_lower(size_t hits, size_t trials, double failure)
{
    tail_question q = { hits, trials, failure };

    return hits == 0 ? 0.0 : pn_bisect(plausible, &q, 0.0, 1.0);
}

/* ---- the level ---- */

typedef struct level_question {
    double weight, failure;
} level_question;

/* S(x) <= failure */
static bool is_rare(void *self, double x)
{
    const level_question *q = self;
    double w = q->weight, rest = 1.0 - w;

    if (w == 0.5)
        return exp(-2.0 * x) * (1.0 + 2.0 * x) <= q->failure;
    return (w * exp(-x / w) - rest * exp(-x / rest)) / (w - rest) <= q->failure;
}

static double level_of(double weight, double failure)
{
    level_question q = { weight, failure };

    return pn_bisect(is_rare, &q, 0.0, 745.0) * (1.0 + 1e-12);
}

/* ---- the edge ---- */

typedef struct edge {
    const pn_audit_counts *counts;
    double x;
} edge;

/* Where the edge is at s: halves of cells share their ends. */
typedef struct place {
    double s, low, high;
} place;

static place place_at(const edge *self, double s)
{
    const pn_audit_counts *of = self->counts;
    double u = exp(-(1.0 - s) * self->x / of->weight), v = exp(-s * self->x / (1.0 - of->weight));

    return (place){ s, pn_audit_lower(of->hits, of->trials, u),
                    1.0 - pn_audit_lower(of->trials - of->others, of->trials, v) };
}

typedef struct cell {
    place from, to;
    double least;
} cell;

static cell cell_of(const edge *self, place from, place to)
{
    return (cell){ from, to, self->counts->worth(from.low, to.high, self->counts->delta) };
}

/* A rectangle's corner. */
static double apart(const pn_audit_counts *of, double failure)
{
    double own = failure * of->weight, rest = (failure - own) / (1.0 - own);

    return of->worth(pn_audit_lower(of->hits, of->trials, own),
                     1.0 - pn_audit_lower(of->trials - of->others, of->trials, rest), of->delta);
}

double pn_audit_joint(const pn_audit_counts *counts, double failure)
{
    const edge self = { counts, level_of(counts->weight, failure) };
    cell cells[CELLS];
    size_t count = 1, lowest = 0;
    double reached = 1e300; /* somewhere on the edge */

    if (counts->apart)
        return apart(counts, failure);
    cells[0] = cell_of(&self, place_at(&self, 0.0), place_at(&self, 1.0));
    while (count < CELLS && reached - cells[lowest].least > counts->near * (1.0 + reached)) {
        const cell whole = cells[lowest];
        const place middle = place_at(&self, 0.5 * (whole.from.s + whole.to.s));

        reached = fmin(reached, counts->worth(middle.low, middle.high, counts->delta));
        cells[lowest] = cell_of(&self, whole.from, middle);
        cells[count++] = cell_of(&self, middle, whole.to);
        for (size_t i = 0; i < count; i++)
            lowest = cells[i].least < cells[lowest].least ? i : lowest;
        if (reached == 0.0)
            return 0.0;
    }
    return cells[lowest].least;
}
