/* curvature.c -- the exact Frank-Wolfe curvature of a quadratic loss over a polytope: max ||X (a - b)||^2 / n over
 * vertices.  It depends on the data: for tests and for the diagnosis of non-private runs, never for a private plan.
 * Depends on: objective_impl.h, geometry, BLAS.  Used by: bindings.  See frank-wolfe.md section 1. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/passes/objective_impl.h"

#define MAX_VERTICES 4096
#define MAX_P        2048

/* vertices[k * p], dense */
static void list_vertices(const pn_set *set, size_t k, double *vertices, double *scratch)
{
    memset(vertices, 0, k * set->dim * sizeof *vertices);
    for (size_t i = 0; i < k; i++) {
        pn_atom atom;

        set->ops->atom(set, i, &atom, scratch);
        pn_atom_add(&atom, 1.0, vertices + i * set->dim);
    }
}

/* max over pairs of M_ii + M_jj - 2 M_ij for the Gram matrix M [k * k] of the vertices in the data's inner product. */
static double largest_distance(const double *products, size_t k)
{
    double largest = 0.0;

    for (size_t i = 0; i < k; i++) {
        for (size_t j = i + 1; j < k; j++)
            largest = fmax(largest, products[i * k + i] + products[j * k + j] - 2.0 * products[i * k + j]);
    }
    return largest;
}

static pn_status check_quadratic(const pn_objective *objective, pn_err *err)
{
    const pn_set *set = objective->set;

    if (!objective->loss->quadratic)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: the exact curvature is known for quadratic losses, not for %s",
                       objective->loss->name);
    if (!set || !pn_set_is_polytope(set))
        return pn_fail(err, PN_EUNSUPPORTED, "objective: the exact curvature needs a polytope with vertices");
    if (set->ops->atom_count(set) > MAX_VERTICES || set->dim > MAX_P)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: the exact curvature takes at most %d vertices in dimension %d",
                       MAX_VERTICES, MAX_P);
    return PN_OK;
}

pn_status pn_objective_exact_curvature(pn_objective *objective, double *curvature, pn_task *task, pn_err *err)
{
    pn_status status = check_quadratic(objective, err);
    size_t p = objective->data->p, k;
    double *vertices, *images, *products;

    if (status == PN_OK && !objective->gram.matrix)
        status = pn_gram_form(objective, task, err);
    if (status != PN_OK)
        return status;
    k = objective->set->ops->atom_count(objective->set);
    vertices = pn_alloc(k, p * sizeof(double));
    images = pn_alloc(k, p * sizeof(double));
    products = pn_alloc(k, k * sizeof(double));
    if (vertices && images && products) {
        list_vertices(objective->set, k, vertices, images);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)p, (int)p, 1.0, vertices, (int)p,
                    objective->gram.matrix, (int)p, 0.0, images, (int)p);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)k, (int)p, 1.0, images, (int)p, vertices,
                    (int)p, 0.0, products, (int)k);
        *curvature = largest_distance(products, k);
    } else {
        status = pn_fail(err, PN_ENOMEM, "objective: out of memory for %zu vertices", k);
    }
    pn_free(vertices);
    pn_free(images);
    pn_free(products);
    return status;
}
