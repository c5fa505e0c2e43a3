/* block_structure.c -- what blocks a set is a product of.
 * x = F C + S is carried down through scaled and shifted products, so that a block is the factor that the whole set
 * shows there.
 * Depends on: expected_curvature_impl.h, geometry/algebra/set_algebra.h.
 * Used by: expected_curvature*.c, solvers/block_frank_wolfe*.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "objective/measures/expected_curvature_impl.h"

struct pn_block_structure {
    pn_blocks blocks;
    size_t count;
    size_t *first;
    pn_set **sets; /* [count] kept; NULL for intervals of a box */
    double *low, *high, *diameter;
};

const pn_blocks *pn_block_structure_blocks(const pn_block_structure *structure)
{
    return &structure->blocks;
}

void pn_block_structure_free(pn_block_structure *structure)
{
    if (!structure)
        return;
    for (size_t i = 0; structure->sets && i < structure->count; i++)
        pn_set_free(structure->sets[i]);
    pn_free(structure->first);
    pn_free(structure->sets);
    pn_free(structure->low);
    pn_free(structure->high);
    pn_free(structure->diameter);
    pn_free(structure);
}

static bool as_product(const pn_set *set, double *factor, const double **shift, const pn_set **a, const pn_set **b)
{
    return pn_set_product_parts(pn_set_unwrap(set, factor, shift), a, b);
}

static size_t count_factors(const pn_set *set)
{
    double factor;
    const double *shift;
    const pn_set *a, *b;

    return as_product(set, &factor, &shift, &a, &b) ? count_factors(a) + count_factors(b) : 1;
}

static pn_status allocate(pn_block_structure *self, size_t count, bool factors, bool intervals, pn_err *err)
{
    self->count = count;
    self->first = pn_calloc(count + 1, sizeof *self->first);
    self->diameter = pn_alloc(count, sizeof *self->diameter);
    if (factors)
        self->sets = pn_calloc(count, sizeof(pn_set *));
    if (intervals) {
        self->low = pn_alloc(count, sizeof *self->low);
        self->high = pn_alloc(count, sizeof *self->high);
    }
    if (!self->first || !self->diameter || (factors && !self->sets) || (intervals && (!self->low || !self->high)))
        return pn_fail(err, PN_ENOMEM, "blocks: out of memory for %zu blocks", count);
    return PN_OK;
}

/* ---- the intervals of a box ---- */

static pn_status take_box(pn_block_structure *self, const pn_set *set, pn_err *err)
{
    pn_status status = allocate(self, set->dim, false, true, err);

    if (status == PN_OK)
        status = pn_set_ends(self->low, self->high, set, err);
    for (size_t j = 0; status == PN_OK && j < set->dim; j++) {
        self->first[j + 1] = j + 1;
        self->diameter[j] = pn_distance_upper(PN_L2, &self->high[j], &self->low[j], 1);
    }
    return status;
}

/* ---- the factors of a product ---- */

typedef struct descent {
    pn_block_structure *self;
    double *shift; /* [dim] S, where a wrapper has been met */
    size_t next;   /* block */
    pn_err *err;
} descent;

/* The leaf as it stands, or F C + S of it when something above it moves it. */
static pn_status take_leaf(descent *at, const pn_set *set, double factor, bool moved, size_t offset)
{
    pn_block_structure *self = at->self;
    pn_set *leaf = pn_set_keep((pn_set *)(size_t)set), *made = NULL;
    pn_status status = PN_OK;

    if (moved && factor != 1.0) {
        status = pn_set_scale(&made, leaf, factor, at->err);
        pn_set_free(leaf);
        leaf = made;
    }
    if (status == PN_OK && moved && pn_lp_norm(PN_LINF, leaf->dim, at->shift + offset) > 0.0) {
        status = pn_set_shift(&made, leaf, at->shift + offset, leaf->dim, at->err);
        pn_set_free(leaf);
        leaf = made;
    }
    if (status != PN_OK)
        return status;
    self->sets[at->next] = leaf;
    self->diameter[at->next] = leaf->ops->diameter(leaf, PN_L2);
    self->first[++at->next] = offset + leaf->dim;
    return PN_OK;
}

static pn_status take_factors(descent *at, const pn_set *set, double factor, bool moved, size_t offset)
{
    double own;
    const double *shift;
    const pn_set *a, *b;
    pn_status status;

    if (!as_product(set, &own, &shift, &a, &b))
        return take_leaf(at, set, factor, moved, offset);
    for (size_t j = 0; shift && j < set->dim; j++)
        at->shift[offset + j] += factor * shift[j];
    moved = moved || own != 1.0 || shift;
    status = take_factors(at, a, factor * own, moved, offset);
    return status == PN_OK ? take_factors(at, b, factor * own, moved, offset + a->dim) : status;
}

static bool all_intervals(const pn_block_structure *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->sets[i]->dim != 1 || !self->sets[i]->ops->support || !pn_set_is_bounded(self->sets[i]))
            return false;
    }
    return true;
}

static pn_status take_product(pn_block_structure *self, const pn_set *set, pn_err *err)
{
    pn_status status = allocate(self, count_factors(set), true, false, err);
    descent at = { .self = self, .err = err };

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&at.shift, set->dim, err, "blocks: out of memory for %zu coordinates", set->dim));
    status = take_factors(&at, set, 1.0, false, 0);
    pn_free(at.shift);
    if (status != PN_OK || !all_intervals(self))
        return status;
    self->low = pn_alloc(self->count, sizeof *self->low);
    self->high = pn_alloc(self->count, sizeof *self->high);
    PN_TRY(pn_made(self->low && self->high, err, "blocks: out of memory for %zu blocks", self->count));
    for (size_t i = 0; status == PN_OK && i < self->count; i++)
        status = pn_set_ends(&self->low[i], &self->high[i], self->sets[i], err);
    return status;
}

pn_status pn_block_structure_new(pn_block_structure **out, const pn_set *set, pn_err *err)
{
    pn_block_structure *self;
    pn_status status;

    *out = NULL;
    if (!set || (!pn_set_is_intervals(set) && count_factors(set) == 1))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "blocks: %s is not a product of blocks; use a box, a linf_ball or a product C:product(D)",
                       set ? set->ops->name : "an objective without a set");
    PN_TRY(pn_new_zeroed(&self, 1, err, "blocks: out of memory"));
    status = pn_set_is_intervals(set) ? take_box(self, set, err) : take_product(self, set, err);
    if (status != PN_OK) {
        pn_block_structure_free(self);
        return status;
    }
    self->blocks = (pn_blocks){ .count = self->count,
                                .first = self->first,
                                .set = (const pn_set *const *)self->sets,
                                .low = self->low,
                                .high = self->high,
                                .diameter = self->diameter };
    *out = self;
    return PN_OK;
}

double pn_block_diameter(const pn_blocks *blocks, size_t i, pn_lp norm)
{
    return blocks->set ? blocks->set[i]->ops->diameter(blocks->set[i], norm) : blocks->diameter[i];
}
