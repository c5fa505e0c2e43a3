/* potential_for_set.c -- which potential fits a set.  Each rule is a row: the set's name, the potential's, and how the
 * options of the one come from the other.  Depends on: potential.h.  Used by: solvers, bindings.
 * See geometry.md section 3. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/table.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/potential_parts.h"

#define MOST_OPTIONS 8
#define MOST_LIFTED  1e7 /* numbers in the list of vertices of a polytope that is lifted without being asked to */

/* How far a point has to be from the border of a set, of its l2 radius, to be well inside. */
#define INNER 1e-3

/* Projections are cheaper than other steps: the Euclidean potential may cost that much more. */
#define TIE 1.05

typedef struct rule {
    const char *set, *potential;
    /* numbers of the set that are options of the potential, besides dim and radius; NULL: no more */
    const char *options[3];
    const char *why;
} rule;

static const rule rules[] = {
    { "simplex", "entropy", { NULL }, "the entropy fits a simplex: its range grows as ln dim only" },
    { "unit_simplex", "entropy", { NULL }, "the entropy fits a simplex: its range grows as ln dim only" },
    { "l1_ball",
      "signed_entropy",
      { NULL },
      "the entropy of 2 dim weights fits the l1 ball: its range grows as ln dim" },
    { "group_ball",
      "group",
      { "k", NULL },
      "powers of the block norms fit blocks: the range grows as the ln of their number" },
    { "interpolation_ball",
      "interpolation",
      { "alpha", NULL },
      "a mixture of the l1 and l2 potentials fits the mixed norm" },
    { "spectrahedron", "schatten", { "rows", "cols", NULL }, "powers of the eigenvalues fit a spectrahedron" },
    { "unit_spectrahedron", "schatten", { "rows", "cols", NULL }, "powers of the eigenvalues fit a spectrahedron" },
    { "nuclear_ball", "schatten", { "rows", "cols", NULL }, "powers of the singular values fit the nuclear norm" },
};

/* Where an article's potential is asked for, before others. */
static const rule of_article = {
    "l1_ball", "group", { NULL }, "a power just above 1 fits the l1 ball: its range grows as ln dim only"
};

static void give(const pn_potential_ops *row, pn_arg *args, const char *name, double value)
{
    size_t at = pn_param_find(row->params, name);

    if (at < pn_param_count(row->params) && row->params[at].kind == PN_COUNT)
        args[at] = (pn_arg){ .given = true, .count = (size_t)value };
    else if (at < pn_param_count(row->params))
        args[at] = (pn_arg){ .given = true, .real = value };
}

static pn_status choose(pn_potential **out, pn_set *set, pn_mat A, bool article, const char **why, pn_err *err);

/* *out stays NULL when the rule does not apply. */
static pn_status apply(const rule *of, pn_potential **out, const pn_set *set, pn_err *err)
{
    const pn_potential_ops *row = pn_table_find(pn_potential_table(), of->potential);
    pn_arg args[MOST_OPTIONS] = { 0 };
    double radius, value;

    *out = NULL;
    if (!row || !pn_set_is(set, of->set, &radius))
        return PN_OK;
    give(row, args, "dim", (double)set->dim);
    give(row, args, "radius", radius);
    for (size_t i = 0; of->options[i]; i++) {
        if (!pn_set_number(set, of->options[i], &value))
            return PN_OK;
        give(row, args, of->options[i], value);
    }
    return pn_potential_from_args(out, of->potential, args, err);
}

static bool has_short_list(const pn_set *set)
{
    return pn_set_is_polytope(set) && (double)set->ops->atom_count(set) * (double)set->dim <= MOST_LIFTED;
}

static pn_status lifted(pn_potential **out, pn_set *set, pn_err *err)
{
    pn_arg args[1] = { { .given = true, .object = set } };

    return pn_potential_from_args(out, "polytope", args, err);
}

static pn_status about_center(pn_potential **out, const pn_set *set, pn_err *err)
{
    double *center = pn_alloc(set->dim, sizeof *center);
    pn_arg args[1] = { { .given = true, .vector = { center, set->dim } } };
    pn_status status;
    bool origin = true;

    PN_TRY(pn_made(center, err, "potential.for_set: out of memory"));
    set->ops->center(set, center);
    for (size_t j = 0; j < set->dim; j++)
        origin = origin && center[j] == 0.0;
    args[0].given = !origin;
    status = pn_potential_from_args(out, "euclidean", args, err);
    pn_free(center);
    return status;
}

static pn_status of_intersection(pn_potential **out, pn_set *set, pn_mat A, const char **why, pn_err *err);

/* A rule of the table for a set that is not shifted, or for an intersection; *out stays NULL when none applies. */
static pn_status by_rule(pn_potential **out, const pn_set *set, pn_mat A, bool article, const char **why, pn_err *err)
{
    size_t count = sizeof rules / sizeof rules[0];
    pn_status status = PN_OK;

    *out = NULL;
    for (size_t i = article ? 0 : 1; i <= count && status == PN_OK && !*out; i++) {
        const rule *of = i == 0 ? &of_article : &rules[i - 1];

        status = apply(of, out, set, err);
        if (*out)
            *why = of->why;
    }
    return status == PN_OK && !*out && !article ? of_intersection(out, (pn_set *)set, A, why, err) : status;
}

/* factor * C + shift gets the potential of C with the same factor and shift, when there is a rule for C. */
static pn_status by_rule_moved(pn_potential **out, pn_set *set, pn_mat A, bool article, const char **why, pn_err *err)
{
    double factor;
    const double *shift;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);
    pn_potential *plain = NULL;
    pn_status status = by_rule(out, set, A, article, why, err);

    if (status != PN_OK || *out || inner == set)
        return status;
    status = by_rule(&plain, inner, A, article, why, err);
    if (status == PN_OK && plain)
        status = pn_potential_affine(out, plain, factor, shift, set->dim, err);
    pn_potential_free(plain);
    return status;
}

/* ---- sets made of sets, and what is seen of them through A (data NULL: as they are) ---- */

/* sqrt(range trace): what noise costs over the set, up to a factor; +inf where it has no bound. */
static pn_status cost_over(const pn_potential *p, const pn_set *set, pn_mat A, double *cost, pn_err *err)
{
    double range = INFINITY, trace = INFINITY;
    pn_status status = pn_potential_range(p, set, &range, err);

    *cost = INFINITY;
    if (status == PN_OK)
        status = pn_potential_trace_through(p, set, A, &trace, err);
    if (status == PN_OK)
        *cost = sqrt(range * trace);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

/* Of two, the one in which noise costs less, to *best; takes over both references.  *cost: of *best. */
static pn_status take_cheaper(pn_potential **best, double *cost, pn_potential *other, double favour, const pn_set *set,
                              pn_mat A, pn_err *err)
{
    double of_other = INFINITY;
    pn_status status = cost_over(other, set, A, &of_other, err);

    if (status == PN_OK && of_other < favour * *cost) {
        pn_potential *left = *best;

        *best = other;
        other = left;
        *cost = of_other;
    }
    pn_potential_free(other);
    return status;
}

/* Is a ball about x in the set?  Of l1 radius r, as its vertices are. */
static pn_status is_well_inside(const pn_set *set, const double *x, double r, double *scratch, bool *inside,
                                pn_err *err)
{
    *inside = true;
    memcpy(scratch, x, set->dim * sizeof *x);
    for (size_t k = 0; k < 2 * set->dim && *inside; k++) {
        scratch[k / 2] = x[k / 2] + (k % 2 ? r : -r);
        PN_TRY(set->ops->contains(set, scratch, 0.0, inside, err));
        scratch[k / 2] = x[k / 2];
    }
    return PN_OK;
}

/* Can steps over C n D be made from those of C in a lifted potential?  These have to be formulas, and the point of C
 * where it is least well inside of D (intersection_step.c). */
static pn_status serves(const pn_potential *p, const pn_set *C, const pn_set *D, bool *fits, pn_err *err)
{
    pn_step_limit limit = { .gap = DBL_MAX };
    size_t n = C->dim;
    double *x;
    pn_status status;

    *fits = true;
    if (!p->theta_dim)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&x, p->dim + 2 * n + p->room, err, "potential.for_set: out of memory"));
    status = pn_potential_step_within(p, C, x, x, &limit, err);
    if (status == PN_OK)
        pn_potential_theta(p, x, n, x + p->dim, x + p->dim + 2 * n);
    if (status == PN_OK && limit.rounds == 0)
        status = is_well_inside(D, x + p->dim, INNER * D->ops->radius(D, PN_L2), x + p->dim + n, fits, err);
    *fits = *fits && limit.rounds == 0;
    pn_free(x);
    return status;
}

/* The potential of C, where it serves C n D, to *best if noise costs less in it. */
static pn_status try_part(pn_potential **best, double *cost, pn_set *C, const pn_set *D, const pn_set *both, pn_mat A,
                          pn_err *err)
{
    pn_potential *one = NULL;
    const char *unused;
    bool fits = false;
    pn_status status = choose(&one, C, A, false, &unused, err);

    if (status == PN_OK && strcmp(one->ops->name, "euclidean") != 0)
        status = serves(one, C, D, &fits, err);
    if (status == PN_OK && fits)
        return take_cheaper(best, cost, one, 1.0, both, A, err);
    pn_potential_free(one);
    return status;
}

/* Of C n D the potential of C, of D, or the Euclidean one: ranges and traces of the whole are at most those over either
 * set.  NULL: neither set has one of its own. */
static pn_status of_intersection(pn_potential **out, pn_set *set, pn_mat A, const char **why, pn_err *err)
{
    const pn_set *parts[2];
    const double *shift;
    double cost = INFINITY, factor;
    pn_set *moved[2] = { NULL, NULL };
    pn_potential *euclidean = NULL;
    pn_status status = PN_OK;

    *out = NULL;
    if (!pn_set_intersection_parts(pn_set_unwrap(set, &factor, &shift), &parts[0], &parts[1]))
        return PN_OK;
    for (int k = 0; k < 2 && status == PN_OK; k++)
        status = pn_set_moved(&moved[k], parts[k], factor, shift, err);
    for (int k = 0; k < 2 && status == PN_OK; k++)
        status = try_part(out, &cost, moved[k], moved[1 - k], set, A, err);
    if (status == PN_OK && *out)
        status = about_center(&euclidean, set, err);
    if (euclidean)
        status = take_cheaper(out, &cost, euclidean, TIE, set, A, err);
    *why = "of the potentials of the sets that meet and the Euclidean one, that in which noise costs least";
    if (status != PN_OK) {
        pn_potential_free(*out);
        *out = NULL;
    }
    pn_set_free(moved[0]);
    pn_set_free(moved[1]);
    return status;
}

/* The one for a part: what choose() says, or the Euclidean one where noise costs that less. */
static pn_status fitting(pn_potential **out, pn_set *set, pn_mat A, pn_err *err)
{
    pn_potential *other = NULL;
    const char *why;
    double cost;
    pn_status status = choose(out, set, A, false, &why, err);

    if (status != PN_OK || strcmp((*out)->ops->name, "euclidean") == 0 || !pn_set_can_project(set))
        return status;
    status = cost_over(*out, set, A, &cost, err);
    if (status == PN_OK)
        status = about_center(&other, set, err);
    return status == PN_OK ? take_cheaper(out, &cost, other, set->ops->project ? TIE : 1.0, set, A, err) : status;
}

/* The entropy of weights on the vertices, or *out, that of what the set is made of, where noise costs less in it. */
static pn_status lifted_or(pn_potential **out, pn_set *set, pn_mat A, const char **why, pn_err *err)
{
    pn_potential *of_parts = *out;
    double cost = INFINITY;
    pn_status status = lifted(out, set, err);

    if (status == PN_OK && of_parts)
        status = cost_over(*out, set, A, &cost, err);
    if (status != PN_OK)
        pn_potential_free(of_parts);
    else if (of_parts)
        status = take_cheaper(out, &cost, of_parts, 1.0 / TIE, set, A, err);
    if (*out != of_parts)
        *why = "the entropy of weights on the vertices fits a polytope: its range is the ln of their number";
    return status;
}

static pn_status choose(pn_potential **out, pn_set *set, pn_mat A, bool article, const char **why, pn_err *err)
{
    const char *unused;
    pn_status status;

    why = why ? why : &unused;
    status = by_rule_moved(out, set, A, article, why, err);
    if (status != PN_OK || *out)
        return status;
    *why = "a potential for each part of the set, weighted so that noise costs least";
    if (!article)
        PN_TRY(pn_potential_composed(out, set, A, fitting, err));
    if (has_short_list(set) && pn_set_is_bounded(set))
        return lifted_or(out, set, A, why, err);
    if (*out)
        return PN_OK;
    *why = "squared distance from the centre, which any set with a projection can use";
    return about_center(out, set, err);
}

pn_status pn_potential_for_set(pn_potential **out, pn_set *set, const char **why, pn_err *err)
{
    return choose(out, set, (pn_mat){ .data = NULL }, false, why, err);
}

pn_status pn_potential_of_article(pn_potential **out, pn_set *set, const char **why, pn_err *err)
{
    return choose(out, set, (pn_mat){ .data = NULL }, true, why, err);
}
