/* lset.c -- pn.set: one constructor for each row of the runtime's table of sets, and the methods that all sets share.
 * Depends on: lset.h, progress.h.  Used by: module.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/geometry/lset.h"
#include "geometry/sets/sets.h"

#define LONG_DIM 1000 /* from here on a frame is cheap beside a projection */

pn_set *pnl_check_set(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_set_class);
}

/* What may call functions of the user, or take long enough for somebody to press Ctrl-C. */
static bool needs_frame(const pn_set *set)
{
    return set->ops->single_thread || set->dim >= LONG_DIM;
}

void pnl_set_begin(lua_State *L, const pn_set *set)
{
    if (!needs_frame(set))
        return;
    for (int i = 1; i <= lua_gettop(L) && set->ops->single_thread; i++)
        pnl_pin(L, i);
    pnl_run_begin(L, false);
    pnl_run_lend_task(L);
}

void pnl_set_end(lua_State *L, const pn_set *set, pn_status status, const pn_err *err)
{
    if (needs_frame(set))
        pnl_run_end(L);
    pnl_status(L, status, err);
}

void pnl_set_keep(lua_State *L, int part)
{
    const pn_set *set = pnl_test(L, part, &pnl_set_class);

    if (set && set->ops->single_thread) /* its functions live in its box */
        pnl_keep(L, -1, part);
}

/* The object at the top of the stack gets the set that `status` was about. */
static int hand_over(lua_State *L, pn_status status, const pn_err *err)
{
    pnl_status(L, status, err);
    return 1;
}

/* ---- constructors ---- */

/* upvalue 1: the pn_set_ops */
static int construct(lua_State *L)
{
    const pn_set_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS];
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "set.%s", ops->name);
    if (strcmp(ops->name, "polytope") == 0)
        pnl_set_call_vertices(L);
    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = pnl_newbox(L, &pnl_set_class);
    return hand_over(L, pn_set_from_args((pn_set **)slot, ops->name, args, &err), &err);
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_set_table());
}

/* ---- fields ---- */

PNL_GETTER(get_dim, pnl_check_set(L, 1)->dim);
PNL_GETTER(get_name, pnl_check_set(L, 1)->ops->name);
PNL_GETTER(get_radius, pnl_check_set(L, 1)->ops->radius(pnl_check_set(L, 1), PN_L2));
PNL_GETTER(get_diameter, pnl_check_set(L, 1)->ops->diameter(pnl_check_set(L, 1), PN_L2));
PNL_GETTER(get_symmetric, pnl_check_set(L, 1)->ops->symmetric);
PNL_GETTER(get_bounded, pn_set_is_bounded(pnl_check_set(L, 1)));

/* ---- methods ---- */

static int support(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_vec g = pnl_check_vec(L, 2);
    double value = 0.0, *point = pnl_new_vec(L, set->dim);
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_support(set, g.data, g.n, &value, point, &err);
    pnl_set_end(L, set, status, &err);
    lua_pushnumber(L, value);
    lua_insert(L, -2);
    return 2;
}

static int project(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double *x = pnl_new_vec(L, v.n);
    pn_status status;
    pn_err err;

    memcpy(x, v.data, v.n * sizeof *x);
    pnl_set_begin(L, set);
    status = pn_set_project(set, x, v.n, &err);
    pnl_set_end(L, set, status, &err);
    return 1;
}

static int contains(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    double tolerance = lua_isnoneornil(L, 3) ? 1e-9 : pnl_check_finite(L, 3, "C:contains: tol");
    pn_vec v = pnl_check_vec(L, 2);
    bool inside = false;
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_contains(set, v.data, v.n, tolerance, &inside, &err);
    pnl_set_end(L, set, status, &err);
    lua_pushboolean(L, inside);
    return 1;
}

int pnl_set_number(lua_State *L,
                   pn_status (*number)(const pn_set *set, const double *v, size_t n, double *value, pn_err *err))
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double value = 0.0;
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = number(set, v.data, v.n, &value, &err);
    pnl_set_end(L, set, status, &err);
    lua_pushnumber(L, value);
    return 1;
}

static int gauge(lua_State *L)
{
    return pnl_set_number(L, pn_set_gauge);
}

static int center(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);

    set->ops->center(set, pnl_new_vec(L, set->dim));
    return 1;
}

/* Atoms are written into the rows of the result, which also serve as their scratch. */
static int vertices(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    size_t count, dim = set->dim;
    double *rows;

    if (!pn_set_is_polytope(set)) {
        lua_pushnil(L);
        return 1;
    }
    count = set->ops->atom_count(set);
    if ((double)count * (double)dim > PNL_SET_VERTEX_NUMBERS)
        return pnl_error(L, "C:vertices: %zu vertices of %zu entries are more than %.0f numbers; use C:support(g)",
                         count, dim, PNL_SET_VERTEX_NUMBERS);
    rows = pnl_new_mat(L, count, dim);
    for (size_t i = 0; i < count; i++) {
        double *row = rows + i * dim;
        pn_atom atom;

        set->ops->atom(set, i, &atom, row);
        if (atom.index)
            pn_atom_add(&atom, 1.0, row);
        else if (atom.value != row)
            memcpy(row, atom.value, dim * sizeof *row);
    }
    return 1;
}

/* scores[i] and radius of the vertices about their common point, as the private selection sees them. */
static int vertex_scores(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_vec g = pnl_check_vec(L, 2);
    pn_err err;

    if (!pn_set_is_polytope(set))
        return pnl_error(L, "C:vertex_scores: %s has no list of vertices", set->ops->name);
    pnl_status(L, pn_set_support(set, g.data, g.n, NULL, NULL, &err), &err);
    set->ops->atom_scores(set, g.data, pnl_new_vec(L, set->ops->atom_count(set)));
    lua_createtable(L, 0, PN_LP_COUNT);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        lua_pushnumber(L, set->ops->atom_radius(set, (pn_lp)norm));
        lua_setfield(L, -2, pn_lp_name((pn_lp)norm));
    }
    return 2;
}

/* ---- tables ---- */

static const pnl_row set_rows[] = {
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "C.dim -> integer", "Number of coordinates of a point." },
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "C.name -> string",
      "The kind of set, as in pn.set; \"scaled\" or \"shifted\" for 2 * C and C + v." },
    { "radius", get_radius, PNL_FIELD, PNL_NOTHING, "C.radius -> number",
      "The largest l2 norm in the set, rounded up; C:radius_in for other norms." },
    { "diameter", get_diameter, PNL_FIELD, PNL_NOTHING, "C.diameter -> number",
      "The largest l2 distance of two points, rounded up (a bound for polytopes with very many vertices)." },
    { "symmetric", get_symmetric, PNL_FIELD, PNL_NOTHING, "C.symmetric -> boolean",
      "Whether C = -C is known; then its gauge is a norm." },
    { "bounded", get_bounded, PNL_FIELD, PNL_NOTHING, "C.bounded -> boolean", "Whether the radius is finite." },
    { "radius_in", pnl_set_radius_in, PNL_METHOD, PNL_NOTHING, "C:radius_in(norm) -> number",
      "The largest norm in the set; norm is \"l1\", \"l2\", \"linf\", or a pn.norm.  Of other norms than these three: "
      "exact for sets with a list of vertices, else an upper bound, the least of radius_lp(C) times the largest N over "
      "the unit lp ball, over the three." },
    { "diameter_in", pnl_set_diameter_in, PNL_METHOD, PNL_NOTHING, "C:diameter_in(norm) -> number",
      "The largest distance of two points; norm is \"l1\", \"l2\" or \"linf\"." },
    { "support", support, PNL_METHOD, PNL_NOTHING, "C:support(g) -> number, vec",
      "max <g, x> over the set and a point that attains it; ties go to the lowest index.  The linear minimisation "
      "oracle is the point for -g.  g has C.dim finite entries." },
    { "project", project, PNL_METHOD, PNL_NOTHING, "C:project(v) -> vec",
      "The point of the set nearest to v in the l2 norm, a new vector; by support points where the set has no "
      "projection of its own, for which it must be bounded." },
    { "contains", contains, PNL_METHOD, PNL_NOTHING, "C:contains(v, tol) -> boolean",
      "Whether v meets every constraint to within tol (default 1e-9); for polytopes, whether its distance is at most "
      "tol." },
    { "gauge", gauge, PNL_METHOD, PNL_NOTHING, "C:gauge(v) -> number",
      "The smallest t >= 0 with v in t C, infinity when there is none; by bisection to 1e-9 where there is no closed "
      "form.  The origin must lie in C." },
    { "center", center, PNL_METHOD, PNL_NOTHING, "C:center() -> vec",
      "A point of the set that depends on nothing else: the middle of a ball, the mean of the vertices." },
    { "vertices", vertices, PNL_METHOD, PNL_NOTHING, "C:vertices() -> mat or nil",
      "The vertices, one in each row, or nil for a set without a list of them; at most 1e7 numbers.  l1 ball: +r e_1, "
      "-r e_1, +r e_2, ..." },
    { "vertex_scores", vertex_scores, PNL_METHOD, PNL_NOTHING, "C:vertex_scores(g) -> vec, {l1=, l2=, linf=}",
      "<v_i - c, g> for each vertex v_i, with one c for all, and max ||v_i - c||: what a private selection of a vertex "
      "uses." },
    { "norm", pnl_set_norm, PNL_METHOD, PNL_NOTHING, "C:norm() -> norm",
      "The norm whose unit ball is conv(C u -C), C itself when it is symmetric; as pn.norm.minkowski(C)." },
    { "dual_norm", pnl_set_dual_norm, PNL_METHOD, PNL_NOTHING, "C:dual_norm(v) -> number",
      "max |<v, x>| over the set: the dual of C:norm()." },
    { "sample", pnl_set_sample, PNL_METHOD, PNL_NOTHING, "C:sample(rng) -> vec, boolean",
      "A random point, and whether it is uniform over the set: where no such law is known it is an average of support "
      "points in random directions with Dirichlet weights.  rng: default the secure one." },
    { "width", pnl_set_width, PNL_METHOD, PNL_NOTHING, "C:width{method=, tol=, confidence=, draws=, rng=} -> record",
      "As pn.width(C, options)." },
    { "intersect", pnl_set_intersect, PNL_METHOD, PNL_NOTHING, "C:intersect(D) -> set",
      "The points of both sets, by Dykstra's alternating projections.  An error when they are found to be disjoint." },
    { "product", pnl_set_product, PNL_METHOD, PNL_NOTHING, "C:product(D) -> set",
      "The pairs of a point of C and one of D, in dimension C.dim + D.dim; all is blockwise." },
    { "hull", pnl_set_hull, PNL_METHOD, PNL_NOTHING, "C:hull(D) -> set",
      "The convex hull of both sets; its support is the larger one." },
    { "image", pnl_set_image, PNL_METHOD, PNL_NOTHING, "C:image(A) -> set",
      "The points A x for x in C; A has C.dim columns." },
    { "polar", pnl_set_polar, PNL_METHOD, PNL_NOTHING, "C:polar() -> set",
      "{y: <y, x> <= 1 for all x in C}: support and gauge change places.  The origin must lie in C." },
    { "__mul", pnl_set_mul, PNL_META, PNL_NOTHING, "2 * C -> set",
      "The set scaled by a number that is not 0, reflected by a negative one; also C * 2." },
    { "__unm", pnl_set_unm, PNL_META, PNL_NOTHING, "-C -> set", "The reflected set, -1 * C." },
    { "__add", pnl_set_add, PNL_META, PNL_NOTHING, "C + v -> set, C + D -> set",
      "The set shifted by a vector of C.dim entries, or the Minkowski sum {x + y: x in C, y in D}." },
    { "__sub", pnl_set_sub, PNL_META, PNL_NOTHING, "C - v -> set", "The set shifted by -v." },
    { "__tostring", pnl_set_tostring, PNL_META, PNL_NOTHING, "tostring(C) -> string",
      "What it is and how large: l2 radius, l2 diameter, and the Gaussian width where a formula or a short integral "
      "has it; nothing is drawn for a text." },
    PNL_ROW_END,
};

static void set_release(void *set)
{
    pn_set_free(set);
}

const pnl_class pnl_set_class = {
    "pn.set", set_release, set_rows, "A closed convex set of vectors: the constraint of an objective.  Immutable.",
    NULL,     NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.set.names() -> {string, ...}",
      "The names of the sets of the table; pn.set.custom makes others." },
    { "custom", pnl_set_custom, PNL_FUNCTION, PNL_NOTHING | PNL_CALLS_BACK, pnl_set_custom_signature,
      pnl_set_custom_doc },
    PNL_ROW_END,
};

void pnl_open_geometry(lua_State *L)
{
    pnl_open_class(L, &pnl_set_class);
    pnl_library(L, "set", "Convex constraint sets.", library_rows);
    pnl_constructors(L, "set", pn_set_table(), construct, 0);
    pnl_reference(L, "set", "custom", PNL_NOTHING | PNL_CALLS_BACK, pnl_set_custom_signature, pnl_set_custom_doc,
                  "the functions that are given", pnl_set_custom_params);
    lua_setfield(L, -2, "set");
    pnl_open_width(L);
}
