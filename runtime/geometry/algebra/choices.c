/* choices.c -- see choices.h.  Depends on: choices.h, choice_loss.h, set_algebra.h, upper.h.
 * Used by: oracle (question_choices.c), solvers/frank_wolfe. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/choice_loss.h"
#include "geometry/algebra/choices.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

typedef enum part_kind { ONE_OF_A_LIST, AN_END_EACH, SOME_COORDINATES, AN_IMAGE } part_kind;

typedef struct pn_choice_part {
    part_kind kind;
    size_t first; /* coordinate */
    pn_set *set;  /* kept */
    double *low, *high;
    size_t k;    /* of some coordinates ... */
    double size; /* ... their value, negative where the set is turned over */
    bool fewer, signs;
    pn_choices *inner; /* of an image: what is mapped, owned */
    pn_mat map;
} pn_choice_part;

/* The bounds of choices.h for one part, or several. */
typedef struct bounds {
    double squares[PN_LP_COUNT], sums[PN_LP_COUNT];
} bounds;

/* ---- the arithmetic ---- */

static bounds of_list(const double *rho, size_t k)
{
    bounds out;

    for (int q = 0; q < PN_LP_COUNT; q++) {
        out.squares[q] = (double)k * rho[q] * rho[q] * (1.0 + 0x1p-50);
        out.sums[q] = (double)k * rho[q] * (1.0 + 0x1p-50);
    }
    return out;
}

static bounds of_product(bounds a, bounds b)
{
    double both[2] = { a.sums[PN_L2], b.sums[PN_L2] };

    return (bounds){ .squares = { [PN_L1] = pn_plus_up(a.squares[PN_L1], b.squares[PN_L1]),
                                  [PN_L2] = fmax(a.squares[PN_L2], b.squares[PN_L2]),
                                  [PN_LINF] = fmax(a.squares[PN_LINF], b.squares[PN_LINF]) },
                     .sums = { [PN_L1] = pn_plus_up(a.sums[PN_L1], b.sums[PN_L1]),
                               [PN_L2] = pn_norm_upper(PN_L2, both, 2),
                               [PN_LINF] = fmax(a.sums[PN_LINF], b.sums[PN_LINF]) } };
}

static bounds of_sum(bounds a, bounds b)
{
    for (int q = 0; q < PN_LP_COUNT; q++) {
        a.squares[q] = pn_plus_up(a.squares[q], b.squares[q]);
        a.sums[q] = pn_plus_up(a.sums[q], b.sums[q]);
    }
    return a;
}

/* ---- parts ---- */

typedef struct descent {
    pn_choices *self;
    const char *owner;
    pn_err *err;
} descent;

static void note_choice(pn_choices *self, size_t candidates, const double *rho)
{
    self->picks++;
    self->candidates += (double)candidates;
    self->most = candidates > self->most ? candidates : self->most;
    self->loss += pn_choice_loss((double)candidates);
    self->flip_loss += pn_flip_loss((double)candidates);
    for (int q = 0; q < PN_LP_COUNT; q++)
        self->longest[q] = fmax(self->longest[q], rho[q]);
}

static bounds take_list(pn_choices *self, const pn_choice_part *part)
{
    double rho[PN_LP_COUNT];

    for (int q = 0; q < PN_LP_COUNT; q++)
        rho[q] = part->set->ops->atom_radius(part->set, (pn_lp)q);
    note_choice(self, part->set->ops->atom_count(part->set), rho);
    return of_list(rho, 1);
}

/* A coordinate whose ends agree takes no choice. */
static double half_of(const pn_choice_part *part, size_t j)
{
    return 0.5 * part->high[j] - 0.5 * part->low[j];
}

static pn_status take_ends(pn_choices *self, pn_choice_part *part, bounds *out, pn_err *err)
{
    *out = (bounds){ .squares = { 0.0 } };
    part->low = pn_alloc(part->set->dim, 2 * sizeof *part->low);
    PN_TRY(pn_made(part->low, err, "choices: out of memory for %zu intervals", part->set->dim));
    part->high = part->low + part->set->dim;
    PN_TRY(pn_set_ends(part->low, part->high, part->set, err));
    for (size_t j = 0; j < part->set->dim; j++) {
        double half = half_of(part, j), rho[PN_LP_COUNT] = { half, half, half };

        if (half > 0.0)
            note_choice(self, 2, rho);
        *out = of_product(*out, of_list(rho, 1));
    }
    return PN_OK;
}

static bool is_hyper(pn_choice_part *part)
{
    static const char *const names[] = { "hypersimplex", "unit_hypersimplex", "ksparse_polytope" };
    const double *shift;
    double radius = 0.0, k = 0.0;
    const pn_set *inner = pn_set_unwrap(part->set, &part->size, &shift);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!pn_set_is(inner, names[i], &radius))
            continue;
        part->fewer = i == 1;
        part->signs = i == 2;
        part->size *= radius;
        pn_set_number(inner, "k", &k);
        part->k = (size_t)k;
        return true;
    }
    return false;
}

/* Candidates where `left` coordinates are left. */
static size_t candidates_of(const pn_choice_part *part, size_t left)
{
    return part->signs ? 2 * left : left + (part->fewer ? 1 : 0);
}

static bounds take_coordinates(pn_choices *self, const pn_choice_part *part)
{
    double size = fabs(part->size), rho[PN_LP_COUNT] = { size, size, size }, factor;
    const double *shift;

    for (size_t i = 0; i < part->k; i++) /* where none was chosen nothing is gone */
        note_choice(self, candidates_of(part, part->set->dim - (part->fewer ? 0 : i)), rho);
    (void)pn_set_unwrap(part->set, &factor, &shift);
    for (size_t j = 0; shift && j < part->set->dim; j++)
        self->shift[part->first + j] += shift[j];
    return of_list(rho, part->k);
}

/* ---- images ---- */

/* Of a box mapped: choice j moves by what column j of the map makes of Delta. */
static pn_status of_columns(bounds *out, const pn_choice_part *box, pn_mat map, pn_err *err)
{
    double *column;

    PN_TRY(pn_new(&column, map.rows, err, "choices: out of memory for %zu coordinates", map.rows));
    *out = (bounds){ .squares = { 0.0 } };
    for (int q = 0; q < PN_LP_COUNT; q++) {
        for (size_t j = 0; j < map.cols; j++) {
            double moved;

            for (size_t i = 0; i < map.rows; i++)
                column[i] = map.data[i * map.cols + j];
            moved = pn_times_up(half_of(box, j), pn_norm_upper((pn_lp)q, column, map.rows));
            out->squares[q] = pn_plus_up(out->squares[q], pn_times_up(moved, moved));
            out->sums[q] = pn_plus_up(out->sums[q], moved);
        }
    }
    pn_free(column);
    return PN_OK;
}

static pn_status of_image(bounds *out, double longest[PN_LP_COUNT], const pn_set *image, const pn_choices *inner,
                          pn_mat map, pn_err *err)
{
    double norms[PN_LP_COUNT][PN_LP_COUNT];

    *out = (bounds){ .squares = { INFINITY, INFINITY, INFINITY }, .sums = { INFINITY, INFINITY, INFINITY } };
    if (inner->count == 1 && inner->parts[0].kind == AN_END_EACH)
        PN_TRY(of_columns(out, &inner->parts[0], map, err));
    pn_set_image_norms(image, norms);
    for (int q = 0; q < PN_LP_COUNT; q++) {
        longest[q] = INFINITY;
        for (int t = 0; t < PN_LP_COUNT; t++) {
            double norm = norms[t][q];

            out->squares[q] = fmin(out->squares[q], pn_times_up(inner->squares[t], pn_times_up(norm, norm)));
            out->sums[q] = fmin(out->sums[q], pn_times_up(inner->sums[t], norm));
            longest[q] = fmin(longest[q], pn_times_up(inner->longest[t], norm));
        }
    }
    return PN_OK;
}

/* factor A C = A (factor C). */
static pn_status take_image(descent *at, const pn_set *image, double factor, size_t offset, bounds *out)
{
    pn_choices *self = at->self;
    pn_choice_part *part = &self->parts[self->count];
    const pn_set *inner;
    pn_set *scaled = NULL;
    double longest[PN_LP_COUNT];
    pn_status status;
    size_t room;

    *part = (pn_choice_part){ .kind = AN_IMAGE, .first = offset, .set = pn_set_keep((pn_set *)(size_t)image) };
    self->count++;
    (void)pn_set_image_parts(image, &inner, &part->map);
    PN_TRY(pn_set_moved(&scaled, inner, factor, NULL, at->err));
    status = pn_choices_new(&part->inner, scaled, at->owner, at->err);
    pn_set_free(scaled);
    if (status != PN_OK)
        return status;
    PN_TRY(of_image(out, longest, image, part->inner, part->map, at->err));
    for (int q = 0; q < PN_LP_COUNT; q++)
        self->longest[q] = fmax(self->longest[q], longest[q]);
    self->picks += part->inner->picks;
    self->candidates += part->inner->candidates;
    self->most = part->inner->most > self->most ? part->inner->most : self->most;
    self->loss += part->inner->loss;
    self->flip_loss += part->inner->flip_loss;
    self->terms = self->dim + part->inner->terms > self->terms ? self->dim + part->inner->terms : self->terms;
    room = pn_choices_room(part->inner) + 2 * part->inner->dim;
    self->nested = room > self->nested ? room : self->nested;
    return PN_OK;
}

static pn_status take_leaf(descent *at, const pn_set *set, double factor, size_t offset, bounds *out)
{
    pn_choices *self = at->self;
    pn_choice_part *part = &self->parts[self->count];
    pn_status status = PN_OK;

    *part = (pn_choice_part){ .first = offset };
    if (factor != 1.0)
        status = pn_set_scale(&part->set, (pn_set *)(size_t)set, factor, at->err);
    else
        part->set = pn_set_keep((pn_set *)(size_t)set);
    if (status != PN_OK)
        return status;
    self->count++;
    if (pn_set_is_polytope(part->set)) {
        *out = take_list(self, part);
        return PN_OK;
    }
    if (is_hyper(part)) {
        part->kind = SOME_COORDINATES;
        *out = take_coordinates(self, part);
        return PN_OK;
    }
    part->kind = AN_END_EACH;
    if (pn_set_is_intervals(part->set))
        return take_ends(self, part, out, at->err);
    return pn_fail(
        at->err, PN_EUNSUPPORTED,
        "%s: private selection needs vertices that can be chosen: those of l1_ball, simplex, polytope, box, "
        "linf_ball, hypersimplex, ksparse_polytope, their products, sums and images, and %s is none of these; use "
        "solve.frank_wolfe_convex, or privacy=false",
        at->owner, set->ops->name);
}

static bool parts_of(const pn_set *set, const pn_set **a, const pn_set **b, bool *product)
{
    *product = pn_set_product_parts(set, a, b);
    return *product || pn_set_sum_parts(set, a, b);
}

static pn_status take(descent *at, const pn_set *set, double factor, size_t offset, bounds *out)
{
    double own;
    const double *shift;
    const pn_set *a, *b, *inner = pn_set_unwrap(set, &own, &shift);
    pn_mat map;
    bool product;
    bounds first, second;

    if (!pn_set_is_polytope(set) && pn_set_image_parts(inner, &a, &map)) {
        for (size_t j = 0; shift && j < set->dim; j++)
            at->self->shift[offset + j] += factor * shift[j];
        return take_image(at, inner, factor * own, offset, out);
    }
    if (pn_set_is_polytope(set) || !parts_of(inner, &a, &b, &product))
        return take_leaf(at, set, factor, offset, out);
    for (size_t j = 0; shift && j < set->dim; j++)
        at->self->shift[offset + j] += factor * shift[j];
    PN_TRY(take(at, a, factor * own, offset, &first));
    PN_TRY(take(at, b, factor * own, product ? offset + a->dim : offset, &second));
    *out = product ? of_product(first, second) : of_sum(first, second);
    return PN_OK;
}

static size_t count_leaves(const pn_set *set)
{
    double factor;
    const double *shift;
    const pn_set *a, *b;
    bool product;

    return !pn_set_is_polytope(set) && parts_of(pn_set_unwrap(set, &factor, &shift), &a, &b, &product)
               ? count_leaves(a) + count_leaves(b)
               : 1;
}

/* ---- life ---- */

pn_status pn_choices_new(pn_choices **out, const pn_set *set, const char *owner, pn_err *err)
{
    pn_choices *self;
    bounds found;
    pn_status status = PN_OK;
    descent at = { .owner = owner, .err = err };

    *out = NULL;
    PN_TRY(pn_new_zeroed(&self, 1, err, "%s: out of memory", owner));
    self->dim = self->terms = set->dim;
    self->parts = pn_calloc(count_leaves(set), sizeof *self->parts);
    self->shift = pn_calloc(set->dim, sizeof *self->shift);
    at.self = self;
    status = pn_made(self->parts && self->shift, err, "%s: out of memory for %zu coordinates", owner, set->dim);
    if (status == PN_OK)
        status = take(&at, set, 1.0, 0, &found);
    if (status != PN_OK) {
        pn_choices_free(self);
        return status;
    }
    memcpy(self->squares, found.squares, sizeof self->squares);
    memcpy(self->sums, found.sums, sizeof self->sums);
    *out = self;
    return PN_OK;
}

void pn_choices_free(pn_choices *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->count; i++) {
        pn_set_free(self->parts[i].set);
        pn_free(self->parts[i].low);
        pn_choices_free(self->parts[i].inner);
    }
    pn_free(self->parts);
    pn_free(self->shift);
    pn_free(self);
}

/* ---- making a vertex ---- */

typedef struct making {
    const double *g;
    pn_chooser choose;
    void *with;
    double *scores, *atom; /* [most], [dim] */
    size_t *left;          /* [dim] */
    double *nested;        /* of images */
    double *vertex;
    pn_err *err;
} making;

size_t pn_choices_room(const pn_choices *self)
{
    return self->most + 2 * self->dim + self->nested;
}

static pn_status one_of_a_list(const making *at, const pn_choice_part *part)
{
    const pn_set_ops *ops = part->set->ops;
    size_t chosen = 0;
    pn_atom atom;

    ops->atom_scores(part->set, at->g + part->first, at->scores);
    PN_TRY(at->choose(at->with, at->scores, ops->atom_count(part->set), &chosen, at->err));
    ops->atom(part->set, chosen, &atom, at->atom);
    pn_atom_add(&atom, 1.0, at->vertex + part->first);
    return PN_OK;
}

/* The upper end first: where the direction is 0 the exact choice is that of the support function. */
static pn_status an_end_each(const making *at, const pn_choice_part *part)
{
    for (size_t j = 0; j < part->set->dim; j++) {
        double half = half_of(part, j);
        size_t chosen = 0;

        at->scores[0] = half * at->g[part->first + j];
        at->scores[1] = -at->scores[0];
        if (half > 0.0)
            PN_TRY(at->choose(at->with, at->scores, 2, &chosen, at->err));
        at->vertex[part->first + j] += chosen == 0 ? part->high[j] : part->low[j];
    }
    return PN_OK;
}

static void score_coordinates(const making *at, const pn_choice_part *part, size_t left)
{
    for (size_t i = 0; i < left; i++) {
        double score = part->size * at->g[part->first + at->left[i]];

        if (part->signs) {
            at->scores[2 * i] = score;
            at->scores[2 * i + 1] = -score;
        } else {
            at->scores[i] = score;
        }
    }
    if (part->fewer)
        at->scores[left] = 0.0; /* none: any number of choices may end so */
}

static pn_status some_coordinates(const making *at, const pn_choice_part *part)
{
    size_t left = part->set->dim;

    for (size_t j = 0; j < left; j++)
        at->left[j] = j;
    for (size_t i = 0; i < part->k; i++) {
        size_t chosen = 0, which;

        score_coordinates(at, part, left);
        PN_TRY(at->choose(at->with, at->scores, candidates_of(part, left), &chosen, at->err));
        which = part->signs ? chosen / 2 : chosen;
        if (which == left)
            continue;
        at->vertex[part->first + at->left[which]] += part->signs && chosen % 2 == 1 ? -part->size : part->size;
        left--;
        memmove(at->left + which, at->left + which + 1, (left - which) * sizeof *at->left);
    }
    return PN_OK;
}

/* The choices of what is mapped, by A^T g. */
static pn_status an_image(const making *at, const pn_choice_part *part)
{
    const pn_choices *inner = part->inner;
    pn_mat map = part->map;
    double *pulled = at->nested, *vertex = pulled + inner->dim, *room = vertex + inner->dim;

    memset(pulled, 0, inner->dim * sizeof *pulled);
    for (size_t i = 0; i < map.rows; i++)
        pn_axpy(map.cols, at->g[part->first + i], map.data + i * map.cols, pulled);
    PN_TRY(pn_choices_make(inner, pulled, at->choose, at->with, room, vertex, at->err));
    for (size_t i = 0; i < map.rows; i++)
        at->vertex[part->first + i] += pn_dot(map.cols, map.data + i * map.cols, vertex);
    return PN_OK;
}

pn_status pn_choices_make(const pn_choices *self, const double *g, pn_chooser choose, void *with, double *room,
                          double *vertex, pn_err *err)
{
    making at = { .g = g,
                  .choose = choose,
                  .with = with,
                  .scores = room,
                  .atom = room + self->most,
                  .left = (size_t *)(void *)(room + self->most + self->dim),
                  .nested = room + self->most + 2 * self->dim,
                  .vertex = vertex,
                  .err = err };

    static pn_status (*const makers[])(const making *at, const pn_choice_part *part) = {
        [ONE_OF_A_LIST] = one_of_a_list,
        [AN_END_EACH] = an_end_each,
        [SOME_COORDINATES] = some_coordinates,
        [AN_IMAGE] = an_image,
    };

    memcpy(vertex, self->shift, self->dim * sizeof *vertex);
    for (size_t i = 0; i < self->count; i++)
        PN_TRY(makers[self->parts[i].kind](&at, &self->parts[i]));
    return PN_OK;
}
