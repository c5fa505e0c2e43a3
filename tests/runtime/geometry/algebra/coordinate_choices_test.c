/* coordinate_choices_test.c -- sets whose vertices are a shift and one entry in each of some ranges: what is said of
 * them are their vertices, and other sets are none of these. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/coordinate_choices.h"

#include "choices_kit.h"
#include "fail_alloc.h"

/* The vertex with the least <v, g>, entry by entry. */
static double least(const pn_coordinate_choices *of, const double *g, size_t dim)
{
    double sum = 0.0;

    for (size_t j = 0; of->shift && j < dim; j++)
        sum += of->shift[j] * g[j];
    for (size_t r = 0; r < of->count; r++) {
        double best = INFINITY;

        for (size_t j = of->at[r].first; j < of->at[r].first + of->at[r].count; j++) {
            best = fmin(best, of->at[r].weight * g[j]);
            best = of->at[r].both ? fmin(best, -of->at[r].weight * g[j]) : best;
        }
        sum += best;
    }
    return sum;
}

/* Their support function is that of the set, in some directions. */
static void describes(pn_set *set, size_t count, bool shifted)
{
    pn_coordinate_choices *of = NULL;
    double g[MOST], away[MOST], reach = 0.0, value;

    if (!CHECK(pn_coordinate_choices_new(&of, set, NULL) == PN_OK && of != NULL && of->count == count))
        exit(check_summary());
    CHECK((of->shift != NULL) == shifted);
    for (size_t r = 0, first = 0; r < count; first += of->at[r++].count) {
        CHECK(of->at[r].first == first);
        reach += fabs(of->at[r].weight);
    }
    CHECK_CLOSE(of->reach, reach, 1e-14);
    for (unsigned k = 0; k < 50; k++) {
        for (size_t j = 0; j < set->dim; j++) {
            g[j] = sin(1.0 + 7.3 * k + 2.1 * (double)j);
            away[j] = -g[j];
        }
        CHECK(set->ops->support(set, away, NULL, &value, NULL) == PN_OK);
        CHECK_CLOSE(least(of, g, set->dim), -value, 1e-13);
    }
    pn_coordinate_choices_free(of);
    pn_set_free(set);
}

static void is_none(pn_set *set)
{
    pn_coordinate_choices *of = NULL;

    CHECK(pn_coordinate_choices_new(&of, set, NULL) == PN_OK && of == NULL);
    pn_set_free(set);
}

static pn_set *power(size_t factors)
{
    pn_set *set = ball("simplex", 0, 1.0);

    while (--factors > 0)
        set = joined(set, ball("l1_ball", 0, 0.5), true);
    return set;
}

static pn_status make(void *set, pn_err *err)
{
    pn_coordinate_choices *of = NULL;
    pn_status status = pn_coordinate_choices_new(&of, set, err);

    pn_coordinate_choices_free(of);
    return status;
}

int main(void)
{
    pn_set *set = moved(power(3), 2.0);

    describes(ball("l1_ball", 0, 3.0), 1, false);
    describes(ball("simplex", 0, 0.5), 1, false);
    describes(moved(ball("l1_ball", 0, 3.0), 2.0), 1, true);
    describes(moved(ball("simplex", 0, 3.0), -2.0), 1, true);
    describes(power(4), 4, false);
    describes(moved(joined(ball("l1_ball", 0, 1.0), moved(ball("simplex", 0, 2.0), -0.5), true), -3.0), 2, true);
    is_none(ball("unit_simplex", 0, 1.0));
    is_none(ball("linf_ball", 0, 1.0));
    is_none(joined(ball("l1_ball", 0, 1.0), ball("simplex", 0, 1.0), false));
    is_none(joined(ball("l1_ball", 0, 1.0), ball("linf_ball", 0, 1.0), true));
    is_none(power(PN_COORDINATE_CHOICES + 1));
    CHECK(fail_alloc_sweep("coordinate_choices", make, set) >= 2);
    pn_set_free(set);
    return check_summary();
}
