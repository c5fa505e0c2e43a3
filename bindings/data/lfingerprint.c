/* lfingerprint.c -- pn.data.synthetic.fingerprint: the lower-bound instance, its lemma and its attack.
 * Depends on: ldata.h, lnumbers.h, data/fingerprint.h.  Used by: ldata_load.c. */
#include <math.h>

#include "bindings/core/getter.h"
#include "bindings/data/ldata.h"
#include "bindings/numeric/lnumbers.h"
#include "core/vault.h"
#include "data/fingerprint.h"

static const pnl_class fingerprint_class;

enum { SIZE_M, USERS, COLUMNS, INFORMATIVE, RIDGE, FINGERPRINT_PARAMS };

static const pn_param fingerprint_params[] = {
    [SIZE_M] = { "m", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
                 "size, 3 to 40: m/ln m users, about m^3/ln m records and m^2 columns; the others override" },
    [USERS] = { "users", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "w, users in a data set; the code has one more" },
    [COLUMNS] = { "p", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "columns" },
    [INFORMATIVE] = { "informative", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "p0, columns that carry the code" },
    [RIDGE] = { "ridge", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "k, Hadamard rows: a power of two, at least p" },
    PN_PARAM_END,
};

static pn_fingerprint *code_of(lua_State *L)
{
    return pnl_check(L, 1, &fingerprint_class);
}

/* The user at `index`, from 1 in Lua. */
static size_t user_at(lua_State *L, int index, const pn_fingerprint *code, const char *owner)
{
    size_t user = pnl_check_count(L, index, owner);

    if (user > code->users + 1)
        pnl_error(L, "%s must be from 1 to %zu, got %zu", owner, code->users + 1, user);
    return user - 1;
}

static pn_vec theta_at(lua_State *L, int index, const pn_fingerprint *code, const char *owner)
{
    pn_vec theta = pnl_check_vec(L, index);

    if (theta.n != code->p)
        pnl_error(L, "%s: theta has %zu entries, the code has %zu columns", owner, theta.n, code->p);
    return theta;
}

static void require(lua_State *L, const pn_arg *args)
{
    for (int i = USERS; i <= RIDGE; i++) {
        if (!args[i].given)
            pnl_error(L, "data.synthetic.fingerprint: give m, or users, p, informative and ridge; %s is missing",
                      fingerprint_params[i].name);
    }
}

static int fingerprint(lua_State *L)
{
    static const char *const extra[] = { "seed", NULL };
    static const char owner[] = "data.synthetic.fingerprint";
    pn_fingerprint_options options = { 0 };
    pn_arg args[FINGERPRINT_PARAMS];
    pn_fingerprint **slot;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, owner, fingerprint_params, args, extra);
    pnl_status(L, pn_args_check(owner, fingerprint_params, args, &err), &err);
    if (args[SIZE_M].given)
        pnl_status(L, pn_fingerprint_scaled(&options, args[SIZE_M].count, &err), &err);
    else
        require(L, args);
    options.users = args[USERS].given ? args[USERS].count : options.users;
    options.p = args[COLUMNS].given ? args[COLUMNS].count : options.p;
    options.informative = args[INFORMATIVE].given ? args[INFORMATIVE].count : options.informative;
    options.ridge = args[RIDGE].given ? args[RIDGE].count : options.ridge;
    options.seed = pnl_data_seed(L, owner);
    slot = (pn_fingerprint **)pnl_newbox(L, &fingerprint_class);
    pnl_status(L, pn_fingerprint_new(slot, &options, &err), &err);
    return 1;
}

/* ---- fields ---- */

PNL_GETTER(get_users, code_of(L)->users);
PNL_GETTER(get_p, code_of(L)->p);
PNL_GETTER(get_informative, code_of(L)->informative);
PNL_GETTER(get_ridge, code_of(L)->ridge);
PNL_GETTER(get_n, code_of(L)->ridge + code_of(L)->users);

static int get_tau(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);

    lua_pushnumber(L, (double)code->ridge / ((double)code->users * (double)code->p));
    return 1;
}

static int get_biases(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);

    pnl_view_vec(L, code->bias, code->p, 1);
    return 1;
}

static int get_code(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);

    pnl_view_mat(L, code->code, code->users + 1, code->p, 1);
    return 1;
}

static int get_permutation(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);

    lua_createtable(L, (int)code->p, 0);
    for (size_t j = 0; j < code->p; j++) {
        lua_pushinteger(L, (lua_Integer)code->place[j] + 1);
        lua_rawseti(L, -2, (lua_Integer)j + 1);
    }
    pnl_list(L);
    return 1;
}

/* ---- methods ---- */

static int dataset(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);
    size_t user = user_at(L, 2, code, "fingerprint:dataset: the user to leave out");
    pn_dataset **slot = pnl_new_data(L);
    pn_err err;

    return pnl_data_made(L, slot, PN_WITH_RECORDS(pn_fingerprint_dataset(slot, code, user, &err)), &err);
}

static int consensus(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);
    size_t user = user_at(L, 2, code, "fingerprint:consensus: the user to leave out");

    lua_pushnumber(L, pn_fingerprint_consensus(code, user, pnl_new_vec(L, code->p)));
    return 2;
}

static int theta(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);
    size_t user = user_at(L, 2, code, "fingerprint:theta: the user to leave out");
    double *point = pnl_new_vec(L, code->p);

    (void)pn_fingerprint_consensus(code, user, point);
    for (size_t j = 0; j < code->p; j++)
        point[j] /= (double)code->p;
    return 1;
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static int lemma(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);
    pn_vec point = theta_at(L, 2, code, "fingerprint:lemma");
    size_t user = user_at(L, 3, code, "fingerprint:lemma: the user left out");
    pn_fingerprint_lemma found;
    pn_err err;

    pnl_status(L, pn_fingerprint_check(code, user, point.data, &found, &err), &err);
    lua_createtable(L, 0, 7);
    set_number(L, "loss", found.loss);
    set_number(L, "l1", found.l1);
    set_number(L, "tau", found.tau);
    set_number(L, "disagreed", found.disagreed);
    set_number(L, "guaranteed", found.guaranteed);
    set_number(L, "agreed", found.agreed);
    lua_pushboolean(L, found.holds);
    lua_setfield(L, -2, "holds");
    pnl_list(L);
    return 1;
}

static int trace(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);
    pn_vec point = theta_at(L, 2, code, "fingerprint:trace");

    pn_fingerprint_trace(code, point.data, pnl_new_vec(L, code->users + 1));
    return 1;
}

static int to_string(lua_State *L)
{
    const pn_fingerprint *code = code_of(L);

    lua_pushfstring(L, "fingerprint(users=%d + 1, p=%d, informative=%d, ridge=%d): data sets of %d records",
                    (int)code->users, (int)code->p, (int)code->informative, (int)code->ridge,
                    (int)(code->ridge + code->users));
    return 1;
}

static const pnl_row fingerprint_rows[] = {
    { "users", get_users, PNL_FIELD, PNL_NOTHING, "f.users -> integer", "w: users in a data set; the code has w + 1." },
    { "p", get_p, PNL_FIELD, PNL_NOTHING, "f.p -> integer", "Number of columns." },
    { "informative", get_informative, PNL_FIELD, PNL_NOTHING, "f.informative -> integer",
      "Columns that carry the code; the others are constant." },
    { "ridge", get_ridge, PNL_FIELD, PNL_NOTHING, "f.ridge -> integer", "k: Hadamard records, with label 0." },
    { "n", get_n, PNL_FIELD, PNL_NOTHING, "f.n -> integer", "Records of a data set, k + w." },
    { "tau", get_tau, PNL_FIELD, PNL_NOTHING, "f.tau -> number", "k / (w p)." },
    { "biases", get_biases, PNL_FIELD, PNL_NOTHING, "f.biases -> vec",
      "P(+1) of each column, NaN for constant ones: what the attacker knows." },
    { "code", get_code, PNL_FIELD, PNL_NOTHING, "f.code -> mat", "The rows of all w + 1 users, -1 and 1." },
    { "permutation", get_permutation, PNL_FIELD, PNL_NOTHING, "f.permutation -> {integer, ...}",
      "Where each column of the construction went; the first `informative` carry the code." },
    { "dataset", dataset, PNL_METHOD, PNL_NOTHING, "f:dataset(i) -> data",
      "The data set without user i: k records (Hadamard row, 0) and w records (user's row, 1).  Any two of them are "
      "neighbours: they differ in one record.  Bounds: linf 1, labels [0, 1]." },
    { "consensus", consensus, PNL_METHOD, PNL_NOTHING, "f:consensus(i) -> vec, number",
      "The sign that all users but i agree on, 0 where they do not, and the fraction of columns without one." },
    { "theta", theta, PNL_METHOD, PNL_NOTHING, "f:theta(i) -> vec", "theta*: the consensus over p." },
    { "lemma", lemma, PNL_METHOD, PNL_NOTHING,
      "f:lemma(theta, i) -> {loss=, l1=, tau=, disagreed=, guaranteed=, agreed=, holds=}",
      "Lemma 5.10 at theta: a small loss forces the signs of theta to follow the consensus on at least `guaranteed` of "
      "the columns; `agreed` is the fraction on which they do.  loss is 2 n f(theta)." },
    { "trace", trace, PNL_METHOD, PNL_NOTHING, "f:trace(theta) -> vec",
      "The tracing attack: a score for each of the w + 1 users, high for those in the data.  Source: Tardos (2008)." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(f) -> string", "Its sizes in one line." },
    PNL_ROW_END,
};

static const pnl_class fingerprint_class = {
    "pn.fingerprint",
    (void (*)(void *))pn_fingerprint_free,
    fingerprint_rows,
    "The lower-bound instance for private LASSO: a fingerprinting code as data.",
    NULL,
    NULL
};

void pnl_open_fingerprint(lua_State *L)
{
    pnl_open_class(L, &fingerprint_class);
    lua_pushcfunction(L, fingerprint);
    lua_setfield(L, -2, "fingerprint");
    pnl_reference(
        L, "data.synthetic", "fingerprint", PNL_NOTHING,
        "pn.data.synthetic.fingerprint{m=, users=, p=, informative=, ridge=, seed=} -> fingerprint",
        "The instance behind the lower bound n^(-2/3) for private LASSO: a Tardos code in a few of p columns, Hadamard "
        "rows as a ridge.  Minimising the loss reveals who is in the data; f:trace shows it.",
        "Talwar, Thakurta, Zhang (2014), Theorem 5.9; Tardos (2008)", fingerprint_params);
}
