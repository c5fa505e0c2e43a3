/* regulariser.c -- the table of regularisers, reference counts, and the checked doors.
 * Depends on: regulariser.h.  Used by: objective.c, bindings. */
#include "core/options.h"
#include "core/table.h"
#include "objective/regularisers/formula_regulariser.h"

/* One row, one line. */
#define REGULARISERS(X)                                                                                                \
    X(none)                                                                                                            \
    X(l2)                                                                                                              \
    X(l1)                                                                                                              \
    X(elastic_net)                                                                                                     \
    X(group)                                                                                                           \
    X(nuclear)                                                                                                         \
    X(nonconvex)                                                                                                       \
    X(quadratic)

#define DECLARE(name) extern const pn_regulariser_ops pn_regulariser_##name;
REGULARISERS(DECLARE)

#define ROW(name) &pn_regulariser_##name,
static const pn_regulariser_ops *const rows[] = { REGULARISERS(ROW) NULL };
PN_TABLE(regularisers, pn_regulariser_ops, "reg", "regulariser", rows);

const pn_regulariser_ops *const *pn_regulariser_table(void)
{
    return rows;
}

pn_status pn_regulariser_from_args(pn_regulariser **out, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_regulariser_ops *row = pn_table_open(&regularisers, __func__, name, args, &status, err);

    *out = NULL;
    if (!row)
        return status;
    return row->formula ? pn_formula_regulariser_new(out, row, args, err) : row->create(out, args, err);
}

pn_status pn_regulariser_new(pn_regulariser **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &regularisers, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_regulariser_from_args(out, name, args, err) : status;
}

bool pn_regulariser_in_table(const pn_regulariser *regulariser)
{
    return pn_table_find(rows, regulariser->row->name) == regulariser->row;
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
        "reg.%s: there is no closed proximal map; where it is smooth its gradient serves, else use none, l2, l1, "
        "elastic_net, group or nuclear of pn.reg",
        row->name);
}
