/* program_run.c -- running a compiled program block by block.
 * Depends on: program_impl.h, task.h, simd.h.  Used by: program.h's callers; program.c folds constants with it. */
#include <stddef.h>
#include <string.h>

#include "expr/graph_impl.h"
#include "expr/program_impl.h"

/* Entries that one thread takes at a time; about a hundred microseconds of work. */
#define CHUNK 16384
#define SPAN  (256 * CHUNK) /* between two reports */

/* Blocks from a prefetch to the use of what it fetched. */
#define AHEAD 2

/* ---- kernels ---- */

static const size_t slots[PN_X_LOWERED_COUNT] = {
    [PN_X_NEG] = offsetof(pn_simd, negate),
    [PN_X_ABS] = offsetof(pn_simd, abs),
    [PN_X_SIGN] = offsetof(pn_simd, sign),
    [PN_X_SQRT] = offsetof(pn_simd, sqrt),
    [PN_X_EXP] = offsetof(pn_simd, exp),
    [PN_X_LOG] = offsetof(pn_simd, log),
    [PN_X_LOG1P] = offsetof(pn_simd, log1p),
    [PN_X_EXPM1] = offsetof(pn_simd, expm1),
    [PN_X_TANH] = offsetof(pn_simd, tanh),
    [PN_X_SIGMOID] = offsetof(pn_simd, sigmoid),
    [PN_X_SOFTPLUS] = offsetof(pn_simd, softplus),
    [PN_X_ERF] = offsetof(pn_simd, erf),
    [PN_X_SIN] = offsetof(pn_simd, sin),
    [PN_X_COS] = offsetof(pn_simd, cos),
    [PN_X_ADD] = offsetof(pn_simd, add),
    [PN_X_SUB] = offsetof(pn_simd, subtract),
    [PN_X_MUL] = offsetof(pn_simd, multiply),
    [PN_X_DIV] = offsetof(pn_simd, divide),
    [PN_X_POW] = offsetof(pn_simd, power),
    [PN_X_MIN] = offsetof(pn_simd, min),
    [PN_X_MAX] = offsetof(pn_simd, max),
    [PN_X_LT] = offsetof(pn_simd, lt),
    [PN_X_LE] = offsetof(pn_simd, le),
    [PN_X_WHERE] = offsetof(pn_simd, where),
    [PN_X_DECAY] = offsetof(pn_simd, decay),
    [PN_X_SIGMOID_OF] = offsetof(pn_simd, sigmoid_of),
    [PN_X_SOFTPLUS_OF] = offsetof(pn_simd, softplus_of),
};

pn_kernel pn_program_kernel(const pn_simd *simd, pn_opcode op)
{
    pn_kernel kernel = { .form = (pn_form)pn_opcode_operands(op) };
    const char *slot = (const char *)simd + slots[op];

    if (kernel.form == PN_FORM_UNARY)
        memcpy(&kernel.call.unary, slot, sizeof kernel.call.unary);
    else if (kernel.form == PN_FORM_BINARY)
        memcpy(&kernel.call.binary, slot, sizeof kernel.call.binary);
    else if (kernel.form == PN_FORM_WHERE)
        memcpy(&kernel.call.where, slot, sizeof kernel.call.where);
    return kernel;
}

static bool is_chained(pn_opcode op)
{
    return op == PN_X_ADD || op == PN_X_SUB || op == PN_X_MUL;
}

bool pn_program_chains(pn_opcode inner, pn_opcode outer)
{
    return is_chained(inner) && is_chained(outer);
}

pn_kernel pn_program_chain(const pn_simd *simd, pn_opcode inner, pn_opcode outer, bool second)
{
    pn_kernel kernel = { .form = PN_FORM_CHAIN };
    size_t row = inner == PN_X_ADD ? 0 : inner == PN_X_SUB ? 1 : 2;

    kernel.call.chain = simd->chain[row][outer == PN_X_ADD ? 0 : outer == PN_X_MUL ? 3 : second ? 2 : 1];
    return kernel;
}

static void copy(size_t n, const double *x, size_t step, double *out)
{
    if (step && x != out)
        memcpy(out, x, n * sizeof *out);
    for (size_t i = 0; !step && i < n; i++)
        out[i] = *x;
}

void pn_program_apply(const pn_kernel *kernel, size_t n, const double *const *operands, const size_t *steps,
                      double *out)
{
    switch (kernel->form) {
    case PN_FORM_COPY:
        copy(n, operands[0], steps[0], out);
        break;
    case PN_FORM_UNARY:
        kernel->call.unary(n, operands[0], out);
        break;
    case PN_FORM_BINARY:
        kernel->call.binary(n, operands[0], steps[0], operands[1], steps[1], out);
        break;
    case PN_FORM_WHERE:
        kernel->call.where(n, operands[0], operands[1], steps[1], operands[2], steps[2], out);
        break;
    case PN_FORM_CHAIN:
        kernel->call.chain(n, operands, steps, out);
        break;
    }
}

/* ---- one block ---- */

typedef struct run {
    const pn_program *program;
    const double *const *inputs;
    double *const *outputs;
    bool aliased; /* an output is also an input */
    size_t n;
    size_t done; /* before the span that is being mapped */
} run;

static void run_step(const run *self, const pn_step *step, const double *const *bases, double *registers, size_t at,
                     size_t n)
{
    const double *operands[3];
    double *out = registers + step->into;

    for (unsigned k = 0; k < 3; k++)
        operands[k] = bases[step->bases[k]] + step->offsets[k];
    if (step->output != PN_NO_OUTPUT && self->outputs[step->output] && !(step->exposed && self->aliased))
        out = self->outputs[step->output] + at;
    pn_program_apply(&step->kernel, n, operands, step->steps, out);
}

static void deliver(double *output, const double *value, size_t at, size_t n)
{
    if (output)
        memcpy(output + at, value, n * sizeof *output);
}

/* Values that could not be written at once. */
static void deliver_all(const run *self, const double *registers, size_t at, size_t n)
{
    const pn_program *program = self->program;

    for (size_t d = 0; d < program->delivery_count; d++)
        deliver(self->outputs[program->deliveries[d].output], registers + program->deliveries[d].from, at, n);
    for (size_t s = 0; self->aliased && s < program->step_count; s++) {
        const pn_step *step = &program->steps[s];

        if (step->output != PN_NO_OUTPUT && step->exposed)
            deliver(self->outputs[step->output], registers + step->into, at, n);
    }
}

/* Ask for the block at `from`, what it reads and what it writes: it arrives while the ones before are computed. */
static void prefetch(const run *self, size_t from, size_t end)
{
    const pn_program *program = self->program;
    size_t to = from < end && end - from > program->block ? from + program->block : end;

    for (size_t r = 0; r < program->read_count; r++) {
        for (size_t i = from; i < to; i += PN_PROGRAM_LANES)
            __builtin_prefetch(self->inputs[program->reads[r]] + i, 0, 3);
    }
    for (size_t k = 0; k < program->outputs; k++) {
        for (size_t i = from; self->outputs[k] && i < to; i += PN_PROGRAM_LANES)
            __builtin_prefetch(self->outputs[k] + i, 1, 3);
    }
}

static void run_range(const run *self, size_t from, size_t to)
{
    const pn_program *program = self->program;
    _Alignas(64) double registers[PN_PROGRAM_SCRATCH];
    const double *bases[PN_BASE_COUNT];
    size_t n;

    bases[PN_BASE_REGISTERS] = registers;
    bases[PN_BASE_CONSTANTS] = program->constants;
    for (size_t at = from; at < to; at += n) {
        n = to - at < program->block ? to - at : program->block;
        prefetch(self, at + AHEAD * program->block, to);
        for (size_t r = 0; r < program->read_count; r++)
            bases[PN_BASE_INPUTS + program->reads[r]] = self->inputs[program->reads[r]] + at;
        for (size_t s = 0; s < program->step_count; s++)
            run_step(self, &program->steps[s], bases, registers, at, n);
        deliver_all(self, registers, at, n);
    }
}

static run prepare(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs)
{
    run self = { program, inputs, outputs, false, n, 0 };

    for (size_t r = 0; r < program->read_count; r++) {
        for (size_t k = 0; k < program->outputs; k++)
            self.aliased = self.aliased || outputs[k] == inputs[program->reads[r]];
    }
    return self;
}

void pn_program_run(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs)
{
    run self = prepare(program, n, inputs, outputs);

    run_range(&self, 0, n);
}

/* ---- long arrays ---- */

static void run_chunk(void *data, size_t chunk, unsigned worker)
{
    const run *self = data;
    size_t from = self->done + chunk * CHUNK, left = self->n - from;

    (void)worker;
    run_range(self, from, from + (left < CHUNK ? left : CHUNK));
}

pn_status pn_program_map(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs,
                         pn_task *task, pn_err *err)
{
    run self = prepare(program, n, inputs, outputs);
    pn_status status = PN_OK;

    for (; self.done < n && status == PN_OK; self.done += SPAN) {
        size_t left = n - self.done, span = left < SPAN ? left : SPAN;

        status = pn_parallel(task, (span + CHUNK - 1) / CHUNK, run_chunk, &self, err);
        if (status == PN_OK)
            status = pn_task_report(task, "map", (double)(self.done + span), (double)n, err);
    }
    return status;
}
