/* block.c -- see block.h.  A reader trusts nothing: every number is looked at before anything is allocated for it, sets
 * check their own parameters, and the depth of the tree is limited.
 * Depends on: block.h, geometry.  Used by: party*.c, server*.c, federated_frank_wolfe_plan*.c. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "federated/wire/block.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"

#define MOST_DEPTH      1000 /* sets are made of no more pieces */
#define MOST_CANDIDATES 0x1p32

enum { PRODUCT, SUM, MOVED, BOX, POLYTOPE, NAMED };
static const char *const named[] = { "l1_ball", "simplex", "hypersimplex", "unit_hypersimplex", "ksparse_polytope" };
enum { WITH_K = 2, NAMES = sizeof named / sizeof *named, IMAGE = NAMED + NAMES };

/* ---- writing ---- */

/* Numbers are counted first, then written: `to` is NULL meanwhile. */
typedef struct writing {
    double *to;
    size_t count;
    pn_err *err;
} writing;

static void put(writing *at, double number)
{
    if (at->to)
        at->to[at->count] = number;
    at->count++;
}

static void put_all(writing *at, const double *numbers, size_t count)
{
    if (at->to)
        memcpy(at->to + at->count, numbers, count * sizeof *numbers);
    at->count += count;
}

static pn_status write_box(writing *at, const pn_set *set)
{
    double *ends = pn_alloc(set->dim, 2 * sizeof *ends);
    pn_status status;

    PN_TRY(pn_made(ends, at->err, "block: out of memory for %zu intervals", set->dim));
    status = pn_set_ends(ends, ends + set->dim, set, at->err);
    put(at, BOX);
    put(at, (double)set->dim);
    put_all(at, ends, 2 * set->dim);
    pn_free(ends);
    return status;
}

static bool write_named(writing *at, const pn_set *set)
{
    double radius = 0.0, k = 0.0;

    for (int i = 0; i < NAMES; i++) {
        if (!pn_set_is(set, named[i], &radius))
            continue;
        put(at, NAMED + i);
        put(at, (double)set->dim);
        put(at, radius);
        if (i >= WITH_K && pn_set_number(set, "k", &k))
            put(at, k);
        return true;
    }
    return false;
}

static pn_status write_vertices(writing *at, const pn_set *set)
{
    size_t k = set->ops->atom_count(set), dim = set->dim;
    double *row, *scratch;

    put(at, POLYTOPE);
    put(at, (double)dim);
    put(at, (double)k);
    if (!at->to) {
        at->count += k < PN_BLOCK_NUMBERS_MAX / dim ? k * dim : PN_BLOCK_NUMBERS_MAX;
        return PN_OK;
    }
    row = pn_alloc(dim, 2 * sizeof *row);
    PN_TRY(pn_made(row, at->err, "block: out of memory for %zu coordinates", dim));
    scratch = row + dim;
    for (size_t i = 0; i < k; i++) {
        pn_atom atom;

        memset(row, 0, dim * sizeof *row);
        set->ops->atom(set, i, &atom, scratch);
        pn_atom_add(&atom, 1.0, row);
        put_all(at, row, dim);
    }
    pn_free(row);
    return PN_OK;
}

static pn_status write_set(writing *at, const pn_set *set);

static pn_status write_image(writing *at, const pn_set *inner, pn_mat map)
{
    put(at, IMAGE);
    put(at, (double)map.rows);
    PN_TRY(write_set(at, inner));
    put_all(at, map.data, map.rows * map.cols);
    return PN_OK;
}

static pn_status write_set(writing *at, const pn_set *set)
{
    double factor;
    const double *shift;
    pn_mat map;
    const pn_set *a, *b, *inner = pn_set_unwrap(set, &factor, &shift);
    bool product;

    if (at->count > PN_BLOCK_NUMBERS_MAX)
        return pn_fail(at->err, PN_EINVAL, "block: a set of more than %zu numbers", PN_BLOCK_NUMBERS_MAX);
    if (pn_set_is_intervals(set))
        return write_box(at, set);
    if (write_named(at, set))
        return PN_OK;
    if (inner != set) {
        put(at, MOVED);
        put(at, factor);
        put(at, shift ? 1.0 : 0.0);
        PN_TRY(write_set(at, inner));
        if (shift)
            put_all(at, shift, set->dim);
        return PN_OK;
    }
    product = pn_set_product_parts(set, &a, &b);
    if (!pn_set_is_polytope(set) && (product || pn_set_sum_parts(set, &a, &b))) {
        put(at, product ? PRODUCT : SUM);
        PN_TRY(write_set(at, a));
        return write_set(at, b);
    }
    if (pn_set_is_polytope(set))
        return write_vertices(at, set);
    if (pn_set_image_parts(set, &a, &map))
        return write_image(at, a, map);
    return pn_fail(at->err, PN_EUNSUPPORTED, "block: %s has no list of vertices", set->ops->name);
}

pn_status pn_block_write(double **numbers, size_t *count, const pn_set *set, pn_err *err)
{
    writing at = { .err = err };
    pn_status status;

    *numbers = NULL;
    *count = 0;
    PN_TRY(write_set(&at, set));
    if (at.count > PN_BLOCK_NUMBERS_MAX)
        return pn_fail(err, PN_EINVAL, "block: %s takes %zu numbers, at most %zu are sent", set->ops->name, at.count,
                       PN_BLOCK_NUMBERS_MAX);
    PN_TRY(pn_new(&at.to, at.count, err, "block: out of memory for %zu numbers", at.count));
    at.count = 0;
    status = write_set(&at, set);
    if (status != PN_OK) {
        pn_free(at.to);
        return status;
    }
    *numbers = at.to;
    *count = at.count;
    return PN_OK;
}

/* ---- reading ---- */

typedef struct reading {
    const double *from;
    size_t left, depth;
    size_t dim; /* no part has more */
    pn_err *err;
} reading;

static pn_status take(reading *at, double *number)
{
    if (at->left == 0)
        return pn_fail(at->err, PN_EPARSE, "block: the numbers of the set are cut short");
    *number = *at->from++;
    at->left--;
    return isfinite(*number) ? PN_OK : pn_fail(at->err, PN_EPARSE, "block: a number of the set is not finite");
}

static pn_status take_count(reading *at, const char *what, size_t most, size_t *count)
{
    double number = 0.0;

    PN_TRY(take(at, &number));
    if (!(number >= 1.0 && number <= (double)most && number == floor(number)))
        return pn_fail(at->err, PN_EPARSE, "block: %s must be a whole number from 1 to %zu, got %.10g", what, most,
                       number);
    *count = (size_t)number;
    return PN_OK;
}

static pn_status take_all(reading *at, double **numbers, size_t count)
{
    double one;

    *numbers = (double *)(uintptr_t)at->from; /* read only, by who borrows them */
    if (at->left < count)
        return pn_fail(at->err, PN_EPARSE, "block: the numbers of the set are cut short");
    for (size_t i = 0; i < count; i++)
        PN_TRY(take(at, &one));
    return PN_OK;
}

/* Whatever a set's own checks find wrong, the numbers are what is wrong. */
static pn_status as_numbers(const reading *at, pn_status status, const pn_err *why)
{
    if (status == PN_OK)
        return PN_OK;
    return pn_fail(at->err, status == PN_ENOMEM ? PN_ENOMEM : PN_EPARSE, "block: %.400s", why->message);
}

static pn_status made_of(reading *at, pn_set **out, const char *name, pn_arg *args)
{
    pn_err why;

    return as_numbers(at, pn_set_from_args(out, name, args, &why), &why);
}

static pn_status read_box(reading *at, pn_set **out)
{
    pn_arg args[2] = { { .given = true }, { .given = true } };
    size_t dim = 0;

    PN_TRY(take_count(at, "the dimension of a box", at->dim, &dim));
    args[0].vector.n = args[1].vector.n = dim;
    PN_TRY(take_all(at, &args[0].vector.data, dim));
    PN_TRY(take_all(at, &args[1].vector.data, dim));
    return made_of(at, out, "box", args);
}

static pn_status read_vertices(reading *at, pn_set **out)
{
    pn_arg args[1] = { { .given = true } };
    size_t dim = 0, k = 0;

    PN_TRY(take_count(at, "the dimension of a polytope", at->dim, &dim));
    PN_TRY(take_count(at, "the number of vertices", PN_BLOCK_NUMBERS_MAX / dim, &k));
    args[0].matrix.rows = k;
    args[0].matrix.cols = dim;
    PN_TRY(take_all(at, &args[0].matrix.data, k * dim));
    return made_of(at, out, "polytope", args);
}

static pn_status read_named(reading *at, pn_set **out, int which)
{
    pn_arg args[PN_ARGS_MAX] = { { .given = true } };
    const pn_param *params = pn_set_find(named[which])->params;
    pn_arg radius = { .given = true }, k = { .given = true };
    size_t dim = 0;

    PN_TRY(take_count(at, "the dimension of a set", at->dim, &dim));
    PN_TRY(take(at, &radius.real));
    if (which >= WITH_K) {
        PN_TRY(take_count(at, "k", dim, &k.count));
        args[pn_param_find(params, "k")] = k;
    }
    args[pn_param_find(params, "dim")] = (pn_arg){ .given = true, .count = dim };
    args[pn_param_find(params, "radius")] = radius;
    return made_of(at, out, named[which], args);
}

static pn_status read_set(reading *at, pn_set **out);

static pn_status read_moved(reading *at, pn_set **out)
{
    double factor = 0.0, shifted = 0.0;
    double *shift = NULL;
    pn_set *inner = NULL;
    pn_status status;
    pn_err why;

    PN_TRY(take(at, &factor));
    PN_TRY(take(at, &shifted));
    PN_TRY(read_set(at, &inner));
    status = shifted != 0.0 ? take_all(at, &shift, inner->dim) : PN_OK;
    if (status == PN_OK)
        status = as_numbers(at, pn_set_moved(out, inner, factor, shift, &why), &why);
    pn_set_free(inner);
    return status;
}

static pn_status read_two(reading *at, pn_set **out, bool product)
{
    pn_set *a = NULL, *b = NULL;
    pn_status status = read_set(at, &a);
    pn_err why;

    if (status == PN_OK)
        status = read_set(at, &b);
    if (status == PN_OK)
        status = as_numbers(at, (product ? pn_set_product : pn_set_sum)(out, a, b, &why), &why);
    pn_set_free(a);
    pn_set_free(b);
    return status;
}

/* What is mapped may have more coordinates. */
static pn_status read_image(reading *at, pn_set **out)
{
    pn_set *inner = NULL;
    pn_mat map = { NULL, 0, 0 };
    size_t dim = at->dim;
    pn_status status;
    pn_err why;

    PN_TRY(take_count(at, "the rows of an image", dim, &map.rows));
    at->dim = PN_BLOCK_NUMBERS_MAX;
    status = read_set(at, &inner);
    at->dim = dim;
    if (status == PN_OK && pn_set_is_polytope(inner)) /* whose vertices would all be mapped, however many */
        status = pn_fail(at->err, PN_EPARSE, "block: the image of a list of vertices is such a list itself");
    if (status == PN_OK) {
        map.cols = inner->dim;
        status = map.cols > PN_BLOCK_NUMBERS_MAX / map.rows
                     ? pn_fail(at->err, PN_EPARSE, "block: a matrix of %zu x %zu numbers", map.rows, map.cols)
                     : take_all(at, &map.data, map.rows * map.cols);
    }
    if (status == PN_OK)
        status = as_numbers(at, pn_set_image(out, inner, map, &why), &why);
    pn_set_free(inner);
    return status;
}

static pn_status read_set(reading *at, pn_set **out)
{
    double kind = -1.0;
    pn_status status;

    *out = NULL;
    PN_TRY(take(at, &kind));
    if (!(kind >= 0.0 && kind <= IMAGE && kind == floor(kind)))
        return pn_fail(at->err, PN_EPARSE, "block: there is no set of kind %.10g", kind);
    if (++at->depth > MOST_DEPTH)
        return pn_fail(at->err, PN_EPARSE, "block: the set nests more than %d parts", MOST_DEPTH);
    if (kind == PRODUCT || kind == SUM)
        status = read_two(at, out, kind == PRODUCT);
    else if (kind == MOVED)
        status = read_moved(at, out);
    else if (kind == IMAGE)
        status = read_image(at, out);
    else if (kind == BOX || kind == POLYTOPE)
        status = kind == BOX ? read_box(at, out) : read_vertices(at, out);
    else
        status = read_named(at, out, (int)kind - NAMED);
    at->depth--;
    return status;
}

static pn_status check_whole(const reading *at, const pn_set *set)
{
    if (at->left > 0)
        return pn_fail(at->err, PN_EPARSE, "block: %zu numbers follow the end of the set", at->left);
    if (set->dim != at->dim)
        return pn_fail(at->err, PN_EPARSE, "block: a set of %zu coordinates for a party with %zu columns", set->dim,
                       at->dim);
    return PN_OK;
}

pn_status pn_block_read(pn_set **out, const double *numbers, size_t count, size_t dim, pn_err *err)
{
    reading at = { .from = numbers, .left = count, .dim = dim, .err = err };
    pn_set *set = NULL;
    pn_status status = read_set(&at, &set);

    *out = NULL;
    if (status == PN_OK)
        status = check_whole(&at, set);
    if (status != PN_OK) {
        pn_set_free(set);
        return status;
    }
    *out = set;
    return PN_OK;
}

pn_status pn_block_open(pn_choices **out, size_t *width, const double *numbers, size_t count, size_t dim, pn_err *err)
{
    const reading at = { .err = err };
    pn_choices *choices = NULL;
    pn_set *set = NULL;
    pn_status status;
    pn_err why;

    *out = NULL;
    PN_TRY(pn_block_read(&set, numbers, count, dim, err));
    status = pn_block_width(width, set, err);
    if (status == PN_OK)
        status = as_numbers(&at, pn_choices_new(&choices, set, "choices", &why), &why);
    pn_set_free(set);
    if (status == PN_OK && !(choices->candidates <= MOST_CANDIDATES))
        status = pn_fail(err, PN_EPARSE,
                         "block: a vertex takes %zu choices among %.10g candidates, at most %.10g are possible",
                         choices->picks, choices->candidates, MOST_CANDIDATES);
    if (status != PN_OK) {
        pn_choices_free(choices);
        return status;
    }
    *out = choices;
    return PN_OK;
}

/* ---- vertices ---- */

static size_t width_of_list(const pn_set *set, double *scratch)
{
    size_t most = 0;

    for (size_t i = 0; i < set->ops->atom_count(set); i++) {
        pn_atom atom;
        size_t found = 0;

        set->ops->atom(set, i, &atom, scratch);
        for (size_t j = 0; j < atom.count; j++)
            found += atom.value[j] != 0.0;
        most = found > most ? found : most;
    }
    return most;
}

static size_t width_of(const pn_set *set, double *scratch)
{
    double factor, k;
    const double *shift;
    const pn_set *a, *b, *inner = pn_set_unwrap(set, &factor, &shift);
    size_t both;

    if (pn_set_is_polytope(set))
        return width_of_list(set, scratch);
    if (shift || pn_set_is_intervals(set))
        return set->dim;
    if (pn_set_product_parts(inner, &a, &b) || pn_set_sum_parts(inner, &a, &b)) {
        both = width_of(a, scratch) + width_of(b, scratch);
        return both < set->dim ? both : set->dim;
    }
    return pn_set_number(inner, "k", &k) ? (size_t)k : set->dim;
}

pn_status pn_block_width(size_t *width, const pn_set *set, pn_err *err)
{
    double *scratch;

    PN_TRY(pn_new(&scratch, set->dim, err, "block: out of memory for %zu coordinates", set->dim));
    *width = width_of(set, scratch);
    pn_free(scratch);
    return PN_OK;
}

typedef struct replay {
    const uint32_t *made;
    size_t count, next;
} replay;

static pn_status make_again(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    replay *at = self;

    (void)scores;
    if (at->next == at->count || at->made[at->next] >= count)
        return pn_fail(err, PN_EINVAL, "block: %zu choices do not make a vertex: number %zu is of %zu candidates",
                       at->count, at->next + 1, count);
    *chosen = at->made[at->next++];
    return PN_OK;
}

pn_status pn_block_vertex(const pn_choices *choices, const uint32_t *made, size_t count, double *room, double *vertex,
                          pn_err *err)
{
    double *nothing = room + pn_choices_room(choices);
    replay at = { .made = made, .count = count };

    memset(nothing, 0, choices->dim * sizeof *nothing);
    PN_TRY(pn_choices_make(choices, nothing, make_again, &at, room, vertex, err));
    if (at.next != count)
        return pn_fail(err, PN_EINVAL, "block: a vertex takes %zu choices, got %zu", at.next, count);
    return PN_OK;
}
