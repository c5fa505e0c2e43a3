/* sets.c -- the table of constraint sets: a new one is its file and its line here.
 * Depends on: sets.h, every set by its row.  Used by: geometry, objective, solvers, bindings. */
#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "geometry/sets/sets.h"

/* clang-format off: one set, one line */
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
/* clang-format on */

#define DECLARE(name) extern const pn_set_ops pn_set_##name;
SETS(DECLARE)

#define ROW(name) &pn_set_##name,
static const pn_set_ops *const table[] = { SETS(ROW) NULL };

const pn_set_ops *const *pn_set_table(void)
{
    return table;
}

static void list_names(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; table[i] && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", table[i]->name);

        used += n > 0 ? (size_t)n : 0;
    }
}

const pn_set_ops *pn_set_find(const char *name)
{
    for (size_t i = 0; table[i]; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

pn_status pn_set_new(pn_set **out, const char *name, pn_arg *args, pn_err *err)
{
    const pn_set_ops *row = pn_set_find(name);
    char owner[64], known[600];
    pn_status status;

    *out = NULL;
    if (!row) {
        list_names(known, sizeof known);
        return pn_fail(err, PN_EUNSUPPORTED, "set: there is no set \"%.60s\"; known are %s", name, known);
    }
    (void)snprintf(owner, sizeof owner, "set.%s", name);
    status = pn_args_check(owner, row->params, args, err);
    if (status == PN_OK)
        status = row->create(out, args, err);
    if (status == PN_OK) /* whatever the row made its dimension of */
        status = pn_size_check(owner, "dim", (*out)->dim, err);
    if (status != PN_OK) {
        pn_set_free(*out);
        *out = NULL;
    }
    return status;
}
