/* lset_print.c -- a set in a line: what it is, and how large.
 * Depends on: lset.h, core/text.h, geometry/width/width.h.  Used by: lset.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/geometry/lset.h"
#include "core/text.h"
#include "geometry/sets/sets.h"
#include "geometry/width/width.h"

#define PAIR_NUMBERS                                                                                                   \
    1e7 /* all pairs of vertices are compared for a diameter: with more numbers that takes too long for a text */
#define QUADRATURE_TO 2000 /* coordinates of a set whose width may be integrated for a text: a hundredth of a second */

/* Distances of a listed polytope are compared in pairs. */
static bool has_quick_diameter(const pn_set *set)
{
    double count;

    if (pn_set_find(set->ops->name) && strcmp(set->ops->name, "polytope") != 0)
        return true;
    count = pn_set_is_polytope(set) ? (double)set->ops->atom_count(set) : 0.0;
    return count * count * (double)set->dim <= PAIR_NUMBERS;
}

/* A formula or a short integral; never a draw, which takes long and would differ from print to print. */
static bool quick_width(const pn_set *set, double *value)
{
    const pn_width_options how = { .method = set->dim <= QUADRATURE_TO ? PN_WIDTH_QUADRATURE : PN_WIDTH_EXACT };
    pn_width width;

    if (set->ops->single_thread || pn_set_width(set, &how, &width, NULL) != PN_OK)
        return false;
    *value = width.value;
    return true;
}

static void describe_size(const pn_set *set, char *text, size_t size)
{
    int used;
    double width;

    if (!pn_set_is_bounded(set)) {
        (void)snprintf(text, size, "unbounded");
        return;
    }
    used = snprintf(text, size, "l2 radius %.4g", set->ops->radius(set, PN_L2));
    if (has_quick_diameter(set))
        used += snprintf(text + used, size - (size_t)used, ", diameter %.4g", set->ops->diameter(set, PN_L2));
    if (quick_width(set, &width))
        (void)snprintf(text + used, size - (size_t)used, ", width %.4g", width);
    else
        (void)snprintf(text + used, size - (size_t)used, ", width: C:width()");
}

/* In one line when that fits. */
int pnl_set_tostring(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    char name[1000], how_large[160];

    pn_set_describe(set, name, sizeof name);
    describe_size(set, how_large, sizeof how_large);
    lua_pushfstring(L, "%s%s%s", name, strlen(name) + 2 + strlen(how_large) <= PN_TEXT_WIDTH ? ": " : "\n  ",
                    how_large);
    return 1;
}
