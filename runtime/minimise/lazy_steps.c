/* lazy_steps.c -- see lazy_steps.h.  Depends on: lazy_steps.h, objective, geometry/prox/prox.h.
 * Used by: svrg.c, svrg_plan.c.
 *
 * A coordinate that no record of the batch has an entry in makes the step T(x) = clip(s soft(x - eta v, eta l1)), s =
 * 1/(1 + eta l2), with the same v all through the epoch.  T does not fall anywhere, so x, T(x), T(T(x)), ... rises or
 * falls all the way: it may leave a sign once, pass 0 or stay there, and meet an end of its interval, where it stays.
 * In between T is a line: as long as x keeps the sign e and stays inside the interval,
 *     x_i = s^i x - d g_i,    d = eta v + e eta l1,    g_i = s + s^2 + ... + s^i,
 * and as x_i is monotone, the last such i is found by halving.
 *
 * The average of the epoch gives its iterate t the weight w_t = t (t + 1) ... (t + a - 1), which is (a + 1)/(t + a) of
 * w_1 + ... + w_t = t (t + 1) ... (t + a)/(a + 1).  For whole a, w_(t+i) is a polynomial in i with coefficients >= 0,
 * so that
 *     sum_i w_(t+i) x_i = x sum_q c_q sum_i i^q s^i - d sum_q c_q sum_i i^q g_i
 * takes two rows of a table of such sums, of positive terms: nothing cancels in them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/rows.h"
#include "minimise/lazy_steps.h"

#define MOST_A       3    /* of tail */
#define LEAST_WINDOW 4096 /* steps */
#define WINDOW_SHARE 8    /* p/8 steps: bringing all up to date costs eight coordinates a step */
#define FEW          3    /* steps that are made one by one */
#define WORTH        8.0  /* a lazy coordinate costs about as much as so many others of a loop over all */
#define FAR          1e300

typedef struct coordinate {
    double v, sum; /* weighted, of its iterates */
    double change; /* of its gradient, in the step being made */
    size_t seen;   /* steps that x has made of it */
} coordinate;

/* After i steps: s^i, g_i, and the sums of j^q s^j and j^q g_j over j <= i. */
typedef struct advance {
    double power, drift, powers[MOST_A + 1], drifts[MOST_A + 1];
} advance;

struct pn_lazy_steps {
    pn_lazy_options how;
    const pn_dataset *data;
    size_t a;
    double eta;
    pn_prox_net net;
    double threshold, shrink; /* eta l1; s */
    size_t step, flushed;     /* steps of this epoch; all coordinates have made so many */
    size_t window;            /* no coordinate misses more */
    double largest;           /* |x_j| of what has been touched; NaN stays */
    coordinate *at;           /* [p] */
    advance *table;           /* [window + 1] */
    double *low, *high;       /* [p] or NULL */
    double *differences;      /* [batch] */
};

/* ---- when ---- */

static bool as_net(const pn_composite *composite, pn_prox_net *net)
{
    *net = (pn_prox_net){ 0.0, 0.0, NULL };
    return !composite->prox || pn_prox_as_net(net, composite->prox);
}

const char *pn_lazy_obstacle(const pn_lazy_options *how)
{
    const pn_dataset *data = pn_objective_data(how->objective);
    pn_prox_net net;
    double entries;

    if (!data->sparse)
        return "the data are dense";
    if (data->partial)
        return "other ranks hold records";
    if (pn_loss_inputs(pn_objective_loss(how->objective)) != 1)
        return "the loss has several margins or further parameters";
    if (how->composite->smooth)
        return "the regulariser is taken by its gradient";
    if (!as_net(how->composite, &net))
        return "many steps of the proximal operator have no closed form";
    if (!(how->tail == 0.0 || how->tail == 1.0 || how->tail == 2.0 || how->tail == 3.0))
        return "tail is none of 0, 1, 2, 3";
    entries = (double)data->csr.start[data->n] / (double)data->n * (double)how->batch;
    return entries * WORTH > (double)data->p ? "a batch touches too many of the coordinates" : NULL;
}

/* ---- life ---- */

static void fill_table(pn_lazy_steps *self, double decay)
{
    double rate = log1p(decay);

    self->table[0] = (advance){ .power = 1.0 };
    for (size_t i = 1; i <= self->window; i++) {
        advance *now = &self->table[i];
        double place = (double)i, weight = 1.0;

        *now = self->table[i - 1];
        now->power = exp(-rate * place);
        now->drift = decay > 0.0 ? -expm1(-rate * place) / decay : place;
        for (size_t q = 0; q <= self->a; q++, weight *= place) {
            now->powers[q] += weight * now->power;
            now->drifts[q] += weight * now->drift;
        }
    }
}

/* The ends of the intervals are what is nearest to points that are very far away. */
static pn_status read_intervals(pn_lazy_steps *self, const pn_prox *clip, pn_err *err)
{
    size_t p = self->data->p;

    self->low = pn_alloc(p, 2 * sizeof *self->low);
    PN_TRY(pn_made(self->low, err, "%s: out of memory", self->how.owner));
    self->high = self->low + p;
    for (size_t j = 0; j < p; j++) {
        self->low[j] = -FAR;
        self->high[j] = FAR;
    }
    PN_TRY(pn_prox_apply(clip, self->low, p, 1.0, err));
    return pn_prox_apply(clip, self->high, p, 1.0, err);
}

static pn_status fill(pn_lazy_steps *self, const pn_lazy_options *how, pn_err *err)
{
    (void)as_net(how->composite, &self->net);
    self->how = *how;
    self->data = pn_objective_data(how->objective);
    self->a = (size_t)how->tail;
    self->window = self->data->p / WINDOW_SHARE > LEAST_WINDOW ? self->data->p / WINDOW_SHARE : LEAST_WINDOW;
    self->window = self->window < how->most ? self->window : how->most;
    self->at = pn_calloc(self->data->p, sizeof *self->at);
    self->table = pn_alloc(self->window + 1, sizeof *self->table);
    self->differences = pn_alloc(how->batch, sizeof *self->differences);
    PN_TRY(pn_made(self->at && self->table && self->differences, err, "%s: out of memory for %zu coordinates",
                   how->owner, self->data->p));
    return self->net.clip ? read_intervals(self, self->net.clip, err) : PN_OK;
}

pn_status pn_lazy_new(pn_lazy_steps **out, const pn_lazy_options *how, pn_err *err)
{
    pn_lazy_steps *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "%s: out of memory", how->owner));
    status = fill(self, how, err);
    if (status == PN_OK)
        *out = self;
    else
        pn_lazy_free(self);
    return status;
}

void pn_lazy_free(pn_lazy_steps *self)
{
    if (!self)
        return;
    pn_free(self->at);
    pn_free(self->table);
    pn_free(self->low);
    pn_free(self->differences);
    pn_free(self);
}

/* What steps of that size share. */
static void set_eta(pn_lazy_steps *self, double eta)
{
    self->eta = eta;
    self->threshold = eta * self->net.l1;
    self->shrink = 1.0 / (1.0 + eta * self->net.l2);
    fill_table(self, eta * self->net.l2);
}

void pn_lazy_begin(pn_lazy_steps *self, const double *v, double eta)
{
    if (eta != self->eta)
        set_eta(self, eta);
    for (size_t j = 0; j < self->data->p; j++)
        self->at[j] = (coordinate){ .v = v[j] };
    self->step = self->flushed = 0;
    self->largest = 0.0;
}

/* ---- weights ---- */

/* w_t */
static double weight(const pn_lazy_steps *self, size_t t)
{
    double product = 1.0;

    for (size_t r = 0; r < self->a; r++)
        product *= (double)(t + r);
    return product;
}

/* w_1 + ... + w_t */
static double weights(const pn_lazy_steps *self, size_t t)
{
    return weight(self, t) * ((double)t + (double)self->a) / ((double)self->a + 1.0);
}

/* c_q of w_(t+i) = sum_q c_q i^q: the product of (t + r) + i over r < a, multiplied out. */
static void weight_polynomial(const pn_lazy_steps *self, size_t t, double c[MOST_A + 1])
{
    memset(c, 0, (MOST_A + 1) * sizeof *c);
    c[0] = 1.0;
    for (size_t r = 0; r < self->a; r++) {
        for (size_t q = r + 1; q > 0; q--)
            c[q] = c[q] * (double)(t + r) + c[q - 1];
        c[0] *= (double)(t + r);
    }
}

/* ---- one coordinate ---- */

static inline double one_step(const pn_lazy_steps *self, size_t j, double x, double g)
{
    double t = self->threshold, moved = x - self->eta * g;
    double up = moved > -t ? moved : -t, middle = up < t ? up : t, next = (moved - middle) * self->shrink;

    if (self->low) {
        next = next > self->low[j] ? next : self->low[j];
        next = next < self->high[j] ? next : self->high[j];
    }
    return next;
}

static inline double after(const pn_lazy_steps *self, double x, double d, size_t i)
{
    return self->table[i].power * x - d * self->table[i].drift;
}

/* Whether a point that x comes to along its line is on the line's side of 0, where that matters,
 * and inside the interval. */
static inline bool on_line(const pn_lazy_steps *self, size_t j, double x, double point)
{
    return (self->threshold == 0.0 || (x > 0.0 ? point > 0.0 : point < 0.0)) &&
           (!self->low || (point >= self->low[j] && point <= self->high[j]));
}

/* Of `most` steps from x, those along its line. */
static size_t steps_on_line(const pn_lazy_steps *self, size_t j, double x, double d, size_t most)
{
    size_t good = 0, bad = most;

    if (on_line(self, j, x, after(self, x, d, most)))
        return most;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;

        if (on_line(self, j, x, after(self, x, d, middle)))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* The sum of w_(t+i) x_i over the i = 1..count next points of a line. */
static double line_sum(const pn_lazy_steps *self, double x, double d, size_t t, size_t count)
{
    const advance *to = &self->table[count];
    double c[MOST_A + 1], decayed = 0.0, drifted = 0.0;

    weight_polynomial(self, t, c);
    for (size_t q = 0; q <= self->a; q++) {
        decayed += c[q] * to->powers[q];
        drifted += c[q] * to->drifts[q];
    }
    return x * decayed - d * drifted;
}

/* The steps that coordinate j has missed until step `until`. */
static void make_up(pn_lazy_steps *self, size_t j, size_t until, double *x)
{
    coordinate *c = &self->at[j];
    size_t t = c->seen, left = until - t;
    double now = x[j];

    while (left > 0) {
        double next = one_step(self, j, now, c->v), d;
        size_t count;

        if (next == now) {
            c->sum += now * (weights(self, until) - weights(self, t));
            break;
        }
        now = next;
        left--;
        c->sum += weight(self, ++t) * now;
        if (left <= FEW || now == 0.0)
            continue;
        d = self->eta * c->v + copysign(self->threshold, now);
        count = steps_on_line(self, j, now, d, left);
        if (count == 0)
            continue;
        c->sum += line_sum(self, now, d, t, count);
        now = after(self, now, d, count);
        t += count;
        left -= count;
    }
    x[j] = now;
    c->seen = until;
}

/* ---- a step ---- */

/* Memory brings all that a record touches at once. */
static void ask_for(const pn_lazy_steps *self, size_t row, const double *x)
{
    const pn_csr *csr = &self->data->csr;

    for (size_t k = csr->start[row]; k < csr->start[row + 1]; k++) {
        __builtin_prefetch(&self->at[csr->column[k]], 1);
        __builtin_prefetch(x + csr->column[k], 1);
    }
}

static void make_up_row(pn_lazy_steps *self, size_t row, double *x)
{
    const pn_csr *csr = &self->data->csr;

    for (size_t k = csr->start[row]; k < csr->start[row + 1]; k++) {
        if (self->at[csr->column[k]].seen < self->step)
            make_up(self, csr->column[k], self->step, x);
    }
}

static void add_row(pn_lazy_steps *self, size_t row, double factor)
{
    const pn_dataset *data = self->data;

    for (size_t k = data->csr.start[row]; k < data->csr.start[row + 1]; k++)
        self->at[data->csr.column[k]].change +=
            factor * (data->float32 ? (double)data->csr_single[k] : data->csr.value[k]);
}

static inline void note_size(pn_lazy_steps *self, double x)
{
    if (fabs(x) > self->largest || isnan(x))
        self->largest = fabs(x);
}

/* The coordinates of a row that no row before it in the batch has moved. */
static void move_row(pn_lazy_steps *self, size_t row, double share, double *x)
{
    const pn_csr *csr = &self->data->csr;
    double w = weight(self, self->step);

    for (size_t k = csr->start[row]; k < csr->start[row + 1]; k++) {
        size_t j = csr->column[k];
        coordinate *c = &self->at[j];

        if (c->seen == self->step)
            continue;
        x[j] = one_step(self, j, x[j], c->change * share + c->v);
        c->sum += w * x[j];
        c->change = 0.0;
        c->seen = self->step;
        note_size(self, x[j]);
    }
}

static void flush(pn_lazy_steps *self, double *x)
{
    for (size_t j = 0; j < self->data->p; j++) {
        if (self->at[j].seen < self->step)
            make_up(self, j, self->step, x);
        note_size(self, x[j]);
    }
    self->flushed = self->step;
}

pn_status pn_lazy_step(pn_lazy_steps *self, const pn_batch *batch, const double *factors, double *x, pn_err *err)
{
    const double share = 1.0 / (double)self->how.batch;

    for (size_t r = 0; r < batch->count; r++)
        ask_for(self, batch->rows[r], x);
    for (size_t r = 0; r < batch->count; r++) {
        make_up_row(self, batch->rows[r], x);
        PN_TRY(pn_objective_record_difference(self->how.objective, batch->rows[r], x, factors, &self->differences[r],
                                              err));
    }
    self->step++;
    for (size_t r = 0; r < batch->count; r++)
        add_row(self, batch->rows[r], self->differences[r]);
    for (size_t r = 0; r < batch->count; r++)
        move_row(self, batch->rows[r], share, x);
    if (self->step - self->flushed == self->window)
        flush(self, x);
    return PN_OK;
}

bool pn_lazy_within(const pn_lazy_steps *self, double reach)
{
    return self->largest <= reach;
}

void pn_lazy_finish(pn_lazy_steps *self, double *x, double *average)
{
    double total = weights(self, self->step);

    flush(self, x);
    for (size_t j = 0; j < self->data->p; j++)
        average[j] = self->at[j].sum / total;
}
