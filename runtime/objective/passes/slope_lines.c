/* slope_lines.c -- see slope_lines.h.  Lines that have to be renewed at a known step wait in a list of that step.
 * Depends on: data, losses.  Used by: gradient_path.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/passes/slope_lines.h"

#define TURN_BITS 24 /* of h */
#define NOBODY    UINT32_MAX

__extension__ typedef __int128 i128;

struct pn_slope_lines {
    pn_path_options of;
    pn_line_limits limits;
    double unit;           /* u */
    int64_t slope_limit;   /* of l'(m)/u when it is taken */
    int64_t *margin;       /* [n] M */
    double *base;          /* [n] b; NULL: 0 */
    pn_line *line;         /* [n] */
    uint32_t *first;       /* [steps + 1]: of each step's list, ... */
    uint32_t *next, *back; /* [n] each */
    uint32_t *due;         /* [n] the step in whose list a record is; 0: in none */
};

/* ---- limits, which are public ---- */

static int64_t slopes_of(double slope, double unit)
{
    return (int64_t)ceil(slope / unit);
}

static double unit_of(const pn_path_options *options)
{
    return ldexp(options->radius * options->data->bounds.norm[PN_LINF], -PN_PATH_BITS);
}

bool pn_slope_lines_limits(pn_line_limits *out, const pn_path_options *options)
{
    const pn_record_bounds *bounds = &options->data->bounds;
    double unit = unit_of(options), most;
    bool squared = options->slopes == PN_PATH_SQUARED, turns = options->slopes == PN_PATH_LINEARISED;

    most = squared ? fmax(fabs(bounds->label_low), fabs(bounds->label_high)) + options->shifted : options->slope;
    if (squared && !(isfinite(bounds->label_low) && isfinite(bounds->label_high)))
        return false;
    if (!(isfinite(bounds->norm[PN_LINF]) && unit > 0.0 && most / unit <= 0x1p50) || options->steps > PN_PATH_STEPS ||
        options->data->n >= NOBODY)
        return false;
    *out = (pn_line_limits){ .turned = squared ? (int64_t)1 << PN_PATH_BITS : 0, .level = slopes_of(most, unit) };
    if (squared) {
        out->slope = out->turned + out->level;
        return true;
    }
    out->slope = out->level + (out->level >> 12) + 3;
    if (turns) {
        if (!(options->curvature <= 0x1p20 && options->kappa > 0.0))
            return false;
        out->turned = (int64_t)ceil(ldexp(options->curvature, PN_PATH_BITS)) + 64;
    }
    out->level += out->turned + 2;
    return (i128)out->turned * pn_path_tau(options->steps) <= (i128)1 << 62;
}

/* ---- lists of steps ---- */

static void leave(pn_slope_lines *self, size_t i)
{
    uint32_t next = self->next[i], back = self->back[i];

    if (self->due[i] == 0)
        return;
    if (back == NOBODY)
        self->first[self->due[i]] = next;
    else
        self->next[back] = next;
    if (next != NOBODY)
        self->back[next] = back;
    self->due[i] = 0;
}

static void wait_for(pn_slope_lines *self, size_t i, size_t step)
{
    uint32_t first = self->first[step];

    self->due[i] = (uint32_t)step;
    self->next[i] = first;
    self->back[i] = NOBODY;
    if (first != NOBODY)
        self->back[first] = (uint32_t)i;
    self->first[step] = (uint32_t)i;
}

bool pn_slope_lines_due(const pn_slope_lines *self, size_t taken, size_t *i)
{
    if (!self->first || self->first[taken] == NOBODY)
        return false;
    *i = self->first[taken];
    return true;
}

/* ---- a line ---- */

const pn_line *pn_slope_line(const pn_slope_lines *self, size_t i)
{
    return &self->line[i];
}

int64_t pn_slope_lines_margin(const pn_slope_lines *self, size_t i)
{
    return self->margin[i];
}

void pn_slope_lines_move(pn_slope_lines *self, size_t i, int64_t by)
{
    self->margin[i] += by;
}

/* Whether the line that was taken at tau `from` holds at tau `at`. */
static bool holds(const pn_slope_lines *self, size_t i, uint64_t from, uint64_t at)
{
    const pn_line *line = &self->line[i];
    double margin = (double)self->margin[i] * self->unit;
    i128 value = (i128)line->turned - (i128)at * line->level, limit = (i128)at * self->limits.slope;

    return value <= limit && -value <= limit && fabs(margin / (double)from - margin / (double)at) <= self->of.kappa;
}

/* Once a line does not hold it never does again: 1/tau falls, the margin and the line go one way. */
static void find_due(pn_slope_lines *self, size_t i, size_t taken)
{
    size_t good = taken, bad = self->of.steps - 1; /* the last choice is made after as many */

    if (bad <= good || holds(self, i, pn_path_tau(taken), pn_path_tau(bad)))
        return;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;

        if (holds(self, i, pn_path_tau(taken), pn_path_tau(middle)))
            good = middle;
        else
            bad = middle;
    }
    wait_for(self, i, bad);
}

static int64_t floor_of(int64_t x, uint64_t by)
{
    int64_t quotient = x / (int64_t)by;

    return quotient - (x % (int64_t)by < 0);
}

/* l'(m)/u, and h M, of one record at a time: the same code wherever it stands. */
static void tangent(pn_slope_lines *self, size_t i, uint64_t tau)
{
    const pn_loss *loss = self->of.loss;
    double margin = (double)self->margin[i] / (double)tau * self->unit + (self->base ? self->base[i] : 0.0);
    double y = self->of.data->y[i], one = 1.0, slope, turn;
    int64_t whole;

    loss->ops->evaluate(loss, 1, &margin, &y, NULL, &slope);
    whole = pn_path_whole(slope, 1.0 / self->unit, self->slope_limit);
    self->line[i] = (pn_line){ 0, -whole };
    if (self->of.slopes == PN_PATH_STALE || self->margin[i] == 0)
        return;
    loss->ops->curve(loss, 1, &margin, &y, &one, &turn);
    turn = fmax(-self->of.curvature, fmin(turn, self->of.curvature));
    self->line[i].turned = (int64_t)(((i128)(int64_t)ldexp(turn, TURN_BITS) * self->margin[i]) >> TURN_BITS);
    self->line[i].level = floor_of(self->line[i].turned, tau) - whole;
}

void pn_slope_lines_renew(pn_slope_lines *self, size_t i, size_t taken)
{
    if (self->of.slopes == PN_PATH_SQUARED) {
        self->line[i].turned = self->margin[i];
        return;
    }
    if (self->due)
        leave(self, i);
    tangent(self, i, pn_path_tau(taken));
    if (self->due && self->margin[i] != 0)
        find_due(self, i, taken);
}

/* ---- life ---- */

void pn_slope_lines_free(pn_slope_lines *self)
{
    if (!self)
        return;
    pn_free(self->margin);
    pn_free(self->base);
    pn_free(self->line);
    pn_free(self->first);
    pn_free(self->next);
    pn_free(self->back);
    pn_free(self->due);
    pn_free(self);
}

static bool make_lists(pn_slope_lines *self)
{
    size_t n = self->of.data->n;

    self->first = pn_calloc(self->of.steps + 1, sizeof *self->first);
    self->next = pn_calloc(n, sizeof *self->next);
    self->back = pn_calloc(n, sizeof *self->back);
    self->due = pn_calloc(n, sizeof *self->due);
    if (!self->first || !self->next || !self->back || !self->due)
        return false;
    for (size_t step = 0; step <= self->of.steps; step++)
        self->first[step] = NOBODY;
    return true;
}

/* <x_i, at>, in the order of its entries. */
static double times(const pn_dataset *data, size_t i, const double *at)
{
    const pn_csr *csr = &data->csr;
    double sum = 0.0;

    for (size_t e = csr->start[i]; at && e < csr->start[i + 1]; e++)
        sum += at[csr->column[e]] * pn_path_feature(data, e);
    return sum;
}

static void begin(pn_slope_lines *self, size_t i)
{
    const pn_path_options *of = &self->of;
    const double per_unit = 1.0 / self->unit, base = times(of->data, i, of->shift);

    if (of->shift)
        self->base[i] = base;
    if (of->start)
        self->margin[i] = pn_path_whole(times(of->data, i, of->start) - base, per_unit, (int64_t)1 << PN_PATH_BITS);
    if (of->slopes != PN_PATH_SQUARED)
        tangent(self, i, 1);
    else
        self->line[i] =
            (pn_line){ self->margin[i], pn_path_whole(of->data->y[i] - base, per_unit, self->limits.level) };
}

pn_status pn_slope_lines_new(pn_slope_lines **out, const pn_path_options *options, pn_err *err)
{
    size_t n = options->data->n;
    pn_slope_lines *self;

    PN_TRY(pn_new_zeroed(&self, 1, err, "gradient_path: out of memory"));
    self->of = *options;
    self->unit = unit_of(options);
    (void)pn_slope_lines_limits(&self->limits, options);
    self->slope_limit = slopes_of(options->slope, self->unit);
    self->margin = pn_calloc(n, sizeof *self->margin);
    self->line = pn_calloc(n, sizeof *self->line);
    self->base = options->shift ? pn_calloc(n, sizeof *self->base) : NULL;
    if (!self->margin || !self->line || (options->shift && !self->base) ||
        (options->slopes == PN_PATH_LINEARISED && !make_lists(self))) {
        pn_slope_lines_free(self);
        return pn_fail(err, PN_ENOMEM, "gradient_path: out of memory for %zu records", n);
    }
    for (size_t i = 0; i < n; i++)
        begin(self, i);
    *out = self;
    return PN_OK;
}
