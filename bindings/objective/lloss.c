/* lloss.c -- pn.loss: one constructor for each row of the runtime's table of losses, and what all losses share.
 * Depends on: pnl.h, lsymbol.h, objective/losses/loss.h.  Used by: lobjective.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/objective/lobjective.h"
#include "objective/losses/loss.h"

static pn_loss *check_loss(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_loss_class);
}

/* upvalue 1: the pn_loss_ops */
static int construct(lua_State *L)
{
    const pn_loss_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS];
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "loss.%s", ops->name);
    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_from_args((pn_loss **)slot, ops->name, args, &err), &err);
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_loss_table());
}

PNL_GETTER(get_name, check_loss(L, 1)->name);

static int get_labels(lua_State *L)
{
    char text[200];

    pn_labels_describe(&check_loss(L, 1)->labels, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

PNL_GETTER(get_margins, check_loss(L, 1)->margins);
PNL_GETTER(get_extra, check_loss(L, 1)->extra);

/* Over all margins and labels. */
static int get_convex(lua_State *L)
{
    pn_loss *loss = check_loss(L, 1);
    const pn_interval all = { -INFINITY, INFINITY };
    pn_loss_bounds bounds;
    pn_err err;
    pn_status status = loss->margins ? pn_loss_certify(loss, all, all, &bounds, &err) : PN_EUNSUPPORTED;

    if (status == PN_ENOMEM)
        pnl_status(L, status, &err);
    lua_pushboolean(L, status == PN_OK && bounds.convex);
    return 1;
}

/* The derivative of that order as text; nil when the loss is no formula, or one of several inputs and order > 0. */
static int push_formula(lua_State *L, int order)
{
    const pn_loss *loss = check_loss(L, 1);
    pn_node node;
    pn_graph *graph = pn_loss_graph(loss, &node);
    char text[1000];
    pn_err err;

    if (!graph && order == 0)
        graph = pn_loss_joint_graph(loss, &node);

    for (; graph && order > 0; order--)
        node = pn_graph_derivative(graph, node, 0);
    if (!graph)
        return 0;
    if (node == PN_NODE_NONE)
        pnl_status(L, pn_graph_status(graph, &err), &err);
    pn_graph_text(graph, node, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

static int get_formula(lua_State *L)
{
    return push_formula(L, 0);
}

static int get_slope_formula(lua_State *L)
{
    return push_formula(L, 1);
}

static int get_curvature_formula(lua_State *L)
{
    return push_formula(L, 2);
}

static void check_finite(lua_State *L, const char *what, const double *x, size_t n)
{
    size_t bad = pn_first_nonfinite(x, n);

    if (bad < n)
        pnl_error(L, "l:evaluate: %s must hold finite numbers, got %g at entry %zu", what, x[bad], bad + 1);
}

static void check_labels(lua_State *L, const pn_loss *loss, pn_vec y)
{
    size_t bad = pn_labels_first_bad(&loss->labels, y.data, y.n);
    char wanted[200];

    if (bad == y.n)
        return;
    pn_labels_describe(&loss->labels, wanted, sizeof wanted);
    pnl_error(L, "l:evaluate: the labels of %s must be %s, got %g at entry %zu", loss->name, wanted, y.data[bad],
              bad + 1);
}

/* Whole arrays through the loss, block by block: a block's margins stand together. */
static void run_blocks(const pn_loss *loss, pn_mat z, pn_vec y, double *value, double *slope, double *curvature)
{
    double unit[PN_LOSS_BLOCK];

    for (size_t i = 0; i < PN_LOSS_BLOCK; i++)
        unit[i] = 1.0;
    for (size_t first = 0; first < y.n; first += PN_LOSS_BLOCK) {
        size_t count = y.n - first < PN_LOSS_BLOCK ? y.n - first : PN_LOSS_BLOCK;

        loss->ops->evaluate(loss, count, z.data + first, y.data + first, value + first, slope + first);
        if (curvature)
            loss->ops->curve(loss, count, z.data + first, y.data + first, unit, curvature + first);
    }
}

/* Several inputs: one record at a time, since a block's layout is [inputs][count]. */
static void run_records(lua_State *L, const pn_loss *loss, pn_mat z, pn_vec y, double *value, double *slope)
{
    size_t inputs = pn_loss_inputs(loss);
    double *one = lua_newuserdatauv(L, 2 * inputs * sizeof *one, 0), *out = one + inputs;

    for (size_t i = 0; i < y.n; i++) {
        for (size_t k = 0; k < inputs; k++)
            one[k] = z.data[k * y.n + i];
        loss->ops->evaluate(loss, 1, one, y.data + i, value + i, out);
        for (size_t k = 0; k < inputs; k++)
            slope[k * y.n + i] = out[k];
    }
    lua_pop(L, 1);
}

static int evaluate(lua_State *L)
{
    const pn_loss *loss = check_loss(L, 1);
    bool several = pn_loss_inputs(loss) > 1;
    pn_vec y = pnl_check_vec(L, 3);
    pn_mat z;
    double *value, *slope, *curvature;

    if (loss->margins == 0)
        return pnl_error(L, "l:evaluate: a black box takes theta and a record, not a margin");
    if (several) {
        z = pnl_check_mat_of(L, 2, "l:evaluate: z");
    } else {
        pn_vec margins = pnl_check_vec(L, 2);

        z = (pn_mat){ margins.data, 1, margins.n };
    }
    if (z.cols != y.n)
        return pnl_error(L, "l:evaluate: z has %zu %s, y has %zu", z.cols, several ? "columns" : "entries", y.n);
    if (loss->extra > 0 && z.rows != pn_loss_inputs(loss))
        return pnl_error(L, "l:evaluate: z must have a row for each of %zu margins and %zu further parameters, got %zu",
                         loss->margins, loss->extra, z.rows);
    if (z.rows != pn_loss_inputs(loss))
        return pnl_error(L, "l:evaluate: z must have a row for each of the %zu classes, got %zu", loss->margins,
                         z.rows);
    check_finite(L, "z", z.data, z.rows * z.cols);
    check_finite(L, "y", y.data, y.n);
    check_labels(L, loss, y);
    value = pnl_new_vec(L, y.n);
    if (several) {
        slope = pnl_new_mat(L, z.rows, z.cols);
        run_records(L, loss, z, y, value, slope);
        return 2;
    }
    slope = pnl_new_vec(L, y.n);
    curvature = pnl_new_vec(L, y.n);
    run_blocks(loss, z, y, value, slope, curvature);
    return 3;
}

/* {lo, hi} */
static pn_interval check_interval(lua_State *L, int index, const char *what)
{
    double ends[2];
    pn_interval out;

    if (!lua_istable(L, index))
        pnl_error(L, "l:range: %s must be an interval {lo, hi}, got %s", what, luaL_typename(L, index));
    for (int i = 0; i < 2; i++) {
        if (lua_rawgeti(L, index, i + 1) != LUA_TNUMBER)
            pnl_error(L, "l:range: %s must be an interval {lo, hi}; entry %d is %s", what, i + 1, luaL_typename(L, -1));
        ends[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    out.low = ends[0];
    out.high = ends[1];
    return out;
}

static void set_flag(lua_State *L, const char *field, bool flag)
{
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, field);
}

static int range(lua_State *L)
{
    pn_loss *loss = check_loss(L, 1);
    pn_interval all = { -INFINITY, INFINITY };
    pn_interval z = lua_isnoneornil(L, 2) ? all : check_interval(L, 2, "z");
    pn_interval y = lua_isnoneornil(L, 3) ? all : check_interval(L, 3, "y");
    pn_loss_bounds out;
    pn_err err;

    pnl_status(L, pn_loss_certify(loss, z, y, &out, &err), &err);
    lua_createtable(L, 0, 9);
    pnl_set_interval(L, "value", out.value);
    pnl_set_interval(L, "slope", out.slope);
    pnl_set_interval(L, "curvature", out.curvature);
    pnl_set_interval(L, "third", out.third);
    set_flag(L, "continuous", out.continuous);
    set_flag(L, "smooth", out.smooth);
    set_flag(L, "twice_smooth", out.twice_smooth);
    set_flag(L, "convex", out.convex);
    if (out.missing[0]) {
        lua_pushstring(L, out.missing);
        lua_setfield(L, -2, "missing");
    }
    pnl_list(L);
    return 1;
}

static int to_string(lua_State *L)
{
    const pn_loss *loss = check_loss(L, 1);
    pn_node root;
    pn_graph *graph = pn_loss_graph(loss, &root);
    char labels[200], text[400];
    const char *inputs = "z";

    if (!graph) {
        graph = pn_loss_joint_graph(loss, &root);
        inputs = loss->extra ? "z, w" : "z";
    }
    if (!graph) {
        lua_pushfstring(L, "%s loss: %s", loss->name, loss->row->doc);
        return 1;
    }
    pn_labels_describe(&loss->labels, labels, sizeof labels);
    pn_graph_text(graph, root, text, sizeof text);
    if (loss->row == loss->ops) /* typed: the formula says it all */
        lua_pushfstring(L, "%s loss: l(%s, y) = %s, labels %s", loss->name, inputs, text, labels);
    else
        lua_pushfstring(L, "%s loss: %s\n  l(z, y) = %s, labels %s", loss->name, loss->row->doc, text, labels);
    return 1;
}

static const pnl_row loss_rows[] = {
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "l.name -> string",
      "The kind of loss, as in pn.loss, or the name that glm was given." },
    { "convex", get_convex, PNL_FIELD, PNL_NOTHING, "l.convex -> boolean",
      "Whether l(z, y) is certified to be convex in z over all margins and labels; false: it is not, or no "
      "certificate was found." },
    { "labels", get_labels, PNL_FIELD, PNL_NOTHING, "l.labels -> string",
      "What labels it takes: \"real\", \"-1 and 1\", \"in [0, 1]\", \"1 to 7\"." },
    { "margins", get_margins, PNL_FIELD, PNL_NOTHING, "l.margins -> integer",
      "Linear predictors of a record: 1, the number of classes for softmax, k for margins, 0 for a black box.  theta "
      "has margins x p entries, one row of p after the other, and then `extra` ones." },
    { "extra", get_extra, PNL_FIELD, PNL_NOTHING, "l.extra -> integer",
      "Further parameters, theta's last entries, which are the same for every record; 0 but for margins{extra=}." },
    { "formula", get_formula, PNL_FIELD, PNL_NOTHING, "l.formula -> string or nil",
      "l(z, y) as it is evaluated, after simplification; of margins with z1, z2 ... and w1, w2 ..." },
    { "slope_formula", get_slope_formula, PNL_FIELD, PNL_NOTHING, "l.slope_formula -> string or nil",
      "dl/dz as it is evaluated.  At a kink it is one value between the one-sided derivatives: 0 for abs, the first "
      "argument's for min and max, that of the branch taken for where." },
    { "curvature_formula", get_curvature_formula, PNL_FIELD, PNL_NOTHING, "l.curvature_formula -> string or nil",
      "d2l/dz2 as it is evaluated." },
    { "evaluate", evaluate, PNL_METHOD, PNL_NOTHING, "l:evaluate(z, y) -> vec, vec, vec",
      "l, dl/dz and d2l/dz2 at each pair of a margin z[i] and a label y[i]; vectors of equal length, finite.  softmax "
      "takes a matrix with a row of margins for each class and gives l and the matrix of slopes; margins likewise, "
      "with a row for each margin and then for each further parameter." },
    { "range", range, PNL_METHOD, PNL_NOTHING, "l:range({lo, hi}, {lo, hi}) -> table",
      "Certified intervals {lo, hi} of value, slope, curvature and third derivative over all margins z in the first "
      "interval and admissible labels y in the second (absent: all of them), rounded outward; continuous, smooth (the "
      "slope does not jump), twice_smooth (nor the curvature), convex.  Where it is not continuous, slope bounds what "
      "a record adds to a gradient but not how far its loss moves. Infinite where unbounded: `missing` then says which "
      "sub-expression on which interval." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(l) -> string", "Name and formula." },
    PNL_ROW_END,
};

static void loss_release(void *loss)
{
    pn_loss_free(loss);
}

const pnl_class pnl_loss_class = {
    "pn.loss", loss_release,
    loss_rows, "A loss l(z, y) of a linear predictor z = <x, theta> and a label y.  Immutable.",
    NULL,      NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.loss.names() -> {string, ...}", "The names of the known losses." },
    { "glm", pnl_loss_glm, PNL_FUNCTION, PNL_NOTHING, "pn.loss.glm(function(z, y) ... end, {labels=, name=}) -> loss",
      "A loss typed as a formula of the margin z = <x, theta> and the label y.  The function is called with "
      "symbols, and with a few numbers to see that it is the same for them: Lua takes z == 0 for false without "
      "asking; its expression is simplified, differentiated, bounded and compiled, and runs as fast as a built-in "
      "loss.  Use the operators + - * / ^, pn.exp log log1p expm1 sqrt abs sign min max clamp relu tanh sigmoid "
      "softplus erf sin cos, and pn.where with pn.lt le gt ge in place of if.  labels: a list of the values that "
      "occur, {-1, 1}, or a range {lo=, hi=} that the data set enforces; absent: any labels, in the range that the "
      "data set enforces.  name: how plans and print-outs call it.  For example pn.loss.glm(function(z, y) return "
      "pn.log1p((z-y)^2) end, {labels={lo=-1, hi=1}}).  l.slope_formula and l:range show what was derived and "
      "certified; a slope that is NaN counts as 0, brought into the certified range; where no bound is found the "
      "message says why, and clip= of pn.objective enforces one.  Errors name what came back from the function, "
      "with the place of the mistake." },
    { "margins", pnl_loss_margins, PNL_FUNCTION, PNL_NOTHING,
      "pn.loss.margins{k=, extra=0, f=function(z, w, y) ... end, labels=, name=} -> loss",
      "A loss typed as a formula of k margins z[1] to z[k], of `extra` further parameters w[1] to w[extra] and of the "
      "label y: two-layer networks, ordinal regression, mixtures of experts, factorizations of fixed rank.  theta has "
      "k x p + extra entries: k rows of p, of which z[j] = <x, row j>, then w, the same for every record.  k >= 1, "
      "extra >= 0, k + extra <= 255.  f is called once with lists of symbols and y, loops over them as over any list, "
      "and returns one expression of what glm takes; at most 50000 operations.  It is differentiated in all of z and w "
      "at once, bounded and compiled, and runs over blocks of records.  pn.logsumexp is the stable ln sum exp.  "
      "labels, name: as in glm.  What a record adds to a gradient is certified where intervals bound the slopes, over "
      "z within the set and the records' bound, w in the set's range, and the labels; else clip= of pn.objective "
      "scales each record's gradient in z and w together.  Nothing is taken to be convex.  Smoothness is certified "
      "where intervals bound the second derivatives; obj:hvp has exact products, obj:hessian and solvers of second "
      "order need extra = 0.  A network does not move from theta = 0: give solvers start=.  Where f may jump, or a "
      "bound is missing, l:range and the objective say why.  For example "
      "pn.loss.margins{k=4, extra=5, f=function(z, w, y) local s = w[5]; for j = 1, 4 do s = s + w[j]*pn.tanh(z[j]) "
      "end; return pn.softplus(-y*s) end, labels={-1, 1}}.  Errors name what came back from f, and reading an entry of "
      "z or w that is not there." },
    { "black_box", pnl_loss_black_box, PNL_FUNCTION, PNL_RAW | PNL_CALLS_BACK,
      "pn.loss.black_box{value=function(theta, x, y, row) ... end, values=, lipschitz=, dim=, name=} -> loss",
      "A loss that cannot be traced: called back for every record with the model, the record's features [p], its "
      "label and its position in the data set, from 1; returns a number.  In place of value, values(thetas, x, y, "
      "row) is called once for all points that a record is asked at, the rows of the matrix thetas, and returns a "
      "vector with one number for each: fewer calls, and matrix products inside.  dim: entries of theta where it is "
      "not as long as a record, such as the weights of a network.  It has values and differences, no gradients.  "
      "lipschitz: declared l2 Lipschitz constant in theta, > 0, which solvers enforce.  Guarantees take the loss to "
      "be a function of theta and the record: use row to look up what belongs to that record, nothing else.  The "
      "function sees every record as it is.  What it is given are copies.  An error in it stops the call and "
      "reaches the caller unchanged: what that tells of the records is not paid for, so return nan in private runs, "
      "which counts as no change." },
    { "program", pnl_loss_program, PNL_FUNCTION, PNL_RAW | PNL_PROCESSES,
      "pn.loss.program{command={\"python3\", \"sim.py\"}, lipschitz=, dim=, timeout=, name=} -> loss",
      "A loss that another program computes, such as a simulator, asked over a pipe in lines of text; otherwise as "
      "black_box.  command: the program, looked up in PATH, and its arguments; no shell.  It is started when it is "
      "first asked, once.  It reads a line \"penumbra 1 DIM P\" and answers \"ready\".  Then every line is a request, "
      "\"0.5 -1 | 1 2 3 | 1 | 17\": theta, features, label and position of a record, and it answers each with one "
      "line, the loss: a decimal number, nan or inf.  It must flush its output after every answer, in Python by "
      "print(loss, flush=True); more requests may be waiting already.  At the end of its input it exits.  An answer "
      "must depend on its request alone.  timeout: seconds for one answer, \"ready\" included.  A program that ends, "
      "is late or answers no number is killed, with what it started, and the call raises an error that quotes it, "
      "which private runs do not pay for; the next use starts it anew.  What it writes to its standard error goes "
      "where penumbra's goes.  Ctrl-C stops the call and the program." },
    PNL_ROW_END,
};

void pnl_open_loss(lua_State *L)
{
    pnl_open_class(L, &pnl_loss_class);
    pnl_library(L, "loss", "Losses of a linear predictor.", library_rows);
    pnl_constructors(L, "loss", pn_loss_table(), construct, 0);
    lua_setfield(L, -2, "loss");
}
