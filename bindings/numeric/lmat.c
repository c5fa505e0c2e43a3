/* lmat.c -- pn.mat: dense row-major matrices.  Depends on: lnumbers.h, lsymbol.h, numeric/.  Used by: every binding. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"
#include "core/size.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

/* ---- making ---- */

static void mat_free(void *object)
{
    pnl_mat *self = object;

    pnl_buffer_release(self->buffer);
    pn_free(self);
}

static pnl_mat *push_empty(lua_State *L)
{
    void **slot = pnl_newbox(L, &pnl_mat_class);
    pnl_mat *self = pn_calloc(1, sizeof *self);

    if (!self)
        pnl_no_memory(L, "mat: not enough memory");
    *slot = self;
    return self;
}

double *pnl_new_mat(lua_State *L, size_t rows, size_t cols)
{
    pnl_mat *self = push_empty(L);
    size_t count = 0;
    pn_err err;

    pnl_status(L, pn_size_product(&count, "mat", "rows x cols", rows, cols, &err), &err);
    self->buffer = pnl_buffer_new(count);
    if (!self->buffer)
        pnl_no_memory(L, "mat: not enough memory for %zu x %zu", rows, cols);
    self->data = memset(self->buffer->numbers, 0, count * sizeof(double));
    self->rows = rows;
    self->cols = cols;
    pnl_weigh(L, count * sizeof(double));
    return self->data;
}

void pnl_view_mat(lua_State *L, double *data, size_t rows, size_t cols, int owner)
{
    pnl_mat *self;
    pnl_buffer *buffer;
    bool frozen;

    owner = lua_absindex(L, owner);
    buffer = pnl_buffer_of(L, owner, &frozen);
    self = push_empty(L);
    self->data = data;
    self->rows = rows;
    self->cols = cols;
    self->frozen = frozen;
    self->buffer = pnl_buffer_retain(buffer);
    if (!buffer)
        pnl_keep(L, -1, owner);
}

/* Entries in the row at the stack top, which must be a list or a vector. */
static size_t row_length(lua_State *L, const char *who, size_t row)
{
    pnl_vec *vec = pnl_test(L, -1, &pnl_vec_class);

    if (!vec && lua_type(L, -1) != LUA_TTABLE)
        pnl_error(L, "%s: row %zu must be a list of numbers or a vector, got %s", who, row, luaL_typename(L, -1));
    return vec ? vec->n : lua_rawlen(L, -1);
}

static void read_row(lua_State *L, const char *who, double *out, size_t cols, size_t row)
{
    pnl_vec *vec = pnl_test(L, -1, &pnl_vec_class);
    char owner[160];
    size_t bad;

    (void)snprintf(owner, sizeof owner, "%s: row %zu", who, row);
    if (!vec) {
        pnl_read_numbers(L, lua_gettop(L), out, cols, owner);
        return;
    }
    bad = pn_first_nonfinite(vec->data, cols);
    if (bad < cols)
        pnl_error(L, "%s: entry %zu is not finite", owner, bad + 1);
    memcpy(out, vec->data, cols * sizeof *out);
}

/* Pushes a matrix made of the list of rows at `index`. */
static pn_mat read_rows(lua_State *L, int index, const char *who)
{
    size_t rows = lua_rawlen(L, index), cols;
    double *data;

    if (rows == 0)
        pnl_error(L, "%s: expected a list of rows, as in pn.mat{{1, 2}, {3, 4}}, got an empty table", who);
    lua_rawgeti(L, index, 1);
    cols = row_length(L, who, 1);
    lua_pop(L, 1);
    if (cols == 0)
        pnl_error(L, "%s: row 1 has no entries", who);
    data = pnl_new_mat(L, rows, cols);
    for (size_t i = 0; i < rows; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        if (row_length(L, who, i + 1) != cols)
            pnl_error(L, "%s: row %zu has %zu entries, row 1 has %zu", who, i + 1, row_length(L, who, i + 1), cols);
        read_row(L, who, data + i * cols, cols, i + 1);
        lua_pop(L, 1);
    }
    return (pn_mat){ data, rows, cols };
}

pn_mat pnl_check_mat(lua_State *L, int index)
{
    return pnl_check_mat_of(L, index, "mat");
}

pn_mat pnl_check_mat_of(lua_State *L, int index, const char *who)
{
    pnl_mat *self;

    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TTABLE) {
        pn_mat mat = read_rows(L, index, who);

        lua_replace(L, index);
        return mat;
    }
    if (!pnl_test(L, index, &pnl_mat_class))
        pnl_wrong_argument(L, index, "a matrix or a list of rows");
    self = pnl_check(L, index, &pnl_mat_class);
    return (pn_mat){ self->data, self->rows, self->cols };
}

/* pn.mat{{...}, ...}: argument 1 is the library */
static int mat_call(lua_State *L)
{
    pnl_mat *given = pnl_test(L, 2, &pnl_mat_class);

    lua_settop(L, 2);
    if (given) {
        memcpy(pnl_new_mat(L, given->rows, given->cols), given->data, given->rows * given->cols * sizeof(double));
        return 1;
    }
    if (lua_type(L, 2) != LUA_TTABLE)
        return pnl_error(L, "mat: expected a list of rows, as in pn.mat{{1, 2}, {3, 4}}, got %s", luaL_typename(L, 2));
    (void)pnl_check_mat(L, 2);
    return 1;
}

static int mat_zeros(lua_State *L)
{
    size_t rows = pnl_check_count(L, 1, "mat.zeros: rows"), cols = pnl_check_count(L, 2, "mat.zeros: cols");

    (void)pnl_new_mat(L, rows, cols);
    return 1;
}

/* ---- entries ---- */

static pnl_mat *check_self(lua_State *L)
{
    return pnl_check(L, 1, &pnl_mat_class);
}

static pn_mat view_of(const pnl_mat *self)
{
    return (pn_mat){ self->data, self->rows, self->cols };
}

PNL_GETTER(mat_rows, check_self(L)->rows);
PNL_GETTER(mat_cols, check_self(L)->cols);

static int mat_index(lua_State *L)
{
    pnl_mat *self = check_self(L);
    size_t i;

    if (lua_type(L, 2) == LUA_TSTRING)
        return pnl_error(L, "pn.mat has no field '%s'; help \"pn.mat\" lists what it has", lua_tostring(L, 2));
    i = pnl_check_index(L, 2, self->rows, "mat", "row");
    pnl_view_vec(L, self->data + (i - 1) * self->cols, self->cols, 1);
    return 1;
}

static int mat_newindex(lua_State *L)
{
    (void)check_self(L);
    return pnl_error(L, "mat: set one entry at a time, by A:set(i, j, x) or A[i][j] = x");
}

static double *check_entry(lua_State *L, pnl_mat *self, const char *owner)
{
    size_t i = pnl_check_index(L, 2, self->rows, owner, "row"), j = pnl_check_index(L, 3, self->cols, owner, "column");

    return &self->data[(i - 1) * self->cols + j - 1];
}

static int mat_get(lua_State *L)
{
    pnl_mat *self = check_self(L);

    lua_pushnumber(L, *check_entry(L, self, "get"));
    return 1;
}

static int mat_set(lua_State *L)
{
    pnl_mat *self = check_self(L);
    double *entry = check_entry(L, self, "set");

    pnl_check_changeable(L, self->frozen);
    *entry = pnl_check_finite(L, 4, "set: the new entry");
    lua_settop(L, 1);
    return 1;
}

static int mat_vec(lua_State *L)
{
    pnl_mat *self = check_self(L);

    pnl_view_vec(L, self->data, self->rows * self->cols, 1);
    return 1;
}

static int mat_copy(lua_State *L)
{
    pnl_mat *self = check_self(L);

    memcpy(pnl_new_mat(L, self->rows, self->cols), self->data, self->rows * self->cols * sizeof(double));
    return 1;
}

static int mat_eq(lua_State *L)
{
    pnl_mat *a = pnl_test(L, 1, &pnl_mat_class), *b = pnl_test(L, 2, &pnl_mat_class);
    bool same = a && b && a->rows == b->rows && a->cols == b->cols;

    for (size_t k = 0; same && k < a->rows * a->cols; k++)
        same = a->data[k] == b->data[k];
    lua_pushboolean(L, same);
    return 1;
}

static int mat_map(lua_State *L)
{
    const pn_program *program;
    pnl_mat *self;

    (void)check_self(L);
    lua_settop(L, 2);
    program = pnl_trace_map(L, 2, "A:map");
    self = check_self(L); /* the function may have closed it */
    pnl_run_map(L, program, self->rows * self->cols, self->data, pnl_new_mat(L, self->rows, self->cols));
    return 1;
}

/* ---- linear algebra ---- */

static int mat_t(lua_State *L)
{
    pnl_mat *self = check_self(L);

    pn_mat_transpose(pnl_new_mat(L, self->cols, self->rows), view_of(self));
    return 1;
}

static int mat_svd(lua_State *L)
{
    pnl_mat *self = check_self(L);
    size_t k = self->rows < self->cols ? self->rows : self->cols;
    double *U = pnl_new_mat(L, self->rows, k), *s = pnl_new_vec(L, k), *V = pnl_new_mat(L, self->cols, k);
    double *Vt = pnl_new_mat(L, k, self->cols);
    pn_err err;

    pnl_status(L, pn_svd(U, s, Vt, view_of(self), &err), &err);
    pn_mat_transpose(V, (pn_mat){ Vt, k, self->cols });
    lua_pop(L, 1);
    return 3;
}

/* Relative to the largest entry: what sums in another order leave of a symmetry. */
#define ASYMMETRY 1e-10

static void check_symmetric(lua_State *L, const pnl_mat *A)
{
    double most = 0.0;

    if (A->rows != A->cols)
        pnl_error(L, "eigen: the matrix is %zu x %zu; eigenvalues need a square one, singular values (A:svd()) do not",
                  A->rows, A->cols);
    for (size_t k = 0; k < A->rows * A->cols; k++)
        most = fmax(most, fabs(A->data[k]));
    for (size_t i = 0; i < A->rows; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(A->data[i * A->cols + j] - A->data[j * A->cols + i]) > ASYMMETRY * most)
                pnl_error(L,
                          "eigen: entry (%zu, %zu) is %g, entry (%zu, %zu) is %g; the matrix must be symmetric, as "
                          "(A + A:t()) / 2 is",
                          i + 1, j + 1, A->data[i * A->cols + j], j + 1, i + 1, A->data[j * A->cols + i]);
}

static int mat_eigen(lua_State *L)
{
    pnl_mat *self = check_self(L);
    double *values, *vectors, *rows;
    pn_err err;

    check_symmetric(L, self);
    values = pnl_new_vec(L, self->rows);
    vectors = pnl_new_mat(L, self->rows, self->rows);
    rows = pnl_new_mat(L, self->rows, self->rows);
    pnl_status(L, pn_eigen_symmetric(values, rows, view_of(self), &err), &err);
    pn_mat_transpose(vectors, (pn_mat){ rows, self->rows, self->rows });
    lua_pop(L, 1);
    return 2;
}

static int mat_solve(lua_State *L)
{
    pnl_mat *self = check_self(L);
    pn_vec b = pnl_check_vec(L, 2);
    pn_err err;

    if (self->rows == self->cols && b.n != self->rows)
        return pnl_error(L, "solve: the matrix is %zu x %zu, b has %zu entries", self->rows, self->cols, b.n);
    pnl_status(L, pn_linear_solve(pnl_new_vec(L, self->cols), view_of(self), b.data, &err), &err);
    return 1;
}

/* ---- operators ---- */

static bool is_mat(lua_State *L, int index)
{
    return pnl_test(L, index, &pnl_mat_class) != NULL;
}

static void mat_apply(lua_State *L, const pn_function *function)
{
    pnl_mat *self = check_self(L);

    if (function != &pn_negate)
        pnl_error(L, "%s(mat) is not defined; write %s(A:vec()):reshape(%zu, %zu)", function->name, function->name,
                  self->rows, self->cols);
    function->apply(self->rows * self->cols, self->data, pnl_new_mat(L, self->rows, self->cols));
}

static void mat_and_mat(lua_State *L, pn_operator op, pn_mat A, pn_mat B)
{
    pn_err err;

    if (op == PN_OP_MULTIPLY) {
        if (A.cols != B.rows)
            pnl_error(L, "mat * mat: %zu x %zu and %zu x %zu", A.rows, A.cols, B.rows, B.cols);
        pnl_status(L, pn_mat_times_mat((pn_mat){ pnl_new_mat(L, A.rows, B.cols), A.rows, B.cols }, A, B, &err), &err);
        return;
    }
    if (op != PN_OP_ADD && op != PN_OP_SUBTRACT)
        pnl_no_operator(L, op, "A:vec() gives the entries as a vector");
    if (A.rows != B.rows || A.cols != B.cols)
        pnl_error(L, "mat %s mat: %zu x %zu and %zu x %zu", pn_operator_name(op), A.rows, A.cols, B.rows, B.cols);
    pn_operate(op, A.rows * A.cols, A.data, 1, B.data, 1, pnl_new_mat(L, A.rows, A.cols));
}

static void mat_and_number(lua_State *L, pn_operator op, pn_mat A, double x, bool mat_first)
{
    if (op != PN_OP_MULTIPLY && !(op == PN_OP_DIVIDE && mat_first))
        pnl_no_operator(L, op, "a matrix is multiplied or divided by a number; A:vec() gives the entries as a vector");
    pn_operate(op, A.rows * A.cols, A.data, 1, &x, 0, pnl_new_mat(L, A.rows, A.cols));
}

static void mat_and_vec(lua_State *L, pn_operator op, pn_mat A)
{
    pn_vec v;

    if (op != PN_OP_MULTIPLY)
        pnl_no_operator(L, op, NULL);
    v = pnl_check_vec(L, 2);
    if (v.n != A.cols)
        pnl_error(L, "mat * vec: %zu x %zu and %zu entries", A.rows, A.cols, v.n);
    pn_mat_times_vec(A, v.data, pnl_new_vec(L, A.rows));
}

static void mat_operate(lua_State *L, pn_operator op)
{
    pnl_mat *a = pnl_test(L, 1, &pnl_mat_class), *b = pnl_test(L, 2, &pnl_mat_class);

    if (a && b)
        mat_and_mat(L, op, view_of(a), view_of(b));
    else if (a && lua_type(L, 2) == LUA_TNUMBER)
        mat_and_number(L, op, view_of(a), lua_tonumber(L, 2), true);
    else if (b && lua_type(L, 1) == LUA_TNUMBER)
        mat_and_number(L, op, view_of(b), lua_tonumber(L, 1), false);
    else if (a && pnl_kind_vec.is(L, 2))
        mat_and_vec(L, op, view_of(a));
    else
        pnl_no_operator(L, op, op == PN_OP_MULTIPLY && b ? "write A:t() * v" : NULL);
}

static void mat_where(lua_State *L)
{
    pnl_error(L, "where takes numbers and vectors; A:vec() gives the entries of a matrix");
}

const pnl_number_kind pnl_kind_mat = { "mat", is_mat, mat_apply, mat_operate, mat_where };

/* ---- tables ---- */

static const pnl_row mat_class_rows[] = {
    { "rows", mat_rows, PNL_FIELD, PNL_NOTHING, "A.rows -> number", "How many rows." },
    { "cols", mat_cols, PNL_FIELD, PNL_NOTHING, "A.cols -> number", "How many columns." },
    METHOD("get", mat_get, "A:get(i, j) -> number", "The entry in row i and column j."),
    METHOD("set", mat_set, "A:set(i, j, x) -> A",
           "Set the entry in row i and column j to the finite number x, in place."),
    METHOD("copy", mat_copy, "A:copy() -> mat", "The same numbers in memory of their own."),
    METHOD(
        "map", mat_map, "A:map(f) -> mat",
        "f of every entry, a new matrix; f is traced: called once with a symbol that stands for an entry, as v:map."),
    METHOD("t", mat_t, "A:t() -> mat", "The transpose, a new matrix."),
    METHOD("vec", mat_vec, "A:vec() -> vec", "All entries row by row: a view."),
    METHOD("svd", mat_svd, "A:svd() -> U, s, V",
           "Economy singular value decomposition A = U diag(s) V:t(), s descending.  The entries must be finite.  "
           "LAPACK dgesdd."),
    METHOD("eigen", mat_eigen, "A:eigen() -> w, V",
           "Eigenvalues w, ascending, and orthonormal eigenvectors, the columns of V, of a symmetric A: A = V "
           "diag(w) V:t().  An error when an entry is not finite, or differs from its mirror image by more than "
           "1e-10 of the largest entry.  LAPACK dsyevd."),
    METHOD("solve", mat_solve, "A:solve(b) -> vec",
           "x with A * x = b for a square A; an error when A is singular, also to working precision.  LAPACK dgetrf."),
    { "save", pnl_mat_save, PNL_METHOD, PNL_RAW | PNL_FILES, "A:save(path)",
      "Write a NumPy .npy file ('<f8', C order); it appears complete or not at all." },
    META("__eq", mat_eq, "A == B -> boolean", "Whether both have the same shape and the same numbers."),
    META("__add", pnl_meta_add, "A + B -> mat", "Entry by entry; the same shape."),
    META("__sub", pnl_meta_sub, "A - B -> mat", "Entry by entry; the same shape."),
    META("__mul", pnl_meta_mul, "A * v -> vec, A * B -> mat, 2 * A -> mat", "The matrix product, or a multiple."),
    META("__div", pnl_meta_div, "A / 2 -> mat", "Every entry divided by a number."),
    META("__pow", pnl_meta_pow, "A ^ p", "An error: not defined for matrices."),
    META("__unm", pnl_meta_unm, "-A -> mat", "Every entry negated."),
    META("__lt", pnl_meta_order, "A < B", "An error: Lua makes one boolean of it."),
    META("__le", pnl_meta_order, "A <= B", "An error: Lua makes one boolean of it."),
    META("__tostring", pnl_mat_tostring, "tostring(A) -> string",
         "Shape and entries in columns; of a large one the range and what fits into 80 columns and ten rows."),
    PNL_ROW_END,
};

const pnl_class pnl_mat_class = {
    "pn.mat",  mat_free,    mat_class_rows, "A dense matrix of doubles; A[i] is row i as a vector that looks into it.",
    mat_index, mat_newindex
};

static const pnl_row library_rows[] = {
    { "zeros", mat_zeros, PNL_FUNCTION, PNL_NOTHING, "mat.zeros(rows, cols) -> mat", "A matrix of zeros." },
    PNL_ROW_END,
};

void pnl_open_mat(lua_State *L)
{
    pnl_open_class(L, &pnl_mat_class);
    pnl_library(L, "mat", "Matrices: pn.mat{{1, 2}, {3, 4}} and the constructors below.", library_rows);
    pnl_callable(L, "mat", mat_call, "pn.mat{{1, 2}, {3, 4}} -> mat",
                 "A matrix of the listed rows (lists or vectors of one length, all finite), or a copy of a matrix.");
    lua_setfield(L, -2, "mat");
}
