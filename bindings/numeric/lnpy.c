/* lnpy.c -- v:save, A:save and pn.load.  Depends on: lnumbers.h, lsolve.h, progress.h, numeric/npy.h.
 * Used by: lvec.c, lmat.c, module.c. */
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/solvers/lsolve.h"
#include "numeric/npy.h"

const char *pnl_check_path(lua_State *L, int index)
{
    size_t length;
    const char *path = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;

    if (!path || strlen(path) != length)
        pnl_wrong_argument(L, index, path ? "a path without zero bytes" : "the path of a file");
    return path;
}

int pnl_vec_save(lua_State *L)
{
    pnl_vec *self = pnl_check(L, 1, &pnl_vec_class);
    const char *path = pnl_check_path(L, 2);
    pn_err err;

    pnl_status(L, pn_npy_save(path, self->data, 1, &self->n, &err), &err);
    return 0;
}

int pnl_mat_save(lua_State *L)
{
    pnl_mat *self = pnl_check(L, 1, &pnl_mat_class);
    const char *path = pnl_check_path(L, 2);
    size_t shape[2] = { self->rows, self->cols };
    pn_err err;

    pnl_status(L, pn_npy_save(path, self->data, 2, shape, &err), &err);
    return 0;
}

/* What was read, until it is copied into a vec or mat: the box frees it if anything raises. */
static void npy_free(void *object)
{
    pn_npy *array = object;

    pn_free(array->data);
    pn_free(array);
}

static int npy_tostring(lua_State *L)
{
    lua_pushliteral(L, "npy");
    return 1;
}

static const pnl_row npy_rows[] = {
    { "__tostring", npy_tostring, PNL_META, PNL_NOTHING, "tostring(npy) -> string", "The name of the class." },
    PNL_ROW_END,
};

static const pnl_class npy_class = { "pn.npy", npy_free,
                                     npy_rows, "The memory that a vec or mat from pn.load looks into.",
                                     NULL,     NULL };

static int load_npy(lua_State *L, const char *path)
{
    void **slot = pnl_newbox(L, &npy_class);
    pn_npy *array = pn_calloc(1, sizeof *array);
    pn_status status;
    pn_err err;

    if (!array)
        return pnl_no_memory(L, "load: not enough memory");
    *slot = array;
    pnl_run_begin(L, true);
    status = pn_npy_load(array, path, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    if (array->dims == 1)
        pnl_view_vec(L, array->data, array->shape[0], -1);
    else
        pnl_view_mat(L, array->data, array->shape[0], array->shape[1], -1);
    pnl_thaw(L, -1);
    pnl_weigh(L, array->shape[0] * array->shape[1] * sizeof(double));
    return 1;
}

static int load(lua_State *L)
{
    const char *path = pnl_check_path(L, 1);
    bool is_model;
    pn_err err;

    pnl_status(L, pn_model_look(path, &is_model, &err), &err);
    return is_model ? pnl_load_model(L, path) : load_npy(L, path);
}

void pnl_open_npy(lua_State *L)
{
    pnl_open_class(L, &npy_class);
    lua_pushcfunction(L, load);
    lua_setfield(L, -2, "load");
    pnl_reference(
        L, "", "load", PNL_RAW | PNL_FILES, "pn.load(path) -> vec, mat or fit",
        "What the file holds, told by its contents.  A model file, which fit:save makes: the fit, with theta, "
        "privacy, predict and plan, the plan's explanation; its errors say what is not in the file, and why.  Its "
        "checksum shows damage, not who wrote it: trust its privacy statement as far as you trust whoever gave it "
        "to you.  Else: read a NumPy .npy file, gzip or plain, with one or two dimensions of '<f8', '<f4', whole "
        "numbers of 1 to 8 bytes or '|b1' (as 0 and 1), in C or Fortran order, as doubles.  An error for anything "
        "else, for a NaN or infinity (with its position) and for a cut or damaged file.",
        NULL, NULL);
}
