/* recipe_match.c -- which column of a table is which of the recipe.  Depends on: recipe.h, core (table.h).
 * Used by: recipe_file.c. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/table.h"
#include "recipe/recipe.h"

static pn_status absent(const pn_words *names, const char *name, bool is_label, const char *owner, pn_err *err)
{
    const char *nearest = NULL;
    char known[400] = "";
    const char *only = names->count == 1 ? ", as one name: sep says what separates them" : "";
    size_t used = 0;

    for (size_t k = 0; k < names->count; k++) {
        const char *other = pn_words_at(names, k);

        nearest = pn_nearer(name, nearest, other);
        if (used < sizeof known - 80)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%.60s", k ? ", " : "", other);
        else if (strcmp(known + used - 3, "...") != 0)
            used += (size_t)snprintf(known + used, sizeof known - used, ", ...");
    }
    return pn_fail(err, PN_EINVAL, "%.300s: there is no column '%.80s'%s%.60s%s%s; it has %s%s", owner, name,
                   nearest ? ", the nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "",
                   is_label ? " (label = false reads a table without labels)" : "", known, only);
}

static void skip_all(size_t *role, size_t count)
{
    for (size_t k = 0; k < count; k++)
        role[k] = PN_RECIPE_SKIP;
}

pn_status pn_recipe_match(const pn_recipe *recipe, const pn_words *names, bool labelled, const char *owner,
                          size_t *role, pn_err *err)
{
    skip_all(role, names->count);
    for (size_t j = 0; j < recipe->count + labelled; j++) {
        const char *name = j < recipe->count ? recipe->columns[j].name : recipe->label.name;
        size_t found = pn_words_find(names, name, strlen(name));

        if (found == PN_NO_WORD)
            return absent(names, name, j == recipe->count, owner, err);
        role[found] = j;
    }
    return PN_OK;
}

pn_status pn_recipe_match_names(const char *const *wanted, size_t count, const pn_words *names, const char *owner,
                                size_t *role, pn_err *err)
{
    skip_all(role, names->count);
    for (size_t j = 0; j < count; j++) {
        size_t found = pn_words_find(names, wanted[j], strlen(wanted[j]));

        if (found == PN_NO_WORD)
            return absent(names, wanted[j], false, owner, err);
        if (role[found] != PN_RECIPE_SKIP)
            return pn_fail(err, PN_EINVAL, "%.300s: column '%.80s' is asked for twice", owner, wanted[j]);
        role[found] = j;
    }
    return PN_OK;
}
