/* block_test.c -- a set comes back from its numbers with the same choices to the last bit, a vertex comes back from
 * what was chosen, and numbers and choices of somebody else make a set, a vertex or an error.
 * Depends on: check.h, choices_kit.h, fail_alloc.h, federated/wire. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "federated/wire/block.h"
#include "random/rng.h"
#include "runtime/geometry/algebra/choices_kit.h"

/* What was chosen, the largest score each time. */
typedef struct choice_list {
    uint32_t made[MOST], of[MOST];
    size_t count;
} choice_list;

static pn_status largest(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    choice_list *to = self;

    (void)err;
    *chosen = 0;
    for (size_t i = 1; i < count; i++)
        *chosen = scores[i] > scores[*chosen] ? i : *chosen;
    to->of[to->count] = (uint32_t)count;
    to->made[to->count++] = (uint32_t)*chosen;
    return PN_OK;
}

static void vertices_are_made_again(const pn_choices *a, const pn_choices *b, pn_rng *rng)
{
    double *room = calloc(pn_choices_room(a) + a->dim, sizeof *room), g[MOST], one[MOST], two[MOST];

    for (int i = 0; i < 20; i++) {
        choice_list list = { .count = 0 };

        pn_rng_normals(rng, a->dim, g);
        CHECK(pn_choices_make(a, g, largest, &list, room, one, NULL) == PN_OK && list.count == a->picks);
        CHECK(pn_block_vertex(b, list.made, list.count, room, two, NULL) == PN_OK);
        CHECK(memcmp(one, two, a->dim * sizeof *one) == 0);
        CHECK(pn_block_vertex(b, list.made, list.count - 1, room, two, NULL) == PN_EINVAL);
        list.made[list.count] = 0;
        CHECK(pn_block_vertex(b, list.made, list.count + 1, room, two, NULL) == PN_EINVAL);
        for (size_t r = 0; r < list.count; r++) {
            uint32_t was = list.made[r];

            list.made[r] = list.of[r]; /* one more than there are */
            CHECK(pn_block_vertex(b, list.made, list.count, room, two, NULL) == PN_EINVAL);
            list.made[r] = UINT32_MAX;
            CHECK(pn_block_vertex(b, list.made, list.count, room, two, NULL) == PN_EINVAL);
            list.made[r] = was;
        }
    }
    free(room);
}

/* The kit's sets, and vertices of a user's. */

static pn_set *set_of(int which)
{
    static double rows[] = { 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, -3.0, 0.25, 0.0, 0.0, 0.125 };
    pn_arg args[1] = { { .given = true, .matrix = { .data = rows, .rows = 3, .cols = DIM } } };
    pn_set *set = NULL;

    if (which < SETS)
        return set_number(which);
    CHECK(pn_set_from_args(&set, "polytope", args, NULL) == PN_OK);
    return which == SETS ? set : moved(set, -2.0);
}

static void sets_come_back(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 8, NULL) == PN_OK);
    for (int which = 0; which < SETS + 2; which++) {
        pn_set *set = set_of(which), *back = NULL;
        pn_choices *a = NULL, *b = NULL;
        double *numbers = NULL, *again = NULL;
        size_t count, size, width;
        pn_err err = { .message = "" };

        CHECK(pn_block_write(&numbers, &count, set, &err) == PN_OK);
        if (!CHECK(pn_block_read(&back, numbers, count, set->dim, &err) == PN_OK))
            (void)fprintf(stderr, "    set %d: %s\n", which, err.message);
        CHECK(pn_block_write(&again, &size, back, NULL) == PN_OK);
        CHECK(size == count && memcmp(again, numbers, size * sizeof *again) == 0);
        CHECK(pn_choices_new(&a, set, "test", NULL) == PN_OK);
        CHECK(pn_block_open(&b, &width, numbers, count, set->dim, NULL) == PN_OK);
        CHECK(a->picks == b->picks && a->most == b->most && a->loss == b->loss);
        CHECK(memcmp(a->squares, b->squares, sizeof a->squares) == 0 && memcmp(a->sums, b->sums, sizeof a->sums) == 0);
        CHECK(memcmp(a->longest, b->longest, sizeof a->longest) == 0);
        vertices_are_made_again(a, b, rng);
        pn_choices_free(a);
        pn_choices_free(b);
        pn_set_free(back);
        pn_set_free(set);
        pn_free(numbers);
        pn_free(again);
    }
    pn_rng_free(rng);
}

static void widths_are_those_of_vertices(void)
{
    static const size_t wanted[SETS + 2] = { 4, 2, 3, 2, 1, 5, 2, 4, 4, 8, 3, 5, 6, 4, 2, 4 };

    for (int which = 0; which < SETS + 2; which++) {
        pn_set *set = set_of(which);

        size_t width = 0;

        CHECK(pn_block_width(&width, set, NULL) == PN_OK && width == wanted[which]);
        pn_set_free(set);
    }
}

/* ---- numbers of somebody else ---- */

static void refuses(const double *numbers, size_t count, const char *words)
{
    pn_set *set = NULL;
    pn_err err = { .message = "" };

    if (!CHECK(pn_block_read(&set, numbers, count, DIM, &err) == PN_EPARSE && !set && strstr(err.message, words)))
        (void)fprintf(stderr, "    %s\n    wanted %s\n", err.message, words);
}

#define REFUSES(words, ...) refuses((const double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / 8, words)

static void what_is_no_set_is_refused(void)
{
    double deep[3000];

    refuses(NULL, 0, "are cut short");
    REFUSES("no set of kind 11", 11.0, 4.0, 1.0);
    REFUSES("no set of kind -1", -1.0);
    REFUSES("no set of kind 0.5", 0.5);
    REFUSES("not finite", NAN);
    REFUSES("are cut short", 5.0);
    REFUSES("are cut short", 5.0, 4.0);
    REFUSES("numbers follow the end of the set", 5.0, 4.0, 1.0, 1.0);
    REFUSES("a set of 3 coordinates for a party with 4 columns", 5.0, 3.0, 1.0);
    REFUSES("a whole number from 1 to 4, got 5", 5.0, 5.0, 1.0);
    REFUSES("a whole number from 1 to 4, got 0", 5.0, 0.0, 1.0);
    REFUSES("a whole number from 1 to 4, got 2.5", 6.0, 2.5, 1.0);
    REFUSES("radius must be a positive number", 5.0, 4.0, -1.0);
    REFUSES("not finite", 5.0, 4.0, INFINITY);
    REFUSES("k must be a whole number from 1 to 4, got 5", 7.0, 4.0, 1.0, 5.0);
    REFUSES("are cut short", 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0);
    REFUSES("block: set.box:", 3.0, 4.0, 0.0, 0.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0);
    REFUSES("the number of vertices must be a whole number", 4.0, 4.0, 0.0);
    REFUSES("the number of vertices must be a whole number from 1 to 1048576, got 1e+300", 4.0, 4.0, 1e300);
    REFUSES("are cut short", 4.0, 4.0, 1000000.0, 1.0);
    REFUSES("block:", 2.0, 0.0, 0.0, 5.0, 4.0, 1.0);
    REFUSES("are cut short", 2.0, 1.0, 1.0, 5.0, 4.0, 1.0, 0.0, 0.0, 0.0);
    REFUSES("the rows of an image must be a whole number from 1 to 4", 10.0, 5.0);
    REFUSES("the image of a list of vertices", 10.0, 4.0, 5.0, 2.0, 1.0);
    REFUSES("are cut short", 10.0, 4.0, 3.0, 1.0, 0.0, 1.0, 1.0, 2.0, 3.0);
    REFUSES("a matrix of 4 x 4194304 numbers", 10.0, 4.0, 7.0, 4194304.0, 1.0, 2.0);
    REFUSES("a set of 2 coordinates for a party with 4", 10.0, 2.0, 3.0, 1.0, 0.0, 1.0, 1.0, 2.0);
    REFUSES("block:", 1.0, 5.0, 4.0, 1.0, 5.0, 3.0, 1.0); /* summands of two sizes */
    memset(deep, 0, sizeof deep);                         /* products in products without end */
    refuses(deep, 3000, "nests more than 1000 parts");
    for (size_t i = 0; i < 3000; i++)
        deep[i] = i % 3 == 0 ? 2.0 : 1.0;
    refuses(deep, 3000, "block:");
}

/* Any change of a good set's numbers makes a set, or an error. */
static void noise_makes_a_set_or_an_error(void)
{
    static const double values[] = { -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 1e9, 1e300, -0.0, 0x1p-1074 };
    pn_rng *rng = NULL;
    size_t good = 0, bad = 0;

    CHECK(pn_rng_seeded(&rng, 4, NULL) == PN_OK);
    for (int i = 0; i < 4000; i++) {
        pn_set *set = set_of(i % (SETS + 2));
        pn_choices *choices = NULL;
        double *numbers = NULL;
        size_t count, width, dim = set->dim;
        pn_status status;

        CHECK(pn_block_write(&numbers, &count, set, NULL) == PN_OK);
        for (uint64_t faults = 1 + pn_rng_below(rng, 2); faults > 0; faults--)
            numbers[pn_rng_below(rng, count)] = values[pn_rng_below(rng, sizeof values / sizeof *values)];
        status = pn_block_open(&choices, &width, numbers, count - pn_rng_below(rng, 2) * (i % 5 == 0), dim, NULL);
        CHECK(status == PN_OK || status == PN_EPARSE);
        CHECK((status == PN_OK) == (choices != NULL));
        good += status == PN_OK;
        bad += status != PN_OK;
        pn_choices_free(choices);
        pn_set_free(set);
        pn_free(numbers);
    }
    CHECK(good > 400 && bad > 400); /* both sides of the border were tried */
    pn_rng_free(rng);
}

static void a_set_without_choices_is_refused(void)
{
    pn_set *set = ball("l2_ball", 0, 1.0);
    double *numbers = NULL;
    size_t count;
    pn_err err;

    CHECK(pn_block_write(&numbers, &count, set, &err) == PN_EUNSUPPORTED && !numbers);
    CHECK(strstr(err.message, "l2_ball has no list of vertices") != NULL);
    pn_set_free(set);
}

static pn_status scenario(void *self, pn_err *err)
{
    double *numbers = NULL;
    pn_choices *choices = NULL;
    size_t count, width;
    pn_status status = pn_block_write(&numbers, &count, self, err);

    if (status == PN_OK)
        status = pn_block_open(&choices, &width, numbers, count, ((pn_set *)self)->dim, err);
    pn_choices_free(choices);
    pn_free(numbers);
    return status;
}

int main(void)
{
    pn_set *set = set_number(9), *list = set_of(SETS + 1);

    sets_come_back();
    widths_are_those_of_vertices();
    what_is_no_set_is_refused();
    noise_makes_a_set_or_an_error();
    a_set_without_choices_is_refused();
    CHECK(fail_alloc_sweep("block", scenario, set) >= 6);
    CHECK(fail_alloc_sweep("list", scenario, list) >= 4);
    pn_set_free(set);
    pn_set_free(list);
    return check_summary();
}
