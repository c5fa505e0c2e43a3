/* lnumbers.h -- what lvec.c, lmat.c, lsparse.c, lmath.c and lnpy.c share: the boxes of numbers, and the one place where
 * an operator finds out what it has been given.  Depends on: pnl.h, numeric/.  Used by: those files; bindings that hand
 * out numbers of their own may freeze them. */
#ifndef PNL_NUMBERS_H
#define PNL_NUMBERS_H

#include "bindings/core/pnl.h"

#include "numeric/csr.h"
#include "numeric/elementwise.h"

typedef struct pnl_buffer pnl_buffer;

typedef struct pnl_vec {
    double *data; /* [n] */
    size_t n;
    pnl_buffer *buffer; /* where data lies, or NULL: it belongs to what the box keeps alive */
    bool frozen;
} pnl_vec;

/* Vectors and matrices that look into one another share its memory, so that none can outlive it,
 * not even by <close>. */
struct pnl_buffer {
    size_t refs;
    pnl_vec first; /* the vector that it was made for: one allocation less */
    double numbers[];
};

typedef struct pnl_mat {
    double *data; /* [rows * cols] row-major */
    size_t rows, cols;
    pnl_buffer *buffer;
    bool frozen;
} pnl_mat;

typedef struct pnl_sparse {
    pn_csr csr;
    bool owned; /* false: its arrays belong to what the box keeps alive */
} pnl_sparse;

/** The vec or mat at `index` refuses to be changed from now on, and so do all views made of it.  A view of anything but
 *  a vec or mat is born frozen, since such owners (data sets, results) are immutable; pnl_thaw is for the one whose
 *  owner is nothing but its memory. */
void pnl_freeze(lua_State *L, int index);
void pnl_thaw(lua_State *L, int index);
/** Raise unless the numbers of this object may be changed; `frozen` is the object's. */
void pnl_check_changeable(lua_State *L, bool frozen);

/** Push an empty, zeroed box of sparse numbers, owned; the caller fills csr. */
pnl_sparse *pnl_new_sparse(lua_State *L);
/** Push a pn.sparse that looks into `csr` and keeps the value at `owner` alive. */
void pnl_view_sparse(lua_State *L, const pn_csr *csr, int owner);

/* ---- buffers ---- */

/** count numbers, not set, with one reference; NULL when memory is short. */
pnl_buffer *pnl_buffer_new(size_t count);
pnl_buffer *pnl_buffer_retain(pnl_buffer *buffer);
void pnl_buffer_release(pnl_buffer *buffer);
/** The buffer and the frozen flag of the vec or mat at `index`; NULL and true for anything else. */
pnl_buffer *pnl_buffer_of(lua_State *L, int index, bool *frozen);
/** Tell the collector of `bytes` of numbers; small ones add up until they count. */
void pnl_weigh(lua_State *L, size_t bytes);

/* ---- operators ---- */

/* A kind of thing that one can calculate with.  An operator goes to the highest kind among its operands, so a new kind
 * is one such table and one line in lmath.c. */
typedef struct pnl_number_kind {
    const char *name; /* "vec" */
    bool (*is)(lua_State *L, int index);
    void (*apply)(lua_State *L, const pn_function *function); /* operand 1 -> push */
    void (*operate)(lua_State *L, pn_operator op);            /* operands 1, 2 -> push */
    void (*where)(lua_State *L);                              /* operands 1, 2, 3 -> push */
} pnl_number_kind;

extern const pnl_number_kind pnl_kind_vec, pnl_kind_mat, pnl_kind_sparse, pnl_kind_symbol;

/** Operands at 1 and 2; pushes the result and returns 1. */
int pnl_operate(lua_State *L, pn_operator op);
/** Operand at 1. */
int pnl_apply(lua_State *L, const pn_function *function);
/** "vec", "mat", "number", else Lua's or the class's name for what is at `index`. */
const char *pnl_kind_name(lua_State *L, int index);
/** Raise "vec + string is not defined", with an optional hint. */
int pnl_no_operator(lua_State *L, pn_operator op, const char *hint);

/* Metamethods that all kinds share. */
int pnl_meta_add(lua_State *L);
int pnl_meta_sub(lua_State *L);
int pnl_meta_mul(lua_State *L);
int pnl_meta_div(lua_State *L);
int pnl_meta_pow(lua_State *L);
int pnl_meta_unm(lua_State *L);
int pnl_meta_order(lua_State *L); /* refuses < and <= */

/* ---- arguments and text ---- */

/** A whole number from 1 to `most`; raises "owner: what must be a whole number from 1 to most, got ...". */
size_t pnl_check_index(lua_State *L, int index, size_t most, const char *owner, const char *what);
/** Read the table at `index` (absolute) as numbers into out[n]; `owner` and `place` start the message. */
void pnl_read_numbers(lua_State *L, int index, double *out, size_t n, const char *owner);
/** Add "1.5", six significant digits. */
void pnl_add_number(luaL_Buffer *text, double x);
/** Make the library table on the stack top callable, and say how in the reference. */
void pnl_callable(lua_State *L, const char *library, lua_CFunction call, const char *signature, const char *doc);

/* Rows of classes that reveal nothing. */
#define METHOD(name, fn, signature, doc)                                                                               \
    {                                                                                                                  \
        name, fn, PNL_METHOD, PNL_NOTHING, signature, doc                                                              \
    }
#define META(name, fn, signature, doc)                                                                                 \
    {                                                                                                                  \
        name, fn, PNL_META, PNL_NOTHING, signature, doc                                                                \
    }

/* lnumbers_print.c */
int pnl_vec_tostring(lua_State *L);
int pnl_mat_tostring(lua_State *L);
int pnl_sparse_tostring(lua_State *L);

int pnl_vec_mean(lua_State *L);
int pnl_vec_std(lua_State *L);
int pnl_vec_sort(lua_State *L);
int pnl_vec_quantile(lua_State *L);
int pnl_vec_save(lua_State *L);
int pnl_mat_save(lua_State *L);

/* Each adds its part to the `pn` table on the stack top. */
void pnl_open_vec(lua_State *L);
void pnl_open_mat(lua_State *L);
void pnl_open_sparse(lua_State *L);
void pnl_open_math(lua_State *L);
/** A path; a zero byte in it would silently name another file. */
const char *pnl_check_path(lua_State *L, int index);
void pnl_open_npy(lua_State *L);

#endif
