/* matrix_sets_test.c -- sets of matrices without memory: support, gauge and the gauge of the hull fail cleanly, and
 * leave the caller's point alone.  Depends on: geometry/convex/set.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"

#define SIDE 100 /* beyond what is solved in full: Lanczos steps */

static double g[SIDE * SIDE], point[SIDE * SIDE];

typedef struct play_of {
    const char *name;
    size_t side;
} play_of;

static pn_status use(const pn_set *set, pn_err *err)
{
    double value, t;
    pn_status status;

    for (size_t i = 0; i < set->dim; i++)
        point[i] = 7.0;
    status = pn_set_support(set, g, set->dim, &value, point, err);
    if (status != PN_OK && status != PN_EUNSUPPORTED)
        CHECK(point[0] == 7.0 && point[set->dim - 1] == 7.0);
    if (status == PN_EUNSUPPORTED) /* the cone has no maximum for g */
        status = PN_OK;
    if (status == PN_OK)
        status = pn_set_gauge(set, g, set->dim, &t, err);
    if (status == PN_OK && set->ops->hull_gauge)
        status = set->ops->hull_gauge(set, g, &t, err);
    return status;
}

static pn_status play(void *self, pn_err *err)
{
    const play_of *scene = self;
    bool ball = strstr(scene->name, "ball") != NULL;
    pn_arg args[5] = { { .given = true, .count = scene->side } };
    pn_set *set = NULL;
    pn_status status;

    if (ball)
        args[1] = args[0];
    status = pn_set_from_args(&set, scene->name, args, err);
    if (status == PN_OK)
        status = use(set, err);
    pn_set_free(set);
    return status;
}

int main(void)
{
    static const char *const names[] = { "nuclear_ball",       "spectral_ball", "spectrahedron",
                                         "unit_spectrahedron", "psd_cone",      "birkhoff" };
    static const size_t sides[] = { 4, SIDE };

    for (size_t i = 0; i < SIDE * SIDE; i++)
        g[i] = (double)((i * 7919) % 1009) / 1009.0 - 0.5;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        for (size_t i = 0; i < 2; i++) {
            play_of scene = { names[k], sides[i] };

            CHECK(fail_alloc_sweep(names[k], play, &scene) > 0);
        }
    }
    return check_summary();
}
