/* lsparse.c -- pn.sparse: matrices in compressed rows.  Depends on: lnumbers.h, numeric/csr.h.
 * Used by: data bindings. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/numeric/lnumbers.h"

/* ---- making ---- */

static void sparse_free(void *object)
{
    pnl_sparse *self = object;

    if (self->owned)
        pn_csr_clear(&self->csr);
    pn_free(self);
}

pnl_sparse *pnl_new_sparse(lua_State *L)
{
    void **slot = pnl_newbox(L, &pnl_sparse_class);
    pnl_sparse *self = pn_calloc(1, sizeof *self);

    if (!self)
        pnl_no_memory(L, "sparse: not enough memory");
    *slot = self;
    self->owned = true;
    return self;
}

void pnl_view_sparse(lua_State *L, const pn_csr *csr, int owner)
{
    pnl_sparse *self;

    owner = lua_absindex(L, owner);
    self = pnl_new_sparse(L);
    self->csr = *csr;
    self->owned = false;
    pnl_keep(L, -1, owner);
}

static void weigh(lua_State *L, const pn_csr *csr)
{
    size_t nnz = csr->start[csr->rows];

    pnl_weigh(L, nnz * (sizeof *csr->value + sizeof *csr->column) + csr->rows * sizeof *csr->start);
}

/* Indices from 1 in a vector -> indices from 0, in memory that the stack owns. */
static const size_t *read_indices(lua_State *L, const char *name, pn_vec given, size_t most)
{
    size_t *out;

    if (given.n > SIZE_MAX / sizeof *out)
        pnl_no_memory(L, "sparse: not enough memory for %zu entries", given.n);
    out = lua_newuserdatauv(L, given.n * sizeof *out + 1, 0);
    for (size_t k = 0; k < given.n; k++) {
        double index = given.data[k];

        if (!(index >= 1.0 && index <= (double)most && index == floor(index)))
            pnl_error(L, "sparse: %s[%zu] must be a whole number from 1 to %zu, got %g", name, k + 1, most, index);
        out[k] = (size_t)index - 1;
    }
    return out;
}

static const pn_param sparse_params[] = {
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "how many rows" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "how many columns, below 2^32" },
    { "i", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the row of each entry, from 1" },
    { "j", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the column of each entry, from 1" },
    { "x", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the entries; those at the same place are added" },
    PN_PARAM_END,
};

static int sparse_new(lua_State *L)
{
    pn_arg args[5];
    pn_vec x;
    const size_t *row, *column;
    pnl_sparse *self;
    pn_err err;

    pnl_options(L, 1, "sparse", sparse_params, args, NULL);
    pnl_status(L, pn_args_check("sparse", sparse_params, args, &err), &err);
    x = args[4].vector;
    if (args[2].vector.n != x.n || args[3].vector.n != x.n)
        return pnl_error(L, "sparse: i, j and x have %zu, %zu and %zu entries", args[2].vector.n, args[3].vector.n,
                         x.n);
    row = read_indices(L, "i", args[2].vector, args[0].count);
    column = read_indices(L, "j", args[3].vector, args[1].count);
    self = pnl_new_sparse(L);
    pnl_status(L, pn_csr_from_triplets(&self->csr, args[0].count, args[1].count, x.n, row, column, x.data, &err), &err);
    weigh(L, &self->csr);
    return 1;
}

/* ---- fields and methods ---- */

static pnl_sparse *check_self(lua_State *L)
{
    return pnl_check(L, 1, &pnl_sparse_class);
}

PNL_GETTER(sparse_rows, check_self(L)->csr.rows);
PNL_GETTER(sparse_cols, check_self(L)->csr.cols);

static int sparse_nnz(lua_State *L)
{
    const pn_csr *csr = &check_self(L)->csr;

    lua_pushinteger(L, (lua_Integer)csr->start[csr->rows]);
    return 1;
}

static int sparse_t(lua_State *L)
{
    const pn_csr *csr = &check_self(L)->csr;
    pnl_sparse *out = pnl_new_sparse(L);
    pn_err err;

    pnl_status(L, pn_csr_transpose(&out->csr, csr, &err), &err);
    weigh(L, &out->csr);
    return 1;
}

static int sparse_dense(lua_State *L)
{
    const pn_csr *csr = &check_self(L)->csr;
    double *out = pnl_new_mat(L, csr->rows, csr->cols);

    for (size_t i = 0; i < csr->rows; i++) {
        for (size_t k = csr->start[i]; k < csr->start[i + 1]; k++)
            out[i * csr->cols + csr->column[k]] = csr->value[k];
    }
    return 1;
}

/* ---- operators ---- */

static bool is_sparse(lua_State *L, int index)
{
    return pnl_test(L, index, &pnl_sparse_class) != NULL;
}

static void sparse_operate(lua_State *L, pn_operator op)
{
    pnl_sparse *self = pnl_test(L, 1, &pnl_sparse_class);
    pn_vec v;

    if (op != PN_OP_MULTIPLY || !self || !pnl_kind_vec.is(L, 2)) {
        pnl_no_operator(L, op, "a sparse matrix multiplies a vector, S * v; S:dense() gives a mat");
        return;
    }
    v = pnl_check_vec(L, 2);
    if (v.n != self->csr.cols)
        pnl_error(L, "sparse * vec: %zu x %zu and %zu entries", self->csr.rows, self->csr.cols, v.n);
    pn_csr_times(&self->csr, v.data, pnl_new_vec(L, self->csr.rows));
}

static void sparse_apply(lua_State *L, const pn_function *function)
{
    pnl_error(L, "%s(sparse) is not defined; S:dense() gives a mat", function->name);
}

static void sparse_where(lua_State *L)
{
    pnl_error(L, "where takes numbers and vectors, not sparse matrices");
}

const pnl_number_kind pnl_kind_sparse = { "sparse", is_sparse, sparse_apply, sparse_operate, sparse_where };

/* ---- tables ---- */

static const pnl_row sparse_class_rows[] = {
    { "rows", sparse_rows, PNL_FIELD, PNL_NOTHING, "S.rows -> number", "How many rows." },
    { "cols", sparse_cols, PNL_FIELD, PNL_NOTHING, "S.cols -> number", "How many columns." },
    { "nnz", sparse_nnz, PNL_FIELD, PNL_NOTHING, "S.nnz -> number", "How many entries are stored." },
    METHOD("t", sparse_t, "S:t() -> sparse", "The transpose, a new sparse matrix."),
    METHOD("dense", sparse_dense, "S:dense() -> mat", "The same numbers as a dense matrix."),
    META("__mul", pnl_meta_mul, "S * v -> vec", "The product with a vector of S.cols entries."),
    META("__tostring", pnl_sparse_tostring, "tostring(S) -> string", "Shape, stored entries and their share."),
    PNL_ROW_END,
};

const pnl_class pnl_sparse_class = {
    "pn.sparse", sparse_free, sparse_class_rows, "A sparse matrix in compressed rows; it does not change.", NULL, NULL
};

void pnl_open_sparse(lua_State *L)
{
    pnl_open_class(L, &pnl_sparse_class);
    lua_pushcfunction(L, sparse_new);
    lua_setfield(L, -2, "sparse");
    pnl_reference(L, "", "sparse", PNL_NOTHING, "pn.sparse{rows=, cols=, i=, j=, x=} -> sparse",
                  "A sparse matrix from its entries x[k] in row i[k] and column j[k], in any order; indices from 1.",
                  NULL, sparse_params);
}
