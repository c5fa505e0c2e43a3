/* pld_cells.c -- where the knots of a loss law go: where they matter to the question.
 * Depends on: pld_law.h, numeric/root.h.  Used by: pld.c.
 *
 * A cell (l, r] with masses P and Q has the loss ln(P/Q) when it is one outcome, and is at most the two outcomes l and
 * r with the same P and Q (pld_law.c).  With a the part of P at l, the two differ in E exp(t L) by P (a e^(t l) + (1-a)
 * e^(t r) - (P/Q)^t),   about  t (t+1)/2 a (1-a) (r-l)^2 P (P/Q)^t   for narrow cells, and the number of releases times
 * the sum of these over E exp(t L), divided by t, is about what the bounds on epsilon differ by.  Hence the cell with
 * too large a share is cut in two, at its own loss: an atom is then alone after one cut, and a tail of any shape is
 * followed as far as it counts.  Losses of very different sizes cost a few knots each. */
#include <math.h>
#include <stdint.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "numeric/root.h"
#include "privacy/accounting/pld_law.h"
#include "privacy/event/event_curve.h"

#define MAX_LOSS 600.0
#define DEPTH    128
#define ROUGH    1.3     /* ratio of neighbouring knots of a rough law */
#define OCTAVES  0x1p-40 /* as far as its knots go towards 0, times the largest loss */

/* ---- ends ---- */

typedef struct tail_search {
    const pn_pair *pair;
    double tail;
} tail_search;

static bool reaches(void *self, double loss)
{
    const tail_search *search = self;
    pn_tails t;

    search->pair->tails(search->pair, loss, &t);
    return t.p_below > search->tail || t.q_below > search->tail;
}

static bool covers(void *self, double loss)
{
    const tail_search *search = self;
    pn_tails t;

    search->pair->tails(search->pair, loss, &t);
    return t.p_above <= search->tail + search->pair->p_infinite && t.q_above <= search->tail;
}

static void find_ends(const pn_pair *pair, double tail, double *low, double *high)
{
    tail_search search = { pair, tail };

    *low = pn_bisect(reaches, &search, fmax(pair->low, -MAX_LOSS), fmin(pair->high, MAX_LOSS));
    *high = fmin(pair->high, nextafter(pn_bisect(covers, &search, *low, fmin(pair->high, MAX_LOSS)), INFINITY));
    if (!(*high > *low))
        *high = *low + 1e-12 * fmax(1e-300, fabs(*low));
}

/* ---- one cell after the other ---- */

typedef struct knot {
    double loss;
    pn_tails tails;
} knot;

typedef struct builder {
    const pn_pair *pair;
    const pn_cells_plan *plan;
    pn_cells *out;
    knot last;
    bool full, enough; /* too many knots; memory */
} builder;

static knot knot_at(const builder *b, double loss)
{
    knot k = { .loss = loss };

    b->pair->tails(b->pair, loss, &k.tails);
    return k;
}

static bool reserve(pn_cells *c, size_t n)
{
    size_t room = c->room ? c->room : 256;
    double *loss, *p, *q;

    if (n <= c->room)
        return true;
    while (room < n)
        room *= 2;
    loss = pn_resize(c->loss, room, sizeof *loss);
    c->loss = loss ? loss : c->loss;
    p = pn_resize(c->p, room, sizeof *p);
    c->p = p ? p : c->p;
    q = pn_resize(c->q, room, sizeof *q);
    c->q = q ? q : c->q;
    if (!loss || !p || !q)
        return false;
    c->room = room;
    return true;
}

/* The difference of the tails that are the smaller ones. */
static void masses(const knot *left, const knot *right, double *p, double *q)
{
    const pn_tails *l = &left->tails, *r = &right->tails;

    *p = pn_nonnegative(l->p_above < 0.5 ? l->p_above - r->p_above : r->p_below - l->p_below);
    *q = pn_nonnegative(l->q_above < 0.5 ? l->q_above - r->q_above : r->q_below - l->q_below);
}

/* Rounding has put the loss of the cell outside the cell. */
static bool is_astray(double p, double q, double l, double r)
{
    double loss = log(p / q), room = 1e-15 * (1.0 + fabs(l));

    return p > 0.0 && q > 0.0 && !(loss >= l - room && loss <= r + room);
}

/* Cells that have gone astray are merged with their neighbours: their hockey stick at the knots that are left is that
 * of the tails there, which is all that the certificate is about. */
static void push(builder *b, const knot *right, double p, double q)
{
    pn_cells *c = b->out;
    size_t n = c->n;

    if (!b->enough || !reserve(c, n + 1)) {
        b->enough = false;
        return;
    }
    c->loss[n] = right->loss;
    c->p[n - 1] = p;
    c->q[n - 1] = q;
    c->n = n + 1;
    while (c->n > 2) {
        size_t j = c->n - 2; /* the last cell, from knot j to j + 1 */

        if (!is_astray(c->p[j], c->q[j], c->loss[j], c->loss[j + 1]) &&
            !is_astray(c->p[j - 1], c->q[j - 1], c->loss[j - 1], c->loss[j]))
            break;
        c->p[j - 1] += c->p[j];
        c->q[j - 1] += c->q[j];
        c->loss[j] = c->loss[j + 1];
        c->n--;
    }
    b->full = c->n > b->plan->most;
}

/* What the cell adds to the part, as its composition counts it. */
static double cost(const pn_cells_part *part, double p, double q, double l, double r)
{
    double t = part->tilt, h = r - l, loss = log(p / q), scale = part->log_scale, a, centre = exp(t * loss - scale),
           weight = p * (r > part->from ? part->weight_beyond : part->weight);

    if (l >= part->reach || !(loss > l && loss < r))
        return 0.0;
    a = h > 500.0 ? exp(l - loss) : expm1(r - loss) / expm1(h);
    if ((t + 1.0) * h < 0.5)
        return weight * centre * a * (1.0 - a) * h * h * t * (t + 1.0) / 2.0;
    return weight * (a * (exp(t * l - scale) - centre) + (1.0 - a) * (exp(t * r - scale) - centre));
}

static bool should_split(const builder *b, const knot *right, double p, double q, double *at)
{
    const pn_cells_plan *plan = b->plan;
    double l = b->last.loss, r = right->loss;

    *at = log(p / q);
    if (!(p > 0.0 && q > 0.0) || !(*at > l && *at < r) || r - l <= 1e-13 * fmax(fabs(l), fabs(r)))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        if ((plan->mirrored ? cost(&plan->parts[i], q, p, -r, -l) : cost(&plan->parts[i], p, q, l, r)) >
            plan->tolerance)
            return true;
    return false;
}

/* From the last knot to `loss`, in as many cells as it takes. */
static void go_to(builder *b, double loss)
{
    knot stack[DEPTH];
    size_t depth = 1;

    stack[0] = knot_at(b, loss);
    while (depth > 0 && b->enough && !b->full) {
        knot *right = &stack[depth - 1];
        double p, q, at;

        masses(&b->last, right, &p, &q);
        if (depth < DEPTH && should_split(b, right, p, q, &at)) {
            stack[depth++] = knot_at(b, at);
            continue;
        }
        push(b, right, p, q);
        b->last = *right;
        depth--;
    }
}

static void start(builder *b, double loss)
{
    pn_cells *c = b->out;

    b->last = knot_at(b, loss);
    c->p_below = b->last.tails.p_below;
    c->q_below = b->last.tails.q_below;
    b->enough = reserve(c, 2);
    if (b->enough) {
        c->loss[0] = loss;
        c->n = 1;
    }
}

/* ---- the knots that are there from the start ---- */

static void go_geometrically(builder *b, double from, double to)
{
    double most = fmax(fabs(from), fabs(to)), least = most * OCTAVES;

    for (double at = -from; at > least; at /= ROUGH)
        if (-at > from && -at < to)
            go_to(b, -at);
    if (from < 0.0 && to > 0.0)
        go_to(b, 0.0);
    for (double at = least; at < to; at *= ROUGH)
        if (at > from)
            go_to(b, at);
    go_to(b, to);
}

static void build(builder *b, double low, double high)
{
    start(b, low);
    if (b->plan->count == 0) {
        go_geometrically(b, low, high);
    } else {
        if (low < 0.0 && high > 0.0)
            go_to(b, 0.0);
        go_to(b, high);
    }
    b->out->p_above = b->last.tails.p_above;
    b->out->q_above = b->last.tails.q_above;
}

pn_status pn_cells_new(pn_cells *out, const pn_pair *pair, const pn_cells_plan *plan, pn_err *err)
{
    builder b = { .pair = pair, .plan = plan, .out = out };
    double low, high;
    pn_status status = PN_OK;

    *out = (pn_cells){ .p_infinite = pair->p_infinite, .q_infinite = pair->q_infinite };
    PN_TRY(pn_stop_asked(err));
    find_ends(pair, plan->tail, &low, &high);
    build(&b, low, high);
    if (!b.enough)
        status = pn_fail(err, PN_ENOMEM, "accountant.pld: out of memory for %zu points", out->n + 1);
    if (status != PN_OK || b.full)
        pn_cells_clear(out);
    return status;
}

void pn_cells_clear(pn_cells *cells)
{
    pn_free(cells->loss);
    pn_free(cells->p);
    pn_free(cells->q);
    *cells = (pn_cells){ 0 };
}
