/* squared_path.c -- see squared_path.h.  Depends on: data.  Used by: oracle. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/squared_path.h"

#define BITS       30
#define LIMIT      ((int64_t)1 << BITS) /* |X| <= LIMIT */
#define ROOM       62                   /* bits of n C */
#define MOST_STEPS 65535                /* |M| <= 2^30 tau < 2^62 */
#define FINEST     ((uint64_t)1 << 11)  /* C/tau from it on: the 2 of the shifts is at most 2^-10 of it */

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

typedef struct scale {
    double feature, label; /* whole numbers in a unit of each */
    int64_t label_limit;   /* |Y| <= label_limit */
    unsigned shift;        /* h */
    uint64_t per_tau;      /* C/tau */
} scale;

struct pn_squared_path {
    const pn_dataset *data; /* kept */
    scale scale;
    size_t taken;       /* t */
    uint64_t tau;       /* t (t+1)/2; 1 at the start */
    int32_t *by_row;    /* X, beside data->csr.column */
    size_t *start;      /* [p + 1]: of a column's entries */
    uint32_t *row;      /* of each, ... */
    int32_t *by_column; /* ... and its X */
    int64_t *margin;    /* [n] M */
    int64_t *moving;    /* [p] sum (X M >> h) */
    int64_t *fixed;     /* [p] sum (X Y >> h) */
    double *reaches;    /* [p] */
};

/* ---- the scale, which is public ---- */

static uint64_t tau_of(size_t steps)
{
    return steps > 0 ? (uint64_t)steps * (steps + 1) / 2 : 1;
}

static bool find_scale(scale *out, const pn_dataset *data, double radius, size_t steps)
{
    const pn_record_bounds *bounds = &data->bounds;
    double most = bounds->norm[PN_LINF], label = fmax(fabs(bounds->label_low), fabs(bounds->label_high));
    double ratio = label / (radius * most);
    u128 largest;

    if (!(most > 0.0 && isfinite(most) && isfinite(bounds->label_low) && isfinite(bounds->label_high) &&
          radius > 0.0) ||
        !(ratio <= 0x1p20) || steps > MOST_STEPS)
        return false;
    *out = (scale){ .feature = ldexp(1.0, BITS) / most, .label = ldexp(1.0, BITS) / (radius * most) };
    out->label_limit = (int64_t)ceil(ratio * 0x1p30);
    largest = ((u128)1 << (2 * BITS)) + ((u128)(uint64_t)out->label_limit << BITS);
    for (;; out->shift++) {
        u128 per_tau = ((largest + (((u128)1 << out->shift) - 1)) >> out->shift) + 2;

        if (per_tau < FINEST)
            return false;
        out->per_tau = (uint64_t)per_tau;
        if (per_tau <= ((u128)1 << ROOM) / tau_of(steps) / data->n)
            return true;
    }
}

bool pn_squared_path_suits(const pn_dataset *data, double radius, size_t steps)
{
    scale unused;

    return data->sparse && !data->absent && !data->partial && !data->file && find_scale(&unused, data, radius, steps);
}

/* ---- whole numbers ---- */

/* The same of a number wherever it stands. */
static int64_t whole(double x, double per_unit, int64_t limit)
{
    double steps = x * per_unit;

    return steps >= (double)limit ? limit : steps <= -(double)limit ? -limit : (int64_t)steps;
}

static double feature_of(const pn_dataset *data, size_t entry)
{
    return data->csr.value ? data->csr.value[entry] : (double)data->csr_single[entry];
}

/* x y >> h, rounded down. */
static int64_t part(int32_t x, int64_t y, unsigned shift)
{
    return (int64_t)(((i128)x * y) >> shift);
}

/* Columns by counting: start[j + 1] is first where column j is written to next. */
static void fill_columns(pn_squared_path *self)
{
    const pn_csr *csr = &self->data->csr;
    size_t entries = csr->start[csr->rows];

    for (size_t e = 0; e < entries; e++)
        self->start[csr->column[e] + 1]++;
    for (size_t j = 0; j < csr->cols; j++)
        self->start[j + 1] += self->start[j];
    for (size_t i = csr->rows; i-- > 0;) { /* from the end, so that the ends become the starts */
        for (size_t e = csr->start[i + 1]; e-- > csr->start[i];) {
            size_t to = --self->start[csr->column[e] + 1];

            self->row[to] = (uint32_t)i;
            self->by_column[to] = self->by_row[e];
        }
    }
    for (size_t j = 0; j < csr->cols; j++)
        self->start[j] = self->start[j + 1];
    self->start[csr->cols] = entries;
}

static void fill(pn_squared_path *self)
{
    const pn_csr *csr = &self->data->csr;
    const scale *by = &self->scale;

    for (size_t i = 0; i < csr->rows; i++) {
        int64_t label = whole(self->data->y[i], by->label, by->label_limit);

        for (size_t e = csr->start[i]; e < csr->start[i + 1]; e++) {
            self->by_row[e] = (int32_t)whole(feature_of(self->data, e), by->feature, LIMIT);
            self->fixed[csr->column[e]] += part(self->by_row[e], label, by->shift);
        }
    }
    fill_columns(self);
}

/* ---- life ---- */

void pn_squared_path_free(pn_squared_path *self)
{
    if (!self)
        return;
    pn_free(self->by_row);
    pn_free(self->start);
    pn_free(self->row);
    pn_free(self->by_column);
    pn_free(self->margin);
    pn_free(self->moving);
    pn_free(self->fixed);
    pn_free(self->reaches);
    pn_free(self);
}

pn_status pn_squared_path_new(pn_squared_path **out, const pn_dataset *data, double radius, size_t steps, pn_err *err)
{
    size_t n = data->n, p = data->p, entries;
    pn_squared_path *self;

    if (!pn_squared_path_suits(data, radius, steps))
        return pn_fail(err, PN_EINVAL, "squared_path: %zu steps on these records do not fit whole numbers", steps);
    PN_TRY(pn_new_zeroed(&self, 1, err, "squared_path: out of memory"));
    self->data = data;
    self->tau = 1;
    (void)find_scale(&self->scale, data, radius, steps);
    entries = data->csr.start[n];
    self->by_row = pn_calloc(entries + 1, sizeof *self->by_row);
    self->start = pn_calloc(p + 1, sizeof *self->start);
    self->row = pn_calloc(entries + 1, sizeof *self->row);
    self->by_column = pn_calloc(entries + 1, sizeof *self->by_column);
    self->margin = pn_calloc(n, sizeof *self->margin);
    self->moving = pn_calloc(p, sizeof *self->moving);
    self->fixed = pn_calloc(p, sizeof *self->fixed);
    self->reaches = pn_calloc(p, sizeof *self->reaches);
    if (!self->by_row || !self->start || !self->row || !self->by_column || !self->margin || !self->moving ||
        !self->fixed || !self->reaches) {
        pn_squared_path_free(self);
        return pn_fail(err, PN_ENOMEM, "squared_path: out of memory for %zu entries of %zu features", entries, p);
    }
    fill(self);
    *out = self;
    return PN_OK;
}

/* ---- scores ---- */

uint64_t pn_squared_path_contribution(const pn_squared_path *self)
{
    return self->tau * self->scale.per_tau;
}

int64_t pn_squared_path_entry(const pn_squared_path *self, size_t j)
{
    return self->moving[j] - (int64_t)self->tau * self->fixed[j];
}

size_t pn_squared_path_taken(const pn_squared_path *self)
{
    return self->taken;
}

/* The sums are rounded to doubles, and differ by as much of each as that. */
double pn_squared_path_reach(const pn_squared_path *self, size_t j, size_t until)
{
    double moving = (double)self->moving[j], fixed = (double)self->fixed[j], now = 1.0 / (double)self->tau;
    double then = 1.0 / (double)tau_of(until), lost = (fabs(moving) * now + fabs(fixed)) * 0x1p-50;

    return (fmax(fabs(moving * now - fixed), fabs(moving * then - fixed)) + lost) / (double)self->scale.per_tau;
}

const double *pn_squared_path_reaches(pn_squared_path *self, size_t until, double by)
{
    for (size_t j = 0; j < self->data->p; j++)
        self->reaches[j] = pn_squared_path_reach(self, j, until) * by;
    return self->reaches;
}

void pn_squared_path_moved(const pn_squared_path *self, size_t j, void (*moved)(void *of, size_t k), void *of)
{
    const pn_csr *csr = &self->data->csr;

    for (size_t e = self->start[j]; e < self->start[j + 1]; e++) {
        for (size_t k = csr->start[self->row[e]]; k < csr->start[self->row[e] + 1]; k++)
            moved(of, csr->column[k]);
    }
}

double pn_squared_path_moves(const pn_squared_path *self, size_t j)
{
    double entries = (double)self->data->csr.start[self->data->n];

    return (double)(self->start[j + 1] - self->start[j]) * (entries / (double)self->data->n);
}

/* ---- a step ---- */

/* The margin of a record changes, and what it adds to its features. */
static void move_record(pn_squared_path *self, size_t i, int64_t by)
{
    const pn_csr *csr = &self->data->csr;
    const unsigned shift = self->scale.shift;
    int64_t old = self->margin[i], new = old + by;

    self->margin[i] = new;
    for (size_t e = csr->start[i]; e < csr->start[i + 1]; e++)
        self->moving[csr->column[e]] += part(self->by_row[e], new, shift) - part(self->by_row[e], old, shift);
}

void pn_squared_path_take(pn_squared_path *self, size_t j, bool negative)
{
    int64_t weight = (int64_t)(self->taken + 1);

    weight = negative ? -weight : weight;
    for (size_t e = self->start[j]; e < self->start[j + 1]; e++)
        move_record(self, self->row[e], weight * self->by_column[e]);
    self->taken++;
    self->tau = tau_of(self->taken);
}
