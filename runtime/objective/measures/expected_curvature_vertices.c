/* expected_curvature_vertices.c -- the vertices of a block that has few: a list, or all that choices make (choices.h),
 * one after the other like the digits of a counter; and how far two of them are apart under A^T A.
 * Depends on: expected_curvature_impl.h, geometry/algebra/choices.h, BLAS.  Used by: expected_curvature_blocks.c. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/algebra/choices.h"
#include "objective/measures/expected_curvature_impl.h"

#define MOST_PICKS     14 /* each has two candidates at least, most of the time */
#define MOST_SEQUENCES 16384

static pn_status no_room(size_t count, pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "curvature: out of memory for %zu points", count);
}

static pn_status list_atoms(pn_vertices *out, const pn_set *set, pn_err *err)
{
    size_t k = set->ops->atom_count(set), dim = set->dim;
    double *scratch = pn_alloc(dim, sizeof *scratch);

    out->point = pn_calloc(k, dim * sizeof(double));
    if (!out->point || !scratch) {
        pn_free(scratch);
        return no_room(k, err);
    }
    for (size_t a = 0; a < k; a++) {
        pn_atom atom;

        set->ops->atom(set, a, &atom, scratch);
        pn_atom_add(&atom, 1.0, out->point + a * dim);
    }
    out->count = k;
    pn_free(scratch);
    return PN_OK;
}

/* ---- what choices make ---- */

typedef struct counter {
    size_t digit[MOST_PICKS], of[MOST_PICKS], next;
} counter;

static pn_status follow(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    counter *at = self;

    (void)scores;
    (void)err;
    at->of[at->next] = count;
    *chosen = at->digit[at->next++];
    return PN_OK;
}

/* The last digit that can be larger is; false: all have been through. */
static bool count_on(counter *at, size_t picks)
{
    for (size_t r = picks; r-- > 0;) {
        if (++at->digit[r] < at->of[r])
            return true;
        at->digit[r] = 0;
    }
    return false;
}

static bool is_new(const pn_vertices *list, const double *vertex, size_t dim)
{
    for (size_t a = 0; a < list->count; a++) {
        if (memcmp(list->point + a * dim, vertex, dim * sizeof *vertex) == 0)
            return false;
    }
    return true;
}

/* point[most + 1][dim]: the last is where a vertex is made.  room[pn_choices_room + dim]. */
static pn_status count_vertices(pn_vertices *out, const pn_choices *choices, size_t most, double *room, pn_err *err)
{
    counter at = { { 0 }, { 0 }, 0 };
    size_t dim = choices->dim, sequences = 0;
    bool more = true;

    memset(room + pn_choices_room(choices), 0, dim * sizeof *room);
    while (more) {
        double *vertex = out->point + out->count * dim;

        at.next = 0;
        PN_TRY(pn_choices_make(choices, room + pn_choices_room(choices), follow, &at, room, vertex, err));
        for (size_t j = 0; j < dim; j++)
            vertex[j] += 0.0; /* -0 is 0 */
        out->count += is_new(out, vertex, dim);
        if (out->count > most || ++sequences > MOST_SEQUENCES) {
            out->count = 0;
            return PN_OK;
        }
        more = count_on(&at, choices->picks);
    }
    return PN_OK;
}

static pn_status list_choices(pn_vertices *out, const pn_set *set, size_t most, pn_err *err)
{
    pn_choices *choices = NULL;
    double *room = NULL;
    pn_status status = pn_choices_new(&choices, set, "curvature", err);

    if (status == PN_EUNSUPPORTED)
        return PN_OK; /* no such set: none are listed */
    if (status == PN_OK && choices->picks <= MOST_PICKS) {
        out->point = pn_alloc(most + 1, set->dim * sizeof(double));
        room = pn_alloc(pn_choices_room(choices) + set->dim, sizeof *room);
        status = out->point && room ? count_vertices(out, choices, most, room, err) : no_room(most, err);
    }
    pn_free(room);
    pn_choices_free(choices);
    return status;
}

pn_status pn_vertices_list(pn_vertices *out, const pn_set *set, size_t most, pn_err *err)
{
    pn_status status = PN_OK;

    *out = (pn_vertices){ NULL, 0 };
    if (!pn_set_is_polytope(set))
        status = list_choices(out, set, most, err);
    else if (set->ops->atom_count(set) <= most)
        status = list_atoms(out, set, err);
    if (status != PN_OK || out->count == 0)
        pn_vertices_clear(out);
    return status;
}

void pn_vertices_clear(pn_vertices *list)
{
    pn_free(list->point);
    *list = (pn_vertices){ NULL, 0 };
}

/* With G = V H V^T: G_aa + G_bb - 2 G_ab, and half of the pairs. */
pn_status pn_vertices_spread(double *most, const pn_vertices *list, const double *hessian, size_t dim, size_t stride,
                             pn_err *err)
{
    size_t k = list->count;
    double *bent = pn_alloc(k, dim * sizeof *bent), *gram = pn_alloc(k, k * sizeof *gram);

    if (!bent || !gram) {
        pn_free(bent);
        pn_free(gram);
        return no_room(k, err);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)dim, (int)dim, 1.0, list->point, (int)dim,
                hessian, (int)stride, 0.0, bent, (int)dim);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)k, (int)dim, 1.0, bent, (int)dim, list->point,
                (int)dim, 0.0, gram, (int)k);
    *most = 0.0;
    for (size_t a = 0; a < k; a++) {
        for (size_t b = a + 1; b < k; b++)
            *most = fmax(*most, gram[a * k + a] + gram[b * k + b] - gram[a * k + b] - gram[b * k + a]);
    }
    pn_free(bent);
    pn_free(gram);
    return PN_OK;
}
