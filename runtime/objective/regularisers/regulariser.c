/* regulariser.c -- the table of regularisers, reference counts, and the checked doors.
 * Depends on: regulariser.h.  Used by: objective.c, bindings. */
#include <stdio.h>
#include <string.h>

#include "objective/regularisers/formula_regulariser.h"

extern const pn_regulariser_ops pn_regulariser_none, pn_regulariser_l2, pn_regulariser_l1, pn_regulariser_elastic_net,
    pn_regulariser_group, pn_regulariser_nuclear, pn_regulariser_nonconvex;

static const pn_regulariser_ops *const regulariser_table[] = {
    &pn_regulariser_none,  &pn_regulariser_l2,      &pn_regulariser_l1,        &pn_regulariser_elastic_net,
    &pn_regulariser_group, &pn_regulariser_nuclear, &pn_regulariser_nonconvex, NULL,
};

const pn_regulariser_ops *const *pn_regulariser_table(void)
{
    return regulariser_table;
}

static void list_names(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; regulariser_table[i] && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", regulariser_table[i]->name);

        used += n > 0 ? (size_t)n : 0;
    }
}

pn_status pn_regulariser_new(pn_regulariser **out, const char *name, pn_arg *args, pn_err *err)
{
    char owner[64], known[256];

    *out = NULL;
    for (size_t i = 0; regulariser_table[i]; i++) {
        const pn_regulariser_ops *row = regulariser_table[i];
        pn_status status;

        if (strcmp(row->name, name) != 0)
            continue;
        (void)snprintf(owner, sizeof owner, "reg.%s", name);
        status = pn_args_check(owner, row->params, args, err);
        if (status != PN_OK)
            return status;
        return row->formula ? pn_formula_regulariser_new(out, row, args, err) : row->create(out, args, err);
    }
    list_names(known, sizeof known);
    return pn_fail(err, PN_EUNSUPPORTED, "reg: there is no regulariser \"%.60s\"; known are %s", name, known);
}

bool pn_regulariser_in_table(const pn_regulariser *regulariser)
{
    size_t i = 0;

    while (regulariser_table[i] && regulariser_table[i] != regulariser->row)
        i++;
    return regulariser_table[i] != NULL;
}

pn_regulariser *pn_regulariser_keep(pn_regulariser *regulariser)
{
    regulariser->references++;
    return regulariser;
}

void pn_regulariser_free(pn_regulariser *regulariser)
{
    if (regulariser && --regulariser->references == 0)
        regulariser->ops->destroy(regulariser);
}

pn_status pn_regulariser_certify(pn_regulariser *regulariser, pn_interval coordinate, pn_regulariser_bounds *out,
                                 pn_err *err)
{
    if (!(coordinate.low <= coordinate.high))
        return pn_fail(err, PN_EINVAL,
                       "reg.%s: the range of the coordinates must be an interval {lo, hi} with lo <= hi, got {%g, %g}",
                       regulariser->row->name, coordinate.low, coordinate.high);
    return regulariser->ops->certify(regulariser, coordinate, out, err);
}

pn_status pn_regulariser_prox(const pn_regulariser *regulariser, pn_prox **out, pn_err *err)
{
    const pn_regulariser_ops *row = regulariser->row;

    *out = NULL;
    if (row->prox)
        return row->prox(regulariser, out, err);
    return pn_fail(
        err, PN_EUNSUPPORTED,
        "reg.%s: there is no closed proximal map; where it is smooth its gradient serves, else use none, l2, "
        "l1, elastic_net, group or nuclear of pn.reg",
        row->name);
}
