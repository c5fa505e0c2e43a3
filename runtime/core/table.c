/* table.c -- rows by name, and one wording for a name that no row has.  Depends on: table.h.
 * Used by: every room that has a table. */
#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "core/table.h"

#define LONGEST 40 /* of a name that may be a misspelt one */

const void *pn_table_find(const void *rows, const char *name)
{
    for (const pn_row *const *row = rows; *row; row++) {
        if (strcmp((*row)->name, name) == 0)
            return *row;
    }
    return NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to change, add, drop or exchange with their neighbours; for texts of at most LONGEST. */
static size_t distance(const char *a, const char *b)
{
    size_t rows = strlen(a), cols = strlen(b), d[LONGEST + 1][LONGEST + 1];

    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= cols; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[rows][cols];
}

const char *pn_nearer(const char *name, const char *found, const char *other)
{
    size_t length = strlen(name), away;

    if (length > LONGEST || strlen(other) > LONGEST)
        return found;
    away = distance(name, other);
    if (found ? away < distance(name, found) : away < length && away <= (length < 3 ? 1 : length / 3))
        return other;
    return found;
}

pn_status pn_table_refuse(const pn_table *table, const char *caller, const char *name, pn_err *err)
{
    const char *near = NULL;
    char known[PN_ERR_MAX] = "";
    size_t used = 0;

    for (const pn_row *const *row = table->rows; *row; row++) {
        int n = used < sizeof known
                    ? snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", (*row)->name)
                    : 0;

        used += n > 0 ? (size_t)n : 0;
        near = pn_nearer(name, near, (*row)->name);
    }
    return pn_fail(err, PN_EUNSUPPORTED, "%s: there is no %s \"%.60s\"%s%s; known are %s", caller, table->kind, name,
                   near ? ", the nearest is " : "", near ? near : "", known);
}

typedef struct owner {
    char text[80];
} owner;

static owner owner_of(const pn_table *table, const char *name)
{
    owner of;

    (void)snprintf(of.text, sizeof of.text, "%s.%s", table->library, name);
    return of;
}

const void *pn_table_open(const pn_table *table, const char *caller, const char *name, pn_arg *args, pn_status *status,
                          pn_err *err)
{
    const pn_row *row = pn_table_find(table->rows, name);

    *status = row ? pn_args_check(owner_of(table, name).text, row->params, args, err)
                  : pn_table_refuse(table, caller, name, err);
    return *status == PN_OK ? row : NULL;
}

pn_status pn_table_size(const pn_table *table, const char *name, const char *what, size_t value, pn_err *err)
{
    return pn_size_check(owner_of(table, name).text, what, value, err);
}
