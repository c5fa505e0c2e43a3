/* bound_jump.c -- whether an expression of one variable jumps where its switches turn, and how far.
 * The domain is halved until each cell has no undecided switch or is a few units in the last place wide.  What is left
 * undecided is a switch point: the values on thin intervals to its left and right, where the switches are decided, and
 * at the point itself tell the jump.  Depends on: bound_impl.h, interval_math.h.
 * Used by: bound.h's callers, bound_shape.c. */
#include <math.h>
#include <string.h>

#include "expr/bound_impl.h"
#include "expr/interval_math.h"

#define CELLS_MAX 20000
#define CELLS_MIN 512
#define WORK_MAX  2e6 /* steps of sweeps, so that large expressions get fewer cells */
#define STACK_MAX 1200
#define THIN      0x1p-50 /* a cell that is so narrow, against its place or the domain, is not halved further */
#define SAME      0x1p-40 /* of the expression's magnitude */
#define NEAR      8       /* places */
#define SAMPLES   16
#define FAR       0x1p10 /* how far out an unbounded domain tells the magnitude */

static const pn_jump none = { true, 0.0, 0.0, 0.0 };
static const pn_jump undecided = { false, INFINITY, INFINITY, 0.0 };

typedef struct jumper {
    const pn_case *what;
    pn_sweep sweep;
    double scale, unit;   /* the expression's magnitude; the size of a place near 0 */
    double local;         /* the largest number that the expression is computed from where it was last evaluated */
    pn_interval cluster;  /* undecided cells side by side; low > high: none */
    pn_jump found, small; /* jumps; those that the magnitude, once it is known, may make rounding */
    bool undefined;
} jumper;

/* What switches leave open in a cell.  A value that grows without end is no jump: poles say so themselves. */
static pn_interval sweep_on(jumper *self, pn_interval x, unsigned *doubt)
{
    pn_sweep_set(&self->sweep, &x);
    pn_sweep_run(&self->sweep, 0, self->sweep.middle);
    *doubt = pn_sweep_doubt(&self->sweep, 0);
    return pn_sweep_value(&self->sweep, 0);
}

/* Rounding at a place is that of the numbers met there, however large the expression is elsewhere. */
static void learn_local(jumper *self)
{
    for (size_t slot = 0; slot < self->sweep.first + self->sweep.middle; slot++) {
        double size = pn_interval_magnitude(self->sweep.value[slot]);

        if (size > self->local && size < INFINITY)
            self->local = size;
    }
}

/* The same where sides are to be compared, which takes finite values. */
static pn_interval value_on(jumper *self, pn_interval x, unsigned *doubt)
{
    pn_interval v = sweep_on(self, x, doubt);

    if (isinf(v.low) || isinf(v.high))
        *doubt |= PN_MAY_JUMP;
    return v;
}

/* The magnitude is that of values at points: enclosures of whole cells may be far too large, and would hide a jump. */
static void learn_scale(jumper *self, double x)
{
    unsigned doubt;
    pn_interval v = value_on(self, (pn_interval){ x, x }, &doubt), range = self->what->range[0];
    double least = fmin(fabs(v.low), fabs(v.high));

    if (isinf(range.high - range.low) && fabs(x) > FAR) /* a value that grows would soon hide every jump */
        return;
    if (!doubt && least > self->scale)
        self->scale = least;
}

static void measure(jumper *self)
{
    pn_interval range = self->what->range[0];
    double low = fmax(range.low, -FAR), high = fmin(range.high, FAR), size = pn_interval_magnitude(range);

    self->unit = size > 0.0 ? fmin(size, 1.0) : 1.0;
    for (int i = 0; i <= SAMPLES && low <= high; i++)
        learn_scale(self, low + (high - low) * i / SAMPLES);
}

/* The number of [low, high] with the fewest digits: where people put switches. */
static double simplest(pn_interval x)
{
    double step, candidate;

    if (x.low <= 0.0 && x.high >= 0.0)
        return 0.0;
    for (step = 0x1p60; step > 0x1p-1060; step *= 0.5) {
        if (step > 4.0 * pn_interval_magnitude(x))
            step = exp2(ceil(log2(pn_interval_magnitude(x))));
        candidate = ceil(x.low / step) * step;
        if (candidate >= x.low && candidate <= x.high)
            return candidate;
    }
    return x.low;
}

/* From `from` to `to`, when both hold one value only but for rounding. */
static double rise(pn_interval from, pn_interval to)
{
    return to.high - from.low;
}

static void note_jump(pn_jump *jump, double up, double down, double where)
{
    if (fmax(up, down) > fmax(jump->up, jump->down))
        jump->where = where;
    jump->up = fmax(jump->up, up);
    jump->down = fmax(jump->down, down);
}

/* `slack`: how far, in units of what counts as nothing, the sides may be from the switch's own limits. */
static void count_jump(jumper *self, pn_interval left, pn_interval at, pn_interval right, double where, double slack)
{
    pn_interval both = pn_interval_hull(left, right);
    double same = SAME * pn_interval_magnitude(both); /* the rest of the magnitude is known at the end */
    double up = rise(left, right), down = rise(right, left);

    if (at.low < both.low - same || at.high > both.high + same) { /* the value at the point stands alone */
        up = fmax(up, fmax(rise(left, at), rise(at, right)));
        down = fmax(down, fmax(rise(at, left), rise(right, at)));
    }
    up = up > same ? up + slack * same : 0.0;
    down = down > same ? down + slack * same : 0.0;
    note_jump(&self->found, up > SAME * self->local ? up : 0.0, down > SAME * self->local ? down : 0.0, where);
    note_jump(&self->small, up, down, where);
}

/* What is as small as rounding is no jump. */
static void forget_small(jumper *self)
{
    double same = SAME * self->scale;

    note_jump(&self->found, self->small.up > same ? self->small.up : 0.0,
              self->small.down > same ? self->small.down : 0.0, self->small.where);
}

static pn_interval within(pn_interval x, pn_interval domain)
{
    return (pn_interval){ fmax(x.low, domain.low), fmin(x.high, domain.high) };
}

/* The value on the nearest part of a side without switches; that at the point itself where the domain has no such
 * side. */
static bool value_beside(jumper *self, pn_interval side, pn_interval near, const pn_interval *at, pn_interval *out)
{
    unsigned doubt;

    *out = *at;
    if (!(side.low <= side.high))
        return true;
    (void)value_on(self, side, &doubt);
    if (doubt)
        return false;
    *out = value_on(self, within(near, side), &doubt);
    learn_local(self);
    return !doubt;
}

/* Look at both sides of one point; false when switches stay undecided there. */
static bool try_point(jumper *self, pn_interval cells, double c)
{
    pn_interval domain = self->what->range[0], left, at, right;
    unsigned doubt_at;

    left = within((pn_interval){ pn_step(cells.low, -4), pn_step(c, -1) }, domain);
    right = within((pn_interval){ pn_step(c, 1), pn_step(cells.high, 4) }, domain);
    self->local = 0.0;
    at = value_on(self, (pn_interval){ c, c }, &doubt_at);
    learn_local(self);
    if (doubt_at)
        return false;
    if (!value_beside(self, left, (pn_interval){ pn_step(c, -NEAR), pn_step(c, -1) }, &at, &left) ||
        !value_beside(self, right, (pn_interval){ pn_step(c, 1), pn_step(c, NEAR) }, &at, &right))
        return false;
    count_jump(self, left, at, right, c, 0.0);
    return true;
}

/* Look beside a short piece of the domain, all of which may be the switch. */
static bool try_piece(jumper *self, pn_interval cells, double margin)
{
    pn_interval domain = self->what->range[0], piece, left, at, right;
    unsigned doubt, doubt_left = 0, doubt_right = 0;

    piece = within((pn_interval){ cells.low - margin, cells.high + margin }, domain);
    self->local = 0.0;
    at = value_on(self, piece, &doubt);
    learn_local(self);
    if (isinf(at.low) || isinf(at.high))
        return false;
    left = piece.low > domain.low ? (pn_interval){ fmax(piece.low - margin, domain.low), piece.low } : piece;
    right = piece.high < domain.high ? (pn_interval){ piece.high, fmin(piece.high + margin, domain.high) } : piece;
    left = piece.low > domain.low ? value_on(self, left, &doubt_left) : at;
    right = piece.high < domain.high ? value_on(self, right, &doubt_right) : at;
    if (doubt_left || doubt_right)
        return false;
    count_jump(self, left, at, right, simplest(cells), 1.0);
    return true;
}

static void close_cluster(jumper *self)
{
    pn_interval cells = self->cluster;
    double width = fmax(cells.high - cells.low, 0x1p-52 * fmax(self->unit * 0x1p-10, pn_interval_magnitude(cells)));
    bool known;

    self->cluster = (pn_interval){ INFINITY, -INFINITY };
    if (!(cells.low <= cells.high) || !self->found.decided)
        return;
    known = try_point(self, cells, simplest(cells));
    for (int i = 0; i < 6 && !known; i++, width *= 2.0)
        known = try_piece(self, cells, width);
    if (!known)
        self->found = undecided;
}

static void visit(jumper *self, pn_interval cell, unsigned doubt)
{
    if (doubt & PN_MAY_BE_UNDEFINED)
        self->undefined = true;
    else if (doubt == PN_SURE)
        close_cluster(self);
    else if (self->cluster.low <= self->cluster.high)
        self->cluster.high = cell.high;
    else
        self->cluster = cell;
}

static bool is_thin(const jumper *self, pn_interval x)
{
    if (isinf(x.low) || isinf(x.high))
        return false;
    return x.high - x.low <= THIN * fmax(self->unit, pn_interval_magnitude(x)) || pn_step(x.low, 1) >= x.high;
}

/* Left to right over the domain, so that undecided cells side by side are met one after the other. */
static pn_status walk(jumper *self, pn_task *task, pn_err *err)
{
    pn_interval stack[STACK_MAX];
    size_t height = 0, most = CELLS_MIN + (size_t)(WORK_MAX / (double)(1 + self->sweep.middle));
    pn_status status = PN_OK;

    stack[height++] = self->what->range[0];
    for (size_t cells = 0; height > 0 && self->found.decided && !self->undefined && status == PN_OK; cells++) {
        pn_interval x = stack[--height];
        unsigned doubt;
        double middle;

        (void)sweep_on(self, x, &doubt);
        if (doubt == PN_SURE || is_thin(self, x)) {
            visit(self, x, doubt);
            if (doubt == PN_SURE)
                learn_scale(self, pn_search_middle(x));
            continue;
        }
        if (height + 2 > STACK_MAX || cells > most || cells > CELLS_MAX) {
            self->found = undecided;
            break;
        }
        middle = pn_search_middle(x);
        if (!(x.low < middle && middle < x.high)) { /* out where nothing more can be told */
            self->found = undecided;
            break;
        }
        stack[height++] = (pn_interval){ middle, x.high };
        stack[height++] = (pn_interval){ x.low, middle };
        if (cells % 64 == 63)
            status = pn_task_report(task, "bound", (double)cells, CELLS_MAX, err);
    }
    close_cluster(self);
    forget_small(self);
    return status;
}

pn_status pn_jump_of_case(pn_jump *out, const pn_case *what, pn_node root, pn_task *task, pn_err *err)
{
    jumper self = { .what = what, .found = none, .small = none, .cluster = { INFINITY, -INFINITY } };
    unsigned doubt = 0;
    pn_status status = pn_sweep_open(&self.sweep, what->graph, &root, 1, err);

    if (status != PN_OK)
        return status;
    pn_sweep_set(&self.sweep, what->range);
    pn_sweep_run(&self.sweep, 0, self.sweep.middle);
    doubt = pn_sweep_doubt(&self.sweep, 0);
    if (doubt != PN_SURE && what->dims == 1) {
        measure(&self);
        status = walk(&self, task, err);
    } else if (doubt != PN_SURE) {
        self.found = undecided;
    }
    if (status == PN_OK && self.undefined) {
        char why[PN_BOUND_WHY];

        status = pn_search_explain(why, &self.sweep, what, true, err);
        if (status == PN_OK)
            status = pn_fail(err, PN_EDOMAIN, "bound: %s", why);
    }
    pn_sweep_close(&self.sweep);
    *out = self.found;
    return status;
}

/* ---- from the case's variable to the caller's ---- */

/* The slope of the common sub-expression in the caller's variable; whole when nothing is known. */
static pn_status slope_of_common(pn_interval *out, const pn_case *inner, unsigned v, pn_err *err)
{
    pn_node slope = pn_graph_derivative(inner->graph, inner->root, v);
    pn_sweep sweep;

    *out = (pn_interval){ -INFINITY, INFINITY };
    if (slope == PN_NODE_NONE)
        return pn_graph_status(inner->graph, NULL) == PN_ENOMEM ? pn_graph_status(inner->graph, err) : PN_OK;
    PN_TRY(pn_sweep_open(&sweep, inner->graph, &slope, 1, err));
    pn_sweep_set(&sweep, inner->range);
    pn_sweep_run(&sweep, 0, sweep.middle);
    *out = pn_sweep_value(&sweep, 0);
    pn_sweep_close(&sweep);
    return PN_OK;
}

/* The variable's value where the common sub-expression, which rises (way 1) or falls in it, is `target`; the other
 * variables are in the middle of their ranges. */
static pn_status locate(double *where, const pn_case *inner, unsigned v, double way, pn_err *err)
{
    pn_interval box[PN_BOUND_VARS_MAX], at;
    double low = fmax(inner->range[v].low, -0x1p1000), high = fmin(inner->range[v].high, 0x1p1000), target = *where;
    pn_sweep sweep;

    PN_TRY(pn_sweep_open(&sweep, inner->graph, &inner->root, 1, err));
    for (unsigned i = 0; i < inner->dims; i++)
        box[i].low = box[i].high = pn_search_middle(inner->range[i]);
    while (pn_step(low, 1) < high) {
        double middle = pn_search_middle((pn_interval){ low, high });

        box[v] = (pn_interval){ middle, middle };
        pn_sweep_set(&sweep, box);
        pn_sweep_run(&sweep, 0, sweep.middle);
        at = pn_sweep_value(&sweep, 0);
        if ((0.5 * at.low + 0.5 * at.high - target) * way < 0.0)
            low = middle;
        else
            high = middle;
    }
    *where = simplest((pn_interval){ pn_step(low, -4), pn_step(high, 4) });
    pn_sweep_close(&sweep);
    return PN_OK;
}

/* Which of the case's own variables is the caller's `variable`; dims when none is. */
static unsigned own_variable(const pn_case *what, unsigned variable)
{
    unsigned v = 0;

    while (v < what->dims && what->source[v] != variable)
        v++;
    return v;
}

static pn_status translate(pn_jump *jump, const pn_case *what, unsigned variable, pn_err *err)
{
    const pn_case *inner = what->inner;
    unsigned v = own_variable(inner, variable);
    double up = jump->up;
    pn_interval slope;

    if (!jump->decided || (jump->up == 0.0 && jump->down == 0.0))
        return PN_OK;
    PN_TRY(slope_of_common(&slope, inner, v, err));
    if (slope.low >= 0.0)
        return locate(&jump->where, inner, v, 1.0, err);
    if (slope.high <= 0.0) {
        jump->up = jump->down;
        jump->down = up;
        return locate(&jump->where, inner, v, -1.0, err);
    }
    jump->up = jump->down = fmax(jump->up, jump->down);
    return PN_OK;
}

static pn_status jump_of_one(pn_jump *out, const pn_case *what, unsigned variable, pn_task *task, pn_err *err)
{
    const pn_case *variables = what->reduced ? what->inner : what;
    pn_status status;

    *out = none;
    if (own_variable(variables, variable) == variables->dims) /* it stays where it is as the variable grows */
        return PN_OK;
    status = pn_jump_of_case(out, what, what->root, task, err);
    if (status == PN_OK && what->reduced)
        status = translate(out, what, variable, err);
    return status;
}

pn_status pn_jump_over(pn_jump *out, const pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                       pn_task *task, pn_err *err)
{
    pn_jump all = none;
    unsigned needed = 0;
    pn_status status = pn_case_needs(&needed, graph, root, err);
    size_t cases = status == PN_OK ? pn_case_count(graph, needed, domains) : 0;

    for (size_t i = 0; i < cases; i++) {
        pn_case one;
        pn_jump jump;

        status = pn_case_open(&one, graph, root, needed, domains, i, task, err);
        if (status != PN_OK)
            return status;
        status = jump_of_one(&jump, &one, variable, task, err);
        pn_case_close(&one);
        if (status != PN_OK)
            return status;
        if (i == 0 || fmax(jump.up, jump.down) > fmax(all.up, all.down))
            all.where = jump.where;
        all.up = fmax(all.up, jump.up);
        all.down = fmax(all.down, jump.down);
        all.decided = all.decided && jump.decided;
    }
    if (status == PN_OK)
        *out = all.decided ? all : undecided;
    return status;
}

pn_status pn_bound_jump(pn_jump *out, pn_graph *graph, pn_node root, unsigned variable, const pn_domain *domains,
                        pn_task *task, pn_err *err)
{
    pn_status status = pn_graph_status(graph, err);

    if (status == PN_OK && variable >= pn_graph_variables(graph))
        status = pn_fail(err, PN_EINVAL, "bound: there is no variable %u", variable + 1);
    if (status == PN_OK)
        status = pn_bound_check(graph, domains, err);
    return status == PN_OK ? pn_jump_over(out, graph, root, variable, domains, task, err) : status;
}
