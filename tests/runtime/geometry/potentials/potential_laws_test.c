/* potential_laws_test.c -- what holds for all potentials: the one that fits a set, strong convexity,
 * every allocation that fails, refusals.
 * Depends on: potential_checks.h, fail_alloc.h. */
#include "geometry/sets/sets.h"
#include "runtime/geometry/potentials/potential_checks.h"

#include "fail_alloc.h"

static bool is_shifted(const pn_set *set)
{
    const double *shift;
    double factor;

    (void)pn_set_unwrap(set, &factor, &shift);
    return shift != NULL;
}

static void check_for_set(pn_set *set, const char *name)
{
    pn_potential *p = NULL;
    const char *why = NULL;
    char text[200];
    pn_err err;

    if (!CHECK(pn_potential_for_set(&p, set, &why, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s: %s\n", set->ops->name, err.message);
        return;
    }
    pn_potential_describe(p, text, sizeof text);
    CHECK(strcmp(p->ops->name, name) == 0 && why && *why && strncmp(text, name, strlen(name)) == 0);
    if (!p->theta_dim) {
        /* beside a shift, what is below 1e-16 of it is lost: weights of e^-1000, high powers of small numbers */
        check_steps_between(p, set, is_shifted(set) ? 1.0 : 0.0, is_shifted(set) ? 10.0 : INFINITY);
        check_range(p, set);
    }
    pn_potential_free(p);
}

/* Scaled and shifted sets get the potential scaled and shifted. */
static void check_for_moved(const char *set_name, pn_arg *args, const char *name)
{
    pn_set *set = new_set(set_name, args), *twice = NULL, *moved = NULL;
    double shift[64];
    pn_err err;

    fill(shift, set->dim, 2.0, 9);
    check_for_set(set, name);
    CHECK(pn_set_scale(&twice, set, 2.0, &err) == PN_OK);
    check_for_set(twice, name);
    CHECK(pn_set_shift(&moved, twice, shift, set->dim, &err) == PN_OK);
    check_for_set(moved, name);
    pn_set_free(set);
    pn_set_free(twice);
    pn_set_free(moved);
}

static void test_for_set(void)
{
    check_for_moved("simplex", (pn_arg[2]){ COUNT(9), REAL(0.5) }, "entropy");
    check_for_moved("l1_ball", (pn_arg[3]){ COUNT(9), REAL(3.0), NONE }, "signed_entropy");
    check_for_moved("group_ball", (pn_arg[4]){ COUNT(9), COUNT(4), REAL(3.0), NONE }, "group");
    check_for_moved("interpolation_ball", (pn_arg[4]){ COUNT(9), REAL(0.3), REAL(3.0), NONE }, "interpolation");
    check_for_moved("nuclear_ball", (pn_arg[5]){ COUNT(3), COUNT(4), REAL(3.0), NONE, NONE }, "schatten");
    check_for_moved("spectrahedron", (pn_arg[3]){ COUNT(4), REAL(3.0), NONE }, "schatten");
    check_for_moved("unit_spectrahedron", (pn_arg[3]){ COUNT(4), REAL(3.0), NONE }, "schatten");
    check_for_moved("unit_simplex", (pn_arg[2]){ COUNT(9), REAL(0.5) }, "entropy");
    check_for_moved("l2_ball", (pn_arg[3]){ COUNT(9), REAL(3.0), NONE }, "euclidean");
    check_for_moved("polytope", (pn_arg[1]){ { .given = true, .matrix = { (double[6]){ 1, 0, 0, 1, -1, -1 }, 3, 2 } } },
                    "polytope");
}

/* ---- strong convexity: h' Hess h / ||h||^2 over random x and h is at least the constant (spec section 4) ---- */

static double least_modulus(const pn_potential *p, size_t n, double size, bool positive)
{
    double least = INFINITY;
    unsigned state = 11;
    pn_err err;

    for (int trial = 0; trial < 3000; trial++) {
        double x[64], h[64], up[64], down[64], norm = NAN, total = 0.0, bend = 0.0;
        const double step = 1e-5;

        for (size_t j = 0; j < n; j++) {
            x[j] = uniform(&state);
            x[j] = trial % 2 ? x[j] * x[j] * x[j] * x[j] * x[j] : x[j];
            x[j] = positive ? fabs(x[j]) + 1e-3 : x[j] + copysign(1e-3, x[j]);
            h[j] = trial % 3 ? uniform(&state) : x[j];
            if (trial == 0) { /* where q-norms bend least */
                x[j] = 1.0;
                h[j] = j % 2 ? -1.0 : 1.0;
            }
        }
        CHECK(pn_norm_value(p->norm, x, n, &norm, &err) == PN_OK);
        for (size_t j = 0; j < n; j++)
            x[j] *= size / norm;
        total = norm;
        CHECK(pn_norm_value(p->norm, h, n, &norm, &err) == PN_OK);
        for (size_t j = 0; j < n; j++) {
            double t = step * 1e-3 * size / total * h[j] / norm;

            up[j] = x[j] + t;
            down[j] = x[j] - t;
            h[j] = up[j] - down[j];
        }
        CHECK(pn_norm_value(p->norm, h, n, &norm, &err) == PN_OK);
        CHECK(pn_potential_gradient(p, up, n, up, &err) == PN_OK);
        CHECK(pn_potential_gradient(p, down, n, down, &err) == PN_OK);
        for (size_t j = 0; j < n; j++)
            bend += h[j] * (up[j] - down[j]);
        least = fmin(least, bend / (norm * norm));
    }
    return least;
}

static void test_strong_convexity(void)
{
    pn_potential *entropy = new_potential("entropy", (pn_arg[1]){ REAL(2.0) });
    pn_potential *lp = new_potential("lp", (pn_arg[2]){ REAL(1.4), NONE });
    pn_potential *fitted = new_potential("lp", (pn_arg[2]){ NONE, COUNT(9) });
    pn_potential *two = new_potential("group", (pn_arg[4]){ COUNT(2), NONE, REAL(1.5), NONE });
    pn_potential *group = new_potential("group", (pn_arg[4]){ COUNT(9), COUNT(2), REAL(1.5), NONE });
    pn_potential *mixed = new_potential("interpolation", (pn_arg[4]){ COUNT(9), REAL(0.4), REAL(1.5), NONE });
    pn_potential *nuclear = new_potential("schatten", (pn_arg[4]){ COUNT(3), COUNT(4), REAL(1.5), NONE });
    pn_potential *both = new_potential("signed_entropy", (pn_arg[3]){ COUNT(9), REAL(1.5), NONE });
    double at_two = least_modulus(two, 2, 1.5, false), at_lp = least_modulus(lp, 6, 1.0, false);
    double at_entropy = least_modulus(entropy, 6, 2.0, true), at_nuclear = least_modulus(nuclear, 12, 1.5, false);

    CHECK(at_entropy >= 0.999 && at_entropy < 1.001); /* attained at h = x */
    CHECK(at_lp >= 0.999 && at_lp < 1.001);           /* psi_q is exactly 1-strongly convex */
    CHECK(at_two >= 0.999 && at_two < 1.001);
    CHECK(at_nuclear >= 1.999);
    CHECK(least_modulus(fitted, 9, 1.0, false) >= 0.999);
    CHECK(least_modulus(group, 9, 1.5, false) >= 0.999);
    CHECK(least_modulus(mixed, 9, 1.5, false) >= 0.999);
    CHECK(least_modulus(both, 9, 1.49, false) >= 0.999);
    pn_potential_free(entropy);
    pn_potential_free(lp);
    pn_potential_free(fitted);
    pn_potential_free(two);
    pn_potential_free(group);
    pn_potential_free(mixed);
    pn_potential_free(nuclear);
    pn_potential_free(both);
}

/* ---- memory ---- */

typedef struct scenario {
    const char *set, *name;
    pn_arg set_args[5], args[4];
} scenario;

static pn_status use_potential(void *self, pn_err *err)
{
    scenario of = *(scenario *)self;
    pn_set *set = NULL, *moved = NULL;
    pn_potential *p = NULL, *fitting = NULL;
    double x[16], y[16], g[16], value = 0.0, shift[16];
    pn_status status = pn_set_from_args(&set, of.set, of.set_args, err);

    if (strcmp(of.name, "polytope") == 0)
        of.args[0].object = set;
    if (status == PN_OK)
        status = pn_potential_from_args(&p, of.name, of.args, err);
    if (status == PN_OK)
        status = pn_potential_start(p, set, x, err);
    if (status == PN_OK) {
        size_t n = p->theta_dim ? p->dim : set->dim;

        fill(g, n, 1.0, 3);
        status = pn_mirror_step(p, set, x, g, 0.1, n, y, err);
        if (status == PN_OK)
            status = pn_mirror_step(p, set, y, g, 0.1, n, y, err);
        if (status == PN_OK)
            status = pn_potential_bregman(p, y, x, n, &value, err);
    }
    if (status == PN_OK)
        status = pn_potential_range(p, set, &value, err);
    if (status == PN_OK)
        status = pn_potential_trace(p, set, &value, err);
    fill(shift, 16, 1.0, 4);
    if (status == PN_OK)
        status = pn_set_shift(&moved, set, shift, set->dim, err);
    if (status == PN_OK)
        status = pn_potential_for_set(&fitting, moved, NULL, err);
    if (status == PN_OK)
        status = pn_potential_start(fitting, moved, x, err);
    pn_potential_free(p);
    pn_potential_free(fitting);
    pn_set_free(set);
    pn_set_free(moved);
    return status;
}

static void test_memory(void)
{
    static double vertices[6] = { 1, 0, 0, 1, -1, -1 }, A[4] = { 2, 1, 1, 2 }, center[3] = { 1, 2, 3 };
    scenario cases[] = {
        { "simplex", "entropy", { COUNT(5) }, { NONE } },
        { "l1_ball", "lp", { COUNT(5) }, { REAL(1.5) } },
        { "l1_ball", "signed_entropy", { COUNT(5) }, { COUNT(5) } },
        { "group_ball", "group", { COUNT(5), COUNT(2) }, { COUNT(5), COUNT(2) } },
        { "interpolation_ball", "interpolation", { COUNT(5), REAL(0.5) }, { COUNT(5), REAL(0.5) } },
        { "nuclear_ball", "schatten", { COUNT(2), COUNT(3) }, { COUNT(2), COUNT(3) } },
        { "spectrahedron", "schatten", { COUNT(2) }, { COUNT(2), COUNT(2) } },
        { "l1_ball", "quadratic", { COUNT(2) }, { { .given = true, .matrix = { A, 2, 2 } } } },
        { "polytope", "polytope", { { .given = true, .matrix = { vertices, 3, 2 } } }, { { .given = true } } },
        { "l2_ball", "euclidean", { COUNT(3) }, { { .given = true, .vector = { center, 3 } } } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fail_alloc_sweep(cases[i].name, use_potential, &cases[i]);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    double x[4] = { 0.25, 0.25, 0.0, 0.5 }, bad[4] = { 1, NAN, 0, 0 }, out[4], value = 0.0;
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(4), REAL(2.0) });
    pn_potential *entropy = new_potential("entropy", (pn_arg[1]){ NONE }), *none = NULL;
    pn_potential *group = new_potential("group", (pn_arg[4]){ COUNT(3), NONE, NONE, NONE });
    pn_err err;

    CHECK(pn_potential_gradient(entropy, x, 4, out, &err) == PN_EDOMAIN && strstr(err.message, "entry 3"));
    CHECK(pn_potential_value(entropy, bad, 4, &value, &err) == PN_EDOMAIN && strstr(err.message, "entry 2"));
    CHECK(pn_potential_value(group, x, 4, &value, &err) == PN_EDIM && strstr(err.message, "4") &&
          strstr(err.message, "3"));
    CHECK(pn_potential_step(group, simplex, x, out, &err) == PN_EDIM);
    /* the constant holds for sums up to 1 only */
    CHECK(pn_potential_range(entropy, simplex, &value, &err) == PN_EINVAL && strstr(err.message, "radius=2"));
    CHECK(pn_mirror_step(entropy, simplex, x, x, NAN, 4, out, &err) == PN_EINVAL);
    CHECK(pn_potential_from_args(&none, "lp", (pn_arg[2]){ NONE, NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_from_args(&none, "lp", (pn_arg[2]){ REAL(2.5), NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_from_args(&none, "lp", (pn_arg[2]){ REAL(1.0), NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_from_args(&none, "entropi", NULL, &err) == PN_EUNSUPPORTED && strstr(err.message, "entropy"));
    CHECK(pn_potential_from_args(&none, "group",
                                 (pn_arg[4]){ COUNT(3), NONE, NONE, { .given = true, .vector = { x, 4 } } },
                                 &err) == PN_EDIM);
    x[2] = -1e-3;
    CHECK(pn_potential_value(entropy, x, 4, &value, &err) == PN_OK && isinf(value));
    pn_set_free(simplex);
    pn_potential_free(entropy);
    pn_potential_free(group);
}

int main(void)
{
    test_for_set();
    test_strong_convexity();
    test_memory();
    test_refusals();
    return check_summary();
}
