/* bound_search.c -- branch and bound for the greatest and the least value of a case.
 * Boxes wait in a heap, the most promising first.  A box is bounded by natural evaluation, cut down by monotonicity,
 * bounded again by the mean value form about its middle.  The last two need a function that is Lipschitz on the box:
 * they are left out where a switch of the value is undecided; an undecided switch in a derivative is harmless, for the
 * hull of its branches holds the generalised gradient.  Depends on: bound_impl.h, interval_math.h.
 * Used by: bound.c, bound_case.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/bound_impl.h"
#include "expr/interval_math.h"

#define WORK_MAX     1e6 /* steps of sweeps, so that large expressions get fewer boxes */
#define BOXES_MIN    64  /* but at least these */
#define DEPTH_MAX    40u /* halvings of each variable before a box without a bound is given up; */
#define DEPTH_TAIL   14u /* and more for a variable without ends */
#define REPORT_EVERY 64  /* boxes */
#define FAR_OUT      1e3
#define NOTHING      UINT16_MAX

typedef struct entry {
    double bound;        /* no value in the box exceeds it */
    uint16_t depth, cut; /* how often it was cut, the variable to cut next */
    uint32_t box;        /* index into pool */
} entry;

typedef struct search {
    const pn_case *what;
    pn_sweep sweep;
    double sign;    /* 1: the greatest value; -1: of the negated function */
    double best;    /* a value that is exceeded or reached */
    double settled; /* the highest bound of boxes that are not cut further */
    double scale;   /* the largest |value| seen */
    entry *heap;
    size_t heap_count, heap_size;
    pn_interval *pool; /* [pool_size * dims] */
    uint32_t *vacant;
    size_t pool_count, pool_size, vacant_count;
    size_t boxes, limit;
    unsigned depth_max;
    bool has_slopes;
    pn_status status;
} search;

typedef pn_interval box_sides[PN_BOUND_VARS_MAX];

/* ---- the heap ---- */

static bool before(const entry *a, const entry *b)
{
    return a->bound > b->bound || (a->bound == b->bound && a->depth > b->depth);
}

static bool grow(search *self)
{
    size_t size = self->pool_size ? 2 * self->pool_size : 64;
    entry *heap = pn_resize(self->heap, size, sizeof *heap);
    pn_interval *pool;
    uint32_t *vacant;

    if (heap)
        self->heap = heap;
    pool = heap ? pn_resize(self->pool, size * self->what->dims, sizeof *pool) : NULL;
    if (pool)
        self->pool = pool;
    vacant = pool ? pn_resize(self->vacant, size, sizeof *vacant) : NULL;
    if (!vacant) {
        self->status = PN_ENOMEM;
        return false;
    }
    self->vacant = vacant;
    self->heap_size = self->pool_size = size;
    return true;
}

static void push(search *self, const pn_interval *box, entry added)
{
    uint32_t at;
    size_t i, dims = self->what->dims;

    if (self->heap_count == self->heap_size && !grow(self))
        return;
    at = self->vacant_count > 0 ? self->vacant[--self->vacant_count] : (uint32_t)self->pool_count++;
    memcpy(self->pool + at * dims, box, dims * sizeof *box);
    added.box = at;
    for (i = self->heap_count++; i > 0 && before(&added, &self->heap[(i - 1) / 2]); i = (i - 1) / 2)
        self->heap[i] = self->heap[(i - 1) / 2];
    self->heap[i] = added;
}

static entry pop(search *self, pn_interval *box)
{
    entry top = self->heap[0], last = self->heap[--self->heap_count];
    size_t i = 0, child, dims = self->what->dims;

    while ((child = 2 * i + 1) < self->heap_count) {
        if (child + 1 < self->heap_count && before(&self->heap[child + 1], &self->heap[child]))
            child++;
        if (!before(&self->heap[child], &last))
            break;
        self->heap[i] = self->heap[child];
        i = child;
    }
    self->heap[i] = last;
    memcpy(box, self->pool + top.box * dims, dims * sizeof *box);
    self->vacant[self->vacant_count++] = top.box;
    return top;
}

/* ---- points ---- */

double pn_search_middle(pn_interval x)
{
    double near, far;

    if (x.low < 0.0 && x.high > 0.0)
        return isinf(x.low) || isinf(x.high) ? 0.0 : 0.5 * x.low + 0.5 * x.high;
    if (x.high <= 0.0)
        return x.high == 0.0 && x.low == 0.0 ? 0.0 : -pn_search_middle((pn_interval){ -x.high, -x.low });
    near = x.low;
    far = x.high;
    if (isinf(far)) /* 1, 2, 4, 16, 256 ... */
        return near < 1.0 ? 1.0 : near < 2.0 ? 2.0 : fmin(near * near, 0x1p1000 > near ? 0x1p1000 : 0x1.fp1023);
    if (near > 0.0 && far / near > 64.0)
        return sqrt(near) * sqrt(far);
    return 0.5 * near + 0.5 * far;
}

/* The values of a list in a box are all there is to the box; false when there are none. */
static bool shrink_to_list(const pn_case *what, unsigned v, pn_interval *x)
{
    const double *list = what->list[v];
    size_t first = 0, last = what->count[v];

    while (first < last && list[first] < x->low)
        first++;
    while (last > first && list[last - 1] > x->high)
        last--;
    if (first == last)
        return false;
    *x = (pn_interval){ list[first], list[last - 1] };
    return true;
}

static double nearest_listed(const pn_case *what, unsigned v, double x)
{
    double best = what->list[v][0];

    for (size_t i = 1; i < what->count[v]; i++)
        if (fabs(what->list[v][i] - x) < fabs(best - x))
            best = what->list[v][i];
    return best;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* A point of the box where the variables' values are taken, if there is one; else any point of it. */
static bool middle_point(const pn_case *what, const pn_interval *box, pn_interval *point)
{
    bool attained = true;

    for (unsigned v = 0; v < what->dims; v++) {
        pn_interval x = box[v], a = what->attained[v];
        double m = x.low == x.high ? x.low : pn_search_middle(x);

        if (what->list[v])
            m = nearest_listed(what, v, m);
        else if (a.low <= a.high)
            m = clamp(m, a.low, a.high);
        m = clamp(m, x.low, x.high);
        attained = attained && !isinf(m) && (what->list[v] || (a.low <= m && m <= a.high));
        point[v] = (pn_interval){ m, m };
    }
    return attained;
}

/* ---- one box ---- */

/* The value in a box, its sign turned so that the greatest is looked for. */
static pn_interval value_in(search *self, const pn_interval *box, unsigned *doubt)
{
    pn_interval v;

    pn_sweep_set(&self->sweep, box);
    pn_sweep_run(&self->sweep, 0, self->sweep.middle);
    v = pn_sweep_value(&self->sweep, 0);
    *doubt = pn_sweep_doubt(&self->sweep, 0);
    return self->sign > 0.0 ? v : (pn_interval){ -v.high, -v.low };
}

/* The value at a point that is attained. */
static void learn(search *self, pn_interval v, unsigned doubt)
{
    double size = fmin(fabs(v.low), fabs(v.high));

    if (doubt & PN_MAY_BE_UNDEFINED)
        return;
    if (v.low > self->best && v.low < INFINITY)
        self->best = v.low;
    if (size > self->scale && size < INFINITY)
        self->scale = size;
}

/* The value at the middle of the box; raises `best`.  When the middle of a common sub-expression's enclosure is not
 * known to be attained, so does the nearest number that is. */
static pn_interval probe(search *self, const pn_interval *box, pn_interval *point, unsigned *doubt)
{
    pn_interval v, near = self->what->attained[0];
    bool attained = middle_point(self->what, box, point);

    if (!attained && self->what->dims == 1 && near.low <= near.high) {
        near.low = near.high = clamp(point[0].low, near.low, near.high);
        v = value_in(self, &near, doubt);
        learn(self, v, *doubt);
    }
    v = value_in(self, point, doubt);
    if (attained)
        learn(self, v, *doubt);
    return v;
}

/* Partial derivatives in the box that was last evaluated, turned like the value; false when some do not exist. */
static bool slopes_in(search *self, pn_interval *slope)
{
    if (!self->has_slopes)
        return false;
    pn_sweep_run(&self->sweep, self->sweep.middle, self->sweep.steps);
    for (unsigned v = 0; v < self->what->dims; v++) {
        pn_interval d = pn_sweep_value(&self->sweep, 1 + v);

        if (pn_sweep_doubt(&self->sweep, 1 + v) & PN_MAY_BE_UNDEFINED)
            return false;
        slope[v] = self->sign > 0.0 ? d : (pn_interval){ -d.high, -d.low };
    }
    return true;
}

/* Where the function only rises or falls in a variable, one end has its greatest value. */
static bool collapse(const pn_case *what, pn_interval *box, const pn_interval *slope)
{
    bool changed = false;

    for (unsigned v = 0; v < what->dims; v++) {
        double end = slope[v].low >= 0.0 ? box[v].high : slope[v].high <= 0.0 ? box[v].low : INFINITY;

        if (isinf(end) || box[v].low == box[v].high)
            continue;
        box[v] = (pn_interval){ end, end };
        changed = true;
    }
    return changed;
}

/* f(m) + sum of slopes times distances from m: an upper bound. */
static double mean_value_bound(const search *self, const pn_interval *box, const pn_interval *point, pn_interval middle,
                               const pn_interval *slope)
{
    for (unsigned v = 0; v < self->what->dims; v++) {
        pn_interval m = { -point[v].low, -point[v].low };

        middle = pn_interval_add(middle, pn_interval_mul(slope[v], pn_interval_add(box[v], m)));
    }
    return middle.high;
}

/* The variable to cut: the one that the value varies most with; the widest for its domain when that is not known.
 * NOTHING when all are points. */
static unsigned widest(const search *self, const pn_interval *box, const pn_interval *slope)
{
    double most = -1.0;
    unsigned chosen = NOTHING;

    for (unsigned v = 0; v < self->what->dims; v++) {
        pn_interval whole = self->what->range[v];
        double width = box[v].high - box[v].low, all = whole.high - whole.low, weight;

        if (!(pn_step(box[v].low, 1) < box[v].high))
            continue;
        if (isinf(width))
            weight = INFINITY;
        else if (slope)
            weight = pn_interval_magnitude(slope[v]) * width;
        else
            weight = isinf(all) ? width / (1.0 + pn_interval_magnitude(box[v])) : width / all;
        if (weight > most) {
            most = weight;
            chosen = v;
        }
    }
    return chosen;
}

/* Bound a box by all means, then let it wait, or settle it. */
static void consider(search *self, pn_interval *box, double bound, unsigned depth)
{
    const pn_case *what = self->what;
    box_sides slope, point;
    unsigned doubt, doubt_at, cut;
    pn_interval v, at;
    bool smooth;

    self->boxes++;
    for (unsigned i = 0; i < what->dims; i++)
        if (what->list[i] && !shrink_to_list(what, i, &box[i]))
            return;
    v = value_in(self, box, &doubt);
    bound = doubt & PN_MAY_BE_UNDEFINED ? INFINITY : fmin(bound, v.high);
    if (bound <= self->best)
        return;
    smooth = doubt == PN_SURE && slopes_in(self, slope);
    if (smooth && collapse(what, box, slope)) {
        v = value_in(self, box, &doubt);
        bound = fmin(bound, v.high);
    }
    at = probe(self, box, point, &doubt_at);
    if (smooth && !(doubt_at & PN_MAY_BE_UNDEFINED))
        bound = fmin(bound, mean_value_bound(self, box, point, at, slope));
    if (bound <= self->best)
        return;
    /* Slopes know nothing of jumps: where it may jump, cut by width, in turn. */
    cut = widest(self, box, smooth ? slope : NULL);
    if (doubt & doubt_at & PN_MAY_BE_UNDEFINED) /* no smaller box would do better */
        cut = NOTHING;
    /* What rounding alone makes of the value at a point cannot be told apart. */
    if (bound < INFINITY && (cut == NOTHING || (!doubt_at && bound - self->best <= 4.0 * (at.high - at.low))))
        self->settled = fmax(self->settled, bound);
    else
        push(self, box, (entry){ bound, (uint16_t)depth, (uint16_t)cut, 0 });
}

/* ---- the search ---- */

static void split(search *self, const entry *top, const pn_interval *box)
{
    box_sides half;
    double middle = pn_search_middle(box[top->cut]);

    for (int side = 0; side < 2; side++) {
        memcpy(half, box, self->what->dims * sizeof *box);
        if (side == 0)
            half[top->cut].high = middle;
        else
            half[top->cut].low = middle;
        consider(self, half, top->bound, top->depth + 1u);
    }
}

static bool is_close(const search *self, double bound, double tolerance)
{
    return bound < INFINITY && bound - self->best <= tolerance * fmax(self->scale, fabs(self->best));
}

/* What is hard to bound need not be bounded as closely. */
static double tolerance_after(const search *self)
{
    return self->boxes < self->limit / 2 ? PN_BOUND_TOLERANCE : self->boxes < self->limit / 4 * 3 ? 1e-6 : 1e-3;
}

/* One direction.  *open is the box that has no bound, when the result is infinite. */
static double climb(search *self, pn_interval *open, pn_task *task, pn_err *err)
{
    box_sides box;
    double bound = -INFINITY;
    entry top;

    self->best = self->settled = -INFINITY;
    self->boxes = self->heap_count = self->pool_count = self->vacant_count = 0;
    memcpy(box, self->what->range, self->what->dims * sizeof *box);
    consider(self, box, INFINITY, 0);
    while (self->heap_count > 0 && self->status == PN_OK) {
        const entry *next = &self->heap[0];

        bound = next->bound;
        if (is_close(self, fmax(bound, self->settled), tolerance_after(self)) || bound <= self->settled ||
            self->boxes >= self->limit ||
            (bound == INFINITY && (next->depth >= self->depth_max || next->cut == NOTHING)))
            break;
        top = pop(self, box);
        bound = -INFINITY;
        if (top.bound > self->best)
            split(self, &top, box);
        if (self->boxes % REPORT_EVERY < 2 && self->status == PN_OK)
            self->status = pn_task_report(task, "bound", (double)self->boxes, (double)self->limit, err);
    }
    if (self->heap_count > 0)
        memcpy(open, self->pool + self->heap[0].box * self->what->dims, self->what->dims * sizeof *open);
    return fmax(fmax(bound, self->settled), self->best);
}

/* Sets an end of the result; tells why when it is infinite. */
static pn_status finish(search *self, pn_span *out, double bound, pn_interval *open, pn_err *err)
{
    unsigned doubt;

    if (self->sign > 0.0)
        out->range.max = (pn_interval){ self->best + 0.0, bound + 0.0 };
    else
        out->range.min = (pn_interval){ 0.0 - bound, 0.0 - self->best }; /* no -0 */
    out->range.boxes += self->boxes;
    out->range.converged = out->range.converged && is_close(self, bound, PN_BOUND_TOLERANCE);
    if (!isinf(bound) || out->undefined)
        return PN_OK;
    for (unsigned v = 0; v < self->what->dims; v++) /* how far out is of no interest */
        if (isinf(self->what->range[v].high - self->what->range[v].low) && pn_interval_magnitude(open[v]) > FAR_OUT)
            open[v] = self->what->range[v];
    (void)value_in(self, open, &doubt);
    out->undefined = (doubt & PN_MAY_BE_UNDEFINED) != 0;
    if (out->undefined || out->why[0] == '\0')
        return pn_search_explain(out->why, &self->sweep, self->what, out->undefined, err);
    return PN_OK;
}

/* Derivatives that grow too large are done without. */
static pn_status open_sweep(search *self, const pn_case *what, pn_err *err)
{
    pn_node outputs[1 + PN_BOUND_VARS_MAX] = { what->root };
    pn_status status;

    for (unsigned v = 0; v < what->dims; v++)
        outputs[1 + v] = pn_graph_derivative(what->graph, what->root, v);
    status = pn_graph_status(what->graph, err);
    if (status != PN_OK && status != PN_EUNSUPPORTED)
        return status;
    self->has_slopes = status == PN_OK;
    return pn_sweep_open(&self->sweep, what->graph, outputs, self->has_slopes ? 1 + what->dims : 1, err);
}

static pn_status prepare(search *self, const pn_case *what, size_t limit, pn_err *err)
{
    double work;

    *self = (search){ .what = what };
    for (unsigned v = 0; v < what->dims; v++)
        self->depth_max += isinf(what->range[v].high - what->range[v].low) ? DEPTH_MAX + DEPTH_TAIL : DEPTH_MAX;
    PN_TRY(open_sweep(self, what, err));
    work = WORK_MAX / (double)(1 + self->sweep.steps + 2 * self->sweep.middle);
    self->limit = limit / 2 < BOXES_MIN ? BOXES_MIN : limit / 2;
    if (work < (double)self->limit)
        self->limit = work < BOXES_MIN ? BOXES_MIN : (size_t)work;
    return PN_OK;
}

pn_status pn_search(pn_span *out, const pn_case *what, size_t limit, pn_task *task, pn_err *err)
{
    search self;
    box_sides open;
    unsigned doubt;

    PN_TRY(prepare(&self, what, limit, err));
    *out = (pn_span){ .range.converged = true };
    (void)value_in(&self, what->range, &doubt);
    out->may_jump = (doubt & PN_MAY_JUMP) != 0;
    for (self.sign = 1.0; self.sign >= -1.0 && self.status == PN_OK; self.sign -= 2.0) {
        double bound = climb(&self, open, task, err);

        if (self.status == PN_OK)
            self.status = finish(&self, out, bound, open, err);
    }
    pn_sweep_close(&self.sweep);
    pn_free(self.heap);
    pn_free(self.pool);
    pn_free(self.vacant);
    if (self.status == PN_ENOMEM)
        return pn_fail(err, PN_ENOMEM, "bound: out of memory");
    return self.status;
}
