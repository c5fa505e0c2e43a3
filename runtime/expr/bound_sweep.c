/* bound_sweep.c -- an expression and its derivatives compiled to one list of steps over flat arrays of intervals.
 * Depends on: bound_impl.h, interval_math.h.  Used by: bound_search.c, bound_jump.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "expr/bound_impl.h"
#include "expr/interval_math.h"

/* The one constant of derivatives that is not a double, 2/sqrt(pi), is met with powers of two before it: all get a unit
 * of doubt in the last place. */
static pn_interval constant(double value)
{
    int exponent;
    double mantissa = fabs(frexp(value, &exponent));

    if (mantissa == 0x1.20dd750429b6dp-1)
        return (pn_interval){ pn_step(value, -1), pn_step(value, 1) };
    return (pn_interval){ value, value };
}

static void place_leaves(pn_sweep *self, const pn_graph *graph, const bool *used, size_t size, uint32_t *slot)
{
    size_t next = self->dims;

    for (pn_node n = 0; n < size; n++) {
        const pn_term *term = pn_graph_term(graph, n);

        if (used[n] && term->op == PN_X_VAR) {
            slot[n] = term->a;
            self->node[term->a] = n;
        } else if (used[n] && term->op == PN_X_CONST) {
            slot[n] = (uint32_t)next;
            self->value[next] = constant(term->value);
            self->node[next++] = n;
        }
    }
    self->first = next;
}

/* Steps for the nodes that `wanted` marks and that have no slot yet. */
static void place_steps(pn_sweep *self, const pn_graph *graph, const bool *wanted, size_t size, uint32_t *slot)
{
    for (pn_node n = 0; n < size; n++) {
        const pn_term *term = pn_graph_term(graph, n);
        pn_sweep_step *step = &self->step[self->steps];
        unsigned operands = pn_opcode_operands(term->op);

        if (!wanted[n] || slot[n] != UINT32_MAX)
            continue;
        *step = (pn_sweep_step){ .op = (uint8_t)term->op };
        step->a = slot[term->a];
        step->b = operands > 1 ? slot[term->b] : step->a;
        step->c = operands > 2 ? slot[term->c] : step->a;
        slot[n] = (uint32_t)(self->first + self->steps);
        self->node[slot[n]] = n;
        self->steps++;
    }
}

static bool allocate(pn_sweep *self, size_t slots, size_t outputs)
{
    self->output = pn_alloc(outputs, sizeof *self->output);
    self->step = pn_alloc(slots, sizeof *self->step);
    self->value = pn_calloc(slots, sizeof *self->value);
    self->doubt = pn_calloc(slots, sizeof *self->doubt);
    self->scaled = pn_calloc(slots, sizeof *self->scaled);
    self->node = pn_calloc(slots, sizeof *self->node);
    return self->output && self->step && self->value && self->doubt && self->scaled && self->node;
}

pn_status pn_sweep_open(pn_sweep *out, const pn_graph *graph, const pn_node *outputs, size_t count, pn_err *err)
{
    size_t size = pn_graph_size(graph);
    bool *used = pn_alloc(2 * size, sizeof *used), *all = used ? used + size : NULL;
    uint32_t *slot = pn_alloc(size, sizeof *slot);
    pn_sweep self = { .dims = pn_graph_variables(graph), .tail = -1 };

    if (!used || !slot || !allocate(&self, size + self.dims, count)) {
        pn_free(used);
        pn_free(slot);
        pn_sweep_close(&self);
        return pn_fail(err, PN_ENOMEM, "bound: out of memory");
    }
    memset(slot, 0xff, size * sizeof *slot);
    memset(all, 0, size * sizeof *all);
    for (size_t k = 0; k < count; k++) {
        memset(used, 0, size * sizeof *used);
        pn_graph_used(graph, outputs[k], used);
        for (size_t n = 0; n <= outputs[k]; n++)
            all[n] = all[n] || used[n];
    }
    place_leaves(&self, graph, all, size, slot);
    memset(used, 0, size * sizeof *used);
    pn_graph_used(graph, outputs[0], used);
    place_steps(&self, graph, used, size, slot);
    self.middle = self.steps;
    place_steps(&self, graph, all, size, slot);
    for (size_t k = 0; k < count; k++)
        self.output[k] = slot[outputs[k]];
    pn_free(used);
    pn_free(slot);
    *out = self;
    return PN_OK;
}

void pn_sweep_close(pn_sweep *self)
{
    pn_free(self->output);
    pn_free(self->step);
    pn_free(self->value);
    pn_free(self->doubt);
    pn_free(self->scaled);
    pn_free(self->node);
    memset(self, 0, sizeof *self);
}

/* Scaling pays where a variable ranges over more than its own size and keeps its sign: the widest such. */
static void choose_tail(pn_sweep *self)
{
    double widest = 4.0;

    self->tail = -1;
    for (unsigned v = 0; v < self->dims; v++) {
        pn_interval x = self->value[v];
        double near = x.low > 0.0 ? x.low : x.high < 0.0 ? -x.high : 0.0;
        double far = pn_interval_magnitude(x);

        self->scaled[v] = (pn_scaled){ 0.0, x };
        if (near > 0.0 && far / near > widest) {
            widest = far / near;
            self->tail = (int)v;
            self->base = (pn_interval){ near, far };
        }
    }
    if (self->tail < 0)
        return;
    for (size_t s = self->dims; s < self->first; s++)
        self->scaled[s] = (pn_scaled){ 0.0, self->value[s] };
    self->scaled[self->tail].power = 1.0;
    self->scaled[self->tail].factor =
        self->value[self->tail].low > 0.0 ? (pn_interval){ 1.0, 1.0 } : (pn_interval){ -1.0, -1.0 };
}

void pn_sweep_set(pn_sweep *self, const pn_interval *box)
{
    for (unsigned v = 0; v < self->dims; v++)
        self->value[v] = box[v];
    choose_tail(self);
}

static bool is_point(pn_interval x)
{
    return x.low == x.high;
}

/* What an operation of a number with itself can be, which the operands' intervals do not tell. */
static bool with_itself(pn_opcode op, pn_interval a, pn_interval *out)
{
    bool bounded = !isinf(a.low) && !isinf(a.high);

    if (op == PN_X_MUL)
        *out = pn_interval_square(a);
    else if (op == PN_X_SUB && bounded)
        *out = (pn_interval){ 0.0, 0.0 };
    else if (op == PN_X_DIV && bounded && (a.low > 0.0 || a.high < 0.0))
        *out = (pn_interval){ 1.0, 1.0 };
    else
        return false;
    return true;
}

/* Two enclosures of one number; they miss each other only where there is no number. */
static pn_interval both(pn_interval a, pn_interval b)
{
    pn_interval v = { fmax(a.low, b.low), fmin(a.high, b.high) };

    return v.low <= v.high ? v : a;
}

/* The doubts of the operands that count: a decided `where` needs one branch only. */
static unsigned inherited(const pn_sweep *self, const pn_sweep_step *step)
{
    unsigned doubt = self->doubt[step->a];
    pn_interval a = self->value[step->a];

    if (step->op != PN_X_WHERE)
        return doubt | self->doubt[step->b];
    if (a.low > 0.0 || a.high < 0.0)
        return doubt | self->doubt[step->b];
    if (a.low == 0.0 && a.high == 0.0)
        return doubt | self->doubt[step->c];
    return doubt | self->doubt[step->b] | self->doubt[step->c];
}

void pn_sweep_run(pn_sweep *self, size_t from, size_t to)
{
    pn_interval *value = self->value;

    for (size_t i = from; i < to; i++) {
        const pn_sweep_step *step = &self->step[i];
        size_t slot = self->first + i;
        unsigned doubt = PN_SURE;
        pn_interval v;

        if (step->a != step->b || !with_itself((pn_opcode)step->op, value[step->a], &v))
            v = pn_interval_apply((pn_opcode)step->op, value[step->a], value[step->b], value[step->c], &doubt);
        if (self->tail >= 0) {
            pn_interval t = pn_sweep_tail(self, step, slot);

            v = both(v, t);
            if (self->scaled[slot].power == 0.0)
                self->scaled[slot].factor = v;
        }
        doubt |= inherited(self, step);
        if (is_point(v)) /* a constant does not jump */
            doubt &= ~(unsigned)PN_MAY_JUMP;
        value[slot] = v;
        self->doubt[slot] = (unsigned char)doubt;
    }
}
