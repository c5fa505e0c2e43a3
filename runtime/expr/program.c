/* program.c -- compiling expressions: constants folded, an order that keeps few values alive,
 * registers shared over time.
 * Depends on: program_impl.h, alloc.h.  Used by: program.h's callers.
 * Source: Sethi and Ullman (1970), The Generation of Optimal Code for Arithmetic Expressions, for the order. */
#include <string.h>

#include "core/alloc.h"
#include "expr/program_impl.h"

/* Registers beyond this many doubles (24 KB) push inputs and outputs out of a first-level cache of 32 KB.  Programs
 * with many registers rather use the second cache than blocks shorter than ENOUGH,
 * where calls would cost more than entries. */
#define CACHED 3072
#define ENOUGH 64

typedef enum visit { UNSEEN = 0, OPEN, DONE } visit;

/* What is known of one node of the graph. */
typedef struct fact {
    pn_node is; /* the node that computes its value: itself but for a where whose condition is constant */
    bool known; /* it is a constant of this value */
    double value;
    uint32_t need;   /* registers to compute it, after Sethi and Ullman */
    uint32_t uses;   /* as an operand of steps to come */
    uint32_t wanted; /* outputs that it is; a register of a wanted value is not given back */
    size_t output;   /* one of them */
    bool direct;     /* it is written there at once */
    visit visit;
    bool chained;  /* it is computed in the step of what uses it */
    pn_node inner; /* the node that is computed in this one's step, or PN_NODE_NONE */
    bool second;   /* which is its second operand */
    bool placed;   /* base and offset are set */
    uint32_t base, offset;
} fact;

typedef struct compiler {
    const pn_simd *simd;
    const pn_graph *graph;
    const pn_node *outputs;
    size_t count;
    pn_program *program;
    size_t nodes;
    fact *facts;    /* [nodes] */
    pn_node *order; /* [nodes]: what is computed, in order */
    size_t computed;
    pn_node *stack;   /* [3 * nodes + 1] */
    uint32_t *unused; /* [nodes + count]: registers that were given back */
    size_t unused_count, registers, constants;
    size_t last_read; /* the last step that reads an input */
} compiler;

static unsigned operands_of(const compiler *self, pn_node node, pn_node operands[3])
{
    const pn_term *term = pn_graph_term(self->graph, node);
    const pn_node all[3] = { term->a, term->b, term->c };
    unsigned count = pn_opcode_operands(term->op);

    for (unsigned k = 0; k < count; k++)
        operands[k] = self->facts[all[k]].is;
    return count;
}

static bool is_variable(const compiler *self, pn_node node)
{
    return pn_graph_term(self->graph, node)->op == PN_X_VAR;
}

static bool is_computed(const compiler *self, pn_node node)
{
    return !self->facts[node].known && !is_variable(self, node);
}

/* ---- facts: constants and needs ---- */

/* Fold what depends on constants alone, by the kernel that would compute it. */
static void fold(compiler *self, pn_node node)
{
    fact *about = &self->facts[node];
    const pn_term *term = pn_graph_term(self->graph, node);
    pn_node operands[3];
    unsigned count = operands_of(self, node, operands), known = 0;
    const double *values[3];
    const size_t steps[3] = { 0, 0, 0 };

    about->is = node;
    for (unsigned k = 0; k < count; k++) {
        values[k] = &self->facts[operands[k]].value;
        known += self->facts[operands[k]].known;
    }
    if (term->op == PN_X_CONST) {
        about->known = true;
        about->value = term->value;
    } else if (count > 0 && known == count) {
        pn_kernel kernel = pn_program_kernel(self->simd, term->op);

        about->known = true;
        pn_program_apply(&kernel, 1, values, steps, &about->value);
    } else if (term->op == PN_X_WHERE && self->facts[operands[0]].known) {
        about->is = *values[0] != 0.0 ? operands[1] : operands[2];
    }
}

/* Operands that need most come first, each further one while the earlier ones are held. */
static void sort_by_need(const compiler *self, pn_node *operands, unsigned count)
{
    for (unsigned k = 1; k < count; k++) {
        for (unsigned j = k; j > 0 && self->facts[operands[j]].need > self->facts[operands[j - 1]].need; j--) {
            pn_node swap = operands[j];

            operands[j] = operands[j - 1];
            operands[j - 1] = swap;
        }
    }
}

static void measure_need(compiler *self, pn_node node)
{
    pn_node operands[3];
    unsigned count = operands_of(self, node, operands);
    uint32_t need = 1;

    if (!is_computed(self, node))
        return;
    sort_by_need(self, operands, count);
    for (uint32_t k = 0; k < count; k++) {
        if (self->facts[operands[k]].need + k > need)
            need = self->facts[operands[k]].need + k;
    }
    self->facts[node].need = need;
}

/* ---- the order ---- */

/* Open a node: its operands go on the stack, the neediest on top. */
static size_t push_operands(compiler *self, pn_node node, size_t depth)
{
    pn_node operands[3];
    unsigned count = operands_of(self, node, operands);

    for (unsigned k = 0; k < count; k++)
        self->facts[operands[k]].uses++;
    sort_by_need(self, operands, count);
    while (count-- > 0) {
        if (is_computed(self, operands[count]) && self->facts[operands[count]].visit == UNSEEN)
            self->stack[depth++] = operands[count];
    }
    self->facts[node].visit = OPEN;
    return depth;
}

/* Depth first: operands before what uses them. */
static void schedule(compiler *self, size_t output)
{
    pn_node root = self->facts[self->outputs[output]].is;
    size_t depth = 0;

    self->facts[root].wanted++;
    self->facts[root].output = output;
    if (is_computed(self, root))
        self->stack[depth++] = root;
    while (depth > 0) {
        pn_node node = self->stack[depth - 1];
        fact *about = &self->facts[node];

        if (about->visit == UNSEEN) {
            depth = push_operands(self, node, depth);
            continue;
        }
        if (about->visit == OPEN) {
            about->visit = DONE;
            self->order[self->computed++] = node;
        }
        depth--;
    }
}

/* ---- pairs of operations in one step ---- */

static pn_opcode op_of(const compiler *self, pn_node node)
{
    return pn_graph_term(self->graph, node)->op;
}

/* A value that nothing else needs and that is not itself a pair. */
static bool can_be_inner(const compiler *self, pn_node inner, pn_node outer)
{
    const fact *about = &self->facts[inner];

    return pn_program_chains(op_of(self, inner), op_of(self, outer)) && is_computed(self, inner) && about->uses == 1 &&
           about->wanted == 0 && about->inner == PN_NODE_NONE;
}

/* Pair what can be, and take the inner ones out of the order. */
static void chain(compiler *self)
{
    size_t kept = 0;

    for (size_t s = 0; s < self->computed; s++) {
        fact *about = &self->facts[self->order[s]];
        pn_node operands[3];
        unsigned count = operands_of(self, self->order[s], operands);

        about->inner = PN_NODE_NONE;
        for (unsigned k = 0; k < count && about->inner == PN_NODE_NONE; k++) {
            if (can_be_inner(self, operands[k], self->order[s])) {
                about->inner = operands[k];
                about->second = k == 1;
                self->facts[operands[k]].chained = true;
            }
        }
    }
    for (size_t s = 0; s < self->computed; s++) {
        if (!self->facts[self->order[s]].chained)
            self->order[kept++] = self->order[s];
    }
    self->computed = kept;
}

/* The operands of the step that computes a node, the inner operation's first. */
static unsigned step_operands(const compiler *self, pn_node node, pn_node operands[3])
{
    const fact *about = &self->facts[node];
    pn_node own[3];
    unsigned count = operands_of(self, node, own);

    if (about->inner == PN_NODE_NONE) {
        memcpy(operands, own, count * sizeof *own);
        return count;
    }
    (void)operands_of(self, about->inner, operands);
    operands[2] = own[about->second ? 0 : 1];
    return 3;
}

static pn_kernel step_kernel(const compiler *self, pn_node node)
{
    const fact *about = &self->facts[node];

    return about->inner == PN_NODE_NONE
               ? pn_program_kernel(self->simd, op_of(self, node))
               : pn_program_chain(self->simd, op_of(self, about->inner), op_of(self, node), about->second);
}

/* ---- steps and registers ---- */

static uint32_t take_register(compiler *self)
{
    return self->unused_count > 0 ? self->unused[--self->unused_count] : (uint32_t)self->registers++;
}

/* Registers are numbered until their spacing, the block, is known. */
static void set_place(fact *about, uint32_t base, uint32_t offset)
{
    about->placed = true;
    about->base = base;
    about->offset = offset;
}

/* Operand k of the step; gives its register back with its last use. */
static void use(compiler *self, pn_step *step, unsigned k, pn_node node)
{
    pn_program *program = self->program;
    fact *about = &self->facts[node];

    if (!about->placed && about->known) {
        program->constants[self->constants] = about->value;
        set_place(about, PN_BASE_CONSTANTS, (uint32_t)self->constants++);
    } else if (!about->placed) {
        uint32_t variable = pn_graph_term(self->graph, node)->a;

        program->reads[program->read_count++] = variable;
        set_place(about, PN_BASE_INPUTS + variable, 0);
    }
    if (--about->uses == 0 && about->wanted == 0 && about->base == PN_BASE_REGISTERS)
        self->unused[self->unused_count++] = about->offset;
    step->bases[k] = about->base;
    step->offsets[k] = about->offset;
    step->steps[k] = about->base != PN_BASE_CONSTANTS;
}

/* The step writes its output and nothing reads the value again. */
static void write_directly(compiler *self, pn_step *step, size_t output)
{
    step->output = (uint32_t)output;
    step->exposed = (size_t)(step - self->program->steps) < self->last_read;
    if (!step->exposed)
        self->unused[self->unused_count++] = step->into;
}

static void emit(compiler *self, pn_node node)
{
    pn_program *program = self->program;
    pn_step *step = &program->steps[program->step_count++];
    fact *about = &self->facts[node];
    pn_node operands[3];
    unsigned count = step_operands(self, node, operands);

    *step = (pn_step){ .output = PN_NO_OUTPUT };
    step->kernel = step_kernel(self, node);
    for (unsigned k = 0; k < count; k++)
        use(self, step, k, operands[k]);
    step->into = take_register(self);
    set_place(about, PN_BASE_REGISTERS, step->into);
    about->direct = about->wanted == 1 && about->uses == 0;
    if (about->direct)
        write_directly(self, step, about->output);
}

/* Output `k` is a variable, a constant, or a value that something else needs too. */
static void emit_output(compiler *self, size_t k)
{
    pn_program *program = self->program;
    pn_node node = self->facts[self->outputs[k]].is;
    fact *about = &self->facts[node];

    if (!is_computed(self, node)) {
        pn_step *step = &program->steps[program->step_count++];

        *step = (pn_step){ .kernel = { .form = PN_FORM_COPY } };
        about->uses++;
        use(self, step, 0, node);
        step->into = take_register(self);
        write_directly(self, step, k);
    } else if (!about->direct) {
        program->deliveries[program->delivery_count++] = (pn_delivery){ about->offset, (uint32_t)k };
    }
}

static void find_last_read(compiler *self)
{
    size_t step = self->computed; /* copies of outputs come last */

    for (size_t s = 0; s < self->computed; s++) {
        pn_node operands[3];
        unsigned count = step_operands(self, self->order[s], operands);

        for (unsigned k = 0; k < count; k++) {
            if (is_variable(self, operands[k]))
                self->last_read = s;
        }
    }
    for (size_t k = 0; k < self->count; k++) {
        pn_node node = self->facts[self->outputs[k]].is;

        if (is_variable(self, node))
            self->last_read = step;
        step += !is_computed(self, node);
    }
}

/* The spacing of the registers, which is also how many entries a block has. */
static size_t choose_block(size_t registers)
{
    size_t block = registers > 0 ? CACHED / registers : PN_PROGRAM_BLOCK;

    if (block < ENOUGH)
        block = ENOUGH * registers <= PN_PROGRAM_SCRATCH ? ENOUGH : PN_PROGRAM_SCRATCH / registers;
    return block < PN_PROGRAM_BLOCK ? block / PN_PROGRAM_LANES * PN_PROGRAM_LANES : PN_PROGRAM_BLOCK;
}

static void space_registers(pn_program *program)
{
    uint32_t block = (uint32_t)program->block;

    for (size_t s = 0; s < program->step_count; s++) {
        pn_step *step = &program->steps[s];

        step->into *= block;
        for (unsigned k = 0; k < 3; k++) {
            if (step->bases[k] == PN_BASE_REGISTERS)
                step->offsets[k] *= block;
        }
    }
    for (size_t d = 0; d < program->delivery_count; d++)
        program->deliveries[d].from *= block;
}

/* ---- the whole ---- */

static pn_status generate(compiler *self, pn_err *err)
{
    pn_program *program = self->program;

    program->steps = pn_alloc(self->computed + self->count, sizeof *program->steps);
    program->deliveries = pn_alloc(self->count, sizeof *program->deliveries);
    program->constants = pn_alloc(2 * self->computed + self->count, sizeof *program->constants);
    PN_TRY(pn_made(program->steps && program->deliveries && program->constants, err, "expression: out of memory"));
    find_last_read(self);
    for (size_t s = 0; s < self->computed; s++)
        emit(self, self->order[s]);
    for (size_t k = 0; k < self->count; k++)
        emit_output(self, k);
    if (self->registers > PN_PROGRAM_SCRATCH / PN_PROGRAM_LANES)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "the expression keeps %zu intermediate values at once, and at most %d fit: sum its parts as they are made",
            self->registers, PN_PROGRAM_SCRATCH / PN_PROGRAM_LANES);
    program->block = choose_block(self->registers);
    space_registers(program);
    return PN_OK;
}

static pn_status compile(compiler *self, pn_err *err)
{
    self->facts = pn_calloc(self->nodes, sizeof *self->facts);
    self->order = pn_alloc(self->nodes, sizeof *self->order);
    self->stack = pn_alloc(3 * self->nodes + 1, sizeof *self->stack);
    self->unused = pn_alloc(self->nodes + self->count, sizeof *self->unused);
    PN_TRY(pn_made(self->facts && self->order && self->stack && self->unused, err, "expression: out of memory"));
    for (pn_node i = 0; i < self->nodes; i++) {
        fold(self, i);
        measure_need(self, i);
    }
    for (size_t k = 0; k < self->count; k++)
        schedule(self, k);
    chain(self);
    return generate(self, err);
}

static pn_status compile_graph(pn_program **out, const pn_simd *simd, const pn_graph *graph, const pn_node *outputs,
                               size_t count, pn_err *err)
{
    compiler self = { .simd = simd, .graph = graph, .outputs = outputs, .count = count };
    pn_status status;

    for (size_t k = 0; k < count; k++)
        self.nodes = outputs[k] >= self.nodes ? (size_t)outputs[k] + 1 : self.nodes;
    PN_TRY(pn_new_zeroed(&self.program, 1, err, "expression: out of memory"));
    self.program->outputs = count;
    status = compile(&self, err);
    if (status == PN_OK)
        *out = self.program;
    else
        pn_program_free(self.program);
    pn_free(self.facts);
    pn_free(self.order);
    pn_free(self.stack);
    pn_free(self.unused);
    return status;
}

pn_status pn_program_new_for(pn_program **out, const pn_simd *simd, const pn_graph *graph, const pn_node *outputs,
                             size_t count, pn_err *err)
{
    pn_graph *halves = NULL;
    pn_node *lowered;
    pn_status status;

    for (size_t k = 0; k < count; k++) {
        if (outputs[k] == PN_NODE_NONE)
            return pn_fail(err, PN_EINVAL, "expression: output %zu of %zu was not built", k + 1, count);
    }
    PN_TRY(pn_new(&lowered, count + 1, err, "expression: out of memory"));
    status = pn_program_lower(&halves, lowered, graph, outputs, count, err);
    if (status == PN_OK)
        status = compile_graph(out, simd, halves ? halves : graph, halves ? lowered : outputs, count, err);
    pn_graph_free(halves);
    pn_free(lowered);
    return status;
}

pn_status pn_program_new(pn_program **out, const pn_graph *graph, const pn_node *outputs, size_t count, pn_err *err)
{
    return pn_program_new_for(out, pn_simd_best(), graph, outputs, count, err);
}

void pn_program_free(pn_program *program)
{
    if (!program)
        return;
    pn_free(program->steps);
    pn_free(program->deliveries);
    pn_free(program->constants);
    pn_free(program);
}

size_t pn_program_steps(const pn_program *program)
{
    return program->step_count + program->delivery_count;
}
