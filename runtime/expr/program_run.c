/* program_run.c -- running a compiled program block by block.
 * Depends on: program_impl.h, task.h, simd.h.  Used by: program.h's callers; program.c folds constants with it. */
#include <string.h>

#include "expr/program_impl.h"

/* Entries that one thread takes at a time; about a hundred microseconds of work. */
#define CHUNK 16384

static void apply_unary(const pn_simd *simd, pn_opcode op, size_t n, const double *x, double *out)
{
    switch (op) {
    case PN_X_NEG:
        simd->negate(n, x, out);
        break;
    case PN_X_ABS:
        simd->abs(n, x, out);
        break;
    case PN_X_SIGN:
        simd->sign(n, x, out);
        break;
    case PN_X_SQRT:
        simd->sqrt(n, x, out);
        break;
    case PN_X_EXP:
        simd->exp(n, x, out);
        break;
    case PN_X_LOG:
        simd->log(n, x, out);
        break;
    case PN_X_LOG1P:
        simd->log1p(n, x, out);
        break;
    case PN_X_EXPM1:
        simd->expm1(n, x, out);
        break;
    case PN_X_TANH:
        simd->tanh(n, x, out);
        break;
    case PN_X_SIGMOID:
        simd->sigmoid(n, x, out);
        break;
    case PN_X_SOFTPLUS:
        simd->softplus(n, x, out);
        break;
    case PN_X_ERF:
        simd->erf(n, x, out);
        break;
    case PN_X_SIN:
        simd->sin(n, x, out);
        break;
    case PN_X_COS:
        simd->cos(n, x, out);
        break;
    default:
        break;
    }
}

static pn_binary_fn binary_kernel(const pn_simd *simd, pn_opcode op)
{
    switch (op) {
    case PN_X_ADD:
        return simd->add;
    case PN_X_SUB:
        return simd->subtract;
    case PN_X_MUL:
        return simd->multiply;
    case PN_X_DIV:
        return simd->divide;
    case PN_X_POW:
        return simd->power;
    case PN_X_MIN:
        return simd->min;
    case PN_X_MAX:
        return simd->max;
    case PN_X_LT:
        return simd->lt;
    case PN_X_LE:
        return simd->le;
    default:
        return NULL;
    }
}

static void copy(size_t n, const double *x, size_t step, double *out)
{
    if (step && x != out)
        memcpy(out, x, n * sizeof *out);
    for (size_t i = 0; !step && i < n; i++)
        out[i] = *x;
}

void pn_program_apply(const pn_simd *simd, pn_opcode op, size_t n, const double *const *operands, const size_t *steps,
                      double *out)
{
    pn_binary_fn binary = binary_kernel(simd, op);

    if (binary)
        binary(n, operands[0], steps[0], operands[1], steps[1], out);
    else if (op == PN_X_WHERE)
        simd->where(n, operands[0], operands[1], steps[1], operands[2], steps[2], out);
    else if (op == PN_X_VAR)
        copy(n, operands[0], steps[0], out);
    else
        apply_unary(simd, op, n, operands[0], out);
}

/* ---- one block ---- */

typedef struct run {
    const pn_program *program;
    const double *const *inputs;
    double *const *outputs;
    bool aliased; /* an output is also an input */
    size_t n;
} run;

static void run_step(const run *self, const pn_step *step, const double *const *bases, double *registers, size_t at,
                     size_t n)
{
    const double *operands[3];
    size_t steps[3];
    double *out = registers + step->into;

    for (unsigned k = 0; k < 3; k++) {
        operands[k] = bases[step->operands[k].base] + step->operands[k].offset;
        steps[k] = step->operands[k].base != PN_BASE_CONSTANTS;
    }
    if (step->output != PN_NO_OUTPUT && self->outputs[step->output] && !(step->exposed && self->aliased))
        out = self->outputs[step->output] + at;
    pn_program_apply(self->program->simd, step->op, n, operands, steps, out);
}

static void deliver(double *output, const double *value, size_t at, size_t n)
{
    if (output)
        memcpy(output + at, value, n * sizeof *output);
}

static void run_block(const run *self, const double **bases, double *registers, size_t at, size_t n)
{
    const pn_program *program = self->program;

    for (unsigned v = 0; v < PN_GRAPH_VARS_MAX; v++) {
        if (program->inputs_read >> v & 1)
            bases[PN_BASE_INPUTS + v] = self->inputs[v] + at;
    }
    for (size_t s = 0; s < program->step_count; s++)
        run_step(self, &program->steps[s], bases, registers, at, n);
    for (size_t d = 0; d < program->delivery_count; d++)
        deliver(self->outputs[program->deliveries[d].output], registers + program->deliveries[d].from, at, n);
    for (size_t s = 0; self->aliased && s < program->step_count; s++) {
        const pn_step *step = &program->steps[s];

        if (step->output != PN_NO_OUTPUT && step->exposed)
            deliver(self->outputs[step->output], registers + step->into, at, n);
    }
}

static void run_range(const run *self, size_t from, size_t to)
{
    _Alignas(64) double registers[PN_PROGRAM_SCRATCH];
    const double *bases[PN_BASE_COUNT] = {
        [PN_BASE_REGISTERS] = registers, [PN_BASE_CONSTANTS] = self->program->constants
    };

    for (size_t at = from, block = self->program->block; at < to; at += block)
        run_block(self, bases, registers, at, to - at < block ? to - at : block);
}

static run prepare(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs)
{
    run self = { program, inputs, outputs, false, n };

    for (unsigned v = 0; v < PN_GRAPH_VARS_MAX; v++) {
        for (size_t k = 0; (program->inputs_read >> v & 1) && k < program->outputs; k++)
            self.aliased = self.aliased || outputs[k] == inputs[v];
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
    size_t from = chunk * CHUNK, left = self->n - from;

    (void)worker;
    run_range(self, from, from + (left < CHUNK ? left : CHUNK));
}

pn_status pn_program_map(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs,
                         pn_task *task, pn_err *err)
{
    run self = prepare(program, n, inputs, outputs);

    return pn_parallel(task, n / CHUNK + (n % CHUNK != 0), run_chunk, &self, err);
}
