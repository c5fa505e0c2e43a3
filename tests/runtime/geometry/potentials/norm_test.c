/* norm_test.c -- what Lua cannot ask of norms and proximal operators: every allocation may fail, references are
 * counted, a failed operator leaves its vector alone.  Depends on: geometry/potentials/norm.h,
 * geometry/prox/prox.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/potentials/norm.h"
#include "geometry/prox/prox.h"
#include "geometry/sets/sets.h"

#define DIM 6 /* a matrix of 2 x 3 */

static const double start[DIM] = { 3.0, -1.0, 0.5, 2.0, -4.0, 1.0 };

/* ---- norms ---- */

static pn_status make_norm(pn_norm **out, const char *name, pn_err *err)
{
    pn_arg args[PN_NORM_PARAMS] = { { .given = true, .real = strcmp(name, "lp") == 0 ? 1.5 : 0.5, .count = 2 },
                                    { .given = true, .count = 3 } };
    double low[DIM] = { -1.0, -1.0, -1.0, -1.0, -1.0, -1.0 }, high[DIM] = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 };
    pn_arg ends[2] = { { .given = true, .vector = { low, DIM } }, { .given = true, .vector = { high, DIM } } };
    pn_set *box;
    pn_status status;

    if (strcmp(name, "minkowski") != 0)
        return pn_norm_from_args(out, name, args, err);
    *out = NULL;
    status = pn_set_from_args(&box, "box", ends, err);
    if (status != PN_OK)
        return status;
    status = pn_norm_minkowski(out, box, err);
    pn_set_free(box); /* the norm keeps it */
    return status;
}

/* Value, dual, ball and radius; what a norm cannot do yet is no failure of memory. */
static pn_status use_norm(void *self, pn_err *err)
{
    pn_norm *norm = NULL, *dual = NULL, *back = NULL;
    double value = NAN, dual_value = NAN, radius;
    pn_set *ball = NULL;
    pn_status status = make_norm(&norm, self, err);

    if (status == PN_OK)
        status = pn_norm_dual(&dual, norm, err);
    if (status == PN_OK)
        status = pn_norm_dual(&back, dual, err);
    if (status == PN_OK)
        CHECK(pn_norm_same(norm, back));
    if (status == PN_OK)
        status = pn_norm_ball(&ball, norm, DIM, err);
    if (status == PN_OK)
        status = pn_norm_value(norm, start, DIM, &value, err);
    if (status == PN_OK)
        status = pn_norm_value(dual, start, DIM, &dual_value, err);
    if (status == PN_OK)
        status = pn_norm_radius(norm, PN_L2, DIM, &radius, err);
    if (status == PN_OK) {
        CHECK(value > 0.0 && dual_value * value >= 31.25 * (1.0 - 1e-8)); /* <x, x> = 31.25 */
        CHECK(sqrt(31.25) <= radius * value * (1.0 + 1e-8));
    }
    pn_norm_free(norm);
    pn_norm_free(dual);
    pn_norm_free(back);
    pn_set_free(ball);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

static void counts_references(void)
{
    pn_norm *norm;
    pn_err err;

    if (CHECK(make_norm(&norm, "minkowski", &err) == PN_OK)) {
        CHECK(pn_norm_keep(norm) == norm);
        pn_norm_free(norm);
        CHECK(pn_norm_dim(norm) == DIM);
        pn_norm_free(norm);
    }
    pn_norm_free(NULL);
    CHECK(pn_norm_from_args(&norm, "l3", NULL, &err) == PN_EUNSUPPORTED && !norm);
    CHECK(strstr(err.message,
                 "pn_norm_from_args: there is no norm \"l3\", the nearest is l1; known are l1, l2, linf, lp,") != NULL);
}

static void tells_the_plain_norms(void)
{
    static const char *const names[] = { "l1", "l2", "linf", "group", "minkowski" };

    for (int i = 0; i < 5; i++) {
        pn_norm *norm;
        pn_lp lp = PN_LP_COUNT;
        pn_err err;

        if (!CHECK(make_norm(&norm, names[i], &err) == PN_OK))
            continue;
        CHECK(pn_norm_is_lp(norm, &lp) == (i < PN_LP_COUNT));
        CHECK(lp == (i < PN_LP_COUNT ? (pn_lp)i : PN_LP_COUNT));
        pn_norm_free(norm);
    }
}

/* ---- proximal operators ---- */

typedef struct prox_case {
    const char *name;
    bool conjugate;
} prox_case;

static pn_status make_prox(pn_prox **out, const char *name, pn_set *set, pn_norm *norm, pn_err *err)
{
    double low[DIM] = { -1.0, -1.0, -1.0, -1.0, -1.0, -1.0 }, high[DIM] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
    const pn_prox_ops *const *table = pn_prox_table();
    pn_arg args[3];

    while (strcmp((*table)->name, name) != 0)
        table++;
    for (size_t i = 0; i < pn_param_count((*table)->params); i++) {
        const char *param = (*table)->params[i].name;

        args[i] = (pn_arg){ .given = true, .real = 0.5, .count = strcmp(param, "cols") == 0 ? 3 : 2 };
        args[i].vector = (pn_vec){ strcmp(param, "lower") == 0 ? low : high, DIM };
        args[i].object = strcmp(param, "norm") == 0 ? (const void *)norm : set;
    }
    return pn_prox_from_args(out, name, args, err);
}

static pn_status use_prox(void *self, pn_err *err)
{
    const prox_case *of = self;
    pn_arg ball[] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 }, { .given = false } };
    pn_set *set = NULL;
    pn_norm *norm = NULL;
    pn_prox *prox = NULL, *dual = NULL;
    double x[DIM], value;
    pn_status status = pn_set_from_args(&set, "l1_ball", ball, err);

    memcpy(x, start, sizeof x);
    if (status == PN_OK)
        status = make_norm(&norm, "spectral", err);
    if (status == PN_OK)
        status = make_prox(&prox, of->name, set, norm, err);
    pn_set_free(set); /* the operator keeps what it needs */
    pn_norm_free(norm);
    if (status == PN_OK && of->conjugate)
        status = pn_prox_conjugate(&dual, prox, err);
    if (status == PN_OK)
        status = pn_prox_apply(dual ? dual : prox, x, DIM, 0.7, err);
    if (status != PN_OK)
        CHECK(memcmp(x, start, sizeof x) == 0);
    else
        CHECK(memcmp(x, start, sizeof x) != 0);
    if (status == PN_OK && !dual)
        status = pn_prox_envelope(prox, start, DIM, 0.7, &value, err);
    pn_prox_free(prox);
    pn_prox_free(dual);
    return status;
}

/* ---- a host's operator ---- */

static pn_status not_finite(void *self, const double *v, size_t n, double step, double *x, pn_err *err)
{
    (void)self;
    (void)v;
    (void)step;
    (void)err;
    x[0] = 7.0;
    x[n - 1] = NAN;
    return PN_OK;
}

static void count_down(void *self)
{
    --*(int *)self;
}

static void refuses_what_a_function_must_not_return(void)
{
    int alive = 1;
    pn_custom_prox parts = { .self = &alive, .destroy = count_down, .apply = not_finite };
    pn_prox *prox, *same = NULL, *dual = NULL;
    double x[DIM], value;
    pn_err err;

    memcpy(x, start, sizeof x);
    if (!CHECK(pn_prox_custom(&prox, &parts, &err) == PN_OK))
        return;
    CHECK(pn_prox_apply(prox, x, DIM, 1.0, &err) == PN_ENUMERIC);
    CHECK(strcmp(err.message, "prox.custom: prox must return finite numbers, got nan at entry 6") == 0);
    CHECK(memcmp(x, start, sizeof x) == 0);
    CHECK(pn_prox_value(prox, x, DIM, &value, &err) == PN_EUNSUPPORTED);
    CHECK(pn_prox_conjugate(&dual, prox, &err) == PN_OK && pn_prox_conjugate(&same, dual, &err) == PN_OK);
    CHECK(same == prox);
    CHECK(pn_prox_apply(dual, x, DIM, 1.0, &err) == PN_ENUMERIC && memcmp(x, start, sizeof x) == 0);
    pn_prox_free(prox);
    pn_prox_free(same);
    CHECK(alive == 1);
    pn_prox_free(dual);
    CHECK(alive == 0);
    CHECK(pn_prox_from_args(&prox, "l3", NULL, &err) == PN_EUNSUPPORTED && !prox);
    CHECK(strstr(err.message, "pn_prox_from_args: there is no operator \"l3\", the nearest is l1; known are l1, l2,") !=
          NULL);
}

int main(void)
{
    const pn_norm_ops *const *norms = pn_norm_table();
    const pn_prox_ops *const *table = pn_prox_table();

    for (size_t i = 0; norms[i]; i++)
        fail_alloc_sweep(norms[i]->name, use_norm, (void *)(size_t)norms[i]->name);
    fail_alloc_sweep("minkowski", use_norm, (void *)(size_t) "minkowski");
    for (size_t i = 0; table[i]; i++) {
        prox_case plain = { table[i]->name, false }, dual = { table[i]->name, true };

        fail_alloc_sweep(plain.name, use_prox, &plain);
        fail_alloc_sweep(dual.name, use_prox, &dual);
    }
    counts_references();
    tells_the_plain_norms();
    refuses_what_a_function_must_not_return();
    return check_summary();
}
