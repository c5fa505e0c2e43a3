/* set_slice_test.c -- a slice of a product has the supports that the product has along its coordinates, and what cuts
 * through a factor is refused by its name.
 * Depends on: check.h, choices_kit.h, fail_alloc.h. */
#include <math.h>
#include <string.h>

#include "fail_alloc.h"
#include "random/rng.h"
#include "runtime/geometry/algebra/choices_kit.h"

/* 2 (A x box) x hypersimplex, turned over and shifted: coordinates 4, 4, 4. */
static pn_set *product(void)
{
    return moved(joined(moved(joined(set_number(4), set_number(0), true), 2.0), set_number(1), true), -0.5);
}

static void check_slice(const pn_set *set, size_t first, size_t count)
{
    double g[MOST], point[MOST], part[MOST], value = 0.0, of_part = 0.0;
    pn_set *slice = NULL;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 3 + first, NULL) == PN_OK);
    if (!CHECK(pn_set_slice(&slice, set, first, count, NULL) == PN_OK && slice->dim == count))
        return;
    for (int i = 0; i < 20; i++) {
        pn_rng_normals(rng, set->dim, g);
        CHECK(set->ops->support(set, g, point, &value, NULL) == PN_OK);
        CHECK(slice->ops->support(slice, g + first, part, &of_part, NULL) == PN_OK);
        for (size_t j = 0; j < count; j++)
            CHECK_CLOSE(part[j], point[first + j], 1e-14);
    }
    pn_set_free(slice);
    pn_rng_free(rng);
}

static void slices_are_what_the_product_is_there(void)
{
    pn_set *set = product(), *whole = NULL;

    check_slice(set, 0, 4);
    check_slice(set, 4, 4); /* the box, and parts of it */
    check_slice(set, 5, 2);
    check_slice(set, 7, 1);
    check_slice(set, 8, 4);
    check_slice(set, 0, 6); /* several factors, the last one cut */
    check_slice(set, 6, 6); /* ... the first one */
    check_slice(set, 4, 8);
    CHECK(pn_set_slice(&whole, set, 0, 12, NULL) == PN_OK && whole == set);
    pn_set_free(whole);
    pn_set_free(set);
}

static void cuts_through_a_factor_are_refused(void)
{
    pn_set *set = product(), *slice = NULL;
    pn_err err;

    CHECK(pn_set_slice(&slice, set, 0, 3, &err) == PN_EUNSUPPORTED && !slice);
    CHECK(strstr(err.message, "coordinates 1 to 3 cut through the l1_ball of coordinates 1 to 4"));
    CHECK(pn_set_slice(&slice, set, 6, 3, &err) == PN_EUNSUPPORTED && !slice);
    CHECK(strstr(err.message, "coordinates 9 to 9 cut through the hypersimplex of coordinates 9 to 12"));
    CHECK(pn_set_slice(&slice, set, 10, 3, &err) == PN_EDIM);
    CHECK(pn_set_slice(&slice, set, 12, 1, &err) == PN_EDIM);
    CHECK(pn_set_slice(&slice, set, 3, 0, &err) == PN_EDIM);
    CHECK(pn_set_slice(&slice, set, 1, SIZE_MAX, &err) == PN_EDIM);
    pn_set_free(set);
}

static pn_status scenario(void *set, pn_err *err)
{
    pn_set *slice = NULL;
    pn_status status = pn_set_slice(&slice, set, 0, 6, err);

    pn_set_free(slice);
    return status;
}

int main(void)
{
    pn_set *set = product();

    slices_are_what_the_product_is_there();
    cuts_through_a_factor_are_refused();
    CHECK(fail_alloc_sweep("slice", scenario, set) >= 3);
    pn_set_free(set);
    return check_summary();
}
