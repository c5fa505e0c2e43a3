/* lset_algebra.c -- sets made of sets: 2 * C, -C, C + v, C + D, C:intersect(D) and the others.
 * Depends on: lset.h, geometry/algebra/set_algebra.h.  Used by: lset.c. */
#include "bindings/geometry/lset.h"
#include "geometry/algebra/set_algebra.h"

/* Every result keeps the boxes of its parts that need to be, and is finished in one place. */
static int hand_over(lua_State *L, const pn_set *of, pn_status status, const pn_err *err, int a, int b)
{
    pnl_set_end(L, of, status, err);
    pnl_set_keep(L, a);
    if (b)
        pnl_set_keep(L, b);
    return 1;
}

/* ---- one set ---- */

static int scaled(lua_State *L, int at, double factor)
{
    pn_set *set = pnl_check_set(L, at);
    void **slot = pnl_newbox(L, &pnl_set_class);
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_scale((pn_set **)slot, set, factor, &err);
    return hand_over(L, set, status, &err, at, 0);
}

int pnl_set_mul(lua_State *L)
{
    int at = pnl_test(L, 1, &pnl_set_class) ? 1 : 2;

    pnl_check_set(L, at);
    if (lua_type(L, 3 - at) != LUA_TNUMBER)
        return pnl_error(L, "factor * C: factor must be a number, got %s%s", pnl_got(L, 3 - at),
                         pnl_test(L, 3 - at, &pnl_set_class) ? "; the set of pairs is C:product(D)" : "");
    return scaled(L, at, lua_tonumber(L, 3 - at));
}

int pnl_set_unm(lua_State *L)
{
    return scaled(L, 1, -1.0);
}

static int shifted(lua_State *L, int at, const pn_vec shift)
{
    pn_set *set = pnl_check_set(L, at);
    void **slot = pnl_newbox(L, &pnl_set_class);
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_shift((pn_set **)slot, set, shift.data, shift.n, &err);
    return hand_over(L, set, status, &err, at, 0);
}

static pn_vec check_shift(lua_State *L, int index, const char *wrong)
{
    if (!lua_istable(L, index) && !pnl_test(L, index, &pnl_vec_class))
        pnl_error(L, "%s, got %s", wrong, pnl_got(L, index));
    return pnl_check_vec(L, index);
}

int pnl_set_image(lua_State *L)
{
    pn_set *set = pnl_check_set(L, 1);
    pn_mat A = pnl_check_mat_of(L, 2, "C:image");
    void **slot = pnl_newbox(L, &pnl_set_class);
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_image((pn_set **)slot, set, A, &err);
    return hand_over(L, set, status, &err, 1, 0);
}

int pnl_set_polar(lua_State *L)
{
    pn_set *set = pnl_check_set(L, 1);
    void **slot = pnl_newbox(L, &pnl_set_class);
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_polar((pn_set **)slot, set, &err);
    return hand_over(L, set, status, &err, 1, 0);
}

/* ---- two sets ---- */

typedef pn_status (*join_fn)(pn_set **out, pn_set *a, pn_set *b, pn_err *err);

static int join(lua_State *L, join_fn make, const char *door)
{
    pn_set *a = pnl_check_set(L, 1), *b;
    const pn_set *calls;
    pn_status status;
    void **slot;
    pn_err err;

    if (!pnl_test(L, 2, &pnl_set_class))
        return pnl_error(L, "%s: D must be a pn.set, got %s", door, pnl_got(L, 2));
    b = pnl_check_set(L, 2);
    calls = a->ops->single_thread ? a : b;
    slot = pnl_newbox(L, &pnl_set_class);
    pnl_set_begin(L, calls);
    status = make((pn_set **)slot, a, b, &err);
    return hand_over(L, calls, status, &err, 1, 2);
}

int pnl_set_add(lua_State *L)
{
    int at = pnl_test(L, 1, &pnl_set_class) ? 1 : 2;

    if (pnl_test(L, 3 - at, &pnl_set_class))
        return join(L, pn_set_sum, "C + D");
    pnl_check_set(L, at);
    return shifted(L, at, check_shift(L, 3 - at, "C + v: v must be a vector or another pn.set"));
}

int pnl_set_sub(lua_State *L)
{
    pn_vec shift;
    double *negative;

    pnl_check_set(L, 1);
    shift = check_shift(L, 2, "C - v: v must be a vector");
    negative = pnl_new_vec(L, shift.n);
    for (size_t j = 0; j < shift.n; j++)
        negative[j] = -shift.data[j];
    return shifted(L, 1, (pn_vec){ negative, shift.n });
}

int pnl_set_intersect(lua_State *L)
{
    return join(L, pn_set_intersect, "C:intersect");
}

int pnl_set_product(lua_State *L)
{
    return join(L, pn_set_product, "C:product");
}

int pnl_set_hull(lua_State *L)
{
    return join(L, pn_set_hull, "C:hull");
}
