/* program_impl.h -- what a compiled program is.  Private to program.c, which makes it, and program_run.c, which runs it.
 * Depends on: program.h, numeric/simd.h. */
#ifndef PN_EXPR_PROGRAM_IMPL_H
#define PN_EXPR_PROGRAM_IMPL_H

#include "expr/program.h"
#include "numeric/simd.h"

#define PN_PROGRAM_SCRATCH 8192 /* doubles on the stack of a run: 64 KB */
#define PN_PROGRAM_BLOCK   256  /* entries at most */
#define PN_PROGRAM_LANES   8    /* entries at least; blocks are multiples of it */
#define PN_NO_OUTPUT       UINT32_MAX

/* Where an operand lies: bases[base] + offset.  The bases of a run are the registers, the constants, then the inputs. */
enum { PN_BASE_REGISTERS, PN_BASE_CONSTANTS, PN_BASE_INPUTS, PN_BASE_COUNT = PN_BASE_INPUTS + PN_GRAPH_VARS_MAX };

typedef struct pn_operand {
    uint32_t base;
    uint32_t offset; /* in doubles */
} pn_operand;

/* One vector operation.  PN_X_VAR copies operand 0. */
typedef struct pn_step {
    pn_opcode op;
    pn_operand operands[3];
    uint32_t into;   /* offset of the register for the result */
    uint32_t output; /* which takes the result instead of the register, or PN_NO_OUTPUT */
    bool exposed;    /* inputs are read after it: an output that shares memory with one must wait for the end */
} pn_step;

/* A value that is an output but also something else goes there when the block is done. */
typedef struct pn_delivery {
    uint32_t from; /* offset of its register */
    uint32_t output;
} pn_delivery;

struct pn_program {
    const pn_simd *simd;
    pn_step *steps; /* [step_count] */
    size_t step_count;
    pn_delivery *deliveries; /* [delivery_count] */
    size_t delivery_count;
    double *constants;
    size_t outputs, block;
    uint32_t inputs_read; /* bit v: variable v */
};

/** pn_program_new for a table of the caller's choice. */
pn_status pn_program_new_for(pn_program **out, const pn_simd *simd, const pn_graph *graph, const pn_node *outputs,
                             size_t count, pn_err *err);

/** One operation on n entries; a step of 0 is for constants.  Operations of one operand take it with step 1, or n = 1. */
void pn_program_apply(const pn_simd *simd, pn_opcode op, size_t n, const double *const *operands, const size_t *steps,
                      double *out);

#endif
