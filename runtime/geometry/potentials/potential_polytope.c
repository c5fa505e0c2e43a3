/* potential_polytope.c -- the lifted entropy of a polytope: points are weights a on the k vertices, a in the simplex,
 * theta = V^T a.  Psi(a) = sum a ln a is 1-strongly convex in the l1 norm of the weights, and ||V^T a||_Q <= ||a||_1
 * with Q = conv(C u -C): mirror descent on the weights with gradients V grad has the bound that a potential of theta
 * would have, at range ln k, and needs one product by V each way.  The norm that a lifted potential carries is that of
 * Q.
 * Depends on: potential.h, potential_entropy.h.  Used by: potential.c's table.  See geometry.md section 3.1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/potential_entropy.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"

typedef struct lifted {
    pn_potential base;
    pn_set *set;     /* kept */
    pn_mat vertices; /* owned; [base.dim x theta_dim] */
} lifted;

extern const pn_potential_ops pn_potential_polytope;

enum { SET };

static const char *const set_class[] = { "pn.set", NULL };

static const pn_param polytope_params[] = {
    { "set", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, set_class, "a polytope with a list of vertices" },
    PN_PARAM_END,
};

static pn_mat vertices_of(const pn_potential *self)
{
    return ((const lifted *)self)->vertices;
}

static void lifted_destroy(pn_potential *self)
{
    pn_free(((lifted *)self)->vertices.data);
    pn_set_free(((lifted *)self)->set);
    pn_free(self);
}

/* Row i: vertex i, dense. */
static void write_vertex(const pn_set *set, size_t i, double *row)
{
    pn_atom atom;

    set->ops->atom(set, i, &atom, row);
    if (!atom.index && atom.value == row)
        return;
    memset(row, 0, set->dim * sizeof *row);
    pn_atom_add(&atom, 1.0, row);
}

static pn_status lifted_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    pn_set *set = (pn_set *)args[SET].object; /* kept, never changed */
    size_t count;
    lifted *self;
    pn_norm *norm = NULL;
    pn_status status;

    if (!pn_set_is_polytope(set))
        return pn_fail(err, PN_EUNSUPPORTED, "potential.polytope: set must have a list of vertices, got %s",
                       set->ops->name);
    count = set->ops->atom_count(set);
    if ((double)count * (double)set->dim > PN_POTENTIAL_MOST_VERTEX_NUMBERS)
        return pn_fail(err, PN_EUNSUPPORTED, "potential.polytope: %zu vertices of %zu entries are more than %g numbers",
                       count, set->dim, PN_POTENTIAL_MOST_VERTEX_NUMBERS);
    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.polytope: out of memory"));
    status = pn_norm_minkowski(&norm, set, err);
    pn_potential_init(&self->base, &pn_potential_polytope, count, 1.0, norm);
    self->set = pn_set_keep(set);
    self->base.theta_dim = set->dim;
    self->vertices = (pn_mat){ pn_alloc(count * set->dim, sizeof(double)), count, set->dim };
    if (status == PN_OK && !self->vertices.data)
        status = pn_fail(err, PN_ENOMEM, "potential.polytope: out of memory");
    if (status != PN_OK) {
        pn_potential_free(&self->base);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        write_vertex(set, i, self->vertices.data + i * set->dim);
    *out = &self->base;
    return PN_OK;
}

static pn_status lifted_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    (void)self;
    (void)err;
    *value = pn_entropy_value(1.0, x, n);
    return PN_OK;
}

static pn_status lifted_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    (void)self;
    return pn_entropy_gradient(1.0, x, n, out, err);
}

static pn_status lifted_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    (void)self;
    return pn_entropy_inverse(1.0, u, n, out, err);
}

/* Another set with the same vertices in the same order will do. */
static bool is_its_polytope(const pn_potential *self, const pn_set *set, double *scratch)
{
    pn_mat V = vertices_of(self);

    if (!pn_set_is_polytope(set) || set->ops->atom_count(set) != V.rows)
        return false;
    for (size_t i = 0; i < V.rows; i++) {
        write_vertex(set, i, scratch);
        for (size_t j = 0; j < V.cols; j++) {
            if (scratch[j] != V.data[i * V.cols + j])
                return false;
        }
    }
    return true;
}

static pn_status check_polytope(const pn_potential *self, const pn_set *set, pn_err *err)
{
    double *scratch;
    bool same;

    if (set == ((const lifted *)self)->set)
        return PN_OK;
    PN_TRY(pn_new(&scratch, self->theta_dim, err, "potential.polytope: out of memory"));
    same = is_its_polytope(self, set, scratch);
    pn_free(scratch);
    if (!same)
        return pn_fail(err, PN_EINVAL,
                       "potential.polytope: the set is not the polytope that the potential was made for");
    return PN_OK;
}

static pn_status lifted_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    pn_status status = check_polytope(self, set, err);

    if (status == PN_OK)
        pn_entropy_simplex_step(1.0, 1.0, c, self->dim, x);
    return status;
}

static pn_status lifted_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    pn_status status = check_polytope(self, set, err);

    if (status == PN_OK)
        *range = pn_potential_up(log((double)self->dim));
    return status;
}

/* max_i ||v_i - c||_2^2 */
static double largest_square(pn_mat V, const double *c)
{
    double most = 0.0;

    for (size_t i = 0; i < V.rows; i++) {
        double sum = 0.0;

        for (size_t j = 0; j < V.cols; j++) {
            double away = V.data[i * V.cols + j] - c[j];

            sum += away * away;
        }
        most = fmax(most, sum);
    }
    return most;
}

/* tr V' (diag(a) - a a') V is the variance of the vertices under the weights: at most max ||v - c||^2 for any c.  The
 * origin and the mean of the vertices are tried. */
static pn_status lifted_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    pn_mat V = vertices_of(self);
    double *c;

    (void)set;
    PN_TRY(pn_new_zeroed(&c, V.cols, err, "potential.polytope: out of memory"));
    *trace = largest_square(V, c);
    for (size_t i = 0; i < V.rows; i++)
        pn_axpy(V.cols, 1.0 / (double)V.rows, V.data + i * V.cols, c);
    *trace = pn_potential_up(fmin(*trace, largest_square(V, c)));
    pn_free(c);
    return PN_OK;
}

/* theta += V' x, without the rows of weight 0. */
static void lifted_add_theta(const pn_potential *self, const double *x, double *theta, double *room)
{
    pn_mat V = vertices_of(self);

    (void)room;
    for (size_t i = 0; i < V.rows; i++) {
        if (x[i] != 0.0)
            pn_axpy(V.cols, x[i], V.data + i * V.cols, theta);
    }
}

static void lifted_pull(const pn_potential *self, const double *g, double *out, double *room)
{
    (void)room;
    pn_mat_times_vec(vertices_of(self), g, out);
}

static void lifted_describe(const pn_potential *self, char *text, size_t size)
{
    (void)snprintf(text, size, "polytope(entropy of %zu weights)", self->dim);
}

const pn_potential_ops pn_potential_polytope = {
    .name = "polytope",
    .doc = "The entropy of the weights on the vertices of a polytope: steps multiply weights, and theta is their mean "
           "of the vertices.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3.2, in its lifted form",
    .params = polytope_params,
    .create = lifted_create,
    .destroy = lifted_destroy,
    .value = lifted_value,
    .gradient = lifted_gradient,
    .inverse_gradient = lifted_inverse,
    .step = lifted_step,
    .range = lifted_range,
    .trace = lifted_trace,
    .add_theta = lifted_add_theta,
    .pull = lifted_pull,
    .describe = lifted_describe,
};

pn_mat pn_potential_vertices(const pn_potential *p)
{
    return p->ops == &pn_potential_polytope ? vertices_of(p) : (pn_mat){ NULL, 0, 0 };
}
