/* program_impl.h -- what a compiled program is.  Private to program.c, which makes it, and program_run.c,
 * which runs it.
 * Depends on: program.h, numeric/simd/simd.h. */
#ifndef PN_EXPR_PROGRAM_IMPL_H
#define PN_EXPR_PROGRAM_IMPL_H

#include "expr/program.h"
#include "numeric/simd/simd.h"

#define PN_PROGRAM_SCRATCH 8192 /* doubles on the stack of a run: 64 KB */
#define PN_PROGRAM_BLOCK   256  /* entries at most */
#define PN_PROGRAM_LANES   8    /* entries at least; blocks are multiples of it */
#define PN_NO_OUTPUT       UINT32_MAX

/* Where an operand lies: bases[base] + offset, in doubles.  Bases are the registers, the constants, then the inputs. */
enum { PN_BASE_REGISTERS, PN_BASE_CONSTANTS, PN_BASE_INPUTS, PN_BASE_COUNT = PN_BASE_INPUTS + PN_GRAPH_VARS_MAX };

typedef enum pn_form { PN_FORM_COPY = 0, PN_FORM_UNARY, PN_FORM_BINARY, PN_FORM_WHERE, PN_FORM_CHAIN } pn_form;

typedef struct pn_kernel {
    pn_form form;
    union {
        void (*unary)(size_t n, const double *x, double *out);
        pn_binary_fn binary;
        void (*where)(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
                      double *out);
        pn_chain_fn chain;
    } call;
} pn_kernel;

/* One vector operation. */
typedef struct pn_step {
    pn_kernel kernel;
    uint32_t bases[3], offsets[3]; /* where the operands lie; 0 for those that the operation does not have */
    size_t steps[3];               /* of the operands: 1, or 0 for constants */
    uint32_t into;                 /* offset of the register for the result */
    uint32_t output;               /* which takes the result instead of the register, or PN_NO_OUTPUT */
    bool exposed; /* inputs are read after it: an output that shares memory with one must wait for the end */
} pn_step;

/* A value that is an output but also something else goes there when the block is done. */
typedef struct pn_delivery {
    uint32_t from; /* offset of its register */
    uint32_t output;
} pn_delivery;

struct pn_program {
    pn_step *steps; /* [step_count] */
    size_t step_count;
    pn_delivery *deliveries; /* [delivery_count] */
    size_t delivery_count;
    double *constants;
    size_t outputs, block;
    unsigned reads[PN_GRAPH_VARS_MAX]; /* [read_count]: the variables that are read */
    size_t read_count;
};

/** pn_program_new for a table of the caller's choice. */
pn_status pn_program_new_for(pn_program **out, const pn_simd *simd, const pn_graph *graph, const pn_node *outputs,
                             size_t count, pn_err *err);

/**
 * The graph with sigmoids and softpluses of one argument (or of its negative) in halves that share an exponential, and
 * its outputs there; *out is NULL when there is nothing to share.  The caller owns the graph.  Errors: PN_ENOMEM.
 */
pn_status pn_program_lower(pn_graph **out, pn_node *lowered, const pn_graph *graph, const pn_node *outputs,
                           size_t count, pn_err *err);

/** The kernel of an operation; a copy of operand 0 for variables and constants. */
pn_kernel pn_program_kernel(const pn_simd *simd, pn_opcode op);

/** Whether two operations can be one step, the result of `inner` being an operand of `outer`. */
bool pn_program_chains(pn_opcode inner, pn_opcode outer);

/** The kernel of (a inner b) outer c, or of c outer (a inner b) when `second`. */
pn_kernel pn_program_chain(const pn_simd *simd, pn_opcode inner, pn_opcode outer, bool second);

/** Call it.  Kernels of one operand, and where on its condition, take n > 1 entries with step 1 only. */
void pn_program_apply(const pn_kernel *kernel, size_t n, const double *const *operands, const size_t *steps,
                      double *out);

#endif
