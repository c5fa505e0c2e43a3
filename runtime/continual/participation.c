/* participation.c -- how far a record in several leaves can move C r, by dynamic programming.
 *
 * A record moves the leaves of a set P, at most q of them and any two at least b apart, leaf i by D_i, ||D_i|| <= 1:
 *     ||C D||^2 = sum_{i,j in P} X_ij <D_i, D_j> <= f(P) = sum_{i,j in P} |X_ij|,  X = C^T C,
 * with equality where all D_i are one vector up to signs s_i with s_i s_j X_ij >= 0; so for X >= 0 all alike.  Leaves
 * may depend on earlier releases: for any that were made P and D are what they are, and the shifts of the measurements,
 * the rows of C D, obey this whatever was released.
 *
 * The largest f(P).  With each pair counted at its later leaf, and P = {i_1 < ... < i_k}, k <= q,
 *     f(P) = sum_n (X_{i_n i_n} + 2 sum_{m < n} |X_{i_m i_n}|) <= sum_n e_n(i_{n-1}, i_n),
 *     e_n(l, i) = X_ii + 2 |X_li| + 2 max { sum_{m in Q} |X_mi| : Q of at most n - 2 leaves, b apart and from l },
 * and the largest such sum is found leaf by leaf: V(i, k), of sets of at most k leaves of which i is the last, is the
 * maximum over l <= i - b of V(l, k - 1) + e_k(l, i); so are those of the sets Q, on the way from one l to the next.
 *
 * When that is the largest f(P) itself:
 *   q <= 2, and bands <= 2 b, where a column meets those next to it at most: there is no Q, and signs that are chosen
 *   one after the other make every X_ij count in full.
 *   |X_mi| rises with m <= i - b, and |X_{m+1,i+1}| <= |X_mi|: then l = i - b, Q = {i - 2b, i - 3b, ..}, and e_n falls
 *   with i.  The leaves (n - 1) b + 1 are best, since n - 1 others fit before none that is earlier, and they have no
 *   other l and Q than each other.  Falling Toeplitz coefficients >= 0 are such: X_mi = sum_{s <= T - i} c_s c_{s+i-m}.
 * Elsewhere another leaf may want another Q, and the bound may be too large.  By how much at most is told by ||C D|| of
 * the set that gave it, with signs chosen one after the other.
 * Depends on: participation.h, core/stop.h.  Used by: matrix_prefix.c.
 * Source: Choquette-Choo et al. (2023). */
#include <math.h>

#include "continual/participation.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/stop.h"

#define NONE SIZE_MAX

typedef struct search {
    pn_mat c;
    size_t bands, q, b;
    double *square; /* [T]: X_ii */
    double *cross;  /* [T * bands]: X_{i,i+k} at i * bands + k, k >= b; NULL: all of them are 0 */

    /* [T * (q + 1)], row i for leaf i, column k for sets of at most k leaves */
    double *value;   /* V(i, k) */
    size_t *from;    /* the leaf before i in such a set, or NONE */
    size_t *lead;    /* the leaf up to i with the largest V */
    double *earlier; /* [(T + 1) * (q + 1)]: the largest sum over a Q, by its last leaf; row 0 for no leaf */
    size_t work;
} search;

static size_t back(size_t from, size_t by)
{
    return from > by ? from - by : 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- X, row by row of C ---- */

static void add_row(search *self, const double *row, size_t t)
{
    for (size_t i = back(t + 1, self->bands); i <= t; i++) {
        const double x = row[i], *from = row + i;
        double *restrict to = self->cross ? self->cross + i * self->bands : NULL;

        self->square[i] += x * x;
        for (size_t k = self->b; to && k <= t - i; k++)
            to[k] += x * from[k];
    }
}

static pn_status fill_gram(search *self, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t t = 0; t < self->c.rows && status == PN_OK; t++) {
        add_row(self, self->c.data + t * self->c.cols, t);
        status = pn_stop_worked(&self->work, self->cross ? self->bands * self->bands / 2 + 1 : self->bands, err);
    }
    return status;
}

/* ---- the bound ---- */

/* Sets of leaf i and one before `near`, which i does not meet. */
static void begin_leaf(search *self, size_t i, size_t near)
{
    const size_t width = self->q + 1;
    double *value = self->value + i * width;
    size_t *from = self->from + i * width;

    for (size_t k = 1; k <= self->q; k++) {
        from[k] = k > 1 && near > 0 ? self->lead[(near - 1) * width + k - 1] : NONE;
        value[k] = self->square[i] + (from[k] == NONE ? 0.0 : self->value[from[k] * width + k - 1]);
    }
}

/* ... and of leaf l before it; row: 1 for the first that i meets, 2 for the next. */
static void join_leaf(search *self, size_t l, size_t i, size_t row)
{
    const size_t q = self->q, width = q + 1;
    const double x = fabs(self->cross[l * self->bands + (i - l)]), *before = self->value + l * width;
    const double *apart = self->earlier + back(row, self->b) * width;
    double *value = self->value + i * width, *to = self->earlier + row * width;
    const double *above = to - width;

    for (size_t k = 2; k <= q; k++) {
        double joined = before[k - 1] + self->square[i] + 2.0 * (x + apart[k - 2]);

        if (joined > value[k]) {
            value[k] = joined;
            self->from[i * width + k] = l;
        }
    }
    to[0] = 0.0;
    for (size_t k = 1; k <= q; k++)
        to[k] = fmax(above[k], x + apart[k - 1]);
}

static pn_status fill_values(search *self, pn_err *err)
{
    const size_t width = self->q + 1;
    pn_status status = PN_OK;

    for (size_t i = 0; i < self->c.rows && status == PN_OK; i++) {
        const size_t apart = back(i + 1, self->b), near = self->cross ? least(back(i + 1, self->bands), apart) : apart;
        size_t *lead = self->lead + i * width;

        begin_leaf(self, i, near);
        for (size_t l = near; l < apart; l++)
            join_leaf(self, l, i, l - near + 1);
        for (size_t k = 1; k <= self->q; k++) {
            size_t other = i > 0 ? (lead - width)[k] : i;

            lead[k] = self->value[other * width + k] >= self->value[i * width + k] ? other : i;
        }
        status = pn_stop_worked(&self->work, (apart - near + 1) * width, err);
    }
    return status;
}

static double certified_square(const search *self)
{
    const size_t last = (self->c.rows - 1) * (self->q + 1) + self->q;

    return self->value[self->lead[last] * (self->q + 1) + self->q];
}

/* ||C D||^2 of the set that has the bound, its leaves from the last. */
static double attained(search *self)
{
    const size_t width = self->q + 1;
    double *leaf = self->earlier, *sign = leaf + width, sum = 0.0; /* no longer needed; T >= 1: two rows */
    size_t found = 0;

    for (size_t i = self->lead[(self->c.rows - 1) * width + self->q], k = self->q; i != NONE; found++, k--) {
        double pull = 0.0;

        for (size_t n = 0; self->cross && n < found; n++) {
            size_t gap = (size_t)leaf[n] - i;

            pull += gap < self->bands ? sign[n] * self->cross[i * self->bands + gap] : 0.0;
        }
        leaf[found] = (double)i;
        sign[found] = pull < 0.0 ? -1.0 : 1.0;
        sum += self->square[i] + 2.0 * fabs(pull);
        i = self->from[i * width + k];
    }
    return sum;
}

/* ---- all of it ---- */

/* A sum of `bands` products is off by (bands + 1) units of ||C_i|| ||C_j||, of which there are q^2 at most, and what is
 * made of them by 4 q + 8 units of what they add up to, q^2 times the largest square again. */
static void set_result(search *self, pn_participation *out)
{
    const double q = (double)self->q, units = (double)self->bands + 4.0 * q + 9.0;
    double largest = 0.0;

    for (size_t i = 0; i < self->c.rows; i++)
        largest = fmax(largest, self->square[i]);
    out->certified = sqrt(certified_square(self) + units * 0x1p-53 * q * q * largest) * (1.0 + 0x1p-50);
    out->attained = sqrt(attained(self));
}

static pn_status make(search *self, pn_err *err)
{
    const size_t count = self->c.rows, width = self->q + 1, meet = self->q > 1 && self->bands > self->b ? count : 0;

    self->square = pn_calloc(count, sizeof(double));
    self->cross = meet > 0 ? pn_calloc(meet, self->bands * sizeof(double)) : NULL;
    self->value = pn_calloc(count, width * sizeof(double));
    self->from = pn_calloc(count, width * sizeof(size_t));
    self->lead = pn_calloc(count, width * sizeof(size_t));
    self->earlier = pn_calloc(count + 1, width * sizeof(double));
    return pn_made(self->square && (meet == 0 || self->cross) && self->value && self->from && self->lead &&
                       self->earlier,
                   err, "prefix: out of memory for the sensitivity of a matrix of %zu rows", count);
}

pn_status pn_participation_sensitivity(pn_participation *out, pn_mat c, size_t bands, size_t q, size_t b, pn_err *err)
{
    const size_t most = PN_MUTANT("participates_once") ? 1 : (c.rows - 1) / b + 1;
    search self = { .c = c, .bands = bands, .q = least(q, most), .b = b };
    pn_status status = make(&self, err);

    if (status == PN_OK)
        status = fill_gram(&self, err);
    if (status == PN_OK)
        status = fill_values(&self, err);
    if (status == PN_OK)
        set_result(&self, out);
    pn_free(self.square);
    pn_free(self.cross);
    pn_free(self.value);
    pn_free(self.from);
    pn_free(self.lead);
    pn_free(self.earlier);
    return status;
}
