/* gradient_path.c -- see gradient_path.h.  Depends on: slope_lines.h, data.  Used by: oracle. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/gradient_path.h"

#define ROOM   62                  /* bits of all records together */
#define FINEST ((uint64_t)1 << 11) /* C/tau from it on: the 2 of the shifts is at most 2^-10 of it */

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

typedef struct scale {
    double feature;   /* whole numbers in a unit of it */
    unsigned shift;   /* h */
    uint64_t per_tau; /* C/tau */
} scale;

struct pn_gradient_path {
    const pn_dataset *data; /* kept */
    scale scale;
    size_t taken;    /* t */
    uint32_t vertex; /* the one at hand, from 1 */
    pn_slope_lines *lines;
    int32_t *by_row;    /* X, beside data->csr.column */
    size_t *start;      /* [p + 1]: of a column's entries */
    uint32_t *row;      /* of each, ... */
    int32_t *by_column; /* ... and its X */
    pn_line *sum;       /* [p] sum (X T >> h) and sum (X Y >> h), beside each other: records read them at random */
    double *reaches;    /* [p] */
    uint32_t *renewed;  /* [n] records whose lines the last vertex moved, each once, ... */
    size_t renewed_count;
    uint32_t *renewed_by; /* [n] ... and for each record the last that did, from 1 */
};

/* ---- the scale, which is public ---- */

/* What X and a number of that many units come to after the shift. */
static u128 product(int64_t units, unsigned shift)
{
    u128 largest = (u128)(uint64_t)units << PN_PATH_BITS;

    return ((largest + (((u128)1 << shift) - 1)) >> shift) + 2;
}

/* The least shift at which the sums of T and of tau Y fit ROOM bits together. */
static bool find_scale(scale *out, const pn_path_options *options)
{
    const pn_dataset *data = options->data;
    pn_line_limits limits;
    u128 room;

    if (!pn_slope_lines_limits(&limits, options))
        return false;
    *out = (scale){ .feature = ldexp(1.0, PN_PATH_BITS) / data->bounds.norm[PN_LINF] };
    room = ((u128)1 << ROOM) / pn_path_tau(options->steps) / data->n;
    for (;; out->shift++) {
        u128 per_tau = product(limits.slope, out->shift);

        if (per_tau < FINEST)
            return false;
        out->per_tau = (uint64_t)per_tau;
        if (product(limits.turned + limits.level, out->shift) <= room)
            return true;
    }
}

bool pn_gradient_path_suits(const pn_path_options *options)
{
    const pn_dataset *data = options->data;
    scale unused;

    return data->sparse && !data->absent && !data->partial && !data->file && find_scale(&unused, options);
}

/* ---- whole numbers ---- */

/* x y >> h, rounded down. */
static int64_t part(int32_t x, int64_t y, unsigned shift)
{
    return (int64_t)(((i128)x * y) >> shift);
}

/* Columns by counting: start[j + 1] is first where column j is written to next. */
static void fill_columns(pn_gradient_path *self)
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

static void fill(pn_gradient_path *self)
{
    const pn_csr *csr = &self->data->csr;

    for (size_t i = 0; i < csr->rows; i++) {
        const pn_line *line = pn_slope_line(self->lines, i);

        for (size_t e = csr->start[i]; e < csr->start[i + 1]; e++) {
            self->by_row[e] =
                (int32_t)pn_path_whole(pn_path_feature(self->data, e), self->scale.feature, PN_PATH_WHOLE); /* |X| */
            self->sum[csr->column[e]].turned += part(self->by_row[e], line->turned, self->scale.shift);
            self->sum[csr->column[e]].level += part(self->by_row[e], line->level, self->scale.shift);
        }
    }
    fill_columns(self);
}

/* ---- life ---- */

void pn_gradient_path_free(pn_gradient_path *self)
{
    if (!self)
        return;
    pn_slope_lines_free(self->lines);
    pn_free(self->by_row);
    pn_free(self->start);
    pn_free(self->row);
    pn_free(self->by_column);
    pn_free(self->sum);
    pn_free(self->reaches);
    pn_free(self->renewed);
    pn_free(self->renewed_by);
    pn_free(self);
}

static bool make_room(pn_gradient_path *self)
{
    size_t n = self->data->n, p = self->data->p, entries = self->data->csr.start[n];

    self->by_row = pn_calloc(entries + 1, sizeof *self->by_row);
    self->start = pn_calloc(p + 1, sizeof *self->start);
    self->row = pn_calloc(entries + 1, sizeof *self->row);
    self->by_column = pn_calloc(entries + 1, sizeof *self->by_column);
    self->sum = pn_calloc(p, sizeof *self->sum);
    self->reaches = pn_calloc(p, sizeof *self->reaches);
    self->renewed = pn_calloc(n, sizeof *self->renewed);
    self->renewed_by = pn_calloc(n, sizeof *self->renewed_by);
    return self->by_row && self->start && self->row && self->by_column && self->sum && self->reaches && self->renewed &&
           self->renewed_by;
}

pn_status pn_gradient_path_new(pn_gradient_path **out, const pn_path_options *options, pn_err *err)
{
    pn_gradient_path *self;
    pn_status status;

    if (!pn_gradient_path_suits(options))
        return pn_fail(err, PN_EINVAL, "gradient_path: %zu steps on these records do not fit whole numbers",
                       options->steps);
    PN_TRY(pn_new_zeroed(&self, 1, err, "gradient_path: out of memory"));
    self->data = options->data;
    (void)find_scale(&self->scale, options);
    status = pn_slope_lines_new(&self->lines, options, err);
    if (status == PN_OK && !make_room(self))
        status = pn_fail(err, PN_ENOMEM, "gradient_path: out of memory for %zu entries of %zu features",
                         self->data->csr.start[self->data->n], self->data->p);
    if (status != PN_OK) {
        pn_gradient_path_free(self);
        return status;
    }
    fill(self);
    *out = self;
    return PN_OK;
}

/* ---- scores ---- */

uint64_t pn_gradient_path_contribution(const pn_gradient_path *self)
{
    return pn_path_tau(self->taken) * self->scale.per_tau;
}

int64_t pn_gradient_path_entry(const pn_gradient_path *self, size_t j)
{
    return self->sum[j].turned - (int64_t)pn_path_tau(self->taken) * self->sum[j].level;
}

size_t pn_gradient_path_taken(const pn_gradient_path *self)
{
    return self->taken;
}

/* The sums are rounded to doubles, and differ by as much of each as that; more, so that what a caller multiplies it
 * with may be rounded, too. */
double pn_gradient_path_reach(const pn_gradient_path *self, size_t j, size_t until, int side)
{
    double turned = (double)self->sum[j].turned, level = (double)self->sum[j].level;
    double now = 1.0 / (double)pn_path_tau(self->taken), then = 1.0 / (double)pn_path_tau(until);
    double lost = (fabs(turned) * now + fabs(level)) * 0x1p-40;
    double begin = turned * now - level, end = turned * then - level;
    double most = side == 0 ? fmax(fabs(begin), fabs(end)) : side > 0 ? fmax(begin, end) : fmax(-begin, -end);

    return (most + lost) / (double)self->scale.per_tau;
}

const double *pn_gradient_path_reaches(pn_gradient_path *self, size_t first, size_t count, size_t until, int side,
                                       double by)
{
    for (size_t k = 0; k < count; k++)
        self->reaches[k] = pn_gradient_path_reach(self, first + k, until, side) * by;
    return self->reaches;
}

void pn_gradient_path_moved(const pn_gradient_path *self, void (*moved)(void *of, size_t k), void *of)
{
    const pn_csr *csr = &self->data->csr;

    for (size_t r = 0; r < self->renewed_count; r++) {
        for (size_t e = csr->start[self->renewed[r]]; e < csr->start[self->renewed[r] + 1]; e++)
            moved(of, csr->column[e]);
    }
}

size_t pn_gradient_path_moves(const pn_gradient_path *self)
{
    const pn_csr *csr = &self->data->csr;
    size_t sum = 0;

    for (size_t r = 0; r < self->renewed_count; r++)
        sum += csr->start[self->renewed[r] + 1] - csr->start[self->renewed[r]];
    return sum;
}

/* ---- a step ---- */

/* What the record adds to its features, by its new line. */
static void renew(pn_gradient_path *self, size_t i)
{
    const pn_csr *csr = &self->data->csr;
    const unsigned shift = self->scale.shift;
    const pn_line old = *pn_slope_line(self->lines, i);
    pn_line new;

    pn_slope_lines_renew(self->lines, i, self->taken);
    new = *pn_slope_line(self->lines, i);
    if (self->renewed_by[i] != self->vertex) {
        self->renewed_by[i] = self->vertex;
        self->renewed[self->renewed_count++] = (uint32_t)i;
    }
    for (size_t e = csr->start[i]; e < csr->start[i + 1]; e++) {
        pn_line *sum = &self->sum[csr->column[e]];
        int32_t x = self->by_row[e];

        sum->turned += part(x, new.turned, shift) - part(x, old.turned, shift);
        if (new.level != old.level)
            sum->level += part(x, new.level, shift) - part(x, old.level, shift);
    }
}

/* The first vertex, of weight 1, leaves nothing of where it began. */
static void leave_start(pn_gradient_path *self)
{
    for (size_t i = 0; i < self->data->n; i++) {
        int64_t margin = pn_slope_lines_margin(self->lines, i);

        if (margin != 0) {
            pn_slope_lines_move(self->lines, i, -margin);
            renew(self, i);
        }
    }
}

/* A column's records by their new margins; one that has several of the columns is renewed by each. */
static void add_column(pn_gradient_path *self, const pn_path_entry *entry)
{
    int64_t weight = (int64_t)self->taken;

    for (size_t e = self->start[entry->j]; e < self->start[entry->j + 1]; e++) {
        pn_slope_lines_move(self->lines, self->row[e], weight * (self->by_column[e] * entry->share / PN_PATH_WHOLE));
        renew(self, self->row[e]);
    }
}

void pn_gradient_path_take(pn_gradient_path *self, const pn_path_entry *entries, size_t count)
{
    size_t i;

    self->vertex++;
    self->renewed_count = 0;
    if (self->taken == 0)
        leave_start(self);
    self->taken++;
    for (size_t k = 0; k < count; k++)
        add_column(self, &entries[k]);
    while (pn_slope_lines_due(self->lines, self->taken, &i))
        renew(self, i);
}
