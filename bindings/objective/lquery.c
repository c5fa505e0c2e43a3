/* lquery.c -- pn.query: noisy counts, sums, means, histograms, quantiles and descriptions of the columns of a data set.
 * Depends on: lquery.h, objective/passes/query.h.  Used by: module.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/data/ldata.h"
#include "bindings/objective/lquery.h"
#include "core/vault.h"
#include "objective/passes/query.h"
#include "bindings/privacy/lsession.h"
#include "privacy/ledger/ledger.h"

static const char *const data_class[] = { "pn.dataset", NULL };
static const char *const by_hand[] = { "ledger", "rng", "label", NULL };

#define DATA_PARAM                                                                                                     \
    {                                                                                                                  \
        "data", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, data_class, "the records"                                         \
    }
#define EPSILON_PARAM                                                                                                  \
    {                                                                                                                  \
        "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "what it costs: alone for Laplace noise"              \
    }

/* The same places for all kinds; the names differ. */
enum { DATA, COLUMNS, FIRST, SECOND, EPSILON, DELTA, RHO, BINS, SHARES, MOST };

static const pn_param box_params[] = {
    DATA_PARAM,
    { "columns", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "names or numbers of columns, from 1; \"label\" or 0 is the label" },
    { "low", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "lower ends of their public ranges; a number for one column" },
    { "high", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "upper ends of their public ranges" },
    EPSILON_PARAM,
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "with epsilon: Gaussian noise" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "or rho of zero-concentrated privacy: Gaussian noise" },
    PN_PARAM_END,
};

static const pn_param histogram_params[] = {
    DATA_PARAM,
    { "column", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL,
      "name or number of the column, from 1; \"label\" or 0 is the label" },
    { "edges", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "increasing: one more than there are bins" },
    { "bins", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "number of bins, when edges is {low, high}: of equal width" },
    EPSILON_PARAM,
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "with epsilon: Gaussian noise" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "or rho of zero-concentrated privacy: Gaussian noise" },
    PN_PARAM_END,
};

static const pn_param describe_params[] = {
    DATA_PARAM,
    { "columns", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "names or numbers, 0 is the label; all when left out" },
    { "low", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "lower ends of their public ranges, one number for all; what is enforced (d.bounds) when left out" },
    { "high", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "upper ends, as low" },
    EPSILON_PARAM,
    { "delta", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL, "with epsilon: Gaussian noise" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "or rho of zero-concentrated privacy: Gaussian noise" },
    { "bins", PN_COUNT, PN_OPTIONAL, PN_ANY, 32.0, NULL, "of the histogram behind the quantiles, 2 to 256" },
    { "quantiles", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "which, from 0 to 1; {0.25, 0.5, 0.75} when left out" },
    PN_PARAM_END,
};

static const pn_param quantile_params[] = {
    DATA_PARAM,
    { "column", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL,
      "name or number of the column, from 1; \"label\" or 0 is the label" },
    { "candidates", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "increasing: what may be answered" },
    { "q", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "0.5 for the median" },
    EPSILON_PARAM,
    { "lean", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.0, NULL,
      "each candidate further from 0 weighs exp(-lean) of the one before, whatever the records are: for grids that "
      "reach far" },
    PN_PARAM_END,
};

typedef struct kind {
    const char *name;
    pn_query_kind kind;
    const pn_param *params;
    const char *signature, *doc;
} kind;

#define PRICE "epsilon=, delta=, rho=, ledger=, rng=, label="

static const char source[] = "Dwork, Roth (2014), sections 3.3 and 3.4; Smith (2011)";

static const kind kinds[] = {
    { "count", PN_QUERY_COUNT, box_params,
      "pn.query.count{data=, columns=, low=, high=, " PRICE "} -> {value=, deviation=, event=}",
      "How many records have all these columns within [low, high], with noise.  One record moves it by 1.  Charges the "
      "ledger once, before noise is drawn; deviation is the standard deviation of the noise, the only error." },
    { "sum", PN_QUERY_SUM, box_params,
      "pn.query.sum{data=, columns=, low=, high=, " PRICE "} -> {value=, deviation=, event=}",
      "The sum of each column, its values clamped to [low, high], with noise: a number for one column, else vectors.  "
      "A record moves a column by high - low (replace_one) or max(|low|, |high|), the certified sensitivity; all "
      "columns are one release.  deviation: standard deviation of the noise.  Values are rounded to 2^-24 of the range "
      "first." },
    { "mean", PN_QUERY_MEAN, box_params,
      "pn.query.mean{data=, columns=, low=, high=, " PRICE "} -> {value=, deviation=, event=}",
      "The mean of each column, its values clamped to [low, high], with noise: the noisy sum over the number of "
      "records, which is public.  Error for add_remove neighbours, for whom it is not." },
    { "histogram", PN_QUERY_HISTOGRAM, histogram_params,
      "pn.query.histogram{data=, column=, edges=, bins=, " PRICE "} -> {value=, deviation=, event=}",
      "How many records a column has in each bin [edge, next edge), with noise: a vec.  What lies beyond the edges "
      "counts in the first and last bin.  One record moves two counts by 1 (add_remove: one)." },
    { "quantile", PN_QUERY_QUANTILE, quantile_params,
      "pn.query.quantile{data=, column=, candidates=, q=, epsilon=, lean=, ledger=, rng=, label=} -> {value=, "
      "rank_error=, event=}",
      "The candidate whose rank in the column is nearest to q n, by the exponential mechanism.  rank_error: with "
      "probability 0.95 its rank is off by at most so many records more than that of the best candidate,  2 "
      "ln(candidates / 0.05) / epsilon.  Candidates beyond all records tie, and many of them win by their number: lean "
      "weighs them down." },
    { "describe", PN_QUERY_DESCRIBE, describe_params,
      "pn.query.describe{data=, columns=, low=, high=, bins=, quantiles=, " PRICE "} -> table",
      "d:describe{...} as a question: what each column looks like within its public range, for one charge." },
};

#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- reading ---- */

typedef struct question {
    pn_query query;
    const kind *of;
    char owner[32];
    const char *label;
    pn_vec shares; /* of a description */
    int ledger_at, rng_at;
} question;

static bool has_column(const kind *of)
{
    return of->kind == PN_QUERY_HISTOGRAM || of->kind == PN_QUERY_QUANTILE;
}

static size_t column_of(lua_State *L, const question *ask, double number)
{
    if (!(number >= 0.0 && number < 0x1p31 && number == floor(number)))
        pnl_error(L, "%s: columns are whole numbers from 1, and 0 for the label; got %g", ask->owner, number);
    return (size_t)number;
}

/* Columns and their ranges, in memory that the stack keeps. */
static void read_box(lua_State *L, question *ask, const pn_arg *args)
{
    pn_vec columns = args[COLUMNS].vector, low = args[FIRST].vector, high = args[SECOND].vector;
    size_t *numbers = lua_newuserdatauv(L, (columns.n + 1) * sizeof *numbers, 0);

    if (low.n != columns.n || high.n != columns.n)
        pnl_error(L, "%s: columns has %zu entries, low %zu and high %zu; give a range for each", ask->owner, columns.n,
                  low.n, high.n);
    for (size_t c = 0; c < columns.n; c++)
        numbers[c] = column_of(L, ask, columns.data[c]);
    ask->query.columns = numbers;
    ask->query.count = columns.n;
    ask->query.low = low.data;
    ask->query.high = high.data;
}

/* The label where column is 0. */
static double enforced(const pn_dataset *data, size_t column, bool high)
{
    double most = data->bounds.norm[PN_LINF];

    if (column == 0)
        return high ? data->bounds.label_high : data->bounds.label_low;
    return high ? most : -most;
}

/* One number stands for all columns; what is not given is what is enforced. */
static double range_end(const pn_vec *given, size_t c, double otherwise)
{
    return given->n == 0 ? otherwise : given->data[given->n == 1 ? 0 : c];
}

static void read_shares(lua_State *L, question *ask, const pn_arg *given)
{
    static const double quarters[] = { 0.25, 0.5, 0.75 };

    ask->shares = given->given ? given->vector : (pn_vec){ (double *)quarters, 3 };
    for (size_t k = 0; k < ask->shares.n; k++) {
        if (!(ask->shares.data[k] >= 0.0 && ask->shares.data[k] <= 1.0) || ask->shares.n > 100)
            pnl_error(L, "%s: quantiles must be at most 100 numbers from 0 to 1, got %g", ask->owner,
                      ask->shares.data[k]);
    }
}

/* Columns, all when none are given, and their ranges. */
static void read_described(lua_State *L, question *ask, const pn_arg *args)
{
    const pn_dataset *data = ask->query.data;
    pn_vec columns = args[COLUMNS].vector, low = args[FIRST].vector, high = args[SECOND].vector;
    size_t count = args[COLUMNS].given ? columns.n : data->p < 4096 ? data->p + 1 : 4097, *numbers;
    double *lows, *highs;

    if ((low.n > 1 && low.n != count) || (high.n > 1 && high.n != count))
        pnl_error(L,
                  "%s: there are %zu columns, low has %zu entries and high %zu; give a range for each, or one for all",
                  ask->owner, count, low.n, high.n);
    numbers = lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
    lows = lua_newuserdatauv(L, (count + 1) * sizeof *lows, 0);
    highs = lua_newuserdatauv(L, (count + 1) * sizeof *highs, 0);
    for (size_t c = 0; c < count; c++) {
        numbers[c] = args[COLUMNS].given ? column_of(L, ask, columns.data[c]) : (c + 1) % count;
        lows[c] = range_end(&low, c, enforced(data, numbers[c], false));
        highs[c] = range_end(&high, c, enforced(data, numbers[c], true));
        if (isnan(lows[c]) || isnan(highs[c]))
            pnl_error(L,
                      "%s: nothing public bounds column %zu; give low= and high= from its meaning, not from the "
                      "records, or %s",
                      ask->owner, numbers[c],
                      numbers[c] == 0 ? "clip the labels, data:clip_labels(low, high)" : PN_HOW_TO_BOUND_ROWS);
    }
    ask->query.columns = numbers;
    ask->query.count = count;
    ask->query.low = lows;
    ask->query.high = highs;
    ask->query.bins = args[BINS].count;
    read_shares(L, ask, &args[SHARES]);
}

/* {low, high} and the number of bins become edges. */
static void divide(lua_State *L, question *ask, pn_vec ends, size_t bins)
{
    double *edges;

    if (ends.n != 2 || bins > (size_t)1 << 20)
        pnl_error(L, "%s: bins goes with edges = {low, high}, and is at most 2^20", ask->owner);
    edges = pnl_new_vec(L, bins + 1);
    for (size_t i = 0; i <= bins; i++)
        edges[i] = i == bins ? ends.data[1] : ends.data[0] + (ends.data[1] - ends.data[0]) * ((double)i / (double)bins);
    ask->query.points = edges;
    ask->query.point_count = bins + 1;
}

static void read_points(lua_State *L, question *ask, const pn_arg *args)
{
    size_t *number = lua_newuserdatauv(L, sizeof *number, 0);
    bool histogram = ask->of->kind == PN_QUERY_HISTOGRAM;

    *number = column_of(L, ask, args[COLUMNS].real);
    ask->query.columns = number;
    ask->query.count = 1;
    ask->query.points = args[FIRST].vector.data;
    ask->query.point_count = args[FIRST].vector.n;
    if (histogram && args[SECOND].given)
        divide(L, ask, args[FIRST].vector, args[SECOND].count);
    if (!histogram) {
        ask->query.quantile = args[SECOND].real;
        ask->query.lean = args[DELTA].given ? args[DELTA].real : 0.0; /* a quantile has no delta */
    }
}

const char *pnl_query_label(lua_State *L, const char *owner)
{
    int type = lua_istable(L, 1) ? lua_getfield(L, 1, "label") : (lua_pushnil(L), LUA_TNIL);

    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "%s: label must be a string, got %s", owner, pnl_got(L, -1));
    if (type == LUA_TSTRING && lua_rawlen(L, -1) > 100)
        pnl_error(L, "%s: label must have at most 100 bytes", owner);
    return type == LUA_TNIL ? owner : lua_tostring(L, -1);
}

static void read_question(lua_State *L, question *ask)
{
    pn_arg args[MOST + 1];
    pn_err err;

    (void)snprintf(ask->owner, sizeof ask->owner, "query.%s", ask->of->name);
    pnl_query_names(L, ask->owner, has_column(ask->of) ? "column" : "columns");
    pnl_options(L, 1, ask->owner, ask->of->params, args, by_hand);
    pnl_status(L, pn_args_check(ask->owner, ask->of->params, args, &err), &err);
    ask->query.kind = ask->of->kind;
    ask->query.data = args[DATA].object;
    if (ask->of->params == box_params)
        read_box(L, ask, args);
    else if (ask->of->params == describe_params)
        read_described(L, ask, args);
    else
        read_points(L, ask, args);
    ask->query.price.epsilon = args[EPSILON].given ? args[EPSILON].real : NAN;
    ask->query.price.delta = ask->of->params != quantile_params && args[DELTA].given ? args[DELTA].real : NAN;
    ask->query.price.rho = ask->of->params != quantile_params && args[RHO].given ? args[RHO].real : NAN;
    ask->label = pnl_query_label(L, ask->owner);
    pnl_push_ledger(L, 1, ask->owner);
    ask->ledger_at = lua_gettop(L);
    if (!lua_istable(L, 1) || lua_getfield(L, 1, "rng") == LUA_TNIL)
        lua_pushnil(L);
    ask->rng_at = lua_gettop(L);
    (void)pnl_rng(L, ask->rng_at); /* makes the one that is used when there is no option */
}

/* ---- answering ---- */

pn_ledger *pnl_query_ledger(lua_State *L, int at, const pn_bill *account, bool simulated, const char *owner)
{
    pn_ledger *given = pnl_test(L, at, &pnl_ledger_class);

    if (!given && !lua_isnil(L, at))
        pnl_error(L, "%s: ledger must be an open pn.ledger, got %s", owner, pnl_got(L, at));
    if (!simulated || !given)
        given = pnl_bill_ledger(L, account, given, owner);
    if (!given)
        pnl_error(L,
                  "%s: a query is paid from a ledger; give ledger = pn.ledger{epsilon = ...}, or the data a pn.budget",
                  owner);
    return given;
}

static int answer_to(lua_State *L, const kind *of)
{
    question asked = { .of = of };
    pn_query_answer answer = { 0 };
    pn_spending spending;
    pn_bill *account;
    pn_ledger *ledger;
    pn_rng *rng;
    pn_status status;
    void **event;
    size_t n;
    int values;
    pn_err err;

    read_question(L, &asked);
    n = pn_query_values(&asked.query);
    if (n == 0 || n > (size_t)1 << 20) /* no edges, say: refused below */
        n = 1;
    answer.values = pnl_new_vec(L, n);
    answer.deviations = pnl_new_vec(L, n);
    values = lua_gettop(L) - 1;
    event = pnl_newbox(L, &pnl_event_class);
    account = pnl_bill(L, asked.query.data);
    /* Looked up last: memory may run a finalizer, which may close them. */
    rng = pnl_rng(L, asked.rng_at);
    ledger = pnl_query_ledger(L, asked.ledger_at, account, pn_rng_simulated(rng), asked.owner);
    pn_spending_init(&spending, account, pn_rng_simulated(rng));
    status =
        PN_SPENDING(&spending, PN_WITH_RECORDS(pn_query_ask(&asked.query, ledger, asked.label, rng, &answer, &err)));
    pnl_status(L, pnl_bill_refused(account, ledger, asked.owner, status, &err), &err);
    *event = answer.event;
    if (asked.of->kind == PN_QUERY_DESCRIBE) {
        pnl_push_description(L, &asked.query, pn_ledger_budget(ledger), &answer, asked.shares);
        return 1;
    }
    lua_createtable(L, 0, 4);
    lua_insert(L, -2);
    lua_setfield(L, -2, "event");
    for (int i = 0; i < 2; i++) {
        if (asked.of->kind == PN_QUERY_QUANTILE && i == 1)
            lua_pushnumber(L, answer.rank_error);
        else if (n == 1 && asked.of->kind != PN_QUERY_HISTOGRAM)
            lua_pushnumber(L, i == 0 ? answer.values[0] : answer.deviations[0]);
        else if (i == 0)
            lua_pushvalue(L, values);
        else if (asked.of->kind == PN_QUERY_HISTOGRAM)
            lua_pushnumber(L, answer.deviations[0]);
        else
            lua_pushvalue(L, values + 1);
        lua_setfield(L, -2, i == 0 ? "value" : asked.of->kind == PN_QUERY_QUANTILE ? "rank_error" : "deviation");
    }
    pnl_list(L);
    return 1;
}

/* upvalue 1: the kind */
static int ask(lua_State *L)
{
    return answer_to(L, lua_touserdata(L, lua_upvalueindex(1)));
}

int pnl_data_describe(lua_State *L)
{
    (void)pnl_check(L, 1, &pnl_dataset_class);
    lua_settop(L, 2);
    lua_pushnil(L); /* no columns by place */
    lua_insert(L, 2);
    return answer_to(L, &kinds[KINDS - 1]);
}

void pnl_open_query(lua_State *L)
{
    static const pnl_row none[] = { PNL_ROW_END };

    pnl_library(
        L, "query",
        "Questions about the columns of a data set, answered with noise whose amount follows from public ranges.",
        none);
    for (size_t i = 0; i < KINDS; i++) {
        lua_pushlightuserdata(L, (void *)(size_t)&kinds[i]);
        lua_pushcclosure(L, ask, 1);
        lua_setfield(L, -2, kinds[i].name);
        pnl_reference(L, "query", kinds[i].name, PNL_PAID, kinds[i].signature, kinds[i].doc, source, kinds[i].params);
    }
    pnl_open_levels(L);
    lua_setfield(L, -2, "query");
}
