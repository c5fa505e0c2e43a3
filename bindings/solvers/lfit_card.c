/* lfit_card.c -- fit:card(): what should be known of a model where it is used, and what it does not promise.
 * Depends on: lsolve.h, lrecipe.h, lprint.h, model/model_use.h.  Used by: lfit.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/recipe/lrecipe.h"
#include "bindings/solvers/lsolve.h"
#include "model/model_use.h"
#include "receipt/receipt.h"

static void add_what(luaL_Buffer *text, const pn_model_about *about, const pn_recipe *recipe)
{
    static const char *const says[PN_LINK_COUNT] = {
        "margins z = <x, theta>, of which its own formula makes the rest",
        "a number, linear in the features",
        "a mean, exp of a number that is linear in the features",
        "one of two classes; it is no likelihood and gives no probabilities",
        "one of two classes, and a probability of each",
        "one of several classes, and a probability of each",
    };
    const pn_recipe_label *label = recipe && recipe->label.kind != PN_LABEL_NONE ? &recipe->label : NULL;

    pnl_add_format(text, "\n  predicts   %s%s%.80s", says[pn_model_link_of(about->loss, about->margins)],
                   label ? "; label " : "", label ? label->name : "");
    pnl_add_format(text, "\n  loss       %.80s%s%s%s", about->loss, about->parameters[0] ? "(" : "", about->parameters,
                   about->parameters[0] ? ")" : "");
    if (about->set[0])
        pnl_add_format(text, "\n  set        theta was kept in %s", about->set);
    if (about->regulariser[0])
        pnl_add_format(text, "\n  penalty    %s", about->regulariser);
}

static void add_run(luaL_Buffer *text, const pn_fit *fit, const pn_model_about *about)
{
    pnl_add_format(text, "\n  made by    %.80s, %zu of %zu steps%s%.80s, penumbra %.80s", about->solver, fit->steps,
                   about->iterations, fit->stopped ? ", stopped: " : "", fit->stopped ? fit->stopped : "",
                   about->version ? about->version : pn_version());
    pnl_add_format(text, "\n  numbers    %zu in theta, %zu not zero", fit->p, pnl_fit_nonzeros(fit));
}

static void add_records(luaL_Buffer *text, const pn_model_about *about)
{
    char bound[PNL_NUMBER_BYTES];

    pnl_add_format(text, "\n  records    %zu, a record is a row", about->records);
    for (int lp = 0; lp < PN_LP_COUNT; lp++) {
        if (!isnan(about->row_bound[lp]))
            pnl_add_format(text, "%s%s <= %s", lp == 0 ? "; enforced of rows: " : ", ", pn_lp_name((pn_lp)lp),
                           pnl_number_text(bound, about->row_bound[lp], 6));
    }
    if (!isnan(about->label_low) && !isnan(about->label_high))
        pnl_add_format(text, "; of labels: %g to %g", about->label_low, about->label_high);
}

/* ---- privacy ---- */

static void add_privacy(luaL_Buffer *text, const pn_fit *fit, const pn_model_about *about)
{
    char privacy[200];

    pnl_fit_say_privacy(fit, about, privacy, sizeof privacy);
    pnl_add_format(text, "\n  privacy    %s", privacy);
    if (about->declared[0])
        pnl_add_format(text, "\n  public     %s: " PNL_DECLARED, about->declared);
    if (!fit->is_private)
        return;
    pnl_add_format(text, "\n  compares   %s", pn_relation_in_words(fit->neighbours));
    pnl_add_format(text, "\n  accountant %.80s", about->accountant);
    if (fit->charged_epsilon < fit->epsilon || fit->charged_rho < fit->rho)
        luaL_addstring(text, "\n  charged    less than this, for the steps that were made: no guarantee");
}

static void add_limits(luaL_Buffer *text, const pn_fit *fit, const pn_model_about *about, const pn_recipe *recipe)
{
    luaL_addstring(text, "\nWhat this does not say");
    if (!fit->is_private)
        luaL_addstring(text, "\n  - Nothing protects the records: theta may reveal any of them.");
    else if (fit->simulated)
        luaL_addstring(text, "\n  - The noise was simulated (seeded): whoever knows the seed can remove it.  It "
                             "protects nobody; use the model for trials, and do not hand it over.");
    else
        luaL_addstring(text, "\n  - The guarantee covers one record.  For k records of one person or household "
                             "epsilon is k times as large, and delta grows faster.");
    if (about->declared[0])
        luaL_addstring(
            text, "\n  - Of records that were declared public nothing is protected, and no ledger sees whether the "
                  "same people are in the private ones: who declared them answers for it.");
    if (about->raw)
        luaL_addstring(
            text, "\n  - Its file also holds values computed from the records without noise: the file is not private.");
    if (recipe)
        pnl_add_format(text,
                       "\n  - Values beyond the ranges were clipped to them, and unlisted categories became \"other\", "
                       "in training and in prediction alike.  %s are taken to be public; if they were read off the "
                       "records, %s.",
                       recipe->estimated.columns.count > 0
                           ? "Ranges and levels that were estimated cost what is said above, beside the training; the "
                             "others"
                           : "The ranges",
                       recipe->estimated.columns.count > 0 ? "no price here includes that"
                                                           : "this price does not include that");
    else
        luaL_addstring(text, "\n  - The model has no recipe: it does not know how its features were made of what was "
                             "measured, nor whether rows or labels were clipped to reach the bounds above.");
    luaL_addstring(text, "\n  - The price covers this training alone.  Other fits on the same records, a choice among "
                         "them, and figures computed from the records to judge the model (accuracy, risk) cost extra.");
    luaL_addstring(text,
                   "\n  - It does not say how well the model predicts: measure that on records it was not trained on.");
}

/* ---- the whole ---- */

static void add_lines_of(lua_State *L, luaL_Buffer *text, const pn_recipe *recipe)
{
    luaL_addstring(text, "\nWhat it looks at\n  ");
    pnl_recipe_push_text(L, recipe);
    luaL_addvalue(text);
}

int pnl_fit_card(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_recipe *recipe;
    pn_model_about about;
    luaL_Buffer text;

    lua_settop(L, 1);
    pnl_fit_about(L, &about);
    recipe = pnl_push_recipe(L, about.recipe);
    luaL_buffinit(L, &text);
    luaL_addstring(&text, "Model card");
    add_what(&text, &about, recipe);
    add_run(&text, fit, &about);
    add_records(&text, &about);
    add_privacy(&text, fit, &about);
    if (recipe)
        add_lines_of(L, &text, recipe);
    add_limits(&text, fit, &about, recipe);
    luaL_addchar(&text, '\n');
    luaL_pushresult(&text);
    pnl_wrap_lines(L);
    return 1;
}
