/* lvec.c -- pn.vec: vectors of doubles.  Depends on: lnumbers.h, lsymbol.h, numeric/, random/rng.h.
 * Used by: every binding. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"
#include "core/size.h"
#include "numeric/blas.h"

#define SPAN ((size_t)1 << 18) /* normal numbers between two looks at Ctrl-C; even */

/* ---- making ---- */

static void vec_free(void *object)
{
    pnl_vec *self = object;
    pnl_buffer *buffer = self->buffer;
    bool within = buffer && self == &buffer->first;

    if (!within)
        pn_free(self);
    pnl_buffer_release(buffer);
}

double *pnl_new_vec_unset(lua_State *L, size_t n)
{
    void **slot = pnl_newbox(L, &pnl_vec_class);
    pnl_buffer *buffer = pnl_buffer_new(n);

    if (!buffer)
        pnl_no_memory(L, "vec: not enough memory for %zu numbers", n);
    buffer->first = (pnl_vec){ .data = buffer->numbers, .n = n, .buffer = buffer };
    *slot = &buffer->first;
    pnl_weigh(L, n * sizeof(double));
    return buffer->numbers;
}

double *pnl_new_vec(lua_State *L, size_t n)
{
    double *numbers = pnl_new_vec_unset(L, n);

    memset(numbers, 0, n * sizeof *numbers);
    return numbers;
}

void pnl_view_vec(lua_State *L, double *data, size_t n, int owner)
{
    pnl_vec *self;
    pnl_buffer *buffer;
    void **slot;
    bool frozen;

    owner = lua_absindex(L, owner);
    buffer = pnl_buffer_of(L, owner, &frozen);
    slot = pnl_newbox(L, &pnl_vec_class);
    *slot = self = pn_alloc(1, sizeof *self);
    if (!self)
        pnl_no_memory(L, "vec: not enough memory");
    *self = (pnl_vec){ .data = data, .n = n, .buffer = pnl_buffer_retain(buffer), .frozen = frozen };
    if (!buffer)
        pnl_keep(L, -1, owner);
}

pn_vec pnl_check_vec(lua_State *L, int index)
{
    return pnl_check_vec_of(L, index, "vec");
}

pn_vec pnl_check_vec_of(lua_State *L, int index, const char *who)
{
    pnl_vec *self;

    index = lua_absindex(L, index);
    if (lua_type(L, index) == LUA_TTABLE) {
        size_t n = lua_rawlen(L, index);
        double *data = pnl_new_vec(L, n);

        pnl_read_numbers(L, index, data, n, who);
        lua_replace(L, index);
        return (pn_vec){ data, n };
    }
    if (!pnl_test(L, index, &pnl_vec_class))
        pnl_wrong_argument(L, index, "a vector or a list of numbers");
    self = pnl_check(L, index, &pnl_vec_class);
    return (pn_vec){ self->data, self->n };
}

/* pn.vec{...}: argument 1 is the library */
static int vec_call(lua_State *L)
{
    pn_vec given;

    if (lua_type(L, 2) != LUA_TTABLE && !pnl_test(L, 2, &pnl_vec_class))
        return pnl_error(L, "vec: expected a list of numbers, as in pn.vec{1, 2, 3}, got %s", luaL_typename(L, 2));
    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TTABLE) {
        (void)pnl_check_vec(L, 2);
        return 1;
    }
    given = pnl_check_vec(L, 2);
    memcpy(pnl_new_vec(L, given.n), given.data, given.n * sizeof(double));
    return 1;
}

static int vec_zeros(lua_State *L)
{
    (void)pnl_new_vec(L, pnl_check_count(L, 1, "vec.zeros: n"));
    return 1;
}

static int vec_ones(lua_State *L)
{
    size_t n = pnl_check_count(L, 1, "vec.ones: n");
    double *data = pnl_new_vec(L, n);

    for (size_t i = 0; i < n; i++)
        data[i] = 1.0;
    return 1;
}

static int vec_basis(lua_State *L)
{
    size_t n = pnl_check_count(L, 1, "vec.basis: n"), i = pnl_check_index(L, 2, n, "vec.basis", "i");

    pnl_new_vec(L, n)[i - 1] = 1.0;
    return 1;
}

static int vec_linspace(lua_State *L)
{
    double first = pnl_check_finite(L, 1, "vec.linspace: a"), last = pnl_check_finite(L, 2, "vec.linspace: b");
    size_t n = pnl_check_count(L, 3, "vec.linspace: n");

    pn_linspace(first, last, n, pnl_new_vec(L, n));
    return 1;
}

static int vec_normal(lua_State *L)
{
    size_t n = pnl_check_count(L, 1, "vec.normal: n");
    pn_rng *rng = pnl_rng(L, 2);

    double *out = pnl_new_vec(L, n);
    pn_status status = PN_OK;
    pn_err err;

    pnl_run_begin(L, n > SPAN); /* draws come in pairs, and a span is even: the stream is as without spans */
    for (size_t done = 0; done < n && status == PN_OK; done += SPAN) {
        size_t count = n - done < SPAN ? n - done : SPAN;

        pn_rng_normals(rng, count, out + done);
        status = pn_task_report(pnl_task(L), "vec.normal", (double)(done + count), (double)n, &err);
    }
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

/* ---- entries ---- */

static pnl_vec *check_self(lua_State *L)
{
    return pnl_check(L, 1, &pnl_vec_class);
}

PNL_GETTER(vec_len, check_self(L)->n);

static int vec_index(lua_State *L)
{
    pnl_vec *self = check_self(L);

    if (lua_type(L, 2) == LUA_TSTRING)
        return pnl_error(L, "pn.vec has no field '%s'; help \"pn.vec\" lists what it has", lua_tostring(L, 2));
    /* ipairs reads until there is nothing: the one error that no wrong index caused. */
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == (lua_Integer)self->n + 1)
        return pnl_error(
            L, "vec: index must be a whole number from 1 to %zu, got %zu (in a loop: pairs(v), not ipairs(v))", self->n,
            self->n + 1);
    lua_pushnumber(L, self->data[pnl_check_index(L, 2, self->n, "vec", "index") - 1]);
    return 1;
}

static int vec_newindex(lua_State *L)
{
    pnl_vec *self = check_self(L);
    size_t i;

    if (lua_type(L, 2) == LUA_TSTRING)
        return pnl_error(L, "pn.vec has no field '%s' to set", lua_tostring(L, 2));
    i = pnl_check_index(L, 2, self->n, "vec", "index");
    pnl_check_changeable(L, self->frozen);
    self->data[i - 1] = pnl_check_finite(L, 3, "vec: the new entry");
    return 0;
}

static int vec_slice(lua_State *L)
{
    pnl_vec *self = check_self(L);
    size_t i = pnl_check_index(L, 2, self->n, "slice", "i");
    size_t j = lua_isnoneornil(L, 3) ? self->n : pnl_check_index(L, 3, self->n, "slice", "j");

    if (j < i)
        return pnl_error(L, "slice: j must not be below i, got %zu and %zu", i, j);
    pnl_view_vec(L, self->data + i - 1, j - i + 1, 1);
    return 1;
}

static int vec_copy(lua_State *L)
{
    pnl_vec *self = check_self(L);

    memcpy(pnl_new_vec(L, self->n), self->data, self->n * sizeof(double));
    return 1;
}

static int vec_table(lua_State *L)
{
    pnl_vec *self = check_self(L);

    lua_createtable(L, self->n < INT32_MAX ? (int)self->n : 0, 0);
    for (size_t i = 0; i < self->n; i++) {
        lua_pushnumber(L, self->data[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int vec_next(lua_State *L)
{
    pnl_vec *self = check_self(L);
    size_t i = (size_t)luaL_checkinteger(L, 2);

    if (i >= self->n)
        return 0;
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_pushnumber(L, self->data[i]);
    return 2;
}

static int vec_pairs(lua_State *L)
{
    (void)check_self(L);
    lua_pushcfunction(L, vec_next);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

static int vec_reshape(lua_State *L)
{
    pnl_vec *self = check_self(L);
    size_t rows = pnl_check_count(L, 2, "reshape: rows"), cols = pnl_check_count(L, 3, "reshape: cols"), count;

    if (!pn_size_multiply(&count, rows, cols) || count != self->n)
        return pnl_error(L, "reshape: %zu entries do not fill %zu x %zu", self->n, rows, cols);
    pnl_view_mat(L, self->data, rows, cols, 1);
    return 1;
}

static int vec_eq(lua_State *L)
{
    pnl_vec *a = pnl_test(L, 1, &pnl_vec_class), *b = pnl_test(L, 2, &pnl_vec_class);
    bool same = a && b && a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++)
        same = a->data[i] == b->data[i];
    lua_pushboolean(L, same);
    return 1;
}

/* ---- numbers out of vectors ---- */

static int vec_dot(lua_State *L)
{
    pnl_vec *self = check_self(L);
    pn_vec other = pnl_check_vec(L, 2);

    if (other.n != self->n)
        return pnl_error(L, "dot: %zu and %zu entries", self->n, other.n);
    lua_pushnumber(L, pn_dot(self->n, self->data, other.data));
    return 1;
}

static int vec_norm(lua_State *L)
{
    pnl_vec *self = check_self(L);
    double p = lua_isnoneornil(L, 2) ? 2.0 : lua_type(L, 2) == LUA_TNUMBER ? lua_tonumber(L, 2) : 0.0;
    pn_lp norm = p == 1.0 ? PN_L1 : p == 2.0 ? PN_L2 : PN_LINF;

    if (norm == PN_LINF && p != HUGE_VAL)
        return pnl_error(L, "norm: the kind must be 1, 2 or math.huge, got %s", pnl_text(L, 2));
    lua_pushnumber(L, pn_lp_norm(norm, self->n, self->data));
    return 1;
}

static int vec_sum(lua_State *L)
{
    pnl_vec *self = check_self(L);

    lua_pushnumber(L, pn_sum(self->n, self->data));
    return 1;
}

static int push_extreme(lua_State *L, const char *name, size_t (*find)(size_t n, const double *x))
{
    pnl_vec *self = check_self(L);
    size_t i;

    if (self->n == 0)
        return pnl_error(L, "%s: the vector has no entries", name);
    i = find(self->n, self->data);
    lua_pushnumber(L, self->data[i]);
    lua_pushinteger(L, (lua_Integer)i + 1);
    return 2;
}

static int vec_max(lua_State *L)
{
    return push_extreme(L, "max", pn_argmax);
}

static int vec_min(lua_State *L)
{
    return push_extreme(L, "min", pn_argmin);
}

static int vec_argmax(lua_State *L)
{
    (void)push_extreme(L, "argmax", pn_argmax);
    return 1; /* the index is on the top */
}

/* ---- vectors out of vectors ---- */

static bool overlap(const double *a, const double *b, size_t n)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return x < y + n * sizeof *b && y < x + n * sizeof *a;
}

static int vec_axpy(lua_State *L)
{
    pnl_vec *self = check_self(L);
    double alpha = pnl_check_finite(L, 2, "axpy: alpha");
    pn_vec other = pnl_check_vec(L, 3);

    pnl_check_changeable(L, self->frozen);
    if (other.n != self->n)
        return pnl_error(L, "axpy: %zu and %zu entries", self->n, other.n);
    if (other.data != self->data && overlap(other.data, self->data, self->n)) { /* read before anything changes */
        double *copy = pnl_new_vec(L, other.n);

        memcpy(copy, other.data, other.n * sizeof *copy);
        other.data = copy;
    }
    pn_axpy(self->n, alpha, other.data, self->data);
    lua_settop(L, 1);
    return 1;
}

static int vec_scale(lua_State *L)
{
    (void)check_self(L);
    (void)pnl_check_finite(L, 2, "scale: alpha");
    return pnl_operate(L, PN_OP_MULTIPLY);
}

static int vec_map(lua_State *L)
{
    const pn_program *program;
    pnl_vec *self;

    (void)check_self(L);
    lua_settop(L, 2);
    program = pnl_trace_map(L, 2, "v:map");
    self = check_self(L); /* the function may have closed it */
    pnl_run_map(L, program, self->n, self->data, pnl_new_vec(L, self->n));
    return 1;
}

/* ---- tables ---- */

static const pnl_row vec_rows[] = {
    METHOD("slice", vec_slice, "v:slice(i, j) -> vec",
           "Entries i to j (to the end without j) as a view: changing one changes the other."),
    METHOD("copy", vec_copy, "v:copy() -> vec", "The same numbers in memory of their own."),
    METHOD("table", vec_table, "v:table() -> table", "The entries as a Lua list."),
    METHOD("reshape", vec_reshape, "v:reshape(rows, cols) -> mat",
           "The entries row by row as a matrix: a view.  rows * cols must be #v."),
    METHOD("dot", vec_dot, "v:dot(w) -> number", "The inner product with a vector of the same length."),
    METHOD("norm", vec_norm, "v:norm(kind) -> number",
           "The Euclidean norm; v:norm(1) is the sum of magnitudes, v:norm(math.huge) the largest one."),
    METHOD("sum", vec_sum, "v:sum() -> number", "The sum of the entries, added pairwise; 0 for an empty vector."),
    METHOD("max", vec_max, "v:max() -> number, i",
           "The largest entry and its (first) index; NaN when an entry is "
           "NaN."),
    METHOD("min", vec_min, "v:min() -> number, i",
           "The smallest entry and its (first) index; NaN when an entry is "
           "NaN."),
    METHOD("mean", pnl_vec_mean, "v:mean() -> number", "The sum of the entries over their number."),
    METHOD("std", pnl_vec_std, "v:std() -> number",
           "The standard deviation, squares over #v - 1; an error for fewer than two entries."),
    METHOD("sort", pnl_vec_sort, "v:sort() -> vec", "The entries in ascending order, NaN last: a new vector."),
    METHOD("quantile", pnl_vec_quantile, "v:quantile(q) -> number or vec",
           "What a share q of the entries is not above: at place 1 + (#v - 1) q of v:sort(), on the line between the "
           "two entries beside it.  q: from 0 to 1, or a list of such; 0.5 is the median.  NaN when there is one.  "
           "Source: Hyndman, Fan (1996), definition 7."),
    METHOD("argmax", vec_argmax, "v:argmax() -> i", "The index of the largest entry, the first of equals."),
    METHOD("axpy", vec_axpy, "v:axpy(alpha, w) -> v", "Add alpha * w to v in place."),
    METHOD("scale", vec_scale, "v:scale(alpha) -> vec", "alpha * v, a new vector."),
    METHOD("map", vec_map, "v:map(f) -> vec",
           "f of every entry, a new vector; f is traced: called once with a symbol t that stands for an entry, "
           "compiled and run in C.  Write it with the operators and exp, log, max, where ...; a condition gives 1 or "
           "0, a number is the same for all.  Errors: of f, and where it asks for what a symbol does not tell (`if t > "
           "0`)."),
    { "save", pnl_vec_save, PNL_METHOD, PNL_RAW | PNL_FILES, "v:save(path)",
      "Write a NumPy .npy file ('<f8', one dimension); it appears complete or not at all." },
    META("__len", vec_len, "#v -> number", "How many entries."),
    META("__eq", vec_eq, "v == w -> boolean", "Whether both have the same length and the same numbers."),
    META("__add", pnl_meta_add, "v + w -> vec", "Entry by entry; either side may be a number."),
    META("__sub", pnl_meta_sub, "v - w -> vec", "Entry by entry; either side may be a number."),
    META("__mul", pnl_meta_mul, "v * w -> vec",
         "Entry by entry; either side may be a number.  v:dot(w) is the inner product."),
    META("__div", pnl_meta_div, "v / w -> vec",
         "Entry by entry; either side may be a number.  Division by 0 gives inf or NaN."),
    META("__pow", pnl_meta_pow, "v ^ p -> vec", "Entry by entry; either side may be a number."),
    META("__unm", pnl_meta_unm, "-v -> vec", "Every entry negated."),
    META("__lt", pnl_meta_order, "v < w", "An error: Lua makes one boolean of it.  Compare with lt, le, gt, ge."),
    META("__le", pnl_meta_order, "v <= w", "An error: Lua makes one boolean of it.  Compare with lt, le, gt, ge."),
    META("__pairs", vec_pairs, "for i, x in pairs(v)", "Walks the entries."),
    META("__tostring", pnl_vec_tostring, "tostring(v) -> string",
         "Length and entries; of more than ten the range, the mean, how many are zero or not finite, and the ends."),
    PNL_ROW_END,
};

const pnl_class pnl_vec_class = {
    "pn.vec",  vec_free,    vec_rows, "A vector of doubles; v[i] reads and v[i] = x sets an entry, i from 1 to #v.",
    vec_index, vec_newindex
};

static const pnl_row library_rows[] = {
    { "zeros", vec_zeros, PNL_FUNCTION, PNL_NOTHING, "vec.zeros(n) -> vec", "A vector of n zeros." },
    { "ones", vec_ones, PNL_FUNCTION, PNL_NOTHING, "vec.ones(n) -> vec", "A vector of n ones." },
    { "basis", vec_basis, PNL_FUNCTION, PNL_NOTHING, "vec.basis(n, i) -> vec",
      "n entries, all 0 but the i-th, which is 1." },
    { "linspace", vec_linspace, PNL_FUNCTION, PNL_NOTHING, "vec.linspace(a, b, n) -> vec",
      "n numbers at equal steps from a to b, both included; n = 1 gives a." },
    { "normal", vec_normal, PNL_FUNCTION, PNL_NOTHING, "vec.normal(n, rng) -> vec",
      "n standard normal numbers from the random source (a secure one without rng).  For starts and synthetic data, "
      "never as private noise." },
    PNL_ROW_END,
};

void pnl_open_vec(lua_State *L)
{
    pnl_open_class(L, &pnl_vec_class);
    pnl_library(L, "vec", "Vectors: pn.vec{1, 2, 3} and the constructors below.", library_rows);
    pnl_callable(L, "vec", vec_call, "pn.vec{1, 2, 3} -> vec",
                 "A vector of the listed numbers (all finite), or a copy of a vector; pn.vec has more constructors.");
    lua_setfield(L, -2, "vec");
}
