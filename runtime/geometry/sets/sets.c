/* sets.c -- the table of constraint sets: a new one is its file and its line here.
 * Depends on: sets.h, every set by its row.  Used by: geometry, objective, solvers, bindings. */
#include "core/options.h"
#include "core/table.h"
#include "geometry/sets/sets.h"

/* One row, one line. */
#define SETS(X)                                                                                                        \
    X(l1_ball)                                                                                                         \
    X(l2_ball)                                                                                                         \
    X(linf_ball)                                                                                                       \
    X(box)                                                                                                             \
    X(simplex)                                                                                                         \
    X(polytope)                                                                                                        \
    X(hypersimplex)                                                                                                    \
    X(unit_hypersimplex)                                                                                               \
    X(ksparse_polytope)                                                                                                \
    X(permutahedron)                                                                                                   \
    X(weighted_l1_ball)                                                                                                \
    X(diamond)                                                                                                         \
    X(unit_simplex)                                                                                                    \
    X(lp_ball)                                                                                                         \
    X(group_ball)                                                                                                      \
    X(interpolation_ball)                                                                                              \
    X(k_support)                                                                                                       \
    X(ordered_l1_ball)                                                                                                 \
    X(top_k_ball)                                                                                                      \
    X(nuclear_ball)                                                                                                    \
    X(spectral_ball)                                                                                                   \
    X(spectrahedron)                                                                                                   \
    X(unit_spectrahedron)                                                                                              \
    X(psd_cone)                                                                                                        \
    X(birkhoff)                                                                                                        \
    X(ellipsoid)                                                                                                       \
    X(point)                                                                                                           \
    X(affine)                                                                                                          \
    X(free_space)                                                                                                      \
    X(halfspace)                                                                                                       \
    X(hyperslab)                                                                                                       \
    X(hyperplane)                                                                                                      \
    X(nonnegative)                                                                                                     \
    X(second_order_cone)                                                                                               \
    X(rotated_second_order_cone)                                                                                       \
    X(exponential_cone)                                                                                                \
    X(polyhedron)

#define DECLARE(name) extern const pn_set_ops pn_set_##name;
SETS(DECLARE)

#define ROW(name) &pn_set_##name,
static const pn_set_ops *const rows[] = { SETS(ROW) NULL };
PN_TABLE(sets, pn_set_ops, "set", "set", rows);

const pn_set_ops *const *pn_set_table(void)
{
    return rows;
}

const pn_set_ops *pn_set_find(const char *name)
{
    return pn_table_find(rows, name);
}

pn_status pn_set_from_args(pn_set **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_set_ops *row = pn_table_open(&sets, __func__, name, args, &status, err);

    *out = NULL;
    if (row)
        status = row->create(out, args, err);
    if (status == PN_OK) /* whatever the row made its dimension of */
        status = pn_table_size(&sets, name, "dim", (*out)->dim, err);
    if (status != PN_OK) {
        pn_set_free(*out);
        *out = NULL;
    }
    return status;
}

pn_status pn_set_new(pn_set **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &sets, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_set_from_args(out, name, args, err) : status;
}
