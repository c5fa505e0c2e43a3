/* margins_bench.c -- what a loss of several margins costs that a user typed: passes of pn.loss.margins against those of
 * softmax with as many margins over the same records, gradients alone and with values.  Random values: the time depends
 * on the shape, not on them. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "expr/formula.h"
#include "objective/passes/objective.h"
#include "random/rng.h"

#define LIMIT 3.0

typedef struct world {
    pn_dataset data;
    pn_objective *objective;
    double *theta, *gradient, value;
} world;

static void gradient(void *context)
{
    world *self = context;

    (void)pn_objective_losses(self->objective, NULL, self->theta, NULL, self->gradient, NULL, NULL);
}

static void both(void *context)
{
    world *self = context;

    (void)pn_objective_losses(self->objective, NULL, self->theta, &self->value, self->gradient, NULL, NULL);
}

static void refuse(pn_status status, const pn_err *err)
{
    if (status == PN_OK)
        return;
    fprintf(stderr, "margins_bench: %s\n", err->message);
    exit(1);
}

/* ---- formulas ---- */

/* ln sum exp of z_first to z_last, by halves. */
static pn_node log_sum(pn_graph *graph, unsigned first, unsigned last)
{
    unsigned middle = (first + last) / 2;
    pn_node a, b;

    if (first == last)
        return pn_x_var(graph, first);
    a = log_sum(graph, first, middle);
    b = log_sum(graph, middle + 1, last);
    return pn_x_add(graph, a, pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_sub(graph, b, a)));
}

/* ln sum exp(z) - z_y */
static pn_node multinomial(pn_graph *graph, unsigned k)
{
    pn_node y = pn_x_var(graph, k), chosen = pn_x_var(graph, k - 1);

    for (unsigned j = k - 1; j-- > 0;)
        chosen = pn_x_where(graph, pn_x_le(graph, y, pn_x_const(graph, j + 1)), pn_x_var(graph, j), chosen);
    return pn_x_sub(graph, log_sum(graph, 0, k - 1), chosen);
}

/* (b + sum_j w_j tanh(z_j) - y)^2 / 2 */
static pn_node network(pn_graph *graph, unsigned k)
{
    pn_node sum = pn_x_var(graph, 2 * k), y = pn_x_var(graph, 2 * k + 1);

    for (unsigned j = 0; j < k; j++)
        sum = pn_x_add(graph, sum,
                       pn_x_mul(graph, pn_x_var(graph, k + j), pn_x_unary(graph, PN_X_TANH, pn_x_var(graph, j))));
    return pn_x_scale(graph, 0.5, pn_x_square(graph, pn_x_sub(graph, sum, y)));
}

/* ---- objectives ---- */

static void open_typed(world *self, pn_node (*formula)(pn_graph *, unsigned), size_t k, size_t extra)
{
    const pn_labels labels = { .kind = PN_LABELS_REAL };
    const char *names[PN_GRAPH_VARS_MAX];
    pn_graph *graph;
    pn_loss *loss;
    pn_err err;

    for (size_t v = 0; v < PN_GRAPH_VARS_MAX; v++)
        names[v] = "";
    refuse(pn_graph_new(&graph, names, (unsigned)(2 * (k + extra) + 1), &err), &err);
    refuse(pn_loss_from_joint_graph(&loss, graph, formula(graph, (unsigned)k), k, extra, &labels, &err), &err);
    refuse(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss }, &err), &err);
    pn_loss_free(loss);
    pn_graph_free(graph);
}

static void open_softmax(world *self, size_t k)
{
    pn_arg args[4] = { { .given = true, .count = k } };
    pn_loss *loss;
    pn_err err;

    refuse(pn_loss_from_args(&loss, "softmax", args, &err), &err);
    refuse(pn_objective_new(&self->objective, &(pn_objective_parts){ .data = &self->data, .loss = loss }, &err), &err);
    pn_loss_free(loss);
}

static void fill(world *self, size_t n, size_t p, size_t k, pn_rng *rng)
{
    size_t dim = k * p + k + 1;

    memset(self, 0, sizeof *self);
    self->data.n = n;
    self->data.p = p;
    self->data.bounds =
        (pn_record_bounds){ .norm = { NAN, NAN, NAN }, .label_low = NAN, .label_high = NAN, .labels_binary = false };
    self->data.y = pn_alloc(n, sizeof(double));
    self->data.dense = pn_alloc(n * p, sizeof(double));
    self->theta = pn_alloc(dim, sizeof(double));
    self->gradient = pn_alloc(dim, sizeof(double));
    for (size_t i = 0; i < n; i++)
        self->data.y[i] = (double)(1 + pn_rng_below(rng, k));
    for (size_t i = 0; i < n * p; i++)
        self->data.dense[i] = pn_rng_uniform(rng) - 0.5;
    for (size_t j = 0; j < dim; j++)
        self->theta[j] = pn_rng_uniform(rng) - 0.5;
}

static int table(size_t n, size_t p, size_t k, pn_rng *rng)
{
    world softmax, typed;
    int over = 0;

    fill(&softmax, n, p, k, rng);
    open_softmax(&softmax, k);
    typed = softmax;
    printf("%zu x %zu, k = %zu, one thread, against softmax\n", n, p, k);
    open_typed(&typed, multinomial, k, 0);
    over += bench_line_busy("  multinomial: gradient", gradient, &typed, gradient, &softmax, 11, LIMIT);
    over += bench_line_busy("  multinomial: value and gradient", both, &typed, both, &softmax, 11, LIMIT);
    pn_objective_free(typed.objective);
    open_typed(&typed, network, k, k + 1);
    over += bench_line_busy("  network of k tanh: gradient", gradient, &typed, gradient, &softmax, 11, LIMIT);
    over += bench_line_busy("  network of k tanh: value and gradient", both, &typed, both, &softmax, 11, LIMIT);
    pn_objective_free(typed.objective);
    pn_objective_free(softmax.objective);
    pn_free(softmax.data.y);
    pn_free(softmax.data.dense);
    pn_free(softmax.theta);
    pn_free(softmax.gradient);
    return over;
}

int main(void)
{
    pn_rng *rng;
    int over = 0;

    if (pn_rng_seeded(&rng, 5, NULL) != PN_OK)
        return 1;
    over += table(581012, 54, 7, rng);
    over += table(400000, 10, 10, rng);
    over += table(400000, 2, 10, rng);
    pn_rng_free(rng);
    return over > 0;
}
